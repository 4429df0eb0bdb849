import { request } from "node:http";
import { createRequire } from "node:module";
import { InvocationContext, PreInvocationContext } from "@azure/functions";
import type * as tediousPackage from "tedious";
import { createTraceHook } from "../../shared/functions/telemetry-hooks";
import { createConsoleLogger } from "../../shared/platform/console-logger";
import { nodeTimers } from "../../shared/platform/node-timers";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import { loadTelemetry } from "../../shared/platform/telemetry";
import type { Telemetry } from "../../shared/ports/telemetry";
import { loadSettings } from "../../shared/settings/load-settings";
import { openStore } from "../../shared/store/open-store";
import { TaskClient } from "../../shared/worker/client/client";
import { defineTask } from "../../shared/worker/define/define-task";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { runWorker } from "../../shared/worker/run/run-worker";

/*
 * One process' way as an app goes it: settings, telemetry, store; enqueue inside a span, work, flush, end. Writes the
 * traceparents that it saw as JSON. Payloads, parameters, results and errors all hold a word that must not get out.
 */
const requireLater = createRequire(__filename);
const secret = "hunter2-must-not-leave";

async function main(): Promise<void> {
  const settings = loadSettings();
  const logger = createConsoleLogger({ level: "warn", form: "human", clock: realClock });
  const telemetry = await loadTelemetry(settings.telemetry, logger);
  if (settings.database.kind !== "url") throw new Error("this program takes TASKGATE_DATABASE_URL");
  const store = openStore({
    url: settings.database.url,
    connectionsMax: 2,
    random: realRandom,
    sleep,
  });
  const environment: WorkerEnvironment = {
    store,
    logger,
    telemetry,
    clock: realClock,
    timers: nodeTimers,
    random: realRandom,
    wakeUp: { hint: () => Promise.resolve() },
    workerName: "telemetry-test",
    build: 1,
  };
  const seen: Record<string, string | null> = { outside: telemetry.currentTraceParent() };
  const child = defineTask({ name: "child", run: () => Promise.resolve() });
  const effect = defineTask({
    name: "effect",
    leaseMs: 5_000,
    run: async (_, context) => {
      seen["handler"] = telemetry.currentTraceParent();
      // Long enough for a heartbeat, which belongs to no task.
      await sleep(2_500);
      await context.enqueue(child);
      await context.completeWith(async (transaction) => {
        await transaction.query("insert into effect (word) values ($1)", [secret]);
        return { word: secret };
      });
    },
  });
  const parent = defineTask({
    name: "parent",
    run: async (_, context) => {
      seen["parent"] = telemetry.currentTraceParent();
      await context.enqueue(child);
    },
  });
  const failing = defineTask({
    name: "failing",
    retry: { attempts: 1 },
    run: async () => {
      seen["failing"] = telemetry.currentTraceParent();
      await callPartner();
      throw new Error(`bad word: ${secret}`);
    },
  });
  const registry = createRegistry([effect, parent, failing, child]);
  const client = new TaskClient(environment, registry);
  await client.enqueue(child);
  for (const task of [effect, parent, failing]) {
    await telemetry.span({ name: `enqueue ${task.kind}` }, async () => {
      seen[`enqueue ${task.kind}`] = telemetry.currentTraceParent();
      await client.enqueue(task, { word: secret });
    });
  }
  // As an invocation of the host: its trace is that of the request item.
  seen["host"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await asInvocation(telemetry, seen["host"], async () => {
    await client.enqueue(child);
  });
  const heartbeat = new Heartbeat(environment);
  for (const name of ["effect", "parent", "failing", "child"]) {
    await telemetry.span({ name: `worker ${name}`, attributes: { definition: name } }, async () => {
      seen[`worker ${name}`] = telemetry.currentTraceParent();
      await runWorker(
        {
          environment,
          registry,
          heartbeat,
          concurrencyPerWorker: 2,
          idleReads: 1,
          idlePauseMs: 20,
        },
        name,
        {
          deadlineMs: realClock.monotonicMs() + 30_000,
          marginMs: 1_000,
          signal: new AbortController().signal,
        },
      );
    });
  }
  await telemetry.span({ name: "tedious" }, async () => {
    seen["tedious"] = telemetry.currentTraceParent();
    await askSqlServer();
  });
  await telemetry
    .span({ name: "throwing" }, () => Promise.reject(new TypeError(`bad word: ${secret}`)))
    .catch((error: unknown) => (seen["thrown"] = String(error)));
  await store.close();
  const startedAtMs = realClock.monotonicMs();
  await telemetry.flush(10_000);
  const flushMs = realClock.monotonicMs() - startedAtMs;
  // A batch that the exporter's own timer had begun to send isn't waited for by a flush.
  await sleep(1_000);
  process.stdout.write(JSON.stringify({ seen, flushMs }));
  process.exit(0);
}

/** Runs `body` as the host runs a function, through the app's hook. */
async function asInvocation(
  telemetry: Telemetry,
  traceParent: string,
  body: () => Promise<void>,
): Promise<void> {
  const invocation = new InvocationContext({ traceContext: { traceParent } });
  const context = new PreInvocationContext({
    functionCallback: body,
    invocationContext: invocation,
  });
  createTraceHook(() => Promise.resolve(telemetry))(context);
  await context.functionHandler(null, invocation);
}

/** Without a server the driver refuses at once; the item is made as for one that answers. */
async function askSqlServer(): Promise<void> {
  const { Connection, Request, TYPES } = requireLater("tedious") as typeof tediousPackage;
  const connection = new Connection({
    server: "127.0.0.1",
    authentication: { type: "default", options: { userName: "sa", password: secret } },
    options: { port: 9, database: "work" },
  });
  await new Promise<void>((resolve) => {
    const query = new Request("select @word", () => {
      resolve();
    });
    query.addParameter("word", TYPES.NVarChar, secret);
    connection.execSql(query);
  });
}

/** No server listens there: the attempt alone makes an item. */
async function callPartner(): Promise<void> {
  await new Promise<void>((resolve) => {
    const call = request(`http://127.0.0.1:9/word?code=${secret}`);
    call.on("error", () => {
      resolve();
    });
    call.end();
  });
}

void main();
