import { describe, expect, test } from "@jest/globals";
import { loadScript } from "../engine/load";
import { engines } from "../engine/options";
import type { EngineName } from "../engine/options";
import { World } from "../engine/world";
import { explore } from "./explore";
import { exploreReduced } from "./reduction";
import type { Run, Scenario } from "./run";
import { callerOf } from "./run";
import { runAlone } from "./step";

const table = `CREATE TABLE dbo.T (Id int NOT NULL, V int NOT NULL, W int NOT NULL, CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id),
  CONSTRAINT UQ_T UNIQUE NONCLUSTERED (W));
GO
INSERT INTO dbo.T (Id, V, W) VALUES (1, 0, 1), (2, 0, 2);`;

/** What meets in real procedures, in small: each way to look at rows with each way to change them. */
const works = {
  take: "DELETE TOP (1) t OUTPUT deleted.Id FROM dbo.T AS t WITH (ROWLOCK, READPAST, UPDLOCK);",
  reserve:
    "BEGIN TRANSACTION; SELECT TOP (1) t.Id FROM dbo.T AS t WITH (UPDLOCK, READPAST); COMMIT;",
  peek: "SELECT t.Id, t.V FROM dbo.T AS t WITH (READCOMMITTEDLOCK, READPAST);",
  look: "SELECT t.Id, t.V FROM dbo.T AS t;",
  lookTwice: "SELECT COUNT(*) AS N FROM dbo.T AS t; SELECT t.Id, t.V FROM dbo.T AS t;",
  hold: "BEGIN TRANSACTION; SELECT t.V FROM dbo.T AS t WITH (UPDLOCK) WHERE t.Id = 1; UPDATE t SET V = 7 FROM dbo.T AS t WHERE t.Id = 1; COMMIT;",
  change: "UPDATE t SET V = t.V + 1 FROM dbo.T AS t WHERE t.Id = 1;",
  undo: "BEGIN TRANSACTION; UPDATE t SET V = 9 FROM dbo.T AS t WHERE t.Id = 2; ROLLBACK;",
  add: "INSERT INTO dbo.T (Id, V, W) VALUES (3, 0, 3);",
  move: "UPDATE t SET W = 3 FROM dbo.T AS t WITH (ROWLOCK, UPDLOCK) WHERE t.Id = 2;",
  find: "SELECT t.Id FROM dbo.T AS t WITH (READCOMMITTEDLOCK, INDEX (UQ_T)) WHERE t.W = 3;",
  dirty: "SELECT t.Id, t.V, t.W FROM dbo.T AS t WITH (NOLOCK);",
} as const;

type WorkName = keyof typeof works;
const names = Object.keys(works) as WorkName[];

const pairs = names.flatMap((one, at) => names.slice(at).map((other) => [one, other] as const));
/** Where one looks or takes while two others meet. */
const triples = [
  ["take", "take", "take"],
  ["take", "take", "peek"],
  ["take", "look", "change"],
  ["hold", "take", "peek"],
  ["hold", "change", "peek"],
  ["add", "move", "find"],
  ["undo", "take", "look"],
] as const satisfies readonly (readonly WorkName[])[];

/** All ends, by the answers of all callers and the rows of the table. */
function endsOf(
  engine: EngineName,
  callers: readonly WorkName[],
  search: typeof explore,
): readonly string[] {
  const prepared = new World(engines[engine]);
  loadScript(prepared, table, "setup");
  const ends = new Set<string>();
  const scenario: Scenario = {
    world: () => prepared.fork(),
    callers: callers.map((name, place) =>
      callerOf(`${name} ${String(place + 1)}`, [{ kind: "batch", sql: works[name] }]),
    ),
    atEnd: (run: Run) => {
      const said = run.callers.map(({ answers }) =>
        answers.map(({ rowSets, errors }) => [
          rowSets.map(({ rows }) => rows),
          errors.map(({ number }) => number),
        ]),
      );
      const rows = runAlone(run.world.connect(), { kind: "batch", sql: works.look });
      ends.add(JSON.stringify([said, rows.rowSets[0]?.rows]));
      return undefined;
    },
  };
  expect(search(scenario).isComplete).toBe(true);
  return [...ends].sort();
}

describe.each(["locking", "versioned", "azure"] as const)(
  "a reduced search comes to the same ends as a full one, %s",
  (engine) => {
    test.each([...pairs, ...triples].map((callers) => [callers.join(" x "), callers] as const))(
      "the callers %s come to the same ends by both searches",
      (_name, callers) => {
        expect(endsOf(engine, callers, exploreReduced)).toEqual(endsOf(engine, callers, explore));
      },
    );
  },
);
