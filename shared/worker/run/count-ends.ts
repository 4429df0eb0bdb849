import type { FailTasksAnswer } from "../../ports/task-store";
import type { Telemetry, TelemetryCounter } from "../../ports/telemetry";

const counters: Readonly<Record<string, TelemetryCounter>> = {
  retry: "taskgate.task.retried",
  dead: "taskgate.task.dead",
  continued: "taskgate.task.continued",
  fenced: "taskgate.task.refused",
};

/** Counts how tasks that did not end well came out. */
export function countEnds(
  telemetry: Telemetry,
  definition: string,
  results: FailTasksAnswer["results"],
): void {
  for (const { outcome } of results) {
    const counter = counters[outcome];
    if (counter !== undefined) telemetry.count(counter, 1, { definition });
  }
}
