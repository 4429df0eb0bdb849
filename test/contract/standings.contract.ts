import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  factsOf,
  idsOf,
  only,
  setLimit,
  startWorker,
  statusOf,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** Claimed tasks are shown as running, prefetched or lost, alike in every read model. */
export function describeStandings(setup: StoreSetup): void {
  describe("claimed tasks are shown as running or prefetched", () => {
    describeTellingApart(setup);
  });
  describe("claimed tasks run in the order of their claims, but for those that were begun", () => {
    describeOrder(setup);
  });
  describe("running never exceeds the tokens held", () => {
    describeBound(setup);
  });
}

/** The standing of each claimed task, by its number among `ids`, as every read model tells it; they must agree. */
async function standingsOf(
  { store }: TestStore,
  name: string,
  ids: readonly TaskId[],
): Promise<Record<string, number[]>> {
  const { tasks } = await store.listTasks({ name, state: "claimed", max: 1_000 });
  const shown: Record<string, number[]> = { running: [], prefetched: [], lost: [] };
  for (const { task, state } of tasks) {
    expect((await factsOf(store, task)).claim?.standing).toBe(state);
    shown[state]?.push(ids.indexOf(task));
  }
  const counts = [shown["running"]?.length, shown["prefetched"]?.length];
  const status = await statusOf(store, name);
  expect([status.running, status.prefetched]).toEqual(counts);
  expect(status.claimed).toBe(tasks.length);
  expect(status.running).toBeLessThanOrEqual(status.held);
  const { executions } = await store.listExecutions({ name, isOpen: true, max: 1_000 });
  const sum = (pick: "running" | "prefetched"): number =>
    executions.reduce((total, execution) => total + execution[pick], 0);
  expect([sum("running"), sum("prefetched")]).toEqual(counts);
  for (const { running, tokens } of executions) expect(running).toBeLessThanOrEqual(tokens);
  return shown;
}

function describeTellingApart(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_tasks, list_executions, list_definitions and explain_task tell the same of claims that were fetched ahead", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3, prefetchMax: 2 });
    const ids = await enqueue(store, name, 9);
    const first = await startWorker(store, name, { want: 2, worker: "first" });
    const second = await startWorker(store, name, { want: 1, worker: "second" });
    expect(await first.claim(5)).toHaveLength(5);
    expect(await second.claim(2)).toHaveLength(2);
    expect(await standingsOf(opened, name, ids)).toEqual({
      running: [0, 1, 5],
      prefetched: [2, 3, 4, 6],
      lost: [],
    });
    const { executions } = await store.listExecutions({ name, isOpen: true, max: 10 });
    expect(
      executions.map(({ worker, running, prefetched }) => [worker, running, prefetched]),
    ).toEqual([
      ["second", 1, 1],
      ["first", 2, 3],
    ]);
  });

  test("list_tasks puts running tasks first, however short the list is, and tells since when they are claimed", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, prefetchMax: 1 });
    const ids = await enqueue(store, name, 4);
    for (const worker of ["one", "two"])
      await (await startWorker(store, name, { worker })).claim(2);
    const expected = [ids[0], ids[2], ids[1], ids[3]];
    for (const max of [1, 2, 3, 4, 5]) {
      const { tasks } = await store.listTasks({ name, state: "claimed", max });
      expect(tasks.map(({ task }) => task)).toEqual(expected.slice(0, max));
      for (const { claimedAt, createdAt } of tasks)
        expect(Date.parse(claimedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(createdAt));
    }
  });

  test("a prefetched task runs when its start is told, by work as by a heartbeat", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, prefetchMax: 2 });
    const ids = await enqueue(store, name, 3);
    const worker = await startWorker(store, name);
    const [one, two] = await worker.claim(3);
    if (one === undefined || two === undefined) throw new Error("Three tasks expected");
    await worker.work({ done: [done(one)], started: [two.taskId] });
    expect(await standingsOf(opened, name, ids)).toMatchObject({ running: [1], prefetched: [2] });
    await worker.complete([two]);
    expect(await standingsOf(opened, name, ids)).toMatchObject({ running: [], prefetched: [2] });
    await worker.beat([at(ids, 2)]);
    expect(await standingsOf(opened, name, ids)).toMatchObject({ running: [2], prefetched: [] });
  });

  testWith(setup, "exact clock")(
    "the claims of a worker whose lease is over are lost, neither running nor prefetched",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 2, prefetchMax: 1, leaseMs: 10_000 });
      const ids = await enqueue(store, name, 4);
      await (await startWorker(store, name, { worker: "dead" })).claim(2);
      await opened.advance(5_000);
      await (await startWorker(store, name, { worker: "alive" })).claim(2);
      await opened.advance(5_000);
      expect(await standingsOf(opened, name, ids)).toMatchObject({
        running: [0, 2],
        prefetched: [1, 3],
      });
      await opened.advance(1);
      const over = { running: [2], prefetched: [3], lost: [0, 1] };
      expect(await standingsOf(opened, name, ids)).toEqual(over);
      // An heir takes the dead one's token: the claims are still there, without any.
      await startWorker(store, name, { worker: "heir" });
      expect(await standingsOf(opened, name, ids)).toEqual(over);
    },
  );
}

/** What the execution log tells of each claimed task, by its number among `ids`. */
async function logOf(opened: TestStore, name: string, ids: readonly TaskId[]): Promise<string[]> {
  const entries = await opened.readLog(name);
  return entries.map((entry) => `${String(ids.indexOf(entry.taskId))} ${entry.outcome}`).sort();
}

/** One claimed task that runs before an earlier one: the worker began the third of three, with the second still waiting. */
async function begunOutOfOrder(store: TaskStore) {
  const name = await define(store, { limit: 1, prefetchMax: 2 });
  const ids = await enqueue(store, name, 3);
  const worker = await startWorker(store, name);
  const claimed = await worker.claim(3);
  await worker.work({ done: [done(at(claimed, 0))], started: [at(ids, 2)] });
  return { name, ids };
}

/** Three tasks that count as begun beside two tokens: the first two come of one claim, the third of a later one. */
async function begunBeforeTheEnd(store: TaskStore) {
  const name = await define(store, { limit: 2, prefetchMax: 1 });
  const ids = await enqueue(store, name, 3);
  const worker = await startWorker(store, name, { want: 2 });
  await worker.claim(2);
  await worker.claim(1);
  await worker.beat([at(ids, 2)]);
  return { name, ids };
}

function describeOrder(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a task runs that was begun before an earlier one of its claim", async () => {
    const opened = open();
    const { name, ids } = await begunOutOfOrder(opened.store);
    expect(await standingsOf(opened, name, ids)).toEqual({
      running: [2],
      prefetched: [1],
      lost: [],
    });
  });

  test("all tasks of an earlier claim run before the first one of a later claim", async () => {
    const opened = open();
    const { name, ids } = await begunBeforeTheEnd(opened.store);
    expect(await standingsOf(opened, name, ids)).toEqual({
      running: [0, 1],
      prefetched: [2],
      lost: [],
    });
  });

  testWith(setup, "execution log")("the execution log tells both alike", async () => {
    const opened = open();
    const first = await begunOutOfOrder(opened.store);
    const outcomes = await logOf(opened, first.name, first.ids);
    expect(outcomes).toEqual(["0 done", "1 prefetched", "2 running"]);
    const second = await begunBeforeTheEnd(opened.store);
    expect(await logOf(opened, second.name, second.ids)).toEqual([
      "0 running",
      "1 running",
      "2 prefetched",
    ]);
  });
}

function describeBound(setup: StoreSetup): void {
  const open = useStore(setup);

  test("running tasks never exceed the tokens when a heartbeat tells a start before the end that made room", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, prefetchMax: 2 });
    const ids = await enqueue(store, name, 6);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(6);
    expect(idsOf(claimed)).toEqual(ids);
    await worker.beat([at(ids, 2), at(ids, 3), at(ids, 4)]);
    // Two of the five that count as started have ended; until that is told the first two keep their places.
    expect(await standingsOf(opened, name, ids)).toEqual({
      running: [0, 1],
      prefetched: [2, 3, 4, 5],
      lost: [],
    });
    await worker.work({ done: [done(at(claimed, 1)), done(at(claimed, 2)), done(at(claimed, 3))] });
    expect(await standingsOf(opened, name, ids)).toEqual({
      running: [0, 4],
      prefetched: [5],
      lost: [],
    });
  });

  test("running tasks never exceed the tokens when claims of several calls are started in another order", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, prefetchMax: 3 });
    const ids = await enqueue(store, name, [{}, { priority: 50 }, { priority: 1 }, {}]);
    const worker = await startWorker(store, name);
    const [urgent] = await worker.claim(1);
    expect(urgent?.taskId).toBe(ids[2]);
    await worker.claim(2);
    await worker.beat([at(ids, 0)]);
    await worker.beat([at(ids, 1)]);
    // In claim order, not by id, nor by when the start was told.
    expect(await standingsOf(opened, name, ids)).toMatchObject({
      running: [2],
      prefetched: [0, 1],
    });
    if (urgent !== undefined) await worker.complete([urgent]);
    expect(await standingsOf(opened, name, ids)).toMatchObject({ running: [1], prefetched: [0] });
  });

  test("running tasks never exceed the tokens when tokens are given back while claims stay", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3, prefetchMax: 1 });
    const ids = await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 3 });
    await worker.claim(4);
    await setLimit(store, name, 1);
    expect(await standingsOf(opened, name, ids)).toMatchObject({ running: [0, 1, 2] });
    await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
    expect(await standingsOf(opened, name, ids)).toMatchObject({
      running: [0],
      prefetched: [1, 2, 3],
    });
    const execution = only((await store.listExecutions({ name, isOpen: true, max: 2 })).executions);
    expect(execution).toMatchObject({ tokens: 1, claimed: 4, running: 1, prefetched: 3 });
  });

  testWith(setup, "execution log")(
    "running tasks never exceed the tokens in the execution log as well",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, prefetchMax: 2 });
      const ids = await enqueue(store, name, 3);
      const worker = await startWorker(store, name);
      const claimed = await worker.claim(3);
      await worker.beat([at(ids, 1)]);
      expect(await logOf(opened, name, ids)).toEqual(["0 running", "1 prefetched", "2 prefetched"]);
      await worker.complete(claimed.slice(0, 1));
      expect(await logOf(opened, name, ids)).toEqual(["0 done", "1 running", "2 prefetched"]);
    },
  );
}
