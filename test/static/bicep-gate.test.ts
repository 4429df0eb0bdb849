// Goal: the gate's step for Bicep finds a compiler where there is one, fails at a warning, and is never silent about having none.
// Method: the step itself, with programs in the compiler's place; what the real one says about infra/ is the step's to show in the gate.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";

const script = join(__dirname, "../../.ci/bicep.cjs");
const parent = mkdtempSync(join(tmpdir(), "taskgate-gate-"));
let home = "";
let count = 0;

beforeEach(() => {
  count += 1;
  home = join(parent, String(count));
});

afterAll(() => {
  rmSync(parent, { recursive: true, force: true });
});

/** Puts a program into a folder of this test's home; answers the folder. */
function install(folder: string, name: string, body: string): string {
  const path = join(home, folder);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, name), `#!${process.execPath}\n${body}\n`, { mode: 0o755 });
  return path;
}

/** A compiler that says `warning` about everything and ends well, as the real one does. */
function compilerThatWarns(warning: string): string {
  return `if (process.argv.includes("--version")) console.log("Bicep CLI version 9.9.9 (test)");
else console.error(${JSON.stringify(warning)});`;
}

/** The step, where only the programs in `path` are installed. */
function runStep(path: readonly string[], ...options: string[]) {
  mkdirSync(home, { recursive: true });
  const env = { HOME: home, PATH: path.join(delimiter), TMPDIR: home };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...options], {
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("without a compiler the step", () => {
  test("the step without a compiler passes and says that it was skipped, and names the missing tool", () => {
    const { status, stdout } = runStep([]);
    expect(stdout).toBe("Bicep compiler: skipped, no bicep, no az bicep, and no dotnet\n");
    expect(status).toBe(0);
  });

  test("the step without a compiler passes and says so where dotnet can't restore it", () => {
    const folder = install("sdk", "dotnet", "process.exit(5);");
    const { status, stdout } = runStep([folder]);
    expect(stdout).toContain("skipped, no bicep, no az bicep, and dotnet can't restore it");
    expect(status).toBe(0);
  });

  test.each(["--write", "--restore"])(
    "the step without a compiler fails with %s, which can't do its work",
    (option) => {
      const { status, stdout, stderr } = runStep([], option);
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toContain("no bicep, no az bicep, and no dotnet");
    },
  );
});

describe("the step fails at a warning, although the compiler ends well,", () => {
  const warning = "main.bicep(1,1) : Warning no-such-rule: Something is odd.";

  test("the step fails at a warning by the bicep of the PATH, and names both versions", () => {
    const folder = install("tools", "bicep", compilerThatWarns(warning));
    const { status, stdout, stderr } = runStep([folder]);
    expect(stdout).toContain("9.9.9");
    expect(stderr).toContain(warning);
    expect(stderr).toMatch(/npm run bicep -- --write[\s\S]*They were written by 0\.\d+\.\d+\./);
    expect(status).toBe(1);
  });

  test("the step fails at a warning by the bicep of az", () => {
    install(".azure/bin", "bicep", compilerThatWarns(warning));
    const { status, stderr } = runStep([]);
    expect(stderr).toContain(warning);
    expect(status).toBe(1);
  });
});

test("a compiler that refuses nothing makes the step fail: its broken samples pass", () => {
  const body = `if (process.argv.includes("--version")) console.log("Bicep CLI version 9.9.9 (test)");`;
  const folder = install("tools", "bicep", body);
  const { status, stderr } = runStep([folder]);
  expect(stderr).toContain("not refused, use-resource-id-functions");
  expect(status).toBe(1);
});
