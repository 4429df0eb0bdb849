import { asWaveId } from "../../../shared/core/ids";
import { defineTask } from "../../../shared/worker/define-task";
import { totalsAfter } from "./add-totals";
import { readFlight } from "./flight";
import { addBlockTotals } from "./flight-store";
import { totalsByOrigin } from "./flight-totals";
import { badRowSchema } from "./schemas";
import type { BadRow } from "./schemas";

/**
 * One per row that couldn't be counted. Its payload doesn't pass the schema, so that it ends as a dead letter with the
 * list of what is wrong: that is how somebody gets to see the row. Its file goes on: the batch's policy is `continue`.
 * When the rules get wider it can be redriven, and is counted then, though the file's waves are over.
 */
export const checkRow = defineTask({
  name: "check-row",
  limit: 2,
  payload: badRowSchema,
  run: async (row: BadRow, ctx) => {
    const reading = readFlight(row.content);
    if (!reading.ok) return;
    const totals = totalsByOrigin([reading.flight]);
    const wave = asWaveId(row.wave);
    await ctx.completeWith(async (transaction) => {
      await addBlockTotals(transaction, { wave, part: `row ${String(row.row)}`, totals });
      for (const { origin } of totals) await ctx.enqueue(totalsAfter(wave, origin));
    });
  },
});
