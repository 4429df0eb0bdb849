import type { OperationId, TaskId } from "../core/ids";
import type { NewTask, OperatorInput, StoreTransaction } from "./task-store";

/**
 * Watermarks: how far a definition's blocks have been made. A watermark moves only together with the tasks that lie
 * between, and only from the version that its mover has read: nothing is skipped or made twice, however many makers run.
 */
export interface WatermarkStore {
  /**
   * Moves a watermark and adds tasks, both or neither; with `within`, inside the user's own transaction. Idempotent by
   * operation id; of calls with the same expected version at most one moves it.
   */
  advanceWatermark(
    input: AdvanceWatermarkInput,
    within?: StoreTransaction,
  ): Promise<AdvanceWatermarkAnswer>;
  /** An operator's watermark: back, on, or none. Makes no tasks. Idempotent by operation id. */
  setWatermark(input: SetWatermarkInput): Promise<SetWatermarkAnswer>;
  /** Watermarks by definition and name. */
  listWatermarks(input: ListWatermarksInput): Promise<{ watermarks: WatermarkStatus[] }>;
}

export interface AdvanceWatermarkInput {
  /** The definition. */
  name: string;
  /** 1..200 characters; unique in its definition. */
  watermark: string;
  /** The version that was read, decimal; "0": there is none yet. */
  expectedVersion: string;
  /** Where it stands then: JSON text of an object or array, at most 64 KiB. */
  value: string;
  build: number;
  /** 0..10,000 tasks, at most 8 MiB. Grouped ones become ready with the next claim or promotion. */
  tasks: readonly NewTask[];
  /** null: the version alone protects; a repeat is told of a conflict. */
  operationId: OperationId | null;
}

export interface AdvanceWatermarkAnswer {
  /** conflict: it has another version than expected; nothing was written. */
  status: "advanced" | "conflict";
  /** The new one; of a conflict the one that stands there, "0": there is none. */
  version: string;
  /** Of a conflict: what stands there, or null; null else. */
  value: string | null;
  /** In input order; of a duplicate: the first task's. None of a conflict. */
  taskIds: TaskId[];
  /** In input order. */
  outcomes: ("enqueued" | "duplicate" | "replaced")[];
  /** Some may be claimed at once: a hint is due. */
  ready: boolean;
  nextDueMs: number | null;
}

export interface SetWatermarkInput extends OperatorInput {
  watermark: string;
  /** JSON text of an object or array, at most 64 KiB; null: none, the next maker begins anew. */
  value: string | null;
  /** Only if this is its version; left out: whatever it is. */
  expectedVersion?: string;
  operationId: OperationId;
}

export interface SetWatermarkAnswer {
  status: "set" | "conflict";
  /** The new one; of a conflict the one that stands there, "0": there is none. */
  version: string;
  /** What stood there; of a conflict what stands there. */
  oldValue: string | null;
}

export interface ListWatermarksInput {
  /** Left out: all definitions'. */
  name?: string;
  watermark?: string;
  /** 1..1000 */
  most: number;
}

export interface WatermarkStatus {
  definition: string;
  name: string;
  /** JSON text; null: none, the next maker begins anew. */
  value: string | null;
  version: string;
  changedAt: string;
}
