import { describe, expect, test } from "@jest/globals";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  idsOf,
  only,
  startWorker,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** When `work` tells that it is worth while to ask again: for the next task that is due, and for the next permit of a rate. */
export function describeNextDue(setup: StoreSetup): void {
  describe("work's next due task", () => {
    describeDue(setup);
  });
  describe("work's next due task beside one that was lost twice", () => {
    describeSolo(setup);
  });
}

const laterMs = 9_000;

async function dueOf(worker: Worker, input: Parameters<Worker["work"]>[0]) {
  const { nextDueMs } = await worker.work(input);
  return nextDueMs;
}

function describeDue(setup: StoreSetup): void {
  const open = useStore(setup);
  const exact = testWith(setup, "exact clock");

  exact(
    "work tells no next due task where it could claim none: paused, or without a token",
    async () => {
      const { store } = open();
      const name = await define(store, { limit: 1, prefetchMax: 0 });
      await enqueue(store, name, [{}, {}, { runInMs: laterMs }]);
      const worker = await startWorker(store, name);
      const first = await worker.claimOne();
      expect(await worker.work({ want: 1 })).toMatchObject({ status: "limited", nextDueMs: null });
      expect(await worker.complete([first])).toMatchObject({ status: "done", nextDueMs: null });
      const second = await worker.claimOne();
      await store.pauseDefinition({ name, changedBy: "an operator" });
      const paused = await worker.complete([second], 1);
      expect(paused).toMatchObject({ status: "paused", nextDueMs: null });
    },
  );

  exact(
    "work tells the next due task to an execution that holds others, and finds none",
    async () => {
      const { store } = open();
      const name = await define(store, { limit: 3, prefetchMax: 0 });
      await enqueue(store, name, [{}, {}, { runInMs: laterMs }]);
      const worker = await startWorker(store, name, { want: 3 });
      const claimed = await worker.claim(2);
      const answer = await worker.complete([at(claimed, 0)], 2);
      expect(answer).toMatchObject({ status: "none", nextDueMs: laterMs });
    },
  );

  exact("work tells no next due task where the rate allows none", async () => {
    const { store } = open();
    const rate = { count: 10, periodMs: 1_000, burst: 1 };
    const name = await define(store, { limit: 5, prefetchMax: 0, rate });
    await enqueue(store, name, [{}, {}, { runInMs: laterMs }]);
    const worker = await startWorker(store, name, { want: 3, needsReady: true });
    const claimed = await worker.claim(1);
    const answer = await worker.complete(claimed, 3);
    expect(answer).toMatchObject({ status: "limited", retryInMs: 100, nextDueMs: null });
  });

  exact("work tells no next permit where fewer tasks are ready than the rate allows", async () => {
    const { store } = open();
    const rate = { count: 10, periodMs: 1_000, burst: 3 };
    const name = await define(store, { limit: 5, prefetchMax: 9, rate });
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 5, needsReady: true });
    const answer = await worker.work({ want: 5 });
    expect(answer.claimed).toHaveLength(2);
    expect(answer.retryInMs).toBeNull();
  });

  exact("work tells the next due task behind those that it has made ready", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    await enqueue(store, name, [{ runInMs: 1_000 }, { runInMs: 1_000 + laterMs }]);
    const worker = await startWorker(store, name, { want: 2 });
    await opened.advance(1_000);
    const answer = await worker.work({ want: 2 });
    expect(answer.claimed).toHaveLength(1);
    expect(answer.nextDueMs).toBe(laterMs);
  });

  for (const [count, told] of [
    [127, null],
    [128, laterMs],
  ] as const)
    exact(
      `work that claims all it wants tells ${String(told)} after it made ${String(count)} due tasks ready`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { limit: 5 });
        const due = Array.from({ length: count }, () => ({ runInMs: 1_000 }));
        await enqueue(store, name, [...due, { runInMs: 1_000 + laterMs }]);
        const worker = await startWorker(store, name, { want: 2 });
        await opened.advance(1_000);
        expect(await dueOf(worker, { want: 1 })).toBe(told);
      },
    );

  exact(
    "work that claims none tells that tasks are still due where it has made a part of them ready",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5 });
      await enqueueOne(store, name, { group: "g" });
      const holder = await startWorker(store, name, { worker: "first" });
      await holder.claimOne();
      await enqueue(
        store,
        name,
        Array.from({ length: 257 }, () => ({ group: "g", runInMs: 1_000 })),
      );
      await opened.advance(1_000);
      const worker = await startWorker(store, name, { worker: "second" });
      expect(await worker.work({ want: 1 })).toMatchObject({ status: "none", nextDueMs: 0 });
      expect(await worker.work({ want: 1 })).toMatchObject({ status: "none", nextDueMs: null });
    },
  );
}

const leaseMs = 10_000;

/** A definition with a task that was lost twice and is ready, and one that is due later. */
async function suspected(opened: TestStore, changes: Parameters<typeof define>[1] = {}) {
  const { store } = opened;
  const name = await define(store, { limit: 10, leaseMs, lostMax: 9, prefetchMax: 0, ...changes });
  const suspect = await enqueueOne(store, name, { priority: 1 });
  for (let round = 0; round < 2; round += 1) {
    await (await startWorker(store, name, { needsReady: true })).claimOne();
    await opened.advance(leaseMs + 1);
    await store.reclaimExpired({ max: 10 });
  }
  await enqueueOne(store, name, { runInMs: laterMs });
  return { name, suspect };
}

function describeSolo(setup: StoreSetup): void {
  const open = useStore(setup);
  const exact = testWith(setup, "exact clock");

  exact(
    "work tells no next due task while such a task runs, and tells it to the call that claimed less than it wanted",
    async () => {
      const opened = open();
      const { store } = opened;
      const { name, suspect } = await suspected(opened);
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name, { want: 3 });
      const first = await worker.work({ want: 3 });
      expect(first).toMatchObject({ status: "claimed", nextDueMs: laterMs });
      expect(idsOf(first.claimed)).toEqual([suspect]);
      expect(await worker.work({ want: 3 })).toMatchObject({ status: "none", nextDueMs: null });
    },
  );

  exact("work tells no next due task where it wanted one and such a task is that one", async () => {
    const opened = open();
    const { name, suspect } = await suspected(opened);
    const worker = await startWorker(opened.store, name, { want: 3 });
    const answer = await worker.work({ want: 1 });
    expect(idsOf(answer.claimed)).toEqual([suspect]);
    expect(answer.nextDueMs).toBeNull();
  });

  exact("work tells a lack of tokens before it tells that such a task runs", async () => {
    const opened = open();
    const { name, suspect } = await suspected(opened);
    const worker = await startWorker(opened.store, name);
    expect(idsOf(await worker.claim(3))).toEqual([suspect]);
    await enqueueOne(opened.store, name);
    expect(await worker.work({ want: 3 })).toMatchObject({ status: "limited", claimed: [] });
  });

  for (const [burst, retryInMs] of [
    [1, 100],
    [2, null],
  ] as const)
    exact(
      `work tells the next permit only where the rate stopped it, not such a task: ${String(retryInMs)} with a burst of ${String(burst)}`,
      async () => {
        const opened = open();
        const { store } = opened;
        const rate = { count: 10, periodMs: 1_000, burst };
        const { name, suspect } = await suspected(opened, { rate });
        await enqueue(store, name, 3);
        const worker = await startWorker(store, name, { want: 5, needsReady: true });
        const answer = await worker.work({ want: 5 });
        expect(idsOf(answer.claimed)).toEqual([suspect]);
        expect(answer.retryInMs).toBe(retryInMs);
      },
    );

  test("work starts no more of the claims before such a task than it has tokens", async () => {
    const opened = open();
    const { store } = opened;
    const { name } = await suspected(opened, { prefetchMax: 5 });
    const urgent = await enqueue(store, name, [{ priority: 0 }, { priority: 0 }]);
    const worker = await startWorker(store, name);
    const { claimed } = await worker.work({ want: 5 });
    expect(idsOf(claimed)).toEqual(urgent);
    expect(claimed.map((task) => task.isPrefetched)).toEqual([false, true]);
    // Once more what was started counts once.
    const started = [at(urgent, 0)];
    const later = await worker.work({ done: [done(only(claimed.slice(1)))], started, want: 5 });
    expect(later.claimed).toEqual([]);
  });
}
