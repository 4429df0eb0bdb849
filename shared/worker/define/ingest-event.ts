import type { JsonObject } from "../../core/json";
import type { TaskRequest } from "./task-ref";

/** An event as `ingest` hands it on: our own form, Event Grid's and CloudEvents' are all read into it. */
export interface IngestEvent {
  /** Unique within its source: the same event delivered twice makes its tasks once. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string | null;
  readonly data: JsonObject;
}

/** Which events become which tasks; the table is in functions/tasks/index.ts. */
export interface EventRoute {
  matches(event: IngestEvent): boolean;
  /** A task without a dedupe key of its own, by an option or by its kind's rule, gets one from the event. */
  toTasks(event: IngestEvent): TaskRequest[];
}
