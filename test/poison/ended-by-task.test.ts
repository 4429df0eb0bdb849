import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

/** How the process ends. */
async function play(how: string): Promise<{ code: number | null; err: string }> {
  const register = join(__dirname, "../support/register-swc.cjs");
  const program = join(__dirname, "ended-by-task-process.ts");
  const child = spawn(process.execPath, ["-r", register, program, how], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let err = "";
  child.stderr.on("data", (data: Buffer) => (err += data.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, err };
}

const lost = "It counts as lost, and so do the tasks beside it";

test.each([
  ["exit 0", 1, `error Task 1 (rash) called process.exit. ${lost}\n`],
  ["exit 3", 3, `error Task 1 (rash) called process.exit. ${lost}\n`],
  ["exit later", 1, `error Task 1 (rash) called process.exit. ${lost}\n`],
])(
  "a handler that ends its process by %s is named, and the exit code is %i",
  async (how, wanted, line) => {
    const { code, err } = await play(how);
    expect(code).toBe(wanted);
    expect(err).toBe(line);
  },
);

test("a handler that throws in a timer is named before Node ends the process", async () => {
  const { code, err } = await play("throw later");
  expect(code).not.toBe(0);
  expect(err).toContain(
    "error Task 1 (rash) threw outside of its handler's promise, which ends the process: Error: in a timer\n",
  );
  expect(err).not.toContain("process.exit");
});

test.each([
  ["own exit 0", 0],
  ["own exit 4", 4],
])(
  "a process that ends itself by %s keeps its exit code, and nothing is said",
  async (how, wanted) => {
    const { code, err } = await play(how);
    expect([code, err]).toEqual([wanted, ""]);
  },
);
