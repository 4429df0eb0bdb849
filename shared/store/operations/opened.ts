import type { BatchId } from "../../core/ids";
import { batchIds, names } from "./columns";
import type { AnswerRow } from "./operation";

/** What a call has set going that ended tasks or opened a wave. */
export interface OpenedWaves {
  /** Definitions that got ready tasks, besides that of the calling execution: leave them hints. */
  woken: string[];
  /** Batches that have more tasks to admit: call `pumpBatch`, after the commit. */
  opening: BatchId[];
}

/** The same from an answer's row. */
export function openedWaves(row: AnswerRow): OpenedWaves {
  return { woken: names(row, "woken"), opening: batchIds(row, "opening") };
}
