import { readListing } from "../../admin/listing";
import { take } from "../../admin/object-reader";
import { readListSchedulesQuery, readScheduleRequest } from "../../admin/schedule-requests";
import { bodyOf } from "./read-body";
import { callerOf, definitionOf, queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `GET api/schedules?definition=&max=`: expressions, next and last instants. */
export const listSchedules: Endpoint = async (request, admin) => {
  const query = take(readListSchedulesQuery(queryOf(request)));
  const { rows: schedules, more } = await readListing(query, admin.schedules);
  return { body: { schedules, more } };
};

/** `POST api/definitions/{name}/schedules/pause`: `{ schedule, reason? }`. */
export const pauseSchedule: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readScheduleRequest(await bodyOf(request)));
  return {
    body: await admin.pauseSchedule({ ...change, definition, changedBy: callerOf(request) }),
  };
};

/** `POST api/definitions/{name}/schedules/resume`: `{ schedule, reason? }`. */
export const resumeSchedule: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const definition = definitionOf(request);
  const change = take(readScheduleRequest(await bodyOf(request)));
  return {
    body: await admin.resumeSchedule({ ...change, definition, changedBy: callerOf(request) }),
  };
};
