import { readOwnerRequest } from "../../../admin/app-requests";
import { readListAuditQuery } from "../../../admin/audit-requests";
import { readListBatchesQuery } from "../../../admin/batch-requests";
import { taskRequest, tasksRequest } from "../../../admin/enqueue-request";
import { readFailuresQuery, readRedriveFailuresRequest } from "../../../admin/failure-requests";
import {
  readListSharedLimitsQuery,
  readSharedLimitRequest,
  rateRequest,
} from "../../../admin/limit-requests";
import type { ObjectSchema } from "../../../admin/object-schema";
import {
  readLimitRequest,
  readListExecutionsQuery,
  readOperatorRequest,
} from "../../../admin/requests";
import {
  readListSchedulesQuery,
  readRunScheduleRequest,
  readScheduleRequest,
} from "../../../admin/schedule-requests";
import { acts, looks, sets } from "../../../admin/sentences";
import { readStatisticsQuery } from "../../../admin/statistics-requests";
import { readListTasksQuery } from "../../../admin/task-list-request";
import * as tasks from "../../../admin/task-requests";
import { readListWatermarksQuery, readWatermarkRequest } from "../../../admin/watermark-requests";
import * as answers from "./answers";
import * as statistics from "./statistics-answers";
import * as incidents from "./incident-answers";
import { named } from "./schema";
import type { Schema } from "./schema";

/* What each route takes and answers, by the name of its function. */

/** What a route takes and answers. */
export interface RouteDescription {
  /** A sentence without a full stop. */
  readonly summary: string;
  /** Its members are the parameters of the query. */
  readonly query?: ObjectSchema<unknown>;
  /** What the body may be: one of these. */
  readonly body?: readonly ObjectSchema<unknown>[];
  /** Tasks may come as a line of JSON each, as `application/x-ndjson`. */
  readonly takesLines?: true;
  /** Statuses when it went well; default 200. */
  readonly statuses?: readonly number[];
  readonly answer: Schema;
  /** A list that cursors page. */
  readonly hasPages?: true;
  /** The answer has the ETag of settings; `one`: only where it holds one row. */
  readonly hasTag?: "always" | "one";
  /** The change may depend on the tag of the settings. */
  readonly takesTag?: true;
}

const list = (
  summary: string,
  query: ObjectSchema<unknown>,
  [member, component]: readonly [member: string, component: string],
): RouteDescription => ({
  summary,
  query,
  answer: answers.listAnswer(member, component),
  hasPages: true,
});
const tagged = (described: RouteDescription): RouteDescription => ({
  ...described,
  hasTag: "one",
});

/** Reads. */
const reads = {
  "api-status": {
    summary: looks.status,
    answer: answers.statusAnswer,
  },
  "api-definitions": {
    summary: looks.definitions,
    answer: answers.definitionsAnswer,
  },
  "api-definition": {
    summary: looks.definition,
    answer: named("Definition"),
    hasTag: "always",
  },
  "api-shared-limits": tagged(
    list(looks.sharedLimits, readListSharedLimitsQuery, ["sharedLimits", "SharedLimit"]),
  ),
  "api-tasks": {
    summary: looks.tasks,
    query: readListTasksQuery,
    answer: answers.tasksAnswer,
    hasPages: true,
  },
  "api-groups": tagged(list(looks.groups, tasks.readListGroupsQuery, ["groups", "Group"])),
  "api-schedules": tagged(list(looks.schedules, readListSchedulesQuery, ["schedules", "Schedule"])),
  "api-watermarks": tagged(
    list(looks.watermarks, readListWatermarksQuery, ["watermarks", "Watermark"]),
  ),
  "api-audit": list(looks.audit, readListAuditQuery, ["entries", "AuditEntry"]),
  "api-executions": list(looks.executions, readListExecutionsQuery, ["executions", "Execution"]),
  "api-task": { summary: looks.explain, answer: answers.explainAnswer },
  "api-batches": list(looks.batches, readListBatchesQuery, ["batches", "Batch"]),
  "api-batch": { summary: looks.batch, answer: named("Batch") },
  "api-failures": {
    summary: looks.failures,
    query: readFailuresQuery,
    answer: incidents.failuresAnswer,
    hasPages: true,
  },
  "api-pace": {
    summary: looks.pace,
    answer: incidents.paceAnswer,
  },
  "api-statistics": {
    summary: looks.statistics,
    query: readStatisticsQuery,
    answer: statistics.statisticsAnswer,
  },
  "api-summaries": {
    summary: looks.summaries,
    answer: statistics.summariesAnswer,
  },
  "api-stop-state": {
    summary: looks.stop,
    answer: incidents.stopStateAnswer,
  },
} as const satisfies Record<string, RouteDescription>;

/** Changes. */
const changes = {
  "api-limit": {
    summary: sets.limit,
    body: [readLimitRequest],
    answer: answers.limitAnswer,
    takesTag: true,
  },
  "api-owner": {
    summary: sets.owner,
    body: [readOwnerRequest],
    answer: answers.ownerAnswer,
    takesTag: true,
  },
  "api-rate": {
    summary: sets.rate,
    body: [rateRequest],
    answer: answers.rateAnswer,
    takesTag: true,
  },
  "api-shared-limit": {
    summary: sets.sharedLimit,
    body: [readSharedLimitRequest],
    answer: answers.sharedLimitAnswer,
    takesTag: true,
  },
  "api-pause": {
    summary: acts.pause,
    body: [readOperatorRequest],
    answer: answers.pauseAnswer,
    takesTag: true,
  },
  "api-resume": {
    summary: acts.resume,
    body: [readOperatorRequest],
    answer: answers.pauseAnswer,
    takesTag: true,
  },
  "api-enqueue": {
    summary: `${acts.enqueue}; status 200: all of them were there already`,
    body: [taskRequest, tasksRequest],
    takesLines: true,
    statuses: [200, 201],
    answer: answers.enqueueAnswer,
  },
  "api-group": {
    summary: acts.group,
    body: [tasks.readGroupRequest],
    answer: answers.groupAnswer,
    takesTag: true,
  },
  "api-schedule-pause": {
    summary: acts.pauseSchedule,
    body: [readScheduleRequest],
    answer: answers.schedulePauseAnswer,
    takesTag: true,
  },
  "api-schedule-resume": {
    summary: acts.resumeSchedule,
    body: [readScheduleRequest],
    answer: answers.schedulePauseAnswer,
    takesTag: true,
  },
  "api-schedule-run": {
    summary: acts.runSchedule,
    body: [readRunScheduleRequest],
    answer: answers.scheduleRunAnswer,
  },
  "api-watermark": {
    summary: sets.watermark,
    body: [readWatermarkRequest],
    answer: answers.watermarkAnswer,
    takesTag: true,
  },
  "api-cancel": {
    summary: acts.cancel,
    body: [tasks.readCancelRequest],
    answer: answers.outcomesAnswer("cancelled", "requested", "busy", "gone"),
  },
  "api-redrive": {
    summary: acts.redrive,
    body: [tasks.redriveRequest],
    answer: answers.outcomesAnswer(
      ...["redriven", "duplicate", "busy", "unfinished", "done", "unknown"],
    ),
  },
  "api-reschedule": {
    summary: acts.reschedule,
    body: [tasks.rescheduleRequest],
    answer: answers.outcomesAnswer("rescheduled", "running", "blocked", "busy", "gone"),
  },
  "api-redrive-failures": {
    summary: acts.redriveFailures,
    body: [readRedriveFailuresRequest],
    answer: incidents.redriveFailuresAnswer,
  },
  "api-stop": {
    summary: acts.stop,
    body: [readOperatorRequest],
    answer: incidents.stopAnswer,
  },
  "api-resume-all": {
    summary: acts.resumeAll,
    body: [readOperatorRequest],
    answer: incidents.stopAnswer,
  },
  "api-batch-resume": {
    summary: acts.resumeBatch,
    body: [readOperatorRequest],
    answer: answers.resumedAnswer,
  },
  "api-batch-cancel": {
    summary: acts.cancelBatch,
    body: [readOperatorRequest],
    answer: answers.cancelledAnswer,
  },
} as const satisfies Record<string, RouteDescription>;

/** The document itself. */
const pages = {
  "api-openapi": { summary: "Shows this API as OpenAPI 3.1", answer: { type: "object" } },
} as const satisfies Record<string, RouteDescription>;

/** By the name of the route's function. */
export const descriptions = { ...reads, ...changes, ...pages };

/** The name of a route's function. */
export type RouteName = keyof typeof descriptions;
