import { defineTask } from "taskgate";
import { addSourceFile } from "./flight-store";
import { importFile } from "./import-file";
import { summedFileSchema } from "./schemas";
import type { SummedFile } from "./schemas";

/** Notes a file as imported: the last wave of its batch, when every sum of it is made. */
export const closeFile = defineTask({
  name: "close-file",
  queue: importFile,
  input: summedFileSchema,
  run: async ({ file, rows }: SummedFile, ctx) => {
    await ctx.completeWith(async (transaction) => {
      await addSourceFile(transaction, file, rows);
      return { rows };
    });
  },
});
