import type { InvocationContext } from "@azure/functions";
import { isForLater, LimitReachedError } from "../core/errors";
import { checkNames } from "../core/known-names";
import { refusedField } from "../core/refused-field";
import { checkFunction, wrongValue } from "../core/wrong-value";
import type { Denial } from "../worker/run/ask-outlook";
import { hasRate, labelOf, listLimits } from "../worker/run/call-limits";
import type { CallLimits } from "../worker/run/call-limits";
import * as tokens from "../worker/run/with-tokens";
import type { TokenContext } from "../worker/run/with-tokens";
import { BodyBegin } from "./body-begin";
import { defer, putBack } from "./defer";
import { away, tooMany } from "./limited-http";
import { storeMessage } from "./limited-tasks";
import type { AppProcess } from "./runtime";
import type { AnyTaskKind } from "../worker/define/task-kind";

/**
 * What becomes of an invocation that got no token in time. `task`: its message becomes a task of the same handler, with attempts
 * of its own, and the invocation ends. `defer`: a storage queue's message goes back into its queue with a delay; those of other
 * triggers can't. `refuse`: HTTP answers 429 with Retry-After, a timer ends, every other trigger throws LimitReachedError for the
 * host's own retry. Service Bus delivers again at once and counts a try, so `task` suits it best.
 * While the database is away HTTP answers 503 with Retry-After, and a storage queue's message goes back, for each of the three.
 */
export type Overflow = "task" | "defer" | "refuse";

/** How a handler takes its tokens. */
export interface LimitedOptions {
  /** The longest wait of an invocation in this process: 0..86,400,000 ms, default 2,000. Waiting is billed and holds the host's slots. */
  waitMs?: number;
  /** Tokens that one invocation runs on: 1..1000, default 1. */
  want?: number;
  /**
   * Default: `task` for messages of storage queues, Service Bus and Event Grid that JSON can say, else `refuse`. With `want` above 1, under a
   * rate, and for a function with further inputs or outputs a storage queue's message is deferred instead.
   */
  overflow?: Overflow;
  /**
   * Name of the tasks' kind, unique in the app; default: the handler's own name, else that of the limit or limits. Where the
   * app has a name, it stands before that, with a dot.
   */
  name?: string;
}

/** A handler of any trigger; the third argument is its view of the tokens, whose signal says when they are lost. */
export type LimitedHandler<Trigger, Result> = (
  trigger: Trigger,
  context: InvocationContext,
  tokens: TokenContext,
) => Result | Promise<Result>;

/** What the host calls. */
export type WrappedHandler<Trigger, Result> = (
  trigger: Trigger,
  context: InvocationContext,
) => Promise<Result>;

/** What follows the limit: the handler, or options and the handler. */
export type LimitedCall<Trigger, Result> =
  | [LimitedHandler<Trigger, Result>]
  | [LimitedOptions, LimitedHandler<Trigger, Result>];

const waitMsDefault = 2_000;
/** Triggers whose message is stored as a task by default. */
const storable = new Set(["queueTrigger", "serviceBusTrigger", "eventGridTrigger"]);
/** The delay after which a message comes back whose tokens could not be asked for. */
const awayRetryMs = 15_000;

/**
 * Wraps the handler of any function, so that at most `limit` of its invocations run at once, together with everything else that
 * draws from the limit, over all instances and apps of the database. Of several limits each gives a token, or none does. Call
 * it while the app is loaded. Throws InvalidArgumentError that names the option.
 */
export function limited<Trigger, Result>(
  app: AppProcess,
  limit: CallLimits,
  call: LimitedCall<Trigger, Result>,
): WrappedHandler<Trigger, Result> {
  const limits = listLimits(limit);
  for (const one of limits) app.knownLimits.note(one);
  const [options, handler] = readCall(call);
  const { waitMs = waitMsDefault, want = 1, overflow } = options;
  const label = labelOf(limits);
  const mayBeTask = want === 1 && !hasRate(limits);
  if (overflow === "task" && !mayBeTask)
    throw refusedField(
      "overflow",
      "defer or refuse (task): a task holds one token and has a rate of its own",
    );
  // Apps of one database have handlers of equal names.
  const prefix = app.app.app === undefined ? "" : `${app.app.app}.`;
  const handlerName = options.name === undefined && handler.name !== "" ? handler.name : null;
  const name = options.name ?? `${prefix}${handlerName ?? label}`;
  const kind =
    mayBeTask && (overflow ?? "task") === "task"
      ? app.limitedTasks.add({ name, own: handlerName }, limits, (message, context, held) =>
          handler(message as Trigger, context, held),
        )
      : null;
  const overflowing = new Overflowing(app, { label, kind, overflow });
  return (trigger, context) =>
    app.invocations.counted(async () => {
      if (kind !== null) app.limitedTasks.noteFunction(context.functionName, kind);
      const begin = new BodyBegin();
      const isHttp = context.options.trigger.type === "httpTrigger";
      const own = isHttp ? { signal: begin.late } : {};
      try {
        const asked = app.tracked((runtime) =>
          tokens.withTokens(runtime.tokens, { limit, want, waitMs, ...own }, async (held) => {
            begin.note();
            return handler(trigger, context, held);
          }),
        );
        const answer = await (isHttp ? begin.inTime(asked, waitMs) : asked);
        if (answer.ran) return answer.value;
        // The host takes any answer of a trigger without one.
        return (await overflowing.end(trigger, context, answer)) as Result;
      } catch (error) {
        if (begin.hasBegun) throw error;
        return (await overflowing.fail(trigger, context, error)) as Result;
      }
    });
}

/** Throws InvalidArgumentError, naming the option, its value and the expectation. */
function readCall<Trigger, Result>(
  call: LimitedCall<Trigger, Result>,
): [LimitedOptions, LimitedHandler<Trigger, Result>] {
  const [options, handler] = call.length === 2 ? call : [{}, call[0]];
  checkNames("limited", options, ["waitMs", "want", "overflow", "name"]);
  tokens.checkCallOptions(options);
  const { overflow = "task" } = options;
  if (!["task", "defer", "refuse"].includes(overflow))
    throw wrongValue("overflow", "task, defer or refuse", overflow);
  checkFunction("handler", handler);
  return [options, handler];
}

/** Ends invocations that got no token. */
class Overflowing {
  readonly #app: AppProcess;
  /** The names of the limits. */
  readonly #label: string;
  readonly #kind: AnyTaskKind | null;
  readonly #overflow: Overflow | undefined;

  constructor(
    app: AppProcess,
    of: { label: string; kind: AnyTaskKind | null; overflow: Overflow | undefined },
  ) {
    this.#app = app;
    this.#label = of.label;
    this.#kind = of.kind;
    this.#overflow = of.overflow;
  }

  /** What the invocation answers. Throws LimitReachedError where only the host's own retry is left. */
  async end(message: unknown, context: InvocationContext, denial: Denial): Promise<unknown> {
    const way = this.#wayOf(message, context);
    const { telemetry, logger } = await this.#app.services();
    telemetry.count("taskgate.invocation.limited", 1, { limit: this.#label, way });
    if (way === "task" && this.#kind !== null) {
      const { client } = await this.#app.runtime();
      const isStored = await storeMessage(client, this.#kind, { message, context });
      if (isStored) return undefined;
    }
    if (way !== "refuse" && context.options.trigger.type === "queueTrigger") {
      const isPaused = denial.reason === "paused";
      await (isPaused ? defer : putBack)(message, context, denial.retryInMs);
      return undefined;
    }
    const { type } = context.options.trigger;
    if (type === "httpTrigger") return tooMany(this.#label, denial);
    const text = `limit ${this.#label}: no token was free (${denial.reason})`;
    if (type !== "timerTrigger") throw new LimitReachedError(text);
    logger.info(`${text}; this run of the timer ends`, { function: context.functionName });
    return undefined;
  }

  /** What the invocation answers whose tokens could not be asked for. Throws the error where only the host's own retry is left. */
  async fail(message: unknown, context: InvocationContext, error: unknown): Promise<unknown> {
    const { type } = context.options.trigger;
    if (type === "httpTrigger") {
      const answer = away(this.#label, error);
      if (answer === null) throw error;
      context.error(error);
      return answer;
    }
    if (type !== "queueTrigger" || !isForLater(error)) throw error;
    // Nothing was tried: the message keeps its tries.
    await defer(message, context, awayRetryMs);
    return undefined;
  }

  #wayOf(message: unknown, { options }: InvocationContext): Overflow {
    const { type } = options.trigger;
    if (type === "httpTrigger" || type === "timerTrigger") return "refuse";
    if (this.#overflow !== undefined) return this.#overflow;
    const hasBindings =
      options.return !== undefined ||
      options.extraInputs.length > 0 ||
      options.extraOutputs.length > 0;
    const isPlain = !hasBindings && isJsonLike(message);
    if (this.#kind !== null && storable.has(type) && isPlain) return "task";
    return type === "queueTrigger" ? "defer" : "refuse";
  }
}

/** Can JSON say it? Bytes and the instances of other classes are refused; the store checks the values inside. */
function isJsonLike(message: unknown): boolean {
  if (typeof message !== "object" || message === null) return typeof message !== "undefined";
  return Array.isArray(message) || Object.getPrototypeOf(message) === Object.prototype;
}
