import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import { at, define, enqueue, factsOf, idsOf, startWorker, stateOf } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** Which tasks of a group get which of its slots: by priority, rank and id, from the first free slot on. */
export function describeGroupSlots(setup: StoreSetup): void {
  describe("a group's slots", () => {
    describeSlots(setup);
  });
}

/** Gives tasks ranks, wherever they stand. */
async function rank(opened: TestStore, dialect: string, ranks: ReadonlyMap<TaskId, number>) {
  const isMssql = dialect === "mssql";
  const tables = isMssql
    ? ["Taskgate.Task", "Taskgate.GroupWaiting", "Taskgate.Ready"]
    : ["taskgate.task", "taskgate.group_waiting", "taskgate.ready"];
  const column = isMssql ? "TaskId" : "task_id";
  for (const [taskId, value] of ranks) {
    for (const table of tables) {
      await opened.raw(`UPDATE ${table} SET Rank = ${String(value)} WHERE ${column} = ${taskId}`);
    }
  }
}

function describeSlots(setup: StoreSetup): void {
  const open = useStore(setup);
  const holdersOf = async (opened: TestStore, taskId: TaskId) =>
    (await factsOf(opened.store, taskId)).group?.holders;
  const grouped = (count: number) => Array.from({ length: count }, () => ({ group: "g" }));

  test("slots that are freed together go to the next tasks in their order, the first slot to the first of them", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, groupSlots: 3 });
    const ids = await enqueue(store, name, [...grouped(4), { group: "g", priority: 1 }]);
    const urgent = at(ids, 4);
    const waiting = await enqueue(store, name, grouped(2));
    const worker = await startWorker(store, name, { want: 10 });
    const claimed = await worker.claim(10);
    expect(idsOf(claimed)).toEqual([urgent, at(ids, 0), at(ids, 1)]);
    expect(await holdersOf(opened, urgent)).toEqual(idsOf(claimed));
    await worker.complete(claimed.slice(0, 2));
    const next = [at(ids, 2), at(ids, 3), at(ids, 1)];
    expect(await holdersOf(opened, at(ids, 1))).toEqual(next);
    const late = await enqueue(store, name, [{ group: "g", priority: 5 }]);
    const again = await worker.claim(10);
    await worker.complete(again);
    expect(await holdersOf(opened, at(ids, 1))).toEqual([...late, at(waiting, 0), at(ids, 1)]);
  });

  testWith(setup, "raw sql")(
    "ranks stand between priority and id among waiting tasks",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      const ids = await enqueue(store, name, grouped(4));
      await rank(
        opened,
        setup.dialect,
        new Map([
          [at(ids, 1), 3],
          [at(ids, 2), 1],
          [at(ids, 3), 2],
        ]),
      );
      const worker = await startWorker(store, name, { want: 10 });
      const order: TaskId[] = [];
      let claimed = await worker.claim(5);
      while (claimed.length > 0) {
        order.push(...idsOf(claimed));
        ({ claimed } = await worker.complete(claimed, 5));
      }
      expect(order).toEqual([0, 2, 3, 1].map((index) => at(ids, index)));
    },
  );

  testWith(setup, "raw sql")(
    "the ranks of tasks say which of several gets the first free slot",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10, groupSlots: 2 });
      const ids = await enqueue(store, name, grouped(5));
      const ranks = [3, 2, 1].map((value, index) => [at(ids, index + 2), value] as const);
      await rank(opened, setup.dialect, new Map(ranks));
      const worker = await startWorker(store, name, { want: 10 });
      await worker.complete(await worker.claim(2));
      expect(await holdersOf(opened, at(ids, 2))).toEqual([at(ids, 4), at(ids, 3)]);
    },
  );

  test("a group's slots go to the lowest id among due tasks, not to the earliest instant", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const ids = await enqueue(store, name, [
      { group: "g", runInMs: 5_000 },
      { group: "g", runInMs: 1_000 },
    ]);
    await opened.advance(5_000);
    await store.promoteScheduled({ name, max: 10 });
    expect(await holdersOf(opened, at(ids, 1))).toEqual([at(ids, 0)]);
  });

  testWith(setup, "raw sql")("ranks stand between priority and id among due tasks", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, groupSlots: 2 });
    const due = { group: "g", runInMs: 1_000 };
    const ids = await enqueue(store, name, [due, due, due, { ...due, priority: 200 }]);
    await rank(
      opened,
      setup.dialect,
      new Map([
        [at(ids, 0), 3],
        [at(ids, 1), 1],
        [at(ids, 2), 2],
        [at(ids, 3), 0],
      ]),
    );
    await opened.advance(1_000);
    await store.promoteScheduled({ name, max: 10 });
    const states: string[] = [];
    for (const id of ids) states.push(await stateOf(store, id));
    expect(states).toEqual(["waiting", "ready", "ready", "waiting"]);
    expect(await holdersOf(opened, at(ids, 0))).toEqual([at(ids, 1), at(ids, 2)]);
  });

  testWith(setup, "raw sql")(
    "a task that its group lets in is marked as one that runs alone only where it was lost twice",
    async () => {
      const opened = open();
      const { store } = opened;
      const leaseMs = 10_000;
      const name = await define(store, { limit: 2, leaseMs, lostMax: 9, groupSlots: 1 });
      const [lost] = await enqueue(store, name, grouped(1));
      for (let round = 0; round < 2; round += 1) {
        await (await startWorker(store, name)).claimOne();
        await opened.advance(leaseMs + 1);
        await store.reclaimExpired({ max: 10 });
      }
      const [first, last] = await enqueue(store, name, [
        { ...at(grouped(1), 0), priority: 1 },
        ...grouped(1),
      ]);
      const isMssql = setup.dialect === "mssql";
      const marked = async (): Promise<unknown[]> => {
        const rows = await opened.raw(
          isMssql
            ? "SELECT TaskId AS id, CONVERT(int, IsSolo) AS solo FROM Taskgate.Ready"
            : "SELECT task_id AS id, is_solo::int AS solo FROM taskgate.ready",
        );
        return rows.map(({ id, solo }) => [String(id), Number(solo)]);
      };
      const worker = await startWorker(store, name);
      const told: unknown[] = [];
      for (let count = 0; count < 3; count += 1) {
        told.push(...(await marked()));
        await worker.complete(await worker.claim(1));
      }
      expect(told).toEqual([
        [lost, 1],
        [first, 0],
        [last, 0],
      ]);
    },
  );

  testWith(setup, "raw sql")(
    "the error of slots whose groups are gone names the first such group, and nothing ends",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 3 });
      for (const group of ["a", "b", "c"]) await enqueue(store, name, [{ group }]);
      const worker = await startWorker(store, name, { want: 3 });
      const claimed = await worker.claim(3);
      opened.expectDamage();
      const isMssql = setup.dialect === "mssql";
      const table = isMssql ? "Taskgate.TaskGroup" : "taskgate.task_group";
      const [id, key] = isMssql ? ["GroupId", "GroupKey"] : ["group_id", "group_key"];
      const [gone] = await opened.raw(`SELECT ${id} AS gone FROM ${table} WHERE ${key} = 'b'`);
      await opened.raw(`DELETE FROM ${table} WHERE ${key} IN ('b', 'c')`);
      await expectError(worker.complete(claimed), {
        code: "TASKGATE_STORE_CONTRACT",
        field: "groupId",
        value: `a task names a group that is gone (${String(gone?.["gone"])})`,
      });
      for (const { taskId } of claimed) expect(await stateOf(store, taskId)).toBe("claimed");
    },
  );
}
