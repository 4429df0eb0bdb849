import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { QueueServiceClient } from "@azure/storage-queue";
import ts from "typescript";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { TaskClient } from "../../shared/worker/client/client";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { runWorker } from "../../shared/worker/run/run-worker";
import { ensureBuilt } from "../functions/built-app";
import { HostProcess } from "../local/fixtures/run-host";
import { define, factsOf, startWorker } from "../support/builders";
import { createTestDatabase } from "../support/test-postgres";
import { readBlock, root } from "./markdown";
import { loadBlock, noteRun, testBlocksRan } from "./run-blocks";
import type { AnyTaskKind } from "../../shared/worker/define/task-kind";
import { taskRequest } from "../../shared/worker/define/task-ref";
import { quietEnvironment } from "../support/quiet-environment";

/*
 * Goal: what the README says to paste works as pasted. Both blocks are written to files unchanged, where the README
 * puts them, and run: the task by a worker on PostgreSQL, the queue function by the local Functions host on Azurite.
 */
const folder = mkdtempSync(join(tmpdir(), "taskgate-readme-"));
let store: TaskStore;
let database: { url: string; drop(): Promise<void> };

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, connectionsMax: 4, random: realRandom, sleep });
});

afterAll(async () => {
  await store.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

function environmentOf(): WorkerEnvironment {
  return quietEnvironment(store, { workerName: "readme" });
}

describe("the README's task", () => {
  test("the README's task runs as pasted", async () => {
    const { greet } = await loadBlock<{ greet: AnyTaskKind }>(["README.md", "task"]);
    const environment = environmentOf();
    const registry = createRegistry([greet]);
    const client = new TaskClient(environment, registry);

    const enqueued = await client.enqueueAll(
      ["Ada", "Bob", "Ada"].map((name) => taskRequest(greet, { name })),
    );
    await runWorker(
      {
        environment,
        registry,
        heartbeat: new Heartbeat(environment),
        concurrencyPerWorker: 8,
        idleReads: 1,
        idlePauseMs: 5,
      },
      "greet",
      {
        deadlineMs: realClock.monotonicMs() + 20_000,
        marginMs: 100,
        signal: new AbortController().signal,
      },
    );

    const facts = await Promise.all(enqueued.map(({ taskId }) => factsOf(store, taskId)));
    expect(
      facts.map(({ state, result }) => [state, JSON.parse(result ?? "null") as unknown]),
    ).toEqual([
      ["done", { text: "Hello Ada" }],
      ["done", { text: "Hello Bob" }],
      ["done", { text: "Hello Ada" }],
    ]);
    const { definitions } = await store.listDefinitions({ name: "greet" });
    expect(definitions).toMatchObject([{ limit: 2, retryAttempts: 3, limitSource: "code" }]);
  });
});

describe("the README's limit around any function", () => {
  let azurite: Azurite;
  let host: HostProcess | undefined;

  beforeAll(async () => {
    azurite = await startAzurite();
    host = new HostProcess({
      app: relative(join(__dirname, "../local/fixtures"), makeApp()),
      env: {
        AzureWebJobsStorage: azurite.connectionString,
        TASKGATE_DATABASE_URL: database.url,
        TASKGATE_LOG_LEVEL: "error",
      },
    });
    await host.of("ready");
  }, 180_000);

  afterAll(async () => {
    await host?.stop();
    await azurite.stop();
  });

  /** Puts a message into the queue that the block listens to. */
  async function send(message: object): Promise<void> {
    const queue = QueueServiceClient.fromConnectionString(azurite.connectionString).getQueueClient(
      "notifications",
    );
    await queue.createIfNotExists();
    await queue.sendMessage(Buffer.from(JSON.stringify(message)).toString("base64"));
  }

  const reports = () => host?.reports ?? [];

  /** How often the function has ended well. */
  const ended = (): number =>
    reports().filter(
      (report) => report.kind === "log" && report.text.startsWith("Executed 'notify' (Succeeded"),
    ).length;

  const messages = (): unknown[] =>
    reports().flatMap((report) =>
      report.kind === "event" && report.event === "called" ? [report["message"]] : [],
    );

  async function until(what: () => boolean): Promise<void> {
    for (let tries = 0; tries < 1_200; tries += 1) {
      if (what()) return;
      await wait(25);
    }
    throw new Error(`not seen: ${JSON.stringify(reports())}`);
  }

  test("gate.limited stores the message as a task while all tokens are held, and the handler runs later", async () => {
    const settings = { limit: null, sharedLimits: [{ name: "partner-api", limit: 4 }] };
    await define(store, settings, "holder");
    const holder = await startWorker(store, "holder", { want: 4 });
    expect(holder.answer.tokens).toBe(4);

    await send({ order: 1 });
    await until(() => ended() === 1);
    expect(messages()).toEqual([]);
    await holder.finish();

    await until(() => messages().length === 1);
    expect(messages()).toEqual([{ order: 1 }]);
  }, 60_000);

  test("gate.limited runs the handler on a token, and the token comes back", async () => {
    await send({ order: 2 });
    await until(() => ended() === 2);
    expect(messages()).toEqual([{ order: 1 }, { order: 2 }]);
    const held = async (): Promise<number | undefined> =>
      (await store.listSharedLimits({ max: 10 })).sharedLimits[0]?.held;
    for (let tries = 0; (await held()) !== 0 && tries < 400; tries += 1) await wait(25);
    expect(await held()).toBe(0);
    noteRun(["README.md", "with-tokens"]);
  }, 60_000);

  test("the message was never counted as failed", () => {
    const failed = reports().filter(
      (report) => report.kind === "log" && /\(Failed|poison/.test(report.text),
    );
    expect(failed).toEqual([]);
  });
});

testBlocksRan([
  ["README.md", "task"],
  ["README.md", "with-tokens"],
]);

/** A function app whose one function is the block, beside the compiled product. */
function makeApp(): string {
  ensureBuilt();
  const app = join(folder, "app");
  const functions = join(app, "dist/functions");
  mkdirSync(functions, { recursive: true });
  symlinkSync(join(root, "node_modules"), join(app, "node_modules"));
  writeFileSync(join(app, "package.json"), JSON.stringify({ main: "dist/functions/app.js" }));
  const queues = { maxPollingInterval: "00:00:00.100", messageEncoding: "base64" };
  writeFileSync(join(app, "host.json"), JSON.stringify({ version: "2.0", extensions: { queues } }));
  const { outputText } = ts.transpileModule(readBlock("README.md", "with-tokens").text, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 },
  });
  writeFileSync(join(functions, "notify.js"), outputText);
  symlinkSync(join(root, "dist/functions/gate.js"), join(functions, "gate.js"));
  writeFileSync(
    join(functions, "app.js"),
    `globalThis.callPartner = async (message) => void process.send({ kind: "event", event: "called", message });
     require("./notify.js");
     const { app } = require("@azure/functions");
     const { gate } = require("./gate");
     app.storageQueue("run", gate.run);
     gate.hooks(app);`,
  );
  return app;
}
