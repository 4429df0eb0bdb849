import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { ensureBuilt, root } from "../../functions/built-app";

/** Node's own runner replaces the members of `node:timers`, too, which no timer of Jest's does. */
const program = `
  const test = require("node:test");
  const { defineTask } = require(${JSON.stringify(join(root, "dist/shared/index.js"))});
  const { TestBench } = require(${JSON.stringify(join(root, "dist/shared/testing/index.js"))});
  test("with all timers mocked", async ({ mock }) => {
    mock.timers.enable();
    const note = defineTask({ name: "note", run: async () => null });
    const bench = new TestBench([note]);
    await bench.enqueue(note, {});
    await bench.drain();
    process.stdout.write("drained");
  });`;

test("the mocked timers of Node's runner don't stop the test bench", async () => {
  ensureBuilt();
  const options = { timeout: 20_000, env: { PATH: process.env["PATH"] } };
  const { stdout } = await promisify(execFile)(process.execPath, ["--eval", program], options);
  expect(stdout).toContain("drained");
});
