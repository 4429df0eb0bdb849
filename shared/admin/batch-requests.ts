/** What operators ask of batches, as requests.ts has it. */
import type { BatchId } from "../core/ids";
import type { ReadResult } from "./read-result";
import { listQueryOf, readValue } from "./object-schema";
import { batchListMax } from "./listing";
import { batchId, maxEntries } from "./schemas";

/** A batch's id from a route or an argument. */
export function readBatchId(input: unknown): ReadResult<BatchId> {
  return readValue(batchId, input, "batch");
}

/** Which batches to list: those before one, or the newest. */
export const readListBatchesQuery = listQueryOf({
  before: batchId.exactOptional(),
  max: maxEntries(batchListMax, 20),
});
