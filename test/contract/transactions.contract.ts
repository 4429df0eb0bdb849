import { afterEach, describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type {
  EnqueueTasksInput,
  NewTask,
  StoreDialect,
  StoreTransaction,
} from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  only,
  operationId,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { within } from "../support/gate";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import {
  openAsOwner,
  openTransaction,
  rollBackLeftOpen,
  untilSomebodyWaits,
  waitingSql,
} from "./open-transactions";

/** Enqueue and completion inside a user's own transaction. */
export function describeTransactions(setup: StoreSetup): void {
  describe("a user's transaction that enqueues", () => {
    describeEnqueue(setup);
  });
  describe("a user's transaction that completes", () => {
    describeComplete(setup);
  });
  describe("a user's transaction that stays open", () => {
    describeOpen(setup);
  });
  describe("a user's transaction", () => {
    describeRules(setup);
  });
}

function input(name: string, tasks: Partial<NewTask>[] = [{}]): EnqueueTasksInput {
  return {
    name,
    build: 1,
    operationId: null,
    tasks: tasks.map((task) => ({ payload: null, ...task })),
  };
}

/** What a user's own statements are in each dialect. */
interface UserSql {
  createTable: string;
  emptyTable: string;
  insert: string;
  select: string;
  /** Gives a row while a session waits for a lock. */
  waiting: string;
  /** Adds one to its first parameter as n, and gives its second one as t. */
  parameters: string;
  divideByZero: string;
  /** What the driver's own error has. */
  divideByZeroError: Record<string, unknown>;
}

const userSql: Record<Exclude<StoreDialect, "memory">, UserSql> = {
  postgres: {
    createTable:
      "create table if not exists public.orders (id int); grant all on public.orders to taskgate_worker",
    emptyTable: "delete from public.orders",
    insert: "insert into public.orders (id) values ($1)",
    select: "select id from public.orders",
    waiting: waitingSql.postgres,
    parameters: "select $1::int + 1 as n, $2::text as t",
    divideByZero: "select 1 / 0",
    divideByZeroError: { code: "22012" },
  },
  mssql: {
    createTable:
      "IF OBJECT_ID(N'dbo.TaskgateContractOrders', N'U') IS NULL CREATE TABLE dbo.TaskgateContractOrders (id int NOT NULL PRIMARY KEY); GRANT SELECT, INSERT ON OBJECT::dbo.TaskgateContractOrders TO TaskgateWorker;",
    emptyTable: "DELETE FROM dbo.TaskgateContractOrders;",
    insert: "INSERT INTO dbo.TaskgateContractOrders (id) VALUES (@p1);",
    select: "SELECT o.id FROM dbo.TaskgateContractOrders AS o;",
    waiting: waitingSql.mssql,
    parameters: "SELECT @p1 + 1 AS n, @p2 AS t;",
    divideByZero: "SELECT 1 / 0;",
    divideByZeroError: { number: 8134 },
  },
};

/** Of the store's dialect; the memory store has no statements, and its tests of them are skipped. */
function userSqlOf(setup: StoreSetup): UserSql {
  return userSql[setup.dialect === "mssql" ? "mssql" : "postgres"];
}

/** A write that changes nothing, and so locks the only row of its kind. */
function lockOf(setup: StoreSetup, what: "execution" | "watermark" | "definition"): string {
  if (setup.dialect === "mssql") {
    return {
      execution: "UPDATE Taskgate.TaskExecution SET Worker = Worker;",
      watermark: "UPDATE Taskgate.BlockWatermark SET Version = Version;",
      definition: "UPDATE Taskgate.TaskDefinition SET Paused = Paused;",
    }[what];
  }
  return {
    execution: "update taskgate.task_execution set worker = worker",
    watermark: "update taskgate.block_watermark set version = version",
    definition: "update taskgate.task_definition set paused = paused",
  }[what];
}

function describeEnqueue(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the commit of a transaction makes its tasks visible, which were not before", async () => {
    const { store } = open();
    const name = await define(store);
    const answer = await store.transaction(async (transaction) => {
      const inside = await store.enqueueTasks(input(name, [{}, { runInMs: 5_000 }]), transaction);
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, scheduled: 0 });
      return inside;
    });
    expect(answer.outcomes).toEqual(["enqueued", "enqueued"]);
    expect(await stateOf(store, at(answer.taskIds, 0))).toBe("ready");
    expect(await stateOf(store, at(answer.taskIds, 1))).toBe("scheduled");
  });

  test("the rollback of a transaction leaves nothing, and what the body threw comes out unchanged", async () => {
    const { store } = open();
    const name = await define(store);
    const reason = new Error("changed my mind");
    const call = store.transaction(async (transaction) => {
      await store.enqueueTasks(input(name, [{}, { group: "g" }, { dedupeKey: "k" }]), transaction);
      throw reason;
    });
    await expect(call).rejects.toBe(reason);
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, scheduled: 0, waiting: 0 });
    const again = await store.enqueueTasks(input(name, [{ dedupeKey: "k" }]));
    expect(again.outcomes).toEqual(["enqueued"]);
  });

  test("several calls of one transaction are committed together, in order", async () => {
    const { store } = open();
    const one = await define(store, { limit: 5 });
    const two = await define(store);
    const ids = await store.transaction(async (transaction) => {
      const first = await store.enqueueTasks(input(one, [{}, {}]), transaction);
      await store.enqueueTasks(input(two), transaction);
      const second = await store.enqueueTasks(input(one), transaction);
      return [...first.taskIds, ...second.taskIds];
    });
    const worker = await startWorker(store, one, { want: 5 });
    expect(idsOf(await worker.claim(5))).toEqual(ids);
    expect((await statusOf(store, two)).ready).toBe(1);
  });

  test("a repeat of the operation id outside gives the first answer; after a rollback it is free", async () => {
    const { store } = open();
    const name = await define(store);
    const committed = { ...input(name, [{}, {}]), operationId: operationId() };
    const first = await store.transaction((transaction) =>
      store.enqueueTasks(committed, transaction),
    );
    expect(await store.enqueueTasks(committed)).toEqual(first);
    expect((await statusOf(store, name)).ready).toBe(2);
    const undone = { ...input(name), operationId: operationId() };
    const reason = new Error("no");
    const rolledBack = store.transaction(async (transaction) => {
      await store.enqueueTasks(undone, transaction);
      throw reason;
    });
    await expect(rolledBack).rejects.toBe(reason);
    await store.enqueueTasks(undone);
    expect((await statusOf(store, name)).ready).toBe(3);
  });

  for (const isKnown of [false, true]) {
    test(`grouped tasks enter as due now (the group is ${isKnown ? "known" : "new"}) and are claimed in order`, async () => {
      const { store } = open();
      const name = await define(store, { limit: 5 });
      const worker = await startWorker(store, name, { want: 5 });
      if (isKnown) {
        await enqueue(store, name, [{ group: "g" }]);
        await worker.complete(await worker.claim(1));
      }
      const answer = await store.transaction((transaction) =>
        store.enqueueTasks(input(name, [{ group: "g" }, { group: "g" }, {}]), transaction),
      );
      expect(answer.nextDueMs).toBe(0);
      expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 2, nextDueMs: 0 });
      const [first, second, plain] = answer.taskIds;
      const claimed = await worker.claim(5);
      expect(idsOf(claimed)).toEqual([first, plain]);
      expect(only(claimed.filter((task) => task.isGrouped)).taskId).toBe(first);
      expect(idsOf((await worker.complete(claimed, 5)).claimed)).toEqual([second]);
    });
  }

  test("grouped tasks of a global group are enqueued by two definitions' transactions", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    const task = [{ group: "partner", groupScope: "global" as const }];
    const ids: TaskId[] = [];
    for (const name of [one, two]) {
      const answer = await store.transaction((transaction) =>
        store.enqueueTasks(input(name, task), transaction),
      );
      ids.push(at(answer.taskIds, 0));
    }
    await store.promoteScheduled({ name: one, max: 10 });
    await store.promoteScheduled({ name: two, max: 10 });
    expect(await stateOf(store, at(ids, 0))).toBe("ready");
    expect(await stateOf(store, at(ids, 1))).toBe("waiting");
  });

  test("a due task of a transaction starts a worker that needs ready tasks", async () => {
    const { store } = open();
    const name = await define(store);
    await store.transaction((transaction) =>
      store.enqueueTasks(input(name, [{ group: "new" }]), transaction),
    );
    const worker = await startWorker(store, name, { needsReady: true });
    expect(await worker.claim(1)).toHaveLength(1);
  });
}

function describeComplete(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the commit makes a task done; after a rollback it is claimed as before and may be completed later", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const call = { executionId: worker.executionId, ...done(task) };
    const reason = new Error("no");
    const undone = store.transaction(async (transaction) => {
      expect((await store.completeTask(call, transaction)).status).toBe("done");
      throw reason;
    });
    await expect(undone).rejects.toBe(reason);
    expect(await stateOf(store, task.taskId)).toBe("claimed");
    const status = await store.transaction(
      async (transaction) => (await store.completeTask(call, transaction)).status,
    );
    expect(status).toBe("done");
    expect(await stateOf(store, task.taskId)).toBe("done");
    expect((await store.completeTask(call)).status).toBe("again");
  });

  test("children and the completion are written together, or neither", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1 });
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const call = { executionId: worker.executionId, ...done(task) };
    const attempt = (fails: boolean) =>
      store.transaction(async (transaction) => {
        await store.enqueueTasks(input(name, [{ kind: "child" }]), transaction);
        await store.completeTask(call, transaction);
        if (fails) throw new Error("crash");
      });
    await expect(attempt(true)).rejects.toThrow("crash");
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, claimed: 1, done: 0 });
    await attempt(false);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, claimed: 0, done: 1 });
  });

  test("the hand-over of its group is committed with it", async () => {
    const { store } = open();
    const name = await define(store);
    const [, next] = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    if (next === undefined) throw new Error("two tasks expected");
    const worker = await startWorker(store, name);
    const call = { executionId: worker.executionId, ...done(await worker.claimOne()) };
    await store.transaction(async (transaction) => {
      await store.completeTask(call, transaction);
      expect(await stateOf(store, next)).toBe("waiting");
    });
    expect(await stateOf(store, next)).toBe("ready");
  });

  testWith(setup, "raw sql")("the user's own rows are committed with it, or neither", async () => {
    const opened = open();
    const { store } = opened;
    const statements = userSqlOf(setup);
    await opened.raw(statements.createTable);
    await opened.raw(statements.emptyTable);
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const attempt = (executionId = worker.executionId) =>
      store.transaction(async (transaction) => {
        await transaction.query(statements.insert, [7]);
        const { status } = await store.completeTask({ executionId, ...done(task) }, transaction);
        if (status === "fenced") throw new Error("fenced");
        return transaction.query(statements.select);
      });
    const stranger = await startWorker(store, name);
    await expect(attempt(stranger.executionId)).rejects.toThrow("fenced");
    expect(await opened.raw(statements.select)).toEqual([]);
    expect(await attempt()).toEqual([{ id: 7 }]);
    expect(await opened.raw(statements.select)).toEqual([{ id: 7 }]);
    expect(await stateOf(store, task.taskId)).toBe("done");
  });
}

function describeOpen(setup: StoreSetup): void {
  const open = useStore(setup);
  /** Where a call that waits can be seen to wait. */
  const testWaiting = testWith(setup, "row locks", "raw sql", "sure calls");
  const lockTest = testWith(setup, "row locks");
  afterEach(() => {
    rollBackLeftOpen();
  });

  test("an open transaction's tasks are claimed by no execution, and no call waits for it", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    const before = await enqueueOne(store, name);
    const pending = await openTransaction(opened, (transaction) =>
      store.enqueueTasks(input(name, [{ priority: 1 }]), transaction),
    );
    const worker = await startWorker(store, name, { want: 5 });
    expect(idsOf(await within(500, worker.claim(5)))).toEqual([before]);
    await pending.finish();
    expect(idsOf(await worker.claim(5))).toEqual(pending.result.taskIds);
  });

  test("an open transaction with a new group's key keeps no other enqueue of that key waiting", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    const pending = await openTransaction(opened, (transaction) =>
      store.enqueueTasks(input(name, [{ group: "new" }]), transaction),
    );
    const [other] = await within(500, enqueue(store, name, [{ group: "new" }]));
    if (other === undefined) throw new Error("nothing enqueued");
    expect(await stateOf(store, other)).toBe("ready");
    await pending.finish();
    await store.promoteScheduled({ name, max: 10 });
    expect(await stateOf(store, at(pending.result.taskIds, 0))).toBe("waiting");
  });

  test("an open transaction with a known group's key keeps no completion of that group waiting", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name, { want: 5 });
    const claimed = await worker.claim(1);
    const pending = await openTransaction(opened, (transaction) =>
      store.enqueueTasks(input(name, [{ group: "g" }]), transaction),
    );
    expect((await within(500, worker.complete(claimed, 5))).claimed).toHaveLength(1);
    await pending.abandon();
    expect((await statusOf(store, name)).scheduled).toBe(0);
  });

  test("an open transaction with a duplicate doesn't keep the first task from ending", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(store, name, [{ dedupeKey: "k" }]);
    const worker = await startWorker(store, name);
    const claimed = await worker.claim(1);
    const pending = await openTransaction(opened, (transaction) =>
      store.enqueueTasks(input(name, [{ dedupeKey: "k" }]), transaction),
    );
    expect(pending.result.outcomes).toEqual(["duplicate"]);
    expect((await within(500, worker.complete(claimed))).status).toBe("done");
    await pending.abandon();
  });

  lockTest(
    "another enqueue of an open transaction's key waits for it and then gets its id",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const pending = await openTransaction(opened, (transaction) =>
        store.enqueueTasks(input(name, [{ dedupeKey: "k" }]), transaction),
      );
      const waiting = store.enqueueTasks(input(name, [{ dedupeKey: "k" }]));
      await pending.finish();
      expect(await waiting).toMatchObject({
        outcomes: ["duplicate"],
        taskIds: pending.result.taskIds,
      });
    },
  );

  testWith(
    setup,
    "row locks",
    "raw sql",
  )(
    "a group that goes while an enqueue waits for it is made anew by promotion; other tasks of the call are ready",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5 });
      const first = await enqueueOne(store, name, { group: "g" });
      const remove =
        setup.dialect === "mssql"
          ? "DELETE FROM Taskgate.TaskGroup WHERE GroupKey = N'g'"
          : "delete from taskgate.task_group where group_key = 'g'";
      const worker = await startWorker(store, name);
      await worker.complete(await worker.claim(1));
      const pending = await openAsOwner(opened, (transaction) => transaction.query(remove));
      const waiting = enqueue(store, name, [{ group: "h" }, { group: "g" }, {}]);
      await untilSomebodyWaits(opened, userSqlOf(setup).waiting);
      await pending.finish();
      const ids = await waiting;
      const second = at(ids, 1);
      expect(second).not.toBe(first);
      const states = await Promise.all(ids.map((id) => stateOf(store, id)));
      expect(states).toEqual(["ready", "scheduled", "ready"]);
      await store.promoteScheduled({ name, max: 10 });
      expect(await stateOf(store, second)).toBe("ready");
      const { groups } = await store.listGroups({ name, max: 10 });
      expect(groups.map(({ key }) => key).sort()).toEqual(["g", "h"]);
    },
  );

  testWith(
    setup,
    "row locks",
    "raw sql",
  )("another operation's id is refused as soon as that one is committed, not before", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const id = operationId();
    const pending = await openTransaction(opened, (transaction) =>
      store.advanceWatermark(
        {
          name,
          watermark: "w",
          expectedVersion: "0",
          value: "[]",
          build: 1,
          tasks: [],
          operationId: id,
        },
        transaction,
      ),
    );
    const waiting = store.enqueueTasks({ ...input(name), operationId: id });
    const refused = expectError(waiting, { code: "TASKGATE_ARG_CONFLICT", field: "operationId" });
    await untilSomebodyWaits(opened, userSqlOf(setup).waiting);
    await pending.finish();
    await refused;
    expect((await statusOf(store, name)).ready).toBe(0);
  });

  testWaiting(
    "an open transaction that enqueues has its operation id: a maker's move with it waits, and is refused",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const call = { ...input(name), operationId: operationId() };
      const pending = await openTransaction(opened, (transaction) =>
        store.enqueueTasks(call, transaction),
      );
      const move = { ...call, watermark: "w", expectedVersion: "0", value: "[]" };
      const refused = expectError(store.advanceWatermark(move), {
        code: "TASKGATE_ARG_CONFLICT",
        field: "operationId",
      });
      await untilSomebodyWaits(opened, userSqlOf(setup).waiting);
      await pending.finish();
      await refused;
      expect((await store.listWatermarks({ max: 10 })).watermarks).toEqual([]);
      expect((await statusOf(store, name)).ready).toBe(1);
    },
  );

  testWaiting(
    "a transaction that is rolled back leaves its operation id to one of two waiting calls; the other is a repeat",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const call = { ...input(name), operationId: operationId() };
      const pending = await openTransaction(opened, (transaction) =>
        store.enqueueTasks(call, transaction),
      );
      const both = Promise.all([store.enqueueTasks(call), store.enqueueTasks(call)]);
      await untilSomebodyWaits(opened, userSqlOf(setup).waiting, 2);
      await pending.abandon();
      const [first, second] = await both;
      expect(first).toEqual(second);
      expect((await statusOf(store, name)).ready).toBe(1);
    },
  );

  testWaiting(
    "a transaction that came late for a wave leaves its operation id to one of two others; the second is a repeat",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const call = { ...input(name), operationId: operationId() };
      const { batchId, waveIds } = await store.createBatch({
        operationId: operationId(),
        name: "a batch",
        failurePolicy: "halt",
        waves: 1,
      });
      await store.startBatch({ batchId, seal: true });
      const pending = await openTransaction(opened, (transaction) =>
        store.enqueueTasks({ ...call, waveId: at(waveIds, 0) }, transaction),
      );
      expect(pending.result).toMatchObject({ status: "late" });
      const both = Promise.all([store.enqueueTasks(call), store.enqueueTasks(call)]);
      // There the id itself is locked, until the end.
      if (setup.dialect === "mssql") {
        await untilSomebodyWaits(opened, userSqlOf(setup).waiting, 2);
      }
      await pending.finish();
      const [first, second] = await both;
      expect(first).toMatchObject({ status: "enqueued" });
      expect(second).toEqual(first);
      expect((await statusOf(store, name)).ready).toBe(1);
    },
  );

  testWaiting(
    "a transaction that holds a worker's row lets a call and its repeat, which both wait for it, claim once",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { prefetchMax: 0 });
      await enqueue(store, name, 3);
      const worker = await startWorker(store, name, { want: 2 });
      const pending = await holdRow(opened, setup, "execution");
      const call = { want: 2 };
      const both = Promise.all([worker.work(call), worker.again(call)]);
      await untilSomebodyWaits(opened, userSqlOf(setup).waiting, 2);
      await pending.finish();
      const answers = await both;
      expect(answers.map(({ status }) => status).sort()).toEqual(["again", "claimed"]);
      expect(idsOf(at(answers, 0).claimed)).toEqual(idsOf(at(answers, 1).claimed));
      expect(await statusOf(store, name)).toMatchObject({ claimed: 2, ready: 1 });
    },
  );

  testWaiting(
    "a transaction that holds a watermark lets an advance and its repeat, which both wait for it, move it once",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const call = {
        ...{ name, watermark: "w", expectedVersion: "0", value: "[]", build: 1 },
        ...{ tasks: [{ payload: null }], operationId: null },
      };
      const { version } = await store.advanceWatermark(call);
      const pending = await holdRow(opened, setup, "watermark");
      const next = { ...call, expectedVersion: version, operationId: operationId() };
      const both = Promise.all([store.advanceWatermark(next), store.advanceWatermark(next)]);
      await untilSomebodyWaits(opened, userSqlOf(setup).waiting, 2);
      await pending.finish();
      const [first, second] = await both;
      expect(first).toMatchObject({ status: "advanced", version: "2" });
      expect(second).toEqual(first);
      expect((await statusOf(store, name)).ready).toBe(2);
    },
  );

  testWaiting(
    "an execution that is reclaimed while its end waits for a transaction with its definition has not ended",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { leaseMs: 10_000 });
      await enqueue(store, name, 1);
      const worker = await startWorker(store, name);
      await worker.claim(1);
      await opened.advance(10_001);
      const pending = await holdRow(opened, setup, "definition");
      const end = worker.finish();
      await untilSomebodyWaits(opened, userSqlOf(setup).waiting);
      expect(await store.reclaimExpired({ max: 10 })).toMatchObject({
        executions: 1,
        tasksBack: 1,
      });
      await pending.finish();
      expect(await end).toMatchObject({ status: "fenced", givenBack: 0 });
      expect(await statusOf(store, name)).toMatchObject({ claimed: 0, ready: 1 });
    },
  );

  // On PostgreSQL a reclaim locks all of them before it looks at the first one's tasks: the others wait for it.
  if (setup.dialect === "mssql") {
    testWith(
      setup,
      "row locks",
      "raw sql",
      "exact clock",
    )(
      "a worker that comes back, or ends, while a reclaim waits for a transaction with its task isn't reclaimed",
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { leaseMs: 10_000 });
        await enqueue(store, name, 1);
        const dead = await startWorker(store, name);
        await dead.claim(1);
        const late = await startWorker(store, name);
        const last = await startWorker(store, name);
        await opened.advance(10_001);
        const pending = await openAsOwner(opened, (transaction) =>
          transaction.query("UPDATE Taskgate.Task SET Kind = Kind;"),
        );
        const reclaim = store.reclaimExpired({ max: 10 });
        await untilSomebodyWaits(opened, userSqlOf(setup).waiting);
        expect((await late.beat()).status).toBe("renewed");
        expect((await last.finish()).status).toBe("ended");
        await pending.finish();
        expect(await reclaim).toMatchObject({ executions: 1, tasksBack: 1 });
        expect((await late.beat()).status).toBe("renewed");
        expect((await dead.beat()).status).toBe("fenced");
      },
    );
  }

  testWith(
    setup,
    "row locks",
    "raw sql",
  )("a key that is freed while an enqueue waits for another key is taken by it", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const first = await enqueueOne(store, name, { dedupeKey: "a" });
    const worker = await startWorker(store, name);
    const claimed = await worker.claim(1);
    const pending = await openTransaction(opened, (transaction) =>
      store.enqueueTasks(input(name, [{ dedupeKey: "z" }]), transaction),
    );
    const waiting = store.enqueueTasks(input(name, [{ dedupeKey: "a" }, { dedupeKey: "z" }]));
    await untilSomebodyWaits(opened, userSqlOf(setup).waiting);
    await worker.complete(claimed);
    await pending.finish();
    const answer = await waiting;
    expect(answer.outcomes).toEqual(["enqueued", "duplicate"]);
    expect(at(answer.taskIds, 0)).not.toBe(first);
    const third = await store.enqueueTasks(input(name, [{ dedupeKey: "a" }]));
    expect(third).toMatchObject({ outcomes: ["duplicate"], taskIds: [at(answer.taskIds, 0)] });
  });

  testWith(
    setup,
    "row locks",
    "exact clock",
  )(
    "the heartbeat says busy beside a transaction that completes, and goes on with others; a reclaim passes it over",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5, leaseMs: 10_000 });
      await enqueue(store, name, 1);
      const worker = await startWorker(store, name);
      const other = await startWorker(store, name);
      const call = { executionId: worker.executionId, ...done(await worker.claimOne()) };
      const pending = await openTransaction(opened, (transaction) =>
        store.completeTask(call, transaction),
      );
      const executions = [worker, other].map(({ executionId }) => ({ executionId, started: [] }));
      const beat = await within(500, store.heartbeat({ executions }));
      const statuses = new Map(beat.executions.map((entry) => [entry.executionId, entry.status]));
      expect(statuses.get(worker.executionId)).toBe("busy");
      expect(statuses.get(other.executionId)).toBe("renewed");
      await opened.advance(10_001);
      expect(await within(500, store.reclaimExpired({ max: 10 }))).toMatchObject({
        executions: 1,
      });
      await pending.finish();
      expect(await stateOf(store, call.taskId)).toBe("done");
      expect((await worker.beat()).status).toBe("renewed");
    },
  );

  lockTest(
    "a claim of others doesn't wait for an open transaction that completes a group's task",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5 });
      await enqueue(store, name, [{ group: "g" }, { group: "g" }, {}]);
      const worker = await startWorker(store, name);
      const call = { executionId: worker.executionId, ...done(await worker.claimOne()) };
      const pending = await openTransaction(opened, (transaction) =>
        store.completeTask(call, transaction),
      );
      const other = await startWorker(store, name, { want: 3 });
      expect(await within(500, other.claim(5))).toHaveLength(1);
      await pending.finish();
      expect(await other.claim(5)).toHaveLength(1);
    },
  );

  lockTest(
    "a group that is locked too long is busy: nothing happened, and the same call number may be used again",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5, groupSlots: 2 });
      await enqueue(store, name, [{ group: "g" }, { group: "g" }, { group: "g" }]);
      const holder = await startWorker(store, name);
      const call = { executionId: holder.executionId, ...done(await holder.claimOne()) };
      const worker = await startWorker(store, name);
      const claimed = await worker.claim(1);
      const pending = await openTransaction(opened, (transaction) =>
        store.completeTask(call, transaction),
      );
      const report = { done: claimed.map((task) => done(task)), want: 1 };
      expect(await within(6_000, worker.work(report))).toMatchObject({
        status: "busy",
        claimed: [],
      });
      expect(await stateOf(store, at(claimed, 0).taskId)).toBe("claimed");
      await pending.finish();
      expect(await worker.again(report)).toMatchObject({ status: "claimed", refused: [] });
    },
  );
}

/** A transaction that has written the only row of its kind, and keeps it locked until `finish`. */
async function holdRow(opened: TestStore, setup: StoreSetup, what: Parameters<typeof lockOf>[1]) {
  return openAsOwner(opened, (transaction) => transaction.query(lockOf(setup, what)));
}

function describeRules(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a transaction gives the result of its body", async () => {
    const { store } = open();
    expect(await store.transaction(() => Promise.resolve("result"))).toBe("result");
    expect(await store.transaction((transaction) => Promise.resolve(transaction.dialect))).toBe(
      setup.dialect,
    );
  });

  test("bad input inside throws as outside, and nothing is committed", async () => {
    const { store } = open();
    const name = await define(store);
    const call = store.transaction(async (transaction) => {
      await store.enqueueTasks(input(name), transaction);
      await store.enqueueTasks(input(name, [{ payload: "7" }]), transaction);
    });
    await expectError(call, { code: "TASKGATE_ARG_INVALID", field: "payload", value: 7 });
    expect((await statusOf(store, name)).ready).toBe(0);
  });

  test("the commit fails behind an error that the body swallowed, for nothing was committed", async () => {
    const { store } = open();
    const name = await define(store);
    const call = store.transaction(async (transaction) => {
      await store.enqueueTasks(input(name), transaction);
      await store.enqueueTasks(input("nobody"), transaction).catch(() => undefined);
    });
    await expect(call).rejects.toMatchObject({ isRetryable: false });
    expect((await statusOf(store, name)).ready).toBe(0);
  });

  test("another store's transaction is refused", async () => {
    const { store } = open();
    const name = await define(store);
    const foreign: StoreTransaction = { dialect: setup.dialect, query: () => Promise.resolve([]) };
    await expectError(store.enqueueTasks(input(name), foreign), { code: "TASKGATE_ARG_INVALID" });
    expect((await statusOf(store, name)).ready).toBe(0);
  });

  test("ten transactions at once don't mix", async () => {
    const { store } = open();
    const name = await define(store);
    const calls = Array.from({ length: 10 }, (_, index) =>
      store
        .transaction(async (transaction) => {
          const answer = await store.enqueueTasks(
            input(name, [{ kind: `k${String(index)}` }]),
            transaction,
          );
          if (index % 2 === 1) throw new Error("odd");
          return at(answer.taskIds, 0);
        })
        .catch(() => null),
    );
    const ids = (await Promise.all(calls)).flatMap((id) => id ?? []);
    const kinds: string[] = [];
    for (const id of ids) kinds.push((await factsOf(store, id)).kind);
    expect(kinds.sort()).toEqual(["k0", "k2", "k4", "k6", "k8"]);
    expect((await statusOf(store, name)).ready).toBe(5);
  });

  testWith(setup, "raw sql")(
    "the user's statement gives plain rows, and its errors pass unchanged",
    async () => {
      const { store } = open();
      const statements = userSqlOf(setup);
      const rows = await store.transaction((transaction) =>
        transaction.query(statements.parameters, [41, "\u{1f680}"]),
      );
      expect(rows).toEqual([{ n: 42, t: "\u{1f680}" }]);
      await expect(
        store.transaction((transaction) => transaction.query(statements.divideByZero)),
      ).rejects.toMatchObject(statements.divideByZeroError);
    },
  );

  testWith(
    setup,
    "raw sql",
    "isolation level",
  )("another isolation level than read committed is refused", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name);
    const call = { executionId: worker.executionId, ...done(await worker.claimOne()) };
    const calls = [
      (transaction: StoreTransaction) => store.enqueueTasks(input(name), transaction),
      (transaction: StoreTransaction) => store.completeTask(call, transaction),
    ];
    for (const level of ["repeatable read", "serializable"]) {
      for (const inside of calls) {
        const attempt = store.transaction(async (transaction) => {
          await transaction.query(`set transaction isolation level ${level}`);
          return inside(transaction);
        });
        await expectError(attempt, { code: "TASKGATE_STORE_CONTEXT", value: level });
      }
    }
    expect(await stateOf(store, call.taskId)).toBe("claimed");
  });
}
