import { take } from "../../shared/admin/object-reader";
import {
  readCancelRequest,
  readRedriveRequest,
  readRescheduleRequest,
} from "../../shared/admin/task-requests";
import { bodyWithIds } from "./read-body";
import { refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";

/** `POST api/tasks/cancel`: `{ tasks: [ids], reason? }`. */
export const cancelTasks: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: await admin.cancel(take(readCancelRequest(await bodyWithIds(request)))) };
};

/** `POST api/tasks/redrive`: `{ tasks: [ids] }` or `{ definition, kind?, outcome?, most? }`. */
export const redriveTasks: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: await admin.redrive(take(readRedriveRequest(await bodyWithIds(request)))) };
};

/** `POST api/tasks/reschedule`: `{ tasks: [ids], runInMs | runAt }`. */
export const rescheduleTasks: Endpoint = async (request, admin) => {
  refuseQuery(request);
  return { body: await admin.reschedule(take(readRescheduleRequest(await bodyWithIds(request)))) };
};
