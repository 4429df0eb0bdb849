import type { WaveId } from "../../../shared/core/ids";
import { defineTask } from "../../../shared/worker/define-task";
import type { EnqueueRequest } from "../../../shared/worker/task-context";
import { addFileTotals } from "./flight-store";
import { totalsSchema } from "./schemas";
import type { TotalsOfFile } from "./schemas";

/**
 * Adds what the blocks of a file left of one origin to the tables, in the transaction of its own completion: a file is
 * never counted twice, whatever fails. In the second wave of the file's batch, so that every block has left its part.
 * Grouped by origin, so tasks of two files never wait for the same rows.
 */
export const addTotals = defineTask({
  name: "add-totals",
  limit: 8,
  leaseMs: 15_000,
  payload: totalsSchema,
  group: { by: "origin" },
  run: async (part: TotalsOfFile, ctx) => {
    await ctx.completeWith((transaction) => addFileTotals(transaction, part));
  },
});

/** The task for one origin in a file's wave of totals: of the blocks that ask for it the first one makes it. */
export function totalsIn(wave: WaveId, origin: string): EnqueueRequest {
  const dedupeKey = `totals ${wave} ${origin}`;
  return { task: addTotals, payload: { wave, origin }, wave, dedupeKey };
}

/**
 * The task for what is left of one origin when the file's waves are over. Without a key: a task that has the key may have
 * read what there was already.
 */
export function totalsAfter(wave: WaveId, origin: string): EnqueueRequest {
  return { task: addTotals, payload: { wave, origin } };
}
