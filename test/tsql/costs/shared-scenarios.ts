import type { TaskStore } from "../../../shared/ports/task-store";
import { define, operationId, registration, startInput, startWorker } from "../../support/builders";
import type { Worker } from "../../support/builders";
import type { Scenario, Scene } from "./scenario";

const sharedLimits = ["older", "younger"].map((name) => ({ name, limit: 4 }));

/** A definition that draws from two shared limits, and a process that holds so many tokens. */
async function drawing({ store, name }: Scene, want: number): Promise<Worker> {
  await define(store, { sharedLimits }, name);
  return startWorker(store, name, { want });
}

/** The same with room of its own; the process holds all of the shared ones. */
async function filling({ store, name }: Scene): Promise<Worker> {
  await define(store, { limit: 8, sharedLimits }, name);
  return startWorker(store, name, { want: 4 });
}

function denied({ store, name }: Scene): ReturnType<TaskStore["startExecution"]> {
  return store.startExecution(startInput(name, { worker: "another" }));
}

function setOlder(store: TaskStore, limit: number | null): ReturnType<TaskStore["setSharedLimit"]> {
  const change = { name: "older", operationId: operationId(), changedBy: "me" };
  return store.setSharedLimit({ ...change, limit });
}

/** Tokens of which several definitions may have some. */
export const sharing: readonly Scenario[] = [
  {
    operation: "startExecution",
    what: "granted, of two shared limits",
    batches: [1],
    prepare: async (scene) => {
      await drawing(scene, 1);
      return () => scene.store.startExecution(startInput(scene.name));
    },
  },
  {
    operation: "startExecution",
    what: "denied and noted, by two shared limits",
    batches: [1],
    prepare: async (scene) => {
      await filling(scene);
      return () => denied(scene);
    },
  },
  {
    operation: "work",
    what: "nothing done, of two shared limits",
    batches: [1],
    prepare: async (scene) => {
      const worker = await filling(scene);
      return () => worker.work();
    },
  },
  {
    operation: "work",
    what: "nothing done, while somebody is denied by two shared limits",
    batches: [1],
    prepare: async (scene) => {
      const worker = await filling(scene);
      await denied(scene);
      return () => worker.work();
    },
  },
  {
    operation: "releaseSurplus",
    what: "2 of 4 for somebody who was denied, of two shared limits",
    batches: [1],
    prepare: async (scene) => {
      const { executionId } = await filling(scene);
      await denied(scene);
      return () => scene.store.releaseSurplus({ executionId, keep: 0 });
    },
  },
  {
    operation: "releaseTokens",
    what: "3 of 4, of two shared limits",
    batches: [1],
    prepare: async (scene) => {
      const { executionId } = await drawing(scene, 4);
      return () => scene.store.releaseTokens({ executionId, keep: 1 });
    },
  },
  {
    operation: "registerDefinition",
    what: "another build, the same shared limits",
    batches: [1],
    prepare: async (scene) => {
      await drawing(scene, 1);
      const input = registration({ name: scene.name, settings: { sharedLimits } });
      return () => scene.store.registerDefinition({ ...input, build: 2 });
    },
  },
  {
    operation: "setSharedLimit",
    what: "from 4 to 8",
    batches: [1],
    prepare: async ({ store, name }) => {
      await define(store, { sharedLimits: [{ name: "older", limit: 4 }] }, name);
      return () => setOlder(store, 8);
    },
  },
  {
    operation: "setSharedLimit",
    what: "from 4 to none, beside a process with tokens",
    batches: [1],
    prepare: async (scene) => {
      await drawing(scene, 1);
      return () => setOlder(scene.store, null);
    },
  },
  {
    operation: "setSharedLimit",
    what: "from none to 8, one of three processes has tokens",
    batches: [1],
    prepare: async (scene) => {
      const { store, name } = scene;
      const first = await drawing(scene, 1);
      await startWorker(store, name);
      const last = await startWorker(store, name);
      for (const { executionId } of [first, last]) {
        await store.releaseTokens({ executionId, keep: 0 });
      }
      await setOlder(store, null);
      return () => setOlder(store, 8);
    },
  },
];
