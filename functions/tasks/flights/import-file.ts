import { defineQueue } from "taskgate";

/** Two files at a time, of any kind: both imports share this queue. */
export const importFile = defineQueue({
  name: "import-file",
  limit: 2,
  retry: { attempts: 3, baseMs: 500, capMs: 5_000 },
});
