import { describe, expect } from "@jest/globals";
import { at, define, enqueue, startWorker, stateOf, statusOf } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Promotion steps over groups that somebody has locked: their tasks wait for the next one. */
export function describePromotionEdges(setup: StoreSetup): void {
  describe("a promotion while somebody has locked a group", () => {
    describeLocked(setup);
  });
  describe("keys that somebody keeps without a row of theirs", () => {
    describeKept(setup);
  });
}

/** A user's transaction keeps what stands for the group `new`, which nobody has made yet. */
const keepNew = {
  postgres:
    "select pg_advisory_xact_lock(43, taskgate._group_latch(d.task_definition_id, 'new')) from taskgate.task_definition d",
  mssql: `DECLARE @r int, @n nvarchar(255) = (SELECT Taskgate._KeyLock(N'group', d.TaskDefinitionId, N'new') FROM Taskgate.TaskDefinition AS d);
    EXEC @r = sys.sp_getapplock @Resource = @n, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 0;`,
};
/** A row while somebody waits for such a lock. */
const waiting = {
  postgres:
    "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'",
  mssql: "SELECT 1 AS one FROM sys.dm_tran_locks AS l WHERE l.request_status = N'WAIT';",
};

function describeKept(setup: StoreSetup): void {
  const open = useStore(setup);
  const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("a group that somebody else may be making is left for the next promotion", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const tasks = [{ group: "new" }, { group: "other" }, {}];
    const ids = await enqueue(
      store,
      name,
      tasks.map((task) => ({ ...task, runInMs: 1_000 })),
    );
    await opened.advance(1_001);
    const waits: unknown[] = [];
    const promoting = await opened.asOwner(async (transaction) => {
      await transaction.query(keepNew[dialect]);
      let isOver = false;
      const answer = store.promoteScheduled({ name, most: 10 }).finally(() => {
        isOver = true;
      });
      const hasEnded = (): boolean => isOver;
      while (!hasEnded() && waits.length === 0) waits.push(...(await opened.raw(waiting[dialect])));
      return [answer];
    });
    const [answer] = await Promise.all(promoting);
    expect(waits).toEqual([]);
    expect(answer).toMatchObject({ promoted: 2 });
    const states = () => Promise.all(ids.map((id) => stateOf(store, id)));
    expect(await states()).toEqual(["scheduled", "ready", "ready"]);
    expect((await store.promoteScheduled({ name, most: 10 })).promoted).toBe(1);
    expect(await states()).toEqual(["ready", "ready", "ready"]);
  });

  // PostgreSQL tells the table and the row by itself.
  if (setup.dialect !== "mssql") return;
  testWith(
    setup,
    "row locks",
    "sure calls",
  )("who waits for a key in vain is told for which one", async () => {
    const { store, plain } = open();
    const name = await define(store);
    const mine = [{ payload: null, dedupeKey: "order 7 is 100%" }];
    const input = { name, build: 1, operationId: null, tasks: mine };
    await store.transaction(async (transaction) => {
      await store.enqueueTasks(input, transaction);
      const call = plain.enqueueTasks(input);
      await expect(call).rejects.toThrow(/key: locked for longer than 2 s \(.*order 7 is 100%\)/);
    });
    expect((await plain.enqueueTasks(input)).outcomes).toEqual(["duplicate"]);
  });
}

function describeLocked(setup: StoreSetup): void {
  const open = useStore(setup);
  const lock =
    setup.dialect === "mssql"
      ? "UPDATE Taskgate.TaskGroup SET Slots = Slots WHERE GroupKey = N'g'"
      : "update taskgate.task_group set slots = slots where group_key = 'g'";

  testWith(
    setup,
    "raw sql",
    "row locks",
  )(
    "leaves that group's tasks scheduled, and moves the others; next time it moves them, too",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { groupSlots: 3 });
      // Both are there: these hold a slot each.
      await enqueue(store, name, [{ group: "g" }, { group: "h" }]);
      const ids = await enqueue(
        store,
        name,
        [{ group: "g" }, { group: "h" }, { group: "g" }, {}].map((task) => ({
          ...task,
          runInMs: 1_000,
        })),
      );
      await opened.advance(1_001);
      const promoted = await opened.asOwner(async (transaction) => {
        await transaction.query(lock);
        return (await store.promoteScheduled({ name, most: 10 })).promoted;
      });
      expect(promoted).toBe(2);
      const states = () => Promise.all(ids.map((id) => stateOf(store, id)));
      expect(await states()).toEqual(["scheduled", "ready", "scheduled", "ready"]);
      expect((await store.promoteScheduled({ name, most: 10 })).promoted).toBe(2);
      expect(await states()).toEqual(["ready", "ready", "ready", "ready"]);
    },
  );

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("leaves a strict group's retry scheduled as well, whose slot it keeps", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupStrict: true });
    const [strict, other] = await enqueue(store, name, [{ group: "g" }, { group: "h" }]);
    const worker = await startWorker(store, name, { want: 2 });
    await worker.fail(await worker.claim(2), { retryInMs: 1_000 });
    await opened.advance(1_001);
    const promoted = await opened.asOwner(async (transaction) => {
      await transaction.query(lock);
      return (await store.promoteScheduled({ name, most: 10 })).promoted;
    });
    expect(promoted).toBe(1);
    const ids = [strict, other].flatMap((id) => id ?? []);
    expect(await stateOf(store, at(ids, 0))).toBe("scheduled");
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 1, waiting: 0 });
  });
}
