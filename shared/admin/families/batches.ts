import type { BatchId } from "../../core/ids";
import type { ListBatchesInput } from "../../ports/task-store";
import type { Actor, AdminOptions } from "../admin-options";
import { cancelBatch, getBatch, listBatches, resumeBatch } from "../batch-actions";
import type { BatchReport, CancelledBatch, ResumedBatch } from "../batch-actions";
import type { BatchRequest } from "../batch-requests";

/** Calls about batches. */
export interface BatchCalls {
  /** Batches and how far they are, newest first. */
  batches(request: Omit<ListBatchesInput, "batchId">): Promise<BatchReport[]>;
  /** One batch. Throws InvalidArgumentError (unknown). */
  batch(batchId: BatchId): Promise<BatchReport>;
  /** Lets a halted batch go on. */
  resumeBatch(request: BatchRequest & Actor): Promise<ResumedBatch>;
  /** Ends a batch: no further wave opens, its tasks end or are asked to. */
  cancelBatch(request: BatchRequest & Actor): Promise<CancelledBatch>;
}

/** The calls about batches. */
export function batchCalls(options: AdminOptions): BatchCalls {
  return {
    batches: (request) => listBatches(options, request),
    batch: (batchId) => getBatch(options, batchId),
    resumeBatch: (request) => resumeBatch(options, request),
    cancelBatch: (request) => cancelBatch(options, request),
  };
}
