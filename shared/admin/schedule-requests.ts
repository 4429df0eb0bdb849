/** What operators ask of schedules, as requests.ts has it. */
import { listQueryOf, objectOf } from "./object-schema";
import type { ValueOf } from "./object-schema";
import { instant, key, maxEntries, operationId, reason } from "./schemas";

/** Which schedules to list. */
export const readListSchedulesQuery = listQueryOf(
  { definition: key.exactOptional(), max: maxEntries() },
  { definition: "name" },
);

/** One schedule of a definition, to be paused or resumed. */
export const readScheduleRequest = objectOf({ schedule: key, reason });

/** A run of a schedule out of turn; without `schedule` the definition has one only. */
export const readRunScheduleRequest = objectOf(
  {
    schedule: key
      .meta({ description: "Left out: the only one of the definition." })
      .exactOptional(),
    scheduledFor: instant
      .meta({ description: "The instant that the run stands for; default: now." })
      .exactOptional(),
    reason,
    operationId,
  },
  { isOptional: true },
);
/** A run of a schedule out of turn. */
export type RunScheduleRequest = ValueOf<typeof readRunScheduleRequest>;
