import { GiveUp, defineTask } from "taskgate";
import { addTotals } from "./add-totals";
import { readFlight } from "./flight";
import { addBlockTotals } from "./flight-store";
import { totalsByOrigin } from "./flight-totals";
import { badRowSchema } from "./schemas";
import type { BadRow } from "./schemas";

/**
 * One per row that couldn't be counted. It gives up with the list of errors: the dead letter shows the row to
 * people. Its file goes on: the batch's policy is `continue`.
 * When the rules get wider it can be redriven, and is counted then, though the file's waves are over.
 */
export const checkRow = defineTask({
  name: "check-row",
  limit: 2,
  input: badRowSchema,
  run: async (row: BadRow, ctx) => {
    const { content, wave } = row;
    const reading = readFlight(content);
    if (!reading.ok || row.unknownAirports.length > 0) throw new GiveUp(describeProblems(row));
    const totals = totalsByOrigin([reading.flight]);
    await ctx.completeWith(async (transaction) => {
      await addBlockTotals(transaction, { wave, part: `row ${String(row.row)}`, totals });
      for (const { origin } of totals) await ctx.enqueue(addTotals, { wave, origin });
    });
  },
});

function describeProblems({ file, row, content, unknownAirports }: BadRow): string {
  const reading = readFlight(content);
  const problems = reading.ok ? [] : reading.problems;
  const wrong = problems.map(({ field, message }) => `${field}: ${message}`);
  const unknown = unknownAirports.map((code) => `airport: no airport has the code ${code}`);
  return [...wrong, ...unknown]
    .map((problem) => `${file} row ${String(row)}.${problem}`)
    .join("; ");
}
