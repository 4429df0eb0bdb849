import { describe, expect, test } from "@jest/globals";
import { asFence } from "../../shared/core/ids";
import type { ClaimedTask } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  failure,
  idsOf,
  only,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { LogEntry, StoreSetup } from "../support/store-setup";
import { jsonOfBytes } from "./completion.contract";

/** Tasks that didn't end well, and the log of every attempt. */
export function describeFailures(setup: StoreSetup): void {
  describe("fail_tasks: failed", () => {
    describeRetry(setup);
  });
  describe("fail_tasks: dead, cancelled, continued", () => {
    describeOthers(setup);
  });
  describe("fail_tasks, a call of several", () => {
    describeBulk(setup);
  });
  describe("fail_tasks refuses", () => {
    describeBadFailures(setup);
  });
  describe("the execution log", () => {
    describeLog(setup);
  });
}

function describeRetry(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a failed task is scheduled again, counted, with its error and its attempt (S3.7)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const taskId = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const answer = await worker.fail([task], { retryInMs: 5_000, error: "no disk", durationMs: 7 });
    expect(answer).toEqual({
      opening: [],
      status: "done",
      results: [{ taskId, outcome: "retry", retryInMs: 5_000 }],
      woken: [],
      nextDueMs: 5_000,
    });
    expect(await factsOf(store, taskId)).toMatchObject({
      state: "scheduled",
      failedCount: 1,
      error: "no disk",
      attempts: [
        {
          fence: task.fence,
          worker: "worker-1",
          outcome: "failed",
          error: "no disk",
          durationMs: 7,
        },
      ],
    });
    expect(await worker.claim(1)).toEqual([]);
    await opened.advance(5_000);
    expect((await worker.claimOne()).attempt).toBe(2);
  });

  for (const { failed, least, max } of [
    { failed: 1, least: 500, max: 1_000 },
    { failed: 2, least: 1_000, max: 2_000 },
    { failed: 3, least: 2_000, max: 4_000 },
    { failed: 4, least: 2_500, max: 5_000 },
    { failed: 5, least: 2_500, max: 5_000 },
  ]) {
    test(`the back-off after failure ${String(failed)} is half fixed, half random: ${String(least)} to ${String(max)} ms`, async () => {
      const { store } = open();
      const settings = { limit: 100, retryBaseMs: 1_000, retryCapMs: 5_000, retryAttempts: 50 };
      const name = await define(store, settings);
      await enqueue(store, name, 30);
      const worker = await startWorker(store, name, { want: 100 });
      for (let round = 1; round < failed; round += 1) {
        await worker.fail(await worker.claim(30), { retryInMs: 0 });
      }
      const { results } = await worker.fail(await worker.claim(30));
      const waits = results.map((result) => result.retryInMs ?? -1);
      expect(waits).toHaveLength(30);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(least);
      expect(Math.max(...waits)).toBeLessThanOrEqual(max);
      expect(new Set(waits).size).toBeGreaterThan(5);
    });
  }

  test("a back-off of 0 comes back at once", async () => {
    const { store } = open();
    const name = await define(store, { retryBaseMs: 0, retryCapMs: 0 });
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const answer = await worker.fail([await worker.claimOne()]);
    expect(only(answer.results)).toMatchObject({ outcome: "retry", retryInMs: 0 });
    expect((await worker.claimOne()).attempt).toBe(2);
  });

  test("a failed task is dead after retryAttempts failures, with payload, error and history (S2.10)", async () => {
    const { store } = open();
    const name = await define(store, { retryAttempts: 3 });
    const taskId = await enqueueOne(store, name, { payload: '{"n":1}' });
    const worker = await startWorker(store, name);
    const outcomes: string[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const task = await worker.claimOne();
      const answer = await worker.fail([task], {
        retryInMs: 0,
        error: `failure ${String(attempt)}`,
      });
      outcomes.push(only(answer.results).outcome);
    }
    expect(outcomes).toEqual(["retry", "retry", "dead"]);
    const facts = await factsOf(store, taskId);
    expect(facts).toMatchObject({
      state: "dead",
      failedCount: 3,
      error: "failure 3",
      payload: '{"n":1}',
      worker: "worker-1",
    });
    expect(facts.attempts.map((entry) => entry.outcome)).toEqual(["failed", "failed", "failed"]);
    expect(await statusOf(store, name)).toMatchObject({ dead: 1, scheduled: 0, claimed: 0 });
  });

  test("the first failure is the last with retryAttempts 1", async () => {
    const { store } = open();
    const name = await define(store, { retryAttempts: 1 });
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const answer = await worker.fail([await worker.claimOne()]);
    expect(only(answer.results)).toMatchObject({ outcome: "dead", retryInMs: null });
    expect(answer.nextDueMs).toBeNull();
  });

  test("a failure that is told twice counts once: `again`", async () => {
    const { store } = open();
    const name = await define(store);
    const taskId = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    await worker.fail([task], { retryInMs: 1_000 });
    const answer = await worker.fail([task], { as: "dead", error: "other" });
    expect(only(answer.results)).toEqual({ taskId, outcome: "again", retryInMs: null });
    expect(await factsOf(store, taskId)).toMatchObject({
      state: "scheduled",
      failedCount: 1,
      error: "it broke",
    });
  });

  test("a repeated failure is `again` also after the task was claimed anew, whose claim isn't touched", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const old = await worker.claimOne();
    await worker.fail([old], { retryInMs: 0 });
    const fresh = await worker.claimOne();
    expect(only((await worker.fail([old])).results).outcome).toBe("again");
    expect(await stateOf(store, fresh.taskId)).toBe("claimed");
    expect((await worker.complete([fresh])).refused).toEqual([]);
  });

  test("the worker goes on with the next task after a failure (S3.7)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, prefetchMax: 0 });
    const [, second] = await enqueue(store, name, 2);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()]);
    expect((await worker.claimOne()).taskId).toBe(second);
  });
}

function describeOthers(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a task that is told dead is given up at once, with any number of attempts left", async () => {
    const { store } = open();
    const name = await define(store, { retryAttempts: 50 });
    const taskId = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const answer = await worker.fail([await worker.claimOne()], { as: "dead", error: "bad input" });
    expect(only(answer.results)).toEqual({ taskId, outcome: "dead", retryInMs: null });
    expect(await factsOf(store, taskId)).toMatchObject({
      state: "dead",
      failedCount: 1,
      error: "bad input",
      attempts: [{ outcome: "failed", error: "bad input" }],
    });
  });

  test("a task that is told cancelled ends so, uncounted", async () => {
    const { store } = open();
    const name = await define(store);
    const taskId = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const answer = await worker.fail([await worker.claimOne()], { as: "cancelled", error: null });
    expect(only(answer.results)).toEqual({ taskId, outcome: "cancelled", retryInMs: null });
    expect(await factsOf(store, taskId)).toMatchObject({
      state: "cancelled",
      failedCount: 0,
      attempts: [{ outcome: "cancelled" }],
    });
    expect((await statusOf(store, name)).cancelled).toBe(1);
  });

  test("a continued task comes back at once, uncounted, with its checkpoint", async () => {
    const { store } = open();
    const name = await define(store, { retryAttempts: 1 });
    const taskId = await enqueueOne(store, name, { payload: "{}" });
    const worker = await startWorker(store, name);
    const first = await worker.claimOne();
    const parts = { as: "continued", error: null, checkpoint: '{"row":500}' } as const;
    const answer = await worker.fail([first], parts);
    expect(only(answer.results)).toEqual({ taskId, outcome: "continued", retryInMs: 0 });
    const second = await worker.claimOne();
    expect(second).toMatchObject({ taskId, attempt: 1, checkpoint: '{"row":500}', payload: {} });
    expect(BigInt(second.fence)).toBeGreaterThan(BigInt(first.fence));
    expect(await factsOf(store, taskId)).toMatchObject({ failedCount: 0, continuedCount: 1 });
  });

  test("a continued task without a checkpoint keeps the one that it has; a failure keeps it, too", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "continued", checkpoint: "[1]" });
    await worker.fail([await worker.claimOne()], { as: "continued" });
    expect((await worker.claimOne()).checkpoint).toBe("[1]");
  });

  test("a failure's checkpoint isn't taken: only a continuation leaves one", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "continued", checkpoint: "[1]" });
    await worker.fail([await worker.claimOne()], { retryInMs: 0, checkpoint: "[2]" });
    expect((await worker.claimOne()).checkpoint).toBe("[1]");
  });

  test("a continued task may come later", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const answer = await worker.fail([await worker.claimOne()], {
      as: "continued",
      retryInMs: 3_000,
    });
    expect(answer.nextDueMs).toBe(3_000);
    expect(await worker.claim(1)).toEqual([]);
    await opened.advance(3_000);
    expect((await worker.claimOne()).attempt).toBe(1);
  });

  for (const { as, outcome } of [
    { as: "failed", outcome: "cancelled" },
    { as: "continued", outcome: "cancelled" },
    { as: "cancelled", outcome: "cancelled" },
    { as: "dead", outcome: "dead" },
  ] as const) {
    testWith(setup, "cancel requests")(
      `a cancel that was requested meanwhile: ${as} ends ${outcome}`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store);
        const taskId = await enqueueOne(store, name);
        const worker = await startWorker(store, name);
        const task = await worker.claimOne();
        await opened.requestCancel(taskId);
        const answer = await worker.fail([task], { as });
        expect(only(answer.results)).toEqual({ taskId, outcome, retryInMs: null });
        expect(await stateOf(store, taskId)).toBe(outcome);
      },
    );
  }

  testWith(setup, "cancel requests")("a completion wins over a cancel request", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const taskId = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    await opened.requestCancel(taskId);
    await worker.complete([task]);
    expect(await stateOf(store, taskId)).toBe("done");
  });
}

function describeBulk(setup: StoreSetup): void {
  const open = useStore(setup);

  test("results come in input order, each with its own outcome; nextDueMs is the earliest retry", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    await enqueue(store, name, 6);
    const worker = await startWorker(store, name, { want: 6 });
    const tasks = await worker.claim(6);
    const task = (index: number): ClaimedTask => at(tasks, index);
    const answer = await store.failTasks({
      executionId: worker.executionId,
      failures: [
        failure(task(5), { retryInMs: 9_000 }),
        failure(task(0), { as: "dead" }),
        failure(task(3), { fence: asFence("999999999") }),
        failure(task(2), { as: "continued", retryInMs: 4_000 }),
        failure(task(1), { as: "cancelled" }),
        failure(task(0), { as: "failed" }),
      ],
    });
    expect(answer.results).toEqual([
      { taskId: task(5).taskId, outcome: "retry", retryInMs: 9_000 },
      { taskId: task(0).taskId, outcome: "dead", retryInMs: null },
      { taskId: task(3).taskId, outcome: "fenced", retryInMs: null },
      { taskId: task(2).taskId, outcome: "continued", retryInMs: 4_000 },
      { taskId: task(1).taskId, outcome: "cancelled", retryInMs: null },
      { taskId: task(0).taskId, outcome: "again", retryInMs: null },
    ]);
    expect(answer.nextDueMs).toBe(4_000);
    expect(await stateOf(store, task(3).taskId)).toBe("claimed");
    expect(await stateOf(store, task(4).taskId)).toBe("claimed");
    expect((await worker.complete([task(3), task(4)])).refused).toEqual([]);
  });

  test("fail_tasks takes 1000 failures in one call", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1_000, prefetchMax: 0 });
    await enqueue(store, name, 1_000);
    const worker = await startWorker(store, name, { want: 1_000 });
    const answer = await worker.fail(await worker.claim(1_000), { retryInMs: 1_000 });
    expect(answer.results.every((result) => result.outcome === "retry")).toBe(true);
    expect((await statusOf(store, name)).scheduled).toBe(1_000);
  });

  test("another's claims are fenced one by one; an unknown execution is fenced as a whole", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const holder = await startWorker(store, name);
    const task = await holder.claimOne();
    const stranger = await startWorker(store, name);
    expect(only((await stranger.fail([task])).results).outcome).toBe("fenced");
    await stranger.finish();
    expect(await stranger.fail([task])).toMatchObject({ status: "fenced", results: [] });
    expect(await stateOf(store, task.taskId)).toBe("claimed");
  });
}

function describeBadFailures(setup: StoreSetup): void {
  const open = useStore(setup);

  test("fail_tasks refuses an empty list and more than 1000 entries", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const { executionId } = worker;
    for (const count of [0, 1_001]) {
      const failures = Array.from({ length: count }, () => failure(task));
      await expectError(store.failTasks({ executionId, failures }), {
        code: "TASKGATE_ARG_INVALID",
        field: "failures",
      });
    }
    expect(await stateOf(store, task.taskId)).toBe("claimed");
  });

  test("fail_tasks refuses a retryInMs below 0 or above 30 days, naming field and value; the ends are taken", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const [task, other] = await worker.claim(2);
    if (!task || !other) throw new Error("two tasks expected");
    for (const retryInMs of [-1, 2_592_000_001]) {
      await expectError(worker.fail([task], { retryInMs }), {
        code: "TASKGATE_ARG_INVALID",
        field: "retryInMs",
        value: retryInMs,
      });
    }
    const answer = await worker.fail([task], { retryInMs: 2_592_000_000 });
    expect(only(answer.results).retryInMs).toBe(2_592_000_000);
    expect(only((await worker.fail([other], { retryInMs: 0 })).results).retryInMs).toBe(0);
  });

  test("a checkpoint of 65,537 bytes, naming field and size; 65,536 are kept", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    for (const filler of ["a", "\u{1f680}"]) {
      await expectError(
        worker.fail([task], { as: "continued", checkpoint: jsonOfBytes(65_537, filler) }),
        { code: "TASKGATE_ARG_TOO_LARGE", field: "checkpoint", value: 65_537 },
      );
    }
    const fits = jsonOfBytes(65_536, "\u{1f680}");
    await worker.fail([task], { as: "continued", checkpoint: fits });
    expect((await worker.claimOne()).checkpoint).toBe(fits);
  });

  test("a checkpoint that isn't JSON text", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    for (const checkpoint of ["no json", "1,2", "", "{", "1],[2"]) {
      await expectError(worker.fail([task], { as: "continued", checkpoint }), {
        code: "TASKGATE_ARG_INVALID",
        field: "checkpoint",
      });
    }
    expect(await stateOf(store, task.taskId)).toBe("claimed");
  });

  test("one bad entry undoes the whole call", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const [first, second] = await worker.claim(2);
    if (!first || !second) throw new Error("two tasks expected");
    const failures = [failure(first), failure(second, { retryInMs: -1 })];
    await expectError(store.failTasks({ executionId: worker.executionId, failures }), {
      code: "TASKGATE_ARG_INVALID",
    });
    expect((await statusOf(store, name)).claimed).toBe(2);
    expect((await factsOf(store, first.taskId)).failedCount).toBe(0);
  });

  test("fail_tasks refuses no error text: a long one is cut to 4000 characters, and U+0000 and cut emoji don't lose the report", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 4 });
    const texts = ["e".repeat(5_000), "zero \u0000 inside", "cut \ud83d", "\u{1f680} whole"];
    for (const error of texts) {
      const task = await worker.claimOne();
      expect(only((await worker.fail([task], { error })).results).outcome).toBe("retry");
      const { error: kept } = await factsOf(store, task.taskId);
      expect(kept).toHaveLength(Math.min(error.length, 4_000));
      expect(kept?.slice(0, 3)).toBe(error.slice(0, 3));
    }
  });
}

/** An entry without what differs from run to run. */
function withoutTask(entry: LogEntry): Omit<LogEntry, "taskId" | "payload"> {
  const { kind, worker, outcome, error, durationMs, spanMs } = entry;
  return { kind, worker, outcome, error, durationMs, spanMs };
}

function describeLog(setup: StoreSetup): void {
  const open = useStore(setup);
  const logTest = testWith(setup, "execution log");

  testWith(
    setup,
    "execution log",
    "exact clock",
  )(
    "the execution log has one entry per attempt with kind, payload, worker, start, end, outcome and error (S3.5)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10, prefetchMax: 0, leaseMs: 60_000 });
      const tasks = ["a", "b", "c", "d", "e"].map((kind) => ({ kind, payload: `{"k":"${kind}"}` }));
      await enqueue(store, name, tasks);
      const worker = await startWorker(store, name, { want: 6, worker: "host-7" });
      const [first, second, third, fourth] = await worker.claim(5);
      if (!first || !second || !third || !fourth) throw new Error("five tasks expected");
      await opened.advance(1_000);
      await worker.work({ done: [done(first, { durationMs: 900 })] });
      await worker.fail([second], { error: "no disk", durationMs: 800, retryInMs: 60_000 });
      await worker.fail([third], {
        as: "continued",
        error: null,
        durationMs: 700,
        retryInMs: 60_000,
      });
      await worker.fail([fourth], { as: "cancelled", error: "stop", durationMs: null });
      const log = await opened.readLog(name);
      expect(log.map(withoutTask)).toEqual([
        { kind: "a", worker: "host-7", outcome: "done", error: null, durationMs: 900, spanMs: 900 },
        {
          kind: "b",
          worker: "host-7",
          outcome: "failed",
          error: "no disk",
          durationMs: 800,
          spanMs: 800,
        },
        {
          kind: "c",
          worker: "host-7",
          outcome: "continued",
          error: null,
          durationMs: 700,
          spanMs: 700,
        },
        {
          kind: "d",
          worker: "host-7",
          outcome: "cancelled",
          error: "stop",
          durationMs: null,
          spanMs: 1_000,
        },
        {
          kind: "e",
          worker: "host-7",
          outcome: "running",
          error: null,
          durationMs: null,
          spanMs: null,
        },
      ]);
      expect(log.map((entry) => entry.payload)).toEqual(tasks.map((task) => task.payload));
    },
  );

  logTest(
    "an attempt's entry is there while the task runs; a prefetched claim says prefetched (S3.5)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, prefetchMax: 1 });
      const ids = await enqueue(store, name, 2);
      const worker = await startWorker(store, name);
      await worker.claim(2);
      const outcomes = async () =>
        (await opened.readLog(name)).map((entry) => `${entry.taskId} ${entry.outcome}`);
      const [one = "", two = ""] = ids;
      expect(await outcomes()).toEqual([`${one} running`, `${two} prefetched`]);
      await worker.complete((await worker.again()).claimed.slice(0, 1));
      await worker.work({ started: [at(ids, 1)] });
      expect(await outcomes()).toEqual([`${one} done`, `${two} running`]);
    },
  );

  logTest(
    "every try of one task has its entry, a lost one as well; one that was given back has none",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, leaseMs: 10_000 });
      await enqueue(store, name, 1);
      const first = await startWorker(store, name, { worker: "one" });
      await first.fail([await first.claimOne()], { retryInMs: 0 });
      await first.claimOne();
      await first.finish();
      const second = await startWorker(store, name, { worker: "two" });
      await second.claimOne();
      await opened.advance(10_001);
      await store.reclaimExpired({ max: 10 });
      const third = await startWorker(store, name, { worker: "three" });
      await third.complete([await third.claimOne()]);
      const log = await opened.readLog(name);
      expect(log.map((entry) => `${String(entry.worker)} ${entry.outcome}`)).toEqual([
        "one failed",
        "two lost",
        "three done",
      ]);
      expect(idsOf(log)).toHaveLength(3);
    },
  );
}
