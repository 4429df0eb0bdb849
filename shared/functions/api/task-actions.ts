import { take } from "../../admin/object-reader";
import {
  readCancelRequest,
  readRedriveRequest,
  readRescheduleRequest,
} from "../../admin/task-requests";
import { bodyWithIds } from "./read-body";
import { callerOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `POST api/tasks/cancel`: `{ tasks: [ids], reason? }`. */
export const cancelTasks: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const change = take(readCancelRequest(await bodyWithIds(request)));
  return { body: await admin.cancel({ ...change, changedBy: callerOf(request) }) };
};

/** `POST api/tasks/redrive`: `{ tasks: [ids], reason? }` or `{ definition, kind?, outcome?, most?, reason? }`. */
export const redriveTasks: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const change = take(readRedriveRequest(await bodyWithIds(request)));
  return { body: await admin.redrive({ ...change, changedBy: callerOf(request) }) };
};

/** `POST api/tasks/reschedule`: `{ tasks: [ids], runInMs | runAt, reason? }`. */
export const rescheduleTasks: Endpoint = async (request, admin) => {
  refuseQuery(request);
  const change = take(readRescheduleRequest(await bodyWithIds(request)));
  return { body: await admin.reschedule({ ...change, changedBy: callerOf(request) }) };
};
