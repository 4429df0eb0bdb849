import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { ensureBuilt } from "../functions/built-app";
import { readBlocks, root } from "./markdown";

/*
 * Goal: the guide to testing runs as pasted. Its blocks are written to files unchanged, where their first lines say, and
 * loaded here: the tests in them become tests of this file.
 */
const page = "docs/guides/testing-your-tasks.md";
const app = mkdtempSync(join(tmpdir(), "taskgate-guide-"));
symlinkSync(join(root, "shared"), join(app, "shared"));
const files = readBlocks(page)
  .filter((block) => block.language === "ts")
  .map((block) => {
    const place = /^\/\/ (\S+)\n/.exec(block.text)?.[1];
    if (place === undefined) throw new Error(`${page}:${String(block.line)} names no file`);
    const path = join(app, place);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, block.text);
    return path;
  });
const suites = files.filter((path) => path.endsWith(".test.ts"));

afterAll(() => {
  rmSync(app, { recursive: true, force: true });
});

test("the guide has tests of one task and of several", () => {
  expect(suites).toHaveLength(2);
});

describe("as pasted", () => {
  for (const suite of suites) jest.requireActual(suite);
});

test("taskgate/testing is an entry of the built package", () => {
  ensureBuilt();
  const names = execFileSync(
    process.execPath,
    ["-e", 'process.stdout.write(Object.keys(require("taskgate/testing")).join(" "))'],
    { cwd: root, encoding: "utf8" },
  );
  expect(names).toBe("runTaskOnce TestBench");
}, 180_000);
