import { describe, expect, test } from "@jest/globals";
import type { BatchId } from "../../shared/core/ids";
import type { CreateBatchInput } from "../../shared/ports/task-store";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueueOne,
  operationId,
  registration,
  startWorker,
  stateOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { dayMs, isPurgeable, nothingPurged } from "./purge-scene";
import { inDialect } from "./two-dialects";

/** Batches that finished long ago go with their waves; the rest stays sound. */
export function describePurgeBatches(setup: StoreSetup): void {
  describe("purge of finished batches", () => {
    describeKept(setup);
  });
  describe("purge of batches in slices", () => {
    describeSlices(setup);
  });
  describe("the rest of a purged batch", () => {
    describeLeft(setup);
  });
}

/** The creation of a batch with so many waves. */
function creation(waves: number, changes: Partial<CreateBatchInput> = {}): CreateBatchInput {
  return {
    operationId: operationId(),
    name: "a batch",
    failurePolicy: "continue",
    waves,
    ...changes,
  };
}

/** A batch of empty waves, which is done as soon as it starts. */
async function finished(store: TaskStore, waves: number): Promise<BatchId> {
  const { batchId } = await store.createBatch(creation(waves));
  await store.startBatch({ batchId, seal: true });
  return batchId;
}

/** The batches that there are, each with the number of its waves. */
async function left(store: TaskStore): Promise<[BatchId, number][]> {
  const { batches } = await store.listBatches({ max: 100 });
  return batches.map(({ batch, waves }): [BatchId, number] => [batch, waves.length]).reverse();
}

/** A batch of one wave with one task, which died; its definition. */
async function died(store: TaskStore) {
  const settings = { limit: 5, retainDoneMs: 0, retainDeadMs: 30 * dayMs };
  const name = await define(store, settings);
  const { batchId, waveIds } = await store.createBatch(creation(1));
  const tasks = [{ payload: null }];
  const input = { name, build: 1, operationId: null, tasks, waveId: at(waveIds, 0) };
  const taskId = at((await store.enqueueTasks(input)).taskIds, 0);
  await store.startBatch({ batchId, seal: true });
  const worker = await startWorker(store, name);
  await worker.fail([await worker.claimOne()], { as: "dead" });
  await worker.finish();
  return { name, settings, batchId, taskId, input };
}

/** Rows of all tables of batches. */
async function rowsOf(opened: TestStore, { dialect }: StoreSetup): Promise<number[]> {
  if (dialect === "memory") return [];
  const counts: number[] = [];
  for (const table of ["batch", "wave", "wave_shard", "open_wave"]) {
    const sql = `SELECT COUNT(*) AS rows_left FROM taskgate.${table} AS x`;
    const [row] = await opened.raw(inDialect(dialect, sql, new Map()));
    counts.push(Number(Object.values(row ?? {})[0]));
  }
  return counts;
}

function describeKept(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")(
    "a finished batch stays as long as the longest retention",
    async () => {
      const opened = open();
      const { store } = opened;
      await define(store, { retainDoneMs: 0, retainDeadMs: 3 * dayMs });
      const batchId = await finished(store, 2);
      await opened.advance(3 * dayMs);
      expect(await isPurgeable(store)).toBe(false);
      expect(await store.purge({ max: 10 })).toMatchObject({ status: "none", batches: 0 });
      expect(await left(store)).toEqual([[batchId, 2]]);
      await opened.advance(1);
      expect(await isPurgeable(store)).toBe(true);
      expect(await store.purge({ max: 10 })).toEqual({
        ...nothingPurged,
        status: "purged",
        purged: 1,
        batches: 1,
      });
      expect(await left(store)).toEqual([]);
      expect(await isPurgeable(store)).toBe(false);
      expect((await store.purge({ max: 10 })).status).toBe("none");
    },
  );

  testWith(setup, "exact clock")("a day at least; a repeat finds it until it goes", async () => {
    const opened = open();
    const { store } = opened;
    await define(store, { retainDoneMs: 0, retainDeadMs: 0 });
    const input = creation(2);
    const first = await store.createBatch(input);
    await store.startBatch({ batchId: first.batchId, seal: true });
    await opened.advance(dayMs);
    expect((await store.purge({ max: 10 })).batches).toBe(0);
    expect(await store.createBatch(input)).toEqual(first);
    await opened.advance(1);
    expect((await store.purge({ max: 10 })).batches).toBe(1);
    const second = await store.createBatch(input);
    expect(second.batchId).not.toBe(first.batchId);
    expect(second.waveIds).toHaveLength(2);
  });

  test("drafts, running and halted ones stay, however old; cancelled ones go", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: 0, retainDeadMs: 0 });
    const draft = await store.createBatch(creation(1));
    const ids = [draft.batchId];
    for (const failurePolicy of ["halt", "continue"] as const) {
      const { batchId, waveIds } = await store.createBatch(creation(2, { failurePolicy }));
      for (const waveId of waveIds) {
        const tasks = [{ payload: null }];
        await store.enqueueTasks({ name, build: 1, operationId: null, waveId, tasks });
      }
      await store.startBatch({ batchId, seal: true });
      const worker = await startWorker(store, name);
      await worker.fail([await worker.claimOne()], { as: "dead" });
      await worker.finish();
      ids.push(batchId);
    }
    const { batchId: cancelled } = await store.createBatch(creation(1));
    await store.cancelBatch({ batchId: cancelled });
    const { batches } = await store.listBatches({ max: 10 });
    expect(batches.map(({ state }) => state)).toEqual(["cancelled", "running", "halted", "draft"]);
    await opened.advance(400 * dayMs);
    expect((await store.purge({ max: 10 })).batches).toBe(1);
    expect((await left(store)).map(([id]) => id)).toEqual(ids);
  });
}

function describeSlices(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a purge of batches removes the oldest first, and tells of more while waves fill a share", async () => {
    const opened = open();
    const { store } = opened;
    const ids: BatchId[] = [];
    for (const waves of [1, 2, 1, 1]) ids.push(await finished(store, waves));
    await opened.advance(2 * dayMs);
    const [, , third, fourth] = ids;
    expect(await store.purge({ max: 3 })).toMatchObject({ purged: 2, batches: 2, more: true });
    expect(await left(store)).toEqual([
      [third, 1],
      [fourth, 1],
    ]);
    expect(await store.purge({ max: 3 })).toMatchObject({ batches: 2, more: false });
    expect(await left(store)).toEqual([]);
  });

  test("a batch with more waves loses them call by call, and answers no repeat meanwhile", async () => {
    const opened = open();
    const { store } = opened;
    const input = creation(5);
    const { batchId } = await store.createBatch(input);
    await store.startBatch({ batchId, seal: true });
    const next = await finished(store, 1);
    await opened.advance(2 * dayMs);
    const slice = { status: "purged", purged: 0, batches: 0, more: true };
    expect(await store.purge({ max: 2 })).toMatchObject(slice);
    const { batches } = await store.listBatches({ batchId, max: 1 });
    expect(at(batches, 0).waves.map(({ ordinal }) => ordinal)).toEqual([3, 4, 5]);
    const again = await store.createBatch(input);
    expect(again.batchId).not.toBe(batchId);
    expect(again.waveIds).toHaveLength(5);
    expect(await store.createBatch(input)).toEqual(again);
    expect(await store.purge({ max: 2 })).toMatchObject(slice);
    expect(await left(store)).toEqual([
      [batchId, 1],
      [next, 1],
      [again.batchId, 5],
    ]);
    // Waves of the next one go in the same call.
    expect(await store.purge({ max: 2 })).toMatchObject({ batches: 2, more: true });
    expect(await store.purge({ max: 2 })).toMatchObject({ status: "none", more: false });
    expect(await left(store)).toEqual([[again.batchId, 5]]);
  });

  testWith(setup, "raw sql")("hundreds of waves go at once, with all their counters", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, retainDoneMs: 0, retainDeadMs: 0 });
    const { batchId, waveIds } = await store.createBatch(creation(250));
    for (const index of [0, 225]) {
      const waveId = at(waveIds, index);
      const tasks = [{ payload: null }];
      await store.enqueueTasks({ name, build: 1, operationId: null, waveId, tasks });
    }
    await store.startBatch({ batchId, seal: true });
    const worker = await startWorker(store, name);
    await worker.complete([await worker.claimOne()]);
    await worker.complete([await worker.claimOne()]);
    await worker.finish();
    expect(await rowsOf(opened, setup)).toEqual([1, 250, 250 + 2 * 17, 0]);
    await opened.advance(2 * dayMs);
    const kept = await store.createBatch(creation(1));
    expect((await store.purge({ max: 1_000 })).batches).toBe(1);
    expect(await rowsOf(opened, setup)).toEqual([1, 1, 1, 0]);
    expect((await left(store)).map(([id]) => id)).toEqual([kept.batchId]);
  });
}

function describeLeft(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a dead letter whose wave is gone comes back on its own", async () => {
    const opened = open();
    const { store } = opened;
    const { name, settings, batchId, taskId } = await died(store);
    // The retention is lowered after its end: its archive row outlives the batch.
    const lower = { ...settings, retainDeadMs: 0 };
    await store.registerDefinition(registration({ name, build: 2, settings: lower }));
    await opened.advance(2 * dayMs);
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 0, batches: 1 });
    expect(await stateOf(store, taskId)).toBe("dead");
    expect((await store.listBatches({ batchId, max: 1 })).batches).toEqual([]);
    const { tasks } = await store.listTasks({ name, state: "dead", max: 10 });
    expect(tasks.map(({ task }) => task)).toEqual([taskId]);
    expect(await store.redriveTasks({ taskIds: [taskId] })).toMatchObject({
      results: [{ taskId, outcome: "redriven" }],
      woken: [name],
    });
    const worker = await startWorker(store, name, { build: 2 });
    await worker.complete([await worker.claimOne()]);
    expect((await store.checkInvariants()).findings).toEqual([]);
  });

  test("a purged batch's ids are unknown", async () => {
    const opened = open();
    const { store } = opened;
    const { name, settings, batchId, input } = await died(store);
    const lower = { ...settings, retainDeadMs: 0 };
    await store.registerDefinition(registration({ name, build: 2, settings: lower }));
    await opened.advance(2 * dayMs);
    await store.purge({ max: 10 });
    const unknown = { code: "TASKGATE_ARG_UNKNOWN", field: "batch_id" } as const;
    await expectError(store.startBatch({ batchId, seal: true }), unknown);
    await expectError(store.resumeBatch({ batchId }), unknown);
    await expectError(store.cancelBatch({ batchId }), unknown);
    await expectError(store.pumpBatch({ batchId, max: 10 }), unknown);
    await expectError(store.enqueueTasks(input), { ...unknown, field: "wave_id" });
    expect(await stateOf(store, await enqueueOne(store, name))).toBe("ready");
  });
}
