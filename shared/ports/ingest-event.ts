import type { JsonObject } from "../core/json";

/** An event as `ingest` hands it on: our own form, Event Grid's and CloudEvents' are all read into it. */
export interface IngestEvent {
  /** Unique within its source: the same event delivered twice makes its tasks once. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** What it is about; empty where nothing is said. */
  readonly subject: string;
  /** As the sender wrote it; null where nothing is said. */
  readonly time: string | null;
  readonly data: JsonObject;
}
