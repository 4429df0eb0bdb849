import { hasMember } from "../../core/foreign-value";
import type { JsonPayload } from "../../core/json";
import { instantMs } from "../../core/instant";
import { checkTaskName } from "../../core/calls-definition";
import { checkNames } from "../../core/known-names";
import { limits } from "../../core/limits";
import { checkInteger, cleanText } from "../../core/text";
import { checkList, wrongValue } from "../../core/wrong-value";
import type { StoreTransaction } from "../../ports/task-store";
import type { Enqueued } from "../../enqueue/enqueue-prepared";
import type { StandardSchema } from "./standard-schema";

/**
 * Names a kind of task and carries its types: what an enqueue needs. `defineTask` makes one that also runs; `taskRef` names a
 * kind of other code.
 */
export interface TaskRef<Input = JsonPayload, Result = JsonPayload> {
  readonly kind: string;
  /** Of the payload; default 1. */
  readonly version?: number;
  /** The queue of the kind's tasks; null: that of the app's kind of this name, or else one of the kind's own name. */
  readonly definition: { readonly name: string } | null;
  readonly schema: StandardSchema<Input, unknown> | null;
  /** For the compiler only: nothing has it at run time. */
  readonly "~types"?: { readonly input: Input; readonly result: Result } | undefined;
}

/** A kind of any types. */
export type AnyTaskRef = TaskRef<unknown, unknown>;

/** The payload of a kind as it is enqueued. */
export type TaskInput<Task extends AnyTaskRef> = NonNullable<Task["~types"]>["input"];

/** What a done task of a kind leaves: `TaskResult<typeof greet>`. */
export type TaskResult<Task extends AnyTaskRef> = NonNullable<Task["~types"]>["result"];

/** A kind of other code, as it is named here. */
export interface TaskRefOptions<Input> {
  /** 1..200 characters. */
  name: string;
  /** The payload's version that this code writes, 1..20; default 1. A newer build of the other code upgrades it. */
  version?: number;
  /** The queue of its tasks, 1..200 characters; default: that of the app's kind of this name, or one of the kind's own name. */
  queue?: string;
  /** A schema that payloads must pass before they are enqueued. */
  input?: StandardSchema<Input, unknown>;
}

/**
 * Names a kind that other code runs: `taskRef<{ file: string }>({ name: "load", queue: "imports" })`. Nothing checks that the
 * other code has the same types. Throws InvalidArgumentError naming the field.
 */
export function taskRef<Input extends object | null = JsonPayload, Result = JsonPayload>(
  options: TaskRefOptions<Input>,
): TaskRef<Input, Result> {
  checkNames("taskRef", options, ["name", "version", "queue", "input"]);
  const { name, version = 1, queue, input = null } = options;
  checkInteger("version", version, { min: 1, max: limits.kindVersionMax });
  checkTaskName("name", name);
  if (queue !== undefined) checkQueueName(queue);
  return Object.freeze({
    kind: name,
    version,
    definition: queue === undefined ? null : Object.freeze({ name: queue }),
    schema: input,
  });
}

/** What `defineQueue` returns is the nearest mistake. */
function checkQueueName(queue: unknown): void {
  if (typeof queue !== "string") throw wrongValue("queue", "the queue's name, a text", queue);
  checkTaskName("queue", queue);
}

/** How a task is added. */
export interface EnqueueOptions {
  /** Lower first, -32,768..32,767; default: what the kind says, or 100. */
  priority?: number;
  /** Left out: what the kind says. null: none, where the kind has no `group: { by }`, which always holds. */
  group?: string | null;
  /** Whether other queues' tasks with this key belong to the same group; default `definition`: they don't. */
  groupScope?: "definition" | "global";
  /** Starts so many milliseconds later, 0..100 years; default: what the kind says, or 0. */
  runInMs?: number;
  /** Starts at this instant; not together with `runInMs`. */
  runAt?: Date;
  /** While another task has this key, 1..200 characters, this one isn't added. */
  dedupeKey?: string;
  /** How long the key is held, ms; default: until the task ends. */
  dedupeMs?: number;
  /**
   * What becomes of this payload when another task has the key. keep (default): it is dropped. replace: it takes the
   * place of the other's, if that one is of the same kind and has not begun; else it is dropped.
   */
  onDuplicate?: "keep" | "replace";
  /** Id of a batch's wave: the task is blocked until it opens; then without `runAt` and `runInMs`. */
  wave?: string;
}

/** How tasks are added from outside of tasks. */
export interface ClientEnqueueOptions extends EnqueueOptions {
  /** A transaction of the caller's: the tasks exist when it commits, and hints wait for `committed`. */
  transaction?: StoreTransaction;
}

/** How a handler adds tasks. */
export interface ChildOptions extends EnqueueOptions {
  /** Written at once, also when this task fails later; default false: with this task's completion. */
  now?: boolean;
}

/** Every name of `EnqueueOptions`. */
const optionNames = [
  "priority",
  "group",
  "groupScope",
  "runInMs",
  "runAt",
  "dedupeKey",
  "dedupeMs",
  "onDuplicate",
  "wave",
] as const satisfies readonly (keyof EnqueueOptions)[];

const manyNames = optionNames.filter((name) => name !== "dedupeKey");

/** Whether a payload may be left out. Where null is part of every type, only payloads that nothing is known of may. */
type MayLack<Input> = undefined extends 0
  ? JsonPayload extends Input
    ? true
    : false
  : null extends Input
    ? true
    : false;

/** Arguments behind the kind: its payload, then options. */
export type EnqueueArguments<Input, Options> =
  MayLack<Input> extends true
    ? [payload?: Input, options?: Options]
    : [payload: Input, options?: Options];

/** A task to add, whose payload the compiler has checked: made by `taskRequest`. */
export interface TaskRequest extends EnqueueOptions {
  readonly task: AnyTaskRef;
  readonly payload: unknown;
  readonly "~checked": true;
}

/**
 * A task to add together with tasks of other kinds: `enqueueAll([taskRequest(greet, { name: "Ada" }), ..])`. Throws
 * InvalidArgumentError for an unknown option.
 */
export function taskRequest<Task extends AnyTaskRef>(
  task: Task,
  ...[payload, options]: EnqueueArguments<TaskInput<Task>, EnqueueOptions>
): TaskRequest {
  return toRequest({ task, payload, options });
}

/** Throws InvalidArgumentError for an option that neither a task has nor the call, whose own is `more`. */
export function checkEnqueueNames(options: object | null | undefined, more: string): void {
  if (options) checkNames("enqueue", options, [...optionNames, more]);
}

/** A request of one kind. Throws InvalidArgumentError for an unknown option, and for a value that is no kind. */
export function toRequest(given: {
  task: AnyTaskRef;
  payload: unknown;
  options: EnqueueOptions | undefined;
}): TaskRequest {
  const { task, payload = null, options } = given;
  checkTask(task);
  if (options === undefined) return { task, payload } as TaskRequest;
  checkNames("enqueue", options, optionNames);
  if (options.runAt) instantMs("runAt", options.runAt);
  return { ...options, task, payload } as TaskRequest;
}

/** Throws InvalidArgumentError, naming the entry, for a list of anything else than requests. */
export function checkRequests(requests: unknown): void {
  const expected = "what taskRequest returns";
  checkList("requests", requests, expected);
  const list = requests as readonly unknown[];
  const at = list.findIndex(
    (each) => !hasMember(each, "task") || !isTask((each as TaskRequest).task),
  );
  if (at >= 0) throw wrongValue(`requests[${String(at)}]`, expected, list[at]);
}

function isTask(task: unknown): boolean {
  return hasMember(task, "kind") && hasMember(task, "schema");
}

/** Throws InvalidArgumentError for a value that is no kind: without TypeScript a name is the nearest mistake. */
export function checkTask(task: unknown): void {
  if (isTask(task)) return;
  const text =
    typeof task === "string" ? JSON.stringify(cleanText(task, limits.nameLengthMax)) : null;
  const hint = text === null ? "" : `: taskRef({ name: ${text} }) names a kind of other code`;
  throw wrongValue("task", `what defineTask or taskRef returns${hint}`, task);
}

/** The options of `enqueueMany`. Throws InvalidArgumentError for an unknown one, and for one key of all its tasks. */
export function checkManyNames(options: object): void {
  const { dedupeKey } = Object(options) as EnqueueOptions;
  if (dedupeKey !== undefined)
    throw wrongValue(
      "dedupeKey",
      "none for enqueueMany, whose tasks would be duplicates of one another; give each its own, with enqueueAll and taskRequest",
      dedupeKey,
    );
  checkNames("enqueueMany", options, [...manyNames, "transaction"]);
}

/** Adds tasks: in functions, scripts and tests. */
export interface EnqueueCalls {
  /**
   * Adds a task and leaves a hint. One transaction, safe to repeat. In a `transaction` of the caller's: the task exists when
   * it commits, and its hint waits for `committed`; without that call the next sweep finds it. Throws InvalidArgumentError for a payload
   * that the kind's schema refuses, an unknown option, and a `wave` that takes no tasks any more.
   */
  enqueue<Task extends AnyTaskRef>(
    task: Task,
    ...payloadAndOptions: EnqueueArguments<TaskInput<Task>, ClientEnqueueOptions>
  ): Promise<Enqueued>;
  /**
   * The same for any number of one kind, in input order: cut into calls of 10,000 tasks or 4 MiB, each a transaction. All
   * payloads are checked before the first call.
   */
  enqueueMany<Task extends AnyTaskRef>(
    task: Task,
    payloads: readonly TaskInput<Task>[],
    options?: Omit<ClientEnqueueOptions, "dedupeKey">,
  ): Promise<Enqueued[]>;
  /** The same for tasks of several kinds, each made by `taskRequest`. */
  enqueueAll(
    requests: readonly TaskRequest[],
    options?: { transaction?: StoreTransaction },
  ): Promise<Enqueued[]>;
}
