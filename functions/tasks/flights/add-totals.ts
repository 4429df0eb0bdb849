import { defineTask } from "../../../shared/worker/define-task";
import { addOriginTotals } from "./flight-store";
import { totalsSchema } from "./schemas";
import type { TotalsOfBlock } from "./schemas";

/**
 * Adds what one block has of one origin to the tables, in the transaction of its own completion: a block is never
 * counted twice, whatever fails. Grouped by origin, so two tasks never wait for the same rows.
 */
export const addTotals = defineTask({
  name: "add-totals",
  limit: 8,
  leaseMs: 15_000,
  payload: totalsSchema,
  groupKey: ({ totals }) => totals.origin,
  run: async ({ totals }: TotalsOfBlock, ctx) => {
    await ctx.completeWith((transaction) => addOriginTotals(transaction, totals));
  },
});
