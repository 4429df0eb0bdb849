import type { IngestEvent } from "../../ports/ingest-event";
import type { TaskRequest } from "./task-ref";

/** Which events become which tasks; the table is in functions/tasks/index.ts. */
export interface EventRoute {
  matches(event: IngestEvent): boolean;
  /** A task without a dedupe key of its own, by an option or by its kind's rule, gets one from the event. */
  toTasks(event: IngestEvent): TaskRequest[];
}
