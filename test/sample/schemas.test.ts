import { checkRow } from "../../functions/tasks/flights/check-row";
import { GiveUp } from "../../shared/core/task-failure";
import { runTaskOnce } from "../../shared/testing/run-task-once";
import { expect, test } from "@jest/globals";
import {
  badRowSchema,
  fileBatchSchema,
  landedFileSchema,
  rowBlockSchema,
  summedFileSchema,
  totalsSchema,
} from "../../functions/tasks/flights/schemas";
import { validateStored } from "../../shared/worker/define/standard-schema";
import type { StandardSchema } from "../../shared/worker/define/standard-schema";

const file = {
  eventId: "flights.json:0123",
  name: "flights.json",
  path: "/data/landing/flights.json",
  sha256: "0".repeat(64),
};
const row = { date: "2001/02/28 23:59", delay: 0, distance: 0, origin: "LAX", destination: "SFO" };
const bad = { file: "f.json", row: 7, content: row, wave: "7", unknownAirports: [] };

async function problemsOf(schema: StandardSchema, value: unknown): Promise<string[]> {
  const result = await validateStored(schema, value);
  return result.ok ? [] : result.problems;
}

test("good payloads pass as they are", async () => {
  const windows = { ...file, path: "C:\\data\\landing\\flights.json" };
  const cases: [StandardSchema, unknown][] = [
    [landedFileSchema, file],
    [landedFileSchema, windows],
    [rowBlockSchema, { file, from: 0, count: 250, totalsWave: "7" }],
    [fileBatchSchema, { batch: "3" }],
    [summedFileSchema, { file, rows: 0 }],
    [totalsSchema, { wave: "7", origin: "LAX" }],
    [badRowSchema, bad],
  ];
  for (const [schema, value] of cases) {
    expect(await validateStored(schema, value)).toEqual({ ok: true, value });
  }
});

test.each([
  "/etc/passwd",
  "/data/landing/../flights.json",
  "/data/landing/../landing/flights.json",
  "/data/other/flights.json",
  "flights.json",
])("an event can't name the file %s", async (path) => {
  const problems = await problemsOf(landedFileSchema, { ...file, path });

  expect(problems).toEqual([
    expect.stringMatching(/^path: expected the path of that file in a folder called landing/),
  ]);
});

test("all problems of a block are listed by path", async () => {
  const problems = await problemsOf(rowBlockSchema, {
    file: { ...file, sha256: "x" },
    from: -1,
    count: 5_000,
    totalsWave: "seven",
  });

  expect(problems).toEqual([
    'file.sha256: expected a SHA-256 in hexadecimal, got "x"',
    "from: expected a whole number from 0, got -1",
    "count: expected a whole number in 1..1000, got 5000",
    'totalsWave: expected an id in decimal digits, got "seven"',
  ]);
});

test.each([null, [], "text", 7])("%j is no payload at all", async (value) => {
  const schemas = [landedFileSchema, rowBlockSchema, fileBatchSchema, summedFileSchema];
  for (const schema of [...schemas, totalsSchema, badRowSchema]) {
    expect((await problemsOf(schema, value)).length).toBeGreaterThan(0);
  }
});

test("a check-row task gives up with its place and everything that is wrong with it", async () => {
  const content = { ...row, delay: "late", origin: null };
  const bySchema = await runTaskOnce(checkRow, { payload: { ...bad, content } });
  expect(bySchema.thrown).toEqual(
    new GiveUp(
      'f.json row 7.delay: expected a whole number in -2880..2880, got "late"; f.json row 7.origin: expected an airport code of three capital letters or digits, got null',
    ),
  );
  const byAirport = await runTaskOnce(checkRow, { payload: { ...bad, unknownAirports: ["QQQ"] } });
  expect(byAirport.thrown).toEqual(new GiveUp("f.json row 7.airport: no airport has the code QQQ"));
  expect([bySchema.end.kind, byAirport.end.kind]).toEqual(["dead", "dead"]);
});
