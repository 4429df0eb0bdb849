import { describe, expect, test } from "@jest/globals";
import { asBatchId, asWaveId } from "../../shared/core/ids";
import type { BatchId, TaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { define, idsOf, operationId, startWorker, stateOf, statusOf } from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { batchStatus, filled, hold, makeBatch, start, waveStates } from "./batch-builders";

/** Batches of waves: no task of a wave before every task of the waves before has ended (source text 004). */
export function describeBatches(setup: StoreSetup): void {
  describe("create_batch", () => {
    describeCreate(setup);
  });
  describe("waves", () => {
    describeWaves(setup);
  });
  describe("tasks added to a wave", () => {
    describeAdding(setup);
  });
  describe("a wave is opened in slices", () => {
    describeSlices(setup);
  });
  describe("a dead task in a wave", () => {
    describePolicies(setup);
  });
  describe("cancel_batch", () => {
    describeCancel(setup);
  });
  describe("list_batches", () => {
    describeList(setup);
  });
}

/** Goes on opening until nothing is left; how many calls moved something. */
async function pumpAll(store: TaskStore, batchId: BatchId, max = 1_000): Promise<number> {
  for (let calls = 0; calls < 100; calls += 1) {
    const answer = await store.pumpBatch({ batchId, max });
    if (!answer.more) return calls + Number(answer.moved > 0);
  }
  throw new Error("Pumping doesn't end");
}

/** Claims and completes until nothing is left; the ids in the order of their claims. */
async function drain(worker: Worker, size: number): Promise<TaskId[]> {
  const order: TaskId[] = [];
  let claimed = await worker.claim(size);
  while (claimed.length > 0) {
    order.push(...idsOf(claimed));
    claimed = (await worker.complete(claimed, size)).claimed;
  }
  return order;
}

function describeCreate(setup: StoreSetup): void {
  const open = useStore(setup);

  test("create_batch makes empty waves in order; a repeat answers the first call's", async () => {
    const { store } = open();
    const input = {
      operationId: operationId(),
      name: "nightly",
      failurePolicy: "halt",
      waves: 3,
    } as const;
    const first = await store.createBatch(input);
    expect(first.waveIds).toHaveLength(3);
    expect(await store.createBatch({ ...input, name: "another" })).toEqual(first);
    expect(await batchStatus(store, first.batchId)).toMatchObject({
      name: "nightly",
      state: "draft",
      failurePolicy: "halt",
      startedAt: null,
      endedAt: null,
      waves: first.waveIds.map((wave, index) => ({
        wave,
        ordinal: index + 1,
        state: "blocked",
        sealed: false,
        blocked: 0,
        admitted: 0,
        unfinished: 0,
        dead: 0,
      })),
    });
  });

  test("batches of one name share nothing (S4.7)", async () => {
    const { store } = open();
    const one = await makeBatch(store, 1);
    const two = await makeBatch(store, 1);
    expect(one.batchId).not.toBe(two.batchId);
    expect(one.waveIds[0]).not.toBe(two.waveIds[0]);
  });

  test("bad values are refused, naming field and value", async () => {
    const { store } = open();
    for (const waves of [0, 1_001]) {
      await expectError(makeBatch(store, waves), {
        code: "TASKGATE_ARG_INVALID",
        field: "waves",
        value: waves,
      });
    }
    await expectError(makeBatch(store, 1, { name: " a" }), {
      code: "TASKGATE_ARG_INVALID",
      field: "name",
    });
    await expectError(makeBatch(store, 1, { failurePolicy: "stop" as "halt" }), {
      code: "TASKGATE_ARG_INVALID",
      field: "failure_policy",
      value: "stop",
    });
    expect((await store.listBatches({ max: 100 })).batches).toEqual([]);
  });

  test("unknown batches and waves are refused", async () => {
    const { store } = open();
    const name = await define(store);
    const batchId = asBatchId("99");
    const unknown = { code: "TASKGATE_ARG_UNKNOWN", field: "batch_id", value: "99" } as const;
    await expectError(store.startBatch({ batchId, seal: true }), unknown);
    await expectError(store.pumpBatch({ batchId, max: 1 }), unknown);
    await expectError(store.resumeBatch({ batchId }), unknown);
    await expectError(store.cancelBatch({ batchId }), unknown);
    await expectError(hold(store, { name, waveId: asWaveId("98") }, 1), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "wave_id",
      value: "98",
    });
  });
}

function describeWaves(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a wave's tasks run together, and the next wave begins when the last task has ended (S4.1, S4.2)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const { batchId, tasks } = await filled(store, name, { counts: [3, 2] });
    const worker = await startWorker(store, name, { want: 10 });
    expect(await worker.claim(10)).toEqual([]);
    expect(await store.startBatch({ batchId, seal: true })).toEqual({
      status: "started",
      woken: [name],
      opening: [],
    });
    const first = await worker.claim(10);
    expect(idsOf(first)).toEqual(tasks[0]);
    expect((await worker.complete(first.slice(0, 2), 10)).claimed).toEqual([]);
    expect(await waveStates(store, batchId)).toEqual(["open", "blocked"]);
    const last = await worker.complete(first.slice(2), 10);
    expect(idsOf(last.claimed)).toEqual(tasks[1]);
    expect(await waveStates(store, batchId)).toEqual(["done", "open"]);
    await worker.complete(last.claimed);
    expect(await batchStatus(store, batchId)).toMatchObject({ state: "done" });
  });

  test("waves without tasks are passed over, also at either end (S4.8)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const batch = await filled(store, name, { counts: [0, 1, 0, 0, 1, 0] });
    await start(store, batch);
    expect(await waveStates(store, batch.batchId)).toEqual([
      "done",
      "open",
      "blocked",
      "blocked",
      "blocked",
      "blocked",
    ]);
    const worker = await startWorker(store, name, { want: 1 });
    expect(await drain(worker, 1)).toEqual([...(batch.tasks[1] ?? []), ...(batch.tasks[4] ?? [])]);
    const status = await batchStatus(store, batch.batchId);
    expect(status.state).toBe("done");
    expect(status.endedAt).not.toBeNull();
    expect(status.waves.every((wave) => wave.state === "done")).toBe(true);
  });

  test("a batch without any task is done when it starts", async () => {
    const { store } = open();
    const batch = await makeBatch(store, 2);
    expect(await start(store, batch)).toEqual({ status: "started", woken: [], opening: [] });
    expect((await batchStatus(store, batch.batchId)).state).toBe("done");
  });

  test("a batch that is started again changes nothing", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1] });
    await start(store, batch);
    expect(await start(store, batch)).toEqual({ status: "again", woken: [], opening: [] });
    expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
  });

  test("a wave may hold tasks of several definitions; all of them are woken", async () => {
    const { store } = open();
    const a = await define(store, {}, "waves-a");
    const b = await define(store, {}, "waves-b");
    const batch = await makeBatch(store, 2);
    await hold(store, { name: a, waveId: batch.waveIds[0] }, 1);
    await hold(store, { name: a, waveId: batch.waveIds[1] }, 1);
    await hold(store, { name: b, waveId: batch.waveIds[1] }, 2);
    await start(store, batch);
    const worker = await startWorker(store, a);
    const claimed = await worker.claim(1);
    expect((await worker.complete(claimed, 0)).woken).toEqual([b]);
    expect(await statusOf(store, b)).toMatchObject({ ready: 2 });
  });

  test("one call that ends waves of two batches tells of all definitions that got tasks", async () => {
    const { store } = open();
    const [a, b, c] = [
      await define(store, {}, "waves-a"),
      await define(store, {}, "waves-b"),
      await define(store, {}, "waves-c"),
    ];
    for (const other of [b, c]) {
      const batch = await makeBatch(store, 2);
      await hold(store, { name: a, waveId: batch.waveIds[0] }, 1);
      await hold(store, { name: other, waveId: batch.waveIds[1] }, 1);
      await start(store, batch);
    }
    const worker = await startWorker(store, a, { want: 2 });
    const { woken } = await worker.complete(await worker.claim(2), 0);
    expect([...woken].sort()).toEqual([b, c]);
  });

  test("batches are independent of each other (S4.6)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const one = await filled(store, name, { counts: [1, 1] });
    const two = await filled(store, name, { counts: [1, 1] });
    await start(store, one);
    await start(store, two);
    const worker = await startWorker(store, name, { want: 10 });
    const claimed = await worker.claim(10);
    expect(claimed).toHaveLength(2);
    await worker.complete(claimed.slice(1));
    expect(await waveStates(store, one.batchId)).toEqual(["open", "blocked"]);
    expect(await waveStates(store, two.batchId)).toEqual(["done", "open"]);
  });

  test("the call that ends the last tasks opens the next wave, also of several waves (S4.13, S4.14)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const one = await filled(store, name, { counts: [2, 1] });
    const two = await filled(store, name, { counts: [2, 1] });
    await start(store, two);
    await start(store, one);
    const worker = await startWorker(store, name, { want: 10 });
    const answer = await worker.complete(await worker.claim(10), 10);
    expect(idsOf(answer.claimed)).toEqual([...(one.tasks[1] ?? []), ...(two.tasks[1] ?? [])]);
  });

  test("a task that is retried keeps its wave open; so does one that waits for its group", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, retryBaseMs: 0, retryCapMs: 0 });
    const batch = await makeBatch(store, 2);
    await hold(store, { name, waveId: batch.waveIds[0] }, [{ group: "g" }, { group: "g" }]);
    await hold(store, { name, waveId: batch.waveIds[1] }, 1);
    await start(store, batch);
    await opened.advance(1);
    const worker = await startWorker(store, name, { want: 10 });
    const first = await worker.claim(10);
    expect(first).toHaveLength(1);
    await worker.fail(first, { retryInMs: 0 });
    await opened.advance(1);
    expect(await waveStates(store, batch.batchId)).toEqual(["open", "blocked"]);
    for (let rounds = 0; rounds < 2; rounds += 1) {
      const claimed = await worker.claim(1);
      expect(await waveStates(store, batch.batchId)).toEqual(["open", "blocked"]);
      await worker.complete(claimed);
      await opened.advance(1);
    }
    expect(await waveStates(store, batch.batchId)).toEqual(["done", "open"]);
  });

  test("a cancelled task has ended, and counts as no failure", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const batch = await filled(store, name, { counts: [1, 1] });
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 1 });
    const claimed = await worker.claim(1);
    await worker.fail(claimed, { as: "cancelled" });
    expect(await batchStatus(store, batch.batchId)).toMatchObject({
      state: "running",
      waves: [{ state: "done", dead: 0 }, { state: "open" }],
    });
  });

  test("the tasks of a dead worker keep their wave open until they are done (S4.12)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, leaseMs: 1_000 });
    const batch = await filled(store, name, { counts: [1, 1] });
    await start(store, batch);
    const lost = await startWorker(store, name, { want: 1 });
    await lost.claim(1);
    await opened.advance(1_001);
    await store.reclaimExpired({ max: 10 });
    expect(await waveStates(store, batch.batchId)).toEqual(["open", "blocked"]);
    const worker = await startWorker(store, name, { want: 1 });
    await worker.complete(await worker.claim(1));
    expect(await waveStates(store, batch.batchId)).toEqual(["done", "open"]);
  });

  testWith(setup, "raw sql")(
    "a completion inside a transaction opens the next wave with its commit",
    async () => {
      const { store } = open();
      const name = await define(store, { limit: 10 });
      const batch = await filled(store, name, { counts: [1, 1] });
      await start(store, batch);
      const worker = await startWorker(store, name, { want: 1 });
      const [task] = await worker.claim(1);
      if (task === undefined) throw new Error("Nothing was claimed");
      const { executionId } = worker;
      const completion = {
        executionId,
        taskId: task.taskId,
        fence: task.fence,
        durationMs: 1,
        result: null,
      };
      await expect(
        store.transaction(async (within) => {
          await store.completeTask(completion, within);
          throw new Error("rolled back");
        }),
      ).rejects.toThrow("rolled back");
      expect(await waveStates(store, batch.batchId)).toEqual(["open", "blocked"]);
      await store.transaction((within) => store.completeTask(completion, within));
      expect(await waveStates(store, batch.batchId)).toEqual(["done", "open"]);
    },
  );
}

function describeAdding(setup: StoreSetup): void {
  const open = useStore(setup);

  test("tasks added to a wave are blocked: neither ready nor due, for any group that they name", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await makeBatch(store, 1);
    const answer = await hold(store, { name, waveId: batch.waveIds[0] }, [{}, { group: "g" }]);
    expect(answer).toMatchObject({ status: "enqueued", ready: false, nextDueMs: null });
    for (const id of answer.taskIds) expect(await stateOf(store, id)).toBe("blocked");
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0, scheduled: 0 });
  });

  test("a blocked wave takes tasks while the batch runs, until it is opened; late ones write nothing", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const batch = await makeBatch(store, 2);
    await hold(store, { name, waveId: batch.waveIds[0] }, 1);
    await store.startBatch({ batchId: batch.batchId, seal: false });
    expect(await hold(store, { name, waveId: batch.waveIds[0] }, [{ dedupeKey: "k" }])).toEqual({
      status: "late",
      taskIds: [],
      outcomes: [],
      ready: false,
      nextDueMs: null,
    });
    const { taskIds } = await hold(store, { name, waveId: batch.waveIds[1] }, [{ dedupeKey: "k" }]);
    const worker = await startWorker(store, name, { want: 1 });
    const next = await worker.complete(await worker.claim(1), 1);
    expect(idsOf(next.claimed)).toEqual(taskIds);
    expect((await hold(store, { name, waveId: batch.waveIds[1] }, 1)).status).toBe("late");
  });

  test("sealed waves take no tasks from the start on (S4.9)", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1, 1] });
    await start(store, batch);
    expect((await hold(store, { name, waveId: batch.waveIds[1] }, 1)).status).toBe("sealed");
    expect((await hold(store, { name, waveId: batch.waveIds[0] }, 1)).status).toBe("late");
  });

  test("a repeat of an addition answers as the first, also when the wave is open meanwhile", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await makeBatch(store, 1);
    const [waveId] = batch.waveIds;
    if (waveId === undefined) throw new Error("There is no wave");
    const input = {
      name,
      build: 1,
      operationId: operationId(),
      waveId,
      tasks: [{ payload: null }],
    };
    const first = await store.enqueueTasks(input);
    await start(store, batch);
    expect(await store.enqueueTasks(input)).toEqual(first);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
  });

  test("a late addition's operation id stays free", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1] });
    await start(store, batch);
    const [waveId] = batch.waveIds;
    if (waveId === undefined) throw new Error("There is no wave");
    const input = { name, build: 1, operationId: operationId(), tasks: [{ payload: null }] };
    expect((await store.enqueueTasks({ ...input, waveId })).status).toBe("late");
    expect((await store.enqueueTasks(input)).taskIds).toHaveLength(1);
  });

  test("an instant of its own is refused", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await makeBatch(store, 1);
    for (const instant of [{ runInMs: 5 }, { runAt: new Date(Date.UTC(2030, 0, 1)) }]) {
      await expectError(hold(store, { name, waveId: batch.waveIds[0] }, [{}, instant]), {
        code: "TASKGATE_ARG_INVALID",
        field: "runAt",
      });
    }
  });

  test("a duplicate with a key joins no wave", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await makeBatch(store, 2);
    const first = await hold(store, { name, waveId: batch.waveIds[0] }, [{ dedupeKey: "k" }]);
    const second = await hold(store, { name, waveId: batch.waveIds[1] }, [{ dedupeKey: "k" }]);
    expect(second).toMatchObject({ taskIds: first.taskIds, outcomes: ["duplicate"] });
    expect((await batchStatus(store, batch.batchId)).waves.map((wave) => wave.blocked)).toEqual([
      1, 0,
    ]);
  });

  test("priorities decide within a wave", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const batch = await makeBatch(store, 1);
    const { taskIds } = await hold(store, { name, waveId: batch.waveIds[0] }, [
      { priority: 2 },
      { priority: 1 },
    ]);
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 2 });
    expect(idsOf(await worker.claim(2))).toEqual([...taskIds].reverse());
  });
}

function describeSlices(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the first slice of a wave comes with the opening, the rest by pump_batch, in order", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const { batchId, tasks } = await filled(store, name, { counts: [450] });
    expect(await store.startBatch({ batchId, seal: true })).toEqual({
      status: "started",
      woken: [name],
      opening: [batchId],
    });
    expect(await batchStatus(store, batchId)).toMatchObject({
      waves: [{ state: "opening", blocked: 250, admitted: 200, unfinished: 200 }],
    });
    expect((await store.sweep({ max: 10 })).opening).toEqual([batchId]);
    const worker = await startWorker(store, name, { want: 10 });
    expect(idsOf(await worker.claim(10))).toEqual(tasks[0]?.slice(0, 10));
    expect(await store.pumpBatch({ batchId, max: 100 })).toEqual({
      status: "pumped",
      moved: 100,
      more: true,
      woken: [name],
    });
    expect(await pumpAll(store, batchId, 100)).toBe(2);
    expect(await batchStatus(store, batchId)).toMatchObject({
      waves: [{ state: "open", blocked: 0, admitted: 450, unfinished: 450 }],
    });
    expect((await store.sweep({ max: 10 })).opening).toEqual([]);
    expect(await store.pumpBatch({ batchId, max: 100 })).toMatchObject({
      status: "done",
      moved: 0,
    });
  });

  test("a wave isn't over while some of it is held, even when all that was admitted has ended", async () => {
    const { store } = open();
    const name = await define(store, { limit: 500, prefetchMax: 0 });
    const { batchId } = await filled(store, name, { counts: [201, 1] });
    await store.startBatch({ batchId, seal: true });
    const worker = await startWorker(store, name, { want: 500 });
    const claimed = await worker.claim(500);
    expect(claimed).toHaveLength(200);
    await worker.complete(claimed);
    expect(await waveStates(store, batchId)).toEqual(["opening", "blocked"]);
    await pumpAll(store, batchId);
    expect(await waveStates(store, batchId)).toEqual(["open", "blocked"]);
    await worker.complete(await worker.claim(1));
    expect(await waveStates(store, batchId)).toEqual(["done", "open"]);
  });

  test("the call that ends the last task is told that the next wave has more to admit", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const { batchId } = await filled(store, name, { counts: [1, 201] });
    await store.startBatch({ batchId, seal: true });
    const worker = await startWorker(store, name, { want: 1 });
    expect((await worker.complete(await worker.claim(1))).opening).toEqual([batchId]);
  });

  test("pump_batch takes a max of 1 to 1000 and refuses 0 and 1001", async () => {
    const { store } = open();
    const { batchId } = await makeBatch(store, 1);
    for (const max of [0, 1_001]) {
      await expectError(store.pumpBatch({ batchId, max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
    for (const max of [1, 1_000]) {
      expect((await store.pumpBatch({ batchId, max })).status).toBe("done");
    }
  });
}

async function killFirst(store: TaskStore, name: string): Promise<void> {
  const worker = await startWorker(store, name, { want: 1 });
  const [task] = await worker.claim(1);
  if (task === undefined) throw new Error("Nothing was claimed");
  await worker.fail([task], { as: "dead" });
  await store.finishExecution({ executionId: worker.executionId });
}

function describePolicies(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a halted batch opens no further wave until it is resumed (S4.11)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const batch = await filled(store, name, { counts: [2, 1], failurePolicy: "halt" });
    await start(store, batch);
    await killFirst(store, name);
    expect(await batchStatus(store, batch.batchId)).toMatchObject({
      state: "running",
      waves: [{ state: "open", dead: 1 }, { state: "blocked" }],
    });
    const worker = await startWorker(store, name, { want: 1 });
    expect((await worker.complete(await worker.claim(1))).woken).toEqual([]);
    expect(await batchStatus(store, batch.batchId)).toMatchObject({
      state: "halted",
      endedAt: null,
      waves: [{ state: "done" }, { state: "blocked" }],
    });
    const { batchId } = batch;
    expect(await store.resumeBatch({ batchId })).toEqual({
      status: "resumed",
      woken: [name],
      opening: [],
    });
    expect(await store.resumeBatch({ batchId })).toEqual({
      status: "again",
      woken: [],
      opening: [],
    });
    expect(await waveStates(store, batchId)).toEqual(["done", "open"]);
  });

  test("a dead task counts as ended in a batch that continues", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1, 1], failurePolicy: "continue" });
    await start(store, batch);
    await killFirst(store, name);
    expect(await batchStatus(store, batch.batchId)).toMatchObject({
      state: "running",
      waves: [{ state: "done", dead: 1 }, { state: "open" }],
    });
  });

  test("a dead task ends the blocked tasks of its batch cancelled, wave after wave, where the batch says so", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1, 2, 1], failurePolicy: "cancel" });
    await start(store, batch);
    await killFirst(store, name);
    const { batchId } = batch;
    expect((await batchStatus(store, batchId)).state).toBe("cancelled");
    expect((await store.sweep({ max: 10 })).opening).toEqual([batchId]);
    await pumpAll(store, batchId);
    const status = await batchStatus(store, batchId);
    expect(status.waves.map((wave) => wave.state)).toEqual(["done", "cancelled", "cancelled"]);
    expect(status.endedAt).not.toBeNull();
    for (const id of batch.tasks.slice(1).flat())
      expect(await stateOf(store, id)).toBe("cancelled");
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, cancelled: 3 });
  });

  test("resume_batch leaves a draft a draft and a cancelled batch ended", async () => {
    const { store } = open();
    const { batchId } = await makeBatch(store, 1);
    expect((await store.resumeBatch({ batchId })).status).toBe("draft");
    await store.cancelBatch({ batchId });
    expect((await store.resumeBatch({ batchId })).status).toBe("ended");
  });
}

function describeCancel(setup: StoreSetup): void {
  const open = useStore(setup);

  test("cancel_batch of a running batch opens no further wave, names open tasks and ends held ones", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const batch = await filled(store, name, { counts: [2, 3] });
    await start(store, batch);
    const { batchId } = batch;
    expect(await store.cancelBatch({ batchId })).toEqual({
      status: "cancelled",
      tasks: batch.tasks[0],
      opening: [],
    });
    expect((await store.cancelBatch({ batchId })).status).toBe("again");
    const worker = await startWorker(store, name, { want: 2 });
    const answer = await worker.complete(await worker.claim(2), 2);
    expect(answer).toMatchObject({ claimed: [], opening: [batchId] });
    await pumpAll(store, batchId);
    for (const id of batch.tasks[1] ?? []) expect(await stateOf(store, id)).toBe("cancelled");
    expect(await store.cancelBatch({ batchId })).toMatchObject({ status: "again", tasks: [] });
  });

  test("a draft ends: its keys are free again", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await makeBatch(store, 2);
    await hold(store, { name, waveId: batch.waveIds[1] }, [{ dedupeKey: "k", group: "g" }]);
    const { batchId } = batch;
    expect(await store.cancelBatch({ batchId })).toEqual({
      status: "cancelled",
      tasks: [],
      opening: [batchId],
    });
    expect((await hold(store, { name, waveId: batch.waveIds[0] }, 1)).status).toBe("late");
    expect(await store.startBatch({ batchId, seal: true })).toMatchObject({ status: "ended" });
    await pumpAll(store, batchId);
    expect((await batchStatus(store, batchId)).endedAt).not.toBeNull();
    const other = await makeBatch(store, 1);
    expect(
      (await hold(store, { name, waveId: other.waveIds[0] }, [{ dedupeKey: "k" }])).outcomes,
    ).toEqual(["enqueued"]);
  });

  test("cancel_tasks ends a task that is held; its wave opens without it", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1, 2, 1] });
    const [kept, dropped] = batch.tasks[1] ?? [];
    if (kept === undefined || dropped === undefined) throw new Error("There are no tasks");
    const { results } = await store.cancelTasks({ taskIds: [dropped, ...(batch.tasks[2] ?? [])] });
    expect(results.map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled"]);
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 1 });
    expect(await drain(worker, 1)).toEqual([...(batch.tasks[0] ?? []), kept]);
    expect((await batchStatus(store, batch.batchId)).state).toBe("done");
  });

  test("cancel_tasks ends the last task of a wave, and so opens the next", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1, 1] });
    await start(store, batch);
    const { woken } = await store.cancelTasks({ taskIds: batch.tasks[0] ?? [] });
    expect(woken).toEqual([name]);
    expect(await waveStates(store, batch.batchId)).toEqual(["done", "open"]);
  });

  test("a batch that is done stays done", async () => {
    const { store } = open();
    const batch = await makeBatch(store, 1);
    await start(store, batch);
    const { batchId } = batch;
    expect(await store.cancelBatch({ batchId })).toEqual({
      status: "done",
      tasks: [],
      opening: [],
    });
  });

  test("a batch that is cancelled while a wave is being opened ends the rest of it cancelled", async () => {
    const { store } = open();
    const name = await define(store, { limit: 300, prefetchMax: 0 });
    const batch = await filled(store, name, { counts: [201, 1] });
    await start(store, batch);
    const { batchId } = batch;
    const answer = await store.cancelBatch({ batchId });
    expect(answer.tasks).toHaveLength(200);
    expect(answer.opening).toEqual([batchId]);
    await pumpAll(store, batchId);
    const worker = await startWorker(store, name, { want: 300 });
    await worker.complete(await worker.claim(300));
    await pumpAll(store, batchId);
    expect(await statusOf(store, name)).toMatchObject({ done: 200, cancelled: 2 });
    expect((await batchStatus(store, batchId)).endedAt).not.toBeNull();
  });
}

function describeList(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_batches lists the newest first, page by page", async () => {
    const { store } = open();
    const ids: BatchId[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await makeBatch(store, 1)).batchId);
    const [oldest, middle, newest] = ids;
    const listed = async (input: { before?: BatchId; max: number }) =>
      (await store.listBatches(input)).batches.map(({ batch }) => batch);
    expect(await listed({ max: 2 })).toEqual([newest, middle]);
    if (middle === undefined) throw new Error("There are no batches");
    expect(await listed({ max: 2, before: middle })).toEqual([oldest]);
  });

  testWith(setup, "exact clock")(
    "list_batches tells since when a batch runs, while it does",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const batch = await filled(store, name, { counts: [1] });
      expect((await batchStatus(store, batch.batchId)).runningMs).toBeNull();
      await start(store, batch);
      await opened.advance(1_500);
      expect((await batchStatus(store, batch.batchId)).runningMs).toBe(1_500);
      const worker = await startWorker(store, name);
      await worker.complete(await worker.claim(1));
      expect((await batchStatus(store, batch.batchId)).runningMs).toBeNull();
    },
  );

  test("list_batches takes a max of 1 to 100 and refuses 0 and 101", async () => {
    const { store } = open();
    for (const max of [0, 101]) {
      await expectError(store.listBatches({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
    for (const max of [1, 100]) expect(await store.listBatches({ max })).toEqual({ batches: [] });
  });
}
