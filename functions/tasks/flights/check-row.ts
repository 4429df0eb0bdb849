import { defineTask } from "../../../shared/worker/define-task";
import { addTotals } from "./add-totals";
import { readFlight } from "./flight";
import { totalsByOrigin } from "./flight-totals";
import { badRowSchema } from "./schemas";
import type { BadRow } from "./schemas";

/**
 * One per row that couldn't be counted. Its payload doesn't pass the schema, so that it ends as a dead letter with the
 * list of what is wrong: that is how somebody gets to see the row. When the rules get wider it can be redriven, and is
 * counted then.
 */
export const checkRow = defineTask({
  name: "check-row",
  limit: 2,
  payload: badRowSchema,
  run: async (row: BadRow, ctx) => {
    const reading = readFlight(row.content);
    if (!reading.ok) return;
    for (const totals of totalsByOrigin([reading.flight])) {
      await ctx.enqueue({ task: addTotals, payload: { totals } });
    }
  },
});
