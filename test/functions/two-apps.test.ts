/*
 * Two apps on one database, each in a local Functions host of its own process, with queues of their own in one Azurite. In
 * the first two tests no sweep runs: all work starts by hints.
 */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { HostChild } from "../../shared/local/host-children";
import type * as HostChildren from "../../shared/local/host-children";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import type { TaskStore } from "../../shared/ports/task-store";
import { urlAs } from "../support/roles";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { ensureBuilt, root } from "./built-app";

const partnerLimit = 3;
const folder = mkdtempSync(join(tmpdir(), "taskgate-two-apps-"));
const overlapFile = join(folder, "overlap.log");
const hosts: HostChild[] = [];
const lines: string[] = [];
let azurite: Azurite;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let store: TaskStore;

/** One task of its own under the shared limit, one that enqueues the other app's task, and one function under the limit. */
function appCode(name: string, tasks: { own: string; others: string; handler: string }): string {
  return `
const { appendFileSync } = require("node:fs");
const { app } = require("@azure/functions");
const { defineLimit, defineTask, taskRef } = require(${JSON.stringify(join(root, "dist/shared/index.js"))});
const { taskgate } = require(${JSON.stringify(join(root, "dist/shared/functions/index.js"))});
const partner = defineLimit({ name: "partner", limit: ${String(partnerLimit)} });
const note = (what) => appendFileSync(${JSON.stringify(overlapFile)}, what + " ${name}\\n");
const call = async () => {
  note("begin");
  await new Promise((resolve) => setTimeout(resolve, 60));
  note("end");
};
const own = defineTask({ name: "${tasks.own}", limit: null, within: [partner], run: call });
const relay = defineTask({
  name: "relay-of-${name}",
  limit: 1,
  run: async (payload, ctx) => {
    await ctx.enqueue(taskRef({ name: "${tasks.others}" }), payload);
  },
});
const gate = taskgate({ app: "${name}", tasks: [own, relay] });
gate.register(app, {});
app.storageQueue("notify", {
  queueName: "${name}-notify",
  connection: "AzureWebJobsStorage",
  handler: gate.limited(partner, { overflow: "task", waitMs: 10, name: "${tasks.handler}" }, call),
});
`;
}

function writeApp(name: string, code: string): string {
  const appFolder = join(folder, name);
  mkdirSync(appFolder);
  writeFileSync(join(appFolder, "index.js"), code);
  writeFileSync(join(appFolder, "host.json"), JSON.stringify({ version: "2.0" }));
  writeFileSync(join(appFolder, "package.json"), JSON.stringify({ name, main: "index.js" }));
  symlinkSync(join(root, "node_modules"), join(appFolder, "node_modules"));
  return appFolder;
}

async function start(name: string, appRoot: string, sweep?: string): Promise<HostChild> {
  const load = createRequire(__filename);
  const compiled = join(root, "dist/shared/local/host-children.js");
  const { startHostChild } = load(compiled) as typeof HostChildren;
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    AzureWebJobsStorage: azurite.connectionString,
    TASKGATE_DATABASE_URL: urlAs(database.url, "app"),
    TASKGATE_HINT_QUEUE: `${name}-hints`,
    TASKGATE_INGEST_QUEUE: `${name}-events`,
    ...(sweep === undefined ? {} : { TASKGATE_SWEEP_SCHEDULE: sweep }),
  };
  const settings = { appRoot, port: 0, env, runsTimers: sweep !== undefined };
  const host = await startHostChild(settings, (line) => lines.push(`${name}: ${line}`));
  hosts.push(host);
  return host;
}

async function enqueue(host: HostChild, definition: string, count: number): Promise<Response> {
  const tasks = Array.from({ length: count }, (_, n) => ({ payload: { n } }));
  return fetch(`${host.url}/api/definitions/${definition}/tasks`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tasks }),
  });
}

const notes = (): string[] => readFileSync(overlapFile, "utf8").split("\n").slice(0, -1);
const ended = (name: string): number => notes().filter((note) => note === `end ${name}`).length;

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries += 1) {
    if (await isSo()) return;
    await sleep(25);
  }
  const log = await withClient(database.url, (client) =>
    client.query(
      "select kind, outcome, error from taskgate.v_execution_log where outcome <> 'done'",
    ),
  );
  const last = lines.slice(-30).join("\n");
  throw new Error(`not within 30 s: ${what}\n${JSON.stringify(log.rows)}\n${last}`);
}

/** How many bodies had begun and not ended, at most. */
function mostAtOnce(all: readonly string[]): number {
  let running = 0;
  return Math.max(...all.map((note) => (running += note.startsWith("begin") ? 1 : -1)));
}

beforeAll(async () => {
  ensureBuilt();
  [azurite, database] = await Promise.all([startAzurite(), createTestDatabase()]);
  const url = urlAs(database.url, "operator");
  store = openStore({ url, connectionsMax: 2, random: realRandom, sleep });
  writeFileSync(overlapFile, "");
}, 180_000);

afterAll(async () => {
  await Promise.all(hosts.map((host) => host.stop()));
  await store.close();
  await azurite.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

describe("two apps in two processes", () => {
  let billing: HostChild;
  let shipping: HostChild;

  beforeAll(async () => {
    const bill = { own: "invoice", others: "parcel", handler: "notify-billing" };
    const ship = { own: "parcel", others: "invoice", handler: "notify-shipping" };
    [billing, shipping] = await Promise.all([
      start("billing", writeApp("billing", appCode("billing", bill))),
      start("shipping", writeApp("shipping", appCode("shipping", ship))),
    ]);
  }, 60_000);

  test("two apps serve their own tasks without a sweep, and never run more at once than their shared limit", async () => {
    const answers = await Promise.all([
      enqueue(billing, "invoice", 40),
      enqueue(shipping, "parcel", 40),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    await until("all tasks have ended", () => ended("billing") === 40 && ended("shipping") === 40);
    expect(mostAtOnce(notes())).toBe(partnerLimit);
    expect((await store.listApps()).apps).toMatchObject([
      { app: "billing", address: { queue: "billing-hints" } },
      { app: "shipping", address: { queue: "shipping-hints" } },
    ]);
  }, 60_000);

  test("two apps enqueue each other's tasks, whose hints go to the owner's queue", async () => {
    writeFileSync(overlapFile, "");
    expect((await enqueue(billing, "relay-of-billing", 1)).status).toBe(201);
    await until("the parcel was sent", () => ended("shipping") === 1);
    expect((await enqueue(shipping, "relay-of-shipping", 1)).status).toBe(201);
    await until("the invoice was sent", () => ended("billing") === 1);
    expect(lines.filter((line) => line.includes("put back"))).toEqual([]);
  }, 60_000);

  test("two apps store messages that overflow as tasks of their own, under the same limit and without a sweep", async () => {
    writeFileSync(overlapFile, "");
    const queues = QueueServiceClient.fromConnectionString(azurite.connectionString);
    for (const name of ["billing", "shipping"]) {
      const queue = queues.getQueueClient(`${name}-notify`);
      await queue.createIfNotExists();
      for (let count = 1; count <= 20; count += 1)
        await queue.sendMessage(Buffer.from(JSON.stringify({ count })).toString("base64"));
    }
    await until("all messages", () => ended("billing") === 20 && ended("shipping") === 20);
    expect(mostAtOnce(notes())).toBeLessThanOrEqual(partnerLimit);
    const { definitions } = await store.listDefinitions({});
    const stored = definitions.filter(({ name }) => name.startsWith("notify-"));
    expect(stored.map(({ name }) => name)).toEqual(["notify-billing", "notify-shipping"]);
    expect(stored.every(({ done }) => done > 0)).toBe(true);
  }, 60_000);

  test("a third app with a task of the same name is told so by its sweep, and its other tasks are served", async () => {
    await Promise.all([billing.stop(), shipping.stop()]);
    [billing, shipping] = await Promise.all([
      start("billing", join(folder, "billing"), "*/2 * * * * *"),
      start("shipping", join(folder, "shipping"), "*/2 * * * * *"),
    ]);
    const code = appCode("returns", {
      own: "invoice",
      others: "parcel",
      handler: "notify-returns",
    });
    const returns = await start("returns", writeApp("returns", code), "*/2 * * * * *");
    const sentence =
      "definition: expected one that app returns may run (invoice belongs to billing). Give the task another name, or hand the definition over: taskgate owner invoice returns";
    await until("its sweep fails", () =>
      lines.some((line) => line.startsWith("returns: ") && line.includes(sentence)),
    );
    writeFileSync(overlapFile, "");
    expect((await enqueue(returns, "relay-of-returns", 1)).status).toBe(201);
    await until("the parcel was sent", () => ended("shipping") === 1);
    expect((await enqueue(billing, "invoice", 5)).status).toBe(201);
    await until("the invoices were sent", () => ended("billing") === 5);
    expect(ended("returns")).toBe(0);
    await returns.stop();
  }, 60_000);

  test("two apps hand a definition over, and the new one runs it within its next sweep", async () => {
    await store.setDefinitionOwner({ name: "invoice", app: "returns", changedBy: "an operator" });
    await billing.stop();
    writeFileSync(overlapFile, "");
    await start("returns", join(folder, "returns"), "*/2 * * * * *");
    expect((await enqueue(shipping, "relay-of-shipping", 1)).status).toBe(201);
    await until("the invoice was sent", () => ended("returns") === 1);
  }, 60_000);

  test("a body that ran without a token would be found out", () => {
    appendFileSync(overlapFile, "");
    expect(mostAtOnce(["begin a", "begin b", "end a", "begin a", "end a", "end b"])).toBe(2);
  });
});
