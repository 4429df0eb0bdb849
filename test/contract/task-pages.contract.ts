import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import { at, define, enqueue, enqueueOne, idsOf, startWorker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { allPages } from "./task-pages";

/** Pages of a list begin at a place in its order, so that tasks may come and go between them. */
export function describeTaskPages(setup: StoreSetup): void {
  describe("pages of list_tasks", () => {
    describePages(setup);
  });
}

const settings = { limit: 20, prefetchMax: 0 };

function describePages(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a page shows ready tasks that stay once, while others are added, claimed and ended between two pages", async () => {
    const { store } = open();
    const name = await define(store, settings);
    const ids = await enqueue(
      store,
      name,
      [100, 100, 50, 100, 50, 100].map((priority) => ({ priority })),
    );
    const worker = await startWorker(store, name, { want: 10 });
    const first: TaskId[] = [];
    const last: TaskId[] = [];
    const listed = await allPages(store, { name, state: "ready", max: 2 }, async (soFar) => {
      if (soFar.length > 2) return;
      // Shown are the two of priority 50. One page later the first of the others has gone, too.
      first.push(await enqueueOne(store, name, { priority: 1 }));
      last.push(await enqueueOne(store, name));
      await worker.complete(await worker.claim(4));
    });
    expect(first).toHaveLength(1);
    expect(listed).toEqual([ids[2], ids[4], ids[1], ids[3], ids[5], at(last, 0)]);
  });

  test("a page shows scheduled tasks of one instant that are added behind the place, and not those before it", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const runAt = new Date((await opened.now()).getTime() + 60_000);
    const earlier = new Date(runAt.getTime() - 1_000);
    const ids = await enqueue(
      store,
      name,
      Array.from({ length: 5 }, () => ({ runAt })),
    );
    const added: TaskId[] = [];
    const listed = await allPages(store, { name, state: "scheduled", max: 2 }, async () => {
      await enqueueOne(store, name, { runAt: earlier });
      if (added.length === 0) added.push(await enqueueOne(store, name, { runAt }));
    });
    expect(listed).toEqual([...ids, ...added]);
  });

  test("a page leaves out a waiting task that comes into its group's slot, and the others stand where they were", async () => {
    const { store } = open();
    const name = await define(store, settings);
    await enqueueOne(store, name, { group: "a" });
    const ids = await enqueue(
      store,
      name,
      Array.from({ length: 5 }, () => ({ group: "a" })),
    );
    const worker = await startWorker(store, name, { want: 1 });
    const listed = await allPages(store, { name, state: "waiting", max: 2 }, async (soFar) => {
      if (soFar.length === 2) await worker.complete(await worker.claim(1));
    });
    expect(listed).toEqual(ids);
    expect(await allPages(store, { name, state: "waiting", max: 2 })).toEqual(ids.slice(1));
  });

  test("a page shows no finished task that ends between two pages: such are newer than all that are still to come", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    await enqueue(store, name, 10);
    const worker = await startWorker(store, name, { want: 10 });
    const tasks = await worker.claim(10);
    await worker.complete(tasks.slice(0, 4));
    await opened.advance(1_000);
    await worker.complete(tasks.slice(4, 5));
    let ended = 5;
    const listed = await allPages(store, { name, state: "done", max: 2 }, async () => {
      await opened.advance(1_000);
      await worker.complete(tasks.slice(ended, ended + 1));
      ended += 1;
    });
    const ids = idsOf(tasks);
    expect(listed).toEqual([ids[4], ids[3], ids[2], ids[1], ids[0]]);
    expect(await allPages(store, { name, state: "done", max: 3 })).toHaveLength(ended);
  });

  test("a page leaves out a finished task that is redriven between two pages", async () => {
    const { store } = open();
    const name = await define(store, settings);
    await enqueue(store, name, 5);
    const worker = await startWorker(store, name, { want: 5 });
    const tasks = await worker.claim(5);
    await worker.fail(tasks, { as: "dead" });
    const ids = idsOf(tasks);
    const listed = await allPages(store, { name, state: "dead", max: 2 }, async (soFar) => {
      if (soFar.length === 2) await store.redriveTasks({ taskIds: [at(ids, 2)] });
    });
    expect(listed).toEqual([ids[4], ids[3], ids[1], ids[0]]);
  });

  test("a page tells how many tasks it looked at, and has no next one where it is the last", async () => {
    const { store } = open();
    const name = await define(store, settings);
    expect(await store.listTasks({ name, state: "ready", max: 2 })).toEqual({
      tasks: [],
      lookedAt: 0,
      next: null,
      lastTask: null,
      lastAt: null,
    });
    await enqueue(store, name, 4);
    const first = await store.listTasks({ name, state: "ready", max: 2 });
    expect(first).toMatchObject({ lookedAt: 2, lastTask: at(first.tasks, 1).task, lastAt: null });
    const second = await store.listTasks({ name, state: "ready", max: 2, after: first.next ?? "" });
    expect({ ...second, tasks: second.tasks.length }).toEqual({
      tasks: 2,
      lookedAt: 2,
      next: null,
      lastTask: null,
      lastAt: null,
    });
  });

  test("list_tasks tells the last task where a page stops, with the instant at which it ended or is due", async () => {
    const { store } = open();
    const name = await define(store, settings);
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    await worker.complete(await worker.claim(2));
    await enqueue(store, name, [{ runInMs: 60_000 }, { runInMs: 60_000 }]);
    for (const [state, member] of [
      ["scheduled", "dueAt"],
      ["done", "endedAt"],
    ] as const) {
      const { tasks, lastTask, lastAt } = await store.listTasks({ name, state, max: 1 });
      expect([lastTask, lastAt]).toEqual([at(tasks, 0).task, at(tasks, 0)[member]]);
    }
  });

  test.each(["", "17", "[]", "{}", '["1"]', '["1","2"]', '["a","b","c"]', '["1","2",null]', "x"])(
    "a place that no page told is refused with its value: %s",
    async (after) => {
      const { store } = open();
      const name = await define(store, settings);
      await expectError(store.listTasks({ name, state: "ready", max: 2, after }), {
        code: "TASKGATE_ARG_INVALID",
        field: "after",
        value: after,
      });
    },
  );

  test("a place of another state is refused", async () => {
    const { store } = open();
    const name = await define(store, settings);
    await enqueue(store, name, 3);
    const { next } = await store.listTasks({ name, state: "ready", max: 1 });
    for (const state of ["waiting", "scheduled", "done"] as const) {
      await expectError(store.listTasks({ name, state, max: 1, after: next ?? "" }), {
        code: "TASKGATE_ARG_INVALID",
        field: "after",
      });
    }
  });
}
