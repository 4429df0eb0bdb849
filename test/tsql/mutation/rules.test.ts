import { describe, expect, test } from "@jest/globals";
import { diffOf } from "./edits";
import { listMutants } from "./mutants";
import type { MutantKind } from "./mutants";
import { whyEquivalent } from "./rules";
import { readSources, Source } from "./source";

/* Invisible edits, told by their form: exactly those, and each rule is still needed. */

function procedure(name: string, ...lines: string[]): Source {
  const body = lines.map((line) => `  ${line}\n`).join("");
  const head = `CREATE OR ALTER PROCEDURE Taskgate.${name} @Id int AS\nBEGIN\n`;
  return new Source(`procedures/${name}.sql`, `${head}${body}END;\n`);
}

/** What the edits of one kind make, explained ones only. */
function explained(source: Source, kind: MutantKind): string[] {
  return listMutants(source)
    .filter((mutant) => mutant.kind === kind && whyEquivalent(mutant) !== undefined)
    .map((mutant) => {
      const added = diffOf(source, mutant.edits).filter((line) => line.startsWith("+"));
      return added.map((line) => line.slice(2)).join(" / ");
    });
}

describe("rules", () => {
  test("ROWLOCK may go, other hints may not", () => {
    const source = procedure("P", "DELETE r FROM T.R AS r WITH (ROWLOCK, UPDLOCK) WHERE r.A = 1;");

    expect(explained(source, "hint")).toEqual([
      "DELETE r FROM T.R AS r WITH (UPDLOCK) WHERE r.A = 1;",
    ]);
  });

  test("locks may go where the comment says that the row is locked already; a forced index may not", () => {
    const source = procedure(
      "P",
      "DELETE r",
      "FROM T.R AS r WITH (UPDLOCK, FORCESEEK) -- the row is ours already",
      "WHERE r.A = 1;",
      "DELETE r",
      "FROM T.R AS r WITH (UPDLOCK, FORCESEEK) -- the row as it is now",
      "WHERE r.A = 1;",
    );

    expect(explained(source, "hint")).toEqual([
      "FROM T.R AS r WITH (FORCESEEK) -- the row is ours already",
    ]);
  });

  test("settings may go in a procedure that only procedures call", () => {
    const lines = ["SET NOCOUNT, XACT_ABORT ON;", "SET LOCK_TIMEOUT 2000;"];

    expect(explained(procedure("_P", ...lines), "write")).toHaveLength(2);
    expect(explained(procedure("P", ...lines), "write")).toEqual([]);
  });

  test("a CATCH need not ask for a transaction that its TRY begins with", () => {
    const handler = [
      "END TRY",
      "BEGIN CATCH",
      "  IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;",
      "  THROW;",
      "END CATCH;",
    ];
    const early = procedure(
      "P",
      "BEGIN TRY",
      "  BEGIN TRANSACTION;",
      "  DELETE FROM T.R;",
      ...handler,
    );
    const late = procedure("P", "BEGIN TRY", "  SELECT @Id = A FROM T.R;", ...handler);

    expect(explained(early, "condition")).toEqual(["IF 1 = 1 ROLLBACK TRANSACTION;"]);
    expect(explained(late, "condition")).toEqual([]);
  });

  test("the row that guards another one may be named as well", () => {
    const lines = (comment: string): string[] => [
      "SELECT @Id = r.A",
      `FROM T.R AS r WITH (UPDLOCK) -- ${comment}`,
      "WHERE r.A = 1;",
      "SELECT @Id = s.A FROM T.S AS s;",
    ];
    const said = [
      "ours by the group's row",
      "who has the Scheduled row may write it",
      "the holder of the archive's row owns this one",
    ];
    const other = ["who has the row is quicker", "yours already", "the group's row"];

    for (const comment of said) {
      expect(explained(procedure("P", ...lines(comment)), "hint")).toHaveLength(1);
    }
    for (const comment of other) {
      expect(explained(procedure("P", ...lines(comment)), "hint")).toEqual([]);
    }
  });

  test("a named index may go where its whole key, and no other one, is asked for by equality", () => {
    const read = (where: string, index = "PK_TaskGroup"): Source =>
      procedure(
        "P",
        `SELECT @Id = g.Slots FROM Taskgate.TaskGroup AS g WITH (INDEX (${index}))`,
        where,
      );

    expect(explained(read("WHERE g.GroupId = @Id;"), "hint")).toHaveLength(1);
    for (const where of [
      "WHERE g.GroupId > @Id;",
      "WHERE g.GroupId = @Id OR g.Slots = 1;",
      "WHERE g.TaskDefinitionId = @Id;",
      "WHERE g.GroupId = @Id AND g.TaskDefinitionId = 1 AND g.GroupKey = N'g';",
    ]) {
      expect(explained(read(where), "hint")).toEqual([]);
    }
    expect(explained(read("WHERE g.TaskDefinitionId = @Id;", "UQ_TaskGroup_Key"), "hint")).toEqual(
      [],
    );
  });

  test("an index and a lock go together only where both may: whole key, and ours already", () => {
    const read = (comment: string): Source =>
      procedure(
        "P",
        "DELETE g",
        `FROM Taskgate.TaskGroup AS g WITH (UPDLOCK, INDEX (PK_TaskGroup)) -- ${comment}`,
        "WHERE g.GroupId = @Id;",
      );

    expect(explained(read("ours already"), "hint")).toContain(
      "FROM Taskgate.TaskGroup AS g -- ours already",
    );
    expect(explained(read("by key"), "hint")).toEqual([
      "FROM Taskgate.TaskGroup AS g WITH (UPDLOCK) -- by key",
    ]);
  });

  test("the rank may leave the order of a table variable, not that of a table; the id may not", () => {
    const order = (from: string): Source =>
      procedure("P", `SELECT x.A FROM ${from} AS x ORDER BY x.Priority, x.Rank, x.TaskId;`);

    expect(explained(order("@vTask"), "order")).toHaveLength(2);
    expect(explained(order("Taskgate.Ready"), "order")).toEqual([]);
  });

  test("no operation gives a task another rank than the column's default, 0: a redrive copies it", () => {
    const naming = readSources().filter(({ text }) =>
      /INSERT INTO Taskgate\.Task WITH \(ROWLOCK\) \([^)]*\bRank\b/.test(text),
    );
    const setting = readSources().filter(({ text }) =>
      /\bSET (?:(?!\bFROM\b)[^;])*\bRank = /.test(text),
    );

    expect(naming.map(({ name }) => name)).toEqual(["procedures/RedriveTasks.sql"]);
    expect(naming[0]?.text).toContain(
      "SELECT a.TaskId, a.TaskDefinitionId, a.Kind, a.Priority, a.Rank,",
    );
    expect(setting).toEqual([]);
  });

  test("two deletes of rows that are ours change places, others don't", () => {
    const deletes = (comment: string): Source =>
      procedure(
        "P",
        ...["A", "B"].flatMap((table) => [
          "DELETE r",
          "FROM @vTask AS t",
          `INNER JOIN Taskgate.${table} AS r WITH (UPDLOCK) -- ${comment}`,
          "ON r.Id = t.Id;",
        ]),
      );

    expect(explained(deletes("ours already"), "swap")).toHaveLength(1);
    expect(explained(deletes("one seek"), "swap")).toEqual([]);
  });

  test("the arm that is taken where both say the same may change, of numbers and instants only", () => {
    const chosen = (text: string): string[] =>
      explained(
        procedure("P", "DECLARE @vA int, @vB int, @vName nvarchar(20), @vOther int;", text),
        "comparison",
      );
    for (const same of [
      "SET @Id = CASE WHEN @vA < @vB THEN @vA ELSE @vB END;",
      "SET @Id = CASE WHEN @vA >= COALESCE(@vB, 1) THEN COALESCE(@vB, 1) ELSE @vA END;",
      "SET @Id = CASE WHEN @vOther = 1 OR @vA < @vB THEN @vA ELSE @vB END;",
      "SET @Id = CASE WHEN @vA = 1 THEN 7 WHEN @vA > @vB + 1 THEN @vB + 1 ELSE @vA END;",
      "SELECT @Id = CASE WHEN r.A <= r.B THEN 0 ELSE r.A - r.B END FROM T.R AS r;",
    ]) {
      expect([same, chosen(same).length]).toEqual([same, 1]);
    }
    for (const other of [
      "SET @Id = CASE WHEN @vA < @vB THEN @vA ELSE @vOther END;",
      "SET @Id = CASE WHEN @vA <= @vB THEN 1 ELSE @vA - @vB END;",
      "SET @Id = CASE WHEN @vA <= @vB + 1 THEN 0 ELSE @vA - @vB + 1 END;",
      "SET @Id = CASE WHEN @vA = @vB THEN @vA ELSE @vB END;",
      "SET @Id = CASE WHEN @vA < @vB OR @vOther = 1 THEN @vA ELSE @vB END;",
      "SET @vName = CASE WHEN @vName < @vB THEN @vName ELSE @vB END;",
      "SELECT @vName = CASE WHEN d.Name < @vB THEN d.Name ELSE @vB END FROM T.R AS d;",
      "IF @vA < @vB SET @Id = 1;",
    ]) {
      expect([other, ...chosen(other)]).toEqual([other]);
    }
  });

  test("HOLDLOCK may go where a definition is found by its id, with UPDLOCK", () => {
    const read = (hints: string, where: string): string[] =>
      explained(
        procedure(
          "P",
          "SELECT @Id = d.Paused",
          `FROM Taskgate.TaskDefinition AS d WITH (${hints}) -- kept`,
          where,
        ),
        "hint",
      );
    expect(read("ROWLOCK, UPDLOCK, HOLDLOCK", "WHERE d.TaskDefinitionId = @Id;")).toEqual([
      "FROM Taskgate.TaskDefinition AS d WITH (UPDLOCK, HOLDLOCK) -- kept",
      "FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK) -- kept",
    ]);
    expect(read("UPDLOCK, HOLDLOCK", "WHERE d.Name = @Id;")).toEqual([]);
    expect(read("UPDLOCK, HOLDLOCK", "WHERE d.TaskDefinitionId = @Id OR d.Paused = 1;")).toEqual(
      [],
    );
    expect(read("HOLDLOCK", "WHERE d.TaskDefinitionId = @Id;")).toEqual([]);
  });

  test("no operation deletes a definition", () => {
    const deleting = readSources().filter(({ text }) =>
      /DELETE\s+(?:FROM\s+)?Taskgate\.TaskDefinition\b|DELETE\s+(?:FROM\s+)?(\w+)\s[^;]*?FROM Taskgate\.TaskDefinition AS \1\b/.test(
        text,
      ),
    );
    expect(deleting.map(({ name }) => name)).toEqual([]);
  });

  test("each rule explains something that is shipped", () => {
    const reasons = new Set(
      readSources()
        .flatMap(listMutants)
        .flatMap((one) => whyEquivalent(one) ?? []),
    );

    expect(reasons.size).toBe(10);
  });
});
