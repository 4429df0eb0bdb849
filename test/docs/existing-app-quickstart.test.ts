import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import ts from "typescript";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { ensureBuilt } from "../functions/built-app";
import { HostProcess } from "../local/fixtures/run-host";
import { bashWords } from "../support/bash";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { readBlock } from "./markdown";
import { noteRun, pastedApp, testBlocksRan } from "./run-blocks";

/*
 * Goal: the two files of the quickstart run as pasted in an app of their own, in the local Functions host on PostgreSQL and the
 * emulator of the storage, and the page's twelve messages never make more than four calls at once.
 */
const page = "docs/quickstart-existing-app.md";
let azurite: Azurite;
let database: { url: string; drop(): Promise<void> };
let host: HostProcess;

/** The app as `npm run build` leaves it. `callPartner` is the reader's own. */
function writeApp(queueConnection: string): void {
  const functions = join(pastedApp, "dist/src/functions");
  mkdirSync(functions, { recursive: true });
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 };
  for (const [marker, name] of [
    ["gate-file", "gate.js"],
    ["notify", "notify.js"],
  ] as const) {
    const { text } = readBlock(page, marker);
    writeFileSync(join(functions, name), ts.transpileModule(text, { compilerOptions }).outputText);
  }
  writeFileSync(
    join(functions, "a-partner.js"),
    `globalThis.callPartner = async ({ n }) => {
       process.send({ kind: "event", event: "begin", n });
       await new Promise((resolve) => setTimeout(resolve, 150));
       process.send({ kind: "event", event: "end", n });
     };`,
  );
  const main = "dist/src/functions/*.js";
  writeFileSync(join(pastedApp, "package.json"), JSON.stringify({ name: "billing", main }));
  const extensions = { queues: { maxPollingInterval: "00:00:00.100" } };
  writeFileSync(join(pastedApp, "host.json"), JSON.stringify({ version: "2.0", extensions }));
  // What `npx taskgate dev` tells the page's program.
  mkdirSync(join(pastedApp, ".taskgate"));
  writeFileSync(join(pastedApp, ".taskgate/local.json"), JSON.stringify({ queueConnection }));
}

beforeAll(async () => {
  ensureBuilt();
  [azurite, database] = await Promise.all([startAzurite(), createTestDatabase()]);
  writeApp(azurite.connectionString);
  host = new HostProcess({
    app: pastedApp,
    env: {
      AzureWebJobsStorage: azurite.connectionString,
      TASKGATE_DATABASE_URL: urlAs(database.url, "app"),
      TASKGATE_LOG_LEVEL: "error",
    },
  });
}, 180_000);
afterAll(async () => {
  await host.stop();
  await Promise.all([azurite.stop(), database.drop()]);
});

test("gate.register adds run, sweep, ingest and the status page", async () => {
  const { functions, url } = await host.of("ready");
  expect(functions).toEqual(expect.arrayContaining(["notify", "run", "sweep", "ingest"]));
  expect((await fetch(`${url}/api/taskgate/dashboard`)).status).toBe(200);
  noteRun([page, "gate-file"]);
});

test("the twelve messages of the page are each handled once, at most four at a time", async () => {
  const { PATH } = process.env;
  const program = bashWords(readBlock(page, "twelve-messages").text);
  execFileSync("bash", program, { cwd: pastedApp, env: { PATH } });
  await host.events("end", 12);
  let atOnce = 0;
  const counts = host
    .eventNames("begin", "end")
    .map((event) => (atOnce += event === "begin" ? 1 : -1));
  // Two at least: else nothing would be held back.
  expect([2, 3, 4]).toContain(Math.max(...counts));
  const begun = await host.events("begin", 12);
  expect(begun.map(({ n }) => Number(n)).sort((one, other) => one - other)).toEqual([
    ...Array(12).keys(),
  ]);
  noteRun([page, "notify"]);
}, 60_000);

testBlocksRan([
  [page, "gate-file"],
  [page, "notify"],
]);
