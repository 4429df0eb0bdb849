/** Requests about failures, as requests.ts has them. */
import { listQueryOf, objectOf } from "./object-schema";
import type { ValueOf } from "./object-schema";
import { batchId, flag, key, maxEntries, reason, text } from "./schemas";

/** Which groups of failures to list. */
export const readFailuresQuery = listQueryOf(
  {
    definition: key.exactOptional(),
    batch: batchId.meta({ description: "Only of the tasks of this batch." }).exactOptional(),
    max: maxEntries(1_000, 20),
  },
  { batch: "batchId" },
);
/** Which groups of failures to list. */
export type FailuresRequest = ValueOf<typeof readFailuresQuery>;

/** Retry the dead tasks of one group. */
export const readRedriveFailuresRequest = objectOf({
  definition: key,
  kind: key,
  like: text({ min: 1, max: 400 }).meta({ description: "As the list of failures has it." }),
  dryRun: flag.default(false).meta({ description: "Only counts them." }),
  reason,
});
/** Retry the dead tasks of one group. */
export type RedriveFailuresRequest = ValueOf<typeof readRedriveFailuresRequest>;
