import { describe, expect, test } from "@jest/globals";
import { Bench } from "./bench";
import { shippedWorld } from "./load";
import { engines } from "./options";
import type { EngineOptions } from "./options";
import { runAlone } from "../schedule/step";
import { callOf } from "./call";

/* Modules under test: their plans must follow from their texts. */

const setup = `
CREATE SCHEMA Taskgate;
GO
CREATE TABLE Taskgate.T (
  Id bigint NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED,
  Name nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT UQ_T_Name UNIQUE,
  Kind int NOT NULL,
  Code varchar(10) NOT NULL);
GO
CREATE INDEX IX_T_Kind ON Taskgate.T (Kind);
GO
CREATE INDEX IX_T_Code ON Taskgate.T (Code);`;

function fault(body: string): string {
  const bench = new Bench(
    `${setup}\nGO\nCREATE PROCEDURE Taskgate.P @n nvarchar(20), @i int, @b bigint AS ${body};`,
  );
  try {
    bench.ask("EXEC Taskgate.P N'a', 1, 2;");
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "?";
  }
}

describe("strict modules", () => {
  const allowed = [
    "SELECT t.Id FROM Taskgate.T AS t WHERE t.Id = @b",
    "SELECT t.Id FROM Taskgate.T AS t WHERE t.Id = @i",
    "SELECT t.Id FROM Taskgate.T AS t WHERE t.Name = @n",
    "SELECT t.Id FROM Taskgate.T AS t WITH (INDEX (IX_T_Kind)) WHERE t.Kind = @i",
    "SELECT t.Id FROM Taskgate.T AS t WITH (FORCESEEK) WHERE t.Kind = @i",
    "SELECT t.Id FROM Taskgate.T AS t WITH (INDEX (PK_T)) WHERE t.Code = CONVERT(varchar(10), @n)",
  ];

  test.each(allowed)("%s", (body) => {
    expect(fault(body)).toBe("");
  });

  const refused: [string, RegExp][] = [
    [
      "SELECT t.Id FROM Taskgate.T AS t WHERE t.Kind = @i",
      /^Taskgate\.P \(setup:\d+\): Taskgate\.T is read through IX_T_Kind by the model's rule/,
    ],
    ["SELECT t.Id FROM Taskgate.T AS t", /expected a whole unique key/],
    [
      "SELECT t.Id FROM Taskgate.T AS t WITH (FORCESEEK) WHERE t.Kind = @i AND t.Code = 'a'",
      /expected a whole unique key/,
    ],
    [
      "SELECT t.Id FROM Taskgate.T AS t WITH (INDEX (IX_T_Code)) WHERE t.Code = @n",
      /the key column Taskgate\.T\.Code \(varchar\) would be converted to nvarchar/,
    ],
    [
      "SELECT t.Id FROM Taskgate.T AS t WITH (INDEX (IX_T_Kind)) WHERE t.Kind = @b",
      /the key column Taskgate\.T\.Kind \(int\) would be converted to bigint/,
    ],
    [
      "SELECT t.id FROM Taskgate.T AS t WHERE t.Id = @b",
      /t\.id is written t\.Id where it is declared/,
    ],
  ];

  test.each(refused)("%s is a fault", (body, message) => {
    expect(fault(body)).toMatch(message);
  });

  test("no CATCH sees it", () => {
    expect(
      fault("BEGIN TRY SELECT t.Id FROM Taskgate.T AS t; END TRY BEGIN CATCH END CATCH"),
    ).toMatch(/expected a whole/);
  });

  test("other schemas' modules, and plain batches, are as they like", () => {
    const bench = new Bench(
      `${setup}\nGO\nCREATE PROCEDURE dbo.P AS SELECT t.id FROM Taskgate.T AS t;`,
    );
    expect(
      bench.errors("EXEC dbo.P; SELECT t.ID FROM Taskgate.T AS t WHERE t.Code = N'a';"),
    ).toEqual([]);
  });
});

describe("another way than the rule's", () => {
  /** Accesses to definitions in a pause of one, with what the clustered index was asked for. */
  function pauseOne(forcedPaths: EngineOptions["forcedPaths"]): { ways: string[]; keys: number } {
    const world = shippedWorld({ ...engines.locking, forcedPaths });
    const connection = world.connect();
    for (const name of ["a", "b", "c"]) {
      runAlone(connection, {
        kind: "batch",
        sql: `INSERT INTO Taskgate.TaskDefinition (Name, CreatedAt) VALUES (N'${name}', SYSUTCDATETIME());`,
      });
    }
    const ways = new Set<string>();
    world.onScan = (scan): void => {
      if (scan.schema.name !== "TaskDefinition") return;
      const { index, isWholeUniqueKey } = scan.plan.path;
      ways.add(`${scan.accessName} ${index.name}${isWholeUniqueKey ? " whole key" : ""}`);
    };
    const pause = callOf(world, "Taskgate.PauseDefinition", { Name: "b", ChangedBy: "me" });
    expect(runAlone(connection, pause).errors).toEqual([]);
    return { ways: [...ways], keys: connection.metrics.rowsRead };
  }

  test("can be forced on one access of a shipped procedure; the answer is the same", () => {
    const plain = pauseOne(new Map());
    const [first = ""] = plain.ways;
    expect(first).toMatch(/^Taskgate\.\w+:\d+ d UQ_TaskDefinition_Name whole key$/);

    const access = first.split(" ").slice(0, 2).join(" ");
    const forced = pauseOne(new Map([[access, { index: "PK_TaskDefinition", isScan: true }]]));

    expect(forced.ways[0]).toBe(`${access} PK_TaskDefinition`);
    expect(forced.ways.slice(1)).toEqual(plain.ways.slice(1));
    expect(forced.keys).toBe(plain.keys + 2);
  });
});
