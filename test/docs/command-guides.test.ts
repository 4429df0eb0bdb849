import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { schedule, setAll } from "../contract/schedule-builders";
import { ensureBuilt } from "../functions/built-app";
import { createEmptyDatabase } from "../migration/empty-database";
import { define, enqueue, startWorker, statusOf } from "../support/builders";
import { openGuideScene } from "./guide-scene";
import type { GuideScene } from "./guide-scene";
import { writeLocalRun } from "./local-run";
import { readBlocks } from "./markdown";
import { pasteShell } from "./paste-shell";
import { pastedApp, testBlocksRan } from "./run-blocks";

/*
 * Goal: the commands of the guides do as pasted what the guides say. bash runs them beside a local run, as a reader does: the built program
 * and Node find the database and the queues in `.taskgate/local.json`.
 */
const anywhere = "docs/guides/enqueue-from-anywhere.md";
const apps = "docs/guides/several-apps.md";
const events = "docs/guides/events.md";
const existingApp = "docs/quickstart-existing-app.md";
const limits = "docs/guides/limits.md";
const ownTables = "docs/guides/own-tables.md";
const redrive = "docs/guides/redrive.md";
const schedules = "docs/guides/schedules.md";
const upgrade = "docs/guides/upgrade.md";

let scene: GuideScene;
const save = (name: string, text: string): void => {
  writeFileSync(join(pastedApp, name), text);
};

beforeAll(async () => {
  ensureBuilt();
  scene = await openGuideScene();
  writeLocalRun({ databaseUrl: scene.url, queueConnection: scene.azurite.connectionString });
}, 180_000);
afterAll(() => scene.close());

test("the commands of the guide to limits set an operator's limit and rate, and give them back to the code", async () => {
  await define(scene.store, { limit: 8 }, "resize-image");
  await define(scene.store, { sharedLimits: [{ name: "partner-api", limit: 6 }] }, "send-invoice");
  expect(await pasteShell([limits, "limit-live"])).toMatch(
    /is 2, it was 8\..*\n.*is 8, it was 2\./,
  );
  expect(await pasteShell([limits, "rate-live"])).toMatch(
    /is 20 per 1 min.* it was none\.\n.*is none, it was 20 per 1 min/,
  );
  expect(await pasteShell([limits, "shared-live"])).toContain(
    "The shared limit partner-api is 4, it was 6.",
  );
});

test("the commands of the guide to several apps hand a definition over, show its owner and release it", async () => {
  expect(await pasteShell([apps, "hand-over"])).toMatch(
    /belongs to shipping, it belonged to no app\.\n.*belongs to shipping.*\n.*belongs to no app, it was shipping's\./,
  );
});

test("the commands of the guide to redrive show the failures, and run dead and cancelled tasks again", async () => {
  await define(scene.store, { retryAttempts: 1 }, "check-row");
  await enqueue(scene.store, "check-row", 2);
  const worker = await startWorker(scene.store, "check-row");
  await worker.fail(await worker.claim(2), { as: "dead", error: "Error: no such row" });
  await worker.finish();
  await scene.store.cancelTasks({ taskIds: await enqueue(scene.store, "check-row", 1) });
  expect(await pasteShell([redrive, "causes"])).toMatch(
    /^(TASKS .*\n +2 +check-row .* no such row\n){2}TASK .*\n( +\d .* no such row\n){2}$/,
  );
  expect(await pasteShell([redrive, "redrive"])).toMatch(
    /^There are 2 tasks of check-row, .*\n2 tasks will run again\.\n1 task will run again\.\n$/,
  );
  expect(await statusOf(scene.store, "check-row")).toMatchObject({ ready: 3, dead: 0 });
});

test("the command of the guide to schedules adds the task of the schedule now", async () => {
  await define(scene.store, {}, "report");
  const nextRunAt = new Date("2090-01-01T02:00:00Z");
  await setAll(scene.store, "report", [schedule({ name: "report", kind: "report", nextRunAt })]);
  expect(await pasteShell([schedules, "run-now"])).toMatch(/^Task \d+ was added to report, /);
  expect(await statusOf(scene.store, "report")).toMatchObject({ ready: 1 });
});

test("the commands of the guide to enqueues add each row of a file once, and exported tasks without a key", async () => {
  await define(scene.store, { retryAttempts: 1 }, "import-orders");
  save("orders.csv", "id,name\n7,Ada\n8,Bo\n");
  expect(await pasteShell([anywhere, "from-file"])).toContain(
    "2 tasks were added to import-orders",
  );
  expect(await pasteShell([anywhere, "from-file"])).toContain("0 tasks were added");
  await enqueue(scene.store, "import-orders", [{ payload: '{"id":"9"}' }]);
  const worker = await startWorker(scene.store, "import-orders", { want: 3 });
  await worker.fail(await worker.claim(3), { as: "dead", error: "no" });
  await worker.finish();
  // The keys of the file's two tasks still count; the third has none.
  expect(await pasteShell([anywhere, "from-export"])).toContain(
    "1 task was added to import-orders, 2 were there already.",
  );
  expect(await statusOf(scene.store, "import-orders")).toMatchObject({ ready: 1, dead: 3 });
});

test("the program of the guide to events sends the event of the page to the ingest queue, in base64", async () => {
  const event = readBlocks(events).find(({ language }) => language === "json")?.text ?? "";
  save("event.json", event);
  const queue = scene.queue("taskgate-ingest");
  await queue.createIfNotExists();
  await pasteShell([events, "send-event"]);
  const { receivedMessageItems } = await queue.receiveMessages();
  const texts = receivedMessageItems.map(({ messageText }) =>
    Buffer.from(messageText, "base64").toString("utf8"),
  );
  expect(texts).toEqual([event]);
});

test("the program of the guide to tables makes the tables of a file in the local database", async () => {
  save("tables.sql", "create schema shop; create table shop.booking (order_id text primary key);");
  await pasteShell([ownTables, "create-tables"]);
  expect(await scene.query("select * from shop.booking")).toEqual([]);
});

test("the commands that migrate an app's database find nothing to update, and make a schema in an empty one", async () => {
  save("package.json", JSON.stringify({ name: "billing" }));
  expect(await pasteShell([upgrade, "package"])).toContain("The schema is up to date");
  const empty = await createEmptyDatabase();
  try {
    const adapt = (text: string): string => text.replace(/postgres:[^"]+/, empty.url);
    expect(await pasteShell([existingApp, "migrate"], { adapt })).toContain("0001_baseline");
  } finally {
    await empty.drop();
  }
});

testBlocksRan([
  [anywhere, "from-file"],
  [anywhere, "from-export"],
  [apps, "hand-over"],
  [events, "send-event"],
  [existingApp, "migrate"],
  [limits, "limit-live"],
  [limits, "rate-live"],
  [limits, "shared-live"],
  [ownTables, "create-tables"],
  [redrive, "causes"],
  [redrive, "redrive"],
  [schedules, "run-now"],
  [upgrade, "package"],
]);
