import { auditActions } from "../../../core/audit-actions";
import { answer, flag, listOf, named, oneOf, orNull, text, whole } from "./schema";
import type { Schema } from "./schema";

/* What routes answer. */

const count = whole(0);
const ms = whole();
const source = oneOf("code", "operator");
const limit: Schema = { ...orNull(count), description: "null: no limit." };
const rate = orNull(answer({ count, periodMs: ms, burst: count }));
const textOrNull = orNull(text);
const msOrNull = orNull(ms);

const sharedLimit = { name: text, limit, limitSource: source, held: count };

/** Of settings; `If-Match` takes it. */
const etag: Schema = { ...text, description: "Tag of the settings, for If-Match." };

const definition = answer(
  {
    name: text,
    app: { ...textOrNull, description: "The app that it belongs to; null: none." },
    limit,
    limitSource: source,
    codeLimit: limit,
    rate,
    rateSource: source,
    codeRate: rate,
    rateInMs: msOrNull,
    sharedLimits: listOf(answer(sharedLimit)),
    paused: flag,
    leaseMs: ms,
    retryAttempts: count,
    lostMax: count,
    prefetchMax: count,
    build: count,
    tokenFence: text,
    held: count,
    executions: count,
    ready: count,
    scheduled: count,
    waiting: count,
    claimed: count,
    running: count,
    prefetched: count,
    done: count,
    dead: count,
    cancelled: count,
    nextDueMs: msOrNull,
  },
  { etag },
);

const totals = answer(
  Object.fromEntries(
    ["definitions", "paused", "executions", "held", "ready", "scheduled", "waiting"]
      .concat(["claimed", "running", "prefetched", "dead"])
      .map((name) => [name, count]),
  ),
);

const task = answer(
  {
    task: text,
    kind: text,
    priority: whole(),
    state: text,
    createdAt: text,
    failedCount: count,
    lostCount: count,
    error: textOrNull,
    worker: textOrNull,
  },
  { dueAt: textOrNull, claimedAt: textOrNull, endedAt: textOrNull },
);

const execution = answer({
  execution: text,
  definition: text,
  state: oneOf("live", "ended", "dead", "reclaimed"),
  worker: text,
  startedAt: text,
  endedAt: textOrNull,
  leaseLeftMs: msOrNull,
  tokens: count,
  claimed: count,
  running: count,
  prefetched: count,
});

const groupSettings = { slots: count, paused: flag, strict: flag };

const schedule = answer({
  id: text,
  definition: text,
  name: text,
  kind: text,
  cron: text,
  timeZone: text,
  missed: oneOf("skip", "once", "all"),
  paused: flag,
  runAt: textOrNull,
  inMs: msOrNull,
  lastRunAt: textOrNull,
  group: textOrNull,
  payload: {
    ...textOrNull,
    description: "JSON text; null also for callers who may not see payloads.",
  },
  payloadBytes: orNull(count),
  etag,
});

const wave = answer({
  wave: text,
  ordinal: count,
  state: oneOf("blocked", "opening", "open", "done", "cancelled"),
  sealed: flag,
  blocked: count,
  admitted: count,
  unfinished: count,
  dead: count,
  openedAt: textOrNull,
  endedAt: textOrNull,
});

const batch = answer({
  batch: text,
  name: text,
  state: oneOf("draft", "running", "halted", "done", "cancelled"),
  failurePolicy: oneOf("halt", "continue", "cancel"),
  createdAt: text,
  startedAt: textOrNull,
  endedAt: textOrNull,
  runningMs: msOrNull,
  waves: listOf(wave),
  tasks: count,
  ended: count,
  dead: count,
  estimatedLeftMs: msOrNull,
});

const auditEntry = answer({
  at: text,
  action: oneOf(...auditActions),
  setting: textOrNull,
  definition: textOrNull,
  object: textOrNull,
  tasks: orNull(listOf(text)),
  taskCount: orNull(count),
  old: {
    ...textOrNull,
    description:
      "Of a setting: its value before; `no limit`; null: none, of an override: as in code.",
  },
  new: textOrNull,
  source,
  actor: text,
  reason: textOrNull,
});

const problem = answer(
  {
    type: text,
    title: text,
    status: count,
    detail: text,
    instance: text,
    problems: listOf(answer({ field: text, value: text, expected: text })),
  },
  {
    code: text,
    moreProblems: count,
    done: { type: "object" },
    current: {
      type: ["object", "null"],
      description: "Of 412: the settings as they stand; null: there are none.",
    },
    lastChange: {
      type: ["object", "null"],
      description: "Of 412: the newest entry of the audit about these settings.",
    },
  },
);

/** Parts of the document that its routes name. */
export const components: Readonly<Record<string, Schema>> = {
  Problem: problem,
  Definition: definition,
  Task: task,
  Execution: execution,
  SharedLimit: answer({
    ...sharedLimit,
    codeLimit: limit,
    definitions: listOf(answer({ name: text, held: count })),
    etag,
  }),
  Group: answer({
    definition: textOrNull,
    key: text,
    ...groupSettings,
    used: count,
    waiting: count,
    etag,
  }),
  Schedule: schedule,
  Watermark: answer({
    definition: text,
    name: text,
    value: {},
    version: text,
    changedAt: text,
    etag,
  }),
  Batch: batch,
  AuditEntry: auditEntry,
};

/** Of every list. */
export const cursor: Schema = {
  ...textOrNull,
  description: "Leads to the next rows; null: there are none, or the list is read no further.",
};

/** Rows of a component, whether there are more, and the cursor that leads to them. */
export const listAnswer = (member: string, component: string): Schema =>
  answer({ [member]: listOf(named(component)), more: flag, cursor });

/** A page of tasks, and how far it looked. */
export const tasksAnswer = answer({
  tasks: listOf(named("Task")),
  more: flag,
  cursor,
  lookedAt: count,
  stoppedAt: orNull(answer({ state: text, task: textOrNull, at: textOrNull })),
});

/** All definitions. */
export const definitionsAnswer = answer({ definitions: listOf(named("Definition")) });

/** The whole at a glance. */
export const statusAnswer = answer({
  dialect: text,
  build: count,
  totals,
  expired: count,
  nextDueMs: msOrNull,
  definitions: listOf(named("Definition")),
  operatorApi: flag,
});

/** A definition's limit, before and now. */
export const limitAnswer = answer({
  definition: text,
  oldLimit: limit,
  newLimit: limit,
  held: count,
  overLimit: count,
});

/** A shared limit, before and now. */
export const sharedLimitAnswer = answer(
  {
    sharedLimit: text,
    status: oneOf("set", "created"),
    newLimit: limit,
    held: count,
    overLimit: count,
    drawnBy: {
      ...listOf(text),
      description: "Definitions that draw from it; empty: it throttles nothing.",
    },
  },
  { oldLimit: limit },
);

/** The app that a definition belongs to, before and now. */
export const ownerAnswer = answer({
  definition: text,
  status: oneOf("set", "exists"),
  oldApp: textOrNull,
  newApp: textOrNull,
});

/** A definition's rate, before and now. */
export const rateAnswer = answer({
  definition: text,
  status: oneOf("set", "exists"),
  oldRate: rate,
  newRate: rate,
});

/** A pause, or its end. */
export const pauseAnswer = answer({
  definition: text,
  status: oneOf("paused", "resumed", "exists"),
});

/** What became of each task, in input order. */
export const enqueueAnswer = answer({
  definition: text,
  tasks: listOf(answer({ task: text, outcome: oneOf("enqueued", "duplicate", "replaced") })),
  enqueued: count,
  replaced: count,
  duplicates: count,
  nextDueMs: msOrNull,
});

/** A group's settings, before and now. */
export const groupAnswer = answer({
  definition: text,
  key: text,
  status: oneOf("created", "set", "exists"),
  old: orNull(answer(groupSettings)),
  new: answer(groupSettings),
  used: count,
  waiting: count,
});

/** A schedule's pause, or its end. */
export const schedulePauseAnswer = answer({
  definition: text,
  schedule: text,
  status: oneOf("paused", "resumed", "exists"),
  nextDueMs: msOrNull,
});

/** The task of a run out of turn. */
export const scheduleRunAnswer = answer({
  definition: text,
  schedule: text,
  task: text,
  nextDueMs: msOrNull,
});

/** A watermark, before and now. */
export const watermarkAnswer = answer({
  definition: text,
  watermark: text,
  status: oneOf("set", "conflict"),
  old: {},
  version: text,
});

/** Where a task stands and why. */
export const explainAnswer = answer(
  {
    status: oneOf("found", "moving"),
    reasons: listOf(answer({ code: text, decides: flag, sentence: text })),
    facts: {
      type: ["object", "null"],
      description: "What the reasons were told from; members depend on where the task stands.",
    },
  },
  { traceUrl: text },
);

/** What became of each task. */
export const outcomesAnswer = (...outcomes: readonly string[]): Schema =>
  answer({
    tasks: listOf(answer({ task: text, outcome: oneOf(...outcomes) }, { state: textOrNull })),
  });

/** A batch that goes on. */
export const resumedAnswer = answer({
  batch: text,
  status: oneOf("resumed", "again", "draft", "ended"),
});

/** A batch that was cancelled. */
export const cancelledAnswer = answer({
  batch: text,
  status: oneOf("cancelled", "again", "done"),
  tasks: count,
});
