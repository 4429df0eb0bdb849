import { describe, expect, test } from "@jest/globals";
import { engineNames } from "../cases/variants";
import type { EngineName } from "../../tsql-server/engine/options";
import { explore } from "../../tsql-server/schedule/explore";
import type { Run } from "../../tsql-server/schedule/run";
import type { Played } from "./play";
import { answersIn, lockCounts, playScene, waitsIn } from "./played";
import { errorsOf, textScenario } from "./text-scenarios";
import { edited, textSql } from "./texts";

/*
 * Source text 001 asks why its second window is locked out, and prints the locks of both windows. The same list comes out
 * here, with the one key that is waited for; then what this project does instead.
 */
const ids = (...numbers: readonly number[]): unknown =>
  numbers.map((WorkItemId) => ({ WorkItemId }));
const restricted = "KEY dbo.BackgroundJobWork.IX_ConcurrencyRestriction('1')";

/** Tasks that the shipped claim gave, as text. */
function claimed(played: Played, who: string): string {
  const [rows] = answersIn(played, who) as [[Record<string, unknown>]];
  return String(rows[0]["TaskIds"]);
}

describe.each(["locking", "versioned"] as const)("the text's list of locks, %s", (engine) => {
  test("a claim without restrictions locks 12 keys of the status index and 6 of the primary key", () => {
    const played = playScene("text-001", 0, engine);

    expect(lockCounts(played, 0, "spid 60")).toEqual({
      "BackgroundJobWork IX": 1,
      "IX_Status X": 12,
      "PK_BackgroundJobWork X": 6,
    });
    expect(waitsIn(played)).toEqual([]);
  });

  test("a claim with restrictions locks the same and 2 keys of the restriction; spid 63 waits for one of them", () => {
    const played = playScene("text-001", 1, engine);

    expect(lockCounts(played, 1, "spid 60")).toEqual({
      "BackgroundJobWork IX": 1,
      "IX_ConcurrencyRestriction X": 2,
      "IX_Status X": 12,
      "PK_BackgroundJobWork X": 6,
    });
    expect(lockCounts(played, 1, "spid 63")).toEqual({
      "BackgroundJobWork IX": 1,
      "IX_ConcurrencyRestriction X": 1,
      "IX_Status X": 12,
      "PK_BackgroundJobWork X": 6,
    });
    expect(waitsIn(played)).toEqual([`spid 63: X ${restricted}`]);
  });
});

describe("with optimised locking", () => {
  test("the second window waits for the first one's transaction, because of the same key", () => {
    expect(waitsIn(playScene("text-001", 1, "azure"))).toEqual([`spid 63: S ${restricted}`]);
  });
});

describe.each(engineNames)("the text's queries, %s", (engine) => {
  test("the queries without restrictions take 1 to 6, and 7 to 12 at once", () => {
    const played = playScene("text-001", 0, engine);

    expect(answersIn(played, "spid 60")).toEqual([ids(1, 2, 3, 4, 5, 6)]);
    expect(answersIn(played, "spid 63")).toEqual([ids(7, 8, 9, 10, 11, 12)]);
  });

  test("a claim with restrictions gets 1, 2, 3, 4, 6, and the second window 8, 10, 12 when the first has ended", () => {
    const played = playScene("text-001", 1, engine);

    expect(answersIn(played, "spid 60")).toEqual([ids(1, 2, 3, 4, 6)]);
    expect(answersIn(played, "spid 63")).toEqual([ids(8, 10, 12)]);
  });

  test("the query in one statement waits the same, then takes 2601 and nothing at all", () => {
    const played = playScene("text-001", 2, engine);

    expect(answersIn(played, "spid 60")).toEqual([ids(1, 2, 3)]);
    expect(waitsIn(played)).toHaveLength(1);
    expect(answersIn(played, "spid 63")).toEqual([2601]);
  });

  test("two agents, each with a group that the other one wants, may deadlock", () => {
    const script = edited(textSql("text-001"), {
      from: "VALUES\n  (1, 0),",
      to: "VALUES\n  (1, 0), (13, 0), (14, 0),",
    });
    const groups = `${script}
UPDATE dbo.BackgroundJobWork SET ConcurrencyGroupName = N'1' WHERE WorkItemId IN (1, 14);
UPDATE dbo.BackgroundJobWork SET ConcurrencyGroupName = N'3' WHERE WorkItemId IN (2, 13);`;
    const update = (id: number): string =>
      `UPDATE dbo.BackgroundJobWork SET Status = 3 WHERE WorkItemId = ${String(id)};`;
    const { deadlocks } = explore(
      textScenario({
        script: groups,
        engine,
        callers: [
          [`BEGIN TRANSACTION; ${update(1)} ${update(13)} COMMIT;`],
          [`BEGIN TRANSACTION; ${update(2)} ${update(14)} COMMIT;`],
        ],
        atEnd: () => undefined,
      }),
    );

    expect(deadlocks).not.toEqual([]);
  });
});

describe("the shipped claim over the text's jobs", () => {
  function outcome(place: number, engine: EngineName): unknown {
    const played = playScene("text-001", place, engine);
    return {
      first: claimed(played, "agent 1"),
      second: claimed(played, "agent 2"),
      waits: waitsIn(played),
    };
  }

  test.each(engineNames)(
    "the second agent returns at once while the first one's claim is open, in the model, groups or not, %s (S1.5, S1.6)",
    (engine) => {
      expect(outcome(3, engine)).toEqual({ first: "1,2,3,4,6,8", second: "10,12", waits: [] });
      expect(outcome(4, engine)).toEqual({
        first: "1,2,3,4,5,6",
        second: "7,8,9,10,11,12",
        waits: [],
      });
    },
  );

  test("a claim gives the same results in the model with row versions off, on, and with optimised locking (S1.12)", () => {
    const results = engineNames.map((engine) => [outcome(3, engine), outcome(4, engine)]);

    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  });

  test("a planted fault is found: the text's own claim waits for another thing with optimised locking (S1.12)", () => {
    const results = engineNames.map((engine) => {
      const played = playScene("text-001", 1, engine);
      return [answersIn(played, "spid 60"), answersIn(played, "spid 63"), waitsIn(played)];
    });

    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBeGreaterThan(1);
  });
});

describe("the text's index as a safety net", () => {
  test("two agents that take heads of groups only never wait and never meet a duplicate key", () => {
    const heads = edited(textSql("text-001"), {
      from: "INSERT INTO dbo.BackgroundJobWork (WorkItemId, Status) VALUES\n  (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 0), (12, 0);",
      to: "INSERT INTO dbo.BackgroundJobWork (WorkItemId, Status, ConcurrencyGroupName) VALUES (1, 0, N'1'), (2, 0, NULL), (3, 0, N'3'), (5, 9, N'1');",
    });
    const claim = `WITH Heads AS (
  SELECT TOP (2) w.WorkItemId, w.Status FROM dbo.BackgroundJobWork AS w WITH (UPDLOCK, READPAST, ROWLOCK, INDEX (IX_Status))
  WHERE w.Status = 0 ORDER BY w.WorkItemId)
UPDATE Heads SET Status = 3 OUTPUT inserted.WorkItemId;`;
    const check = (run: Run): string | undefined => errorsOf(run).map(String)[0];
    for (const engine of engineNames) {
      const result = explore(
        textScenario({
          script: heads,
          engine,
          callers: [[claim], [claim]],
          atEnd: check,
          afterStep: (_run, report) => (report.wait === undefined ? undefined : "an agent waits"),
        }),
      );
      expect(result.finding).toBeUndefined();
      expect(result.isComplete).toBe(true);
    }
  });
});
