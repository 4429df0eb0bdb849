import { describe, expect, test } from "@jest/globals";
import { define, enqueue, startWorker, statusOf } from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { makeBatch } from "./batch-builders";
import { answerOf, errorOf } from "./sql-answers";

/** Enqueues of callers in plain T-SQL, whose tasks no client has checked before, and calls inside their transactions. */
export function describeSqlEnqueue(setup: StoreSetup): void {
  describe("EnqueueTasks in plain T-SQL", () => {
    describeEnqueue(setup);
  });
  describe("a call that fails inside a caller's transaction in plain T-SQL", () => {
    describeFailing(setup);
  });
}

function describeEnqueue(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the Outcomes of EnqueueTasks is null unless something is a duplicate", async () => {
    const opened = open();
    const name = await define(opened.store);
    const call = (tasks: string) => answerOf(opened, `EnqueueTasks N'${name}', 1, N'${tasks}'`);
    expect(await call("[{},{}]")).toMatchObject({ Outcomes: null, Ready: true });
    expect(await call('[{"dedupeKey":"k"}]')).toMatchObject({ Outcomes: null });
    expect(await call('[{"dedupeKey":"k"},{}]')).toMatchObject({
      Outcomes: '["duplicate","enqueued"]',
    });
  });

  test("the TaskIds of an addition that comes late is an empty list", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const { batchId, waveIds } = await makeBatch(store, 1);
    await store.startBatch({ batchId, seal: true });
    const call = `EnqueueTasks N'${name}', 1, N'[{}]', @WaveId = ${String(waveIds[0])}`;
    expect(await answerOf(opened, call)).toEqual({
      Status: "late",
      TaskIds: "[]",
      Outcomes: null,
      Ready: false,
      NextDueMs: null,
    });
  });

  test("grouped tasks with @JoinsTransaction 1 are due now, as inside a transaction, which the call sees by itself", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const call = (more: string) => `EnqueueTasks N'${name}', 1, N'[{"group":"g"},{}]'${more}`;
    const due = { Status: "enqueued", Ready: true, NextDueMs: "0" };
    expect(await answerOf(opened, call(", NULL, 1"))).toMatchObject(due);
    const [inside] = await opened.call(`EXEC Taskgate.${call("")};`);
    expect(inside).toMatchObject(due);
    const [both] = await opened.call(`EXEC Taskgate.${call(", NULL, 1")};`);
    expect(both).toMatchObject(due);
    expect(await statusOf(store, name)).toMatchObject({ scheduled: 3, ready: 3, waiting: 0 });
    expect(await answerOf(opened, call(", NULL, 0"))).toMatchObject({ NextDueMs: null });
    expect(await statusOf(store, name)).toMatchObject({ scheduled: 3, ready: 5 });
  });

  for (const { tasks, says } of [
    { tasks: '[{"priority":"x"},7]', says: "tasks[0].priority: expected a whole" },
    { tasks: '[7,{},{"priority":"x"}]', says: "tasks[2].priority: expected a whole" },
    { tasks: "[7,8,{}]", says: "tasks: expected a JSON array of objects ([7,8,{}])" },
    { tasks: '[{"priority":"x"},{"runInMs":"y"}]', says: "tasks[0].priority: expected a whole" },
    { tasks: '[{"runInMs":"y"},{"priority":"x"}]', says: "tasks[0].runInMs: expected a whole" },
    { tasks: '[{},{"dedupeMs":"z","dedupeKey":"k"}]', says: "tasks[1].dedupeMs: expected a whole" },
    { tasks: '[{"kind":""},{"runAt":"soon"}]', says: "tasks[1].runAt: expected an ISO-8601" },
    { tasks: '[{"runInMs":""}]', says: "tasks[0].runInMs: expected a whole number ()" },
    { tasks: '[{"runInMs":9999999999999999}]', says: "tasks[0].runInMs: expected 0..31536" },
    { tasks: '[{"kind":""},{"group":""}]', says: "tasks[0].kind: expected 1..200 characters" },
    { tasks: '[{},{"group":""},{"kind":""}]', says: "tasks[1].group: expected 1..200" },
    { tasks: '[{"kind":" k"}]', says: "tasks[0].kind: expected 1..200 characters without" },
    { tasks: '[{"group":""}]', says: "tasks[0].group: expected 1..200 characters without" },
    { tasks: '[{"dedupeKey":""}]', says: "tasks[0].dedupeKey: expected 1..200 characters" },
    { tasks: `[{"group":"${"g".repeat(201)}"}]`, says: "tasks[0].group: expected 1..200" },
    { tasks: `[{"dedupeKey":"${"k".repeat(201)}"}]`, says: "tasks[0].dedupeKey: expected" },
    { tasks: '[{"payload":{"a":1}},{"payload":7}]', says: "tasks[1].payload: expected the text" },
  ]) {
    test(`the first problem of ${tasks.slice(0, 60)} is told, unreadable values before bad ones`, async () => {
      const opened = open();
      const name = await define(opened.store);
      const call = `EnqueueTasks N'${name}', 1, N'${tasks}'`;
      const { number, message } = await errorOf(opened, call);
      expect(number).toBe(50422);
      expect(String(message).startsWith(says)).toBe(true);
    });
  }

  test("a list of exactly 8 MiB isn't too large", async () => {
    const opened = open();
    const name = await define(opened.store);
    const value = "N'[\"' + REPLICATE(CONVERT(nvarchar(max), N'y'), 8388604) + N'\"]'";
    const { number, message } = await errorOf(opened, `EnqueueTasks N'${name}', 1, @v`, value);
    expect(number).toBe(50422);
    expect(String(message)).toMatch(/^tasks: expected a JSON array of objects \(\["yyy/);
  });

  test("a payload that is too large is told so, JSON or not", async () => {
    const opened = open();
    const name = await define(opened.store);
    const value = `N'[{"payload":"' + REPLICATE(CONVERT(nvarchar(max), N'x'), 65537) + N'"}]'`;
    expect(await errorOf(opened, `EnqueueTasks N'${name}', 1, @v`, value)).toEqual({
      number: 50413,
      message: "tasks[0].payload: expected at most 65536 bytes (65537)",
    });
  });

  for (const payload of ["{", "[1,", " ", "[1] 2", "{},{}"]) {
    test(`a payload of ${JSON.stringify(payload)} is refused, naming it`, async () => {
      const opened = open();
      const name = await define(opened.store);
      const tasks = JSON.stringify([{ payload }]);
      expect(await errorOf(opened, `EnqueueTasks N'${name}', 1, N'${tasks}'`)).toEqual({
        number: 50422,
        message: `tasks[0].payload: expected the text of a JSON object or array (${payload})`,
      });
    });
  }
}

function describeFailing(setup: StoreSetup): void {
  const open = useStore(setup);

  /** Calls in a transaction, catches the error, and tells it with what became of the transaction. */
  const failing = (call: string) => `
    DECLARE @told nvarchar(100);
    BEGIN TRY
      EXEC Taskgate.${call};
    END TRY
    BEGIN CATCH
      SET @told = CONCAT(ERROR_NUMBER(), N', state ', XACT_STATE(), N', open ', @@TRANCOUNT);
      THROW 50000, @told, 1;
    END CATCH;`;

  test("the procedure EnqueueTasks leaves it to the caller to roll back", async () => {
    const opened = open();
    const name = await define(opened.store);
    const call = failing(`EnqueueTasks N'${name}', 1, N'[{"kind":""}]'`);
    await expect(opened.call(call)).rejects.toMatchObject({
      message: "50422, state -1, open 1",
    });
  });

  test("AdvanceWatermark leaves it to the caller to roll back", async () => {
    const opened = open();
    const name = await define(opened.store);
    const blocks = `N'w', 0, N'[]', 1, N'[{"kind":""}]'`;
    await expect(
      opened.call(failing(`AdvanceWatermark N'${name}', ${blocks}`)),
    ).rejects.toMatchObject({
      message: "50422, state -1, open 1",
    });
  });

  test("CompleteTask leaves it to the caller to roll back", async () => {
    const opened = open();
    const { store } = opened;
    await enqueue(store, await define(store, {}, "demo"), [{ group: "g" }]);
    const worker = await startWorker(store, "demo");
    const { taskId, fence } = await worker.claimOne();
    opened.expectDamage();
    await opened.raw("DELETE FROM Taskgate.TaskGroup;");
    const call = failing(`CompleteTask ${worker.number}, ${taskId}, ${fence}`);
    await expect(opened.call(call)).rejects.toMatchObject({
      message: "50499, state -1, open 1",
    });
  });
}
