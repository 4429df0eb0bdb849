import type { Admin } from "../admin/create-admin";
import type { ExplainReport } from "../admin/explain-report";
import type { FailuresReport } from "../admin/failure-actions";
import { pickSchedule } from "../admin/schedule-actions";
import type { StatusReport } from "../admin/status-report";
import type { StopState } from "../admin/stop-actions";
import type { TaskPage, TaskPageRequest } from "../admin/task-list";
import type { TaskId } from "../core/ids";
import type { ScheduleReport } from "../admin/schedule-calls";
import { objectOf, rowsOf, without } from "./answer-parts";
import type { AppConnection } from "./app-connection";
import type { Query } from "./app-request";

/**
 * What the admin tells, by a request for each call. A list of HTTP has as many rows at most as a list of the admin, so one page is
 * all of it; only tasks are listed page by page. Tags and cursors are left out: the answers are those of the admin beside the database.
 */

/** Schedules of one definition that are looked through for one of them. */
const schedulesMax = 1_000;

/** The calls that change nothing. */
export function appReads(app: AppConnection) {
  return { ...settingReads(app), ...taskReads(app), ...listReads(app) };
}

function settingReads(app: AppConnection) {
  const schedules = async (query: { definition?: string | undefined; max: number }) =>
    rowsOf<ScheduleReport>(await app.get(["schedules"], query), "schedules").map(showSchedule);
  return {
    status: async () =>
      without(objectOf<StatusReport>(await app.get(["status"]), "totals"), "operatorApi"),
    definitions: async (name) => {
      if (name !== undefined) return [objectOf(await app.get(["definitions", name]), "name")];
      return untagged(await app.get(["definitions"]), "definitions");
    },
    sharedLimits: async ({ name, max }) =>
      untagged(await app.get(["shared-limits"], { name, max }), "sharedLimits"),
    groups: async ({ name: definition, groupKey: key, max }) =>
      untagged(await app.get(["groups"], { definition, key, max }), "groups"),
    schedules: ({ name: definition, max }) => schedules({ definition, max }),
    schedule: async ({ definition, schedule }) =>
      pickSchedule(await schedules({ definition, max: schedulesMax }), schedule),
    watermarks: async ({ name: definition, watermark, max }) =>
      untagged(await app.get(["watermarks"], { definition, watermark, max }), "watermarks"),
  } satisfies Partial<Admin>;
}

function taskReads(app: AppConnection) {
  const explain = async (taskId: TaskId): Promise<ExplainReport> =>
    showExplained(objectOf(await app.get(["tasks", taskId]), "facts"));
  return {
    tasks: async (request) => {
      const route = ["definitions", request.definition, "tasks"];
      return taskPage(objectOf(await app.get(route, taskQuery(request)), "tasks"));
    },
    explain,
    facts: async (taskId) => (await explain(taskId)).facts,
    pace: async (definition) =>
      objectOf(await app.get(["definitions", definition, "pace"]), "oldestReady"),
    statistics: async ({ definition, window }) =>
      objectOf(await app.get(["definitions", definition, "statistics"], { window }), "total"),
    summaries: async () => rowsOf(await app.get(["statistics"]), "definitions"),
  } satisfies Partial<Admin>;
}

/** A place in a list is the cursor that the app has told. */
function taskQuery({ states, where, groupKey, batchId, from, ...request }: TaskPageRequest): Query {
  const { key, keyPrefix, createdSince, createdBefore, endedSince, endedBefore, error } = request;
  return {
    ...{ key, keyPrefix, max: request.max, since: createdSince, before: createdBefore },
    ...{ endedSince, endedBefore, error },
    state: states?.join(","),
    group: groupKey,
    batch: batchId,
    where: where === undefined ? undefined : `${where.path}=${where.value}`,
    cursor: from?.after ?? undefined,
  };
}

type ListedTasks = Omit<TaskPage, "next"> & { readonly cursor: string | null };

function taskPage({ tasks, lookedAt, stoppedAt, cursor }: ListedTasks): TaskPage {
  const next =
    cursor === null || stoppedAt === null ? null : { state: stoppedAt.state, after: cursor };
  return { tasks, lookedAt, next, stoppedAt };
}

function listReads(app: AppConnection) {
  return {
    executions: async ({ definition, isOpen: open, max }) =>
      rowsOf(await app.get(["executions"], { definition, open, max }), "executions"),
    batches: async ({ before, max }) =>
      rowsOf(await app.get(["batches"], { before, max }), "batches"),
    batch: async (batchId) => objectOf(await app.get(["batches", batchId]), "waves"),
    audit: async ({ changedBy: actor, ...query }) =>
      rowsOf(await app.get(["audit"], { ...query, actor }), "entries"),
    failures: async ({ batchId: batch, ...query }) =>
      without(
        objectOf<FailuresReport>(await app.get(["failures"], { ...query, batch }), "groups"),
        "cursor",
      ),
    stopState: async () =>
      objectOf<{ stop: StopState | null }>(await app.get(["stop"]), "stop").stop,
  } satisfies Partial<Admin>;
}

/** Rows without the tags of their settings. */
function untagged<Row extends object>(answer: unknown, member: string): Row[] {
  return rowsOf<Row>(answer, member).map((row) => without(row, "etag") as Row);
}

/** Sizes of payload and result stay where the caller may not see the parts themselves. */
function showExplained(report: ExplainReport): ExplainReport {
  const { facts } = report;
  if (facts === null) return report;
  const { payload, payloadBytes = null, result = null, resultBytes = null } = facts;
  const isHidden =
    (payload === null && payloadBytes !== null) || (result === null && resultBytes !== null);
  if (isHidden) return report;
  return { ...report, facts: without(facts, "payloadBytes", "resultBytes") };
}

function showSchedule(schedule: ScheduleReport & { payloadBytes?: number | null }): ScheduleReport {
  const { payload, payloadBytes = null } = schedule;
  const isHidden = payload === null && payloadBytes !== null;
  return without(schedule, "etag", ...(isHidden ? [] : (["payloadBytes"] as const)));
}
