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

/** A change, and the answer's member by which it is known. */
const putOf =
  (app: AppConnection) =>
  async <Result extends object>(route: readonly string[], body: object, member: string) =>
    objectOf<Result>(await app.change("PUT", route, body), member);
const postOf =
  (app: AppConnection) =>
  async <Result extends object>(route: readonly string[], body: object, member: string) =>
    objectOf<Result>(await app.change("POST", route, body), member);

function settingChanges(app: AppConnection) {
  const put = putOf(app);
  const post = postOf(app);
  return {
    setLimit: ({ definition, limit, reason, operationId }) =>
      put(["definitions", definition, "limit"], { limit, reason, operationId }, "newLimit"),
    setRate: ({ definition, rate, reason }) =>
      put(["definitions", definition, "rate"], { rate, reason }, "newRate"),
    setOwner: ({ definition, app: owner, reason }) =>
      put(["definitions", definition, "owner"], { app: owner, reason }, "newApp"),
    setSharedLimit: ({ name, limit, reason, operationId }) =>
      put(["shared-limits", name], { limit, reason, operationId }, "newLimit"),
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
      what === "run" ? "task" : "schedule",
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
      return objectOf(
        await app.change("PUT", ["definitions", definition, "watermark"], body),
        "version",
      );
    },
  } satisfies Partial<Changes>;
}

function taskChanges(app: AppConnection) {
  const post = postOf(app);
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
  } satisfies Partial<Changes>;
}
