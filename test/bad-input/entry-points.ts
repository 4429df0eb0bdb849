import { limits } from "../../shared/core/limits";
import type { Field } from "./bad-values";

/**
 * Every way into the product, with its fields and one input that is good. The test makes bad inputs of it, and fails
 * when a route, a command, a setting or a queue reader isn't in here.
 */

/** A route of the HTTP API. */
export interface HttpEntry {
  readonly params: readonly Field[];
  readonly query: readonly Field[];
  /** null: it takes no body. */
  readonly body: {
    readonly fields: readonly Field[];
    readonly good: unknown;
    readonly isOptional?: boolean;
  } | null;
}

/** A command of the CLI: a good command line, and bad words in place of it. */
export interface CliEntry {
  /** Required arguments. */
  readonly args: readonly string[];
  /** Command lines behind the name, each bad, with the field that the error names. */
  readonly bad: readonly { readonly words: readonly string[]; readonly field: string }[];
}

/** A reader of queue messages. */
export interface QueueEntry {
  readonly good: Readonly<Record<string, unknown>>;
  readonly fields: readonly Field[];
}

const operationId: Field = { name: "operationId", kind: "uuid" };
const reason: Field = { name: "reason", kind: "text" };
const most: Field = { name: "most", kind: "numeric text", min: 1, max: 1_000 };
const nameParam: Field = { name: "name", kind: "key" };

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
  { name: "traceParent", kind: "trace" },
];

const operatorBody = { fields: [reason], good: {}, isOptional: true };

/** By name of the function. */
export const httpEntries: Readonly<Record<string, HttpEntry>> = {
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
  "api-pause": { params: [nameParam], query: [], body: operatorBody },
  "api-resume": { params: [nameParam], query: [], body: operatorBody },
  "api-tasks": {
    params: [nameParam],
    query: [{ name: "state", kind: "choice" }, most],
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
    query: [{ name: "definition", kind: "key" }, { name: "open", kind: "choice" }, most],
    body: null,
  },
  "api-task": { params: [{ name: "id", kind: "task id" }], query: [], body: null },
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

const badNames = ["", " a", "a ", "x".repeat(201)].map((word) => ({
  words: [word],
  field: "definition",
}));
const badMost = ["0", "1001", "many", "1.5", ""].map((word) => ({
  words: ["--most", word],
  field: "most",
}));
const longReason = { words: ["known", "--reason", "x".repeat(401)], field: "reason" };

function behind(name: string, bad: CliEntry["bad"]): CliEntry["bad"] {
  return bad.map(({ words, field }) => ({ words: [name, ...words], field }));
}

/** By name of the command. */
export const cliEntries: Readonly<Record<string, CliEntry>> = {
  status: { args: [], bad: [] },
  definitions: {
    args: [],
    bad: [
      { words: ["--name", ""], field: "definition" },
      { words: ["--name", "unknown"], field: "definition" },
    ],
  },
  executions: { args: [], bad: [...badMost, { words: ["--name", " a"], field: "definition" }] },
  tasks: {
    args: ["known"],
    bad: [
      ...badNames,
      ...behind("known", badMost),
      { words: ["known", "--state", "held"], field: "state" },
    ],
  },
  explain: {
    args: ["1"],
    bad: ["abc", "1.5", "9223372036854775808", ""].map((word) => ({
      words: [word],
      field: "task",
    })),
  },
  enqueue: {
    args: ["known"],
    bad: [
      ...badNames,
      { words: ["known", "--payload", "{"], field: "--payload" },
      { words: ["known", "--payload", "5"], field: "tasks[0].payload" },
      { words: ["known", "--payload", "{}", "--file", "x"], field: "--file" },
      { words: ["known", "--file", "/nowhere/at-all.json"], field: "--file" },
      { words: ["known", "--priority", "x"], field: "tasks[0].priority" },
      { words: ["known", "--priority", "40000"], field: "tasks[0].priority" },
      { words: ["known", "--group", ""], field: "tasks[0].group" },
      { words: ["known", "--kind", "x".repeat(201)], field: "tasks[0].kind" },
      { words: ["known", "--run-in-ms", "soon"], field: "tasks[0].runInMs" },
      { words: ["known", "--dedupe-key", " a"], field: "tasks[0].dedupeKey" },
    ],
  },
  limit: {
    args: ["known", "1"],
    bad: [
      ...badNames.map(({ words, field }) => ({ words: [...words, "1"], field })),
      ...["1001", "1.5", "null", "", "one", "99999999999999999999"].map((word) => ({
        words: ["known", word],
        field: "limit",
      })),
      { words: ["known", "1", "--reason", "x".repeat(401)], field: "reason" },
    ],
  },
  pause: { args: ["known"], bad: [...badNames, longReason] },
  resume: { args: ["known"], bad: [...badNames, longReason] },
  doctor: { args: [], bad: [] },
  migrate: {
    args: [],
    bad: [
      "nobody",
      "a:b",
      ":01234567-89ab-cdef-0123-456789abcdef",
      // Well-formed, but PostgreSQL has no such users.
      "a:01234567-89ab-cdef-0123-456789abcdef",
    ].map((word) => ({ words: ["--grant", word], field: "--grant" })),
  },
};
