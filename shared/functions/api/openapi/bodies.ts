import { limits } from "../../../core/limits";
import { container, id, input, instant, key, limit, oneOf, operationId, orNull } from "./schema";
import { flag, reason, whole } from "./schema";
import type { Schema } from "./schema";

/* What routes take as their body. */

const ids: Schema = { type: "array", items: id, minItems: 1, maxItems: limits.idsMax };

const taskMembers: Readonly<Record<string, Schema>> = {
  payload: { ...orNull(container), description: "What the handler gets; null: nothing." },
  kind: { ...key, description: "The handler; default: the definition's name." },
  priority: {
    ...whole(limits.priorityMin, limits.priorityMax),
    default: 100,
    description: "Lower first.",
  },
  group: { ...orNull(key), description: "Tasks of one group share its slots; null: none." },
  groupScope: oneOf("definition", "global"),
  runInMs: whole(0, limits.runInMsMax),
  runAt: instant,
  dedupeKey: key,
  dedupeMs: whole(1, limits.runInMsMax),
  onDuplicate: oneOf("keep", "replace"),
  traceParent: { type: "string", pattern: "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$" },
};

/** Of a task: what goes together and what doesn't. */
const taskRelations: Schema = {
  not: { required: ["runInMs", "runAt"] },
  dependentRequired: { dedupeMs: ["dedupeKey"], onDuplicate: ["dedupeKey"] },
  // Without a group its scope says nothing.
  dependentSchemas: {
    groupScope: { required: ["group"], properties: { group: { type: "string" } } },
  },
};

const task = input(taskMembers, ["payload"], taskRelations);

/** One task, or a list of them. */
export const enqueueBody: Schema = {
  oneOf: [
    input({ ...taskMembers, operationId }, ["payload"], taskRelations),
    input(
      {
        tasks: { type: "array", items: task, minItems: 1, maxItems: limits.enqueueTasksMax },
        operationId,
      },
      ["tasks"],
    ),
  ],
};

/** A limit, own or shared. */
export const limitBody = input(
  {
    limit: {
      anyOf: [limit, { const: "code" }],
      description: "null: no limit; 0: nothing starts; code: the code's own again.",
    },
    reason,
    operationId,
  },
  ["limit"],
);

/** The app that a definition is handed over to. */
export const ownerBody = input(
  { app: { ...orNull(key), description: "null: no app, until one registers it." }, reason },
  ["app"],
);

const rate = input(
  {
    count: whole(1, limits.rateCountMax),
    periodMs: whole(limits.ratePeriodMsMin, limits.ratePeriodMsMax),
    burst: { ...whole(1, limits.rateCountMax), description: "At most `count`." },
  },
  ["count", "periodMs"],
);

/** A rate. */
export const rateBody = input(
  {
    rate: {
      anyOf: [rate, { type: "null" }, { const: "code" }],
      description: "null: no rate; code: the code's own again.",
    },
    reason,
  },
  ["rate"],
);

/** Nothing but the reason. */
export const reasonBody = input({ reason });

/** A group's settings; what isn't said stays. */
export const groupBody = input(
  {
    key,
    scope: { ...oneOf("definition", "global"), default: "definition" },
    slots: whole(1, 1_000),
    paused: flag,
    strict: flag,
    reason,
  },
  ["key"],
);

/** One schedule. */
export const scheduleBody = input({ schedule: key, reason }, ["schedule"]);

/** Where a watermark stands. */
export const watermarkBody = input(
  {
    watermark: key,
    value: { ...orNull(container), description: "null: the next maker begins anew." },
    version: { ...id, description: "Only if this is its version; 0: there is none yet." },
    operationId,
    reason,
  },
  ["watermark", "value"],
);

/** Tasks to cancel. */
export const cancelBody = input({ tasks: ids, reason }, ["tasks"]);

/** Tasks to redrive, by ids or by definition. */
export const redriveBody: Schema = {
  oneOf: [
    input({ tasks: ids, reason }, ["tasks"]),
    input(
      {
        definition: key,
        kind: key,
        outcome: { ...oneOf("dead", "cancelled"), default: "dead" },
        max: { ...whole(1, limits.idsMax), default: limits.idsMax },
        reason,
      },
      ["definition"],
    ),
  ],
};

/** Tasks to move in time. */
export const rescheduleBody: Schema = {
  oneOf: [
    input({ tasks: ids, runInMs: whole(0, limits.runInMsMax), reason }, ["tasks", "runInMs"]),
    input({ tasks: ids, runAt: instant, reason }, ["tasks", "runAt"]),
  ],
};
