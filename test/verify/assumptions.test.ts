import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { migrateStore } from "../../shared/store/open-store";
import { assumptions, assumptionsStep, runOne } from "./assumptions-step";
import { BatchConnection } from "./batch-connection";
import type { StepRow } from "./result";
import { startSimulatedPlace } from "./simulated-place";
import type { StepContext } from "./step";
import type { Workplace } from "./workplace";
import { testWhole } from "../support/whole";

/*
 * The scripts of the riskiest assumptions against our own endpoint: those that it runs pass, and each of them fails over a
 * database where the opposite was planted. What only a server can tell says so.
 */
let place: Workplace;

beforeEach(async () => {
  place = await startSimulatedPlace();
  await migrateStore({ url: place.url });
});
afterEach(() => place.remove());

function context(changes: Partial<Workplace> = {}): StepContext {
  return {
    place: { ...place, ...changes },
    signal: new AbortController().signal,
    endsAtMs: performance.now() + 60_000,
    say: () => undefined,
  };
}

/** One script's row after the owner ran something first. */
async function rowAfter(number: number, plant: string): Promise<StepRow> {
  const owner = await BatchConnection.open(place.url, "test");
  await owner.must(plant);
  await owner.close();
  return rowOf(number, context());
}

async function rowOf(number: number, within: StepContext): Promise<StepRow> {
  const assumption = assumptions[number - 1];
  if (assumption === undefined) throw new Error(`There is no script ${String(number)}`);
  expect(assumption.what.startsWith(`${String(number)} `)).toBe(true);
  return runOne(assumption, within, false);
}

describe("the scripts of the assumptions", () => {
  test("the scripts pass where the endpoint runs them, and say `server only` for the rest", async () => {
    const rows = await assumptionsStep.run(context());
    const statuses = rows.map(({ what, status }) => `${what.split(" ")[0] ?? ""} ${status}`);
    expect(statuses).toEqual([
      "1 passed",
      "2 skipped",
      "3 skipped",
      "4 passed",
      "5 passed",
      "6 skipped",
      "7 skipped",
      "8 passed",
      "9 skipped",
      "10 skipped",
    ]);
    const skipped = rows.filter(({ status }) => status === "skipped");
    expect(skipped.every(({ summary }) => summary.startsWith("server only: "))).toBe(true);
  }, 60_000);

  testWhole(
    "the first one fails where the inline function is made",
    async () => {
      const { litmusSchema: schema } = place;
      const other = `CREATE FUNCTION ${schema}.v1b () RETURNS TABLE AS RETURN SELECT 1 AS x;`;
      expect(await rowAfter(1, other)).toMatchObject({
        status: "failed",
        details: ["an inline function over one that isn't there: expected error 208, got no error"],
      });
    },
    60_000,
  );

  testWhole(
    "the fourth one fails where the type needs no right",
    async () => {
      const grant = `GRANT EXECUTE ON SCHEMA::${place.litmusSchema} TO public;`;
      expect(await rowAfter(4, grant)).toMatchObject({
        status: "failed",
        details: ["without EXECUTE on the type: expected error 229, got no error"],
      });
    },
    60_000,
  );

  testWhole(
    "the fifth one fails where a claim gets a row",
    async () => {
      const definition = "2000000000";
      const row = `INSERT INTO Taskgate.Ready (TaskDefinitionId, Priority, Rank, TaskId) VALUES (${definition}, 100, 1, -9);`;
      const found = await rowAfter(5, row);
      expect(found.status).toBe("failed");
      expect(found.details[0]).toBe("a claim beside a new row: expected rows [[0]], got [[1]]");
    },
    60_000,
  );

  testWhole(
    "the eighth one fails where a right on a type is missing",
    async () => {
      const revoke =
        "REVOKE EXECUTE ON TYPE::Taskgate.KeyLockList FROM TaskgateWorker, TaskgateOperator;";
      const missing = await rowAfter(8, revoke);
      expect(missing.status).toBe("failed");
      expect(missing.details.join()).toMatch(/EXECUTE permission.*KeyLockList/);
    },
    60_000,
  );

  testWhole(
    "the eighth one fails where a worker may read a table",
    async () => {
      const grant = "GRANT SELECT ON OBJECT::Taskgate.Task TO TaskgateWorker;";
      expect(await rowAfter(8, grant)).toMatchObject({
        status: "failed",
        details: ["a worker reads a table: expected error 229, got no error"],
      });
    },
    60_000,
  );

  test("the eighth one says which right is missing where no login can be made", async () => {
    const row = await rowOf(8, context({ mayMakeLogins: false }));
    expect(row.status).toBe("skipped");
    expect(row.summary).toContain("ALTER ANY LOGIN");
  }, 60_000);
});
