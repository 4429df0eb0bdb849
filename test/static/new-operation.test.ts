import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readPage, root } from "../docs/markdown";
import { ensureBuilt } from "../functions/built-app";
import { copyTrackedFiles } from "../support/tracked-files";
import { isWhole, testWhole } from "../support/whole";
import { addOperation, readFixture, readStop, setStopCause } from "./added-operation";

/*
 * An operation is added by five files, as CONTRIBUTING says: with them and what `npm run generate` writes, every test that has a
 * list of all operations passes. Method: operations are added to a copy of the tree, and its own tests are run there.
 */

const minuteMs = 60_000;

test("CONTRIBUTING names the files of its example, at most five", () => {
  const page = readPage("CONTRIBUTING.md");
  const [, section = ""] = /^## Add an operation\n([^]*?)^## /m.exec(page) ?? [];
  const named = [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map((match) => match[1] ?? "");
  expect(named.length).toBeLessThanOrEqual(5);
  expect([...named].sort()).toEqual(Object.values(readStop).sort());
  const [, shown = ""] = /^ {3}```typescript\n([^]*?)^ {3}```/m.exec(section) ?? [];
  expect(shown).toContain("readStop");
  expect(readFixture("read-stop/operation.txt")).toContain(shown.replace(/^ {3}/gm, ""));
  expect(Object.values(setStopCause)).toHaveLength(named.length);
});

test(
  "the grants in both roles.sql are those of the operations' rights: `npm run generate`",
  () => {
    ensureBuilt();
    const check = [join(root, ".ci/generate-grants.cjs"), "--check"];
    expect(() => execFileSync(process.execPath, check, { stdio: "pipe" })).not.toThrow();
  },
  3 * minuteMs,
);

describe("in a copy to which operations are added", () => {
  let tree = "";

  beforeAll(() => {
    tree = mkdtempSync(join(tmpdir(), "taskgate-new-operation-"));
    copyTrackedFiles(root, tree);
    symlinkSync(join(root, "node_modules"), join(tree, "node_modules"), "junction");
    // What is compiled already is taken over.
    const isKept = (path: string): boolean => path !== join(root, "dist/package");
    if (existsSync(join(root, "dist")))
      cpSync(join(root, "dist"), join(tree, "dist"), { recursive: true, filter: isKept });
    addOperation(tree, "read-stop", readStop);
    if (isWhole) addOperation(tree, "set-stop-cause", setStopCause);
  }, 3 * minuteMs);

  afterAll(() => {
    rmSync(tree, { recursive: true, force: true });
  });

  /** Throws what the command printed where it fails. */
  function run(command: string, words: readonly string[]): void {
    try {
      execFileSync(command, words, { cwd: tree, stdio: "pipe", maxBuffer: 2 ** 28 });
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: unknown; stderr?: unknown };
      const said = `${[command, ...words].join(" ")}\n${String(stdout)}${String(stderr)}`;
      throw new Error(said, { cause: error });
    }
  }

  /** Runs test files of the copy; answers how many of their tests passed. */
  function runTests(paths: readonly string[], titles = "."): number {
    const report = join(tree, "report.json");
    const jest = "node_modules/jest/bin/jest.js";
    const words = ["--config", "test/jest.config.cjs", "--maxWorkers", "1", "--json"];
    const more = ["--outputFile", report, "--testNamePattern", titles];
    run(process.execPath, [jest, ...words, ...more, ...paths]);
    const { numPassedTests } = JSON.parse(readFileSync(report, "utf8")) as {
      numPassedTests: number;
    };
    return numPassedTests;
  }

  test(
    "the grants are stale until they are made anew",
    () => {
      const grants = ".ci/generate-grants.cjs";
      run("npm", ["run", "--silent", "build"]);
      expect(() => {
        run(process.execPath, [grants, "--check"]);
      }).toThrow(/Run `npm run generate`: .*mssql.*postgres/);
      run(process.execPath, [grants]);
      run(process.execPath, [grants, "--check"]);
    },
    3 * minuteMs,
  );

  test(
    "the static tests, those of the rights, the T-SQL engine's and the contract of it pass",
    () => {
      run(process.execPath, [".ci/generate-docs.cjs"]);
      run(process.execPath, [".ci/copy-assets.cjs"]);
      const names = ["sql-twins", "tsql-install"].map((name) => `test/static/${name}`);
      const units = ["missing-right", "patient-store"].map((name) => `test/unit/store/${name}`);
      expect(runTests([...names, ...units, "test/tsql/shipped/engine"])).toBeGreaterThan(400);
      const reference = ["test/static/docs.test.ts", "test/contract/memory.test.ts"];
      expect(runTests(reference, "reference pages|read_stop")).toBeGreaterThanOrEqual(7);
    },
    5 * minuteMs,
  );

  testWhole(
    "a read and a change pass the compiler and every test that has a list of operations",
    () => {
      run("npm", ["run", "--silent", "typecheck"]);
      run("npm", ["run", "--silent", "generate"]);
      const passed = runTests([
        ...["test/fault/lost-answers", "test/contract/read-plans", "test/migration/roles"],
        ...["test/migration/schema-snapshot", "test/static/docs.test.ts"],
        ...["test/tsql/costs/costs.test", "test/tsql/mutation/operation-cases"],
        ...["test/tsql/mutation/held-rows", "test/tsql/shipped/engine"],
        ...["test/functions/rights", "test/contract/postgres.test.ts"],
      ]);
      expect(passed).toBeGreaterThan(1_000);
    },
    30 * minuteMs,
  );
});
