import { expect, test } from "@jest/globals";
import { loadScript } from "../engine/load";
import { engines } from "../engine/options";
import { World } from "../engine/world";
import { runAlone } from "./step";
import { replay } from "./replay";
import { callerOf } from "./run";
import type { Run, Scenario } from "./run";
import { switchOnce } from "./switches";

/* One caller is interrupted once: the orders that this leaves, and the faults that they show. */

const table = `CREATE TABLE dbo.T (Id int NOT NULL, V int NOT NULL, CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id));
GO
INSERT INTO dbo.T (Id, V) VALUES (1, 0), (2, 0);`;

function scenarioOf(sqls: readonly string[], atEnd?: Scenario["atEnd"]): Scenario {
  const prepared = new World(engines.versioned);
  loadScript(prepared, table, "setup");
  return {
    world: () => prepared.fork(),
    callers: sqls.map((sql, place) => callerOf(`caller ${place + 1}`, [{ kind: "batch", sql }])),
    ...(atEnd === undefined ? {} : { atEnd }),
  };
}

function valueAtEnd(run: Run): number {
  const sql = "SELECT V FROM dbo.T WHERE Id = 1;";
  return Number(runAlone(run.world.connect(), { kind: "batch", sql }).rowSets[0]?.rows[0]?.[0]);
}

const lossy =
  "BEGIN TRANSACTION; DECLARE @v int; SELECT @v = V FROM dbo.T WHERE Id = 1; UPDATE dbo.T SET V = @v + 1 WHERE Id = 1; COMMIT;";
const increment = "UPDATE dbo.T SET V = V + 1 WHERE Id = 1;";
const other = "UPDATE dbo.T SET V = V + 1 WHERE Id = 2;";

test("a caller that is interrupted between its read and its write loses the other one's update, in either place", () => {
  const atEnd = (run: Run): string | undefined =>
    valueAtEnd(run) === 2 ? undefined : `V is ${valueAtEnd(run)}`;
  for (const callers of [
    [lossy, increment],
    [increment, lossy],
  ]) {
    const scenario = scenarioOf(callers, atEnd);
    const { finding } = switchOnce(scenario);
    expect(finding?.problem).toBe("V is 1");
    expect(replay(scenario, finding?.schedule ?? []).problem).toBe("V is 1");
  }
  expect(switchOnce(scenarioOf([increment, increment], atEnd)).finding).toBeUndefined();
});

test("each caller is interrupted behind each of its steps, before the first and behind the last one, too", () => {
  // Each takes three steps: U, X and the commit.
  expect(switchOnce(scenarioOf([other, increment]))).toEqual({ runs: 8, finding: undefined });
  expect(switchOnce(scenarioOf([increment]))).toEqual({ runs: 4, finding: undefined });
});

test("two of three callers interrupt the third one in both orders", () => {
  const ends = new Set<string>();
  const appends = [1, 2, 3].map((digit) => `UPDATE dbo.T SET V = V * 10 + ${digit} WHERE Id = 1;`);
  const scenario = scenarioOf(appends, (run) => {
    ends.add(String(valueAtEnd(run)));
    return undefined;
  });
  expect(switchOnce(scenario).runs).toBeGreaterThanOrEqual(6 * 3);
  expect([...ends].sort()).toEqual(["123", "132", "213", "231", "312", "321"]);
});

test("a caller that waits for the interrupted one lets it go on, and a problem after a step ends the search", () => {
  const { runs, finding } = switchOnce({
    ...scenarioOf([increment, increment]),
    afterStep: (_run, { wait }) => (wait === undefined ? undefined : "somebody waits"),
  });
  expect(finding?.problem).toBe("somebody waits");
  expect(runs).toBeLessThan(4);
});
