import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { partOf, totalOf } from "./coverage";
import { describeWhole } from "../../support/whole";
import type { Judged } from "./equivalents";
import type { ShippedRun } from "./passes";

/*
 * Of `npm run test:whole`. A sample of `npm run mutate:tsql`, the same each time, of all kinds but numbers and without those explained as known
 * (known-survivors): something must notice every edit of it. With it come a planted edit that no test can notice, which must
 * be reported, and what the suite covers of the T-SQL.
 */

const sampleSize = 10;

/** It changes the tree and nothing else. */
const unnoticeable = {
  file: "procedures/Sweep.sql",
  from: "SET NOCOUNT, XACT_ABORT ON;",
  to: "SET XACT_ABORT, NOCOUNT ON;",
};

/** A claim of tasks that another may have claimed. */
const fatal = {
  file: "procedures/CompleteTask.sql",
  from: "AND c.Fence = @Fence AND c.TaskId = @TaskId",
  to: "AND c.TaskId = @TaskId",
};

describeWhole("A sample of mutants", () => {
  let report: Judged & ShippedRun;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "mutation-"));
    const own = join(folder, "own.json");
    const json = join(folder, "report.json");
    writeFileSync(own, JSON.stringify([unnoticeable, fatal]));
    await run("--sample", String(sampleSize), "--try", own, "--jobs", "1", "--json", json);
    report = JSON.parse(readFileSync(json, "utf8")) as typeof report;
  }, 300_000);

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  describe("mutants of the T-SQL", () => {
    test("each of a sample is killed", () => {
      const sample = report.outcomes.filter(({ kind }) => kind !== "own");
      expect(sample).toHaveLength(sampleSize);
      const alive = sample.filter(({ verdict }) => verdict.kind !== "killed");
      expect(alive.map(({ file, line, diff }) => [`${file}:${line}`, ...diff])).toEqual([]);
    });

    test("an unnoticeable one is reported with its place and its lines", () => {
      const own = report.unexplained.filter(({ kind }) => kind === "own");
      expect(own).toEqual([
        {
          file: unnoticeable.file,
          line: expect.any(Number),
          kind: "own",
          diff: [`- ${unnoticeable.from}`, `+ ${unnoticeable.to}`],
          nth: 1,
          verdict: { kind: "survived", tried: expect.any(Number) },
        },
      ]);
      expect(own[0]?.verdict).not.toMatchObject({ tried: 0 });
    });

    test("a mutant that breaks a promise is killed by a test that says so", () => {
      const killed = report.outcomes.find(
        ({ file, kind }) => kind === "own" && file === fatal.file,
      );
      expect(killed?.verdict).toMatchObject({ kind: "killed", by: "test" });
    });

    test("the known survivors still survive, as far as they were tried, and are still made", () => {
      expect(report.stale).toEqual([]);
    });
  });

  describe("the contract suite", () => {
    test("the contract suite fails nowhere on the shipped files: what fails there is tried on no mutant", () => {
      expect(report.failures).toEqual([]);
    });

    test("the contract suite runs at least 95 % of the statements of the T-SQL, and of its branches", () => {
      const { covers } = report;
      expect(covers.length).toBeGreaterThan(30);
      const missing = covers.flatMap((cover) =>
        cover.missing.map((text) => `${cover.file}:${text}`),
      );
      const shares = {
        statements: partOf(totalOf(covers, "statements")),
        branches: partOf(totalOf(covers, "branches")),
      };
      const isEnough = shares.statements >= 0.95 && shares.branches >= 0.95;
      expect(isEnough ? [] : [shares, ...missing]).toEqual([]);
    });
  });
});

/** Resolves when it ends with 0, or with 1 for survivors. */
function run(...options: string[]): Promise<void> {
  const hook = join(__dirname, "../../support/register-swc.cjs");
  const program = join(__dirname, "mutate-process.ts");
  const child = spawn(process.execPath, ["-r", hook, program, "--quick", ...options]);
  const output: string[] = [];
  child.stdout.on("data", (data: Buffer) => void output.push(data.toString()));
  child.stderr.on("data", (data: Buffer) => void output.push(data.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => {
      if (code === 0 || code === 1) resolve();
      else reject(new Error(`It ended with ${String(code)}:\n${output.join("")}`));
    });
  });
}
