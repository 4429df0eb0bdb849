import type { FailTasksAnswer, Failure } from "../../ports/task-store";
import type { TelemetryCounter } from "../../ports/telemetry";
import type { WorkerEnvironment } from "../environment";

type Result = FailTasksAnswer["results"][number];

const counters: Readonly<Partial<Record<Result["outcome"], TelemetryCounter>>> = {
  retry: "taskgate.task.retried",
  dead: "taskgate.task.dead",
  continued: "taskgate.task.continued",
  fenced: "taskgate.task.refused",
};

/** Characters of an error in a line of the log; the database has all of it. */
const loggedMax = 500;

/** Counts how tasks that did not end well came out. A line of the log names each that failed, with the first line of its error. */
export function noteEnds(
  { telemetry, logger }: Pick<WorkerEnvironment, "telemetry" | "logger">,
  definition: string,
  { failures, results }: { failures: readonly Failure[]; results: readonly Result[] },
): void {
  const errors = new Map(failures.map(({ taskId, error }) => [taskId, error]));
  for (const { taskId, outcome, retryInMs } of results) {
    const counter = counters[outcome];
    if (counter !== undefined) telemetry.count(counter, 1, { definition });
    const error = errors.get(taskId)?.split("\n", 1)[0]?.slice(0, loggedMax);
    if (outcome === "retry")
      logger.warn("a task failed and runs again", { taskId, definition, error, retryInMs });
    else if (outcome === "dead") logger.error("a task is dead", { taskId, definition, error });
  }
}
