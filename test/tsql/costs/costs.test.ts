import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { operations } from "../../../shared/store/operations";
import { reading } from "../../../shared/store/operations/operation";
import { plantedText } from "../../source-texts/planted-text";
import { loadScript } from "../../tsql-server/engine/load";
import { describeSituation, plant, prepareClaim, situations } from "./claims";
import { measure } from "./measure";
import type { Cost } from "./measure";
import { lookingAtGroups } from "./operator-scenarios";
import { keyOf, measureAll, recordOf } from "./table";
import type { CostTable } from "./table";

/*
 * What each operation costs in the model of Azure SQL: round trips, locks, rows, bytes of log, deleted entries stepped over.
 * All of it is counted, so it is the same each time: a change of a procedure shows here, and is recorded with
 * `npm run costs:tsql -- --update` when it is meant. It says nothing about time.
 */

let costs: CostTable = {};
const batches = [1, 10, 100] as const;

beforeAll(async () => {
  costs = await measureAll("azure");
}, 60_000);

function costOf(operation: string, what: string, batch: number): Cost {
  const cost = costs[keyOf(operation, what, batch)];
  if (cost === undefined) throw new Error(`${operation}, ${what}, ${String(batch)}: not measured`);
  return cost;
}

describe("costs of the T-SQL", () => {
  test("the costs of the T-SQL are as recorded", () => {
    const recorded = readFileSync(join(__dirname, "expected-costs.txt"), "utf8");
    expect(recordOf(costs)).toEqual(recorded.trimEnd().split("\n"));
  });

  test("the costs of the T-SQL are known of every operation", () => {
    const measured = new Set(Object.keys(costs).map((key) => key.split(" | ")[0]));
    expect([...measured].sort()).toEqual(Object.keys(operations).sort());
  });

  test("every call is one round trip; a transaction's beginning and end are one more each", () => {
    const several = Object.entries(costs)
      .filter(([, { roundTrips }]) => roundTrips !== 1)
      .map(([call, { roundTrips }]) => [call, roundTrips]);
    expect(several).toEqual([["enqueueTasks | in a group, inside a transaction | 1", 3]]);
  });

  test("a read takes no lock that another call could wait for", () => {
    for (const [key, { locks, rowsWritten }] of Object.entries(costs)) {
      if (!reading.test(key)) continue;
      // An enqueue asks for free tokens, so it steps over locked entries of Ready, with or without versions: S while one is read, and claims step over it.
      const modes = key.startsWith("readFreeTokens ") ? ["IS", "S"] : ["IS"];
      expect({ key, locks: Object.keys(locks), rowsWritten }).toEqual({
        key,
        locks: Object.keys(locks).filter((mode) => modes.includes(mode)),
        rowsWritten: 0,
      });
    }
  });

  test.each(batches)(
    "a claim of %i costs the same for any number of waiting and finished tasks (S2.7)",
    (batch) => {
      const none = { ghosts: 0, backlog: 0, hasHint: false };
      const plain = costOf("work", claim(none), batch);
      const others = situations.filter(({ ghosts }) => ghosts === 0);
      for (const situation of others) {
        const cost = costOf("work", claim(situation), batch);
        // With a hint the claim is three statements, one per range of the key; all else is the same.
        const alike = costOf("work", claim({ ...none, hasHint: situation.hasHint }), batch);
        expect(cost).toEqual(alike);
        expect({ ...cost, tally: null }).toEqual({ ...plain, tally: null });
        expect(cost.tally.logBytes).toBe(plain.tally.logBytes);
      }
    },
  );

  test("a planted fault of a claim that counts finished tasks is found (S2.7)", async () => {
    const file = "mssql/sql/procedures/Work.sql";
    const claimsRow = "SELECT @vHeldCount = n.Held, @vRunningCount";
    const counting = `SELECT @vCount = COUNT(*) FROM Taskgate.Archive AS a WITH (INDEX (PK_Archive)); ${claimsRow}`;
    const edits = [{ from: claimsRow, to: counting }];
    const rowsRead = async (finished: number): Promise<number> => {
      const situation = { ghosts: 0, backlog: 0, finished, hasHint: false };
      const world = plant("azure", situation);
      loadScript(world, plantedText({ file, edits }), file);
      return (await measure(world, 10, (scene) => prepareClaim(scene, situation))).rowsRead;
    };
    expect(await rowsRead(1_000)).toBeGreaterThan(await rowsRead(0));
  });

  test.each(batches)(
    "a claim of %i with the scan hint costs the same after any deletions before it",
    (batch) => {
      const plain = costOf("work", claim({ ghosts: 0, backlog: 0, hasHint: true }), batch);
      const behindGhosts = { ghosts: 100_000, backlog: 0, hasHint: true };
      expect(costOf("work", claim(behindGhosts), batch)).toEqual(plain);
    },
  );

  test("a claim without the hint steps over each deleted entry once: the model counts them", () => {
    const cost = costOf("work", claim({ ghosts: 100_000, backlog: 0, hasHint: false }), 1);
    expect(Math.floor(cost.ghosts / 100_000)).toBe(1);
  });

  test("a purge costs the same with ten thousand groups as with a hundred", () => {
    const [few, more, max] = batches.map((batch) => costOf("purge", lookingAtGroups, batch));
    expect(more).toEqual(few);
    expect(max).toEqual(few);
  });

  test("the cost of a task doesn't grow with its batch", () => {
    const batched = Object.keys(costs).filter((key) => key.endsWith(" | 100"));
    expect(batched.length).toBeGreaterThan(10);
    for (const key of batched) {
      const many = costs[key];
      const one = costs[key.replace(/100$/, "1")];
      const perTask = (of: (cost: Cost) => number): boolean =>
        many !== undefined && one !== undefined && of(many) <= 100 * of(one);
      expect({ key, log: perTask((cost) => cost.tally.logBytes) }).toEqual({ key, log: true });
      expect({ key, read: perTask((cost) => cost.rowsRead) }).toEqual({ key, read: true });
    }
  });
});

function claim(situation: (typeof situations)[number]): string {
  return `claims: ${describeSituation(situation)}`;
}
