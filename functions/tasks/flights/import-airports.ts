import { GiveUp, defineTask } from "taskgate";
import type { Airport } from "./airport";
import { readAirports } from "./airport";
import { addAirports, addSourceFile } from "./flight-store";
import { importFile } from "./import-file";
import { readLandedFile } from "./landed-file";
import { landedFileSchema } from "./schemas";
import type { LandedFile } from "./schemas";

/** Takes a landed table of airports over, all of it or nothing. */
export const importAirports = defineTask({
  name: "import-airports",
  queue: importFile,
  input: landedFileSchema,
  run: async (file: LandedFile, ctx) => {
    const airports = readOrGiveUp(file.name, await readLandedFile(file));
    await ctx.completeWith(async (transaction) => {
      await addAirports(transaction, airports);
      await addSourceFile(transaction, file, airports.length);
      return { airports: airports.length };
    });
  },
});

/** The file won't be better at the next try. */
function readOrGiveUp(name: string, text: string): Airport[] {
  try {
    return readAirports(text);
  } catch (error) {
    throw new GiveUp(`${name}: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}
