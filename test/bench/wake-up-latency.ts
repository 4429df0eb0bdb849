import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import { Client } from "pg";
import { createClient, taskRef } from "../../shared";
import { startAzurite } from "../../shared/local/azurite";
import type * as HostChildren from "../../shared/local/host-children";
import { nodeTimers } from "../../shared/platform/node-timers";
import { NotifyingWakeUp } from "../../shared/platform/notifying-wake-up";
import { realClock, sleep } from "../../shared/platform/real-clock";
import { openListener } from "../../shared/store/open-store";
import { defineTask } from "../../shared/worker/define/define-task";
import { openBench } from "./bench-environment";
import { quantile, timed } from "./measurement";
import type { Measurement, Scale } from "./measurement";

const root = join(__dirname, "../..");
const nowMs = (): number => performance.timeOrigin + performance.now();

/** From the answer of an enqueue to the start of the handler in another process, which waits for notifications. */
export async function residentLatency(url: string, scale: Scale): Promise<Measurement[]> {
  const worker = startResident(url);
  const client = createClient({ store: url });
  const ping = taskRef<object>({ name: "ping" });
  await untilListening(url);
  const measure = async (pauseMs: () => number, count: number): Promise<number[]> => {
    const waits: number[] = [];
    for (let index = 0; index < count; index += 1) {
      await sleep(pauseMs());
      const started = new Promise<number>((resolve) => {
        worker.once("message", (message: { startedAtMs: number }) => {
          resolve(message.startedAtMs);
        });
      });
      await client.enqueue(ping, {});
      const committedMs = nowMs();
      waits.push((await started) - committedMs);
    }
    return waits;
  };
  // The first ones load and compile code.
  await measure(() => 20, 20);
  const warm = await measure(() => 20 + 200 * Math.random(), 20 * scale.seconds);
  // The execution has ended by then: between executions the process holds no token.
  const cold = await measure(() => 2_600, scale.seconds);
  await client.close();
  worker.disconnect();
  await new Promise((resolve) => worker.once("exit", resolve));
  const name = "resident worker, enqueue in another process to handler";
  return [
    latency(`${name}: p50`, quantile(warm, 0.5), 2),
    latency(`${name}: p99`, quantile(warm, 0.99), 6),
    latency("the same after seconds without a task: p50", quantile(cold, 0.5), null),
  ];
}

/** What looking for waiting processes costs those who enqueue: the share of the speed without. */
export async function notifyingEnqueue(url: string, scale: Scale): Promise<Measurement[]> {
  const task = defineTask({ name: "noticed", run: async () => undefined });
  const plain = openBench(url, [task]);
  const wakeUp = new NotifyingWakeUp({
    hints: { hint: () => Promise.resolve() },
    store: () => plain.environment.store,
    clock: realClock,
    timers: nodeTimers,
  });
  const noticed = openBench(url, [task], { wakeUp });
  const shares: Record<string, number> = {};
  const compare = async (
    name: string,
    body: (bench: typeof plain) => Promise<unknown>,
  ): Promise<void> => {
    await body(plain);
    const ratios: number[] = [];
    for (let round = 0; round < 2 * scale.seconds; round += 1) {
      const [first, second] = round % 2 === 0 ? [plain, noticed] : [noticed, plain];
      const firstMs = await timed(() => body(first));
      const secondMs = await timed(() => body(second));
      ratios.push(round % 2 === 0 ? firstMs / secondMs : secondMs / firstMs);
    }
    shares[name] = quantile(ratios, 0.5);
  };
  const bulk = (bench: typeof plain): Promise<unknown> =>
    bench.client.enqueueMany(
      task,
      Array.from({ length: 5_000 }, (_, index) => ({ index })),
    );
  const singly = async (bench: typeof plain): Promise<void> => {
    for (let index = 0; index < 100; index += 1) await bench.client.enqueue(task, { index });
  };
  await compare("nobody", singly);
  const listener = openListener({
    url,
    timers: nodeTimers,
    events: { onNews: () => undefined, onListening: () => undefined, onTrouble: () => undefined },
  });
  while (listener?.isListening === false) await sleep(10);
  await listener?.wait("noticed");
  await compare("bulk", bulk);
  await compare("singly", singly);
  await listener?.close();
  await Promise.all([plain.close(), noticed.close()]);
  const share = (scenario: string, name: string, goal: number | null): Measurement => ({
    scenario,
    unit: "share",
    value: shares[name] ?? Number.NaN,
    goal,
  });
  return [
    share(
      "bulk enqueue, 5,000 a call, while a process waits: speed against no notifications",
      "bulk",
      0.95,
    ),
    share("the same, one task a call", "singly", null),
    share("the same, one task a call, nobody waits", "nobody", null),
  ];
}

/** From the commit of an enqueue by ingest or by a task to the handler, through the local host and its queues. */
export async function sameInvocationLatency(url: string, scale: Scale): Promise<Measurement[]> {
  const azurite = await startAzurite();
  const folder = writeApp();
  const path = join(root, "dist/shared/local/host-children.js");
  const { startHostChild } = createRequire(__filename)(path) as typeof HostChildren;
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    AzureWebJobsStorage: azurite.connectionString,
    TASKGATE_DATABASE_URL: url,
    TASKGATE_LOG_LEVEL: "error",
  };
  const host = await startHostChild(
    { appRoot: folder, port: 0, env, runsTimers: false },
    () => undefined,
  );
  const service = QueueServiceClient.fromConnectionString(azurite.connectionString);
  const queue = service.getQueueClient("taskgate-ingest");
  await queue.createIfNotExists();
  const client = new Client({ connectionString: url });
  await client.connect();
  const count = 3 + 4 * scale.seconds;
  for (let sent = 1; sent <= count; sent += 1) {
    const event = { eventId: String(sent), source: "bench", type: "made", data: {} };
    await queue.sendMessage(Buffer.from(JSON.stringify(event)).toString("base64"));
    const text = "select count(*)::int as done from taskgate.archived where kind = 'second'";
    for (let done = 0; done < sent;) {
      await sleep(20);
      done = (await client.query<{ done: number }>(text)).rows[0]?.done ?? 0;
    }
  }
  const { rows } = await client.query<{ kind: string; ms: number }>(
    `select kind, (result::json->>'startedAtMs')::float8 - extract(epoch from created_at)::float8 * 1000 as ms
       from taskgate.archived where kind in ('first', 'second') order by task_id offset 6`,
  );
  await client.end();
  await host.stop();
  await azurite.stop();
  rmSync(folder, { recursive: true, force: true });
  const waits = (kind: string): number[] =>
    rows.filter((row) => row.kind === kind).map(({ ms }) => ms);
  return [
    latency("local host, enqueue by ingest to handler: p50", quantile(waits("first"), 0.5), 50),
    latency("the same: p99", quantile(waits("first"), 0.99), 300),
    latency(
      "local host, enqueue by a task to its child's handler: p50",
      quantile(waits("second"), 0.5),
      50,
    ),
    latency("the same: p99", quantile(waits("second"), 0.99), 300),
  ];
}

function latency(scenario: string, value: number, goal: number | null): Measurement {
  return { scenario, unit: "ms", value, isLessBetter: true, goal };
}

function startResident(url: string): ChildProcess {
  const register = join(root, "test/support/register-swc.cjs");
  const { PATH, HOME } = process.env;
  return spawn(process.execPath, ["-r", register, join(__dirname, "resident-process.ts")], {
    // The thread that renews leases runs compiled code only.
    env: {
      PATH,
      HOME,
      TASKGATE_DATABASE_URL: url,
      TASKGATE_CONNECTIONS_MAX: "1",
      TASKGATE_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** A process waits for tasks when it holds a place. */
async function untilListening(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const text =
    "select count(*)::int as places from pg_locks where locktype = 'advisory' and objid > 0 and mode = 'ExclusiveLock' and database = (select oid from pg_database where datname = current_database())";
  for (let places = 0; places === 0;) {
    await sleep(50);
    places = (await client.query<{ places: number }>(text)).rows[0]?.places ?? 0;
  }
  await client.end();
}

/** An event becomes a task, which enqueues a child. host.json has the values that the template ships with. */
function writeApp(): string {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-bench-"));
  mkdirSync(join(folder, "dist"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  const queues = {
    batchSize: 8,
    newBatchThreshold: 4,
    maxPollingInterval: "00:00:02",
    messageEncoding: "base64",
  };
  writeFileSync(
    join(folder, "host.json"),
    JSON.stringify({ version: "2.0", functionTimeout: "00:10:00", extensions: { queues } }),
  );
  writeFileSync(join(folder, "package.json"), JSON.stringify({ main: "dist/index.js" }));
  const door = (name: string): string => JSON.stringify(join(root, "dist/shared", name));
  writeFileSync(
    join(folder, "dist/index.js"),
    `const { app } = require("@azure/functions");
const { defineTask, taskRef, taskRequest } = require(${door("index.js")});
const startedAtMs = () => performance.timeOrigin + performance.now();
const second = defineTask({ name: "second", run: async () => ({ startedAtMs: startedAtMs() }) });
const first = defineTask({ name: "first", run: async (_, ctx) => {
  const at = startedAtMs();
  await ctx.enqueue(second, {});
  return { startedAtMs: at };
} });
require(${door("functions/index.js")})
  .taskgate({ tasks: [first, second], events: [{ matches: () => true, toTasks: () => [taskRequest(first, {})] }] })
  .register(app, { api: false });
`,
  );
  return folder;
}
