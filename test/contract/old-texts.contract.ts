import { describe, expect, test } from "@jest/globals";
import {
  define,
  defaultSettings,
  enqueueOne,
  factsOf,
  failure,
  only,
  startWorker,
} from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/**
 * T-SQL alone: rows of before a new column, such as a task's texts in UTF-16. Nothing writes them any more, and everything reads them.
 */
export function describeOldTexts(setup: StoreSetup): void {
  describe("a task of before", () => {
    describeOldTasks(setup);
  });
  describe("a task that was done before its row stayed for the payload", () => {
    describeOldDone(setup);
  });
  describe("half of a surrogate pair", () => {
    describeHalves(setup);
  });
}

const oldTask = `
UPDATE Taskgate.Task
SET Payload = CONVERT(nvarchar(max), PayloadUtf8), [Checkpoint] = CONVERT(nvarchar(max), CheckpointUtf8),
    LastError = CONVERT(nvarchar(4000), LastErrorUtf8), PayloadUtf8 = NULL, CheckpointUtf8 = NULL, LastErrorUtf8 = NULL;
UPDATE Taskgate.Attempt SET Error = CONVERT(nvarchar(4000), ErrorUtf8), ErrorUtf8 = NULL;`;
const oldArchive = `
UPDATE Taskgate.Archive
SET Payload = CONVERT(nvarchar(max), PayloadUtf8), Result = CONVERT(nvarchar(max), ResultUtf8),
    Error = CONVERT(nvarchar(4000), ErrorUtf8), PayloadUtf8 = NULL, ResultUtf8 = NULL, ErrorUtf8 = NULL;`;

const text = "añ€中😀";
const payload = JSON.stringify({ text });
const checkpoint = JSON.stringify({ at: text });

function describeOldTasks(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a task of before keeps its payload, checkpoint and error to its end, in the new columns", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retryAttempts: 1 });
    const taskId = await enqueueOne(store, name, { payload });
    const worker = await startWorker(store, name);
    const first = await worker.claimOne();
    await store.failTasks({
      executionId: worker.executionId,
      failures: [failure(first, { as: "continued", error: text, retryInMs: 0, checkpoint })],
    });
    await opened.raw(oldTask);
    expect(await factsOf(store, taskId)).toMatchObject({ payload, error: text });
    expect(only(await opened.readLog(name))).toMatchObject({ payload, error: text });

    const again = await worker.claimOne();
    expect(again).toMatchObject({ payload: { text }, checkpoint });
    // The same checkpoint once more: the task has not gone on.
    await store.failTasks({
      executionId: worker.executionId,
      failures: [failure(again, { as: "continued", error: null, retryInMs: 0, checkpoint })],
    });
    expect(await factsOf(store, taskId)).toMatchObject({ continuedCount: 2, error: text });

    await worker.complete([await worker.claimOne()]);
    expect(await factsOf(store, taskId)).toMatchObject({ state: "done", payload, error: text });
    expect(await opened.readLog(name)).toEqual(
      expect.arrayContaining([expect.objectContaining({ outcome: "done", payload })]),
    );
    // Its row stays as it is, for the payload.
    const columns = "Payload, PayloadUtf8, [Checkpoint], CheckpointUtf8, LastError, LastErrorUtf8";
    expect(await opened.raw(`SELECT ${columns} FROM Taskgate.Task`)).toEqual([
      {
        Payload: payload,
        PayloadUtf8: null,
        Checkpoint: null,
        CheckpointUtf8: null,
        LastError: null,
        LastErrorUtf8: null,
      },
    ]);
  });

  test("a task of before leaves its checkpoint and its error where it is done next", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retryAttempts: 2 });
    await enqueueOne(store, name, { payload });
    const worker = await startWorker(store, name);
    const retry = { as: "continued", error: text, retryInMs: 0, checkpoint } as const;
    await worker.fail([await worker.claimOne()], retry);
    await opened.raw(oldTask);
    await worker.complete([await worker.claimOne()]);
    const left = "SELECT [Checkpoint], LastError FROM Taskgate.Task";
    expect(await opened.raw(left)).toEqual([{ Checkpoint: null, LastError: null }]);
  });

  test("a task of before is replaced by a payload, or by none", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    for (const next of [checkpoint, null]) {
      const dedupeKey = String(next);
      const taskId = await enqueueOne(store, name, { payload, dedupeKey });
      await opened.raw(oldTask);
      await enqueueOne(store, name, { payload: next, dedupeKey, onDuplicate: "replace" });
      expect(await factsOf(store, taskId)).toMatchObject({ payload: next });
    }
  });

  test("a task of before is shown and redriven from the archive", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retryAttempts: 1 });
    const taskId = await enqueueOne(store, name, { payload });
    const worker = await startWorker(store, name);
    await worker.fail(await worker.claim(1), { error: text });
    await opened.raw(oldArchive);
    expect(await factsOf(store, taskId)).toMatchObject({ state: "dead", payload, error: text });
    const [listed] = (await store.listTasks({ name, state: "dead", max: 10 })).tasks;
    expect(listed).toMatchObject({ error: text });
    await store.redriveTasks({ taskIds: [taskId], changedBy: "test", reason: "test" });
    expect(await worker.claimOne()).toMatchObject({ taskId, payload: { text } });
    expect(await factsOf(store, taskId)).toMatchObject({ error: text });
  });
}

function describeOldDone(setup: StoreSetup): void {
  const open = useStore(setup);

  test.each([
    ["in UTF-8", ""],
    ["in UTF-16", oldArchive],
  ])(
    "a done task of before shows its payload from the archive, %s, and is found by it",
    async (_, older) => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const taskId = await enqueueOne(store, name, { payload });
      const worker = await startWorker(store, name);
      await worker.complete([await worker.claimOne()]);
      await opened.raw(`
      UPDATE a SET PayloadUtf8 = t.PayloadUtf8
      FROM Taskgate.Archive AS a INNER JOIN Taskgate.Task AS t ON t.TaskId = a.TaskId;
      DELETE FROM Taskgate.Task;
      ${older}`);
      expect(await factsOf(store, taskId)).toMatchObject({ state: "done", payload });
      expect(only(await opened.readLog(name))).toMatchObject({ payload });
      const filter = { path: "text", value: text };
      const { tasks } = await store.listTasks({ name, state: "done", max: 10, ...filter });
      expect(tasks.map(({ task }) => task)).toEqual([taskId]);
      // The purge finds no row of it but the archive's.
      await opened.advance(defaultSettings.retainDoneMs + 1);
      expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1 });
    },
  );
}

function describeHalves(setup: StoreSetup): void {
  const open = useStore(setup);

  const call = (text: string): string =>
    `EXEC Taskgate.EnqueueTasks @Name = N'halves', @Build = 1, @Tasks = N'[{"payload":"{\\"a\\":\\"${text}\\"}"}]';`;

  test.each([
    ["a high half", "\\ud83d"],
    ["a low half", "x\\ude00"],
    ["both the wrong way round", "\\ude00\\ud83d"],
  ])("%s is refused, naming it", async (_, middle) => {
    const opened = open();
    await define(opened.store, {}, "halves");
    await expect(opened.call(call(middle))).rejects.toThrow(
      "tasks[0].payload: expected whole characters, found half of a surrogate pair",
    );
  });

  test("a whole pair is kept", async () => {
    const opened = open();
    await define(opened.store, {}, "halves");
    await opened.call(call("\\ud83d\\ude00"));
    const worker = await startWorker(opened.store, "halves");
    expect(await worker.claimOne()).toMatchObject({ payload: { a: "😀" } });
  });
}
