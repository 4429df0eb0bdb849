import { describe, expect, test } from "@jest/globals";
import { loadScript } from "../engine/load";
import { engines } from "../engine/options";
import type { EngineName } from "../engine/options";
import type { Work } from "../engine/requests";
import { World } from "../engine/world";
import { explore, exploreAll, search } from "./explore";
import { printFinding, replay } from "./replay";
import type { Caller, Run, Scenario } from "./run";
import { callerOf, parseSchedule, printSchedule } from "./run";
import { sample } from "./sample";
import { StateGraph } from "./state-graph";
import { runAlone } from "./step";

const table = `CREATE TABLE dbo.T (Id int NOT NULL, V int NOT NULL, CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id));
GO
INSERT INTO dbo.T (Id, V) VALUES (1, 0), (2, 0);`;

function batch(sql: string): Work {
  return { kind: "batch", sql };
}

/** A scenario over dbo.T with one batch per caller. */
function scenarioOf(
  engine: EngineName,
  sqls: readonly string[],
  rest: Partial<Scenario> = {},
): Scenario {
  const prepared = new World(engines[engine]);
  loadScript(prepared, table, "setup");
  return {
    world: () => prepared.fork(),
    callers: sqls.map((sql, index) => callerOf(String.fromCharCode(65 + index), [batch(sql)])),
    ...rest,
  };
}

function valueOf(run: Run, id: number): number {
  const answer = runAlone(
    run.world.connect(),
    batch(`SELECT V FROM dbo.T WHERE Id = ${String(id)};`),
  );
  return Number(answer.rowSets[0]?.rows[0]?.[0]);
}

const increment = "UPDATE dbo.T SET V = V + 1 WHERE Id = 1;";
const lossy =
  "BEGIN TRANSACTION; DECLARE @v int; SELECT @v = V FROM dbo.T WHERE Id = 1; UPDATE dbo.T SET V = @v + 1 WHERE Id = 1; COMMIT;";
const crossing = (first: number, second: number): string =>
  `BEGIN TRANSACTION; UPDATE dbo.T SET V = 1 WHERE Id = ${String(first)}; UPDATE dbo.T SET V = 1 WHERE Id = ${String(second)}; COMMIT;`;

describe("schedules", () => {
  test("a schedule is written and read back", () => {
    const text = "1 2 1 2x 1t";
    expect(printSchedule(parseSchedule(text))).toBe(text);
    expect(() => parseSchedule("1 b")).toThrow("found b");
  });
});

describe("a search over all orders", () => {
  test("a search of two callers that don't touch each other counts every order of their steps", () => {
    const apart = [1, 2].map((id) => `UPDATE dbo.T SET V = 5 WHERE Id = ${String(id)};`);
    const result = exploreAll(scenarioOf("locking", apart));
    // Each takes three steps, U, X and the commit: 6! / (3! 3!) orders over a grid of 4 x 4 states.
    expect(result).toMatchObject({
      states: 16,
      ends: 1,
      interleavings: 20n,
      waits: 0,
      isComplete: true,
    });
  });

  test("a search over all orders finds nothing wrong with an update in one statement, on all engines", () => {
    for (const engine of ["locking", "versioned", "azure"] as const) {
      const atEnd = (run: Run): string | undefined =>
        valueOf(run, 1) === 3 ? undefined : `V is ${String(valueOf(run, 1))}`;
      const result = exploreAll(scenarioOf(engine, [increment, increment, increment], { atEnd }));
      expect(result.waits).toBeGreaterThan(0);
      expect(result.ends).toBeGreaterThan(0);
    }
  });

  test("a search over all orders finds the order in which an update is lost; its schedule shows it again", () => {
    const atEnd = (run: Run): string | undefined =>
      valueOf(run, 1) === 2 ? undefined : `V is ${String(valueOf(run, 1))}`;
    const scenario = scenarioOf("versioned", [lossy, lossy], { atEnd });

    const { finding } = explore(scenario);

    expect(finding?.problem).toBe("V is 1");
    if (finding === undefined) return;
    const again = replay(scenario, parseSchedule(printSchedule(finding.schedule)));
    expect(again).toEqual(finding);
    expect(printFinding(again)).toMatch(/^V is 1\nschedule: [\d ]+\n[AB] batch:1 /);
    expect(again.trace.join("\n")).toMatch(/A batch:1 takes X KEY dbo\.T\.PK_T\(1\)/);
  });

  test("a search over all orders names the callers in a deadlock, and checks see it", () => {
    const result = exploreAll(scenarioOf("locking", [crossing(1, 2), crossing(2, 1)]));
    expect(result.deadlocks.map(({ members }) => members)).toEqual([["A", "B"]]);

    const afterStep: Scenario["afterStep"] = (_, { deadlocks }) =>
      deadlocks > 0 ? "a deadlock" : undefined;
    const strict = scenarioOf("locking", [crossing(1, 2), crossing(2, 1)], { afterStep });
    expect(explore(strict).finding?.problem).toBe("a deadlock");
    expect(
      explore(scenarioOf("locking", [crossing(1, 2), crossing(1, 2)], { afterStep })).finding,
    ).toBeUndefined();
  });

  test("a search over all orders reports waits with the resource, and the blockers", () => {
    const waits = new Set<string>();
    exploreAll(scenarioOf("locking", [increment, increment]), {
      watch: (run, { wait }) => {
        if (wait === undefined) return;
        const names = run.callers.filter(({ connection }) => wait.behind.includes(connection.id));
        waits.add(`${wait.resource} behind ${names.map(({ name }) => name).join()}`);
      },
    });
    expect([...waits].sort()).toEqual(["KEY dbo.T.PK_T(1) behind A", "KEY dbo.T.PK_T(1) behind B"]);
  });

  test("a search with a bound says that it isn't complete, and proves nothing", () => {
    const scenario = scenarioOf("locking", [increment, increment, increment]);
    const bounds = { statesMax: 5, msMax: 60_000 };
    expect(explore(scenario, { bounds })).toMatchObject({ isComplete: false, finding: undefined });
    expect(() => exploreAll(scenario, { bounds })).toThrow("after 5 states: this proves nothing");
  });

  test("a reduction leaves orders out", () => {
    const apart = [1, 2].map((id) => `UPDATE dbo.T SET V = 5 WHERE Id = ${String(id)};`);
    const result = search(new StateGraph(scenarioOf("locking", apart), {}), {
      choose: (_, choices) => choices.slice(0, 1),
      commuting: () => [],
    });
    expect(result).toMatchObject({ states: 7, interleavings: 1n });
  });

  test("a search whose callers end inside a transaction rolls them back", () => {
    const atEnd = (run: Run): string | undefined =>
      valueOf(run, 1) === 1 ? undefined : "changed twice";
    const open = `BEGIN TRANSACTION; ${increment}`;
    exploreAll(scenarioOf("locking", [open, increment], { atEnd }));
  });

  test("requests may depend on the answers before", () => {
    const asker: Caller = {
      name: "asker",
      next: (answers) => {
        if (answers.length === 0) return batch("SELECT V FROM dbo.T WITH (UPDLOCK) WHERE Id = 1;");
        const seen = Number(answers[0]?.rowSets[0]?.rows[0]?.[0]);
        return answers.length === 1
          ? batch(`UPDATE dbo.T SET V = ${String(10 + seen)} WHERE Id = 2;`)
          : undefined;
      },
    };
    const base = scenarioOf("locking", []);
    const ends = new Set<number>();
    const atEnd = (run: Run): undefined => {
      ends.add(valueOf(run, 2));
    };
    exploreAll({ ...base, callers: [asker, callerOf("writer", [batch(increment)])], atEnd });
    expect([...ends].sort()).toEqual([10, 11]);
  });

  test("a caller whose connection is cut at any step leaves all or nothing, and no lock", () => {
    const both =
      "BEGIN TRANSACTION; UPDATE dbo.T SET V = 1 WHERE Id = 1; UPDATE dbo.T SET V = 1 WHERE Id = 2; COMMIT;";
    const seen = new Set<string>();
    const atEnd = (run: Run): string | undefined => {
      const values = `${String(valueOf(run, 1))}${String(valueOf(run, 2))}`;
      seen.add(`${values} ${run.callers[0]?.isCut === true ? "cut" : "whole"}`);
      if (values !== "00" && values !== "11") return `half: ${values}`;
      return run.world.locks.describe()[0];
    };
    exploreAll(
      scenarioOf("locking", [both, "SELECT V FROM dbo.T WHERE Id = 1;"], { atEnd, cuttable: [0] }),
    );
    expect([...seen].sort()).toEqual(["00 cut", "11 whole"]);
  });

  test("a LOCK_TIMEOUT ends where no session can move, or, if wanted, at any time", () => {
    const holder: Caller = callerOf("holder", [
      batch(`BEGIN TRANSACTION; ${increment}`),
      batch("COMMIT;"),
    ]);
    const patient: Caller = callerOf("patient", [batch(`SET LOCK_TIMEOUT 1000; ${increment}`)]);
    const base = scenarioOf("locking", []);
    const errorsOf = (mayTimeOut: boolean): string[] => {
      const seen = new Set<string>();
      const atEnd = (run: Run): undefined => {
        seen.add(String(run.callers[1]?.answers[0]?.errors[0]?.number));
      };
      exploreAll({ ...base, callers: [holder, patient], atEnd, mayTimeOut });
      return [...seen].sort();
    };
    expect(errorsOf(false)).toEqual(["undefined"]);
    expect(errorsOf(true)).toEqual(["1222", "undefined"]);
  });
});

describe("random runs", () => {
  test("two random runs of one seed are the same run, and what they find can be replayed", () => {
    const atEnd = (run: Run): string | undefined => (valueOf(run, 1) === 2 ? undefined : "lost");
    const scenario = scenarioOf("versioned", [lossy, lossy], { atEnd });
    const first = sample(scenario, { seed: 1, count: 200 });
    expect(first.finding?.problem).toBe("lost");
    expect(sample(scenario, { seed: 1, count: 200 })).toEqual(first);
    expect(sample(scenario, { seed: first.finding?.seed ?? 0, count: 1 }).finding).toEqual(
      first.finding,
    );
  });

  test("the random runs count what they see where nothing is wrong", () => {
    const result = sample(scenarioOf("locking", [increment, increment]), { seed: 7, count: 50 });
    expect(result).toMatchObject({ runs: 50, deadlocks: 0, finding: undefined });
    expect(result.waits).toBeGreaterThan(0);
  });
});
