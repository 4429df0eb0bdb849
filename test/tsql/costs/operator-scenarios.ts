import { asTaskId } from "../../../shared/core/ids";
import type { TaskId } from "../../../shared/core/ids";
import type { AdvanceWatermarkInput } from "../../../shared/ports/task-store";
import { define, enqueue, only, operationId, setLimit, startWorker } from "../../support/builders";
import { plantGroups } from "./scene";
import type { Scenario, Scene } from "./scenario";

/** Tasks of other definitions and groups stand around them. */
async function readyTasks({ store, name, batch }: Scene, group?: string): Promise<TaskId[]> {
  await define(store, { limit: null }, name);
  const tasks = Array.from({ length: batch }, () => (group === undefined ? {} : { group }));
  return enqueue(store, name, tasks);
}

/** One task that runs, one that waits for it, one ready, one held by a wave and one scheduled; beside them so many scheduled ones. */
async function tasksBesideScheduled({ store, name, batch }: Scene): Promise<TaskId[]> {
  await define(store, { limit: null }, name);
  const tasks = await enqueue(store, name, [{ group: "g", priority: 0 }, { group: "g" }]);
  const worker = await startWorker(store, name);
  await worker.claim(1);
  const { waveIds } = await store.createBatch({
    operationId: operationId(),
    name,
    failurePolicy: "halt",
    waves: 1,
  });
  const waveId = only([...waveIds]);
  const held = [{ payload: null }];
  const wave = await store.enqueueTasks({ name, build: 1, operationId: null, waveId, tasks: held });
  await enqueue(
    store,
    name,
    Array.from({ length: batch }, () => ({ runInMs: 60_000 })),
  );
  const alone = await enqueue(store, name, [{}, { runInMs: 120_000 }]);
  return [...tasks, ...alone, ...wave.taskIds];
}

const each = [1, 10, 100] as const;

/** The number of groups must not show. */
export const lookingAtGroups = "nothing: looks at 100 of so many hundred groups";

/** What operators do with tasks and groups. */
export const operating: readonly Scenario[] = [
  {
    operation: "cancelTasks",
    what: "so many ready tasks",
    batches: each,
    prepare: async (scene) => {
      const taskIds = await readyTasks(scene);
      return () => scene.store.cancelTasks({ taskIds });
    },
  },
  {
    operation: "cancelTasks",
    what: "so many of one group, all but one waiting",
    batches: each,
    prepare: async (scene) => {
      const taskIds = await readyTasks(scene, "g");
      return () => scene.store.cancelTasks({ taskIds });
    },
  },
  {
    operation: "cancelTasks",
    what: "an unknown task",
    batches: [1],
    prepare: async (scene) => {
      await readyTasks(scene);
      return () => scene.store.cancelTasks({ taskIds: [asTaskId("999999")] });
    },
  },
  {
    operation: "cancelTasks",
    what: "one in each place, beside so many scheduled ones",
    batches: each,
    prepare: async (scene) => {
      const taskIds = await tasksBesideScheduled(scene);
      return () => scene.store.cancelTasks({ taskIds });
    },
  },
  {
    operation: "redriveTasks",
    what: "so many cancelled tasks",
    batches: each,
    prepare: async (scene) => {
      const taskIds = await readyTasks(scene);
      await scene.store.cancelTasks({ taskIds });
      return () => scene.store.redriveTasks({ taskIds });
    },
  },
  {
    operation: "rescheduleTasks",
    what: "so many ready tasks",
    batches: each,
    prepare: async (scene) => {
      const taskIds = await readyTasks(scene);
      return () => scene.store.rescheduleTasks({ taskIds, to: { runInMs: 60_000 } });
    },
  },
  {
    operation: "rescheduleTasks",
    what: "one in each place, beside so many scheduled ones",
    batches: each,
    prepare: async (scene) => {
      const taskIds = await tasksBesideScheduled(scene);
      return () => scene.store.rescheduleTasks({ taskIds, to: { runInMs: 60_000 } });
    },
  },
  {
    operation: "setGroup",
    what: "a slot for each of so many who wait",
    batches: each,
    prepare: async (scene) => {
      const { store, name, batch } = scene;
      await readyTasks({ ...scene, batch: batch + 1 }, "g"); // one of them has the slot
      const change = { groupKey: "g", groupScope: "definition", changedBy: "operator" } as const;
      return () => store.setGroup({ name, ...change, slots: batch + 1 });
    },
  },
  {
    operation: "advanceWatermark",
    what: "a new one, with so many blocks",
    batches: each,
    prepare: async (scene) => {
      await define(scene.store, { limit: null }, scene.name);
      return () => scene.store.advanceWatermark(move(scene, "0"));
    },
  },
  {
    operation: "advanceWatermark",
    what: "with so many blocks",
    batches: each,
    prepare: async (scene) => {
      await marked(scene);
      return () => scene.store.advanceWatermark(move(scene, "1"));
    },
  },
  {
    operation: "advanceWatermark",
    what: "a conflict",
    batches: [1],
    prepare: async (scene) => {
      await marked(scene);
      return () => scene.store.advanceWatermark(move(scene, "0"));
    },
  },
  {
    operation: "setWatermark",
    what: "back",
    batches: [1],
    prepare: async (scene) => {
      await marked(scene);
      const change = { value: "[0]", changedBy: "operator", operationId: operationId() };
      return () => scene.store.setWatermark({ name: scene.name, watermark: "by-id", ...change });
    },
  },
  {
    operation: "registerApp",
    what: "two definitions, new",
    batches: [1],
    prepare: ({ store, name }) => {
      const input = { app: "billing", definitions: [name, "later"], address: null };
      return Promise.resolve(() => store.registerApp(input));
    },
  },
  {
    operation: "registerApp",
    what: "two definitions, as before",
    batches: [1],
    prepare: async ({ store, name }) => {
      const input = { app: "billing", definitions: [name, "later"], address: null };
      await store.registerApp(input);
      return () => store.registerApp(input);
    },
  },
  {
    operation: "setDefinitionOwner",
    what: "from one app to another",
    batches: [1],
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      await store.registerApp({ app: "billing", definitions: [name], address: null });
      return () => store.setDefinitionOwner({ name, app: "orders", changedBy: "operator" });
    },
  },
  {
    operation: "setStop",
    what: "the begin of a stop",
    batches: [1],
    prepare: ({ store }) =>
      Promise.resolve(() => store.setStop({ isOn: true, changedBy: "operator" })),
  },
  {
    operation: "setRate",
    what: "from none to 5 a second",
    batches: [1],
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      const rate = { count: 5, periodMs: 1_000, burst: 5 };
      return () => store.setRate({ name, rate, changedBy: "operator" });
    },
  },
];

/** Old rows are deleted. */
export const purging: readonly Scenario[] = [
  ...(
    [
      ["so many dead tasks, each with an attempt", "dead"],
      ["so many done tasks with their payloads", "done"],
    ] as const
  ).map(([what, as]): Scenario => ({
    operation: "purge",
    what,
    batches: each,
    prepare: async (scene) => {
      const { store, name, batch, world } = scene;
      await readyTasks(scene);
      const worker = await startWorker(store, name, { want: batch });
      const claimed = await worker.claim(batch);
      if (as === "done") await worker.complete(claimed);
      else await worker.fail(claimed, { as });
      await worker.finish();
      world.clock += 60 * 86_400_000;
      return () => store.purge({ max: 500 });
    },
  })),
  {
    operation: "purge",
    what: "so many answers and keys",
    batches: each,
    prepare: async ({ store, name, batch, world }) => {
      await define(store, { limit: 2 }, name);
      const numbers = Array.from({ length: batch }, (_, index) => 100 + index);
      // Equally long ones, or more of them would cost more each.
      for (const number of numbers) await setLimit(store, name, 2 + (number % 2));
      const keys = numbers.map((number) => ({ dedupeKey: String(number), dedupeMs: 1_000 }));
      await enqueue(store, name, keys);
      world.clock += 2 * 86_400_000;
      return () => store.purge({ max: 500 });
    },
  },
  {
    operation: "purge",
    what: "so many batches of one wave",
    batches: each,
    prepare: async ({ store, batch, world }) => {
      for (let count = 0; count < batch; count += 1) {
        const plan = { name: "a batch", failurePolicy: "halt", waves: 1 } as const;
        const made = await store.createBatch({ ...plan, operationId: operationId() });
        await store.startBatch({ batchId: made.batchId, seal: true });
      }
      world.clock += 60 * 86_400_000;
      return () => store.purge({ max: 500 });
    },
  },
  {
    operation: "purge",
    what: "so many groups that nobody needs",
    batches: each,
    prepare: async ({ store, name, batch }) => {
      await define(store, { limit: null, prefetchMax: 1_000 }, name);
      const keys = Array.from({ length: batch }, (_, index) => ({ group: String(index) }));
      await enqueue(store, name, keys);
      const worker = await startWorker(store, name);
      await worker.complete(await worker.claim(batch));
      return () => store.purge({ max: 500 });
    },
  },
  {
    operation: "purge",
    what: lookingAtGroups,
    batches: each,
    prepare: async (scene) => {
      await readyTasks({ ...scene, batch: 1 });
      plantGroups(scene.world, scene.batch * 100);
      return () => scene.store.purge({ max: 100 });
    },
  },
  {
    operation: "purge",
    what: "nothing",
    batches: [1],
    prepare: async (scene) => {
      await readyTasks(scene);
      return () => scene.store.purge({ max: 500 });
    },
  },
];

/** A move with so many blocks. */
function move({ name, batch }: Scene, expectedVersion: string): AdvanceWatermarkInput {
  const tasks = Array.from({ length: batch }, () => ({ payload: "[1]" }));
  const to = { watermark: "by-id", expectedVersion, value: "[1]" };
  return { name, ...to, build: 1, tasks, operationId: operationId() };
}

/** A watermark that stands at version 1. */
async function marked(scene: Scene): Promise<void> {
  await define(scene.store, { limit: null }, scene.name);
  await scene.store.advanceWatermark({ ...move(scene, "0"), tasks: [] });
}

/** Reading what operators look at. */
export const operatorsReading: readonly Scenario[] = [
  {
    operation: "listGroups",
    what: "one of so many tasks",
    batches: each,
    prepare: async (scene) => {
      const { store, name } = scene;
      await readyTasks(scene, "g");
      return () => store.listGroups({ name, max: 100 });
    },
  },
  {
    operation: "listApps",
    what: "two with a definition each",
    batches: [1],
    prepare: async ({ store, name }) => {
      await store.registerApp({ app: "billing", definitions: [name], address: null });
      await store.registerApp({ app: "orders", definitions: ["later"], address: null });
      return () => store.listApps();
    },
  },
  {
    operation: "listSharedLimits",
    what: "one, a token held",
    batches: [1],
    prepare: async ({ store, name }) => {
      await define(store, { sharedLimits: [{ name: "shared", limit: 4 }] }, name);
      await startWorker(store, name);
      return () => store.listSharedLimits({ max: 100 });
    },
  },
  {
    operation: "listWatermarks",
    what: "one",
    batches: [1],
    prepare: async (scene) => {
      await marked(scene);
      return () => scene.store.listWatermarks({ name: scene.name, max: 100 });
    },
  },
  {
    operation: "listFailures",
    what: "of one definition, at most ten",
    batches: [1, 100],
    prepare: async ({ store, name, batch: count }) => {
      await define(store, { limit: null }, name);
      await enqueue(store, name, count);
      const worker = await startWorker(store, name, { want: 1 });
      for (let left = count; left > 0; left -= 1)
        await worker.fail([await worker.claimOne()], { as: "dead", error: "no use" });
      return () => store.listFailures({ name, max: 10 });
    },
  },
  {
    operation: "listStopped",
    what: "one definition",
    batches: [1],
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      await store.pauseDefinition({ name, changedBy: "ada", isStop: true });
      return () => store.listStopped({ max: 100 });
    },
  },
  {
    operation: "readStatistics",
    what: "one definition, one period",
    batches: [1],
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      await enqueue(store, name, 1);
      await store.rollUpStatistics({ max: 1_000 });
      return () => store.readStatistics({ name, grain: 1, max: 60 });
    },
  },
  {
    operation: "rollUpStatistics",
    what: "one execution each, with one task that ended well",
    batches: [1, 100],
    prepare: async ({ store, name, batch: count }) => {
      await define(store, { limit: null }, name);
      await enqueue(store, name, count);
      for (let left = count; left > 0; left -= 1) {
        const worker = await startWorker(store, name, { want: 1 });
        await worker.complete([await worker.claimOne()]);
        await worker.finish();
      }
      return () => store.rollUpStatistics({ max: 1_000 });
    },
  },
  {
    operation: "readPace",
    what: "ready tasks of one priority, as many finished ones",
    batches: [1, 100],
    prepare: async ({ store, name, batch: count }) => {
      await define(store, { limit: null }, name);
      await enqueue(store, name, 2 * count);
      const worker = await startWorker(store, name, { want: 1 });
      for (let left = count; left > 0; left -= 1) await worker.complete([await worker.claimOne()]);
      return () => store.readPace({ name, max: 100 });
    },
  },
];
