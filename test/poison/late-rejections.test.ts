import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

interface Said {
  ids: string[];
  done: number;
  said: { message: string; fields: { taskId: string; error: string } }[];
}

/** Runs the process to its end. */
async function play(how: string): Promise<{ code: number | null; out: string; err: string }> {
  const register = join(__dirname, "../support/register-swc.cjs");
  const program = join(__dirname, "late-rejection-process.ts");
  const child = spawn(process.execPath, ["-r", register, program, how]);
  let out = "";
  let err = "";
  child.stdout.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (err += data.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out, err };
}

test("promises that handlers forgot and that are rejected are logged with their tasks; all tasks are done and the process lives on", async () => {
  const { code, out } = await play("watched");
  const { ids, done, said } = JSON.parse(out) as Said;
  expect(code).toBe(0);
  expect(done).toBe(6);
  expect(
    said.every(
      ({ message }) => message === "a promise that a handler had not awaited was rejected",
    ),
  ).toBe(true);
  const errors = new Map(said.map(({ fields }) => [fields.taskId, fields.error.split("\n")[0]]));
  expect([...errors].sort()).toEqual([
    [ids[0], "Error: rejected at once"],
    [ids[1], "Error: rejected late"],
    [ids[2], "thrown: an object that can't be looked at"],
  ]);
});

test.each([
  ["one gate", "foreign"],
  ["two gates", "two gates"],
  ["gates of two copies of the package", "two copies"],
])("a rejection of no task ends a process with %s as it would without", async (_, how) => {
  const { code, out, err } = await play(how);
  const { done, said } = JSON.parse(out) as Said;
  expect(done).toBe(6);
  expect(said).toHaveLength(3);
  expect(code).not.toBe(0);
  expect(err).toMatch(/of nobody's task/);
});

test("the first forgotten promise ends the process where the watch is taken away", async () => {
  const { code, out } = await play("unwatched");
  expect(out).toBe("");
  expect(code).not.toBe(0);
});
