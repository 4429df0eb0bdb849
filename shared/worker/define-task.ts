import { createHash } from "node:crypto";
import type { JsonArray, JsonObject } from "../core/json";
import { limits } from "../core/limits";
import { checkInteger, checkKey } from "../core/text";
import type { DefinitionSettings, Limit } from "../ports/task-store";
import type { PayloadSchema } from "./standard-schema";
import type { Continuation, TaskContext } from "./task-context";

/** What is limited: settings under a name. Several kinds of tasks may share one. */
export interface Definition {
  readonly name: string;
  readonly settings: DefinitionSettings;
  /** Most tokens one worker asks for; null: the worker's default. */
  readonly concurrencyPerWorker: number | null;
  /** Of all settings: workers compare it with the database's before they register. */
  readonly settingsHash: string;
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
}

/** A kind of task: its handler and the definition that limits it. */
export interface TaskKind<Payload = unknown> {
  readonly kind: string;
  readonly definition: Definition;
  readonly schema: PayloadSchema<Payload> | null;
  readonly groupKey: ((payload: Payload) => string | null | undefined) | null;
  readonly run: (payload: Payload, context: TaskContext) => Promise<HandlerResult>;
}

/** A kind whose payload type is its own business: what tables of kinds hold. It validates its payload itself. */
export interface AnyTaskKind {
  readonly kind: string;
  readonly definition: Definition;
  readonly schema: PayloadSchema<unknown> | null;
  readonly groupKey: ((payload: never) => string | null | undefined) | null;
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
  /** Tasks with the same key run one after the other (or `group.slots` at once). */
  groupKey?: (payload: Payload) => string | null | undefined;
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
    settingsHash,
  });
}

/** Declares a kind of task. Pure, as `defineDefinition`; add it to the table in functions/tasks/index.ts. */
export function defineTask<Payload = JsonObject>(options: TaskOptions<Payload>): TaskKind<Payload> {
  checkKey("name", options.name);
  return Object.freeze({
    kind: options.name,
    definition: options.definition ?? defineDefinition(options),
    schema: options.payload ?? null,
    groupKey: options.groupKey ?? null,
    run: options.run,
  });
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
