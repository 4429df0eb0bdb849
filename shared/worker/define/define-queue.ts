import { createHash } from "node:crypto";
import { checkTaskName } from "../../core/calls-definition";
import { declared } from "../../core/error-places";
import { checkNames } from "../../core/known-names";
import { limits } from "../../core/limits";
import { defaultBurst } from "../../core/rate";
import type { Rate } from "../../core/rate";
import { refusedField } from "../../core/refused-field";
import { checkInteger, checkKey } from "../../core/text";
import { checkList, wrongValue } from "../../core/wrong-value";
import type { DefinitionSettings, Limit, SharedLimitUse } from "../../ports/task-store";
import type { Definition } from "./task-kind";

/** The lease where none is given. */
export const defaultLeaseMs = 60_000;

/** A limit that several queues and functions draw from. */
export interface SharedLimit {
  /** 1..200 characters. */
  readonly name: string;
  /** Tokens it has, over all instances: 1..1000, 0 nothing starts, null no limit. Left out: other code or an operator says. */
  readonly limit?: Limit;
}

// The tags make the table of docs/reference/task-options.md. A test compares `@default` and `@range` with the code; `@advanced` marks
// what few need.
/** Settings of a queue as its author writes them. */
export interface QueueSettings {
  /**
   * Tasks that may run at once, over all instances. 0: nothing starts; null: no limit.
   * @default 1
   * @range 0..1,000, or null
   */
  limit?: Limit;
  /**
   * Tasks that may start per period, over all instances, however many tokens are free.
   * @default null
   */
  rate?: {
    /**
     * Starts in each period.
     * @range 1..1,000,000
     */
    count: number;
    /**
     * The period.
     * @range 1,000..86,400,000 ms
     */
    periodMs: number;
    /**
     * Starts at once after a pause.
     * @default what refills in 100 ms
     * @range 1..`count`
     */
    burst?: number;
  } | null;
  /**
   * Limits that a running task takes a token of, too: values of `defineLimit`, or names.
   * @default []
   * @range at most 8
   */
  within?: readonly (SharedLimit | string)[];
  /**
   * How long a worker that died keeps its tasks.
   * @default 60,000
   * @range 1,000..86,400,000 ms
   */
  leaseMs?: number;
  /** How often a failing task is tried, and the pauses between: each is twice the one before, half of it random. */
  retry?: {
    /**
     * Tries of a failing task.
     * @default 5
     * @range 1..1,000
     */
    attempts?: number;
    /**
     * The first pause.
     * @default 1,000
     * @range 0..86,400,000 ms
     */
    baseMs?: number;
    /**
     * The longest pause. A longer `baseMs` is the default then.
     * @default 300,000
     * @range `baseMs`..2,147,483,647 ms
     */
    capMs?: number;
  };
  /**
   * Workers that may die under one task before it is a dead letter.
   * @default 3
   * @range 0..1,000
   * @advanced
   */
  lostMax?: number;
  /**
   * Tasks claimed per token beyond the one that runs. 0: nothing is claimed that can't start at once.
   * @default 1
   * @range 0..1,000
   * @advanced
   */
  prefetch?: number;
  /** Tasks of one group: how many run at once, and whether retries keep their order. */
  group?: {
    /**
     * Tasks of one group that may run at once.
     * @default 1
     * @range 1..1,000
     */
    slots?: number;
    /**
     * Tasks of one group run in order over retries, too.
     * @default false
     */
    strict?: boolean;
  };
  /** How long tasks that have ended are kept. */
  retain?: {
    /**
     * How long done and cancelled tasks are kept: 7 days by default. 0: a done task is only counted.
     * @default 604,800,000
     * @range 0..3,153,600,000,000 ms
     */
    doneMs?: number;
    /**
     * How long dead letters are kept: 30 days by default.
     * @default 2,592,000,000
     * @range 0..3,153,600,000,000 ms
     */
    deadMs?: number;
  };
  /**
   * Done tasks keep their payloads as long as `retain` says. false: a payload goes when its task is done, which saves its space.
   * On SQL Server its end then writes to the log what the purge would write. Dead letters and cancelled tasks always keep theirs:
   * a redrive needs it.
   * @default true
   * @advanced
   */
  keepPayload?: boolean;
  /**
   * Most tokens one worker asks for.
   * @default the setting TASKGATE_CONCURRENCY_PER_WORKER
   * @range 1..1,000
   * @advanced
   */
  concurrencyPerWorker?: number;
  /**
   * An enqueue by `taskRef`, HTTP or the command line that names a kind which this build doesn't have in this queue.
   * refuse: an error with the near name. keep: it is taken; the kind belongs to other code, or to a newer build.
   * @default "refuse"
   * @advanced
   */
  onUnknownKind?: "refuse" | "keep";
}

/** A queue as its author writes it. */
export interface QueueOptions extends QueueSettings {
  /** 1..200 characters. */
  name: string;
}

/** Every setting; those of `group` belong to a queue, but for `by`. */
export const settingNames = [
  "limit",
  "rate",
  "within",
  "leaseMs",
  "retry",
  "lostMax",
  "prefetch",
  "group",
  "retain",
  "keepPayload",
  "concurrencyPerWorker",
  "onUnknownKind",
] as const satisfies readonly (keyof QueueSettings)[];

/**
 * Declares a limit that several queues and functions draw from: give it in `within`. Pure: nothing is sent before a worker
 * starts. Throws InvalidArgumentError naming the field, the value and the expected form.
 */
export function defineLimit(options: SharedLimit): SharedLimit {
  checkNames("defineLimit", options, ["name", "limit"]);
  const { name, limit } = options;
  checkKey("name", name);
  if (limit !== undefined && limit !== null)
    checkInteger("limit", limit, { min: 0, max: limits.tokensMax });
  return Object.freeze({ name, ...(limit === undefined ? {} : { limit }) });
}

/**
 * Declares a queue that several kinds share: its order, its limit, its settings. Pure, as `defineLimit`. Throws
 * InvalidArgumentError naming the field, the queue, the value and the expected form.
 */
export function defineQueue(options: QueueOptions): Definition {
  return declared("queue", options, () => {
    checkNames("defineQueue", options, ["name", ...settingNames]);
    checkTaskName("name", options.name);
    if (options.group !== undefined)
      checkNames("defineQueue's group", options.group, ["slots", "strict"]);
    return toDefinition(options);
  });
}

/** The queue of these settings; names of options have been checked. Throws InvalidArgumentError naming the field. */
export function toDefinition(options: QueueOptions): Definition {
  const { name, retry = {}, group = {}, retain = {} } = options;
  checkKey("name", name);
  checkNames("retry", retry, ["attempts", "baseMs", "capMs"]);
  checkNames("retain", retain, ["doneMs", "deadMs"]);
  const settings: DefinitionSettings = {
    limit: options.limit === undefined ? 1 : options.limit,
    leaseMs: options.leaseMs ?? defaultLeaseMs,
    retryAttempts: retry.attempts ?? 5,
    lostMax: options.lostMax ?? 3,
    retryBaseMs: retry.baseMs ?? 1_000,
    retryCapMs: retry.capMs ?? Math.max(300_000, retry.baseMs ?? 0),
    prefetchMax: options.prefetch ?? 1,
    groupSlots: group.slots ?? 1,
    groupStrict: group.strict ?? false,
    retainDoneMs: retain.doneMs ?? 7 * 86_400_000,
    retainDeadMs: retain.deadMs ?? 30 * 86_400_000,
    // Left out where it is the default: the hash of all other definitions stays.
    ...(keepsPayload(options.keepPayload) ? {} : { keepPayload: false }),
    rate: options.rate == null ? null : completeRate(options.rate),
    sharedLimits: completeShared(options.within ?? []),
  };
  checkSettings(settings);
  const concurrencyPerWorker = options.concurrencyPerWorker ?? null;
  if (concurrencyPerWorker !== null)
    checkInteger("concurrencyPerWorker", concurrencyPerWorker, { min: 1, max: limits.tokensMax });
  const settingsHash = createHash("sha256").update(JSON.stringify(settings)).digest("hex");
  return Object.freeze({
    name,
    settings: Object.freeze(settings),
    concurrencyPerWorker,
    onUnknownKind: checkUnknownKind(options.onUnknownKind ?? "refuse"),
    settingsHash,
  });
}

function keepsPayload(choice: boolean | undefined): boolean {
  if (choice === undefined || typeof choice === "boolean") return choice ?? true;
  throw refusedField("keepPayload", `true or false (${String(choice)})`);
}

function checkUnknownKind(choice: string): "refuse" | "keep" {
  if (choice === "refuse" || choice === "keep") return choice;
  throw refusedField("onUnknownKind", `refuse or keep (${choice})`);
}

function checkSettings(settings: DefinitionSettings): void {
  const thousand = { min: 0, max: 1_000 };
  const forYears = { min: 0, max: limits.runInMsMax };
  if (settings.limit !== null)
    checkInteger("limit", settings.limit, { min: 0, max: limits.tokensMax });
  checkInteger("leaseMs", settings.leaseMs, { min: limits.leaseMsMin, max: limits.leaseMsMax });
  checkInteger("retry.attempts", settings.retryAttempts, { min: 1, max: 1_000 });
  checkInteger("lostMax", settings.lostMax, thousand);
  checkInteger("retry.baseMs", settings.retryBaseMs, { min: 0, max: 86_400_000 });
  checkInteger("retry.capMs", settings.retryCapMs, {
    min: settings.retryBaseMs,
    max: 2_147_483_647,
  });
  checkInteger("prefetch", settings.prefetchMax, thousand);
  checkInteger("group.slots", settings.groupSlots, { min: 1, max: 1_000 });
  checkInteger("retain.doneMs", settings.retainDoneMs, forYears);
  checkInteger("retain.deadMs", settings.retainDeadMs, forYears);
}

/** Throws InvalidArgumentError naming the field. */
function completeShared(within: readonly (SharedLimit | string)[]): readonly SharedLimitUse[] {
  checkList("within", within, "what defineLimit returns, or of names");
  checkInteger("within.length", within.length, { min: 0, max: limits.sharedLimitsMax });
  const shared = within.map((limit, index) => {
    if (typeof limit === "string") return defineLimit({ name: limit });
    if (isLimit(limit)) return defineLimit(limit);
    throw wrongValue(`within[${String(index)}]`, "what defineLimit returns, or a name", limit);
  });
  const names = shared.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw wrongValue("within", "each limit once", twice);
  return Object.freeze(shared);
}

function isLimit(limit: unknown): boolean {
  return typeof limit === "object" && limit !== null;
}

/** Throws InvalidArgumentError naming the field. */
function completeRate(given: NonNullable<QueueSettings["rate"]>): Rate {
  checkNames("rate", given, ["count", "periodMs", "burst"]);
  const { count, periodMs, burst } = given;
  checkInteger("rate.count", count, { min: 1, max: limits.rateCountMax });
  checkInteger("rate.periodMs", periodMs, {
    min: limits.ratePeriodMsMin,
    max: limits.ratePeriodMsMax,
  });
  const rate = { count, periodMs, burst: burst ?? defaultBurst({ count, periodMs }) };
  checkInteger("rate.burst", rate.burst, { min: 1, max: count });
  return rate;
}
