import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { EnqueueTasksInput, NewTask, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { createGate, within } from "../support/gate";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** One call with tasks of several groups, keys, scopes and instants: each is treated as if it came alone. */
export function describeEnqueueGroups(setup: StoreSetup): void {
  describe("an enqueue with several groups", () => {
    describeSlots(setup);
  });
  describe("an enqueue with grouped duplicates", () => {
    describeDuplicates(setup);
  });
  describe("an enqueue into a group that is paused or has waiting tasks", () => {
    describeWaiting(setup);
  });
  describe("a user's transaction that enqueues grouped tasks", () => {
    describeJoined(setup);
  });
}

function input(name: string, tasks: readonly Partial<NewTask>[]): EnqueueTasksInput {
  return {
    name,
    build: 1,
    operationId: null,
    tasks: tasks.map((task) => ({ payload: null, ...task })),
  };
}

async function statesOf(store: TaskStore, ids: readonly TaskId[]): Promise<string[]> {
  const states: string[] = [];
  for (const id of ids) states.push(await stateOf(store, id));
  return states;
}

const global = { groupScope: "global" } as const;

function describeSlots(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const order of [
    ["a", "b"],
    ["b", "a"],
  ]) {
    test(`a slot that is taken is passed over, in one group and not in the other (${order.join(", ")})`, async () => {
      const { store } = open();
      const name = await define(store, { limit: 10, groupSlots: 2 });
      const first = await enqueueOne(store, name, { group: "a" });
      const both = await enqueue(
        store,
        name,
        order.map((group) => ({ group })),
      );
      expect(await statesOf(store, [first, ...both])).toEqual(["ready", "ready", "ready"]);
      const third = await enqueueOne(store, name, { group: "a" });
      expect(await stateOf(store, third)).toBe("waiting");
    });
  }

  test("an older group with all slots free doesn't lend its numbers to a younger one", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10, groupSlots: 2 });
    await enqueue(store, name, [{ group: "older" }]);
    const worker = await startWorker(store, name);
    await worker.complete(await worker.claim(1));
    const held = await enqueueOne(store, name, { group: "younger" });
    const ids = await enqueue(store, name, [{ group: "older" }, { group: "younger" }]);
    expect(await statesOf(store, [held, ...ids])).toEqual(["ready", "ready", "ready"]);
  });

  test("an enqueue takes known groups and new ones in one call", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    await enqueue(store, name, [{ group: "b" }]);
    const ids = await enqueue(store, name, [{ group: "a" }, { group: "b" }, { group: "c" }]);
    expect(await statesOf(store, ids)).toEqual(["ready", "waiting", "ready"]);
  });

  test("each group has its own number of slots, for every way in", async () => {
    const { store } = open();
    const wide = await define(store, { groupSlots: 3 });
    const narrow = await define(store, { groupSlots: 1 });
    await enqueue(store, wide, [{ group: "partner", ...global }]);
    const tasks = [
      ...Array.from({ length: 3 }, () => ({ group: "partner", ...global })),
      ...Array.from({ length: 2 }, () => ({ group: "own" })),
    ];
    expect(await statesOf(store, await enqueue(store, narrow, tasks))).toEqual([
      "ready",
      "ready",
      "waiting",
      "ready",
      "waiting",
    ]);
  });

  test("a scheduled one of the group takes no slot from one that may run now", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await enqueue(store, name, [
      { group: "g", runInMs: 60_000 },
      { group: "g" },
      { group: "g" },
    ]);
    expect(await statesOf(store, ids)).toEqual(["scheduled", "ready", "waiting"]);
  });

  test("an enqueue takes 1,001 new groups, some waiting and some scheduled tasks, and a key, in one call", async () => {
    const { store } = open();
    const name = await define(store);
    const groups = Array.from({ length: 1_001 }, (_, index) => ({ group: `g${String(index)}` }));
    const tasks = [
      { dedupeKey: "k" },
      { group: "g0" },
      { group: "g1000" },
      { group: "g0", runInMs: 60_000 },
      ...groups,
    ];
    const ids = await enqueue(store, name, tasks);
    expect(new Set(ids).size).toBe(1_005);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1_002, waiting: 2, scheduled: 1 });
    for (const index of [0, 999, 1_000]) {
      const { group } = await factsOf(store, at(ids, 4 + index));
      expect(group).toMatchObject({ key: `g${String(index)}` });
    }
  });
}

/** How many groups there are. */
async function countGroups(opened: TestStore, isMssql: boolean): Promise<number> {
  const [row] = await opened.raw(
    isMssql
      ? "SELECT COUNT(*) AS groups FROM Taskgate.TaskGroup;"
      : "select count(*)::int as groups from taskgate.task_group",
  );
  return Number(row?.["groups"]);
}

function describeDuplicates(setup: StoreSetup): void {
  const open = useStore(setup);
  const isMssql = setup.dialect === "mssql";

  testWith(setup, "raw sql")(
    "a duplicate or a scheduled task makes no group beside it",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueueOne(store, name, { dedupeKey: "k" });
      await enqueue(store, name, [{ dedupeKey: "k", group: "a" }, { group: "b" }]);
      expect(await countGroups(opened, isMssql)).toBe(1);
      await enqueue(store, name, [{ dedupeKey: "k", group: "c", ...global }, { group: "c" }]);
      expect(await countGroups(opened, isMssql)).toBe(2);
      const later = { group: "d", runInMs: 60_000 };
      await enqueue(store, name, [{ dedupeKey: "k", group: "d" }, later, { group: "e" }]);
      expect(await countGroups(opened, isMssql)).toBe(3);
    },
  );

  test("a duplicate takes no slot from the call's other tasks", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueueOne(store, name, { dedupeKey: "k" });
    const ids = await enqueue(store, name, [
      { dedupeKey: "k", group: "g" },
      { dedupeKey: "new", group: "g" },
      { dedupeKey: "new", group: "g" },
      { group: "g" },
    ]);
    expect(await stateOf(store, at(ids, 1))).toBe("ready");
    expect(await stateOf(store, at(ids, 3))).toBe("waiting");
    expect(at(ids, 2)).toBe(at(ids, 1));
  });

  testWith(setup, "row locks")(
    "a duplicate and a scheduled task don't wait for their group",
    async () => {
      const { store } = open();
      const name = await define(store, { limit: 5 });
      await enqueue(store, name, [{ group: "g" }, { dedupeKey: "k" }]);
      const worker = await startWorker(store, name);
      const { executionId } = worker;
      const { taskId, fence } = await worker.claimOne();
      const holding = createGate();
      const go = createGate();
      const running = store.transaction(async (transaction) => {
        const call = { executionId, taskId, fence, durationMs: 1, result: null };
        const { status } = await store.completeTask(call, transaction);
        holding.open();
        await go.opened;
        return status;
      });
      await Promise.race([holding.opened, running]);
      const tasks = [
        { dedupeKey: "k", group: "g" },
        { runInMs: 5_000, group: "g" },
      ];
      const calls = tasks.map((task) => store.enqueueTasks(input(name, [task])));
      const ended = within(1_500, Promise.all(calls)).finally(() => {
        go.open();
      });
      expect((await ended).map(({ outcomes }) => outcomes)).toEqual([["duplicate"], ["enqueued"]]);
      expect(await running).toBe("done");
    },
  );
}

function describeWaiting(setup: StoreSetup): void {
  const open = useStore(setup);
  const isMssql = setup.dialect === "mssql";
  const rawTest = testWith(setup, "raw sql");
  const change = (opened: TestStore, text: string) =>
    opened.raw(`UPDATE ${isMssql ? "Taskgate.TaskGroup" : "taskgate.task_group"} SET ${text}`);

  for (const isDue of [false, true]) {
    const entry = isDue ? { group: "g", runInMs: 1_000 } : { group: "g" };
    const title = isDue ? "a due task" : "a new task";

    rawTest(`${title} of a paused group waits, though a slot is free`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, [{ group: "g" }]);
      const worker = await startWorker(store, name);
      await worker.complete(await worker.claim(1));
      await change(opened, `Paused = ${isMssql ? "1" : "true"}`);
      const taskId = await enqueueOne(store, name, entry);
      await opened.advance(1_000);
      await store.promoteScheduled({ name, max: 10 });
      expect(await stateOf(store, taskId)).toBe("waiting");
      expect(await worker.claim(1)).toEqual([]);
    });

    rawTest(`${title} doesn't overtake those that wait, though a slot is free`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5 });
      const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
      const late = await enqueueOne(store, name, { ...entry, priority: 200 });
      await change(opened, "Slots = 2");
      opened.expectDamage();
      const urgent = await enqueueOne(store, name, { ...entry, priority: 1 });
      await opened.advance(1_000);
      await store.promoteScheduled({ name, max: 10 });
      expect(await statesOf(store, [...ids, late, urgent])).toEqual([
        "ready",
        "waiting",
        "waiting",
        "waiting",
      ]);
      const worker = await startWorker(store, name, { want: 5 });
      const next = await worker.complete(await worker.claim(5), 5);
      expect(idsOf(next.claimed)).toEqual([urgent, at(ids, 1)]);
    });
  }
}

function describeJoined(setup: StoreSetup): void {
  const open = useStore(setup);
  const isMssql = setup.dialect === "mssql";

  test("grouped tasks that are to run later stay as late as they were told to be", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = [{ group: "g", runInMs: 60_000 }, { group: "g" }];
    const { taskIds, nextDueMs } = await store.transaction((transaction) =>
      store.enqueueTasks(input(name, tasks), transaction),
    );
    expect(nextDueMs).toBe(0);
    expect((await factsOf(store, at(taskIds, 0))).dueInMs).toBeGreaterThan(50_000);
    await store.promoteScheduled({ name, max: 10 });
    expect(await statesOf(store, taskIds)).toEqual(["scheduled", "ready"]);
  });

  testWith(setup, "raw sql")(
    "a task names its group by its id, or by its key until promotion, never both",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      const read = async () => {
        const rows = await opened.raw(
          isMssql
            ? `SELECT t.PendingGroupKey AS pending, t.PendingGroupIsGlobal AS isGlobal,
                      CASE WHEN t.GroupId IS NULL THEN 0 ELSE 1 END AS known FROM Taskgate.Task AS t ORDER BY t.TaskId;`
            : `select pending_group_key as pending, pending_group_is_global as "isGlobal",
                      case when group_id is null then 0 else 1 end as known from taskgate.task order by task_id`,
        );
        return rows.map(({ pending, isGlobal, known }) => [known, pending, isGlobal]);
      };
      await enqueue(store, name, [{ group: "known" }, {}]);
      const tasks = [{ group: "known" }, { group: "new" }, { group: "partner", ...global }, {}];
      await store.transaction((transaction) => store.enqueueTasks(input(name, tasks), transaction));
      expect(await read()).toEqual([
        [1, null, null],
        [0, null, null],
        [0, "known", false],
        [0, "new", false],
        [0, "partner", true],
        [0, null, null],
      ]);
      await store.promoteScheduled({ name, max: 10 });
      expect(await read()).toEqual([1, 0, 1, 1, 1, 0].map((known) => [known, null, null]));
    },
  );
}
