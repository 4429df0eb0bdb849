import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { queueReaders } from "../../shared/admin/event-requests";
import { commands } from "../../shared/cli/commands";
import type { CountedWork } from "./counted-work-process";

// Goal: reading an input costs about as much as its length, for every error in it. Method: the blocks of the product
// that run for the most expensive inputs of every entry point, counted by Node's coverage in a process of its own.
const root = join(__dirname, "../..");
/** Twelve are the most that a good reader needs; a reader that looks twice at each member needs hundreds. */
const stepsPerByte = 15;
/** Of a short input: answers, problems, and 50 near names. */
const stepsOfAny = 200_000;

let counted: readonly CountedWork[];
beforeAll(async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["-r", "./test/support/register-swc.cjs", join(__dirname, "counted-work-process.ts")],
    { cwd: root, maxBuffer: 16 * 1024 * 1024 },
  );
  counted = JSON.parse(stdout) as CountedWork[];
}, 60_000);

test("every route, every queue and every command is in the table", () => {
  const entries = new Set(counted.map(({ entry }) => entry));
  const wanted = [
    ...createApiRoutes(() => Promise.reject(new Error("unused"))).map(({ name }) => name),
    ...Object.keys(queueReaders).map((name) => `queue ${name}`),
    ...commands.map(({ name }) => `taskgate ${name}`),
  ];
  expect([...entries]).toEqual(expect.arrayContaining(wanted));
});

test("each input costs at most 15 blocks per byte", () => {
  const dear = counted.filter(
    ({ entry, bytes, steps }) =>
      entry !== "near names" && steps > stepsOfAny + stepsPerByte * bytes,
  );
  expect(dear).toEqual([]);
});

test("the inputs were read: one of 2 MiB costs at least a block per two bytes", () => {
  const long = counted.filter(({ bytes, steps }) => bytes > 2_000_000 && steps > bytes / 2);
  expect(long.length).toBeGreaterThan(10);
});

test("an unknown name beside 1,000 definitions costs at most eight million blocks", () => {
  const [names] = counted.filter(({ entry }) => entry === "near names");
  expect(names?.steps).toBeGreaterThan(1_000);
  expect(names?.steps).toBeLessThan(8_000_000);
});
