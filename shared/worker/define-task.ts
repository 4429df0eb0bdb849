import { createHash } from "node:crypto";
import { checkCron } from "../core/cron";
import type { MissedPolicy } from "../core/cron";
import { InvalidArgumentError } from "../core/errors";
import type { JsonArray, JsonObject } from "../core/json";
import { limits } from "../core/limits";
import { checkPath, keyOf } from "../core/payload-key";
import type { KeyPath } from "../core/payload-key";
import { defaultBurst } from "../core/rate";
import type { Rate } from "../core/rate";
import { checkInteger, checkKey } from "../core/text";
import type { NewSchedule } from "../ports/schedules";
import type { DefinitionSettings, KindRules, Limit, SharedLimitUse } from "../ports/task-store";
import type { PayloadSchema } from "./standard-schema";
import type { Continuation, TaskContext } from "./task-context";

/** What is limited: settings under a name. Several kinds of tasks may share one. */
export interface Definition {
  readonly name: string;
  readonly settings: DefinitionSettings;
  /** Most tokens one worker asks for; null: the worker's default. */
  readonly concurrencyPerWorker: number | null;
  /** What becomes of an enqueue that names a kind which this build doesn't have. */
  readonly onUnknownKind: "refuse" | "keep";
  /** Of all settings: workers compare it with the database's before they register. */
  readonly settingsHash: string;
  /** What the code says of its kinds' tasks, in a registry; undefined: of a definition alone. */
  readonly kinds?: readonly KindRules[];
}

/** Back-off between attempts. */
export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Settings of a definition as its author writes them. */
export interface DefinitionOptions {
  /** 1..200 characters. */
  name: string;
  /** Tasks that may run at once, over all instances: 1..1000, 0 nothing starts, null no limit. Default 1. */
  limit?: Limit;
  /**
   * Tasks that may start per period, over all instances, however many tokens are free: `count` 1..1,000,000 per `periodMs`
   * 1,000..86,400,000; `burst` 1..count at once after a pause, default what refills in 100 ms. Default: none.
   */
  rate?: { count: number; periodMs: number; burst?: number } | null;
  /**
   * Limits that other definitions draw from, too, by name; with `limit` the code says how many tokens they have. At most 8. A grant
   * needs a token of each.
   */
  sharedLimits?: readonly (string | { name: string; limit?: Limit })[];
  /** How long a worker that died keeps its tasks; 1,000..86,400,000 ms, default 60,000. */
  leaseMs?: number;
  /** Default 5 attempts, 1 s doubled up to 5 min, half of each pause random. */
  retry?: { attempts?: number; backoff?: Backoff };
  /** Workers that may die under one task before it is a dead letter; default 3. */
  lostMax?: number;
  /** Claims per token beyond those that run; default 1. 0: nothing is claimed that can't start at once. */
  spareMax?: number;
  /** Tasks of one group that may run at once; default 1. `isStrict`: in order over retries, too. */
  group?: { slots?: number; isStrict?: boolean };
  /** How long finished tasks are kept; default 7 days and, for dead letters, 30 days. */
  retain?: { doneMs?: number; deadMs?: number };
  /** Most tokens one worker asks for; default: the setting TASKGATE_CONCURRENCY_PER_WORKER. */
  concurrencyPerWorker?: number;
  /**
   * An enqueue by TypeScript, HTTP or the command line that names a kind which this build doesn't have in this definition.
   * refuse (default): an error with the near name. keep: it is taken; the kind belongs to other code, or to a newer build.
   */
  onUnknownKind?: "refuse" | "keep";
}

/** A schedule as its author writes it: a task at each instant of a cron expression, once over all instances. */
export interface ScheduleOptions {
  /** 1..200 characters, unique within the definition; default: the kind's name. An operator pauses it by this name. */
  name?: string;
  /** Five fields (minute, hour, day of month, month, day of week), or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  cron: string;
  /** IANA name of the zone that the expression is read in, daylight saving included; default UTC. */
  timeZone?: string;
  /**
   * What becomes of instants that came while nobody looked. once (default): the last of them runs, however late. skip: the
   * last of them runs if it isn't more than 5 min late. all: each runs.
   */
  missed?: MissedPolicy;
  /** Of each task, at most 65,472 bytes of JSON; its instant is added as `scheduledFor`, ISO-8601 in UTC. */
  payload?: JsonObject;
}

/** A schedule of a kind; its next instant is computed when it is registered. */
export type KindSchedule = Omit<NewSchedule, "nextRunAt">;

/** A kind of task: its handler and the definition that limits it. */
export interface TaskKind<Payload = unknown> {
  readonly kind: string;
  readonly definition: Definition;
  readonly schema: PayloadSchema<Payload> | null;
  readonly groupKey: ((payload: Payload) => string | null | undefined) | null;
  /** What the database is told of its tasks. */
  readonly rules: KindRules;
  readonly schedules: readonly KindSchedule[];
  /** Null: none. */
  readonly timeoutMs: number | null;
  readonly run: (payload: Payload, context: TaskContext) => Promise<HandlerResult>;
}

/** A kind whose payload type is its own business: what tables of kinds hold. It validates its payload itself. */
export interface AnyTaskKind {
  readonly kind: string;
  readonly definition: Definition;
  readonly schema: PayloadSchema<unknown> | null;
  readonly groupKey: ((payload: never) => string | null | undefined) | null;
  readonly rules: KindRules;
  readonly schedules: readonly KindSchedule[];
  readonly timeoutMs: number | null;
  readonly run: (payload: never, context: TaskContext) => Promise<HandlerResult>;
}

/** What a handler may return: nothing, a JSON object or array (at most 64 KiB), or `ctx.checkpoint(..)`. */
export type HandlerResult = JsonObject | JsonArray | Continuation | null | undefined | void;

/** A kind as its author writes it. Settings of the definition go here, or into `defineDefinition` when it is shared. */
export interface TaskOptions<Payload> extends DefinitionOptions {
  /** A definition that several kinds share; default: one of the kind's own name. */
  definition?: Definition;
  /** Any Standard Schema. A payload that fails ends as a dead letter with the list of problems. */
  payload?: PayloadSchema<Payload>;
  /**
   * Tasks of one group run one after the other, or `slots` at once; `isStrict`: in order over retries, too. `by`: where the
   * group's key stands in the payload, such as `customer.id`: a text or a whole number; missing or null: no group. It holds
   * whoever enqueues: TypeScript, HTTP, the command line, SQL, a schedule.
   */
  group?: { by?: KeyPath<Payload>; slots?: number; isStrict?: boolean };
  /**
   * The group's key where no path can say it. Only this code can: callers in SQL must then say the group, or null for none,
   * and are refused otherwise.
   */
  groupKey?: (payload: Payload) => string | null | undefined;
  /** Of tasks that name none; lower first, -32,768..32,767, default 100. */
  priority?: number;
  /** Delay of tasks that name neither `runInMs` nor `runAt` and belong to no wave; default 0. */
  runInMs?: number;
  /** Where the dedupe key stands in the payload; held until the task ends, or for `forMs`. Not for a kind with a schedule. */
  dedupe?: { by: KeyPath<Payload>; forMs?: number };
  /** Enqueues a task at each instant of a cron expression. A schedule that isn't named any more is removed. */
  schedule?: ScheduleOptions | readonly ScheduleOptions[];
  /**
   * How long one run of the handler may take: 1..2,592,000,000 ms, null: any time; default 24 h. Then `ctx.signal` is
   * aborted; a handler that runs on for 5 s more is stuck: its attempt counts as failed (`timed out after N ms`), and the
   * process ends to be started again, unless the setting TASKGATE_WHEN_STUCK says `stay`.
   */
  timeoutMs?: number | null;
  /** Runs one task. It may run again after a failure or a crash: write so that this does no harm. */
  run: (payload: Payload, context: TaskContext) => Promise<HandlerResult>;
}

/** Exponential back-off with equal jitter: min(cap, base * 2^(n-1)), half of it random. */
export function exponential(options: Backoff): Backoff {
  return options;
}

/**
 * Declares what is limited. Pure: nothing is sent before a worker starts.
 * Throws InvalidArgumentError naming the field, the value and what is expected.
 */
export function defineDefinition(options: DefinitionOptions): Definition {
  checkKey("name", options.name);
  const settings: DefinitionSettings = {
    limit: options.limit === undefined ? 1 : options.limit,
    leaseMs: options.leaseMs ?? 60_000,
    maxAttempts: options.retry?.attempts ?? 5,
    maxLost: options.lostMax ?? 3,
    retryBaseMs: options.retry?.backoff?.baseMs ?? 1_000,
    retryCapMs:
      options.retry?.backoff?.capMs ?? Math.max(300_000, options.retry?.backoff?.baseMs ?? 0),
    spareMax: options.spareMax ?? 1,
    groupSlots: options.group?.slots ?? 1,
    groupStrict: options.group?.isStrict ?? false,
    retainDoneMs: options.retain?.doneMs ?? 7 * 86_400_000,
    retainDeadMs: options.retain?.deadMs ?? 30 * 86_400_000,
    rate: options.rate == null ? null : completeRate(options.rate),
    sharedLimits: completeShared(options.sharedLimits ?? []),
  };
  checkSettings(settings);
  const concurrencyPerWorker = options.concurrencyPerWorker ?? null;
  if (concurrencyPerWorker !== null)
    checkInteger("concurrencyPerWorker", concurrencyPerWorker, { min: 1, max: limits.tokensMax });
  const settingsHash = createHash("sha256").update(JSON.stringify(settings)).digest("hex");
  return Object.freeze({
    name: options.name,
    settings: Object.freeze(settings),
    concurrencyPerWorker,
    onUnknownKind: checkUnknownKind(options.onUnknownKind ?? "refuse"),
    settingsHash,
  });
}

/** Declares a kind of task. Pure, as `defineDefinition`; add it to the table in functions/tasks/index.ts. */
export function defineTask<Payload = JsonObject>(options: TaskOptions<Payload>): TaskKind<Payload> {
  checkKey("name", options.name);
  const rules = rulesOf(options);
  return Object.freeze({
    kind: options.name,
    definition: options.definition ?? defineDefinition(options),
    schema: options.payload ?? null,
    groupKey: options.groupKey ?? null,
    rules,
    schedules: Object.freeze(schedulesOf(options, rules)),
    timeoutMs: timeoutOf(options.timeoutMs),
    run: options.run,
  });
}

/** Throws InvalidArgumentError naming the field. */
function timeoutOf(timeoutMs: number | null | undefined): number | null {
  if (timeoutMs === null) return null;
  if (timeoutMs === undefined) return limits.timeoutMsDefault;
  checkInteger("timeoutMs", timeoutMs, { min: 1, max: limits.timeoutMsMax });
  return timeoutMs;
}

function rulesOf<Payload>(options: TaskOptions<Payload>): KindRules {
  const { group, groupKey, priority, runInMs, dedupe, schedule } = options;
  if (group?.by !== undefined) checkPath("group.by", group.by);
  if (dedupe !== undefined) checkPath("dedupe.by", dedupe.by);
  if (priority !== undefined)
    checkInteger("priority", priority, { min: limits.priorityMin, max: limits.priorityMax });
  if (runInMs !== undefined) checkInteger("runInMs", runInMs, { min: 0, max: limits.runInMsMax });
  if (dedupe?.forMs !== undefined)
    checkInteger("dedupe.forMs", dedupe.forMs, { min: 1, max: limits.runInMsMax });
  if (group?.by !== undefined && groupKey !== undefined)
    throw notBoth("groupKey", "either `group.by` or `groupKey`");
  if (dedupe !== undefined && schedule !== undefined)
    throw notBoth("dedupe", "either `dedupe` or `schedule`: each instant has a task of its own");
  return Object.freeze({
    kind: options.name,
    groupBy: group?.by ?? null,
    isGroupComputed: groupKey !== undefined,
    priority: priority ?? null,
    runInMs: runInMs ?? null,
    dedupeBy: dedupe?.by ?? null,
    dedupeMs: dedupe?.forMs ?? null,
  });
}

function notBoth(field: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`${field}: expected ${expected}, not both`, {
    details: { field },
  });
}

function schedulesOf<Payload>(options: TaskOptions<Payload>, rules: KindRules): KindSchedule[] {
  const given = options.schedule ?? [];
  const list = Array.isArray(given)
    ? (given as readonly ScheduleOptions[])
    : [given as ScheduleOptions];
  return list.map((schedule, index) => {
    const at = Array.isArray(given) ? `schedule[${String(index)}]` : "schedule";
    const { name = options.name, cron, timeZone = "UTC", missed = "once", payload } = schedule;
    checkKey(`${at}.name`, name);
    checkCron(at, { cron, timeZone });
    checkMissed(`${at}.missed`, missed);
    const text = payload === undefined ? null : schedulePayload(`${at}.payload`, payload);
    const group = scheduleGroup(`${at}.payload`, { options, rules, payload: payload ?? null });
    return { name, kind: options.name, cron, timeZone, missed, payload: text, group };
  });
}

/** As where a client enqueues: no payload, no key. */
function scheduleGroup<Payload>(
  at: string,
  given: { options: TaskOptions<Payload>; rules: KindRules; payload: JsonObject | null },
): string | null {
  const { options, rules, payload } = given;
  if (payload === null) return null;
  if (rules.groupBy === null) {
    const key = options.groupKey?.(payload as unknown as Payload) ?? null;
    if (key !== null) checkKey(`${at}'s groupKey`, key);
    return key;
  }
  const found = keyOf(JSON.stringify(payload), rules.groupBy);
  if ("problem" in found)
    throw new InvalidArgumentError(`${at.replace(/payload$/, "")}${found.problem}`, {
      details: { field: at },
    });
  return found.key;
}

function checkUnknownKind(choice: string): "refuse" | "keep" {
  if (choice === "refuse" || choice === "keep") return choice;
  throw new InvalidArgumentError(`onUnknownKind: expected refuse or keep (${choice})`, {
    details: { field: "onUnknownKind" },
  });
}

function checkMissed(field: string, missed: string): void {
  if (["skip", "once", "all"].includes(missed)) return;
  throw new InvalidArgumentError(`${field}: expected skip, once or all (${missed})`, {
    details: { field },
  });
}

function schedulePayload(field: string, payload: JsonObject): string {
  const text = JSON.stringify(payload);
  if (text.startsWith("{") && Buffer.byteLength(text) <= limits.schedulePayloadBytesMax)
    return text;
  throw new InvalidArgumentError(
    `${field}: expected an object of at most ${String(limits.schedulePayloadBytesMax)} bytes of JSON (${text.slice(0, 100)})`,
    { details: { field } },
  );
}

function checkSettings(settings: DefinitionSettings): void {
  const thousand = { min: 0, max: 1_000 };
  const forYears = { min: 0, max: limits.runInMsMax };
  if (settings.limit !== null)
    checkInteger("limit", settings.limit, { min: 0, max: limits.tokensMax });
  checkInteger("leaseMs", settings.leaseMs, { min: limits.leaseMsMin, max: limits.leaseMsMax });
  checkInteger("retry.attempts", settings.maxAttempts, { min: 1, max: 1_000 });
  checkInteger("lostMax", settings.maxLost, thousand);
  checkInteger("retry.backoff.baseMs", settings.retryBaseMs, { min: 0, max: 86_400_000 });
  checkInteger("retry.backoff.capMs", settings.retryCapMs, {
    min: settings.retryBaseMs,
    max: 2_147_483_647,
  });
  checkInteger("spareMax", settings.spareMax, thousand);
  checkInteger("group.slots", settings.groupSlots, { min: 1, max: 1_000 });
  checkInteger("retain.doneMs", settings.retainDoneMs, forYears);
  checkInteger("retain.deadMs", settings.retainDeadMs, forYears);
}

/** Throws InvalidArgumentError naming the field. */
function completeShared(
  uses: NonNullable<DefinitionOptions["sharedLimits"]>,
): readonly SharedLimitUse[] {
  const shared = uses.map((use) => (typeof use === "string" ? { name: use } : { ...use }));
  checkInteger("sharedLimits.length", shared.length, { min: 0, max: limits.sharedLimitsMax });
  for (const { name, limit } of shared) {
    checkKey("sharedLimits.name", name);
    if (limit !== undefined && limit !== null)
      checkInteger("sharedLimits.limit", limit, { min: 0, max: limits.tokensMax });
  }
  checkInteger("sharedLimits, different names", new Set(shared.map(({ name }) => name)).size, {
    min: shared.length,
    max: shared.length,
  });
  return Object.freeze(shared);
}

/** Throws InvalidArgumentError naming the field. */
function completeRate({ count, periodMs, burst }: NonNullable<DefinitionOptions["rate"]>): Rate {
  checkInteger("rate.count", count, { min: 1, max: limits.rateCountMax });
  checkInteger("rate.periodMs", periodMs, {
    min: limits.ratePeriodMsMin,
    max: limits.ratePeriodMsMax,
  });
  const rate = { count, periodMs, burst: burst ?? defaultBurst({ count, periodMs }) };
  checkInteger("rate.burst", rate.burst, { min: 1, max: count });
  return rate;
}
