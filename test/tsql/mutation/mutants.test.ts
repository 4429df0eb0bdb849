import { describe, expect, test } from "@jest/globals";
import { diffOf } from "./edits";
import { listMutants, readMutant } from "./mutants";
import type { MutantKind } from "./mutants";
import { Source } from "./source";

/* Each kind of edit on a text made for it: its exact result, and that it can be read. */

function procedure(...lines: string[]): Source {
  const body = lines.map((line) => `  ${line}\n`).join("");
  const head = "CREATE OR ALTER PROCEDURE Taskgate.P @Id int AS\nBEGIN\n";
  return new Source("procedures/P.sql", `${head}${body}END;\n`);
}

/** The edited lines of all mutants of one kind. */
function edited(source: Source, kind: MutantKind): string[] {
  return listMutants(source)
    .filter((mutant) => mutant.kind === kind)
    .map((mutant) => {
      expect(readMutant(mutant).kind).toBe("read");
      const added = diffOf(source, mutant.edits).filter((line) => line.startsWith("+"));
      return added.map((line) => line.slice(2)).join(" / ");
    });
}

describe("mutants", () => {
  test("hints are dropped one by one and together", () => {
    const source = procedure(
      "SELECT @Id = r.A FROM T.R AS r WITH (UPDLOCK, READPAST) WHERE r.A = 1;",
    );
    expect(edited(source, "hint")).toEqual([
      "SELECT @Id = r.A FROM T.R AS r WHERE r.A = 1;",
      "SELECT @Id = r.A FROM T.R AS r WITH (READPAST) WHERE r.A = 1;",
      "SELECT @Id = r.A FROM T.R AS r WITH (UPDLOCK) WHERE r.A = 1;",
    ]);
  });

  test("each part of a condition is dropped, a condition of one part is taken for granted", () => {
    const source = procedure(
      "IF @Id = 1 SET @Id = 2;",
      "DELETE FROM T.R WHERE A = 1 AND (B = 2 OR C BETWEEN 3 AND 4);",
    );
    expect(edited(source, "condition")).toEqual([
      "IF 1 = 1 SET @Id = 2;",
      "DELETE FROM T.R WHERE (B = 2 OR C BETWEEN 3 AND 4);",
      "DELETE FROM T.R WHERE A = 1;",
      "DELETE FROM T.R WHERE A = 1 AND (C BETWEEN 3 AND 4);",
      "DELETE FROM T.R WHERE A = 1 AND (B = 2);",
    ]);
    expect(edited(source, "connective")).toEqual([
      "DELETE FROM T.R WHERE A = 1 OR (B = 2 OR C BETWEEN 3 AND 4);",
      "DELETE FROM T.R WHERE A = 1 AND (B = 2 AND C BETWEEN 3 AND 4);",
    ]);
  });

  test("orders are turned and dropped, TOP takes all", () => {
    const source = procedure(
      "SELECT TOP (1) @Id = A FROM T.R ORDER BY A, B DESC;",
      "SELECT TOP (@Id) @Id = A FROM T.R ORDER BY COALESCE(A, B);",
    );
    expect(edited(source, "order")).toEqual([
      "SELECT TOP (2147483647) @Id = A FROM T.R ORDER BY A, B DESC;",
      "SELECT TOP (1) @Id = A FROM T.R ORDER BY B DESC;",
      "SELECT TOP (1) @Id = A FROM T.R ORDER BY A DESC, B DESC;",
      "SELECT TOP (1) @Id = A FROM T.R ORDER BY A;",
      "SELECT TOP (1) @Id = A FROM T.R ORDER BY A, B;",
      "SELECT TOP (2147483647) @Id = A FROM T.R ORDER BY COALESCE(A, B);",
      "SELECT TOP (@Id) @Id = A FROM T.R;",
      "SELECT TOP (@Id) @Id = A FROM T.R ORDER BY COALESCE(A, B) DESC;",
    ]);
  });

  test("a mutant drops what a statement writes, wherever it stands", () => {
    const source = procedure(
      "BEGIN TRANSACTION;",
      "IF @Id = 1 THROW 50404, N'no', 1;",
      "ELSE EXEC T.Q @Id = @Id;",
      "SELECT A FROM T.R;",
      "UPDATE T.R SET A = 1, B = 2;",
      "COMMIT TRANSACTION;",
    );
    expect(edited(source, "write")).toEqual([
      "DECLARE @vNothing bit;",
      "IF @Id = 1 DECLARE @vNothing bit;",
      "ELSE DECLARE @vNothing bit;",
      "DECLARE @vNothing bit;",
      "DECLARE @vNothing bit;",
    ]);
    expect(edited(source, "assignment")).toEqual([
      "UPDATE T.R SET B = 2;",
      "UPDATE T.R SET A = 1;",
    ]);
  });

  test("neighbours change places, unless no reader could see it", () => {
    const source = procedure(
      "SET NOCOUNT, XACT_ABORT ON;",
      "SET LOCK_TIMEOUT 2000;",
      "DECLARE @vA int = 1, @vB int;",
      "SET @vA = 2;",
      "SET @vB = 3;",
      "SET @vB = @vB + @vA;",
      "EXEC T.Q @Id = @vB;",
    );
    expect(edited(source, "swap")).toEqual([
      "SET @vB = @vB + @vA; / SET @vB = 3;",
      "EXEC T.Q @Id = @vB; / SET @vB = @vB + @vA;",
    ]);
    expect(edited(source, "option")).toEqual(["SET XACT_ABORT ON;", "SET NOCOUNT ON;"]);
    expect(edited(source, "assignment")).toEqual(["DECLARE @vA int, @vB int;"]);
  });

  test("a statement that touches variables only changes places with anything that leaves them alone", () => {
    const source = procedure(
      "DECLARE @vA int = 1, @vR TABLE (A int NOT NULL);",
      "SET LOCK_TIMEOUT 2000;",
      "IF @@TRANCOUNT > 0 THROW 50490, N'no', 1;",
      "SET @vA = 2;",
      "BEGIN TRANSACTION;",
      "INSERT INTO @vR (A) SELECT r.A FROM Taskgate.R AS r;",
      "SET @vA = 3;",
      "COMMIT TRANSACTION;",
    );
    expect(edited(source, "swap")).toEqual([]);
  });

  test("neighbours keep their places where one keeps locks, answers, leaves a loop or returns what the other sets", () => {
    const source = new Source(
      "procedures/P.sql",
      [
        "CREATE OR ALTER PROCEDURE Taskgate.P @oA int OUTPUT AS",
        "BEGIN",
        "  BEGIN TRANSACTION;",
        "  SELECT @oA = r.A FROM Taskgate.R AS r WITH (UPDLOCK);",
        "  IF @oA = 1 RETURN;",
        "  SET @oA = 2;",
        "  COMMIT TRANSACTION;",
        "  SELECT @oA AS [A];",
        "END;",
        "",
      ].join("\n"),
    );
    expect(edited(source, "swap")).toEqual([
      "SELECT @oA = r.A FROM Taskgate.R AS r WITH (UPDLOCK); / BEGIN TRANSACTION;",
      "IF @oA = 1 RETURN; / SELECT @oA = r.A FROM Taskgate.R AS r WITH (UPDLOCK);",
      "SET @oA = 2; / IF @oA = 1 RETURN;",
      "SELECT @oA AS [A]; / COMMIT TRANSACTION;",
    ]);
  });

  test("a count of rows that is read behind them makes neighbours depend on each other", () => {
    const source = procedure(
      "DECLARE @vR TABLE (A int NOT NULL);",
      "INSERT INTO @vR (A) VALUES (1);",
      "SET @Id = 2;",
      "SET @Id = @Id + @@ROWCOUNT;",
    );
    expect(edited(source, "swap")).toHaveLength(2);
  });

  test("a mutant changes signs of comparison and NOT", () => {
    const source = procedure(
      "IF @Id >= 1 AND NOT EXISTS (SELECT 1 FROM T.R WHERE A <> @Id AND B IS NOT NULL) SET @Id += 1;",
    );
    expect(edited(source, "comparison")).toEqual([
      "IF @Id > 1 AND NOT EXISTS (SELECT 1 FROM T.R WHERE A <> @Id AND B IS NOT NULL) SET @Id += 1;",
      "IF @Id >= 1 AND NOT EXISTS (SELECT 1 FROM T.R WHERE A = @Id AND B IS NOT NULL) SET @Id += 1;",
    ]);
    expect(edited(source, "not")).toEqual([
      "IF @Id >= 1 AND EXISTS (SELECT 1 FROM T.R WHERE A <> @Id AND B IS NOT NULL) SET @Id += 1;",
      "IF @Id >= 1 AND NOT EXISTS (SELECT 1 FROM T.R WHERE A <> @Id AND B IS NULL) SET @Id += 1;",
    ]);
  });

  test("a mutant changes numbers, but not lengths of types, states of THROW and what EXISTS selects", () => {
    const source = procedure(
      "IF EXISTS (SELECT 1 FROM T.R WHERE A = CONVERT(nvarchar(11), @Id - 0)) THROW 50404, N'no', 1;",
    );
    const [more, less, higher, lower, ...rest] = edited(source, "number");
    expect(more).toContain("@Id - 1)");
    expect(less).toContain("@Id - (-1))");
    expect(higher).toContain("THROW 50405,");
    expect(lower).toContain("THROW 50403,");
    expect(rest).toEqual([]);
  });

  test("a text that says the same is no mutant", () => {
    const source = procedure("SET @Id = 1;");
    const { start, end } = source.spanOf(source.statements.at(-1)?.statement ?? fail());
    const edits = [{ start, end, text: "SET  @Id = 1" }];
    const mutant = { source, kind: "write", line: 3, edits, statementId: 1 } as const;
    expect(readMutant(mutant).kind).toBe("equal");
  });
});

function fail(): never {
  throw new Error("the procedure has no statement");
}
