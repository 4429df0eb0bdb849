import {
  at,
  define,
  done,
  enqueue,
  registration,
  setLimit,
  startInput,
  startWorker,
} from "../../support/builders";
import type { Worker } from "../../support/builders";
import type { Scenario, Scene } from "./scenario";
import { starting } from "./start-scenarios";
import { failuresOf, pastDue, startedTasks } from "./scene";

const each = [1, 10, 100] as const;
const once = [1] as const;

/** Every operation that writes. */
export const writing: readonly Scenario[] = [
  {
    operation: "registerDefinition",
    what: "new",
    batches: once,
    prepare:
      async ({ store, name }) =>
      () =>
        store.registerDefinition(registration({ name })),
  },
  {
    operation: "registerDefinition",
    what: "known, nothing changed",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      return () => store.registerDefinition(registration({ name }));
    },
  },
  {
    operation: "setLimit",
    what: "from 4 to 8",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      return () => setLimit(store, name, 8);
    },
  },
  {
    operation: "pauseDefinition",
    what: "",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      return () => store.pauseDefinition({ name, changedBy: "an operator" });
    },
  },
  {
    operation: "resumeDefinition",
    what: "",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      await store.pauseDefinition({ name, changedBy: "an operator" });
      return () => store.resumeDefinition({ name, changedBy: "an operator" });
    },
  },
  {
    operation: "startExecution",
    what: "granted, of a limit of 4",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      await enqueue(store, name, 1);
      return () => store.startExecution(startInput(name, { needsReady: true }));
    },
  },
  {
    operation: "startExecution",
    what: "denied",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      await startWorker(store, name, { want: 4 });
      return () => store.startExecution(startInput(name));
    },
  },
  ...starting,
  {
    operation: "acquireTokens",
    what: "3 more",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      const { executionId } = await startWorker(store, name);
      return () => store.acquireTokens({ executionId, want: 4 });
    },
  },
  {
    operation: "releaseTokens",
    what: "3 of 4",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      const { executionId } = await startWorker(store, name, { want: 4 });
      return () => store.releaseTokens({ executionId, keep: 1 });
    },
  },
  {
    operation: "releaseTokens",
    what: "3 of 4, ten tasks ready behind ten that were claimed",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, { limit: 40 }, name);
      const { executionId } = await startWorker(store, name, { want: 4 });
      await enqueue(store, name, 20);
      const other = await startWorker(store, name, { want: 10 });
      await other.claim(10);
      return () => store.releaseTokens({ executionId, keep: 1 });
    },
  },
  {
    operation: "releaseSurplus",
    what: "2 above the limit",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, {}, name);
      const { executionId } = await startWorker(store, name, { want: 4 });
      await setLimit(store, name, 2);
      return () => store.releaseSurplus({ executionId, keep: 0 });
    },
  },
  {
    operation: "enqueueTasks",
    what: "plain",
    batches: each,
    prepare: async ({ store, name, batch }) => {
      await define(store, {}, name);
      return () => enqueue(store, name, batch);
    },
  },
  {
    operation: "enqueueTasks",
    what: "with a key each",
    batches: each,
    prepare: async ({ store, name, batch }) => {
      await define(store, {}, name);
      const tasks = Array.from({ length: batch }, (_, index) => ({
        dedupeKey: `k${1000 + index}`,
      }));
      return () => enqueue(store, name, tasks);
    },
  },
  {
    operation: "enqueueTasks",
    what: "all in one known group",
    batches: each,
    prepare: async ({ store, name, batch }) => {
      await define(store, {}, name);
      await enqueue(store, name, [{ group: "g" }]);
      const tasks = Array.from({ length: batch }, () => ({ group: "g" }));
      return () => enqueue(store, name, tasks);
    },
  },
  {
    operation: "enqueueTasks",
    what: "scheduled",
    batches: each,
    prepare: async ({ store, world, name, batch }) => {
      await define(store, {}, name);
      const runAt = new Date(world.clock + 60_000);
      return () =>
        enqueue(
          store,
          name,
          Array.from({ length: batch }, () => ({ runAt })),
        );
    },
  },
  {
    operation: "promoteScheduled",
    what: "due",
    batches: each,
    prepare: async (scene) => {
      await pastDue(scene);
      return () => scene.store.promoteScheduled({ name: scene.name, max: scene.batch });
    },
  },
  {
    operation: "work",
    what: "nothing to claim",
    batches: once,
    prepare: async (scene) => {
      const { worker } = await startedTasks({ ...scene, batch: 0 });
      return () => worker.work({ want: 1 });
    },
  },
  {
    operation: "work",
    what: "claims",
    batches: each,
    prepare: async (scene) => {
      const { worker } = await startedTasks(scene);
      return () => worker.work({ want: scene.batch });
    },
  },
  {
    operation: "work",
    what: "completes",
    batches: each,
    prepare: async (scene) => {
      const { worker } = await startedTasks(scene);
      const claimed = await worker.claim(scene.batch);
      return () => worker.complete(claimed);
    },
  },
  {
    operation: "work",
    what: "completes and claims as many",
    batches: each,
    prepare: async (scene) => {
      const { worker } = await startedTasks({ ...scene, batch: 2 * scene.batch });
      const claimed = await worker.claim(scene.batch);
      return () => worker.complete(claimed, scene.batch);
    },
  },
  {
    operation: "work",
    what: "completes one of a group, the next becomes ready",
    batches: once,
    prepare: async ({ store, name }) => {
      await define(store, { limit: 4 }, name);
      await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
      const worker = await startWorker(store, name);
      const claimed = await worker.claim(1);
      return () => worker.complete(claimed);
    },
  },
  {
    operation: "completeTask",
    what: "",
    batches: once,
    prepare: async (scene) => {
      const { worker } = await startedTasks(scene);
      const { executionId } = worker;
      const call = { executionId, ...done(await worker.claimOne()) };
      return () => scene.store.completeTask(call);
    },
  },
  {
    operation: "failTasks",
    what: "to be tried again",
    batches: each,
    prepare: async (scene) => {
      const { worker, failures } = await failuresOf(scene, "failed");
      return () => scene.store.failTasks({ executionId: worker.executionId, failures });
    },
  },
  {
    operation: "failTasks",
    what: "dead",
    batches: each,
    prepare: async (scene) => {
      const { worker, failures } = await failuresOf(scene, "dead");
      return () => scene.store.failTasks({ executionId: worker.executionId, failures });
    },
  },
  {
    operation: "heartbeat",
    what: "of so many executions",
    batches: each,
    prepare: async (scene) => {
      const workers = await manyWorkers(scene);
      const executions = workers.map(({ executionId }) => ({ executionId, started: [] }));
      return () => scene.store.heartbeat({ executions });
    },
  },
  {
    operation: "reportProgress",
    what: "",
    batches: once,
    prepare: async (scene) => {
      const { worker } = await startedTasks(scene);
      const { executionId } = worker;
      const { taskId, fence } = await worker.claimOne();
      const report = { executionId, taskId, fence, done: 1, total: 2, text: "half" };
      return () => scene.store.reportProgress(report);
    },
  },
  {
    operation: "finishExecution",
    what: "gives back so many claims",
    batches: each,
    prepare: async (scene) => {
      const { worker } = await startedTasks(scene);
      await worker.claim(scene.batch);
      return () => worker.finish();
    },
  },
  {
    operation: "reclaimExpired",
    what: "one execution with so many claims",
    batches: each,
    prepare: async (scene) => {
      const { worker } = await startedTasks(scene);
      await worker.claim(scene.batch);
      scene.world.clock += 1_000_000;
      return () => scene.store.reclaimExpired({ max: 10 });
    },
  },
];

/** Every operation that only reads. */
export const reading: readonly Scenario[] = [
  {
    operation: "sweep",
    what: "one definition with ready tasks",
    batches: once,
    prepare: async (scene) => {
      await startedTasks(scene);
      return () => scene.store.sweep({ max: 100 });
    },
  },
  {
    operation: "listDefinitions",
    what: "one, with so many ready tasks",
    batches: each,
    prepare: async (scene) => {
      await startedTasks(scene);
      return () => scene.store.listDefinitions({ name: scene.name });
    },
  },
  {
    operation: "listExecutions",
    what: "so many",
    batches: each,
    prepare: async (scene) => {
      await manyWorkers(scene);
      const { name, batch } = scene;
      return () => scene.store.listExecutions({ name, isOpen: true, max: batch });
    },
  },
  {
    operation: "listTasks",
    what: "so many ready ones",
    batches: each,
    prepare: async (scene) => {
      await startedTasks(scene);
      const { name, batch } = scene;
      return () => scene.store.listTasks({ name, state: "ready", max: batch });
    },
  },
  {
    operation: "explainTask",
    what: "a ready one",
    batches: once,
    prepare: async (scene) => {
      const { taskIds } = await startedTasks(scene);
      return () => scene.store.explainTask({ taskId: at(taskIds, 0) });
    },
  },
  {
    operation: "explainTask",
    what: "a finished one",
    batches: once,
    prepare: async (scene) => {
      const { worker, taskIds } = await startedTasks(scene);
      await worker.complete(await worker.claim(1));
      return () => scene.store.explainTask({ taskId: at(taskIds, 0) });
    },
  },
  {
    operation: "checkInvariants",
    what: "so many ready tasks",
    batches: each,
    prepare: async (scene) => {
      await startedTasks(scene);
      return () => scene.store.checkInvariants();
    },
  },
];

async function manyWorkers({ store, name, batch }: Scene): Promise<Worker[]> {
  await define(store, { limit: null }, name);
  const workers: Worker[] = [];
  for (let count = 0; count < batch; count += 1) workers.push(await startWorker(store, name));
  return workers;
}
