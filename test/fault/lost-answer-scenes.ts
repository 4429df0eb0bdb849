import type { WaveId } from "../../shared/core/ids";
import type { CreateBatchAnswer } from "../../shared/ports/task-store";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import type { OperationName } from "../../shared/store/operations";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  failure,
  operationId,
  registration,
  setLimit,
  startInput,
  startWorker,
} from "../support/builders";
import type { Worker } from "../support/builders";
import type { TestStore } from "../support/store-setup";

/** What its tasks belong to. */
export const name = "demo";

/** Prepares a situation, and returns the call whose answer is lost. */
export type Scene = (opened: TestStore) => Promise<() => Promise<unknown>>;

/** A worker that holds tokens, with tasks claimed and others ready. */
async function busy(store: TaskStore): Promise<{ worker: Worker; claimed: ClaimedTask[] }> {
  await define(store, { limit: 3 }, name);
  await enqueue(store, name, [{ group: "g" }, { group: "g" }, {}, {}, { runInMs: 5_000 }]);
  const worker = await startWorker(store, name, { want: 2 });
  return { worker, claimed: await worker.claim(2) };
}

async function batch(store: TaskStore): Promise<CreateBatchAnswer> {
  await define(store, {}, name);
  const made = await store.createBatch({
    operationId: operationId(),
    name: "night",
    failurePolicy: "halt",
    waves: 2,
  });
  for (const waveId of made.waveIds) await fill(store, waveId);
  return made;
}

function fill(store: TaskStore, waveId: WaveId): Promise<unknown> {
  const tasks = [{ payload: null }, { payload: null }];
  return store.enqueueTasks({ name, build: 1, operationId: operationId(), tasks, waveId });
}

/** Long overdue by any clock. */
const schedule = {
  name: "s",
  kind: name,
  cron: "* * * * *",
  timeZone: "UTC",
  missed: "once",
  payload: null,
  group: null,
  nextRunAt: new Date("2020-01-01T00:00:00Z"),
} as const;

/** By operation; of a changing one that isn't here its example is lost. */
export const scenes: Partial<Record<OperationName, Scene>> = {
  registerDefinition: ({ store }) =>
    Promise.resolve(() => store.registerDefinition(registration({ name }))),
  setLimit: async ({ store }) => {
    await busy(store);
    const input = { name, limit: 1, operationId: operationId(), changedBy: "me" };
    return () => store.setLimit(input);
  },
  pauseDefinition: async ({ store }) => {
    await busy(store);
    return () => store.pauseDefinition({ name, changedBy: "me" });
  },
  resumeDefinition: async ({ store }) => {
    await busy(store);
    await store.pauseDefinition({ name, changedBy: "me" });
    return () => store.resumeDefinition({ name, changedBy: "me" });
  },
  startExecution: async ({ store }) => {
    await busy(store);
    const input = startInput(name, { want: 1 });
    return () => store.startExecution(input);
  },
  acquireTokens: async ({ store }) => {
    const { executionId } = (await busy(store)).worker;
    return () => store.acquireTokens({ executionId, want: 3 });
  },
  releaseTokens: async ({ store }) => {
    const { executionId } = (await busy(store)).worker;
    return () => store.releaseTokens({ executionId, keep: 1 });
  },
  releaseSurplus: async ({ store }) => {
    const { executionId } = (await busy(store)).worker;
    await setLimit(store, name, 1);
    return () => store.releaseSurplus({ executionId, keep: 1 });
  },
  work: async ({ store }) => {
    const { worker, claimed } = await busy(store);
    return () => worker.complete(claimed, 2);
  },
  completeTask: async ({ store }) => {
    const { worker, claimed } = await busy(store);
    const input = { ...done(at(claimed, 0)), executionId: worker.executionId };
    return () => store.completeTask(input);
  },
  failTasks: async ({ store }) => {
    const { worker, claimed } = await busy(store);
    const failures = [
      failure(at(claimed, 0), { as: "dead" }),
      failure(at(claimed, 1), { retryInMs: 1_000 }),
    ];
    return () => store.failTasks({ executionId: worker.executionId, failures });
  },
  heartbeat: async (opened) => {
    const { executionId } = (await busy(opened.store)).worker;
    await opened.advance(1_000);
    return () => opened.store.heartbeat({ executions: [{ executionId, started: [] }] });
  },
  reportProgress: async ({ store }) => {
    const { worker, claimed } = await busy(store);
    const { taskId, fence } = at(claimed, 0);
    const input = { executionId: worker.executionId, taskId, fence, done: 1, total: 2 };
    return () => store.reportProgress({ ...input, text: "half" });
  },
  finishExecution: async ({ store }) => {
    const { worker } = await busy(store);
    return () => worker.finish();
  },
  reclaimExpired: async (opened) => {
    await busy(opened.store);
    await opened.advance(60_001);
    return () => opened.store.reclaimExpired({ max: 10 });
  },
  enqueueTasks: async ({ store }) => {
    await busy(store);
    const tasks = [{ payload: null, group: "g", dedupeKey: "k" }, { payload: null }];
    const input = { name, build: 1, operationId: operationId(), tasks };
    return () => store.enqueueTasks(input);
  },
  promoteScheduled: async (opened) => {
    await busy(opened.store);
    await opened.advance(5_000);
    return () => opened.store.promoteScheduled({ name, max: 10 });
  },
  createBatch: async ({ store }) => {
    await define(store, {}, name);
    const id = operationId();
    const input = { operationId: id, name: "night", failurePolicy: "halt", waves: 2 } as const;
    return () => store.createBatch(input);
  },
  startBatch: async ({ store }) => {
    const { batchId } = await batch(store);
    return () => store.startBatch({ batchId, seal: true });
  },
  pumpBatch: async ({ store }) => {
    const { batchId } = await batch(store);
    await store.startBatch({ batchId, seal: true });
    await store.cancelBatch({ batchId });
    return () => store.pumpBatch({ batchId, max: 10 });
  },
  resumeBatch: async ({ store }) => {
    const { batchId } = await batch(store);
    await store.startBatch({ batchId, seal: true });
    const worker = await startWorker(store, name, { want: 2 });
    await worker.fail(await worker.claim(2), { as: "dead" });
    return () => store.resumeBatch({ batchId });
  },
  cancelBatch: async ({ store }) => {
    const { batchId } = await batch(store);
    await store.startBatch({ batchId, seal: true });
    return () => store.cancelBatch({ batchId });
  },
  cancelTasks: async ({ store }) => {
    await define(store, {}, name);
    const taskIds = await enqueue(store, name, [{ group: "g" }, { group: "g" }, {}]);
    return () => store.cancelTasks({ taskIds: [at(taskIds, 0), at(taskIds, 2)], reason: "late" });
  },
  redriveTasks: async ({ store }) => {
    const { worker, claimed } = await busy(store);
    await worker.fail(claimed, { as: "dead" });
    const taskIds = claimed.map(({ taskId }) => taskId);
    return () => store.redriveTasks({ taskIds });
  },
  rescheduleTasks: async ({ store }) => {
    await define(store, {}, name);
    const taskIds = [await enqueueOne(store, name), await enqueueOne(store, name, { group: "g" })];
    return () => store.rescheduleTasks({ taskIds, to: { runInMs: 9_000 } });
  },
  setGroup: async ({ store }) => {
    await busy(store);
    const input = { name, groupKey: "g", groupScope: "definition", changedBy: "me" } as const;
    return () => store.setGroup({ ...input, slots: 2 });
  },
  setSchedules: async ({ store }) => {
    await busy(store);
    return () => store.setSchedules({ name, build: 1, changedBy: "me", schedules: [schedule] });
  },
  setSchedulePaused: async ({ store }) => {
    await busy(store);
    await store.setSchedules({ name, build: 1, changedBy: "me", schedules: [schedule] });
    const input = { name, schedule: "s", paused: true, nextRunAt: null, changedBy: "me" };
    return () => store.setSchedulePaused(input);
  },
  fireSchedule: async ({ store }) => {
    await busy(store);
    await store.setSchedules({ name, build: 1, changedBy: "me", schedules: [schedule] });
    const [found] = (await store.listSchedules({ name, max: 1 })).schedules;
    const input = { scheduleId: found?.id ?? 0, expectedRunAt: schedule.nextRunAt };
    return () =>
      store.fireSchedule({ ...input, runAts: [schedule.nextRunAt], nextRunAt: new Date() });
  },
  advanceWatermark: async ({ store }) => {
    await busy(store);
    const blocks = { value: "[2]", tasks: [{ payload: "[1]" }, { payload: "[2]", group: "g" }] };
    const from = { name, watermark: "by-id", expectedVersion: "0", build: 1 };
    const input = { ...from, ...blocks, operationId: operationId() };
    return () => store.advanceWatermark(input);
  },
  setWatermark: async ({ store }) => {
    await busy(store);
    const input = { name, watermark: "by-id", value: "[1]", changedBy: "me" };
    const id = operationId();
    return () => store.setWatermark({ ...input, operationId: id });
  },
  registerApp: ({ store }) => {
    const input = { app: "billing", definitions: [name, "later"], address: null };
    return Promise.resolve(() => store.registerApp(input));
  },
  setDefinitionOwner: async ({ store }) => {
    await busy(store);
    await store.registerApp({ app: "billing", definitions: [name], address: null });
    return () => store.setDefinitionOwner({ name, app: "orders", changedBy: "me" });
  },
  setStop: ({ store }) => Promise.resolve(() => store.setStop({ isOn: true, changedBy: "me" })),
  setRate: async ({ store }) => {
    await busy(store);
    const rate = { count: 5, periodMs: 1_000, burst: 1 };
    return () => store.setRate({ name, rate, changedBy: "me" });
  },
  setSharedLimit: async ({ store }) => {
    const input = { name: "shared", limit: 2, operationId: operationId(), changedBy: "me" };
    return () => store.setSharedLimit(input);
  },
  sweep: async (opened) => {
    await busy(opened.store);
    await opened.advance(60_001);
    return () => opened.store.sweep({ max: 10 });
  },
  rollUpStatistics: async ({ store }) => {
    const { worker, claimed } = await busy(store);
    await worker.complete(claimed);
    return () => store.rollUpStatistics({ max: 10 });
  },
  purge: async (opened) => {
    const { worker, claimed } = await busy(opened.store);
    await worker.complete(claimed);
    await opened.advance(60 * 86_400_000);
    return () => opened.store.purge({ max: 10 });
  },
};
