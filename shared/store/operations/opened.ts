import { batchIds, columns, names } from "./columns";

/** What a call has set going that ended tasks or opened a wave: columns of its answer. */
export const opened = {
  /** Definitions that got ready tasks, besides that of the calling execution: leave them hints. */
  woken: names,
  /** Batches that have more tasks to admit: call `pumpBatch`, after the commit. */
  opening: batchIds,
};

/** The same from an answer's row. */
export const openedWaves = columns(opened);
/** Definitions that got ready tasks, and batches that have more to admit. */
export type OpenedWaves = ReturnType<typeof openedWaves>;
