import { nodeTimers } from "../../shared/platform/node-timers";
import { realClock, realRandom } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { noTelemetry } from "../../shared/ports/telemetry";
import type { WorkerEnvironment } from "../../shared/worker/environment";

/** A worker's surroundings in real time, without log, telemetry and hints; `parts` stand in place of the plain ones. */
export function quietEnvironment(
  store: TaskStore,
  parts: Partial<WorkerEnvironment> & Pick<WorkerEnvironment, "workerName">,
): WorkerEnvironment {
  const quiet = (): void => undefined;
  return {
    store,
    clock: realClock,
    timers: nodeTimers,
    random: realRandom,
    telemetry: noTelemetry,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    wakeUp: { hint: () => Promise.resolve() },
    build: 1,
    ...parts,
  };
}
