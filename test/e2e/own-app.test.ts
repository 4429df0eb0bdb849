/*
 * An app without the sample: a copy of this one, from which the steps of docs/guides/drop-the-sample.md have removed it. It
 * is built and run by what `npm start` runs. All of it compiles, and tests of the product pass in it.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { sleep } from "../../shared/platform/real-clock";
import { readBlock } from "../docs/markdown";
import { pasteShell } from "../docs/paste-shell";
import { noteRun, testBlocksRan } from "../docs/run-blocks";
import { copyApp } from "./app-copy";
import type { AppCopy } from "./app-copy";
import { makeHome, root, startLocal } from "./local-process";
import { hasSample } from "../support/sample";
import { isWhole } from "../support/whole";

let copy: AppCopy;
let app: string;
const { home, remove } = makeHome();
const run = promisify(execFile);

const page = "docs/guides/drop-the-sample.md";

/** Tests of the product: those that speak of the sample where there is one, and some that read what an app may change. */
const fewTests = [
  "test/functions/registered.test.ts",
  "test/init/init.test.ts",
  "test/static/docs.test.ts",
  "test/static/doors.test.ts",
  "test/static/own-packages.test.ts",
  "test/static/tidy.test.ts",
  "test/static/tsql-grammar.test.ts",
];
const manyTests = [
  "test/bad-input/secrets.test.ts",
  "test/docs",
  "test/fault/outage.test.ts",
  "test/functions/by-url-app.test.ts",
  "test/functions/messages.test.ts",
  "test/functions/registered.test.ts",
  "test/init",
  "test/migration",
  "test/static",
  "test/tsql/shipped",
  "test/unit",
];

/** The steps of the page, by their numbers. */
function dropTheSample(): void {
  // 1
  rmSync(join(app, "functions", "tasks", "flights"), { recursive: true });
  rmSync(join(app, "test", "sample"), { recursive: true });
  // 2: the only code of the page, which stands in a list.
  const table = readBlock(page, "task-table");
  writeFileSync(
    join(app, "functions", "tasks", "index.ts"),
    `${table.text.replaceAll(/^ {3}/gm, "")}\n`,
  );
  // 3
  copy.edit("functions/gate.ts", ["results, ", ""], [", results", ""]);
  // 4 and 5
  const path = join(app, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as {
    devDependencies: Readonly<Record<string, string>>;
  };
  const { "vega-datasets": data, ...devDependencies } = manifest.devDependencies;
  expect(data).toBeDefined();
  const changed = { ...manifest, devDependencies, taskgate: undefined };
  writeFileSync(path, `${JSON.stringify(changed, null, 2)}\n`);
}

beforeAll(() => {
  if (!hasSample) return;
  copy = copyApp();
  app = copy.folder;
  dropTheSample();
  // What an earlier build has left of the sample.
  const stale = join(app, "dist", "functions", "tasks", "flights");
  mkdirSync(stale, { recursive: true });
  writeFileSync(join(stale, "local-sample.js"), "throw new Error('stale');");
});

afterAll(() => {
  remove();
  if (hasSample) copy.remove();
});

/** As `npx taskgate` beside the run; repeated while a worker hasn't registered the definition yet. */
async function taskgate(...args: string[]): Promise<string> {
  const program = join(app, "dist", "shared", "cli", "main.js");
  const options = { cwd: home, env: { PATH: process.env["PATH"] } };
  for (let tries = 1; ; tries += 1) {
    try {
      return (await run(process.execPath, [program, ...args], options)).stdout;
    } catch (error) {
      if (tries === 20) throw error;
      await sleep(1_000);
    }
  }
}

// An app that has dropped the sample is such a copy: there is nothing to drop.
(hasSample ? describe : describe.skip)("the guide", () => {
  test("an app without the sample says each step of its start, runs its own tasks and follows them until it is ended", async () => {
    const startedAtMs = performance.now();
    const local = await startLocal(home, [], join(app, ".ci", "start.cjs"));
    try {
      await local.until(/^Building the app \.\./);
      const tookMs = performance.now() - startedAtMs;
      const isBusy = (loadavg()[0] ?? 0) > 4 + availableParallelism();
      if (!isBusy) expect(tookMs).toBeLessThan(1_000);
      await local.until(/Starting a worker \.\.\n[^]*Taskgate runs on this machine/, 120_000);
      expect(
        existsSync(join(app, "dist", "functions", "tasks", "flights", "local-sample.js")),
      ).toBe(false);
      expect(local.output()).not.toContain("landing");
      await local.until(/no tasks yet/);

      expect(await taskgate("enqueue", "greet", "--payload", '{"name":"Ada"}')).toContain(
        "was added to greet",
      );
      await local.until(/100%\s+1 of 1 tasks/);
      expect(await taskgate("tasks", "greet", "--state", "done")).toContain("greet");
      noteRun([page, "task-table"]);
    } finally {
      local.signal("SIGINT");
    }
    expect((await local.exited).code).toBe(0);
  }, 240_000);

  test("an app without the sample has no tables for `taskgate migrate --sample` to create, and says so", async () => {
    const words = ["migrate", "--sample", "--db", "postgres://127.0.0.1:1/none"];
    const program = join(app, "dist", "shared", "cli", "main.js");
    await expect(run(process.execPath, [program, ...words], { cwd: home })).rejects.toThrow(
      /This app has no sample: its package\.json has no "taskgate"/,
    );
  });

  test("an app without the sample compiles with all of its tests", async () => {
    const said = await pasteShell([page, "the-rest"], { folder: app });
    // npm tells each script, and a compiler without a complaint says nothing.
    expect(
      said.match(/^> .*(?: -p \S+tsconfig\.json| -p tsconfig\.json --incremental).*$/gm),
    ).toHaveLength(2);
  }, 120_000);

  test("an app without the sample passes the tests of the product", async () => {
    const jest = join(root, "node_modules", "jest", "bin", "jest.js");
    const file = join(app, "report.json");
    // It copies what git tracks, and this copy has no git.
    const without = ["--testPathIgnorePatterns", "test/static/new-operation"];
    const words = ["--config", "test/jest.config.cjs", "--json", "--outputFile", file, ...without];
    const { PATH, HOME } = process.env;
    const productTests = isWhole ? manyTests : fewTests;
    const failure = await run(process.execPath, [jest, ...words, "--", ...productTests], {
      cwd: app,
      env: { PATH, HOME },
      maxBuffer: 64 * 1024 * 1024,
    }).then(
      () => "",
      (error: unknown) => (error as { stderr: string }).stderr,
    );
    expect(failure).toBe("");
    const report = JSON.parse(readFileSync(file, "utf8")) as {
      numPassedTests: number;
      testResults: { name: string }[];
    };
    expect(report.numPassedTests).toBeGreaterThan(100);
    for (const part of productTests)
      expect(report.testResults.some(({ name }) => name.includes(part))).toBe(true);
  }, 900_000);

  testBlocksRan([
    ["docs/guides/drop-the-sample.md", "task-table"],
    ["docs/guides/drop-the-sample.md", "the-rest"],
  ]);
});
