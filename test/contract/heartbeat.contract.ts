import { describe, expect, test } from "@jest/globals";
import { asExecutionId, asTaskId } from "../../shared/core/ids";
import type { TaskId } from "../../shared/core/ids";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  only,
  startWorker,
  tryStart,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Staying alive, and telling people how far a task is. */
export function describeHeartbeat(setup: StoreSetup): void {
  describe("heartbeat", () => {
    describeBeat(setup);
  });
  describe("report_progress", () => {
    describeProgress(setup);
  });
  describe("heartbeat of several executions", () => {
    describeSeveral(setup);
  });
}

function describeBeat(setup: StoreSetup): void {
  const open = useStore(setup);

  test("heartbeat renews an execution, whose lease begins anew", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    const worker = await startWorker(store, name);
    await opened.advance(7_000);
    expect(await worker.beat()).toEqual({
      executionId: worker.executionId,
      status: "renewed",
      leaseMs: 10_000,
      tokens: 1,
      claims: 0,
      cancel: [],
      overLimit: 0,
      releaseRequested: false,
      isPaused: false,
    });
    await opened.advance(9_000);
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("one call renews all executions of a process and tells of each by itself", async () => {
    const opened = open();
    const { store } = opened;
    const first = await define(store, { leaseMs: 10_000 });
    const second = await define(store, { leaseMs: 20_000 });
    const one = await startWorker(store, first);
    const two = await startWorker(store, second);
    const over = await startWorker(store, second);
    await over.finish();
    await store.pauseDefinition({ name: second, changedBy: "an operator" });
    const unknown = asExecutionId("999999999");
    const ids = [over.executionId, unknown, two.executionId, one.executionId];
    const { executions } = await store.heartbeat({
      executions: ids.map((executionId) => ({ executionId, started: [] })),
    });
    const byId = new Map(executions.map((entry) => [entry.executionId, entry]));
    expect(byId.size).toBe(4);
    expect(byId.get(one.executionId)).toMatchObject({
      status: "renewed",
      leaseMs: 10_000,
      isPaused: false,
    });
    expect(byId.get(two.executionId)).toMatchObject({
      status: "renewed",
      leaseMs: 20_000,
      isPaused: true,
    });
    expect(byId.get(over.executionId)).toMatchObject({ status: "ended", leaseMs: null });
    expect(byId.get(unknown)).toMatchObject({ status: "fenced", leaseMs: null });
  });

  testWith(setup, "cancel requests")(
    "heartbeat tells which of the execution's tasks are to be cancelled",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 3 });
      const ids = await enqueue(store, name, 3);
      const worker = await startWorker(store, name, { want: 3 });
      await worker.claim(3);
      await opened.requestCancel(at(ids, 2));
      await opened.requestCancel(at(ids, 0));
      const { cancel } = await worker.beat();
      expect([...cancel].sort()).toEqual([at(ids, 0), at(ids, 2)].sort());
    },
  );

  test("a started claim that is reported twice, or isn't held, does no harm", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, prefetchMax: 1 });
    const ids = await enqueue(store, name, 2);
    const worker = await startWorker(store, name);
    const [first] = await worker.claim(2);
    if (first === undefined) throw new Error("nothing claimed");
    await worker.complete([first]);
    const stranger = await enqueueOne(store, name);
    expect((await worker.beat([at(ids, 1), stranger])).status).toBe("renewed");
    expect((await worker.beat([at(ids, 1)])).status).toBe("renewed");
    const entry = only((await store.listExecutions({ name, isOpen: true, max: 5 })).executions);
    expect(entry).toMatchObject({ claimed: 1, running: 1, prefetched: 0 });
  });

  test("an id that is no number is refused, naming its entry", async () => {
    const { store } = open();
    const [good, bad] = [asExecutionId("1"), asExecutionId("nobody")];
    const beat = { executionId: good, started: [] };
    await expectError(store.heartbeat({ executions: [beat, { executionId: bad, started: [] }] }), {
      code: "TASKGATE_ARG_INVALID",
      field: "executions\\[1\\]\\.execution",
      value: "nobody",
    });
    const started = [asTaskId("2"), asTaskId("nothing")];
    await expectError(store.heartbeat({ executions: [{ executionId: good, started }] }), {
      code: "TASKGATE_ARG_INVALID",
      field: "executions\\[0\\]\\.started",
      value: "nothing",
    });
  });

  test("heartbeat takes 1 to 1000 executions; none and 1001 are refused", async () => {
    const { store } = open();
    const name = await define(store);
    const { executionId } = await startWorker(store, name);
    for (const count of [0, 1_001]) {
      const executions = Array.from({ length: count }, () => ({ executionId, started: [] }));
      await expectError(store.heartbeat({ executions }), {
        code: "TASKGATE_ARG_INVALID",
        field: "executions",
      });
    }
    const many = Array.from({ length: 999 }, (_, index) => ({
      executionId: asExecutionId(String(900_000_000 + index)),
      started: [],
    }));
    const answer = await store.heartbeat({ executions: [{ executionId, started: [] }, ...many] });
    expect(answer.executions).toHaveLength(1_000);
    expect(answer.executions.filter((entry) => entry.status === "renewed")).toHaveLength(1);
  });
}

function describeProgress(setup: StoreSetup): void {
  const open = useStore(setup);

  test("report_progress keeps the last report", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const { taskId, fence } = await worker.claimOne();
    const report = { executionId: worker.executionId, taskId, fence };
    const answer = await store.reportProgress({ ...report, done: 1, total: 10, text: "rows" });
    expect(answer).toEqual({ status: "done", isCancelRequested: false });
    expect((await factsOf(store, taskId)).progress).toEqual({ done: 1, total: 10, text: "rows" });
    await store.reportProgress({ ...report, done: 5, total: null, text: null });
    expect((await factsOf(store, taskId)).progress).toEqual({ done: 5, total: null, text: null });
  });

  test("report_progress takes numbers beyond 32 bits, and cuts the text to 400 characters", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const { taskId, fence } = await worker.claimOne();
    const total = Number.MAX_SAFE_INTEGER;
    const report = { executionId: worker.executionId, taskId, fence, done: 0, total };
    await store.reportProgress({ ...report, text: "t".repeat(500) });
    expect((await factsOf(store, taskId)).progress).toEqual({
      done: 0,
      total,
      text: "t".repeat(400),
    });
  });

  test("U+0000 and cut emoji in the text don't lose the report", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const { taskId, fence } = await worker.claimOne();
    const report = { executionId: worker.executionId, taskId, fence, done: 1, total: 2 };
    for (const text of ["zero \u0000 inside", "cut \ud83d"]) {
      expect((await store.reportProgress({ ...report, text })).status).toBe("done");
    }
  });

  testWith(setup, "cancel requests")(
    "report_progress tells that the task is to be cancelled",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, 1);
      const worker = await startWorker(store, name);
      const { taskId, fence } = await worker.claimOne();
      await opened.requestCancel(taskId);
      const report = {
        executionId: worker.executionId,
        taskId,
        fence,
        done: 1,
        total: 1,
        text: null,
      };
      expect((await store.reportProgress(report)).isCancelRequested).toBe(true);
    },
  );

  test("report_progress is fenced for another's task, or one that ended", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const stranger = await startWorker(store, name);
    const task = await worker.claimOne();
    const report = { taskId: task.taskId, fence: task.fence, done: 1, total: 1, text: null };
    const fenced = { status: "fenced", isCancelRequested: false };
    expect(await store.reportProgress({ ...report, executionId: stranger.executionId })).toEqual(
      fenced,
    );
    await worker.complete([task]);
    expect(await store.reportProgress({ ...report, executionId: worker.executionId })).toEqual(
      fenced,
    );
  });

  test("report_progress is fenced under a fence of an earlier claim, or another task's", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await enqueue(store, name, 2);
    const worker = await startWorker(store, name);
    const { executionId } = worker;
    const old = await worker.claimOne();
    await worker.fail([old], { retryInMs: 0 });
    const { taskId, fence } = await worker.claimOne();
    expect(taskId).toBe(old.taskId);
    const report = { executionId, taskId, fence, done: 1, total: 2, text: "new" };
    const other = { ...report, taskId: at(ids, 1) };
    for (const late of [{ ...report, fence: old.fence, text: "old" }, other]) {
      expect((await store.reportProgress(late)).status).toBe("fenced");
    }
    expect((await factsOf(store, taskId)).progress).toBeNull();
    expect((await store.reportProgress(report)).status).toBe("done");
  });

  test("report_progress refuses negative numbers, naming field and value", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const { taskId, fence } = await worker.claimOne();
    const report = { executionId: worker.executionId, taskId, fence, text: null };
    await expectError(store.reportProgress({ ...report, done: -1, total: 2 }), {
      code: "TASKGATE_ARG_INVALID",
      field: "done",
      value: -1,
    });
    await expectError(store.reportProgress({ ...report, done: 1, total: -2 }), {
      code: "TASKGATE_ARG_INVALID",
      value: -2,
    });
  });
}

function describeSeveral(setup: StoreSetup): void {
  const open = useStore(setup);

  const beat = (workers: readonly Worker[], started: readonly (readonly TaskId[])[] = []) =>
    at(workers, 0).store.heartbeat({
      executions: workers.map(({ executionId }, index) => ({
        executionId,
        started: started[index] ?? [],
      })),
    });

  test("heartbeat renews each execution for as long as its own definition says", async () => {
    const opened = open();
    const { store } = opened;
    const long = await define(store, { limit: 1, leaseMs: 40_000 });
    const short = await define(store, { limit: 1, leaseMs: 10_000 });
    const workers = [await startWorker(store, short), await startWorker(store, long)];
    await opened.advance(5_000);
    await beat(workers);
    await opened.advance(20_000);
    expect(await tryStart(store, long)).toBe("limited");
    expect(await tryStart(store, short)).toBe("started");
  });

  test("answers come by execution, in any order of the call", async () => {
    const { store } = open();
    const name = await define(store);
    const workers: Worker[] = [];
    for (let count = 0; count < 3; count += 1) workers.push(await startWorker(store, name));
    const ids = workers.map((worker) => worker.executionId);
    const { executions } = await beat([at(workers, 2), at(workers, 0), at(workers, 1)]);
    expect(executions.map((entry) => entry.executionId)).toEqual(ids);
  });

  test("a claim that another execution calls started stays prefetched", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, prefetchMax: 2 });
    await enqueue(store, name, 6);
    const workers = [await startWorker(store, name), await startWorker(store, name)];
    const prefetched: TaskId[][] = [];
    for (const worker of workers) prefetched.push(idsOf(await worker.claim(3)).slice(1));
    const [mine, theirs] = [at(prefetched, 0), at(prefetched, 1)];
    await beat(workers, [[at(mine, 0), at(theirs, 0)], [at(theirs, 1)]]);
    const isPrefetched = async (taskId: TaskId) =>
      (await factsOf(store, taskId)).claim?.isPrefetched;
    expect(await isPrefetched(at(mine, 0))).toBe(false);
    expect(await isPrefetched(at(mine, 1))).toBe(true);
    expect(await isPrefetched(at(theirs, 0))).toBe(true);
    expect(await isPrefetched(at(theirs, 1))).toBe(false);
  });

  test("a dead one's claims stay as they were, also when it calls beside a living one", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, prefetchMax: 1, leaseMs: 10_000 });
    await enqueue(store, name, 4);
    const late = await startWorker(store, name);
    const lateSpare = at(await late.claim(2), 1).taskId;
    const live = await startWorker(store, name);
    const liveSpare = at(await live.claim(2), 1).taskId;
    await opened.advance(6_000);
    await live.beat();
    await opened.advance(6_000);
    expect(await tryStart(store, name)).toBe("started");
    const { executions } = await beat([late, live], [[lateSpare], [liveSpare]]);
    expect(executions.map((entry) => entry.status)).toEqual(["fenced", "renewed"]);
    expect(await store.reclaimExpired({ max: 10 })).toMatchObject({ tasksBack: 2, tasksLost: 1 });
    expect((await factsOf(store, liveSpare)).claim?.isPrefetched).toBe(false);
  });

  testWith(setup, "cancel requests")(
    "heartbeat tells each execution which of its own tasks are to be cancelled, by id",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      const ids = await enqueue(store, name, 5);
      const first = await startWorker(store, name, { want: 3 });
      await first.claim(3);
      const second = await startWorker(store, name, { want: 2 });
      await second.claim(1);
      const third = await startWorker(store, name);
      await third.claim(1);
      for (const index of [2, 3, 0]) await opened.requestCancel(at(ids, index));
      const { executions } = await beat([first, second, third]);
      expect(executions.map((entry) => entry.cancel)).toEqual([
        [at(ids, 0), at(ids, 2)],
        [at(ids, 3)],
        [],
      ]);
    },
  );
}
