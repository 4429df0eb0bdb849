import { Client } from "pg";
import type { TaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { at, done, enqueue, startWorker } from "../support/builders";
import type { Worker } from "../support/builders";
import type { ApiSetup } from "./api-setup";
import { makeBatch } from "./dashboard-scene";

/** What the pictures show by name. */
export interface Incident {
  /** A dead one with three attempts. */
  readonly dead: TaskId;
  /** One that runs, and is slow. */
  readonly running: TaskId;
  /** One that waits for its limit. */
  readonly ready: TaskId;
  /** A running batch. */
  readonly batch: string;
}

const idle = ["archive-logs", "check-links", "rebuild-search", "refresh-prices", "warm-cache"];

/**
 * A night as an operator meets it: dead invoices, a paused definition, a full one with a long queue, a shared limit, groups that
 * wait, batches that run, stand and have failed.
 */
export async function makeIncident(api: ApiSetup): Promise<Incident> {
  const { store } = api;
  for (const name of idle) await api.register(name, { limit: 2 });
  await registerBusy(api);
  const running = await fillImports(store);
  const dead = await failInvoices(store);
  await enqueue(store, "parse-movies", 12);
  const resizer = await startWorker(store, "resize-image", { want: 9, worker: "worker-2 4412" });
  await enqueue(store, "resize-image", 15);
  await begin(resizer, 9);
  const syncer = await startWorker(store, "sync-partner", { want: 2, worker: "worker-1 4410" });
  await enqueue(store, "sync-partner", 6);
  await begin(syncer, 2);
  await enqueue(store, "mail-newsletter", 30);
  const mailer = await startWorker(store, "mail-newsletter", { want: 1, worker: "worker-1 4410" });
  await mailer.complete(await mailer.claim(1));
  await makeSchedules(store);
  const batch = await makeBatches(store);
  await changeSettings(api);
  await plantAnHour(api);
  const { tasks } = await api.admin.tasks({ definition: "import-orders", max: 1 });
  const [ready] = tasks;
  if (ready === undefined) throw new Error("Expected a ready task");
  return { dead, running, ready: ready.task, batch };
}

async function registerBusy(api: ApiSetup): Promise<void> {
  // Longer than a run of all pages.
  const leaseMs = 900_000;
  const partner = { name: "partner-api", limit: 3 };
  const rate = { count: 100, periodMs: 60_000, burst: 1 };
  await api.register("import-orders", { leaseMs, limit: 6, prefetchMax: 2 });
  await api.register("send-invoice", { leaseMs, limit: 4, retryAttempts: 3 });
  await api.register("parse-movies", { leaseMs, limit: 8 });
  await api.register("resize-image", { leaseMs, limit: 20 });
  await api.register("sync-partner", { leaseMs, limit: 4, sharedLimits: [partner] });
  await api.register("push-partner", { leaseMs, limit: 4, sharedLimits: [partner] });
  await api.register("mail-newsletter", { leaseMs, rate });
  await api.register("nightly-report", { leaseMs, limit: 1 });
  await api.register("flights", { leaseMs, limit: null });
}

/** Claims tasks and says that they have been started. */
async function begin(worker: Worker, want: number): Promise<readonly TaskId[]> {
  const taskIds = (await worker.claim(want)).map(({ taskId }) => taskId);
  await worker.beat(taskIds);
  return taskIds;
}

async function fillImports(store: TaskStore): Promise<TaskId> {
  const customers = ["customer-G", "customer-A", "customer-K"];
  await enqueue(
    store,
    "import-orders",
    Array.from({ length: 90 }, (_, index) => ({
      // The first thirty are measured: the last of them is slow.
      kind: index < 30 ? "import-orders" : "import-archive",
      payload: JSON.stringify({ order: 90_000 + index, customer: `customer-${String(index)}` }),
      ...(index % 3 === 0 && index >= 30 ? { group: at(customers, (index / 3) % 3) } : {}),
    })),
  );
  const one = await startWorker(store, "import-orders", { want: 4, worker: "worker-1 4410" });
  await endImports(one, 29);
  const two = await startWorker(store, "import-orders", { want: 2, worker: "worker-3 4415" });
  const [first] = await begin(one, 4);
  await begin(two, 2);
  await one.claim(3);
  if (first === undefined) throw new Error("Expected a running task");
  return first;
}

/** Ended within a second each; a worker claims a few at a time. */
async function endImports(worker: Worker, tasks: number): Promise<void> {
  for (let ended = 0; ended < tasks; ended += 1) {
    const task = await worker.claimOne();
    await worker.work({ done: [done(task, { durationMs: 250 + 20 * ended })] });
  }
}

/** Seventeen of one error, two of another; the last one after two other attempts. */
async function failInvoices(store: TaskStore): Promise<TaskId> {
  const worker = await startWorker(store, "send-invoice", { want: 4, worker: "worker-2 4412" });
  const stack = "\n    at insertInvoice (invoice.js:41:11)\n    at handler (tasks.js:12:3)";
  const ids = await enqueue(
    store,
    "send-invoice",
    Array.from({ length: 19 }, (_, index) => ({
      payload: JSON.stringify({ invoice: 4_700 + index, currency: "EUR", lines: [1, 2, 3] }),
    })),
  );
  const tries = ["connect ETIMEDOUT 10.1.4.7:443", "HTTP 503 from the tax service"];
  for (const error of tries) {
    const [again] = await worker.claim(1);
    if (again !== undefined) await worker.fail([again], { error, retryInMs: 0, durationMs: 3_012 });
  }
  for (let index = 0; index < 19; index += 1) {
    const [task] = await worker.claim(1);
    if (task === undefined) break;
    const number = 4_700 + index;
    const error =
      index < 17
        ? `duplicate key value violates unique constraint "invoice_number": invoice ${String(number)}${stack}`
        : `HTTP 422: the address of customer ${String(number)} has no country`;
    await worker.fail([task], { as: "dead", error, durationMs: 148 });
  }
  await enqueue(store, "send-invoice", 3);
  await begin(worker, 2);
  return at(ids, 0);
}

async function makeSchedules(store: TaskStore): Promise<void> {
  const rest = { missed: "once", payload: null, group: null } as const;
  const berlin = { timeZone: "Europe/Berlin", kind: "nightly-report", ...rest };
  await store.setSchedules({
    name: "nightly-report",
    build: 7,
    changedBy: "code",
    schedules: [
      {
        ...berlin,
        name: "daily",
        cron: "30 2 * * MON-FRI",
        nextRunAt: new Date("2099-01-01T01:30:00Z"),
      },
      {
        ...berlin,
        name: "monthly",
        cron: "0 4 1 * *",
        nextRunAt: new Date("2099-02-01T03:00:00Z"),
      },
    ],
  });
}

const flights = { definition: "flights" } as const;

async function makeBatches(store: TaskStore): Promise<string> {
  const over = await makeBatch(store, {
    ...flights,
    name: "flights of May",
    waves: [6, 2],
    policy: "continue",
  });
  await store.startBatch({ batchId: over, seal: true });
  const worker = await startWorker(store, "flights", { want: 8, worker: "worker-3 4415" });
  await worker.fail(await worker.claim(6), { as: "dead", error: "Row 7 has no airport" });
  await worker.complete(await worker.claim(2));
  const halted = await makeBatch(store, {
    ...flights,
    name: "flights of June",
    waves: [9, 5],
    policy: "halt",
  });
  await store.startBatch({ batchId: halted, seal: true });
  const claimed = await worker.claim(9);
  await worker.fail(claimed.slice(0, 1), { as: "dead", error: "Row 12 has no airport" });
  await worker.complete(claimed.slice(1));
  const waves = [40, 60, 24, 1];
  const open = await makeBatch(store, {
    ...flights,
    name: "flights of July",
    waves,
    policy: "continue",
  });
  await store.startBatch({ batchId: open, seal: true });
  await worker.complete(await worker.claim(40));
  const second = await worker.claim(25);
  await worker.fail(second.slice(0, 2), { as: "dead", error: "Row 31 has no airport" });
  await worker.complete(second.slice(2));
  await begin(worker, 8);
  return open;
}

async function changeSettings({ admin }: ApiSetup): Promise<void> {
  await admin.pause({
    definition: "parse-movies",
    changedBy: "cli:ada",
    reason: "the file server moves",
  });
  await admin.setLimit({
    definition: "import-orders",
    limit: 5,
    changedBy: "cli:ada",
    reason: "the partner is slow today",
  });
  await admin.setLimit({
    definition: "resize-image",
    limit: 12,
    changedBy: "http:grace@example.com",
    reason: "CPU at 90 %",
  });
  await admin.setGroup({
    definition: "import-orders",
    groupKey: "customer-K",
    groupScope: "definition",
    paused: true,
    changedBy: "http:grace@example.com",
    reason: "asked by the customer",
  });
}

/**
 * An hour that went by before the night's incident, and counts of the night itself. An hour can't be waited for: its rows are planted, as
 * `roll_up_statistics` writes them.
 */
async function plantAnHour({ ownerUrl, store }: ApiSetup): Promise<void> {
  await store.rollUpStatistics({ max: 1_000 });
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  await owner.query(`
    insert into taskgate.statistic (task_definition_id, grain, at, claimed, done, failed, dead, lost, ran_ms, held_ms, task_limit, ready, next_age_ms)
    select d.task_definition_id, 1, date_bin('1 minute', now(), '2000-01-01Z') - n * interval '1 minute', 40, 38 + n % 7 - case when n < 20 then 25 - n else 0 end,
           case when n < 20 then 6 else n % 3 / 2 end, 0, case n when 12 then 3 else 0 end, 200000, 60000 * least(5, 3 + n % 4), case when n > 25 then 8 else 5 end,
           case when n < 20 then 400 - 15 * n else 4 end, case when n < 20 then 60000 * (20 - n) else 900 end
      from taskgate.task_definition d cross join generate_series(1, 55) n where d.name = 'import-orders'
    on conflict do nothing`);
  await owner.query(`
    insert into taskgate.statistic_time (task_definition_id, grain, at, measure, bucket, tasks)
    select s.task_definition_id, 1, s.at, m.measure, m.bucket + case when s.ready > 100 then 4 else 0 end, m.tasks
      from taskgate.statistic s join taskgate.task_definition d on d.task_definition_id = s.task_definition_id
     cross join (values (1, 22, 20), (1, 24, 17), (1, 28, 1), (2, 10, 20), (2, 14, 18)) m(measure, bucket, tasks)
     where d.name = 'import-orders' and s.grain = 1
    on conflict do nothing`);
  await owner.end();
}
