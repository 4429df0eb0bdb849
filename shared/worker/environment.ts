import type { Instants } from "../core/lease";
import type { Clock } from "../ports/clock";
import type { LeaseKeeper } from "../ports/lease-keeper";
import type { Logger } from "../ports/logger";
import type { Random } from "../ports/random";
import type { TaskStore } from "../ports/task-store";
import type { Telemetry } from "../ports/telemetry";
import type { Timers } from "../ports/timers";
import type { WakeUp } from "../ports/wake-up";

/** Everything a worker needs from outside; made by a composition root. */
export interface WorkerEnvironment {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly wakeUp: WakeUp;
  /** Renews leases while the event loop is blocked; without it nobody does. */
  readonly leaseKeeper?: LeaseKeeper;
  /** Who works, for people: instance and process. */
  readonly workerName: string;
  /** Grows with every release. */
  readonly build: number;
}

/** Now by both clocks. */
export function instants(clock: Clock): Instants {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}
