import { RetryLater, defineTask } from "taskgate";
import { importFile } from "./import-file";
import { fileBatchSchema } from "./schemas";
import type { FileBatch } from "./schemas";

const busyMs = 500;

/**
 * Starts a file's batch, whose tasks were written together with this one: a start that is repeated changes nothing. The
 * waves stay unsealed until they open: blocks add to the second one.
 */
export const startFile = defineTask({
  name: "start-file",
  queue: importFile,
  input: fileBatchSchema,
  run: async ({ batch }: FileBatch, ctx) => {
    const status = await ctx.batches.start(batch, { seal: false });
    if (status === "busy") throw new RetryLater(busyMs, "another task adds to its first wave");
  },
});
