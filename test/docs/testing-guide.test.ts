import { execFileSync } from "node:child_process";
import { describe, expect, jest, test } from "@jest/globals";
import { ensureBuilt } from "../functions/built-app";
import { root } from "./markdown";
import { testBlocksRan, writeBlock } from "./run-blocks";

/*
 * Goal: the guide to testing runs as pasted. Its blocks are written to files unchanged, where their first lines say, and
 * loaded here: the tests in them become tests of this file.
 */
const page = "docs/guides/testing-your-tasks.md";
const files = ["testing-tasks", "testing-once", "testing-bench"].map((marker) =>
  writeBlock([page, marker]),
);
const suites = files.filter((path) => path.endsWith(".test.ts"));

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

testBlocksRan([
  [page, "testing-tasks"],
  [page, "testing-once"],
  [page, "testing-bench"],
]);
