import { describe, expect, test } from "@jest/globals";
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
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** The fields of single tasks of a claim, which of them come behind a place, and calls that leave no trace. */
export function describeWorkExtras(setup: StoreSetup): void {
  describe("work tells of each claimed task by itself", () => {
    describeEach(setup);
  });
  describe("work behind a place", () => {
    describePlaces(setup);
  });
  describe("work that finds nothing", () => {
    describeIdle(setup);
  });
}

function describeEach(setup: StoreSetup): void {
  const open = useStore(setup);
  const plain = {
    checkpoint: null,
    traceParent: null,
    isGrouped: false,
    isCancelRequested: false,
    isFromNewerBuild: false,
    isInWave: false,
    isSuspect: false,
  };

  test("work tells each task's checkpoint, trace, group or newer build, where it has one, and nothing of its neighbours", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const worker = await startWorker(store, name, { want: 10, build: 1 });
    const enqueueAt = async (build: number, task: { traceParent?: string; group?: string }) =>
      only(
        (
          await store.enqueueTasks({
            name,
            build,
            operationId: null,
            tasks: [{ payload: null, ...task }],
          })
        ).taskIds,
      );
    const kept = await enqueueOne(store, name);
    await worker.fail([await worker.claimOne()], { as: "continued", checkpoint: "[1]" });
    const traced = await enqueueAt(1, {
      traceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    });
    const grouped = await enqueueAt(1, { group: "g" });
    const newer = await enqueueAt(2, {});
    const none = await enqueueAt(1, {});
    const expected = [
      { taskId: kept, ...plain, checkpoint: "[1]" },
      {
        taskId: traced,
        ...plain,
        traceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      },
      { taskId: grouped, ...plain, isGrouped: true },
      { taskId: newer, ...plain, isFromNewerBuild: true },
      { taskId: none, ...plain },
    ];
    for (const one of expected) expect(only(await worker.claim(1))).toMatchObject(one);
    await worker.finish();
    const other = await startWorker(store, name, { want: 10, build: 1 });
    expect(await other.claim(10)).toMatchObject(expected);
  });

  testWith(setup, "raw sql")(
    "no payload, where one of its claim was changed by hand and is no JSON; explain has each",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      const ids = await enqueue(store, name, [{ payload: '{"a":1}' }, { payload: '{"a":2}' }]);
      const worker = await startWorker(store, name, { want: 10 });
      opened.expectDamage();
      await opened.raw(
        setup.dialect === "mssql"
          ? `UPDATE Taskgate.Task SET PayloadUtf8 = '{"a":' WHERE TaskId = ${at(ids, 1)}`
          : `update taskgate.task set payload = '{"a":' where task_id = ${at(ids, 1)}`,
      );
      const claimed = await worker.claim(10);
      expect(idsOf(claimed)).toEqual(ids);
      expect(claimed.map(({ payload }) => payload)).toEqual([undefined, undefined]);
      expect((await factsOf(store, at(ids, 0))).payload).toBe('{"a":1}');
      expect((await factsOf(store, at(ids, 1))).payload).toBe('{"a":');
      await worker.complete(claimed);
    },
  );

  test("work tells which attempt each claimed task is", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 10 });
    await worker.fail([await worker.claimOne()], { retryInMs: 0 });
    const [twice, once] = await worker.claim(2);
    if (!twice || !once) throw new Error("two tasks expected");
    await worker.fail([twice], { retryInMs: 0 });
    await worker.fail([once], { retryInMs: 0 });
    expect((await worker.claim(3)).map((task) => task.attempt)).toEqual([3, 2, 1]);
  });
}

/** Gives ready tasks ranks. */
async function rank(opened: TestStore, dialect: string, ranks: ReadonlyMap<TaskId, number>) {
  const isMssql = dialect === "mssql";
  const tables = isMssql
    ? ["Taskgate.Task", "Taskgate.Ready"]
    : ["taskgate.task", "taskgate.ready"];
  const column = isMssql ? "TaskId" : "task_id";
  for (const [taskId, value] of ranks) {
    for (const table of tables) {
      await opened.raw(`UPDATE ${table} SET Rank = ${String(value)} WHERE ${column} = ${taskId}`);
    }
  }
}

function describePlaces(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "raw sql")(
    "work behind a place comes to higher ranks of its priority, then to later priorities, each by rank and id",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 20 });
      const priorities = [100, 100, 100, 101, 101, 99];
      const ids = await enqueue(
        store,
        name,
        priorities.map((priority) => ({ priority })),
      );
      const ranks = [3, 2, 2, 2, 1, 5].map((value, index) => [at(ids, index), value] as const);
      await rank(opened, setup.dialect, new Map(ranks));
      const worker = await startWorker(store, name, { want: 20 });
      const place = { priority: 100, rank: "1", taskId: at(ids, 0) };
      const order: TaskId[] = [];
      for (let call = 0; call < 6; call += 1) {
        order.push(...idsOf((await worker.work({ want: 1, after: place })).claimed));
      }
      expect(order).toEqual([1, 2, 0, 4, 3].map((index) => at(ids, index)));
      expect(idsOf(await worker.claim(9))).toEqual([at(ids, 5)]);
    },
  );
}

function describeIdle(setup: StoreSetup): void {
  const open = useStore(setup);
  const writeTest = testWith(setup, "write detection");

  writeTest("work writes nothing while its tasks are due later", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(store, name, [{ runInMs: 60_000 }]);
    const worker = await startWorker(store, name);
    const before = await opened.readVersions();
    expect((await worker.work({ want: 1 })).status).toBe("none");
    expect(await opened.readVersions()).toBe(before);
  });

  writeTest(
    "work writes nothing while its definition is paused, though tasks are ready or due",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, [{}, { runInMs: 1_000 }]);
      await opened.advance(1_000);
      const worker = await startWorker(store, name);
      await store.pauseDefinition({ name, changedBy: "me" });
      const before = await opened.readVersions();
      expect((await worker.work({ want: 1 })).status).toBe("paused");
      expect(await opened.readVersions()).toBe(before);
    },
  );
}
