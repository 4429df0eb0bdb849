import { readOwnerRequest } from "../../../admin/app-requests";
import { readListAuditQuery } from "../../../admin/audit-requests";
import { readListBatchesQuery } from "../../../admin/batch-requests";
import { taskRequest, tasksRequest } from "../../../admin/enqueue-request";
import { readFailuresQuery, readRedriveFailuresRequest } from "../../../admin/failure-requests";
import { readListSharedLimitsQuery, rateRequest } from "../../../admin/limit-requests";
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
    summary: "All definitions with their sums, dead executions, the next due instant",
    answer: answers.statusAnswer,
  },
  "api-definitions": {
    summary: "What is limited to what, what runs and what waits",
    answer: answers.definitionsAnswer,
  },
  "api-definition": {
    summary: "One definition",
    answer: named("Definition"),
    hasTag: "always",
  },
  "api-shared-limits": tagged(
    list("Limits that definitions share", readListSharedLimitsQuery, [
      "sharedLimits",
      "SharedLimit",
    ]),
  ),
  "api-tasks": {
    summary: "Tasks by state, key, group, batch, times or a value in their payloads",
    query: readListTasksQuery,
    answer: answers.tasksAnswer,
    hasPages: true,
  },
  "api-groups": tagged(list("Slots of groups", tasks.readListGroupsQuery, ["groups", "Group"])),
  "api-schedules": tagged(
    list("Schedules with their next and last instants", readListSchedulesQuery, [
      "schedules",
      "Schedule",
    ]),
  ),
  "api-watermarks": tagged(
    list("How far blocks have been made", readListWatermarksQuery, ["watermarks", "Watermark"]),
  ),
  "api-audit": list("Changes with their actors and reasons, newest first", readListAuditQuery, [
    "entries",
    "AuditEntry",
  ]),
  "api-executions": list("Executions with their tokens, newest first", readListExecutionsQuery, [
    "executions",
    "Execution",
  ]),
  "api-task": { summary: "Where a task stands and why", answer: answers.explainAnswer },
  "api-batches": list("Batches and how far they are, newest first", readListBatchesQuery, [
    "batches",
    "Batch",
  ]),
  "api-batch": { summary: "One batch with its waves", answer: named("Batch") },
  "api-failures": {
    summary: "Dead tasks by error, most first",
    query: readFailuresQuery,
    answer: incidents.failuresAnswer,
    hasPages: true,
  },
  "api-pace": {
    summary: "How a definition gets on: oldest task, pace, time left, running tasks",
    answer: incidents.paceAnswer,
  },
  "api-statistics": {
    summary: "Counts, durations and the use of tokens over time",
    query: readStatisticsQuery,
    answer: statistics.statisticsAnswer,
  },
  "api-summaries": {
    summary: "Tasks that ended within the last two hours, by definition and ten minutes",
    answer: statistics.summariesAnswer,
  },
  "api-stop-state": {
    summary: "The stop that is in force, with the paused definitions and schedules",
    answer: incidents.stopStateAnswer,
  },
} as const satisfies Record<string, RouteDescription>;

/** Changes. */
const changes = {
  "api-limit": {
    summary: "Sets an operator's limit, live",
    body: [readLimitRequest],
    answer: answers.limitAnswer,
    takesTag: true,
  },
  "api-owner": {
    summary: "Hands a definition over to another app, or releases it",
    body: [readOwnerRequest],
    answer: answers.ownerAnswer,
    takesTag: true,
  },
  "api-rate": {
    summary: "Sets an operator's rate, live",
    body: [rateRequest],
    answer: answers.rateAnswer,
    takesTag: true,
  },
  "api-shared-limit": {
    summary: "Sets a limit that several definitions draw from, live",
    body: [readLimitRequest],
    answer: answers.sharedLimitAnswer,
    takesTag: true,
  },
  "api-pause": {
    summary: "Starts nothing new; what runs goes on",
    body: [readOperatorRequest],
    answer: answers.pauseAnswer,
    takesTag: true,
  },
  "api-resume": {
    summary: "Takes a pause away",
    body: [readOperatorRequest],
    answer: answers.pauseAnswer,
    takesTag: true,
  },
  "api-enqueue": {
    summary: "Adds tasks; 200: all of them were there already",
    body: [taskRequest, tasksRequest],
    takesLines: true,
    statuses: [200, 201],
    answer: answers.enqueueAnswer,
  },
  "api-group": {
    summary: "Sets a group's slots, pauses or resumes it",
    body: [tasks.readGroupRequest],
    answer: answers.groupAnswer,
    takesTag: true,
  },
  "api-schedule-pause": {
    summary: "A schedule enqueues nothing until resumed",
    body: [readScheduleRequest],
    answer: answers.schedulePauseAnswer,
    takesTag: true,
  },
  "api-schedule-resume": {
    summary: "A schedule goes on with its next instant from now",
    body: [readScheduleRequest],
    answer: answers.schedulePauseAnswer,
    takesTag: true,
  },
  "api-schedule-run": {
    summary: "Adds a schedule's task now; its next instant stays",
    body: [readRunScheduleRequest],
    answer: answers.scheduleRunAnswer,
  },
  "api-watermark": {
    summary: "Sets how far blocks have been made",
    body: [readWatermarkRequest],
    answer: answers.watermarkAnswer,
    takesTag: true,
  },
  "api-cancel": {
    summary: "Ends tasks that wait, asks those that run to end",
    body: [tasks.readCancelRequest],
    answer: answers.outcomesAnswer("cancelled", "requested", "busy", "gone"),
  },
  "api-redrive": {
    summary: "Dead letters and cancelled tasks become tasks again",
    body: [tasks.redriveRequest],
    answer: answers.outcomesAnswer(
      ...["redriven", "duplicate", "busy", "unfinished", "done", "unknown"],
    ),
  },
  "api-reschedule": {
    summary: "Gives tasks that wait another instant",
    body: [tasks.rescheduleRequest],
    answer: answers.outcomesAnswer("rescheduled", "running", "blocked", "busy", "gone"),
  },
  "api-redrive-failures": {
    summary: "Dead tasks of one error become tasks again",
    body: [readRedriveFailuresRequest],
    answer: incidents.redriveFailuresAnswer,
  },
  "api-stop": {
    summary:
      "Pauses all definitions and schedules that aren't paused, and those that are registered until the resume",
    body: [readOperatorRequest],
    answer: incidents.stopAnswer,
  },
  "api-resume-all": {
    summary: "Resumes the definitions and schedules that a stop has paused, and no others",
    body: [readOperatorRequest],
    answer: incidents.stopAnswer,
  },
  "api-batch-resume": {
    summary: "A halted batch goes on",
    body: [readOperatorRequest],
    answer: answers.resumedAnswer,
  },
  "api-batch-cancel": {
    summary: "Opens no further wave, ends the batch's tasks",
    body: [readOperatorRequest],
    answer: answers.cancelledAnswer,
  },
} as const satisfies Record<string, RouteDescription>;

/** The document itself. */
const pages = {
  "api-openapi": { summary: "This document", answer: { type: "object" } },
} as const satisfies Record<string, RouteDescription>;

/** By the name of the route's function. */
export const descriptions = { ...reads, ...changes, ...pages };

/** The name of a route's function. */
export type RouteName = keyof typeof descriptions;
