import { defineDefinition, exponential } from "../../../shared/worker/define-task";

/** Two files at a time, whatever kind of file they are: both imports share this definition. */
export const importFile = defineDefinition({
  name: "import-file",
  limit: 2,
  retry: { attempts: 3, backoff: exponential({ baseMs: 500, capMs: 5_000 }) },
});
