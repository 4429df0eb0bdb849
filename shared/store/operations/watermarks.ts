import { isId } from "../../core/ids";
import { checkKey } from "../../core/text";
import { checkJsonContainer, unlike } from "./checks";
import { columns, json, oneOf, status, text, textOrNull } from "./columns";
import { checkNewTasks, enqueuedTasks, tasksToSql } from "./new-tasks";
import type { EnqueuedTasks, NewTask } from "./new-tasks";
import { operationsOf } from "./operation";
import { cleanOperator } from "./operator";
import type { OperatorInput } from "./operator";
import type { StoreTransaction } from "./store-transaction";

/* ---- Watermarks: how far a definition's blocks have been made ---- */

/**
 * How far a definition's blocks have been made. A watermark moves only together with the tasks that lie between, and only
 * from the version that its mover has read. Nothing is skipped or made twice, however many makers run.
 */
export interface WatermarkOperations {
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
  /** Watermarks by definition as registered, then name. */
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
  operationId: string | null;
  /** true: a task whose dedupe key another one holds is refused, and the call with it; left out: it is answered as a duplicate. */
  needsAll?: boolean;
}

/** No tasks are added on a conflict. */
export interface AdvanceWatermarkAnswer extends EnqueuedTasks {
  /** conflict: it has another version than expected; nothing was written. */
  status: "advanced" | "conflict";
  /** The new one; of a conflict the one that stands there, "0": there is none. */
  version: string;
  /** Of a conflict: the value in the table, or null; null else. */
  value: string | null;
}

export interface SetWatermarkInput extends OperatorInput {
  watermark: string;
  /** JSON text of an object or array, at most 64 KiB; null: none, the next maker begins anew. */
  value: string | null;
  /** Only if this is its version; left out: any version. */
  expectedVersion?: string;
  /** A UUID made at random for this call and kept for its repeats. */
  operationId: string;
}

const set = columns({
  status: oneOf("set", "conflict"),
  /** The new one; of a conflict the one that stands there, "0": there is none. */
  version: text,
  /** The value before; of a conflict the value in the table. */
  oldValue: textOrNull,
});
/** Answer of `setWatermark`. */
export type SetWatermarkAnswer = ReturnType<typeof set>;

export interface ListWatermarksInput {
  /** Left out: all definitions'. */
  name?: string;
  watermark?: string;
  /** 1..1000 */
  max: number;
}

export interface WatermarkStatus {
  definition: string;
  name: string;
  /** JSON text; null: none, the next maker begins anew. */
  value: string | null;
  version: string;
  changedAt: string;
}

const operation = operationsOf<WatermarkOperations>();

/** Procedure `advance_watermark`. */
export const advanceWatermark = operation("advanceWatermark", {
  right: "worker",
  parameters: {
    name: "text",
    watermark: "text",
    expectedVersion: "bigint",
    value: "text",
    build: "bigint",
    tasks: "text",
    operationId: "uuid",
    needsAll: "boolean",
  },
  check: (input) => {
    checkKey("watermark", input.watermark);
    checkVersion(input.expectedVersion);
    checkJsonContainer("value", input.value);
    checkNewTasks(input);
    return input;
  },
  bind: ({ tasks }) => ({ tasks: tasksToSql(tasks) }),
  decode: (row) => ({
    status: status(row, ["advanced", "conflict"]),
    version: text(row, "version"),
    value: textOrNull(row, "value"),
    ...enqueuedTasks(row),
  }),
});

/** Procedure `set_watermark`. */
export const setWatermark = operation("setWatermark", {
  right: "operator",
  parameters: {
    name: "text",
    watermark: "text",
    value: "text",
    expectedVersion: "bigint",
    operationId: "uuid",
    changedBy: "text",
    reason: "text",
  },
  check: (input) => {
    checkKey("watermark", input.watermark);
    if (input.expectedVersion !== undefined) checkVersion(input.expectedVersion);
    if (input.value !== null) checkJsonContainer("value", input.value);
    return cleanOperator(input);
  },
  decode: set,
});

/** Procedure `list_watermarks`. */
export const listWatermarks = operation("listWatermarks", {
  right: "worker",
  parameters: { name: "text", watermark: "text", max: "int" },
  decode: (row) => ({ watermarks: json<WatermarkStatus[]>(row, "watermarks") }),
});

/** A version as answers give it. */
function checkVersion(version: string): void {
  if (isId(version)) return;
  throw unlike("expected_version", "1..19 decimal digits below 2^63", version);
}
