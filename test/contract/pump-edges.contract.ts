import { describe, expect, test } from "@jest/globals";
import type { BatchId, TaskId, WaveId } from "../../shared/core/ids";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import { at, define, operationId, startWorker, stateOf, statusOf } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { inDialect } from "./two-dialects";

/** A wave is opened in slices by one caller at a time. */
export function describePumpEdges(setup: StoreSetup): void {
  describe("pump_batch at its edges", () => {
    describeSlices(setup);
  });
}

interface Wave {
  readonly name: string;
  readonly waveId: WaveId;
}

async function hold(
  store: TaskStore,
  { name, waveId }: Wave,
  list: readonly Partial<NewTask>[],
): Promise<TaskId[]> {
  const tasks = list.map((task) => ({ payload: null, ...task }));
  return (await store.enqueueTasks({ name, build: 1, operationId: null, waveId, tasks })).taskIds;
}

async function create(store: TaskStore, waves: number) {
  const input = { operationId: operationId(), name: "a batch", failurePolicy: "halt" } as const;
  return store.createBatch({ ...input, waves });
}

async function waveOf(store: TaskStore, batchId: BatchId) {
  return at(at((await store.listBatches({ batchId, most: 1 })).batches, 0).waves, 0);
}

function describeSlices(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(
    setup,
    "row locks",
    "raw sql",
  )("who meets somebody who opens the wave is told so, and moves nothing", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const { batchId, waveIds } = await create(store, 1);
    const waveId = at(waveIds, 0);
    const ids = await hold(store, { name, waveId }, [
      {},
      { priority: 1 },
      { priority: 50, group: "g" },
      { priority: 50 },
    ]);
    await store.cancelBatch({ batchId });
    await opened.asOwner(async (transaction) => {
      const sql = `UPDATE taskgate.wave_shard SET remaining = remaining WHERE wave_id = ${waveId} AND shard = 17`;
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      await transaction.query(inDialect(dialect, sql, new Map()));
      const busy = { status: "busy", moved: 0, more: true, woken: [] };
      expect(await store.pumpBatch({ batchId, most: 1 })).toMatchObject(busy);
    });
    // In the order in which they would have been let in.
    for (const place of [1, 2, 3, 0]) {
      const slice = { status: "pumped", moved: 1, more: place !== 0, woken: [] };
      expect(await stateOf(store, at(ids, place))).toBe("held");
      expect(await store.pumpBatch({ batchId, most: 1 })).toMatchObject(slice);
      expect(await stateOf(store, at(ids, place))).toBe("cancelled");
    }
    expect(await waveOf(store, batchId)).toMatchObject({ state: "done", unfinished: 0 });
  });

  test("tasks of groups and others are let in, each counted once, and the last end closes the wave", async () => {
    const opened = open();
    const { store } = opened;
    const names = [await define(store, { limit: 10 }), await define(store, { limit: 10 })];
    const { batchId, waveIds } = await create(store, 1);
    const waveId = at(waveIds, 0);
    for (const name of names)
      await hold(store, { name, waveId }, [{}, { group: "g" }, {}, { group: "g" }]);
    const { woken } = await store.startBatch({ batchId, seal: true });
    expect([...woken].sort()).toEqual([...names].sort());
    expect(await waveOf(store, batchId)).toMatchObject({ state: "open", admitted: 8, held: 0 });
    for (const name of names) {
      expect(await statusOf(store, name)).toMatchObject({ ready: 2, scheduled: 2 });
      await store.promoteScheduled({ name, most: 10 });
      expect(await statusOf(store, name)).toMatchObject({ ready: 3, waiting: 1 });
      const worker = await startWorker(store, name, { want: 4 });
      let claimed = await worker.claim(4);
      while (claimed.length > 0) {
        expect(await waveOf(store, batchId)).toMatchObject({ state: "open" });
        claimed = (await worker.complete(claimed, 4)).claimed;
      }
    }
    expect(await waveOf(store, batchId)).toMatchObject({ state: "done", unfinished: 0 });
  });
}
