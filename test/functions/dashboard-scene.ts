import type { BatchId } from "../../shared/core/ids";
import type { FailurePolicy } from "../../shared/ports/task-store";
import type { TaskStore } from "../../shared/ports/task-store";
import { enqueue, operationId, startWorker } from "../support/builders";
import type { ApiSetup } from "./api-setup";

/** What would be an element, or run, where a name were taken for HTML. */
export const evil = "<img src=x onerror=\"document.title='ran'\">&amp;";

/** Work of each kind that the page shows; names that would do harm where they were taken for HTML. */
export async function makeScene(api: ApiSetup): Promise<void> {
  const { store } = api;
  const partner = { name: "partner-api", limit: 3 };
  const rate = { count: 1, periodMs: 86_400_000, burst: 1 };
  await api.register("fetch", { limit: 4, sharedLimits: [partner] });
  await api.register("push", { limit: 2, sharedLimits: [partner] });
  await api.register("mail", { rate });
  await api.register("parts", { limit: null });
  await api.register(evil);
  await enqueue(store, "fetch", [
    { priority: 1 },
    { group: "customer-5" },
    { group: "customer-5" },
    { group: "customer-7" },
    { group: "customer-7" },
  ]);
  await enqueue(store, evil, [{ group: evil }, { group: evil, payload: JSON.stringify([evil]) }]);
  await startWorker(store, "fetch", { want: 2 });
  await startWorker(store, "push", { want: 1 });
  await enqueue(store, "mail", 2);
  const mailer = await startWorker(store, "mail", { want: 1 });
  await mailer.claim(1);
  await makeSchedules(store);
  await store.advanceWatermark({
    name: "fetch",
    watermark: evil,
    expectedVersion: "0",
    value: JSON.stringify({ last: "4711" }),
    build: 7,
    tasks: [],
    operationId: operationId(),
  });
  await makeBatches(store);
}

async function makeSchedules(store: TaskStore): Promise<void> {
  const schedule = { kind: "fetch", cron: "0 2 * * MON-FRI", timeZone: "Europe/Berlin" };
  const rest = { missed: "once", payload: null, group: null } as const;
  const schedules = [
    { ...schedule, ...rest, name: "nightly", nextRunAt: new Date("2099-01-01T01:00:00Z") },
    { ...schedule, ...rest, name: evil, nextRunAt: new Date("2099-06-01T01:00:00Z") },
  ];
  await store.setSchedules({ name: "fetch", build: 7, changedBy: "code", schedules });
}

/** One that runs, one that a dead task halted, one that isn't started. */
async function makeBatches(store: TaskStore): Promise<void> {
  await makeBatch(store, { name: `${evil} draft`, waves: [2], policy: "halt" });
  const halted = await makeBatch(store, { name: "import of May", waves: [2, 3], policy: "halt" });
  await store.startBatch({ batchId: halted, seal: true });
  const worker = await startWorker(store, "parts", { want: 4 });
  const [bad, good] = await worker.claim(2);
  await worker.fail([present(bad)], { as: "dead", error: "no such row" });
  await worker.complete([present(good)]);
  const waves = [4, 6, 1];
  const running = await makeBatch(store, { name: "import of June", waves, policy: "continue" });
  await store.startBatch({ batchId: running, seal: true });
  await worker.complete(await worker.claim(4));
  await worker.complete(await worker.claim(2));
}

/** A draft with waves of so many tasks, all of one definition. */
export async function makeBatch(
  store: TaskStore,
  {
    name,
    waves,
    policy,
    definition = "parts",
  }: { name: string; waves: number[]; policy: FailurePolicy; definition?: string },
): Promise<BatchId> {
  const { batchId, waveIds } = await store.createBatch({
    operationId: operationId(),
    name,
    failurePolicy: policy,
    waves: waves.length,
  });
  for (const [index, waveId] of waveIds.entries()) {
    const tasks = Array.from({ length: waves[index] ?? 0 }, () => ({ payload: null }));
    await store.enqueueTasks({
      name: definition,
      build: 7,
      operationId: operationId(),
      waveId,
      tasks,
    });
  }
  return batchId;
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("Expected a task");
  return value;
}
