import { describe, expect, test } from "@jest/globals";
import { GiveUp, RetryLater } from "../../../shared/core/task-failure";
import { sleep } from "../../../shared/platform/real-clock";
import { defineTask } from "../../../shared/worker/define/define-task";
import type { JsonObject } from "../../../shared/core/json";
import type { StoreTransaction } from "../../../shared/ports/task-store";
import { TestBench, runTaskOnce } from "../../../shared/testing";
import { taskRef } from "../../../shared/worker/define/task-ref";
import type { ChildOptions } from "../../../shared/worker/define/task-ref";

/* One handler, judged by the shipped rules: every end, and the rows written with it. */
const end = defineTask<{ how: string; at?: Date }>({
  name: "end",
  run: async ({ how, at }, ctx) => {
    await ctx.enqueue(taskRef({ name: "child" }), { how });
    await ctx.enqueue(taskRef({ name: "at-once" }), null, { priority: 5, now: true });
    ctx.progress({ done: 1, total: 2 });
    ctx.progress({ done: 2, total: 2 });
    if (how === "date") return { isText: typeof at === "string" };
    if (how === "later") throw new RetryLater(60_000);
    if (how === "give up") throw new GiveUp("no use");
    if (how === "scalar") return 7 as unknown as JsonObject;
    if (how === "part") return ctx.checkpoint({ at: 3 }, { afterMs: 10 });
    if (how === "again") return { attempt: ctx.attempt, restored: ctx.restored };
    if (how === "time") return { leftMs: ctx.timeLeftMs() };
    if (how === "wait") {
      await sleep(10_000, ctx.signal);
      ctx.signal.throwIfAborted();
    }
    throw new TypeError("boom");
  },
});

describe("how it ends", () => {
  test.each([
    ["date", { kind: "done", result: { isText: true } }],
    ["later", { kind: "failed", retryInMs: 60_000 }],
    ["throw", { kind: "failed", retryInMs: null }],
    ["give up", { kind: "dead" }],
    ["scalar", { kind: "dead" }],
    ["part", { kind: "continued", state: { at: 3 }, afterMs: 10 }],
  ])("a task's run ends as its handler says: %s", async (how, expected) => {
    const run = await runTaskOnce(end, { payload: { how, at: new Date() } });
    expect(run.end).toMatchObject(expected);
    expect(run.progress).toHaveLength(2);
    const kinds = run.enqueued.map((task) => task.kind);
    const isWritten = run.end.kind === "done" || run.end.kind === "continued";
    expect(kinds).toEqual(isWritten ? ["at-once", "child"] : ["at-once"]);
    expect(run.enqueued[0]).toEqual({
      kind: "at-once",
      definition: "at-once",
      payload: null,
      priority: 5,
    });
  });

  test("a later try finds its attempt, its checkpoint and its time", async () => {
    const again = await runTaskOnce(end, {
      payload: { how: "again" },
      attempt: 3,
      restored: [1, 2],
    });
    expect(again.end).toEqual({ kind: "done", result: { attempt: 3, restored: [1, 2] } });
    const time = await runTaskOnce(end, { payload: { how: "time" }, timeLeftMs: 5 });
    expect(time.end).toEqual({ kind: "done", result: { leftMs: 5 } });
  });

  test.each([
    ["deadline", "continued"],
    ["stopped", "continued"],
    ["cancelled", "cancelled"],
    ["lost", "lost"],
  ] as const)("an interrupted task, %s, ends as %s", async (as, kind) => {
    const run = await runTaskOnce(end, {
      payload: { how: "wait" },
      interrupt: { as, afterMs: 5 },
    });
    expect(run.end.kind).toBe(kind);
  });

  test.each([
    ["date", undefined],
    ["throw", undefined],
    ["give up", undefined],
    ["part", undefined],
    ["date", 60_000],
  ])("a task is lost, whatever the handler does: %s, after %s", async (how, afterMs) => {
    const interrupt = { as: "lost" as const, ...(afterMs === undefined ? {} : { afterMs }) };
    const run = await runTaskOnce(end, { payload: { how, at: new Date() }, interrupt });
    expect(run.end).toEqual({ kind: "lost" });
    // The worker that holds the task now runs the part, too.
    expect(run.enqueued.map((task) => task.kind)).toEqual(["at-once"]);
  });

  test("a task is lost for a handler that only returns", async () => {
    const plain = defineTask({ name: "plain", run: () => Promise.resolve({ a: 1 }) });
    const run = await runTaskOnce(plain, { interrupt: { as: "lost" } });
    expect(run.end).toEqual({ kind: "lost" });
  });

  test("a payload that the schema refuses is dead, and the handler isn't called", async () => {
    const strict = defineTask({
      name: "strict",
      input: {
        "~standard": {
          version: 1 as const,
          vendor: "test",
          validate: () => ({ issues: [{ message: "is missing", path: ["to"] }] }),
        },
      },
      run: () => Promise.reject(new Error("called")),
    });
    const run = await runTaskOnce(strict, { payload: {} });
    expect(run.end).toEqual({ kind: "dead", error: "the payload is invalid: to: is missing" });
    expect(run.thrown).toBeUndefined();
  });
});

describe("what it writes in a transaction", () => {
  const booking = defineTask<{ fails?: boolean }>({
    name: "booking",
    run: async ({ fails = false }, ctx) => {
      await ctx.completeWith(async (tx) => {
        const rows = await tx.query("select $1", [7]);
        await ctx.enqueue(taskRef({ name: "child" }), undefined, { runInMs: 500 });
        if (fails) throw new Error("half way");
        return { rows: rows.length };
      });
    },
  });

  test("statements are answered and kept, the result is the body's", async () => {
    const run = await runTaskOnce(booking, { payload: {}, sql: () => [{ a: 1 }, { a: 2 }] });
    expect(run.end).toEqual({ kind: "done", result: { rows: 2 } });
    expect(run.statements).toEqual([{ text: "select $1", values: [7] }]);
    expect(run.enqueued).toMatchObject([{ kind: "child", runInMs: 500 }]);
  });

  test("a rolled back write isn't kept", async () => {
    const run = await runTaskOnce(booking, { payload: { fails: true }, sql: () => [] });
    expect(run.end).toMatchObject({ kind: "failed" });
    expect(run.enqueued).toEqual([]);
  });

  test("a completion that the handler doesn't await has its result all the same", async () => {
    const hasty = defineTask({
      name: "hasty",
      run: async (_, ctx) => {
        void ctx.completeWith(async () => ({ a: 1 }));
      },
    });
    expect((await runTaskOnce(hasty)).end).toEqual({ kind: "done", result: { a: 1 } });
  });

  test("a watermark that a failed body moved stands where it stood, and its blocks are made again", async () => {
    const block = taskRef({ name: "block" });
    const cut = defineTask({
      name: "cut",
      run: async (_, ctx) => {
        const to = { watermark: "w", numeric: { to: 10, size: 5 } };
        const move = async (transaction: StoreTransaction) => {
          const { status, version, taskIds } = await ctx.watermark.advance(block, to, {
            transaction,
          });
          return { status, version, blocks: taskIds.length };
        };
        const failing = ctx.completeWith(async (tx) => {
          await move(tx);
          throw new Error("half way");
        });
        await failing.catch(() => undefined);
        expect(await ctx.watermark.read(block, { watermark: "w" })).toMatchObject({ value: null });
        return ctx.completeWith(move);
      },
    });
    const run = await runTaskOnce(cut);
    const result = { status: "advanced", version: "1", blocks: 2 };
    expect(run.end).toEqual({ kind: "done", result });
    expect(run.enqueued.map((task) => task.kind)).toEqual(["block", "block"]);
  });

  test("a watermark that was moved under a lost lease stands where it stood", async () => {
    let version = "";
    const cut = defineTask({
      name: "cut",
      run: async (_, ctx) => {
        const to = { watermark: "w", numeric: { to: 10, size: 5 } };
        const block = taskRef({ name: "block" });
        try {
          await ctx.completeWith(
            async (transaction) => void (await ctx.watermark.advance(block, to, { transaction })),
          );
        } finally {
          ({ version } = await ctx.watermark.read(block, { watermark: "w" }));
        }
      },
    });
    const run = await runTaskOnce(cut, { interrupt: { as: "lost" } });
    expect(run).toMatchObject({ end: { kind: "lost" }, enqueued: [] });
    expect(version).toBe("0");
  });

  test.each([
    ["its completion has ended it", false],
    ["its body has returned", true],
  ])("a transaction that was kept takes nothing more: %s", async (why, fails) => {
    const kept: StoreTransaction[] = [];
    const late = defineTask({
      name: "late",
      run: async (_, ctx) => {
        const body = async (tx: StoreTransaction): Promise<void> => {
          kept.push(tx);
          if (fails) throw new Error("half way");
        };
        await ctx.completeWith(body).catch(() => undefined);
        await kept[0]?.query("select 1");
      },
    });
    const run = await runTaskOnce(late, { sql: () => [{ a: 1 }] });
    expect(run.thrown).toMatchObject({
      code: "TASKGATE_STORE_CONTEXT",
      message: `The transaction is over: ${why}`,
    });
    expect(run.end.kind).toBe(fails ? "failed" : "done");
    expect(run.statements).toEqual([]);
  });

  test("the handler is told the missing answer where its statements have none", async () => {
    const run = await runTaskOnce(booking, { payload: {} });
    expect(run.thrown).toMatchObject({
      message: "Expected `sql` to answer the handler's statements, got none: select $1",
    });
  });
});

describe("options of ctx.enqueue that every store refuses", () => {
  const child = defineTask({ name: "child", run: async () => undefined });
  const long = "x".repeat(201);
  test.each<[string, ChildOptions]>([
    ["a priority of 40,000", { priority: 40_000 }],
    ["a priority of 1.5", { priority: 1.5 }],
    ["runInMs of -1", { runInMs: -1 }],
    ["runInMs and runAt", { runInMs: 5, runAt: new Date(0) }],
    ["an empty dedupe key", { dedupeKey: "" }],
    ["a dedupe key of 201 characters", { dedupeKey: long }],
    ["a dedupe key with a blank at its end", { dedupeKey: "a " }],
    ["a wave and runInMs", { wave: "5", runInMs: 5 }],
    ["a group of 201 characters", { group: long }],
  ])("the run ends as in a bench, with the same error: %s", async (_option, options) => {
    const { wave, ...others } = options;
    const parent = defineTask({
      name: "parent",
      run: async (_, ctx) => {
        // A wave that takes tasks: the bench looks at it before it looks at the tasks.
        const batch = await ctx.batches.create({ name: "b", waves: 1 });
        const given = wave === undefined ? others : { ...others, wave: batch.wave(1) };
        await ctx.enqueue(child, null, given);
      },
    });
    const bench = new TestBench([parent, child]);
    await bench.enqueue(parent);
    await bench.drain();
    const [failed] = await bench.tasks();
    const run = await runTaskOnce(parent);
    expect(failed?.error).toContain("its tasks could not be added: tasks[0].");
    expect(run.end).toEqual({ kind: "failed", error: failed?.error, retryInMs: null });
    expect(run.enqueued).toEqual([]);
  });

  test("the handler is told of `now`", async () => {
    const parent = defineTask({
      name: "parent",
      run: (_, ctx) => ctx.enqueue(child, null, { priority: 40_000, now: true }),
    });
    const run = await runTaskOnce(parent);
    expect(run.thrown).toMatchObject({
      code: "TASKGATE_ARG_INVALID",
      message: "tasks[0].priority: expected a whole number in -32768..32767 (40000)",
    });
  });
});

test("a payload that could not be enqueued throws", async () => {
  await expect(runTaskOnce(end, { payload: { how: "x".repeat(70_000) } })).rejects.toMatchObject({
    code: "TASKGATE_ARG_TOO_LARGE",
  });
});

test.each([
  [{ attempt: 0 }, "attempt: expected a whole number in 1..2147483647 (0)"],
  [{ attempt: "x" }, 'attempt: expected a whole number in 1..2147483647 (the text "x")'],
  [{ timeLeftMs: "5" }, 'timeLeftMs: expected a number of milliseconds (the text "5")'],
  [{ sql: [] }, "sql: expected a function (an array)"],
  [
    { interrupt: { as: "dead" } },
    'interrupt.as: expected one of deadline, stopped, lost, cancelled (the text "dead")',
  ],
  [{ interrupt: { as: "lost", afterMs: -1 } }, "interrupt.afterMs: expected a number in 0.."],
  [{ interrupt: "lost" }, "interrupt: expected an object, of as, afterMs"],
])("a value that there can't be is refused by name: %j", async (options, message) => {
  const run = runTaskOnce(end, { payload: { how: "date" }, ...(options as object) });
  await expect(run).rejects.toThrow(message);
});

test("an unknown option is refused by name, of the run and of its interruption", async () => {
  const once = (options: object) => runTaskOnce(end, { payload: { how: "date" }, ...options });
  await expect(once({ atempt: 2 })).rejects.toThrow(
    "atempt: unknown option of runTaskOnce. Did you mean `attempt`?",
  );
  await expect(once({ interrupt: { as: "lost", after: 5 } })).rejects.toThrow(
    "after: unknown option of interrupt. Known are as, afterMs",
  );
});
