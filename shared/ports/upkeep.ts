import type { BatchId } from "../core/ids";
import type { ScheduledInstant } from "./schedules";

/*
 * What the sweep asks of the store: what is due, and what may be deleted.
 */

/** What is due, as of one look. */
export interface SweepAnswer {
  /** Executions to reclaim, counted up to 1000. */
  expired: number;
  definitions: SweptDefinition[];
  nextDueMs: number | null;
  /** Batches with tasks to admit: call `pumpBatch`. */
  opening: BatchId[];
  /** Schedules that are due, the longest first: call `fireSchedule`. */
  schedules: ScheduledInstant[];
  /** Something may be deleted: call `purge`. */
  isPurgeable: boolean;
}

/** What one slice of a purge deleted: rows. */
export interface PurgeAnswer {
  status: "purged" | "none";
  /** The rows of all kinds together. */
  purged: number;
  /** Finished tasks whose retention is over; their attempts go with them. */
  tasks: number;
  /** Ended a day ago, and longer ago than any definition keeps its tasks. */
  executions: number;
  /** Answers kept for repeats for a day. */
  operations: number;
  /** Dedupe keys whose window is over. */
  keys: number;
  /** Groups without tasks that hold, want or may want a slot, and that no operator has set. */
  groups: number;
  /** Finished as long ago as executions that go; their waves go with them, at most as many as a call may delete. */
  batches: number;
  /** Of the audit of settings: older than 400 days, and not the last of their setting. */
  auditEntries: number;
  /** One kind filled its share: call again, unless `status` is none. */
  more: boolean;
}

/** A definition with ready or due tasks. */
export interface SweptDefinition {
  name: string;
  ready: number;
  free: number;
  due: boolean;
  paused: boolean;
}
