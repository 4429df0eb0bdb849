import type { Instants } from "../core/lease";
import type { Clock } from "../ports/clock";
import type { LeaseKeeper } from "../ports/lease-keeper";
import type { Logger } from "../ports/logger";
import type { Random } from "../ports/random";
import type { TaskStore } from "../ports/task-store";
import type { Telemetry } from "../ports/telemetry";
import type { Timers } from "../ports/timers";
import type { WakeUp } from "../ports/wake-up";
import type { OwnApp } from "./client/own-app";

/** Everything a worker needs from outside; made by a composition root. */
export interface WorkerEnvironment {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly wakeUp: WakeUp;
  /** Renews leases while the event loop is blocked; nothing renews them without it. */
  readonly leaseKeeper?: LeaseKeeper;
  /**
   * Longest time until workers look for a task of a definition that is ready now, in ms: 0 where a hint goes to them; null: not
   * known. Left out: not known.
   */
  readonly startsWithinMs?: (definition: string) => Promise<number | null>;
  /** The app that this process is part of. Left out: none is declared, and no definition is refused. */
  readonly app?: OwnApp;
  /** Who works, for people: instance and process. */
  readonly workerName: string;
  /** Grows with every release. */
  readonly build: number;
}

/** Now by both clocks. */
export function instants(clock: Clock): Instants {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}

/** Who acts, as the audit and the definitions name it. */
export function nameOf({ workerName, build }: WorkerEnvironment): string {
  return `${workerName} (build ${String(build)})`;
}
