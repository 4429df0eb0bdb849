import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import { at } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { ensureBuilt, root } from "./built-app";

// Goal: the command line beside an app on the package knows the app's kinds. It is a copy of the compiled code without the
// repository's own tasks, as the package has none.
let api: ApiSetup;
let folder: string;

beforeAll(async () => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), "taskgate-app-kinds-"));
  cpSync(join(root, "dist/shared"), join(folder, "installed/dist/shared"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  api = await setupApi();
  for (const name of ["mail", "orders", "keyed"]) await api.register(name);
}, 180_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});

const installed = { dependencies: { "@azure/functions": "^4", taskgate: "^0.2.0" } };
const code = `
process.stdout.write("loaded\\n");
setInterval(() => {}, 1_000);
const { app } = require("@azure/functions");
const { defineTask } = require("../../installed/dist/shared/index.js");
const { taskgate } = require("../../installed/dist/shared/functions/index.js");
const run = async () => {};
const schema = { "~standard": { version: 1, vendor: "test", validate: (value) =>
  typeof value?.id === "number" ? { value } : { issues: [{ message: "expected a number", path: ["id"] }] } } };
taskgate({ tasks: [
  defineTask({ name: "mail", input: schema, run }),
  defineTask({ name: "orders", version: 2, input: schema, upgrade: { 1: (old) => ({ id: Number(old.id) }) }, run }),
  defineTask({ name: "keyed", groupKey: ({ id }) => "customer " + id, dedupe: { by: "id" }, run }),
] }).register(app);
`;

/** Writes an app, `source` null: not built. Answers its folder. */
function writeApp(name: string, source: string | null, manifest: object = installed): string {
  const app = join(folder, name);
  mkdirSync(join(app, "dist"), { recursive: true });
  writeFileSync(
    join(app, "package.json"),
    JSON.stringify({ name, main: "dist/index.js", ...manifest }),
  );
  if (source !== null) writeFileSync(join(app, "dist/index.js"), source);
  return app;
}

/** Runs the program in a folder, as a person does. */
function taskgate(cwd: string, ...words: readonly string[]) {
  const { PATH, HOME } = process.env;
  const program = join(folder, "installed/dist/shared/cli/main.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd,
    env: { PATH, HOME, TASKGATE_DATABASE_URL: api.operatorUrl },
    encoding: "utf8",
    timeout: 60_000,
  });
  return { code: status, out: stdout, error: stderr };
}

/** What is kept of the task that a call with --json has added. */
async function addedBy(out: string) {
  const { tasks } = JSON.parse(out) as { tasks: { task: TaskId }[] };
  const { facts } = await api.admin.explain(at(tasks, 0).task);
  return facts;
}

describe("enqueue beside an app on the package", () => {
  test("the command enqueue refuses a payload that the kind's schema refuses, with the problem", () => {
    const app = writeApp("app", code);
    const refused = taskgate(app, "enqueue", "mail", "--payload", '{"id":"x"}');
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.error).toContain("expected a number");
    const file = join(folder, "mail.ndjson");
    writeFileSync(file, '{"id":1}\n{"id":"x"}\n');
    const from = taskgate(app, "enqueue", "mail", "--from", file);
    expect(from.code).toBe(2);
    expect(from.error).toContain("line 2");
  }, 120_000);

  test("the command enqueue refuses an unknown kind with the near one, unless it is allowed", () => {
    const app = writeApp("app", code);
    const words = ["enqueue", "mail", "--kind", "mial", "--payload", '{"id":1}'];
    const refused = taskgate(app, ...words);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain(
      "Did you mean mail? For a kind of other code: --allow-unknown-kind, or ",
    );
    expect(taskgate(app, ...words, "--allow-unknown-kind").code).toBe(0);
  }, 120_000);

  test("the command enqueue computes group and dedupe key, prints nothing else on standard output, and ends", async () => {
    const app = writeApp("app", code);
    const words = ["enqueue", "keyed", "--payload", '{"id":7}', "--json"];
    const { code: exit, out, error } = taskgate(app, ...words);
    expect({ exit, error }).toEqual({ exit: 0, error: "loaded\n" });
    expect(await addedBy(out)).toMatchObject({ group: { key: "customer 7" }, dedupeKey: "7" });
  }, 120_000);

  test("the command enqueue upgrades the payload of an older version", async () => {
    const app = writeApp("app", code);
    const words = ["enqueue", "orders", "--payload", '{"id":"5"}', "--json"];
    const { code: exit, out } = taskgate(app, ...words);
    expect(exit).toBe(0);
    expect(await addedBy(out)).toMatchObject({ payload: '{"id":5}' });
  }, 120_000);
});

describe("enqueue beside an app that can't be loaded", () => {
  const words = ["enqueue", "orders", "--payload", '{"id":"x"}'];

  test.each([
    { name: "isn't built", source: null, manifest: installed, reason: "Run the build" },
    {
      name: "throws",
      source: 'throw new Error("no setting\\nat all");',
      manifest: installed,
      reason: "loaded: dist/index.js:1: no setting\n",
    },
    {
      name: "has no functions",
      source: code,
      manifest: { dependencies: { taskgate: "^0.2.0" } },
      reason: "name @azure/functions",
    },
  ])(
    "the command enqueue adds the task, and says in a line that an app that $name didn't check it",
    ({ name, source, manifest, reason }) => {
      const app = writeApp(name.replaceAll(/\W/g, "-"), source, manifest);
      const added = taskgate(app, ...words);
      expect(added.code).toBe(0);
      expect(added.error).toMatch(
        /^taskgate: the payload isn't checked by the app's code, which can't be loaded: .+\n$/,
      );
      expect(added.error).toContain(reason);
    },
    60_000,
  );

  test("the command enqueue loads no program that isn't an app on the package, and says nothing", () => {
    const app = writeApp("foreign", 'console.log("started");', {});
    expect(taskgate(app, ...words)).toMatchObject({ code: 0, error: "" });
    expect(taskgate(folder, ...words)).toMatchObject({ code: 0, error: "" });
  }, 60_000);
});
