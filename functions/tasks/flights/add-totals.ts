import { defineTask } from "taskgate";
import type { EnqueueOptions } from "taskgate";
import { addFileTotals } from "./flight-store";
import { totalsSchema } from "./schemas";
import type { TotalsOfFile } from "./schemas";

/**
 * Adds what the blocks of a file left of one origin to the tables, in the transaction of its own completion: a file is
 * never counted twice, also after failures. In the second wave of the file's batch, so that every block has left its part.
 * Grouped by origin, so tasks of two files never wait for the same rows.
 */
export const addTotals = defineTask({
  name: "add-totals",
  limit: 8,
  leaseMs: 15_000,
  input: totalsSchema,
  group: { by: "origin" },
  run: async (part: TotalsOfFile, ctx) => {
    await ctx.completeWith((transaction) => addFileTotals(transaction, part));
  },
});

/**
 * Options of the task for one origin in a file's wave of totals: the first block that asks for it makes it. When the file's
 * waves are over the task has no key: a task that has the key may have read what there was already.
 */
export function totalsIn(wave: string, origin: string): EnqueueOptions {
  return { wave, dedupeKey: `totals ${wave} ${origin}` };
}
