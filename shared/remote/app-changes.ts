import type { Admin } from "../admin/create-admin";
import type { JsonValue } from "../core/json";
import { objectOf } from "./answer-parts";
import type { AppConnection } from "./app-connection";

/**
 * What the admin changes, by a request for each call. The app names the actor itself, by the sign-in: `changedBy` isn't sent. No
 * change has a condition: a command means the settings as they stand when it arrives, as beside the database; the version of a watermark is
 * a member of its change.
 */

/** The calls that change something but an enqueue. */
export function appChanges(app: AppConnection) {
  return { ...settingChanges(app), ...scheduleChanges(app), ...taskChanges(app) };
}

/** A change, and the answer's member by which it is known. */
const changeBy =
  (app: AppConnection, method: "PUT" | "POST") =>
  async <Result extends object>(route: readonly string[], body: object, member: string) =>
    objectOf<Result>(await app.change(method, route, body), member);

function settingChanges(app: AppConnection) {
  const [put, post] = [changeBy(app, "PUT"), changeBy(app, "POST")];
  return {
    setLimit: ({ definition, limit, reason, operationId }) =>
      put(["definitions", definition, "limit"], { limit, reason, operationId }, "newLimit"),
    setRate: ({ definition, rate, reason }) =>
      put(["definitions", definition, "rate"], { rate, reason }, "newRate"),
    setOwner: ({ definition, app: owner, reason }) =>
      put(["definitions", definition, "owner"], { app: owner, reason }, "newApp"),
    setSharedLimit: ({ name, limit, create, reason, operationId }) =>
      put(["shared-limits", name], { limit, create, reason, operationId }, "newLimit"),
    pause: ({ definition, reason }) =>
      post(["definitions", definition, "pause"], { reason }, "definition"),
    resume: ({ definition, reason }) =>
      post(["definitions", definition, "resume"], { reason }, "definition"),
    setGroup: ({ definition, groupKey: key, groupScope: scope, slots, paused, strict, reason }) =>
      put(
        ["definitions", definition, "group"],
        { key, scope, slots, paused, strict, reason },
        "new",
      ),
    stopAll: ({ reason }) => post(["stop"], { reason }, "left"),
    resumeAll: ({ reason }) => post(["resume"], { reason }, "left"),
  } satisfies Partial<Admin>;
}

function scheduleChanges(app: AppConnection) {
  const [put, post] = [changeBy(app, "PUT"), changeBy(app, "POST")];
  const routeOf = (definition: string, what: "pause" | "resume" | "run") =>
    ["definitions", definition, "schedules", what] as const;
  return {
    pauseSchedule: ({ definition, schedule, reason }) =>
      post(routeOf(definition, "pause"), { schedule, reason }, "schedule"),
    resumeSchedule: ({ definition, schedule, reason }) =>
      post(routeOf(definition, "resume"), { schedule, reason }, "schedule"),
    runSchedule: ({ definition, schedule, scheduledFor, operationId, reason }) =>
      post(routeOf(definition, "run"), { schedule, scheduledFor, operationId, reason }, "task"),
    setWatermark: ({ definition, watermark, value: text, reason, ...change }) => {
      const { expectedVersion: version, operationId } = change;
      // The reader has made the text of a value that came as JSON: it is the same value again.
      const value = text === null ? null : (JSON.parse(text) as JsonValue);
      const body = { watermark, value, version, reason, operationId };
      return put(["definitions", definition, "watermark"], body, "version");
    },
  } satisfies Partial<Admin>;
}

function taskChanges(app: AppConnection) {
  const post = changeBy(app, "POST");
  return {
    cancel: ({ taskIds: tasks, dryRun, reason }) =>
      post(["tasks", "cancel"], { tasks, dryRun, reason }, "tasks"),
    redrive: (request) => {
      const { reason } = request;
      if ("taskIds" in request) {
        const { taskIds: tasks, dryRun } = request;
        return post(["tasks", "redrive"], { tasks, dryRun, reason }, "tasks");
      }
      const { name: definition, kind, outcome, max } = request;
      return post(["tasks", "redrive"], { definition, kind, outcome, max, reason }, "tasks");
    },
    reschedule: ({ taskIds: tasks, to, dryRun, reason }) =>
      post(["tasks", "reschedule"], { tasks, ...to, dryRun, reason }, "tasks"),
    redriveFailures: ({ definition, kind, like, dryRun, reason }) =>
      post(["failures", "redrive"], { definition, kind, like, dryRun, reason }, "found"),
    resumeBatch: ({ batchId, reason }) => post(["batches", batchId, "resume"], { reason }, "batch"),
    cancelBatch: ({ batchId, reason }) => post(["batches", batchId, "cancel"], { reason }, "batch"),
  } satisfies Partial<Admin>;
}
