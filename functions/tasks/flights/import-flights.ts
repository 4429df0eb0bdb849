import { defineTask } from "../../../shared/worker/define-task";
import { addSourceFile, hasAirports } from "./flight-store";
import { importFile } from "./import-file";
import { readLandedRows } from "./landed-file";
import { parseBlock } from "./parse-block";
import { landedFileSchema } from "./schemas";
import type { LandedFile } from "./schemas";

/** Rows of one `parse-block` task. */
export const rowsPerBlock = 250;
/** How long a file waits before it looks again for the table of airports. */
const airportsWaitMs = 1_000;

/**
 * Cuts a landed file of flights into blocks. The blocks are written together with this task's completion: each of them
 * once, or, when the worker dies here, none. Rows name airports, so the table of airports comes first: until then the
 * task goes on later, which counts as no failure and holds no token.
 */
export const importFlights = defineTask({
  name: "import-flights",
  definition: importFile,
  payload: landedFileSchema,
  run: async (file: LandedFile, ctx) => {
    const rows = await readLandedRows(file);
    try {
      await ctx.completeWith(async (transaction) => {
        if (!(await hasAirports(transaction))) throw new AirportsMissing();
        for (let from = 0; from < rows.length; from += rowsPerBlock) {
          const count = Math.min(rowsPerBlock, rows.length - from);
          await ctx.enqueue({ task: parseBlock, payload: { file, from, count } });
        }
        await addSourceFile(transaction, file, rows.length);
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
