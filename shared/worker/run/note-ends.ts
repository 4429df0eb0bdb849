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

/** Characters of an error's first line in the log; the database has all of it. */
const loggedMax = 500;

/**
 * Counts how tasks that did not end well came out. A line of the log names each that failed, with the class of its error and the
 * place that threw it. Its message, which may quote what the handler was given, stands in a line for those who look for faults.
 */
export function noteEnds(
  { telemetry, logger }: Pick<WorkerEnvironment, "telemetry" | "logger">,
  definition: string,
  { failures, results }: { failures: readonly Failure[]; results: readonly Result[] },
): void {
  const errors = new Map(failures.map(({ taskId, error }) => [taskId, error]));
  for (const { taskId, outcome, retryInMs } of results) {
    const counter = counters[outcome];
    if (counter !== undefined) telemetry.count(counter, 1, { definition });
    if (outcome !== "retry" && outcome !== "dead") continue;
    const text = errors.get(taskId) ?? "";
    const facts = { taskId, definition, ...placeOf(text) };
    if (outcome === "retry") logger.warn("a task failed and runs again", { ...facts, retryInMs });
    else logger.error("a task is dead", facts);
    const message = text.split("\n", 1)[0]?.slice(0, loggedMax);
    logger.debug("what a failed task's error says", { taskId, error: message });
  }
}

/** What the worker itself says of an end that can't be kept, without the value behind `got` and the database's words. */
const ownWords =
  /^(?:timed out after \d+ ms|the store refused how this task ended|its execution failed before the end of this task was told|the payload (?:is invalid|in the database was changed by another hand)|Expected (?:the handler|`(?:result|state|afterMs)`) [^`]*?(?=, got ))/;

/** Of an error's text, as describeThrown and the worker write it; null: no error with a stack. */
function placeOf(text: string): { error: string | null; at: string | null } {
  const [own] = ownWords.exec(text) ?? [];
  const [, at = null] = /^ {4}at (.*)$/m.exec(text) ?? [];
  const [, name = null] = (at === null ? null : /^(\w+): /.exec(text)) ?? [];
  return { error: own ?? name, at };
}
