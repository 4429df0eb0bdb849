import { checkTaskName } from "../../core/calls-definition";
import { declared } from "../../core/error-places";
import { hasMember } from "../../core/foreign-value";
import { checkNames } from "../../core/known-names";
import type { JsonPayload } from "../../core/json";
import { storedKind } from "../../core/kind-version";
import { limits } from "../../core/limits";
import { checkPath } from "../../core/payload-key";
import type { KeyPath } from "../../core/payload-key";
import { refusedField } from "../../core/refused-field";
import { checkInteger, checkKey } from "../../core/text";
import { checkFunction, wrongValue } from "../../core/wrong-value";
import type { KindRules } from "../../ports/task-store";
import { settingNames, toDefinition } from "./define-queue";
import type { QueueSettings } from "./define-queue";
import { schedulesOf } from "./kind-schedules";
import type { ScheduleOptions } from "./kind-schedules";
import { versionOf } from "./kind-upgrade";
import type { GivenVersion, VersionOptions } from "./kind-upgrade";
import type { StandardSchema } from "./standard-schema";
import type { Continuation, HandlerResult, TaskContext } from "./task-context";
import type { Definition, TaskKind } from "./task-kind";

/** The same type; the compiler infers nothing from where it stands. */
type Given<Type> = [Type][Type extends unknown ? 0 : never];

/**
 * A kind as its author writes it. Settings of the queue go here, or into `defineQueue` when several kinds share it. `Input`:
 * the payload as it is enqueued; `Output`: as the handler gets it; `Returned`: what the handler returns.
 */
export interface TaskOptions<Input, Output, Returned> extends QueueSettings {
  /**
   * Name of the kind, unique in the app.
   * @range 1..200 characters
   */
  name: string;
  /**
   * A queue that several kinds share.
   * @default one of the kind's own name
   */
  queue?: Definition;
  /** Tasks of one group run one after the other, or `slots` at once. */
  group?: NonNullable<QueueSettings["group"]> & {
    /**
     * Where the group's key stands in the payload, such as `customer.id`: a text or a whole number; missing or null: no group.
     * It applies to every way in: TypeScript, HTTP, the command line, SQL, a schedule.
     * @default no groups
     */
    by?: KeyPath<Given<Input>>;
  };
  /**
   * The group's key where no path can say it. Only this code can: callers in SQL must then say the group, or null for none,
   * and are refused otherwise.
   * @default none
   * @advanced
   */
  groupKey?: (payload: Input) => string | null | undefined;
  /**
   * Priority of tasks that name none; lower first.
   * @default 100
   * @range -32,768..32,767
   */
  priority?: number;
  /**
   * Delay of tasks that name neither `runInMs` nor `runAt` and belong to no wave.
   * @default 0
   * @range 0..3,153,600,000,000 ms
   */
  runInMs?: number;
  /**
   * Dedupe key of tasks that name none. Not for a kind with a schedule.
   * @default none
   */
  dedupe?: {
    /** Where the dedupe key stands in the payload. */
    by: KeyPath<Given<Input>>;
    /**
     * How long the key is held, also when its task ends before.
     * @default until the task ends
     * @range 1..3,153,600,000,000 ms
     */
    forMs?: number;
  };
  /**
   * Enqueues a task at each instant of a cron expression. A schedule that isn't named any more is removed.
   * @default none
   */
  schedule?: ScheduleOptions<Given<Input>> | readonly ScheduleOptions<Given<Input>>[];
  /**
   * How long one run of the handler may take; 24 h by default, null: any time. Then `ctx.signal` is aborted. A handler that runs
   * on for 5 s more is stuck: its attempt counts as failed (`timed out after N ms`), and the process ends to be started again,
   * unless the setting TASKGATE_WHEN_STUCK says `stay`.
   * @default 86,400,000
   * @range 1..2,592,000,000 ms, or null
   */
  timeoutMs?: number | null;
  /**
   * Runs one task; may return nothing, a JSON object or array (at most 64 KiB), or `ctx.checkpoint(..)`. It may run again
   * after a failure or a crash: write so that this does no harm.
   */
  run: (payload: Output, context: TaskContext) => Promise<Returned | Continuation>;
}

/** A kind whose payload's type is said by its author, and checked by the compiler only. */
export interface TypedTaskOptions<Payload, Returned> extends TaskOptions<
  Payload,
  Payload,
  Returned
> {
  input?: never;
}

/** A kind whose payloads a schema checks, at each enqueue and before each run. */
export interface SchemaTaskOptions<Schema extends StandardSchema, Returned> extends TaskOptions<
  InputOf<Schema>,
  OutputOf<Schema>,
  Returned
> {
  /**
   * Any Standard Schema. An enqueue of a payload that fails is refused. A task that came another way, such as SQL or an
   * older build, ends as a dead letter with the list of problems.
   * @default none
   */
  input: Schema;
}

/** What a schema takes. */
export type InputOf<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["input"];

/** What a schema makes of it. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["output"];

/** What a done task has, by what its handler returns; nothing is known of it where the types say nothing. */
export type ResultOf<Returned> = HandlerResult extends Returned ? JsonPayload : Kept<Returned>;

type Kept<Returned> = Returned extends void | undefined ? null : Returned;

/** Names of options, apart from a queue's settings. */
export const kindOptionNames = [
  "name",
  "version",
  "upgrade",
  "queue",
  "input",
  "groupKey",
  "priority",
  "runInMs",
  "dedupe",
  "schedule",
  "timeoutMs",
  "run",
] as const;

/**
 * Declares a kind of task; add it to the app's list of tasks. Pure: nothing is sent before a worker starts. The payload's type
 * is the type parameter, or that of the handler's parameter; without either it is any JSON object or array, or null. The
 * type of the result is what the handler returns, or the second type parameter. Throws InvalidArgumentError naming the
 * field, the task, the value and the expected form.
 */
export function defineTask<
  Payload extends object | null = JsonPayload,
  Returned extends HandlerResult = HandlerResult,
>(
  options: TypedTaskOptions<Payload, Returned> & VersionOptions<Payload>,
): TaskKind<Payload, ResultOf<Returned>>;
/** The same with a schema in `input`, which the payload's type follows from. */
export function defineTask<
  Schema extends StandardSchema<object | null, unknown>,
  Returned extends HandlerResult,
>(
  options: SchemaTaskOptions<Schema, Returned> & VersionOptions<InputOf<Schema>>,
): TaskKind<InputOf<Schema>, ResultOf<Returned>, OutputOf<Schema>>;
export function defineTask(options: AnyTaskOptions): TaskKind<unknown, unknown> {
  return declared("task", options, () => toKind(options));
}

type AnyTaskOptions = TaskOptions<unknown, unknown, HandlerResult> &
  GivenVersion & { input?: StandardSchema };

function toKind(options: AnyTaskOptions): TaskKind<unknown, unknown> {
  checkNames("defineTask", options, [...kindOptionNames, ...settingNames]);
  checkTaskName("name", options.name);
  const { name, run, input = null, groupKey = null, queue } = options;
  checkFunction("run", run);
  if (groupKey !== null) checkFunction("groupKey", groupKey);
  if (input !== null && !isSchema(input))
    throw wrongValue("input", "a schema of a library with Standard Schema, such as zod", input);
  const { version, upgrades } = versionOf(options);
  const rules = rulesOf(options, storedKind(name, version));
  return Object.freeze({
    kind: name,
    version,
    upgrades,
    definition: queue === undefined ? toDefinition(options) : sharedQueue(queue, options),
    schema: input,
    groupKey,
    rules,
    schedules: Object.freeze(schedulesOf({ name, groupKey, schema: input, rules }, options)),
    timeoutMs: timeoutOf(options.timeoutMs),
    run,
  });
}

/** Settings beside a shared queue would hold for nothing. */
function sharedQueue(
  queue: Definition,
  options: QueueSettings & { group?: { by?: string } },
): Definition {
  if (!hasMember(queue, "settingsHash"))
    throw wrongValue("queue", "what defineQueue returns", queue);
  const own = settingNames.find((name) => name !== "group" && options[name] !== undefined);
  if (own !== undefined) throw refusedField(own, `nothing here: queue \`${queue.name}\` has it`);
  for (const name of ["slots", "strict"] as const)
    if (options.group?.[name] !== undefined)
      throw refusedField(`group.${name}`, `nothing here: queue \`${queue.name}\` has it`);
  return queue;
}

/** Some libraries' schemas are functions. */
function isSchema(input: unknown): boolean {
  return Object(input) === input && "~standard" in (input as object);
}

/** Throws InvalidArgumentError naming the field. */
function timeoutOf(timeoutMs: number | null | undefined): number | null {
  if (timeoutMs === null) return null;
  if (timeoutMs === undefined) return limits.timeoutMsDefault;
  checkInteger("timeoutMs", timeoutMs, { min: 1, max: limits.timeoutMsMax });
  return timeoutMs;
}

function rulesOf(options: TaskOptions<unknown, unknown, HandlerResult>, stored: string): KindRules {
  checkKey("name", stored);
  const { group, groupKey, priority, runInMs, dedupe, schedule } = options;
  if (group !== undefined) checkNames("group", group, ["by", "slots", "strict"]);
  if (dedupe !== undefined) checkNames("dedupe", dedupe, ["by", "forMs"]);
  if (group?.by !== undefined) checkPath("group.by", group.by);
  if (dedupe !== undefined) checkPath("dedupe.by", dedupe.by);
  if (priority !== undefined)
    checkInteger("priority", priority, { min: limits.priorityMin, max: limits.priorityMax });
  if (runInMs !== undefined) checkInteger("runInMs", runInMs, { min: 0, max: limits.runInMsMax });
  if (dedupe?.forMs !== undefined)
    checkInteger("dedupe.forMs", dedupe.forMs, { min: 1, max: limits.runInMsMax });
  if (group?.by !== undefined && groupKey !== undefined)
    throw refusedField("groupKey", "either `group.by` or `groupKey`, not both");
  if (dedupe !== undefined && schedule !== undefined)
    throw refusedField(
      "dedupe",
      "either `dedupe` or `schedule`: each instant has a task of its own, not both",
    );
  return Object.freeze({
    kind: stored,
    groupBy: group?.by ?? null,
    isGroupComputed: groupKey !== undefined,
    priority: priority ?? null,
    runInMs: runInMs ?? null,
    dedupeBy: dedupe?.by ?? null,
    dedupeMs: dedupe?.forMs ?? null,
  });
}
