import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import {
  at,
  define,
  done,
  enqueue,
  operationId,
  setLimit,
  startWorker,
  statusOf,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { makeMssqlLogins } from "../support/mssql-logins";
import type { Workplace } from "./workplace";
import { openRoleStores, storeOfRoles, urlAs } from "../support/roles";

/** How much there is to call them over, and names of its own. */
export interface OperationRun {
  /** Tasks; enough for an optimizer to prefer a seek, where it has the choice. */
  readonly backlog: number;
  readonly label: string;
}

export const fullRun: OperationRun = { backlog: 3_000, label: "plans" };
const shortLeaseMs = 1_000;

/** Makes the logins of the shipped roles' members; those that are there stay. */
export async function makeLogins(url: string): Promise<void> {
  const owner = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  try {
    await makeMssqlLogins(owner);
  } finally {
    await owner.close();
  }
}

/**
 * Calls every operation at least once, over tables that aren't empty, so that each procedure has a plan worth looking at. The
 * owner makes logins first; each operation is called by a member of the role with the fewest rights that may, where logins
 * can be made.
 */
export async function callEveryOperation(
  { url, mayMakeLogins }: Pick<Workplace, "url" | "mayMakeLogins">,
  run: OperationRun,
): Promise<void> {
  const open = (as: string): TaskStore =>
    openStore({ url: as, connectionsMax: 4, random: realRandom, sleep });
  if (mayMakeLogins) await makeLogins(url);
  const store = mayMakeLogins
    ? storeOfRoles(openRoleStores((role) => open(urlAs(url, role))))
    : open(url);
  try {
    await callAll(store, run);
  } finally {
    await store.close();
  }
}

async function callAll(store: TaskStore, { backlog, label }: OperationRun): Promise<void> {
  const name = await define(store, { limit: 8, prefetchMax: 2, groupSlots: 2 }, label);
  await fill(store, name, backlog);
  const worker = await startWorker(store, name, { want: 8 });
  await workAWhile(worker, name);
  await loseOne(store, label);
  await store.reclaimExpired({ max: 20 });
  await operate(store, name);
  await lookAround(store, name);
  await worker.finish();
  await store.checkInvariants();
}

async function fill(store: TaskStore, name: string, backlog: number): Promise<void> {
  const tasks = Array.from({ length: backlog }, (_, index): Partial<NewTask> => {
    const kind = index % 10;
    if (kind === 0) return { group: `group ${String(index % 200)}` };
    if (kind === 1) return { runInMs: index };
    if (kind === 2) return { dedupeKey: `key ${String(index)}` };
    return { payload: `{"index":${String(index)}}` };
  });
  for (let from = 0; from < tasks.length; from += 1_000) {
    await enqueue(store, name, tasks.slice(from, from + 1_000));
  }
  await store.promoteScheduled({ name, max: 100 });
}

async function workAWhile(worker: Worker, name: string): Promise<void> {
  const { store, executionId } = worker;
  const first = await worker.claim(20);
  await worker.complete(first.slice(0, 10), 10);
  const own = at(first, 10);
  const { taskId, fence } = own;
  await store.reportProgress({ executionId, taskId, fence, done: 1, total: 2, text: "half" });
  await store.transaction((transaction) =>
    store.completeTask({ executionId, ...done(own) }, transaction),
  );
  await worker.fail(first.slice(11, 13), { retryInMs: 60_000 });
  await worker.fail(first.slice(13, 14), { as: "dead" });
  await worker.beat();
  await store.acquireTokens({ executionId, want: 8 });
  await setLimit(store, name, 4);
  await store.releaseSurplus({ executionId, keep: 0 });
  await store.releaseTokens({ executionId, keep: 2 });
  await setLimit(store, name, "code");
  await runBatch(store, name);
  await store.pauseDefinition({ name, changedBy: "verify" });
  await store.resumeDefinition({ name, changedBy: "verify" });
}

/** A wave is opened in slices, a batch is cancelled. */
async function runBatch(store: TaskStore, name: string): Promise<void> {
  const input = { operationId: operationId(), name, failurePolicy: "halt", waves: 2 } as const;
  const { batchId, waveIds } = await store.createBatch(input);
  for (const waveId of waveIds) {
    const tasks = Array.from({ length: 250 }, () => ({ payload: null }));
    await store.enqueueTasks({ name, build: 1, operationId: operationId(), waveId, tasks });
  }
  await store.startBatch({ batchId, seal: true });
  await store.pumpBatch({ batchId, max: 10 });
  await store.resumeBatch({ batchId });
  await store.listBatches({ batchId, max: 1 });
  await store.cancelBatch({ batchId });
  await store.pumpBatch({ batchId, max: 1_000 });
}

/** An execution dies with tasks claimed. */
async function loseOne(store: TaskStore, label: string): Promise<void> {
  const name = await define(store, { leaseMs: shortLeaseMs }, `${label}, lost`);
  await enqueue(store, name, 5);
  const lost = await startWorker(store, name, { want: 2 });
  await lost.claim(2);
  await sleep(shortLeaseMs + 200);
}

/** Blocks are made, and made again from where an operator sets the watermark. */
async function moveWatermark(store: TaskStore, name: string): Promise<void> {
  const watermark = "by id";
  const tasks = [{ payload: "[1]" }, { payload: "[2]", group: "group 1" }];
  const block = { name, watermark, value: "[2]", build: 1, tasks };
  for (const expectedVersion of ["0", "0", "1"])
    await store.advanceWatermark({ ...block, expectedVersion, operationId: operationId() });
  const change = { changedBy: "verify", operationId: operationId() };
  await store.setWatermark({ name, watermark, value: null, ...change });
  await store.listWatermarks({ name, max: 20 });
}

async function operate(store: TaskStore, name: string): Promise<void> {
  const taskIds = await enqueue(store, name, [{}, { group: "group 0" }, { runInMs: 60_000 }]);
  await store.rescheduleTasks({ taskIds, to: { runInMs: 1_000 } });
  await store.cancelTasks({ taskIds });
  await store.redriveTasks({ taskIds });
  await store.redriveTasks({ name, kind: name, outcome: "dead", max: 10 });
  const group = { groupKey: "group 0", groupScope: "definition", changedBy: "verify" } as const;
  await store.setGroup({ name, ...group, slots: 2 });
  await store.listGroups({ name, max: 20 });
  const changedBy = "verify";
  await store.setRate({ name, rate: { count: 1_000, periodMs: 1_000, burst: 1_000 }, changedBy });
  await store.setRate({ name, rate: "code", changedBy });
  await store.setStop({ isOn: true, changedBy });
  await store.setStop({ isOn: false, changedBy });
  const app = `app of ${name}`;
  await store.registerApp({ app, definitions: [name], address: null });
  await store.listApps();
  await store.setDefinitionOwner({ name, app: null, changedBy });
  const shared = { name: `shared by ${name}`, changedBy };
  await store.setSharedLimit({ ...shared, limit: 4, operationId: operationId() });
  await store.listSharedLimits({ max: 20 });
  await schedules(store, name);
  await moveWatermark(store, name);
}

async function schedules(store: TaskStore, name: string): Promise<void> {
  const dueAt = new Date("2020-01-01T00:00:00Z");
  const nextRunAt = new Date("2099-01-01T00:00:00Z");
  const schedule = { name: "verify", kind: name, cron: "0 0 1 1 *", timeZone: "UTC" };
  const more = { missed: "once", payload: '{"a":1}', group: null, nextRunAt: dueAt } as const;
  const all = [{ ...schedule, ...more }];
  await store.setSchedules({ name, build: 1, changedBy: "verify", schedules: all });
  const [found] = (await store.listSchedules({ name, max: 20 })).schedules;
  const fire = { scheduleId: found?.id ?? 0, expectedRunAt: dueAt, runAts: [dueAt], nextRunAt };
  await store.fireSchedule(fire);
  const change = { name, schedule: "verify", nextRunAt, changedBy: "verify" };
  await store.setSchedulePaused({ ...change, paused: true });
  await store.setSchedules({ name, build: 1, changedBy: "verify", schedules: [] });
}

async function lookAround(store: TaskStore, name: string): Promise<void> {
  await store.sweep({ max: 100 });
  await store.purge({ max: 100 });
  await statusOf(store, name);
  await store.listDefinitions({});
  await store.listExecutions({ isOpen: true, max: 20 });
  await store.listExecutions({ name, isOpen: false, max: 20 });
  for (const state of ["ready", "scheduled", "waiting", "claimed", "done", "dead"] as const) {
    const { tasks } = await store.listTasks({ name, state, max: 20 });
    const [task] = tasks;
    if (task !== undefined) await store.explainTask({ taskId: task.task });
  }
  const [again] = await enqueue(store, name, [{ dedupeKey: "key 2" }]);
  if (again === undefined) throw new Error("An enqueue answered nothing");
  await store.enqueueTasks({
    name,
    build: 1,
    operationId: operationId(),
    tasks: [{ payload: null }],
  });
}
