import { defineTask } from "taskgate";
import { closeFile } from "./close-file";
import { hasAirports } from "./flight-store";
import { importFile } from "./import-file";
import { readLandedRows } from "./landed-file";
import { parseBlock } from "./parse-block";
import { landedFileSchema } from "./schemas";
import type { LandedFile } from "./schemas";
import { startFile } from "./start-file";

/** Rows of one `parse-block` task. */
export const rowsPerBlock = 250;
/** How long a file waits before it looks for the table of airports once more. */
const airportsWaitMs = 1_000;

/**
 * Makes a batch of a landed file of flights, in three waves: its blocks, the totals of each origin, the file's end. A bad
 * row is a dead letter and doesn't halt its file. The batch is this task's own, so a retry gets the same one; its tasks,
 * and the task that starts it, are written together with this task's completion: once, or, when the worker dies here, not.
 * Rows name airports, so the table of airports comes first: until then the task goes on later, which counts as no failure
 * and holds no token.
 */
export const importFlights = defineTask({
  name: "import-flights",
  queue: importFile,
  input: landedFileSchema,
  run: async (file: LandedFile, ctx) => {
    const rows = await readLandedRows(file);
    const batch = await ctx.batches.create({
      name: file.name,
      waves: 3,
      failurePolicy: "continue",
    });
    const [blocks, totalsWave, end] = [batch.wave(1), batch.wave(2), batch.wave(3)];
    try {
      await ctx.completeWith(async (transaction) => {
        if (!(await hasAirports(transaction))) throw new AirportsMissing();
        for (let from = 0; from < rows.length; from += rowsPerBlock) {
          const count = Math.min(rowsPerBlock, rows.length - from);
          const payload = { file, from, count, totalsWave };
          await ctx.enqueue(parseBlock, payload, { wave: blocks });
        }
        await ctx.enqueue(closeFile, { file, rows: rows.length }, { wave: end });
        await ctx.enqueue(startFile, { batch: batch.batchId });
        return { rows: rows.length, blocks: Math.ceil(rows.length / rowsPerBlock) };
      });
    } catch (error) {
      if (!(error instanceof AirportsMissing)) throw error;
      return ctx.checkpoint({ waitsFor: "airports" }, { afterMs: airportsWaitMs });
    }
    return undefined;
  },
});

/** Rolls the completion back. */
class AirportsMissing extends Error {}
