import { InvalidArgumentError, LeaseLostError } from "../../shared/core/errors";
import type { JsonObject, JsonValue } from "../../shared/core/json";
import { GiveUp, RetryLater } from "../../shared/core/task-failure";
import type { TaskContext } from "../../shared/worker/define/task-context";
import type { HandlerResult } from "../../shared/worker/define/task-context";
import { taskRef } from "../../shared/worker/define/task-ref";

/** What a handler can leave that no store takes, or that isn't what it looks like. */
export interface BadOutcome {
  readonly name: string;
  readonly run: (ctx: TaskContext) => unknown;
  /** Of the last error; null: the task ends done all the same. */
  readonly reason: RegExp | null;
}

/** The outcome as the compiler would have it. */
export const asResult = (value: unknown): HandlerResult => value as HandlerResult;

function cycle(): object {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

function nested(levels: number): JsonValue {
  let value: JsonValue = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Every question to it throws. */
function hostile(): object {
  const refuse = (): never => {
    throw new Error("a trap threw");
  };
  return new Proxy(
    {},
    {
      get: refuse,
      has: refuse,
      getPrototypeOf: refuse,
      ownKeys: refuse,
      getOwnPropertyDescriptor: refuse,
    },
  );
}

class Stubborn extends Error {
  override get message(): string {
    throw new Error("no message for you");
  }
}

const raised = (thrown: unknown): never => {
  throw thrown;
};

const returned: readonly BadOutcome[] = [
  {
    name: "returns a Date",
    run: () => new Date(0),
    reason: /`result`.*object \(Date\).*1970-01-01T00:00:00.000Z/,
  },
  { name: "returns a number", run: () => 3, reason: /got 3$/ },
  { name: "returns NaN", run: () => NaN, reason: /got NaN$/ },
  { name: "returns a symbol", run: () => Symbol("s"), reason: /got Symbol\(s\)$/ },
  { name: "returns a function", run: () => () => undefined, reason: /got a function$/ },
  { name: "returns a bigint", run: () => 12n, reason: /got the bigint 12n$/ },
  { name: "returns an object with a bigint", run: () => ({ n: 12n }), reason: /`result`.*BigInt/ },
  { name: "returns a cycle", run: cycle, reason: /`result`.*circular/ },
  {
    name: "returns what turns into a text",
    run: () => ({ toJSON: () => "soon" }),
    reason: /as JSON ""soon""/,
  },
  {
    name: "returns what turns into nothing",
    run: () => ({ toJSON: () => undefined }),
    reason: /JSON leaves out/,
  },
  {
    name: "returns a getter that throws",
    run: () => ({
      get a() {
        return raised(new Error("not today"));
      },
    }),
    reason: /`result`.*not today/,
  },
  {
    name: "returns a hostile proxy",
    run: () => Promise.resolve([hostile()]),
    reason: /a trap threw/,
  },
  { name: "returns a revoked proxy", run: () => [revoked()], reason: /revoked/ },
  {
    name: "returns a huge object",
    run: () => ({ text: "x".repeat(70_000) }),
    reason: /`result`.*65536 bytes/,
  },
  { name: "returns 2,000 levels", run: () => nested(2_000), reason: /`result`.*100 levels/ },
  { name: "returns half a surrogate pair", run: () => ({ text: "\ud800" }), reason: null },
  { name: "returns U+0000", run: () => ({ "\u0000": "\u0000" }), reason: null },
  { name: "returns NaN in an object", run: () => ({ n: NaN }), reason: null },
];

const later = (options: unknown) => (ctx: TaskContext) =>
  ctx.restored === null ? ctx.checkpoint({ at: 1 }, options as { afterMs: number }) : {};

const continued: readonly BadOutcome[] = [
  { name: "comes back in -5 ms", run: later({ afterMs: -5 }), reason: null },
  { name: "comes back in 0.5 ms", run: later({ afterMs: 0.5 }), reason: null },
  { name: "comes back in NaN ms", run: later({ afterMs: NaN }), reason: /`afterMs`.*got NaN$/ },
  {
    name: "comes back never",
    run: later({ afterMs: Infinity }),
    reason: /`afterMs`.*got Infinity$/,
  },
  {
    name: "comes back by a mistyped option",
    run: later({ afterms: 5 }),
    reason: /^.*afterms: unknown option of ctx\.checkpoint\. Did you mean `afterMs`\?/,
  },
  {
    name: "comes back in a text",
    run: later({ afterMs: "1 s" }),
    reason: /`afterMs`.*got the text "1 s"$/,
  },
  {
    name: "leaves a cycle",
    run: (ctx) => ctx.checkpoint(cycle() as JsonObject),
    reason: /`checkpoint`.*circular/,
  },
  {
    name: "leaves a function",
    run: (ctx) => ctx.checkpoint((() => 1) as unknown as JsonObject),
    reason: /`checkpoint`.*a function/,
  },
  {
    name: "leaves 2,000 levels",
    run: (ctx) => ctx.checkpoint(nested(2_000)),
    reason: /`checkpoint`.*100 levels/,
  },
  {
    name: "leaves a changed continuation",
    run: (ctx) => Object.assign(ctx.checkpoint({}), { state: {} }),
    reason: /ctx.checkpoint.*got an object$/,
  },
];

const thrown: readonly BadOutcome[] = [
  { name: "throws undefined", run: () => raised(undefined), reason: /^thrown: undefined$/ },
  {
    name: "throws a hostile proxy",
    run: () => raised(hostile()),
    reason: /^thrown: an object that can't be looked at$/,
  },
  {
    name: "throws an error whose message throws",
    run: () => raised(new Stubborn()),
    reason: /its message can't be read/,
  },
  {
    name: "throws an error with a message of 5 MB",
    run: () => raised(new Error("m".repeat(5_000_000))),
    reason: /^Error: mmm/,
  },
  {
    name: "throws U+0000 and half a pair",
    run: () => raised(new Error("a\u0000b\ud800")),
    reason: /^Error: a\ufffdb\ufffd/,
  },
  {
    name: "throws somebody's lost lease",
    run: () => raised(new LeaseLostError("not this one")),
    reason: /not this one/,
  },
  {
    name: "throws what the store throws",
    run: () => raised(new InvalidArgumentError("result: bad")),
    reason: /result: bad/,
  },
  {
    name: "asks for a try in NaN ms",
    run: () => raised(new RetryLater(NaN, "later")),
    reason: /`afterMs`.*got NaN\n/,
  },
  {
    name: "gives up with a symbol",
    run: () => raised(Object.assign(new GiveUp("so"), { message: Symbol("x") })),
    reason: /its message can't be read/,
  },
];

const asked: readonly BadOutcome[] = [
  {
    name: "enqueues a Date",
    run: (ctx) =>
      ctx.enqueue(
        taskRef({ name: ctx.kind, queue: ctx.definition }),
        new Date(0) as unknown as JsonObject,
      ),
    reason: /`payload`.*object \(Date\)/,
  },
  {
    name: "enqueues at an instant that is a text",
    run: (ctx) =>
      ctx.enqueue(taskRef({ name: ctx.kind, queue: ctx.definition }), undefined, {
        runAt: "soon" as unknown as Date,
      }),
    reason: /runAt: expected an instant as a Date \(the text \\?"soon\\?"\)/,
  },
  {
    name: "enqueues with a hostile priority",
    run: (ctx) =>
      ctx.enqueue(taskRef({ name: ctx.kind, queue: ctx.definition }), undefined, {
        priority: {
          valueOf: () => raised(hostile()),
          toString: () => raised(hostile()),
        } as unknown as number,
      }),
    reason: /its tasks could not be added/,
  },
  {
    name: "enqueues for a definition that nobody has",
    run: (ctx) => ctx.enqueue(taskRef({ name: "nobody's" })),
    reason: /its tasks could not be added.*unknown definition/,
  },
  {
    name: "reports nonsense",
    run: (ctx) => {
      for (const report of [
        { done: -5, total: NaN },
        { done: 0.5, total: 1e300, text: Symbol("x") },
        null,
        hostile(),
      ])
        ctx.progress(report as never);
      return {};
    },
    reason: null,
  },
  {
    name: "completes with a Date",
    run: (ctx) => ctx.completeWith(() => Promise.resolve(new Date(0) as unknown as JsonObject)),
    reason: /`result`.*object \(Date\)/,
  },
  {
    name: "throws a lost lease in its transaction",
    run: (ctx) => ctx.completeWith(() => raised(new LeaseLostError("mine"))),
    reason: /mine/,
  },
];

/** Everything that a handler can return, throw, checkpoint, enqueue or report, one of each sort. */
export const badOutcomes: readonly BadOutcome[] = [...returned, ...continued, ...thrown, ...asked];
