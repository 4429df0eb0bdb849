import type { BatchId } from "../../../shared/core/ids";
import type { TaskStore } from "../../../shared/ports/task-store";
import { define, enqueue, operationId, startWorker } from "../../support/builders";
import type { Scenario } from "./scenario";

const each = [1, 10, 100] as const;
const once = [1] as const;

/** A batch of two waves with so many tasks each. */
async function filled(store: TaskStore, name: string, count: number): Promise<BatchId> {
  await define(store, { limit: 500 }, name);
  const batch = { operationId: operationId(), name, failurePolicy: "halt", waves: 2 } as const;
  const { batchId, waveIds } = await store.createBatch(batch);
  for (const waveId of waveIds) {
    const tasks = Array.from({ length: count }, () => ({ payload: null }));
    await store.enqueueTasks({ name, build: 1, operationId: operationId(), waveId, tasks });
  }
  return batchId;
}

/** What batches of waves cost. */
export const batching: readonly Scenario[] = [
  {
    operation: "createBatch",
    what: "3 waves",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      const input = { operationId: operationId(), name, failurePolicy: "halt", waves: 3 } as const;
      return () => store.createBatch(input);
    },
  },
  {
    operation: "startBatch",
    what: "tasks of the first wave",
    batches: each,
    prepare: async ({ store, name, batch }) => {
      const batchId = await filled(store, name, batch);
      return () => store.startBatch({ batchId, seal: true });
    },
  },
  {
    operation: "pumpBatch",
    what: "tasks that are left",
    batches: each,
    prepare: async ({ store, name, batch }) => {
      const batchId = await filled(store, name, 200 + batch);
      await store.startBatch({ batchId, seal: true });
      return () => store.pumpBatch({ batchId, max: batch });
    },
  },
  {
    operation: "work",
    what: "completions that end a wave and open the next",
    batches: each,
    prepare: async ({ store, name, batch }) => {
      const batchId = await filled(store, name, batch);
      await store.startBatch({ batchId, seal: true });
      const worker = await startWorker(store, name, { want: 200 });
      const claimed = await worker.claim(batch);
      return () => worker.complete(claimed);
    },
  },
  {
    operation: "resumeBatch",
    what: "halted",
    batches: once,
    prepare: async ({ store, name }) => {
      const batchId = await filled(store, name, 1);
      await store.startBatch({ batchId, seal: true });
      const worker = await startWorker(store, name);
      await worker.fail(await worker.claim(1), { as: "dead" });
      return () => store.resumeBatch({ batchId });
    },
  },
  {
    operation: "cancelBatch",
    what: "running",
    batches: once,
    prepare: async ({ store, name }) => {
      const batchId = await filled(store, name, 10);
      await store.startBatch({ batchId, seal: true });
      return () => store.cancelBatch({ batchId });
    },
  },
  {
    operation: "listAudit",
    what: "the newest of two settings and two calls",
    batches: once,
    prepare: async ({ store, name }) => {
      const batchId = await filled(store, name, 10);
      await store.pauseDefinition({ name, changedBy: "operator" });
      await store.cancelTasks({ taskIds: await enqueue(store, name, 1) });
      await store.cancelBatch({ batchId });
      return () => store.listAudit({ max: 1 });
    },
  },
  {
    operation: "listBatches",
    what: "one",
    batches: once,
    prepare: async ({ store, name }) => {
      const batchId = await filled(store, name, 10);
      return () => store.listBatches({ batchId, max: 1 });
    },
  },
];
