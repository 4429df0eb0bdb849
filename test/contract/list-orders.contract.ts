import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { ListableState } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  idsOf,
  startWorker,
  uniqueName,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { allPages } from "./task-pages";
import { inDialect } from "./two-dialects";

/** Each list has one order, is cut behind its first entries, and has nothing of a neighbour's. */
export function describeListOrders(setup: StoreSetup): void {
  describe("list_tasks in its order", () => {
    describeTasks(setup);
  });
  describe("list_executions in its order", () => {
    describeExecutions(setup);
  });
}

/** Makes tasks of a definition; gives those of one state in the order in which they must be listed. */
type Build = (opened: TestStore, name: string) => Promise<(TaskId | undefined)[]>;

const settings = { limit: 10, prefetchMax: 0 };

const builds: Record<ListableState, Build> = {
  ready: async ({ store }, name) => {
    const priorities = [100, 1, 100, 50];
    const ids = await enqueue(
      store,
      name,
      priorities.map((priority) => ({ priority })),
    );
    return [ids[1], ids[3], ids[0], ids[2]];
  },
  scheduled: async (opened, name) => {
    const now = (await opened.now()).getTime();
    const delays = [9_000, 4_000, 9_000, 4_000];
    const tasks = delays.map((delay) => ({ runAt: new Date(now + 60_000 + delay) }));
    const ids = await enqueue(opened.store, name, tasks);
    return [ids[1], ids[3], ids[0], ids[2]];
  },
  waiting: async ({ store }, name) => {
    // Holders first, each by a call of its own: which group is the older one decides.
    for (const group of ["a", "b"]) await enqueueOne(store, name, { group });
    const ids = await enqueue(store, name, [
      { group: "b", priority: 1 },
      { group: "a" },
      { group: "a", priority: 50 },
      { group: "a" },
      { group: "b" },
    ]);
    return [ids[2], ids[1], ids[3], ids[0], ids[4]];
  },
  claimed: async ({ store }, name) => {
    const ids = await enqueue(
      store,
      name,
      [100, 30, 20, 10, 90].map((priority) => ({ priority })),
    );
    const first = await startWorker(store, name, { want: 3 });
    expect(idsOf(await first.claim(3))).toEqual([ids[3], ids[2], ids[1]]);
    const second = await startWorker(store, name, { want: 2 });
    expect(idsOf(await second.claim(2))).toEqual([ids[4], ids[0]]);
    return [ids[1], ids[2], ids[3], ids[0], ids[4]];
  },
  done: (opened, name) => finishSome(opened, name, "done"),
  dead: (opened, name) => finishSome(opened, name, "dead"),
  cancelled: (opened, name) => finishSome(opened, name, "cancelled"),
};

/** Two at once, after them one with a lower id. */
async function finishSome(
  opened: TestStore,
  name: string,
  how: "done" | "dead" | "cancelled",
): Promise<TaskId[]> {
  const { store } = opened;
  const ids = await enqueue(store, name, 3);
  const worker = await startWorker(store, name, { want: 3 });
  const tasks = await worker.claim(3);
  const finish = (some: typeof tasks): Promise<unknown> =>
    how === "done" ? worker.complete(some) : worker.fail(some, { as: how });
  await finish(tasks.slice(1));
  await opened.advance(1_000);
  await finish(tasks.slice(0, 1));
  return [at(ids, 0), at(ids, 2), at(ids, 1)];
}

/** Expects the list of a state to be these tasks, each shorter list its first ones, and the pages of that length all of them. */
async function expectList(
  { store }: TestStore,
  { name, state }: { name: string; state: ListableState },
  expected: readonly (TaskId | undefined)[],
): Promise<void> {
  for (let max = expected.length + 1; max > 0; max -= 1) {
    const { tasks, next } = await store.listTasks({ name, state, max });
    expect(tasks.map(({ task }) => task)).toEqual(expected.slice(0, max));
    expect(next === null).toBe(expected.length <= max);
    expect(await allPages(store, { name, state, max })).toEqual(expected);
  }
}

function describeTasks(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const [state, build] of Object.entries(builds) as [ListableState, Build][]) {
    test(`list_tasks lists ${state} tasks in the same order for any length of the list, without a neighbour's`, async () => {
      const opened = open();
      const names = [uniqueName(), uniqueName(), uniqueName()];
      const expected: (TaskId | undefined)[][] = [];
      for (const name of names) {
        await define(opened.store, settings, name);
        expected.push(await build(opened, name));
      }
      for (const [index, name] of names.entries()) {
        await expectList(opened, { name, state }, at(expected, index));
      }
    });
  }

  testWith(setup, "raw sql")(
    "list_tasks lists ready and waiting tasks by rank within a priority, then by id",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, settings);
      const tasks = [100, 100, 1, 100, 50, 100].map((priority) => ({ priority }));
      const ready = await enqueue(store, name, tasks);
      await enqueueOne(store, name, { group: "g" });
      const waiting = await enqueue(
        store,
        name,
        tasks.map((task) => ({ ...task, group: "g" })),
      );
      await setRanks(opened, setup, [...ready, ...waiting]);
      for (const [state, ids] of [
        ["ready", ready],
        ["waiting", waiting],
      ] as const) {
        const { tasks: listed } = await store.listTasks({ name, state, max: 10 });
        const places = listed.map(({ task }) => ids.indexOf(task)).filter((place) => place >= 0);
        expect(places).toEqual([2, 4, 1, 3, 5, 0]);
        for (const max of [2, 3, 5]) {
          const { tasks: some } = await store.listTasks({ name, state, max });
          expect(some).toEqual(listed.slice(0, max));
          const paged = await allPages(store, { name, state, max });
          expect(paged).toEqual(listed.map(({ task }) => task));
        }
      }
    },
  );

  test("list_tasks tells the first claimed tasks as running where more are claimed than there are tokens", async () => {
    const { store } = open();
    const name = await define(store, settings);
    const priorities = [30, 20, 10].map((priority) => ({ priority }));
    const [last, second, first] = await enqueue(store, name, priorities);
    const worker = await startWorker(store, name, { want: 3 });
    await worker.claim(2);
    await worker.claim(1);
    for (const [keep, running] of [
      [3, [last, second, first]],
      [2, [second, first]],
      [1, [first]],
    ] as const) {
      await store.releaseTokens({ executionId: worker.executionId, keep });
      const { tasks } = await store.listTasks({ name, state: "claimed", max: 10 });
      const told = tasks.filter(({ state }) => state === "running");
      expect(told.map(({ task }) => task)).toEqual(running);
    }
  });

  test("list_tasks tells of each task by itself which worker has it, or finished it", async () => {
    const { store } = open();
    const name = await define(store, settings);
    for (const worker of ["host-1", "host-2"]) {
      await enqueue(store, name, 2);
      const execution = await startWorker(store, name, { want: 2, worker });
      const [first] = await execution.claim(2);
      if (first !== undefined) await execution.complete([first]);
    }
    for (const state of ["claimed", "done"] as const) {
      const { tasks } = await store.listTasks({ name, state, max: 10 });
      const workers = tasks.map(({ task, worker }) => ({ task: BigInt(task), worker }));
      workers.sort((a, b) => Number(a.task - b.task));
      expect(workers.map(({ worker }) => worker)).toEqual(["host-1", "host-2"]);
    }
  });
}

/** Nothing gives tasks a rank yet: 5, 3, 9, 3, 0, 4, and again. */
async function setRanks(
  opened: TestStore,
  { dialect }: StoreSetup,
  ids: readonly TaskId[],
): Promise<void> {
  const ranks = [5, 3, 9, 3, 0, 4];
  for (const [index, id] of ids.entries()) {
    for (const table of ["task", "ready", "group_waiting"]) {
      const sql = `UPDATE taskgate.${table} SET rank = {rank} WHERE task_id = {id}`;
      const values = new Map([
        ["rank", String(at(ranks, index % ranks.length))],
        ["id", id],
      ]);
      await opened.raw(inDialect(dialect === "mssql" ? "mssql" : "postgres", sql, values));
    }
  }
}

function describeExecutions(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_executions lists the newest first for any length of the list, open ones or all, of one definition or of all", async () => {
    const { store } = open();
    const one = await define(store, settings);
    const two = await define(store, settings);
    await enqueue(store, one, 5);
    const ids: Record<string, string> = {};
    for (const [worker, name, claims, isEnding] of [
      ["a", one, 2, false],
      ["b", two, 0, true],
      ["c", one, 0, true],
      ["d", two, 0, false],
      ["e", one, 1, false],
    ] as const) {
      const execution = await startWorker(store, name, { want: 2, worker });
      await execution.claim(claims);
      if (isEnding) await execution.finish();
      ids[worker] = execution.number;
    }
    const expected = [
      { name: one, isOpen: true, workers: "ea" },
      { name: two, isOpen: true, workers: "d" },
      { name: undefined, isOpen: true, workers: "eda" },
      { name: one, isOpen: false, workers: "eca" },
      { name: two, isOpen: false, workers: "db" },
      { name: undefined, isOpen: false, workers: "edcba" },
    ];
    for (const { name, isOpen, workers } of expected) {
      for (let max = workers.length + 1; max > 0; max -= 1) {
        const input = { isOpen, max, ...(name === undefined ? {} : { name }) };
        const { executions } = await store.listExecutions(input);
        expect(executions.map(({ worker, execution }) => [worker, execution])).toEqual(
          Array.from(workers)
            .slice(0, max)
            .map((worker) => [worker, ids[worker]]),
        );
      }
    }
    const { executions } = await store.listExecutions({ isOpen: true, max: 10 });
    expect(executions.map(({ claimed }) => claimed)).toEqual([1, 0, 2]);
    expect(await store.listExecutions({ name: "nobody", isOpen: false, max: 10 })).toEqual({
      executions: [],
    });
    expect(await store.listExecutions({ name: "nobody", isOpen: true, max: 10 })).toEqual({
      executions: [],
    });
  });
}
