import { describe, expect, test } from "@jest/globals";
import type { EnqueueTasksAnswer, NewTask, TaskStore } from "../../shared/ports/task-store";
import { at, define, enqueueOne, startWorker, statusOf } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Keys that let a task in once. */
export function describeDedupe(setup: StoreSetup): void {
  describe("a dedupe key", () => {
    describeKey(setup);
  });
  describe("a dedupe key with a window", () => {
    describeWindow(setup);
  });
}

function call(
  store: TaskStore,
  name: string,
  tasks: Partial<NewTask>[],
): Promise<EnqueueTasksAnswer> {
  return store.enqueueTasks({
    name,
    build: 1,
    operationId: null,
    tasks: tasks.map((task) => ({ payload: null, ...task })),
  });
}

function describeKey(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a dedupe key lets a second task in only when the first has ended; the duplicate gets the first's id", async () => {
    const { store } = open();
    const name = await define(store);
    const first = await enqueueOne(store, name, { dedupeKey: "k" });
    expect(await call(store, name, [{ dedupeKey: "k" }])).toEqual({
      status: "enqueued",
      taskIds: [first],
      outcomes: ["duplicate"],
      ready: false,
      nextDueMs: null,
    });
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    expect((await call(store, name, [{ dedupeKey: "k" }])).outcomes).toEqual(["duplicate"]);
    await worker.complete([task]);
    const second = await call(store, name, [{ dedupeKey: "k" }]);
    expect(second.outcomes).toEqual(["enqueued"]);
    expect(second.taskIds).not.toEqual([first]);
  });

  for (const as of ["dead", "cancelled"] as const) {
    test(`a dedupe key is free again when its task ended ${as}`, async () => {
      const { store } = open();
      const name = await define(store);
      await enqueueOne(store, name, { dedupeKey: "k" });
      const worker = await startWorker(store, name);
      await worker.fail([await worker.claimOne()], { as });
      expect((await call(store, name, [{ dedupeKey: "k" }])).outcomes).toEqual(["enqueued"]);
    });
  }

  test("a dedupe key stays held while its task waits for a retry", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueueOne(store, name, { dedupeKey: "k" });
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()]);
    expect((await call(store, name, [{ dedupeKey: "k" }])).outcomes).toEqual(["duplicate"]);
  });

  test("the first entry with a key wins inside one call, and the others get its id, in input order", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = ["b", "a", "b", undefined, "a", "c"].map((dedupeKey) =>
      dedupeKey === undefined ? {} : { dedupeKey },
    );
    const { taskIds, outcomes } = await call(store, name, tasks);
    expect(outcomes).toEqual([
      "enqueued",
      "enqueued",
      "duplicate",
      "enqueued",
      "duplicate",
      "enqueued",
    ]);
    expect(at(taskIds, 2)).toBe(at(taskIds, 0));
    expect(at(taskIds, 4)).toBe(at(taskIds, 1));
    expect(new Set(taskIds).size).toBe(4);
    expect((await statusOf(store, name)).ready).toBe(4);
  });

  test("a dedupe key holds for grouped and scheduled tasks, too: a duplicate enters no container", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = [
      { dedupeKey: "g", group: "x" },
      { dedupeKey: "s", runInMs: 5_000 },
    ];
    await call(store, name, tasks);
    const { outcomes, ready, nextDueMs } = await call(store, name, tasks);
    expect({ outcomes, ready, nextDueMs }).toEqual({
      outcomes: ["duplicate", "duplicate"],
      ready: false,
      nextDueMs: null,
    });
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 1, waiting: 0 });
  });

  test("a dedupe key belongs to its definition and is compared exactly", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    await enqueueOne(store, one, { dedupeKey: "k" });
    expect((await call(store, two, [{ dedupeKey: "k" }])).outcomes).toEqual(["enqueued"]);
    const others = ["K", "k\u0301", "\u{1f680}"].map((dedupeKey) => ({ dedupeKey }));
    expect((await call(store, one, others)).outcomes).toEqual(["enqueued", "enqueued", "enqueued"]);
  });

  test("ten enqueues of one key at once make one task and get equal ids", async () => {
    const { store } = open();
    const name = await define(store);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => call(store, name, [{ dedupeKey: "k" }])),
    );
    expect(new Set(answers.flatMap((answer) => answer.taskIds)).size).toBe(1);
    expect(answers.filter((answer) => answer.outcomes[0] === "enqueued")).toHaveLength(1);
    expect((await statusOf(store, name)).ready).toBe(1);
  });
}

function describeWindow(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a dedupe key is held for its window, also when its task has ended", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const first = await enqueueOne(store, name, { dedupeKey: "k", dedupeMs: 10_000 });
    const worker = await startWorker(store, name);
    await worker.complete([await worker.claimOne()]);
    await opened.advance(9_000);
    expect(await call(store, name, [{ dedupeKey: "k" }])).toMatchObject({
      outcomes: ["duplicate"],
      taskIds: [first],
    });
    await opened.advance(1_001);
    expect((await call(store, name, [{ dedupeKey: "k" }])).outcomes).toEqual(["enqueued"]);
  });

  for (const dedupeMs of [10_000, 86_399_999, 86_400_000, 31_622_399_999]) {
    testWith(setup, "exact clock")(
      `a dedupe key of ${String(dedupeMs)} ms is held exactly at its end, and free one millisecond later`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store);
        await enqueueOne(store, name, { dedupeKey: "k", dedupeMs });
        await opened.advance(dedupeMs);
        expect((await call(store, name, [{ dedupeKey: "k" }])).outcomes).toEqual(["duplicate"]);
        await opened.advance(1);
        expect((await call(store, name, [{ dedupeKey: "k" }])).outcomes).toEqual(["enqueued"]);
      },
    );
  }

  test("a dedupe key is free after its window even while its task is unfinished, whose end frees no other task's key", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    await enqueueOne(store, name, { dedupeKey: "k", dedupeMs: 1_000 });
    const worker = await startWorker(store, name, { want: 5 });
    const [first] = await worker.claim(1);
    if (first === undefined) throw new Error("nothing claimed");
    await opened.advance(1_001);
    const second = await call(store, name, [{ dedupeKey: "k" }]);
    expect(second.outcomes).toEqual(["enqueued"]);
    await worker.complete([first]);
    expect(await call(store, name, [{ dedupeKey: "k" }])).toMatchObject({
      outcomes: ["duplicate"],
      taskIds: second.taskIds,
    });
  });

  test("the first holder decides how long", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueueOne(store, name, { dedupeKey: "k", dedupeMs: 1_000 });
    await call(store, name, [{ dedupeKey: "k", dedupeMs: 60_000 }]);
    await opened.advance(1_001);
    expect((await call(store, name, [{ dedupeKey: "k" }])).outcomes).toEqual(["enqueued"]);
  });
}
