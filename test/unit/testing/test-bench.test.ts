import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { asOperationId } from "../../../shared/core/ids";
import { sleep } from "../../../shared/platform/real-clock";
import type { Rate } from "../../../shared/core/rate";
import type { StoreTransaction } from "../../../shared/ports/task-store";
import { TestBench } from "../../../shared/testing";
import { defineQueue } from "../../../shared/worker/define/define-queue";
import { defineTask } from "../../../shared/worker/define/define-task";
import { taskRequest, taskRef } from "../../../shared/worker/define/task-ref";

/* A whole Taskgate in memory: order, limits, time as the test moves it, deaths, and bounds against endless tests. */
afterEach(() => {
  jest.useRealTimers();
});

const order: string[] = [];
const note = defineTask<{ name: string }>({
  name: "note",
  run: async ({ name }) => void order.push(name),
});

describe("drain", () => {
  test("drain runs in the order of claims, one after the other, and says how many", async () => {
    order.length = 0;
    const bench = new TestBench([note]);
    await bench.enqueueAll([
      taskRequest(note, { name: "third" }, { priority: 200 }),
      taskRequest(note, { name: "first" }),
      taskRequest(note, { name: "second" }),
    ]);
    expect(await bench.drain()).toEqual({ ran: 3 });
    expect(order).toEqual(["first", "second", "third"]);
    expect(await bench.drain()).toEqual({ ran: 0 });
    expect(await bench.store.checkInvariants()).toMatchObject({ status: "sound" });
  });

  test("drain runs as many tasks at a time as asked for, within the limit", async () => {
    let running = 0;
    let max = 0;
    const wide = defineTask({
      name: "wide",
      limit: 3,
      run: async () => {
        max = Math.max(max, (running += 1));
        await sleep(2);
        running -= 1;
      },
    });
    const bench = new TestBench([wide], { concurrency: 8 });
    await bench.enqueueAll(Array.from({ length: 12 }, () => taskRequest(wide)));
    await bench.drain();
    expect(max).toBe(3);
  });

  test("children run in the same drain; those of other code wait", async () => {
    const parent = defineTask({
      name: "parent",
      run: async (_, ctx) => {
        await ctx.enqueue(note, { name: "child" });
        await ctx.enqueue(taskRef({ name: "elsewhere" }));
      },
    });
    const bench = new TestBench([parent, note], {
      others: ["elsewhere", defineQueue({ name: "further" })],
    });
    await bench.enqueue(parent);
    expect(await bench.drain()).toEqual({ ran: 2 });
    expect(await bench.tasks({ state: "ready" })).toMatchObject([{ kind: "elsewhere" }]);
    expect(bench.hints.map((hint) => hint.definition)).toContain("elsewhere");
  });

  test("tasks that add each other for ever end the test with a sentence", async () => {
    const endless = defineTask({
      name: "endless",
      run: async (_, ctx) => ctx.enqueue(taskRef({ name: "endless" })),
    });
    const bench = new TestBench([endless]);
    await bench.enqueue(endless);
    await expect(bench.drain({ maxRuns: 20 })).rejects.toThrow(
      "drain: more than 20 handlers were started, the last of kind `endless`",
    );
    const part = defineTask({ name: "part", run: async (_, ctx) => ctx.checkpoint(1) });
    const other = new TestBench([part]);
    await other.enqueue(part);
    await expect(other.drain({ maxRuns: 20 })).rejects.toThrow("kind `part`");
  });

  test("a runner's fake timers don't stop it", async () => {
    jest.useFakeTimers();
    const bench = new TestBench([note]);
    await bench.enqueue(note, { name: "a" });
    expect(await bench.drain()).toEqual({ ran: 1 });
  });
});

describe("time", () => {
  const flaky = defineTask({
    name: "flaky",
    retry: { attempts: 4, baseMs: 1_000, capMs: 1_000_000 },
    run: async () => Promise.reject(new Error("not yet")),
  });

  test("retries happen when the clock is moved, by the definition's back-off", async () => {
    const bench = new TestBench([flaky], { startAt: new Date("2031-05-06T07:08:09Z") });
    await bench.enqueue(flaky);
    expect(await bench.drain()).toEqual({ ran: 1 });
    expect(await bench.drain()).toEqual({ ran: 0 });
    bench.advance(1_000);
    expect(await bench.drain()).toEqual({ ran: 1 });
    expect(bench.now().toISOString()).toBe("2031-05-06T07:08:10.000Z");
    const settled = await bench.settle();
    expect(settled.ran).toBe(2);
    // 2 s and 4 s, half of each random.
    expect(settled.movedMs).toBeGreaterThanOrEqual(3_000);
    expect(settled.movedMs).toBeLessThanOrEqual(6_000);
    const [dead] = await bench.deadLetters();
    expect(dead?.attempts.map((attempt) => attempt.outcome)).toEqual(Array(4).fill("failed"));
    expect(dead?.error).toMatch(/^Error: not yet/);
  });

  test("the same seed gives the same pauses, another one others", async () => {
    const pauses = async (seed: number): Promise<number> => {
      const bench = new TestBench([flaky], { seed });
      await bench.enqueue(flaky);
      return (await bench.settle()).movedMs;
    };
    expect(await pauses(5)).toBe(await pauses(5));
    expect(await pauses(5)).not.toBe(await pauses(6));
  });

  test("settle leaves tasks that are due later than asked, and paused ones", async () => {
    const bench = new TestBench([note]);
    await bench.enqueue(note, { name: "far" }, { runInMs: 48 * 3_600_000 });
    expect(await bench.settle()).toEqual({ ran: 0, movedMs: 0 });
    await bench.store.pauseDefinition({ name: "note", changedBy: "test" });
    expect(await bench.settle({ maxMs: 72 * 3_600_000 })).toMatchObject({ ran: 0 });
    await bench.store.resumeDefinition({ name: "note", changedBy: "test" });
    expect(await bench.settle()).toMatchObject({ ran: 1 });
  });
});

describe("settle", () => {
  const rated = (rate: Rate, limit: number | null = null) =>
    defineTask({ name: "rated", limit, rate, run: async () => undefined });
  const slow = rated({ count: 2, periodMs: 10_000, burst: 2 });
  const five = [null, null, null, null, null];

  test("settle moves from permit to permit of a rate, and no further than the last one", async () => {
    const bench = new TestBench([slow]);
    await bench.enqueueMany(slow, five);
    expect(await bench.drain()).toEqual({ ran: 2 });
    expect(await bench.settle()).toEqual({ ran: 3, movedMs: 15_000 });
  });

  test("a rate whose permits come quickly is waited for by the bench's clock, not by a worker", async () => {
    const quick = rated({ count: 10, periodMs: 1_000, burst: 1 });
    const bench = new TestBench([quick]);
    await bench.enqueueMany(quick, five);
    expect(await bench.drain()).toEqual({ ran: 1 });
    expect(await bench.settle()).toEqual({ ran: 4, movedMs: 400 });
  });

  test("settle keeps its bounds for permits, too", async () => {
    const bench = new TestBench([slow]);
    await bench.enqueueMany(slow, five);
    expect(await bench.settle({ maxMs: 12_000 })).toEqual({ ran: 4, movedMs: 10_000 });
    await bench.enqueueMany(slow, five);
    await expect(bench.settle({ maxRuns: 3 })).rejects.toThrow("handlers were started");
  });

  test("settle moves over the lease of a worker that died, for its task and those behind its token", async () => {
    const names: string[] = [];
    const alone = defineTask<{ name: string }>({
      name: "alone",
      prefetch: 0,
      run: async ({ name }) => void names.push(name),
    });
    const bench = new TestBench([alone]);
    bench.crashBeforeCompletion(alone);
    await bench.enqueueMany(alone, [{ name: "a" }, { name: "b" }]);
    expect(await bench.settle()).toEqual({ ran: 3, movedMs: 60_001 });
    expect(names).toEqual(["a", "a", "b"]);
    expect(await bench.tasks()).toMatchObject([{ state: "done", lostCount: 1 }, { state: "done" }]);
  });

  test.each(["throws", "keeps a checkpoint"])(
    "a worker that is to die before it is heard dies where its handler %s, too",
    async (how) => {
      let runs = 0;
      const kind = defineTask({
        name: "dying",
        run: async (_, ctx) => {
          runs += 1;
          if (runs > 1) return;
          if (how === "throws") throw new Error("x");
          return ctx.checkpoint({ at: 1 });
        },
      });
      const bench = new TestBench([kind]);
      await bench.enqueue(kind, {});
      bench.crashBeforeCompletion(kind);
      await bench.drain();
      expect(runs).toBe(1);
      expect(await bench.tasks()).toMatchObject([{ state: "claimed", failedCount: 0 }]);
      await bench.settle();
      expect(await bench.tasks()).toMatchObject([{ state: "done", failedCount: 0, lostCount: 1 }]);
    },
  );

  test("a wave that a call to the store has begun to open is opened to its end, as by a sweep", async () => {
    const bench = new TestBench([note]);
    const { batchId, waveIds } = await bench.store.createBatch({
      ...{ name: "many", waves: 1, failurePolicy: "continue" },
      operationId: asOperationId("00000000-0000-4000-8000-000000000001"),
    });
    const many = Array.from({ length: 450 }, (_, place) => ({ name: String(place) }));
    const [wave] = waveIds;
    if (wave === undefined) throw new Error("no wave");
    await bench.enqueueMany(note, many, { wave });
    await bench.store.startBatch({ batchId, seal: true });
    expect(await bench.settle()).toMatchObject({ ran: 450 });
  });

  test("a pause and a limit of 0 end it, without a move to a permit that nobody would take", async () => {
    const bench = new TestBench([slow]);
    await bench.enqueueMany(slow, five);
    await bench.drain();
    await bench.store.pauseDefinition({ name: "rated", changedBy: "test" });
    expect(await bench.settle()).toEqual({ ran: 0, movedMs: 0 });
    const none = rated({ count: 2, periodMs: 10_000, burst: 2 }, 0);
    const other = new TestBench([none]);
    await other.enqueueMany(none, five);
    expect(await other.settle()).toEqual({ ran: 0, movedMs: 0 });
  });

  test("a paused task that is due doesn't end it for others", async () => {
    const bench = new TestBench([note, slow]);
    await bench.enqueue(note, { name: "later" }, { runInMs: 1_000 });
    await bench.store.pauseDefinition({ name: "note", changedBy: "test" });
    await bench.enqueue(slow, undefined, { runInMs: 2_000 });
    expect(await bench.settle()).toEqual({ ran: 1, movedMs: 2_000 });
  });
});

describe("schedules", () => {
  const daily = defineTask<{ scheduledFor: string }>({
    name: "daily",
    schedule: { cron: "@daily", missed: "all" },
    run: async () => undefined,
  });

  test("schedules count from the bench's start, also when the clock is moved before the first call", async () => {
    const bench = new TestBench([daily]);
    bench.advance(2 * 86_400_000);
    expect(await bench.drain()).toEqual({ ran: 2 });
    expect((await bench.tasks()).map((task) => task.payload)).toEqual([
      { scheduledFor: "2030-01-02T00:00:00.000Z" },
      { scheduledFor: "2030-01-03T00:00:00.000Z" },
    ]);
    expect(bench.now().toISOString()).toBe("2030-01-03T00:00:00.000Z");
  });

  test("a task of the first call is enqueued where the clock stands, also beside another call", async () => {
    const bench = new TestBench([daily, note]);
    bench.advance(5_000);
    const inMs = { runInMs: 1_000 };
    await Promise.all([
      bench.enqueue(note, { name: "a" }, inMs),
      bench.enqueue(note, { name: "b" }, inMs),
    ]);
    expect(await bench.tasks()).toMatchObject([{ dueInMs: 1_000 }, { dueInMs: 1_000 }]);
  });
});

describe("deaths", () => {
  test("the work of a dead worker's handler stays done; the task runs again after the lease, counted as lost", async () => {
    order.length = 0;
    const bench = new TestBench([note]);
    await bench.enqueue(note, { name: "twice" });
    bench.crashBeforeCompletion(note);
    await bench.drain();
    expect(await bench.tasks()).toMatchObject([{ state: "claimed" }]);
    bench.advance(60_001);
    await bench.drain();
    expect(order).toEqual(["twice", "twice"]);
    expect(await bench.tasks()).toMatchObject([{ state: "done", lostCount: 1, failedCount: 0 }]);
  });
});

test("a transaction that was kept takes nothing more once its completion has ended it", async () => {
  let refused: unknown;
  const late = defineTask({
    name: "late",
    run: async (_, ctx) => {
      let kept: StoreTransaction | undefined;
      await ctx.completeWith(async (tx) => void (kept = tx));
      refused = await kept?.query("select 1").catch((error: unknown) => error);
    },
  });
  const bench = new TestBench([late], { sql: () => [{ a: 1 }] });
  await bench.enqueue(late);
  await bench.drain();
  expect(refused).toMatchObject({
    code: "TASKGATE_STORE_CONTEXT",
    message: "The transaction is over: its completion has ended it",
  });
  expect(bench.statements).toEqual([]);
  expect(await bench.tasks()).toMatchObject([{ state: "done" }]);
});

test("two benches share nothing", async () => {
  const first = new TestBench([note]);
  await first.enqueue(note, { name: "a" });
  expect(await new TestBench([note]).tasks()).toEqual([]);
  expect(await first.tasks({ kind: "note" })).toHaveLength(1);
});

test("an unknown option is refused by name, of the bench and of its calls", async () => {
  const bench = new TestBench([note]);
  const refused = (name: string, where: string) => `${name}: unknown option of ${where}.`;
  expect(() => new TestBench([note], { seeds: 4 } as object)).toThrow(
    refused("seeds", "TestBench"),
  );
  await expect(bench.drain({ maxRun: 4 } as object)).rejects.toThrow(refused("maxRun", "drain"));
  await expect(bench.settle({ maxMS: 4 } as object)).rejects.toThrow(refused("maxMS", "settle"));
  await expect(bench.tasks({ status: "done" } as object)).rejects.toThrow(
    refused("status", "tasks"),
  );
});

test("an instant, a time and a kind that there can't be are refused by name", () => {
  const bench = new TestBench([note]);
  const startAt = new Date(Number.NaN);
  expect(() => new TestBench([note], { startAt })).toThrow("startAt: expected an instant");
  for (const ms of [Number.NaN, -1, Number.POSITIVE_INFINITY])
    expect(() => {
      bench.advance(ms);
    }).toThrow("ms: expected a number in 0..3153600000000");
  expect(() => {
    bench.crashBeforeCompletion("notes");
  }).toThrow('kind: expected one of the bench\'s: note (the text "notes")');
});

test.each([
  [{ concurrency: 0 }, "concurrency: expected a whole number in 1..1000 (0)"],
  [{ seed: "1" }, "seed: expected a whole number in"],
  [{ others: "note" }, "others: expected a list of names of definitions"],
  [{ sql: {} }, "sql: expected a function (an object)"],
])("a value that there can't be is refused where the bench is made: %j", (options, message) => {
  expect(() => new TestBench([note], options as object)).toThrow(message);
});

test("a bound, a state and a kind that there can't be are refused by the call", async () => {
  const bench = new TestBench([note]);
  await expect(bench.settle({ maxMs: -1 })).rejects.toThrow("maxMs: expected a number in 0..");
  await expect(bench.settle({ maxRuns: 0.5 })).rejects.toThrow("maxRuns: expected a whole number");
  await expect(bench.drain({ maxRuns: Number.NaN })).rejects.toThrow("maxRuns: expected");
  expect(await bench.drain({ maxRuns: 0 })).toEqual({ ran: 0 });
  await expect(bench.tasks({ state: "finished" } as object)).rejects.toThrow(
    "state: expected one of blocked, ready, scheduled, waiting, claimed, done, dead, cancelled",
  );
  await expect(bench.tasks({ kind: "notes" })).rejects.toThrow(
    'kind: expected one of the bench\'s: note (the text "notes")',
  );
  await expect(bench.tasks({ kind: 7 } as object)).rejects.toThrow(
    "kind: expected what defineTask returns, or its name (7)",
  );
  expect(await bench.tasks({ kind: "note", state: "blocked" })).toEqual([]);
});

test("a kind of other code may have no tasks yet, and one that no code here has may have some", async () => {
  const other = new TestBench([note], { others: ["imports"] });
  expect(await other.tasks({ kind: "load" })).toEqual([]);
  const bench = new TestBench([note]);
  await bench.enqueue(note, { name: "a" });
  const tasks = [{ kind: "later", payload: null }];
  await bench.store.enqueueTasks({ name: "note", build: 1, operationId: null, tasks });
  expect(await bench.tasks({ kind: "later" })).toHaveLength(1);
});
