/**
 * Reads what operators ask of schedules, as requests.ts does: checked values, or all problems.
 */
import { ObjectReader } from "./object-reader";
import type { ReadResult } from "./object-reader";
import { keyRule, readMost, reasonRule } from "./requests";

/** Which schedules to list. */
export interface ListSchedulesRequest {
  readonly name?: string;
  readonly most: number;
}

/** One schedule of a definition, to be paused or resumed. */
export interface ScheduleRequest {
  readonly schedule: string;
  readonly reason?: string;
}

/** The query of a list of schedules: `definition`, `most` (default 100). Values are texts. */
export function readListSchedulesQuery(input: unknown): ReadResult<ListSchedulesRequest> {
  const reader = ObjectReader.open(input, { known: ["definition", "most"], root: "query" });
  const name = reader.text("definition", keyRule);
  const most = readMost(reader);
  return reader.result({ ...(name === null ? {} : { name }), most });
}

/** `{ schedule, reason? }` */
export function readScheduleRequest(input: unknown): ReadResult<ScheduleRequest> {
  const reader = ObjectReader.open(input, { known: ["schedule", "reason"] });
  const schedule = reader.requiredText("schedule", keyRule);
  const reason = reader.text("reason", reasonRule);
  return reader.result({ schedule, ...(reason === null ? {} : { reason }) });
}
