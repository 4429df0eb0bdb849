import { auditActions } from "../../../core/audit-actions";
import { auditListMax, batchListMax, listMax } from "../../../admin/listing";
import { listableStates } from "../../../admin/requests";
import { limits } from "../../../core/limits";
import * as answers from "./answers";
import * as bodies from "./bodies";
import type { RouteDescription } from "./document";
import { id, instant, key, max, named, oneOf, words } from "./schema";
import type { Schema } from "./schema";

/* What each route takes and answers, by the name of its function. */

const ofMax = { max: max(listMax, 100) };
const ofDefinition = { definition: key, ...ofMax };

const list = (
  summary: string,
  query: Readonly<Record<string, Schema>>,
  [member, component]: readonly [member: string, component: string],
): RouteDescription => ({ summary, query, answer: answers.listAnswer(member, component) });

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
  "api-definition": { summary: "One definition", answer: named("Definition") },
  "api-shared-limits": list("Limits that definitions share", { name: key, ...ofMax }, [
    "sharedLimits",
    "SharedLimit",
  ]),
  "api-tasks": list(
    "Tasks of one state",
    { state: { ...oneOf(...listableStates), default: "ready" }, ...ofMax },
    ["tasks", "Task"],
  ),
  "api-groups": list("Slots of groups", { definition: key, key, ...ofMax }, ["groups", "Group"]),
  "api-schedules": list("Schedules with their next and last instants", ofDefinition, [
    "schedules",
    "Schedule",
  ]),
  "api-watermarks": list(
    "How far blocks have been made",
    { definition: key, watermark: key, ...ofMax },
    ["watermarks", "Watermark"],
  ),
  "api-audit": list(
    "Changes with their actors and reasons, newest first",
    {
      object: key,
      action: oneOf(...auditActions),
      actor: words(limits.nameLengthMax),
      since: instant,
      before: instant,
      max: max(auditListMax, 20),
    },
    ["entries", "AuditEntry"],
  ),
  "api-executions": list(
    "Executions with their tokens, newest first",
    { definition: key, open: { ...oneOf("true", "false"), default: "true" }, ...ofMax },
    ["executions", "Execution"],
  ),
  "api-task": { summary: "Where a task stands and why", answer: answers.explainAnswer },
  "api-batches": list(
    "Batches and how far they are, newest first",
    { before: id, max: max(batchListMax, 20) },
    ["batches", "Batch"],
  ),
  "api-batch": { summary: "One batch with its waves", answer: named("Batch") },
} as const satisfies Record<string, RouteDescription>;

/** Changes. */
const changes = {
  "api-limit": {
    summary: "Sets an operator's limit, live",
    body: bodies.limitBody,
    answer: answers.limitAnswer,
  },
  "api-owner": {
    summary: "Hands a definition over to another app, or releases it",
    body: bodies.ownerBody,
    answer: answers.ownerAnswer,
  },
  "api-rate": {
    summary: "Sets an operator's rate, live",
    body: bodies.rateBody,
    answer: answers.rateAnswer,
  },
  "api-shared-limit": {
    summary: "Sets a limit that several definitions draw from, live",
    body: bodies.limitBody,
    answer: answers.sharedLimitAnswer,
  },
  "api-pause": {
    summary: "Starts nothing new; what runs goes on",
    body: bodies.reasonBody,
    isBodyOptional: true,
    answer: answers.pauseAnswer,
  },
  "api-resume": {
    summary: "Takes a pause away",
    body: bodies.reasonBody,
    isBodyOptional: true,
    answer: answers.pauseAnswer,
  },
  "api-enqueue": {
    summary: "Adds tasks; 200: all of them were there already",
    body: bodies.enqueueBody,
    takesLines: true,
    statuses: [200, 201],
    answer: answers.enqueueAnswer,
  },
  "api-group": {
    summary: "Sets a group's slots, pauses or resumes it",
    body: bodies.groupBody,
    answer: answers.groupAnswer,
  },
  "api-schedule-pause": {
    summary: "A schedule enqueues nothing until resumed",
    body: bodies.scheduleBody,
    answer: answers.schedulePauseAnswer,
  },
  "api-schedule-resume": {
    summary: "A schedule goes on with its next instant from now",
    body: bodies.scheduleBody,
    answer: answers.schedulePauseAnswer,
  },
  "api-watermark": {
    summary: "Sets how far blocks have been made",
    body: bodies.watermarkBody,
    answer: answers.watermarkAnswer,
  },
  "api-cancel": {
    summary: "Ends tasks that wait, asks those that run to end",
    body: bodies.cancelBody,
    answer: answers.outcomesAnswer("cancelled", "requested", "busy", "gone"),
  },
  "api-redrive": {
    summary: "Dead letters and cancelled tasks become tasks again",
    body: bodies.redriveBody,
    answer: answers.outcomesAnswer(
      ...["redriven", "duplicate", "busy", "unfinished", "done", "unknown"],
    ),
  },
  "api-reschedule": {
    summary: "Gives tasks that wait another instant",
    body: bodies.rescheduleBody,
    answer: answers.outcomesAnswer("rescheduled", "running", "blocked", "busy", "gone"),
  },
  "api-batch-resume": {
    summary: "A halted batch goes on",
    body: bodies.reasonBody,
    isBodyOptional: true,
    answer: answers.resumedAnswer,
  },
  "api-batch-cancel": {
    summary: "Opens no further wave, ends the batch's tasks",
    body: bodies.reasonBody,
    isBodyOptional: true,
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
