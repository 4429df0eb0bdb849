/** What operators ask of schedules, as requests.ts has it. */
import { objectOf, queryOf } from "./object-schema";
import type { ValueOf } from "./object-schema";
import { key, maxEntries, reason } from "./schemas";

/** Which schedules to list. */
export const readListSchedulesQuery = queryOf(
  { definition: key.exactOptional(), max: maxEntries() },
  { definition: "name" },
);
/** Which schedules to list. */
export type ListSchedulesRequest = ValueOf<typeof readListSchedulesQuery>;

/** One schedule of a definition, to be paused or resumed. */
export const readScheduleRequest = objectOf({ schedule: key, reason });
/** One schedule of a definition, to be paused or resumed. */
export type ScheduleRequest = ValueOf<typeof readScheduleRequest>;
