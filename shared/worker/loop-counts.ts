import type { Telemetry } from "../ports/telemetry";

/** What the store made of a failure, as telemetry counts it. */
export function countEnd(telemetry: Telemetry, definition: string, outcome: string): void {
  if (outcome === "retry") telemetry.count("taskgate.task.retried", 1, { definition });
  if (outcome === "dead") telemetry.count("taskgate.task.dead", 1, { definition });
  if (outcome === "continued") telemetry.count("taskgate.task.continued", 1, { definition });
  if (outcome === "fenced") telemetry.count("taskgate.task.refused", 1, { definition });
}
