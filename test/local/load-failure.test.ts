/* Apps with a file that can't be loaded, in real processes: which file and line the start names, and what the log gets. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { ensureBuilt, root } from "../functions/built-app";
import { HostProcess } from "./fixtures/run-host";

const folder = mkdtempSync(join(tmpdir(), "taskgate-load-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
let apps = 0;

/** An app of these files; answers its folder. */
function writeApp(files: Readonly<Record<string, string>>): string {
  const app = join(folder, String((apps += 1)));
  for (const [name, text] of Object.entries({ "host.json": `{ "version": "2.0" }`, ...files })) {
    mkdirSync(dirname(join(app, name)), { recursive: true });
    writeFileSync(join(app, name), text);
  }
  return app;
}

/** Starts an app of these files, and answers how the start failed and what the log says of it. */
async function failureOf(
  files: Readonly<Record<string, string>>,
): Promise<{ message: string; log: string }> {
  const host = new HostProcess({ app: writeApp(files), env: {} });
  const { message } = await host.of("failed");
  await host.exit();
  const lines = host.reports.flatMap((report) =>
    report.kind === "log" && report.level === "error" ? [report.text] : [],
  );
  return { message, log: lines.join("\n") };
}

const commonJs = `{ "main": "src/functions/*.js" }`;
const esModules = `{ "main": "src/functions/*.js", "type": "module" }`;

test("a file that can't be parsed is named with its line, and the log has the stack", async () => {
  const { message, log } = await failureOf({
    "package.json": commonJs,
    "src/functions/a.js": `require("../broken");`,
    "src/broken.js": "\nsyntax error here(",
  });
  expect(message).toBe("src/broken.js:2: Unexpected identifier 'error'");
  expect(log).toContain("syntax error here(\n       ^^^^^");
  expect(log).toMatch(/\n {4}at .*src\/functions\/a\.js:1/);
});

test("an error that a package throws names the line of the app that called it", async () => {
  const { message, log } = await failureOf({
    "package.json": commonJs,
    "node_modules/strict/index.js": `module.exports = () => { throw new TypeError("expected a name"); };`,
    "src/functions/a.js": `const strict = require("strict");\n\nstrict();`,
  });
  expect(message).toBe("src/functions/a.js:3: expected a name");
  expect(log).toMatch(/^TypeError: expected a name\n {4}at .*node_modules\/strict\/index\.js:1/);
});

test("a package that isn't there is told with the file that wants it", async () => {
  const { message } = await failureOf({
    "package.json": commonJs,
    "src/functions/a.js": `\nrequire("nowhere");`,
  });
  expect(message).toMatch(/^src\/functions\/a\.js:2: Cannot find module 'nowhere'/);
});

test("a thrown value without a stack is told with the entry file", async () => {
  const { message } = await failureOf({
    "package.json": commonJs,
    "src/functions/a.js": `throw "nothing works";`,
  });
  expect(message).toBe(`src/functions/a.js: the text "nothing works"`);
});

test("an ES module that throws is named with its line, one that can't be parsed by the entry file", async () => {
  const thrown = await failureOf({
    "package.json": esModules,
    "src/functions/a.js": `import "../late.js";`,
    "src/late.js": `\n\nthrow new Error("at load");`,
  });
  expect(thrown.message).toBe("src/late.js:3: at load");
  const unread = await failureOf({
    "package.json": esModules,
    "src/functions/a.js": `import "../broken.js";`,
    "src/broken.js": "syntax error here(",
  });
  expect(unread.message).toBe(
    "src/functions/a.js or a file that it imports: Unexpected identifier 'error'",
  );
});

test("taskgate work names the file of an app that can't be loaded, and ends with the code for files that can't be used", () => {
  ensureBuilt();
  const work = (files: Readonly<Record<string, string>>) => {
    const command = [join(root, "dist/shared/cli/main.js"), "work", "--json"];
    const environment = {
      PATH: process.env["PATH"],
      TASKGATE_DATABASE_URL: "postgres://localhost/none",
    };
    const options = { cwd: writeApp(files), env: environment, encoding: "utf8" } as const;
    const { status, stderr } = spawnSync(process.execPath, command, options);
    return { status, ...(JSON.parse(stderr) as object) };
  };
  const broken = work({ "package.json": commonJs, "src/functions/a.js": "\nnull.gate;" });
  expect(broken).toMatchObject({
    status: 2,
    error: {
      code: "TASKGATE_APP_BROKEN",
      message: expect.stringMatching(/^src\/functions\/a\.js:2: Cannot read/),
    },
  });
  expect(work({ "package.json": "{" })).toMatchObject({
    status: 2,
    error: {
      code: "TASKGATE_APP_BROKEN",
      message: expect.stringMatching(/package\.json: expected JSON/),
    },
  });
});
