import type { Admin } from "../admin/create-admin";
import type { JsonValue } from "../core/json";
import { objectOf } from "./answer-parts";
import type { AppConnection } from "./app-connection";

/**
 * What the admin changes, by a request for each call. The app names the actor itself, by the sign-in: `changedBy` isn't sent. No
 * change has a condition: a command means the settings as they stand when it arrives, as beside the database; the version of a watermark is
 * a member of its change.
 */

type Changes = Pick<
  Admin,
  | "setLimit"
  | "setRate"
  | "setOwner"
  | "setSharedLimit"
  | "pause"
  | "resume"
  | "setGroup"
  | "pauseSchedule"
  | "resumeSchedule"
  | "runSchedule"
  | "setWatermark"
  | "cancel"
  | "redrive"
  | "reschedule"
  | "redriveFailures"
  | "stopAll"
  | "resumeAll"
  | "resumeBatch"
  | "cancelBatch"
>;

/** The calls that change something but an enqueue. */
export function appChanges(app: AppConnection): Changes {
  return { ...settingChanges(app), ...scheduleChanges(app), ...taskChanges(app) };
}

function settingChanges(app: AppConnection) {
  const put = async <Result extends object>(route: readonly string[], body: object) =>
    objectOf<Result>(await app.change("PUT", route, body));
  const post = async <Result extends object>(route: readonly string[], body: object) =>
    objectOf<Result>(await app.change("POST", route, body));
  return {
    setLimit: ({ definition, limit, reason, operationId }) =>
      put(["definitions", definition, "limit"], { limit, reason, operationId }),
    setRate: ({ definition, rate, reason }) =>
      put(["definitions", definition, "rate"], { rate, reason }),
    setOwner: ({ definition, app: owner, reason }) =>
      put(["definitions", definition, "owner"], { app: owner, reason }),
    setSharedLimit: ({ name, limit, reason, operationId }) =>
      put(["shared-limits", name], { limit, reason, operationId }),
    pause: ({ definition, reason }) => post(["definitions", definition, "pause"], { reason }),
    resume: ({ definition, reason }) => post(["definitions", definition, "resume"], { reason }),
    setGroup: ({ definition, groupKey: key, groupScope: scope, slots, paused, strict, reason }) =>
      put(["definitions", definition, "group"], { key, scope, slots, paused, strict, reason }),
    stopAll: ({ reason }) => post(["stop"], { reason }),
    resumeAll: ({ reason }) => post(["resume"], { reason }),
  } satisfies Partial<Changes>;
}

function scheduleChanges(app: AppConnection) {
  const change = async <Result extends object>(
    definition: string,
    what: "pause" | "resume" | "run",
    body: object,
  ) =>
    objectOf<Result>(
      await app.change("POST", ["definitions", definition, "schedules", what], body),
    );
  return {
    pauseSchedule: ({ definition, schedule, reason }) =>
      change(definition, "pause", { schedule, reason }),
    resumeSchedule: ({ definition, schedule, reason }) =>
      change(definition, "resume", { schedule, reason }),
    runSchedule: ({ definition, schedule, scheduledFor, operationId, reason }) =>
      change(definition, "run", { schedule, scheduledFor, operationId, reason }),
    setWatermark: async ({ definition, watermark, value: text, reason, ...change }) => {
      const { expectedVersion: version, operationId } = change;
      // The reader has made the text of a value that came as JSON: it is the same value again.
      const value = text === null ? null : (JSON.parse(text) as JsonValue);
      const body = { watermark, value, version, reason, operationId };
      return objectOf(await app.change("PUT", ["definitions", definition, "watermark"], body));
    },
  } satisfies Partial<Changes>;
}

function taskChanges(app: AppConnection) {
  const post = async <Result extends object>(route: readonly string[], body: object) =>
    objectOf<Result>(await app.change("POST", route, body));
  return {
    cancel: ({ taskIds: tasks, dryRun, reason }) =>
      post(["tasks", "cancel"], { tasks, dryRun, reason }),
    redrive: (request) => {
      const { reason } = request;
      if ("taskIds" in request) {
        const { taskIds: tasks, dryRun } = request;
        return post(["tasks", "redrive"], { tasks, dryRun, reason });
      }
      const { name: definition, kind, outcome, max } = request;
      return post(["tasks", "redrive"], { definition, kind, outcome, max, reason });
    },
    reschedule: ({ taskIds: tasks, to, dryRun, reason }) =>
      post(["tasks", "reschedule"], { tasks, ...to, dryRun, reason }),
    redriveFailures: ({ definition, kind, like, dryRun, reason }) =>
      post(["failures", "redrive"], { definition, kind, like, dryRun, reason }),
    resumeBatch: ({ batchId, reason }) => post(["batches", batchId, "resume"], { reason }),
    cancelBatch: ({ batchId, reason }) => post(["batches", batchId, "cancel"], { reason }),
  } satisfies Partial<Changes>;
}
