import type { BatchId } from "../../../shared/core/ids";
import type { NewTask } from "../../../shared/ports/task-store";
import { hold, makeBatch } from "../../contract/batch-builders";
import { define, enqueue, startWorker } from "../../support/builders";
import type { Scenario, Scene } from "./scenario";

/* Calls that a look spares locks or reads: without it the answer would be the same. */

const once = [1] as const;
const hour = 3_600_000;

/** The first wave of a new batch, with these tasks. */
async function waveWith(
  { store, name }: Scene,
  tasks: readonly Partial<NewTask>[],
): Promise<{ batchId: BatchId; add: () => Promise<unknown> }> {
  const { batchId, waveIds } = await makeBatch(store, 1, { name });
  const place = { name, waveId: waveIds[0] };
  await hold(store, place, tasks);
  return { batchId, add: () => hold(store, place, 1) };
}

/** Scheduled tasks, among which a task would be looked for that isn't found before. */
const scheduled = Array.from({ length: 10 }, () => ({ runInMs: hour }));

const replacement = { payload: "[2]", dedupeKey: "k", onDuplicate: "replace" } as const;

export const sparing: readonly Scenario[] = [
  {
    operation: "enqueueTasks",
    what: "scheduled, in a group",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      return () => enqueue(store, name, [{ group: "g", runInMs: hour }]);
    },
  },
  {
    operation: "enqueueTasks",
    what: "in a group, inside a transaction",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      const tasks = [{ payload: null, group: "g" }];
      return () =>
        store.transaction((within) =>
          store.enqueueTasks({ name, build: 1, operationId: null, tasks }, within),
        );
    },
  },
  {
    operation: "enqueueTasks",
    what: "into a wave that is open",
    batches: once,
    prepare: async (scene) => {
      await define(scene.store, {}, scene.name);
      const { batchId, add } = await waveWith(scene, [{}]);
      await scene.store.startBatch({ batchId, seal: false });
      return add;
    },
  },
  {
    operation: "enqueueTasks",
    what: "into a wave of a cancelled batch",
    batches: once,
    prepare: async (scene) => {
      await define(scene.store, {}, scene.name);
      const { batchId, add } = await waveWith(scene, [{}]);
      await scene.store.cancelBatch({ batchId });
      return add;
    },
  },
  {
    operation: "enqueueTasks",
    what: "replaces the payload of a ready task, beside scheduled ones",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      await enqueue(store, name, [{ dedupeKey: "k" }, ...scheduled]);
      return () => enqueue(store, name, [replacement]);
    },
  },
  {
    operation: "enqueueTasks",
    what: "replaces the payload of a blocked task, beside scheduled ones",
    batches: once,
    prepare: async (scene) => {
      const { store, name } = scene;
      await define(store, {}, name);
      await waveWith(scene, [{ dedupeKey: "k" }]);
      await enqueue(store, name, scheduled);
      return () => enqueue(store, name, [replacement]);
    },
  },
  {
    operation: "enqueueTasks",
    what: "replaces no payload, as the task of a group runs",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      await enqueue(store, name, [{ dedupeKey: "k", group: "g" }]);
      await (await startWorker(store, name)).claim(1);
      return () => enqueue(store, name, [replacement]);
    },
  },
  {
    operation: "setGroup",
    what: "to what it is",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      const change = {
        name,
        groupKey: "g",
        groupScope: "definition",
        changedBy: "operator",
      } as const;
      await store.setGroup({ ...change, slots: 3 });
      return () => store.setGroup({ ...change, slots: 3 });
    },
  },
  {
    operation: "work",
    what: "claims, ten tasks due behind ten that were promoted",
    batches: once,
    prepare: async ({ store, name, world }) => {
      await define(store, {}, name);
      const worker = await startWorker(store, name);
      await enqueue(
        store,
        name,
        Array.from({ length: 20 }, () => ({ runInMs: 1_000 })),
      );
      world.clock += 1_000;
      await store.promoteScheduled({ name, max: 10 });
      return () => worker.work({ want: 1 });
    },
  },
  {
    operation: "purge",
    what: "an execution, beside one that stays",
    batches: once,
    prepare: async ({ store, name, world }) => {
      await define(store, {}, name);
      const worker = await startWorker(store, name);
      await worker.finish();
      world.clock += 60 * 24 * hour;
      await startWorker(store, name);
      return () => store.purge({ max: 500 });
    },
  },
  {
    operation: "listTasks",
    what: "by a member of the payload, with tasks behind 4 MiB of payloads",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      const payload = JSON.stringify({ a: "x".repeat(65_000) });
      await enqueue(
        store,
        name,
        Array.from({ length: 74 }, () => ({ payload })),
      );
      return () => store.listTasks({ name, state: "ready", max: 5, path: "a", value: "small" });
    },
  },
];
