import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import { define, enqueue, enqueueOne, idsOf, startWorker, stateOf } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Strict groups keep their order exactly, for every way in. */
export function describeStrictGroups(setup: StoreSetup): void {
  describe("a task that is enqueued while an earlier one of its strict group is due and not promoted", () => {
    describeOvertaking(setup);
  });
  describe("two promotions of one definition", () => {
    describeTurns(setup);
  });
}

/** A task due at 1,000 ms, and one enqueued directly when that instant has passed. */
async function enqueueBoth(
  opened: { store: TaskStore; advance: (ms: number) => Promise<void> },
  name: string,
  task: Partial<NewTask>,
): Promise<[due: TaskId, direct: TaskId]> {
  const due = await enqueueOne(opened.store, name, { ...task, runInMs: 1_000 });
  await opened.advance(1_001);
  return [due, await enqueueOne(opened.store, name, task)];
}

function describeOvertaking(setup: StoreSetup): void {
  const open = useStore(setup);

  async function claimInTurn(store: TaskStore, name: string): Promise<TaskId[]> {
    const worker = await startWorker(store, name, { want: 2 });
    const first = await worker.claim(2);
    const second = await worker.complete(first, 2);
    return [...idsOf(first), ...idsOf(second.claimed)];
  }

  test("a task behind a due one of its strict group runs after it: both pass through the schedule", async () => {
    const opened = open();
    const name = await define(opened.store, { groupStrict: true });
    const both = await enqueueBoth(opened, name, { group: "g" });
    expect(await stateOf(opened.store, both[1])).toBe("scheduled");
    expect(await claimInTurn(opened.store, name)).toEqual(both);
  });

  test("a task behind a due one of its group runs after it where an operator has made the group strict", async () => {
    const opened = open();
    const name = await define(opened.store);
    const group = {
      name,
      groupKey: "g",
      groupScope: "definition",
      changedBy: "an operator",
    } as const;
    await opened.store.setGroup({ ...group, strict: true });
    const both = await enqueueBoth(opened, name, { group: "g" });
    expect(await claimInTurn(opened.store, name)).toEqual(both);
  });

  test("a task behind a due one runs after it in a strict group of all definitions", async () => {
    const opened = open();
    const name = await define(opened.store, { groupStrict: true });
    const both = await enqueueBoth(opened, name, { group: "g", groupScope: "global" });
    expect(await claimInTurn(opened.store, name)).toEqual(both);
  });

  test("a task behind a due one is ready at once in a group that isn't strict, and without a group", async () => {
    const opened = open();
    const name = await define(opened.store);
    const [, direct] = await enqueueBoth(opened, name, { group: "g" });
    expect(await stateOf(opened.store, direct)).toBe("ready");
    const strict = await define(opened.store, { groupStrict: true });
    const [, alone] = await enqueueBoth(opened, strict, {});
    expect(await stateOf(opened.store, alone)).toBe("ready");
  });

  test("a task is ready at once in a group of all definitions that has a strict group's key", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const group = { name, groupKey: "g", groupScope: "definition", strict: true } as const;
    await store.setGroup({ ...group, changedBy: "an operator" });
    await enqueueOne(store, name, { runInMs: 1_000 });
    await opened.advance(1_001);
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g", groupScope: "global" }]);
    expect(await Promise.all(ids.map((id) => stateOf(store, id)))).toEqual(["scheduled", "ready"]);
  });

  test("a task is ready at once when the scheduled tasks aren't due yet", async () => {
    const { store } = open();
    const name = await define(store, { groupStrict: true });
    await enqueueOne(store, name, { group: "g", runInMs: 1_000 });
    expect(await stateOf(store, await enqueueOne(store, name, { group: "g" }))).toBe("ready");
  });
}

/** A user's transaction keeps the turn to promote. */
const keepTurn = {
  postgres:
    "select pg_advisory_xact_lock(44, d.task_definition_id) from taskgate.task_definition d",
  mssql: `DECLARE @r int, @n nvarchar(255) = (SELECT Taskgate._KeyLock(N'promotion', d.TaskDefinitionId, N'') FROM Taskgate.TaskDefinition AS d);
    EXEC @r = sys.sp_getapplock @Resource = @n, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 0;`,
};

function describeTurns(setup: StoreSetup): void {
  const open = useStore(setup);
  const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";

  testWith(
    setup,
    "raw sql",
    "row locks",
  )(
    "two promotions of one definition take turns: the second one leaves everything to the first, and waits for nothing",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const due = await enqueueOne(store, name, { runInMs: 1_000 });
      await opened.advance(1_001);
      const worker = await startWorker(store, name);
      await opened.asOwner(async (transaction) => {
        await transaction.query(keepTurn[dialect]);
        expect(await store.promoteScheduled({ name, max: 10 })).toMatchObject({
          status: "none",
          nextDueMs: 0,
        });
        expect(await worker.claim(1)).toEqual([]);
      });
      expect(idsOf(await worker.claim(1))).toEqual([due]);
    },
  );
}
