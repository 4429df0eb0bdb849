import { rateText } from "../../core/rate";
import type { Rate } from "../../core/rate";
import { checkInteger, checkKey, cleanText } from "../../core/text";
import { limits } from "../../core/limits";
import { checkPath } from "../../core/payload-key";
import { checkInt, checkName, checkRate } from "./checks";
import { bool, columns, int, json, jsonOrNull, limit, oneOf } from "./columns";
import { limitOf, limitToSql, sharedLimitsOf } from "./limit";
import type { Limit, SharedLimitRow, SharedLimitStatus } from "./limit";
import { operationsOf, toSnakeCase } from "./operation";
import { cleanOperator } from "./operator";
import type { OperatorInput } from "./operator";
import { limitCall } from "./set-limit";
import type { SetLimitInput } from "./set-limit";

/* ---- Definitions: their limits, their settings, and an operator's overrides ---- */

/** Definitions: each has a limit and the settings of its tasks. */
export interface DefinitionOperations {
  /** Writes the code's settings of a definition. Idempotent by name, build and hash. */
  registerDefinition(input: RegisterDefinitionInput): Promise<RegisterDefinitionAnswer>;
  /** Sets or clears the operator's limit. Idempotent by operation id. */
  setLimit(input: SetLimitInput): Promise<SetLimitAnswer>;
  /** Sets or clears the operator's rate; acts at the next claim. Idempotent by value. */
  setRate(input: SetRateInput): Promise<SetRateAnswer>;
  /** Nothing new is claimed or started until resumed. Idempotent by value. */
  pauseDefinition(input: PauseInput): Promise<PauseAnswer>;
  /** Takes a pause away. Idempotent by value. */
  resumeDefinition(input: ResumeInput): Promise<PauseAnswer>;
  /** Limits, live executions, and counts of tasks by state. */
  listDefinitions(input: { name?: string }): Promise<{ definitions: DefinitionStatus[] }>;
}

export interface ResumeInput extends OperatorInput {
  /** Only if it is so now, else the answer is a conflict; left out: either. */
  expectedPaused?: boolean;
}

export interface PauseInput extends ResumeInput {
  /** Part of a stop of everything: `listStopped` tells so, and its end resumes it. Default: the pause is the operator's own. */
  isStop?: boolean;
}

export interface DefinitionSettings {
  /** Tasks that may run at once. */
  limit: Limit;
  /** How long claims and tokens stay an execution's own without a heartbeat; 1,000..86,400,000 ms. */
  leaseMs: number;
  /** Counted failures until a task is dead; 1..1000. */
  retryAttempts: number;
  /** Lost attempts until a task is dead; 0..1000: dead when it is lost once more than that. */
  lostMax: number;
  /** Back-off after the first failure; 0..86,400,000 ms. */
  retryBaseMs: number;
  /** Greatest back-off, at least `retryBaseMs`. */
  retryCapMs: number;
  /** Prefetched claims per token; 0..1000: claims <= tokens * (1 + prefetchMax). */
  prefetchMax: number;
  /** Slots of the groups that this definition's tasks make; 1..1000. */
  groupSlots: number;
  /** A group's order holds over retries, too. */
  groupStrict: boolean;
  /** How long done and cancelled tasks are kept; 0: a done task leaves no trace. */
  retainDoneMs: number;
  /** How long dead letters are kept. */
  retainDeadMs: number;
  /** Done tasks keep their payloads; false: only dead letters and cancelled ones do. Left out: true. */
  keepPayload?: boolean;
  /** How many tasks may start per period; null or left out: as many as the limit lets. */
  rate?: Rate | null;
  /** Limits that other definitions draw from, too; at most 8. null or left out: none. */
  sharedLimits?: readonly SharedLimitUse[] | null;
}

/** A shared limit that a definition draws from. */
export interface SharedLimitUse {
  name: string;
  /** What the code says; left out: nothing, it stays as it is, 1 at first. null: no limit. */
  limit?: Limit;
}

/** The rules of a kind's tasks in its code. They apply to every way in: TypeScript, HTTP, the command line, SQL, a schedule. */
export interface KindRules {
  /** 1..200 characters. */
  kind: string;
  /** Path of the group's key in the payload, as core/payload-key.ts reads it; null: none. */
  groupBy: string | null;
  /** The group is a function in the code: callers without it must say `group`. */
  isGroupComputed: boolean;
  /** Of tasks that name none; null: 100. */
  priority: number | null;
  /** Delay of tasks that name neither an instant nor a delay; null: none. Tasks of a wave have none. */
  runInMs: number | null;
  /** Path of the dedupe key in the payload; null: none. */
  dedupeBy: string | null;
  /** How long such a key is held; null: until the task ends. Only with `dedupeBy`. */
  dedupeMs: number | null;
}

export interface RegisterDefinitionInput {
  name: string;
  /** Grows with every release; an older build never overwrites a newer one. */
  build: number;
  settingsHash: string;
  registeredBy: string;
  settings: DefinitionSettings;
  /** What the code says of kinds, at most 1,000; left out, or kinds that aren't named: stays as it is. */
  kinds?: readonly KindRules[];
}

const registered = columns({
  status: oneOf("created", "updated", "exists", "outdated"),
  taskDefinitionId: int,
});
/** Answer of `registerDefinition`. */
export type RegisterDefinitionAnswer = ReturnType<typeof registered>;

const limitSet = columns({
  /** conflict: another limit than the expected one is in force, `oldLimit`; nothing was written. */
  status: oneOf("set", "conflict"),
  oldLimit: limit,
  newLimit: limit,
  held: int,
  overLimit: int,
  ready: bool,
});
/** Answer of `setLimit`. */
export type SetLimitAnswer = ReturnType<typeof limitSet>;

export interface DefinitionStatus {
  name: string;
  limit: Limit;
  limitSource: "code" | "operator";
  codeLimit: Limit;
  /** In force; null: none. */
  rate: Rate | null;
  rateSource: "code" | "operator";
  codeRate: Rate | null;
  /** Until the rate lets another task start; 0: now; null: no rate. */
  rateInMs: number | null;
  /** By name. */
  sharedLimits: SharedLimitStatus[];
  paused: boolean;
  leaseMs: number;
  retryAttempts: number;
  lostMax: number;
  prefetchMax: number;
  build: number;
  tokenFence: string;
  /** Tokens held. */
  held: number;
  /** Live executions. */
  executions: number;
  /** Counts stop at 10,000. */
  ready: number;
  scheduled: number;
  waiting: number;
  claimed: number;
  /** Of the claimed: those that count as started; never more than `held`. */
  running: number;
  /** Of the claimed: those that wait for a token of their worker. The rest is lost: their workers' leases are over. */
  prefetched: number;
  done: number;
  dead: number;
  cancelled: number;
  nextDueMs: number | null;
}

export interface SetRateInput extends OperatorInput {
  /** null: none, also when the code sets one; "code": the code's rate again. */
  rate: Rate | null | "code";
  /** Only if this rate is in force, else the answer is a conflict; null: none; left out: any. */
  expectedRate?: Rate | null;
}

const rateSet = columns({
  /** conflict: another rate than the expected one is in force, `oldRate`; nothing was written. */
  status: oneOf("set", "exists", "conflict"),
  /** In force; null: none. */
  oldRate: jsonOrNull<Rate>,
  newRate: jsonOrNull<Rate>,
  /** Tasks wait: a hint is due. */
  ready: bool,
});
/** Answer of `setRate`. */
export type SetRateAnswer = ReturnType<typeof rateSet>;

const pauseAnswer = columns({
  /** conflict: it isn't as expected; nothing was written. */
  status: oneOf("paused", "resumed", "exists", "conflict"),
  ready: bool,
});
/** Answer of `pause`. */
export type PauseAnswer = ReturnType<typeof pauseAnswer>;

const operation = operationsOf<DefinitionOperations>();

/** Procedure `register_definition`. */
export const registerDefinition = operation("registerDefinition", {
  right: "worker",
  parameters: {
    name: "text",
    build: "bigint",
    settingsHash: "text",
    registeredBy: "text",
    limit: "int",
    leaseMs: "int",
    retryAttempts: "int",
    lostMax: "int",
    retryBaseMs: "int",
    retryCapMs: "int",
    prefetchMax: "int",
    groupSlots: "int",
    groupStrict: "boolean",
    retainDoneMs: "bigint",
    retainDeadMs: "bigint",
    rateCount: "int",
    ratePeriodMs: "int",
    rateBurst: "int",
    sharedLimits: "json",
    kinds: "json",
    keepPayload: "boolean",
  },
  check: (input) => {
    checkRegistration(input);
    return { ...input, registeredBy: cleanText(input.registeredBy, limits.nameLengthMax) };
  },
  bind: ({ settings }) => ({
    ...settings,
    limit: limitToSql(settings.limit),
    rateCount: settings.rate?.count ?? null,
    ratePeriodMs: settings.rate?.periodMs ?? null,
    rateBurst: settings.rate?.burst ?? null,
    sharedLimits: sharedToSql(settings.sharedLimits ?? []),
    keepPayload: settings.keepPayload ?? true,
  }),
  decode: registered,
});

/** Procedure `set_limit`. */
export const setLimit = operation("setLimit", {
  right: "operator",
  ...limitCall,
  decode: limitSet,
});

/** Procedure `set_rate`. */
export const setRate = operation("setRate", {
  right: "operator",
  parameters: {
    name: "text",
    count: "int",
    periodMs: "int",
    burst: "int",
    changedBy: "text",
    reason: "text",
    expectedRate: "text",
  },
  check: (input) => {
    checkRate(input.rate);
    return cleanOperator(input);
  },
  bind: ({ rate, expectedRate }) => ({
    ...{ count: null, periodMs: null, burst: null },
    ...(rate === "code" ? {} : (rate ?? { count: -1 })),
    expectedRate: expectedRate === undefined ? null : rateText(expectedRate),
  }),
  decode: rateSet,
});

/** Procedure `pause_definition`. */
export const pauseDefinition = operation("pauseDefinition", {
  right: "operator",
  parameters: {
    name: "text",
    changedBy: "text",
    reason: "text",
    isStop: "boolean",
    expectedPaused: "boolean",
  },
  check: cleanOperator,
  decode: pauseAnswer,
});

/** Procedure `resume_definition`. */
export const resumeDefinition = operation("resumeDefinition", {
  right: "operator",
  parameters: { name: "text", changedBy: "text", reason: "text", expectedPaused: "boolean" },
  check: cleanOperator,
  decode: pauseAnswer,
});

/** Procedure `list_definitions`. */
export const listDefinitions = operation("listDefinitions", {
  right: "worker",
  parameters: { name: "text" },
  decode: (row) => ({
    definitions: json<DefinitionRow[]>(row, "definitions").map((definition) => ({
      ...definition,
      limit: limitOf(definition.limit),
      codeLimit: limitOf(definition.codeLimit),
      sharedLimits: sharedLimitsOf(definition.sharedLimits),
    })),
  }),
});

type DefinitionRow = DefinitionStatus & {
  limit: number;
  codeLimit: number;
  sharedLimits: SharedLimitRow[];
};

/** Names, paths and whole numbers of the settings; the ranges of most are SQL's. */
function checkRegistration(input: RegisterDefinitionInput): void {
  checkName(input.name);
  const any = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
  checkInteger("build", input.build, { min: 0, max: Number.MAX_SAFE_INTEGER });
  for (const [field, value] of Object.entries(input.settings)) {
    if (typeof value !== "number") continue;
    if (field.startsWith("retain")) checkInteger(toSnakeCase(field), value, any);
    else checkInt(toSnakeCase(field), value);
  }
  checkRate(input.settings.rate ?? null);
  for (const { name, limit } of input.settings.sharedLimits ?? []) {
    checkKey("shared_limits", name);
    if (limit !== undefined && limit !== null) checkInt("shared_limits", limit);
  }
  input.kinds?.forEach((rules, index) => {
    checkRules(`kinds[${String(index)}]`, rules);
  });
}

/** What a kind's code says of its tasks. */
function checkRules(at: string, rules: KindRules): void {
  const { kind, groupBy, priority, runInMs, dedupeBy, dedupeMs } = rules;
  checkKey(`${at}.kind`, kind);
  if (groupBy !== null) checkPath(`${at}.groupBy`, groupBy);
  if (dedupeBy !== null) checkPath(`${at}.dedupeBy`, dedupeBy);
  const { priorityMin, priorityMax, runInMsMax } = limits;
  if (priority !== null)
    checkInteger(`${at}.priority`, priority, { min: priorityMin, max: priorityMax });
  if (runInMs !== null) checkInteger(`${at}.runInMs`, runInMs, { min: 0, max: runInMsMax });
  if (dedupeMs !== null) checkInteger(`${at}.dedupeMs`, dedupeMs, { min: 1, max: runInMsMax });
}

/** Shared limits as SQL reads them; null: none. A limit that the code leaves open stays as it is. */
function sharedToSql(shared: readonly SharedLimitUse[]): object | null {
  if (shared.length === 0) return null;
  return shared.map(({ name, limit }) => ({
    name,
    limit: limit === undefined ? null : limitToSql(limit),
  }));
}
