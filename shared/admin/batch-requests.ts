/** Reads what operators ask of batches, as requests.ts does: checked values, or all problems. */
import { asBatchId, isId } from "../core/ids";
import type { BatchId } from "../core/ids";
import type { ListBatchesInput } from "../ports/task-store";
import { ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { readMax, refused } from "./requests";

const maxBounds = { max: 100, default: 20 };
const idRule = "the id of a batch: 1..19 decimal digits, below 2^63";

/** A batch's id from a route or an argument. */
export function readBatchId(input: unknown): ReadResult<BatchId> {
  return isBatchId(input) ? { ok: true, value: asBatchId(input) } : refused("batch", input, idRule);
}

/** An operator's change of a batch. */
export interface BatchRequest {
  readonly batchId: BatchId;
  readonly reason?: string;
}

/** The query of a list of batches: `before` (only older ones), `max` (1..100, default 20). Values are texts. */
export function readListBatchesQuery(input: unknown): ReadResult<ListBatchesInput> {
  const reader = ObjectReader.open(input, { known: ["before", "max"], root: "query" });
  const before = reader.has("before") ? reader.raw("before") : undefined;
  if (before !== undefined && !isBatchId(before)) reader.refuse("before", idRule);
  const max = readMax(reader, maxBounds);
  return reader.result({ ...(isBatchId(before) ? { before: asBatchId(before) } : {}), max });
}

function isBatchId(input: unknown): input is string {
  return typeof input === "string" && isId(input);
}
