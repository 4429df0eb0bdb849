/**
 * Reads what operators ask of schedules, as requests.ts does: checked values, or all problems.
 */
import { ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { keyRule, readMax, reasonRule } from "./requests";

/** Which schedules to list. */
export interface ListSchedulesRequest {
  readonly name?: string;
  readonly max: number;
}

/** One schedule of a definition, to be paused or resumed. */
export interface ScheduleRequest {
  readonly schedule: string;
  readonly reason?: string;
}

/** The query of a list of schedules: `definition`, `max` (default 100). Values are texts. */
export function readListSchedulesQuery(input: unknown): ReadResult<ListSchedulesRequest> {
  const reader = ObjectReader.open(input, { known: ["definition", "max"], root: "query" });
  const name = reader.text("definition", keyRule);
  const max = readMax(reader);
  return reader.result({ ...(name === null ? {} : { name }), max });
}

/** `{ schedule, reason? }` */
export function readScheduleRequest(input: unknown): ReadResult<ScheduleRequest> {
  const reader = ObjectReader.open(input, { known: ["schedule", "reason"] });
  const schedule = reader.requiredText("schedule", keyRule);
  const reason = reader.text("reason", reasonRule);
  return reader.result({ schedule, ...(reason === null ? {} : { reason }) });
}
