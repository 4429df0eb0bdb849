import { describe, expect } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { at, define, enqueue, startWorker, stateOf } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** An operator's call that waits for one task's group tells the current state of the others. */
export function describeMeanwhile(setup: StoreSetup): void {
  describe("a task that ends while an operator's call waits for another one's group", () => {
    describeEnded(setup);
  });
  describe("a ready task that another transaction has just locked", () => {
    describeLocked(setup);
  });
}

const lockReady = {
  postgres: "select 1 from taskgate.ready for update",
  mssql: "SELECT r.TaskId FROM Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK);",
};

function describeLocked(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("a locked ready task is busy: it isn't put off, nor said to run", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const taskIds = await enqueue(store, name, [{}]);
    const later = { taskIds, to: { runInMs: 60_000 } };
    const answer = await opened.asOwner(async (transaction) => {
      await transaction.query(lockReady[setup.dialect === "mssql" ? "mssql" : "postgres"]);
      return await store.rescheduleTasks(later);
    });
    expect(answer).toMatchObject({
      results: [{ outcome: "busy", state: null }],
      nextDueMs: null,
    });
    const again = await store.rescheduleTasks(later);
    expect(again.results).toMatchObject([{ outcome: "rescheduled" }]);
  });
}

const calls = {
  cancelTasks: (store: TaskStore, taskIds: readonly TaskId[]) => store.cancelTasks({ taskIds }),
  rescheduleTasks: (store: TaskStore, taskIds: readonly TaskId[]) =>
    store.rescheduleTasks({ taskIds, to: { runInMs: 60_000 } }),
};
const successes = { cancelTasks: "cancelled", rescheduleTasks: "rescheduled" };

const lockGroups = {
  postgres: "update taskgate.task_group set slots = slots",
  mssql: "UPDATE Taskgate.TaskGroup SET Slots = Slots;",
};
/** A row while a session waits for a lock. */
const waiting = {
  postgres:
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  mssql: "SELECT 1 AS one FROM sys.dm_tran_locks AS l WHERE l.request_status = N'WAIT';",
};

function describeEnded(setup: StoreSetup): void {
  const open = useStore(setup);
  const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";

  for (const what of ["cancelTasks", "rescheduleTasks"] as const) {
    testWith(
      setup,
      "raw sql",
      "row locks",
    )(`a task that ends meanwhile is gone for ${what}, with its state`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5 });
      const ids = await enqueue(store, name, [{}, {}, { group: "g" }, { group: "g" }]);
      const asked = [at(ids, 0), at(ids, 1), at(ids, 3)];
      const worker = await startWorker(store, name, { want: 2 });
      const [first, second] = await worker.claim(2);
      if (first === undefined || second === undefined) throw new Error("Two tasks expected");
      const calling = await opened.asOwner(async (transaction) => {
        await transaction.query(lockGroups[dialect]);
        const answer = calls[what](store, asked);
        while ((await opened.raw(waiting[dialect])).length === 0);
        await worker.complete([first]);
        await worker.fail([second], { as: "dead" });
        return [answer];
      });
      const [answer] = await Promise.all(calling);
      expect(answer?.results.map(({ outcome, state }) => [outcome, state])).toEqual([
        ["gone", "done"],
        ["gone", "dead"],
        [successes[what], null],
      ]);
    });
  }

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("a task that failed meanwhile and waits for its retry is busy for cancelTasks", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retryAttempts: 9 });
    const ids = await enqueue(store, name, [{}, { group: "g" }, { group: "g" }]);
    const asked = [at(ids, 0), at(ids, 2)];
    const worker = await startWorker(store, name);
    const claim = await worker.claimOne();
    const calling = await opened.asOwner(async (transaction) => {
      await transaction.query(lockGroups[dialect]);
      const answer = store.cancelTasks({ taskIds: asked });
      while ((await opened.raw(waiting[dialect])).length === 0);
      await worker.fail([claim], { as: "failed", retryInMs: 60_000 });
      return { answer };
    });
    const { results } = await calling.answer;
    expect(results.map(({ outcome }) => outcome)).toEqual(["busy", "cancelled"]);
    expect(await stateOf(store, at(ids, 0))).toBe("scheduled");
    const again = await store.cancelTasks({ taskIds: [at(ids, 0)] });
    expect(again.results).toMatchObject([{ outcome: "cancelled" }]);
  });
}
