import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Client } from "pg";
import { until } from "../support/gate";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { findViolations, mostRunning } from "./limit-evidence";
import type { Interval } from "./limit-evidence";
import { overlapTables } from "./overlap-log";
import { isWhole } from "../support/whole";

/*
 * Goal: calls that draw from several limits at once never run more bodies than each of the limits allows, and each list of either
 * process has its turn. Method: two real processes with overlapping lists, and a log that their bodies write from outside.
 */
const numbers = { wide: 3, middle: 2, narrow: 1 };
/** Lists of limits that each process calls under. */
const listCount = 5;

interface Row {
  readonly process: string;
  readonly limits: string;
  readonly from_ms: string;
  readonly until_ms: string | null;
}

/** What two processes wrote: by the limits of the bodies. */
async function runTwo(
  mode: "whole" | "first",
  isEnough: (rows: readonly Row[]) => boolean,
): Promise<Row[]> {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(overlapTables);
  const register = join(__dirname, "../support/register-swc.cjs");
  const program = join(__dirname, "several-limits-process.ts");
  const children = ["one", "two"].map((name) =>
    spawn(
      process.execPath,
      ["-r", register, program, urlAs(database.url, "worker"), name, mode, database.url],
      { stdio: ["ignore", "inherit", "inherit"] },
    ),
  );
  const read = async (): Promise<Row[]> =>
    (
      await client.query<Row>(
        `select process, fence as limits, extract(epoch from begun_at) * 1000 as from_ms,
                extract(epoch from ended_at) * 1000 as until_ms from overlap order by begun_at`,
      )
    ).rows;
  try {
    await until("enough bodies have run", async () => isEnough(await read()), 60_000);
    const ended = children.map((child) => once(child, "exit"));
    for (const child of children) child.kill("SIGTERM");
    expect((await Promise.all(ended)).map(([code]) => code as unknown)).toEqual([0, 0]);
    return await read();
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await client.end();
    await database.drop();
  }
}

/** The bodies that drew from a limit. */
function intervalsOf(rows: readonly Row[], limit: string): Interval[] {
  return rows
    .filter(({ limits }) => limits.split(",").includes(limit))
    .map(({ process, from_ms: from, until_ms: end }) => {
      const fromMs = Number(from);
      return {
        process,
        fromMs,
        untilMs: end === null ? Number.POSITIVE_INFINITY : Number(end),
        grantedMs: fromMs,
      };
    });
}

function violationsOf(rows: readonly Row[]): ReturnType<typeof findViolations> {
  return Object.entries(numbers).flatMap(([name, limit]) =>
    findViolations(intervalsOf(rows, name), [
      { limit, beforeMs: 0, afterMs: Number.POSITIVE_INFINITY },
    ]),
  );
}

test("withTokens of overlapping lists in two processes never runs more than each limit allows, and serves them all", async () => {
  const parties = (found: readonly Row[]) =>
    new Set(found.map(({ process, limits }) => `${process} ${limits}`)).size;
  const rows = await runTwo(
    "whole",
    (found) => found.length >= (isWhole ? 200 : 80) && parties(found) === 2 * listCount,
  );
  expect(violationsOf(rows)).toEqual([]);
  for (const [name, limit] of Object.entries(numbers))
    expect(mostRunning(intervalsOf(rows, name), 0)).toBe(limit);
  expect(rows.filter(({ until_ms: end }) => end === null)).toEqual([]);
}, 120_000);

test("the judge sees calls that take a token of the first limit alone, in the control", async () => {
  const rows = await runTwo(
    "first",
    (found) =>
      new Set(found.map(({ process }) => process)).size === 2 && violationsOf(found).length > 0,
  );
  expect(violationsOf(rows).length).toBeGreaterThan(0);
}, 120_000);
