/** What operators ask of schedules, as requests.ts has it. */
import { objectOf, queryOf } from "./object-schema";
import type { ValueOf } from "./object-schema";
import { key, most, reason } from "./schemas";

/** Which schedules to list. */
export const listSchedulesQuery = queryOf(
  { definition: key.exactOptional(), most: most() },
  { definition: "name" },
);
/** Which schedules to list. */
export type ListSchedulesRequest = ValueOf<typeof listSchedulesQuery>;
/** The query of a list of schedules. Values are texts. */
export const readListSchedulesQuery = listSchedulesQuery.read;

/** One schedule of a definition, to be paused or resumed. */
export const scheduleRequest = objectOf({ schedule: key, reason });
/** One schedule of a definition, to be paused or resumed. */
export type ScheduleRequest = ValueOf<typeof scheduleRequest>;
/** The body of a schedule's pause or resume. */
export const readScheduleRequest = scheduleRequest.read;
