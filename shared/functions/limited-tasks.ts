import { InvocationContext } from "@azure/functions";
import type { LogLevel } from "@azure/functions";
import { InvalidArgumentError, TaskgateError } from "../core/errors";
import type { JsonObject } from "../core/json";
import { refusedField } from "../core/refused-field";
import { RetryLater } from "../core/task-failure";
import type { TaskClient } from "../worker/client/client";
import { defineTask } from "../worker/define/define-task";
import { storedKindsOf } from "../worker/define/kind-upgrade";
import type { TaskContext } from "../worker/define/task-context";
import { leaseOf, toShared } from "../worker/run/call-limits";
import type { CallLimit } from "../worker/run/call-limits";
import type { TokenContext } from "../worker/run/with-tokens";
import type { AnyTaskKind } from "../worker/define/task-kind";
import { packMetadata, unpackMetadata } from "./stored-metadata";

/** A handler that runs on tokens: of an invocation, or of a task that its message became. */
export type TokenHandler = (
  message: unknown,
  context: InvocationContext,
  tokens: TokenContext,
) => unknown;

/** A name of a kind. */
export interface HandlerName {
  readonly name: string;
  /** The part of it that is the handler's own name; null: none. */
  readonly own: string | null;
}

/** After this time a task is tried again whose function has another handler here: a process of another build may have the right one. */
const otherBuildMs = 60_000;

/** Messages of an app's limited functions, as tasks of the same handlers. */
export class LimitedTasks {
  readonly #kinds = new Map<string, AnyTaskKind>();
  /** Names that are the handlers' own. */
  readonly #ownNames: string[] = [];
  /** Kinds by the functions that ran their handlers in this process. */
  readonly #byFunction = new Map<string, Set<string>>();
  readonly #tasks: readonly AnyTaskKind[];
  #isRead = false;

  /** `tasks`: those of the app, as far as they are declared. */
  constructor(tasks: readonly AnyTaskKind[] = []) {
    this.#tasks = tasks;
  }

  /** The kinds of all handlers that were wrapped; none can be added afterwards. */
  read(): AnyTaskKind[] {
    this.#isRead = true;
    return [...this.#kinds.values()];
  }

  /**
   * Makes the kind whose tasks run `handler` on tokens of the same limits. Throws InvalidArgumentError when the name is taken, also by
   * a task of the app or its queue, or one that
   * a bundler made: the next build would give it to another handler. Throws it as well when the first invocation has begun: another process
   * could not run its tasks.
   */
  add(
    { name, own }: HandlerName,
    limits: readonly CallLimit[],
    handler: TokenHandler,
  ): AnyTaskKind {
    if (this.#isRead)
      throw refusedField(
        "name",
        `gate.limited to be called while the app is loaded (${name}), not in an invocation`,
      );
    if (this.#kinds.has(name))
      throw refusedField(
        "name",
        `a name of its own for each handler (${name} is taken); give one of them as { name: ".." }`,
      );
    this.#checkFree(name);
    if (own !== null) this.#noteOwnName(own);
    const leaseMs = leaseOf(limits);
    const kind = defineTask<JsonObject>({
      name,
      limit: null,
      within: limits.map(toShared),
      ...(leaseMs === undefined ? {} : { leaseMs }),
      run: async (payload, task) => {
        const { message = null, functionName } = payload;
        this.#expectHandlerOf(functionName, name);
        const tokens = { signal: task.signal, tokens: 1, fence: task.fence };
        const triggerMetadata = unpackMetadata(payload);
        await handler(message, contextOf(task, { functionName, triggerMetadata }), tokens);
      },
    });
    this.#kinds.set(name, kind);
    return kind;
  }

  /** Throws InvalidArgumentError where a task that the app has declared since has the name of a handler. */
  checkNames(): void {
    for (const name of this.#kinds.keys()) this.#checkFree(name);
  }

  /** A function runs the handler of this kind. */
  noteFunction(functionName: string, { kind }: AnyTaskKind): void {
    const kinds = this.#byFunction.get(functionName) ?? new Set();
    this.#byFunction.set(functionName, kinds.add(kind));
  }

  /** With two of one name nothing of the app could run. */
  #checkFree(name: string): void {
    const isTask = this.#tasks.some((task) => storedKindsOf(task).includes(name));
    const isQueue = this.#tasks.some(({ definition }) => definition.name === name);
    if (!isTask && !isQueue) return;
    const taken = `${name} is ${isTask ? "a task" : "a queue of tasks"} already`;
    throw new InvalidArgumentError(`${taken}: give the handler another name as { name: ".." }`, {
      details: { field: "name" },
    });
  }

  /**
   * Bundlers name functions of one name `handler`, `handler2` or `handler$1`, and minifiers `e`, by their order in the bundle: a file
   * more, and a stored message would run another handler.
   */
  #noteOwnName(name: string): void {
    const other = this.#ownNames.find((one) => isNumbered(one, name) || isNumbered(name, one));
    const isMinified = /^[\w$]{1,2}$/.test(name);
    const maker = other === undefined ? "a minifier" : `with ${other} beside it a bundler`;
    if (other !== undefined || isMinified)
      throw refusedField(
        "name",
        `one that stays in the next build (${name}); ${maker} seems to have made it. Give the handler a name as { name: ".." }`,
      );
    this.#ownNames.push(name);
  }

  /** Throws where the function whose message it was has another handler here than the task's kind: its build named them otherwise. */
  #expectHandlerOf(functionName: unknown, kind: string): void {
    const known = typeof functionName === "string" ? this.#byFunction.get(functionName) : undefined;
    if (known === undefined || known.has(kind)) return;
    throw new RetryLater(
      otherBuildMs,
      `Function ${String(functionName)} has the handler ${[...known].join(", ")} here, not ${kind}: another build named the handlers. Give each one a name of its own: gate.limited(limit, { name: ".." }, handler)`,
    );
  }
}

/** Is `name` the other name and a number, as a bundler writes it? */
function isNumbered(name: string, other: string): boolean {
  return name.startsWith(other) && /^\$?\d+$/.test(name.slice(other.length));
}

/**
 * Stores the message of an invocation as a task, once: a message of a storage queue that the host delivers again while its task
 * isn't done changes nothing. False: the message is too large or nested too deep for a task. Throws what the store throws.
 */
export async function storeMessage(
  client: TaskClient,
  kind: AnyTaskKind,
  { message, context }: { message: unknown; context: InvocationContext },
): Promise<boolean> {
  const { functionName, triggerMetadata = {} } = context;
  const metadata = packMetadata(message, triggerMetadata);
  // What JSON can't say the client refuses.
  const payload = { message, functionName, ...metadata } as unknown as JsonObject;
  const id = messageIdOf(message, context);
  try {
    await client.enqueue(
      kind,
      payload,
      id === null ? {} : { dedupeKey: `${functionName} ${id}`.slice(-200) },
    );
    return true;
  } catch (error) {
    const isPayload = error instanceof TaskgateError && error.details["field"] === "payload";
    if (isPayload) return false;
    throw error;
  }
}

/**
 * The id that the storage gave a message; null where it isn't known. The host lays the members of a JSON payload over its own
 * fields, in any case: the `id` of such a payload is the customer's or the order's, and many messages may have it.
 */
function messageIdOf(message: unknown, context: InvocationContext): string | null {
  const id = context.triggerMetadata?.["id"];
  if (context.options.trigger.type !== "queueTrigger" || typeof id !== "string") return null;
  // What this process reads as text the host may have read as an object.
  if (typeof message === "string") return message.trimStart().startsWith("{") ? null : id;
  const names = typeof message === "object" && message !== null ? Object.keys(message) : [];
  return names.some((name) => name.toLowerCase() === "id") ? null : id;
}

/** The context of a task, as the handler knows it from its function. */
function contextOf(
  task: TaskContext,
  stored: { functionName: unknown; triggerMetadata: Record<string, unknown> },
): InvocationContext {
  const { functionName, triggerMetadata } = stored;
  return new InvocationContext({
    invocationId: task.taskId,
    functionName: typeof functionName === "string" ? functionName : task.kind,
    triggerMetadata,
    logHandler: (level, ...words) => {
      task.log[levelOf(level)](words.map(String).join(" "));
    },
  });
}

function levelOf(level: LogLevel): "debug" | "info" | "warn" | "error" {
  if (level === "trace" || level === "debug") return "debug";
  if (level === "warning") return "warn";
  return level === "error" || level === "critical" ? "error" : "info";
}
