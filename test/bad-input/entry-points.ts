import { limits } from "../../shared/core/limits";
import type { Field } from "./bad-values";
import { max, nameParam, operatorBody, reason } from "./common-fields";
import type { HttpEntry } from "./http-entry";
import { incidentEntries } from "./incident-entries";

/**
 * The HTTP routes and queues, with their fields and one input that is good. The test makes bad inputs of it, and fails
 * when a route or a queue reader isn't in here; commands stand in command-entries.ts, settings in their own table.
 */

/** A reader of queue messages. */
export interface QueueEntry {
  readonly good: Readonly<Record<string, unknown>>;
  readonly fields: readonly Field[];
}

const operationId: Field = { name: "operationId", kind: "uuid" };
const ids: Field = { name: "tasks", kind: "list of ids", isRequired: true };
const batchParam: Field = { name: "id", kind: "batch id" };

/** Fields of a task in an enqueue. */
export const taskFields: readonly Field[] = [
  { name: "payload", kind: "payload", isRequired: true },
  { name: "kind", kind: "key" },
  { name: "priority", kind: "integer", min: limits.priorityMin, max: limits.priorityMax },
  { name: "group", kind: "key" },
  { name: "groupScope", kind: "choice" },
  { name: "runInMs", kind: "integer", min: 0, max: limits.runInMsMax },
  { name: "runAt", kind: "instant" },
  { name: "dedupeKey", kind: "key" },
  { name: "dedupeMs", kind: "integer", min: 1, max: limits.runInMsMax },
  { name: "onDuplicate", kind: "choice" },
  { name: "traceParent", kind: "trace" },
];

/** By name of the function. */
export const httpEntries: Readonly<Record<string, HttpEntry>> = {
  "api-openapi": { params: [], query: [], body: null },
  "api-status": { params: [], query: [], body: null },
  "api-definitions": { params: [], query: [], body: null },
  "api-definition": { params: [nameParam], query: [], body: null },
  "api-limit": {
    params: [nameParam],
    query: [],
    body: {
      fields: [{ name: "limit", kind: "limit", isRequired: true }, reason, operationId],
      good: { limit: 1 },
    },
  },
  "api-owner": {
    params: [nameParam],
    query: [],
    body: {
      fields: [{ name: "app", kind: "key", isRequired: true }, reason],
      good: { app: "billing" },
    },
  },
  "api-rate": {
    params: [nameParam],
    query: [],
    body: {
      fields: [{ name: "rate", kind: "choice", isRequired: true }, reason],
      good: { rate: { count: 5, periodMs: 1_000 } },
    },
  },
  "api-shared-limits": { params: [], query: [{ name: "name", kind: "key" }, max], body: null },
  "api-shared-limit": {
    params: [nameParam],
    query: [],
    body: {
      fields: [
        { name: "limit", kind: "limit", isRequired: true },
        { name: "create", kind: "boolean" },
        reason,
        operationId,
      ],
      good: { limit: 1, create: true },
    },
  },
  "api-pause": { params: [nameParam], query: [], body: operatorBody },
  "api-resume": { params: [nameParam], query: [], body: operatorBody },
  "api-tasks": {
    params: [nameParam],
    query: [{ name: "state", kind: "choice" }, max],
    body: null,
  },
  "api-enqueue": {
    params: [nameParam],
    query: [],
    body: {
      fields: [...taskFields, operationId, { name: "tasks", kind: "list of tasks" }],
      good: { payload: { a: 1 } },
    },
  },
  "api-executions": {
    params: [],
    query: [{ name: "definition", kind: "key" }, { name: "open", kind: "choice" }, max],
    body: null,
  },
  "api-group": {
    params: [nameParam],
    query: [],
    body: {
      fields: [
        { name: "key", kind: "key", isRequired: true },
        { name: "scope", kind: "choice" },
        { name: "slots", kind: "integer", min: 1, max: 1_000 },
        { name: "paused", kind: "boolean" },
        { name: "strict", kind: "boolean" },
        reason,
      ],
      good: { key: "g" },
    },
  },
  "api-groups": {
    params: [],
    query: [{ name: "definition", kind: "key" }, { name: "key", kind: "key" }, max],
    body: null,
  },
  "api-schedules": {
    params: [],
    query: [{ name: "definition", kind: "key" }, max],
    body: null,
  },
  ...Object.fromEntries(
    ["api-schedule-pause", "api-schedule-resume"].map((route) => [
      route,
      {
        params: [nameParam],
        query: [],
        body: {
          fields: [{ name: "schedule", kind: "key", isRequired: true }, reason],
          good: { schedule: "nightly" },
        },
      } as const,
    ]),
  ),
  "api-schedule-run": {
    params: [nameParam],
    query: [],
    body: {
      fields: [
        { name: "schedule", kind: "key" },
        { name: "scheduledFor", kind: "instant" },
        operationId,
      ],
      good: { schedule: "nightly" },
      isOptional: true,
    },
  },
  "api-watermark": {
    params: [nameParam],
    query: [],
    body: {
      fields: [
        { name: "watermark", kind: "key", isRequired: true },
        { name: "value", kind: "payload", isRequired: true },
        operationId,
        reason,
      ],
      good: { watermark: "w", value: { last: "1" } },
    },
  },
  "api-watermarks": {
    params: [],
    query: [{ name: "definition", kind: "key" }, { name: "watermark", kind: "key" }, max],
    body: null,
  },
  "api-cancel": {
    params: [],
    query: [],
    body: { fields: [ids, reason], good: { tasks: ["1"] } },
  },
  "api-redrive": {
    params: [],
    query: [],
    body: {
      fields: [
        { name: "kind", kind: "key" },
        { name: "outcome", kind: "choice" },
        { name: "max", kind: "integer", min: 1, max: 1_000 },
        { name: "tasks", kind: "list of ids" },
        reason,
      ],
      good: { definition: "known" },
    },
  },
  "api-reschedule": {
    params: [],
    query: [],
    body: {
      fields: [
        ids,
        { name: "runInMs", kind: "integer", min: 0, max: limits.runInMsMax, isRequired: true },
        { name: "runAt", kind: "instant" },
        reason,
      ],
      good: { tasks: ["1"], runInMs: 0 },
    },
  },
  "api-task": { params: [{ name: "id", kind: "task id" }], query: [], body: null },
  "api-batches": {
    params: [],
    query: [
      { name: "before", kind: "batch id" },
      { name: "max", kind: "numeric text", min: 1, max: 100 },
    ],
    body: null,
  },
  "api-batch": { params: [batchParam], query: [], body: null },
  ...Object.fromEntries(
    ["api-batch-resume", "api-batch-cancel"].map((route) => [
      route,
      {
        params: [batchParam],
        query: [],
        body: { fields: [reason], good: { reason: "late" }, isOptional: true },
      } as const,
    ]),
  ),
  ...incidentEntries,
  "api-audit": {
    params: [],
    query: [
      { name: "object", kind: "key" },
      { name: "action", kind: "choice" },
      { name: "actor", kind: "text" },
      { name: "since", kind: "instant" },
      { name: "before", kind: "instant" },
      { name: "max", kind: "numeric text", min: 1, max: 100 },
    ],
    body: null,
  },
};

/** By queue. */
export const queueEntries: Readonly<Record<string, QueueEntry>> = {
  hints: {
    good: { taskDefinition: "known" },
    // A number stands for a name here: the Functions library makes numbers of texts.
    fields: [{ name: "taskDefinition", kind: "key", isRequired: true }],
  },
  ingest: {
    good: { eventId: "1", source: "/a", type: "landed" },
    fields: [
      { name: "eventId", kind: "event text", isRequired: true },
      { name: "source", kind: "event text", isRequired: true },
      { name: "type", kind: "event text", isRequired: true },
      { name: "data", kind: "object" },
    ],
  },
};
