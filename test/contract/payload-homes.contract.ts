import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  defaultSettings,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  startWorker,
} from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { filled, start } from "./batch-builders";

/**
 * T-SQL alone: a payload is written once in a task's life. The row of a task that is done stays in Task as its payload's home, and the
 * archive has none; each other end takes the row away. On PostgreSQL the archive packs payloads.
 */
export function describePayloadHomes(setup: StoreSetup): void {
  describe("the row of a task that is done", () => {
    describeHomes(setup);
  });
  describe("check_invariants of rows that stay", () => {
    describeFindings(setup);
  });
}

const payload = '{"a":1}';

function describeHomes(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the row of a done task stays with its payload and leaves its group, its wave, its checkpoint and its error", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, retryAttempts: 2 });
    const [plain, grouped] = await enqueue(store, name, [{ payload }, { payload, group: "g" }]);
    const batch = await filled(store, name, { counts: [1] });
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 10 });
    const first = await worker.claim(3);
    const retry = { as: "continued", retryInMs: 0, checkpoint: '{"at":1}', error: "once" } as const;
    await worker.fail(first, retry);
    await worker.complete(await worker.claim(3));
    const rows = await rowsOf(opened);
    expect(rows.map(({ TaskId }) => TaskId)).toEqual([plain, grouped, ...batch.tasks.flat()]);
    for (const row of rows) {
      expect(row).toMatchObject({ GroupId: null, WaveId: null, Checkpoint: null, Error: null });
    }
    expect(rows.map((row) => row.Payload)).toEqual([payload, payload, null]);
    const archived =
      "SELECT COUNT(*) AS n, COUNT(a.PayloadUtf8) AS payloads FROM Taskgate.Archive AS a";
    expect(await opened.raw(archived)).toEqual([{ n: 3, payloads: 0 }]);
    for (const { TaskId: taskId } of rows.slice(0, 2)) {
      expect(await factsOf(store, taskId)).toMatchObject({ state: "done", payload });
    }
  });

  test("the row of a done task leaves the text of a report, though nothing else needs to go", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(store, name, [{ payload }]);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const { executionId } = worker;
    const { taskId, fence } = task;
    await store.reportProgress({ executionId, taskId, fence, done: 1, total: 2, text: "half" });
    await worker.complete([task]);
    const text = "SELECT t.PayloadUtf8 AS payload, t.ProgressText AS text FROM Taskgate.Task AS t";
    expect(await opened.raw(text)).toEqual([{ payload, text: null }]);
  });

  test("the row of a done task goes with the purge of its task, which counts it once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10 });
    await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 10 });
    const [first, second, third] = await worker.claim(3);
    if (!first || !second || !third) throw new Error("three tasks expected");
    await worker.complete([first, second]);
    await opened.advance(defaultSettings.retainDoneMs / 2);
    await store.completeTask({ executionId: worker.executionId, ...done(third) });
    await opened.advance(defaultSettings.retainDoneMs / 2 + 1);
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 2 });
    expect((await rowsOf(opened)).map(({ TaskId }) => TaskId)).toEqual([third.taskId]);
  });

  test.each([
    ["whose definition keeps no payloads", { keepPayload: false }],
    ["whose definition keeps no done tasks", { retainDoneMs: 0 }],
  ])("the row of a done task goes at once in a task %s", async (_, settings) => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, ...settings });
    await enqueue(store, name, [{ payload }, { payload, group: "g" }, { payload }]);
    const worker = await startWorker(store, name, { want: 10 });
    const [first, second, third] = await worker.claim(3);
    if (!first || !second || !third) throw new Error("three tasks expected");
    await worker.complete([first, second]);
    await store.completeTask({ executionId: worker.executionId, ...done(third) });
    expect(await rowsOf(opened)).toEqual([]);
  });

  test("the row of a done task is no unfinished task: neither a cancel nor a reschedule nor a redrive touches it", async () => {
    const opened = open();
    const { store } = opened;
    const taskId = await oneDone(store, await define(store));
    const before = await rowsOf(opened);
    const asked = { taskIds: [taskId], changedBy: "test", reason: "test" };
    expect((await store.cancelTasks(asked)).results).toEqual([
      { taskId, outcome: "gone", state: "done" },
    ]);
    expect((await store.rescheduleTasks({ ...asked, to: { runInMs: 0 } })).results).toEqual([
      { taskId, outcome: "gone", state: "done" },
    ]);
    expect((await store.redriveTasks(asked)).results).toEqual([{ taskId, outcome: "done" }]);
    expect(await rowsOf(opened)).toEqual(before);
  });

  test("the row of a done task keeps a key's window, and is not replaced by an enqueue within it", async () => {
    const { store } = open();
    const name = await define(store);
    const key = { dedupeKey: "k", dedupeMs: 60_000 };
    const taskId = await enqueueOne(store, name, { payload, ...key });
    const worker = await startWorker(store, name);
    await worker.complete([await worker.claimOne()]);
    const again = { payload: '{"a":2}', ...key, onDuplicate: "replace" } as const;
    expect(await enqueueOne(store, name, again)).toBe(taskId);
    expect(await factsOf(store, taskId)).toMatchObject({ state: "done", payload });
    const filter = { key: "k" };
    for (const state of ["ready", "scheduled", "claimed"] as const) {
      expect((await store.listTasks({ name, state, max: 10, ...filter })).tasks).toEqual([]);
    }
    const { tasks } = await store.listTasks({ name, state: "done", max: 10, ...filter });
    expect(tasks.map(({ task }) => task)).toEqual([taskId]);
  });
}

function describeFindings(setup: StoreSetup): void {
  const open = useStore(setup);

  test.each([
    [
      "a row that the purge has left behind",
      "DELETE FROM Taskgate.Archive;",
      { rule: "each unfinished task stands in exactly one place", detail: "nowhere" },
    ],
    [
      "a row of a task that died",
      "UPDATE Taskgate.Archive SET Outcome = 11;",
      { rule: "a finished task is not unfinished, too", detail: "archive and task" },
    ],
    [
      "a payload that was written twice",
      "UPDATE Taskgate.Archive SET PayloadUtf8 = '{}';",
      { rule: "a finished task is not unfinished, too", detail: "archive and task" },
    ],
    [
      "a row of a task that is done and ready",
      "INSERT INTO Taskgate.Ready (TaskDefinitionId, Priority, Rank, TaskId) SELECT t.TaskDefinitionId, t.Priority, t.Rank, t.TaskId FROM Taskgate.Task AS t;",
      { rule: "a finished task is not unfinished, too", detail: "archive and task" },
    ],
    [
      "a key of a task that is done",
      "INSERT INTO Taskgate.Dedupe (TaskDefinitionId, DedupeKey, TaskId) SELECT t.TaskDefinitionId, N'k', t.TaskId FROM Taskgate.Task AS t;",
      { rule: "a key without a window belongs to an unfinished task" },
    ],
  ])("check_invariants of rows that stay finds %s", async (_, sql, finding) => {
    const opened = open();
    const { store } = opened;
    await oneDone(store, await define(store));
    opened.expectDamage();
    await opened.raw(sql);
    const { status, findings } = await store.checkInvariants();
    expect(status).toBe("broken");
    expect(findings).toEqual([expect.objectContaining(finding)]);
  });
}

async function oneDone(store: TaskStore, name: string) {
  const taskId = await enqueueOne(store, name, { payload });
  const worker = await startWorker(store, name);
  await worker.complete([await worker.claimOne()]);
  return taskId;
}

/** The rows of Task by id. */
async function rowsOf(opened: TestStore) {
  const rows = await opened.raw(
    `SELECT t.TaskId, t.GroupId, t.WaveId, t.CancelRequested, CONVERT(nvarchar(max), t.PayloadUtf8) AS Payload,
            CONVERT(nvarchar(max), t.CheckpointUtf8) AS [Checkpoint], CONVERT(nvarchar(max), t.LastErrorUtf8) AS Error
     FROM Taskgate.Task AS t ORDER BY t.TaskId`,
  );
  return rows.map((row) => ({
    ...row,
    TaskId: asTaskId(String(row["TaskId"])),
    Payload: row["Payload"],
  }));
}
