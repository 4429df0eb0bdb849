import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { findFreePort } from "../../shared/local/free-port";
import { ensureBuilt, makeHome } from "../e2e/local-process";
import { readBlock, root } from "./markdown";
import { commandsThatRun, pasteShell, pathWith, runShell } from "./paste-shell";
import { noteRun, testBlocksRan } from "./run-blocks";
import { startShell } from "./start-shell";

/*
 * Goal: beside another host the commands of docs/operate/local.md give a database and the queues, and the settings for them. Each stays in
 * a shell of its own; the ports are the test's.
 */
const page = "docs/operate/local.md";
const cli = "docs/reference/cli.md";
const { home, remove } = makeHome();

beforeAll(() => {
  ensureBuilt();
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "billing", main: "index.js" }));
  writeFileSync(join(home, "host.json"), JSON.stringify({ version: "2.0" }));
  writeFileSync(join(home, "index.js"), "");
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"), "dir");
}, 180_000);
afterAll(remove);

test("taskgate dev --hosts 0 runs a database, whose address --print-settings prints, beside an Azurite of its own", async () => {
  const place = [page, "another-host"] as const;
  const [azurite = "", dev = "", print = "", ...others] = commandsThatRun(place).split("\n");
  expect([others, `${azurite}\n${dev}\n${print}\nfunc start`]).toEqual([
    [],
    readBlock(...place).text,
  ]);
  const shell = { folder: home, env: { ...pathWith() } };
  const anyPorts = ["blob", "queue", "table"].map((name) => `--${name}Port 0`).join(" ");
  const queues = startShell(`${azurite} ${anyPorts}`, shell);
  const database = startShell(`${dev} --port ${String(await findFreePort())}`, shell);
  try {
    await queues.until("Azurite Queue service is successfully listening");
    await database.until("no tasks yet");
    const { Values } = JSON.parse(await runShell(print, { folder: home })) as {
      Values: Record<string, string>;
    };
    const env = { TASKGATE_DATABASE_URL: Values["TASKGATE_DATABASE_URL"] ?? "" };
    expect(await runShell("npx taskgate status --json", { env })).toContain('"definitions": 0');
    noteRun(place);
    expect(JSON.parse(await pasteShell([cli, "examples-dev"], { folder: home }))).toEqual({
      IsEncrypted: false,
      Values,
    });
  } finally {
    await Promise.all([queues.end(), database.end()]);
  }
});

testBlocksRan([
  [page, "another-host"],
  [cli, "examples-dev"],
]);
