import { define, enqueue, startInput, startWorker } from "../../support/builders";
import type { Scenario, Scene } from "./scenario";

/* What a start costs that gets nothing, which is what happens most where many ask, and one that is a start itself. */

const once = [1] as const;
const daily = { count: 1, periodMs: 86_400_000, burst: 1 };

/** A limit of 4, all of which another process holds. */
async function full({ store, name }: Scene): Promise<void> {
  await define(store, { limit: 4 }, name);
  await startWorker(store, name, { want: 4 });
}

export const starting: readonly Scenario[] = [
  {
    operation: "startExecution",
    what: "denied to another process, noted",
    batches: once,
    prepare: async (scene) => {
      await full(scene);
      const { store, name } = scene;
      return () => store.startExecution(startInput(name, { worker: "another" }));
    },
  },
  {
    operation: "startExecution",
    what: "denied within a second of another one",
    batches: once,
    prepare: async (scene) => {
      await full(scene);
      const { store, name } = scene;
      await store.startExecution(startInput(name, { worker: "another" }));
      return () => store.startExecution(startInput(name, { worker: "a third" }));
    },
  },
  {
    operation: "startExecution",
    what: "denied, paused and without a limit",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, { limit: null }, name);
      await store.pauseDefinition({ name, changedBy: "an operator" });
      return () => store.startExecution(startInput(name));
    },
  },
  {
    operation: "startExecution",
    what: "denied by the rate",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, { limit: 4, rate: daily }, name);
      await startWorker(store, name);
      return () => store.startExecution(startInput(name, { worker: "another" }));
    },
  },
  {
    operation: "startExecution",
    what: "granted for a call of its own, beside a definition with a rate",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, { rate: daily }, `${name} beside`);
      await define(store, {}, name);
      return () => store.startExecution(startInput(name));
    },
  },
  {
    operation: "startExecution",
    what: "granted, ten tasks due behind ten that were promoted and cancelled",
    batches: once,
    prepare: async ({ store, name, world }) => {
      await define(store, {}, name);
      const later = Array.from({ length: 20 }, () => ({ runInMs: 1_000 }));
      const tasks = await enqueue(store, name, later);
      world.clock += 1_000;
      await store.promoteScheduled({ name, max: 10 });
      await store.cancelTasks({ taskIds: tasks.slice(0, 10) });
      return () => store.startExecution(startInput(name, { needsReady: true }));
    },
  },
];
