import { ResidentProcess } from "../../../shared/worker/resident/resident-process";
import { ResidentWakeUp } from "../../../shared/worker/resident/resident-wake-up";
import { createRegistry } from "../../../shared/worker/define/registry";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";
import type { WorkerEnvironment } from "../../../shared/worker/environment";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import type { VirtualTime } from "../../workers/virtual-time";

/** A resident process on virtual time that serves one definition, with nothing that notifies it. */
export function openResident(options: {
  readonly time: VirtualTime;
  readonly task: AnyTaskKind;
  /** Its clock and its timers are those of `time`. */
  readonly environment: WorkerEnvironment;
  readonly pollMs: number;
  readonly draining: AbortController;
}): { process: ResidentProcess; wakeUp: ResidentWakeUp } {
  const { time, task, pollMs, draining } = options;
  const quiet = { hint: () => Promise.resolve() };
  const wakeUp = new ResidentWakeUp({ others: quiet, residents: quiet });
  const environment = {
    ...options.environment,
    wakeUp,
    ...time.parts,
  };
  const process = new ResidentProcess({
    worker: {
      environment,
      registry: createRegistry([task]),
      heartbeat: new Heartbeat(environment),
      concurrencyPerWorker: 1,
      idleReads: 1,
      idlePauseMs: 5,
    },
    wakeUp,
    definitions: [task.definition.name],
    pollMs,
    listener: null,
    bounds: () => ({ deadlineMs: time.nowMs + 60_000, marginMs: 100, signal: draining.signal }),
    draining: draining.signal,
  });
  return { process, wakeUp };
}
