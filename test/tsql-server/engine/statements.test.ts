import { beforeEach, describe, expect, test } from "@jest/globals";
import { startRequest, step } from "../schedule/step";
import { Bench } from "./bench";
import { engines } from "./options";

/* Statements of one caller: what they do to rows, variables, transactions and answers. */

const setup = `
CREATE TABLE dbo.T (
  Id int NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED,
  A int NULL CONSTRAINT DF_T_A DEFAULT (7) CONSTRAINT CK_T_A CHECK (A < 100),
  B nvarchar(5) NOT NULL CONSTRAINT DF_T_B DEFAULT (N'b'),
  CONSTRAINT UQ_T UNIQUE NONCLUSTERED (B, Id));
GO
CREATE UNIQUE INDEX IX_T_A ON dbo.T (A) WHERE A IS NOT NULL;
GO
CREATE TABLE dbo.I (Id bigint IDENTITY(10, 5) NOT NULL PRIMARY KEY, At datetime2(3) NOT NULL DEFAULT (SYSUTCDATETIME()));
GO
CREATE SEQUENCE dbo.S AS bigint START WITH 5 INCREMENT BY 2;`;

let bench: Bench;

beforeEach(() => {
  bench = new Bench(setup, engines.locking);
});

describe("inserts", () => {
  test("an insert fills in defaults, and gives out identities for good", () => {
    bench.ask(
      "INSERT INTO dbo.T (Id) VALUES (1); INSERT INTO dbo.T (Id, A, B) VALUES (2, DEFAULT, N'x');",
    );
    expect(bench.rows("SELECT * FROM dbo.T ORDER BY Id;")).toEqual([[1, 7, "b"]]);
    expect(bench.errors("INSERT INTO dbo.T (Id, A, B) VALUES (2, NULL, N'x');")).toEqual([]);
    bench.ask(
      "BEGIN TRANSACTION; INSERT INTO dbo.I DEFAULT VALUES; ROLLBACK; INSERT INTO dbo.I DEFAULT VALUES;",
    );
    expect(bench.rows("SELECT Id FROM dbo.I;")).toEqual([[15n]]);
    expect(bench.rows("SELECT SCOPE_IDENTITY();")).toEqual([[15n]]);
  });

  const refusals: [string, number][] = [
    ["INSERT INTO dbo.T (Id, B) VALUES (1, NULL);", 515],
    ["INSERT INTO dbo.T (Id, B) VALUES (1, N'123456');", 2628],
    ["INSERT INTO dbo.T (Id, A) VALUES (1, 100);", 547],
    ["INSERT INTO dbo.T (Id, A) VALUES (1, 1), (1, 2);", 2627],
    ["INSERT INTO dbo.T (Id, A) VALUES (1, 1), (2, 1);", 2601],
    ["INSERT INTO dbo.T (Id, Nope) VALUES (1, 1);", 207],
    ["INSERT INTO dbo.T (Id, A) SELECT 1;", 120],
    ["INSERT INTO dbo.I (Id) VALUES (1);", 544],
    ["INSERT INTO dbo.Nope (Id) VALUES (1);", 208],
  ];

  test.each(refusals)("%s raises %d, and leaves nothing", (sql, number) => {
    expect(bench.errors(sql)).toEqual([number]);
    expect(bench.rows("SELECT COUNT(*) FROM dbo.T;")).toEqual([[0]]);
    expect(bench.world.locks.describe()).toEqual([]);
  });

  test("the error of a key names constraint, table and key", () => {
    bench.ask("INSERT INTO dbo.T (Id, A) VALUES (1, 1);");
    expect(bench.ask("INSERT INTO dbo.T (Id, A) VALUES (1, 2);").errors[0]?.message).toBe(
      "Violation of PRIMARY KEY constraint 'PK_T'. Cannot insert duplicate key in object 'dbo.T'. The duplicate key value is (1).",
    );
  });

  test("an insert takes ids from a sequence in the order that is asked for", () => {
    const sql = `DECLARE @t TABLE (K int NOT NULL PRIMARY KEY, V bigint NOT NULL);
      INSERT INTO @t (K, V) SELECT v.n, NEXT VALUE FOR dbo.S OVER (ORDER BY v.n DESC) FROM (VALUES (1), (3), (2)) AS v (n);
      SELECT K, V FROM @t ORDER BY K;`;
    expect(bench.rows(sql)).toEqual([
      [1, 9n],
      [2, 7n],
      [3, 5n],
    ]);
  });
});

describe("numbers that begin anew", () => {
  test("a new seed tells the number that was current, and NULL before the first row", () => {
    const told = (value: string): string[] => [
      `Checking identity information: current identity value '${value}'.`,
      "DBCC execution completed. If DBCC printed error messages, contact your system administrator.",
    ];
    const reseed = "DBCC CHECKIDENT (N'dbo.I', RESEED, 70);";
    expect(bench.ask(reseed).informations).toEqual(told("NULL"));
    bench.ask("INSERT INTO dbo.I DEFAULT VALUES;");
    expect(bench.ask(reseed).informations).toEqual(told("70"));
    expect(bench.rows("INSERT INTO dbo.I DEFAULT VALUES; SELECT SCOPE_IDENTITY();")).toEqual([
      [75n],
    ]);
    expect(bench.ask(reseed).informations).toEqual(told("75"));
    expect(bench.ask(reseed, bench.world.fork().connect()).informations).toEqual(told("70"));
  });

  test("a row that was rolled back, or brought its own number, counts for the next seed", () => {
    const reseed = "DBCC CHECKIDENT (N'dbo.I', RESEED, 70); INSERT INTO dbo.I DEFAULT VALUES;";
    const seen = "SELECT MAX(Id) FROM dbo.I;";
    bench.ask(`BEGIN TRANSACTION; INSERT INTO dbo.I DEFAULT VALUES; ROLLBACK; ${reseed}`);
    expect(bench.rows(seen)).toEqual([[75n]]);
    const own =
      "SET IDENTITY_INSERT dbo.I ON; INSERT INTO dbo.I (Id) VALUES (2); SET IDENTITY_INSERT dbo.I OFF;";
    bench.ask(`TRUNCATE TABLE dbo.I; ${own} ${reseed}`);
    expect(bench.rows(seen)).toEqual([[75n]]);
  });

  test("a restart is undone with its transaction, and refuses a number beyond the sequence's type", () => {
    const next = "SELECT NEXT VALUE FOR dbo.S;";
    bench.ask("BEGIN TRANSACTION; ALTER SEQUENCE dbo.S RESTART WITH 50; ROLLBACK;");
    expect(bench.rows(next)).toEqual([[5n]]);
    bench.ask(`BEGIN TRANSACTION; ALTER SEQUENCE dbo.S RESTART WITH 50; ${next} ROLLBACK;`);
    expect(bench.rows(next)).toEqual([[7n]]);
    expect(bench.errors("ALTER SEQUENCE dbo.S RESTART WITH 9223372036854775808;")).toEqual([11708]);
    expect(bench.errors("ALTER SEQUENCE dbo.I RESTART WITH 1;")).toEqual([15151]);
    expect(bench.rows(next)).toEqual([[9n]]);
  });

  test("an insert waits for a new seed that isn't committed", () => {
    const other = bench.world.connect();
    bench.ask("BEGIN TRANSACTION; DBCC CHECKIDENT (N'dbo.I', RESEED, 70);");
    startRequest(other, { kind: "batch", sql: "INSERT INTO dbo.I DEFAULT VALUES;" });
    step(other);
    expect(other.state).toBe("waiting");
    bench.ask("ROLLBACK;");
    while (other.state !== "idle") step(other);
    expect(bench.rows("SELECT COUNT(*) FROM dbo.I;")).toEqual([[1]]);
  });
});

describe("an index that is made anew", () => {
  const create = (settings: string) =>
    `CREATE UNIQUE INDEX IX_T_A ON dbo.T (A) WITH (${settings});`;

  test("an index that is made anew takes the place of the one of its name, and judges the rows that are there", () => {
    bench.ask("INSERT INTO dbo.T (Id, A) VALUES (1, NULL);");
    expect(bench.errors(create("DROP_EXISTING = OFF"))).toEqual([1913]);
    expect(bench.errors(create("DROP_EXISTING = ON"))).toEqual([]);
    // The old one left out what is null.
    expect(bench.errors("INSERT INTO dbo.T (Id, A) VALUES (2, NULL);")).toEqual([2601]);
    const other = create("DROP_EXISTING = ON").replace("IX_T_A", "IX_T_B");
    expect(bench.errors(other)).toEqual([7999]);
  });
});

describe("updates and deletes", () => {
  beforeEach(() => {
    bench.ask("INSERT INTO dbo.T (Id, A, B) VALUES (1, 1, N'x'), (2, 2, N'y'), (3, 3, N'z');");
  });

  test("an update computes from the row as it was, and may swap unique keys", () => {
    bench.ask("UPDATE t SET A = 4 - t.A, B = CONVERT(nvarchar(5), t.A) FROM dbo.T AS t;");
    expect(bench.rows("SELECT Id, A, B FROM dbo.T ORDER BY Id;")).toEqual([
      [1, 3, "1"],
      [2, 2, "2"],
      [3, 1, "3"],
    ]);
  });

  test("an update moves rows to other keys", () => {
    bench.ask("UPDATE dbo.T SET Id = Id + 1 WHERE Id = 3;");
    expect(bench.rows("SELECT Id FROM dbo.T WHERE Id > 1;")).toEqual([[2], [4]]);
  });

  test("an update through a CTE takes rows in its order, and shows what they were", () => {
    const sql = `DECLARE @gone TABLE (A int NOT NULL, B nvarchar(5) NOT NULL);
      WITH Next AS (SELECT TOP (2) t.A AS Amount, t.B FROM dbo.T AS t ORDER BY t.Id DESC)
      DELETE FROM Next OUTPUT deleted.Amount, deleted.B INTO @gone (A, B);
      SELECT A, B FROM @gone ORDER BY A;`;
    expect(bench.rows(sql)).toEqual([
      [2, "y"],
      [3, "z"],
    ]);
    expect(bench.rows("SELECT Id FROM dbo.T;")).toEqual([[1]]);
    bench.ask(
      "WITH One AS (SELECT TOP (1) t.A AS Amount FROM dbo.T AS t ORDER BY t.Id) UPDATE One SET Amount = 50;",
    );
    expect(bench.rows("SELECT A FROM dbo.T;")).toEqual([[50]]);
  });

  test("an update with a join writes each row once, and with TOP so many", () => {
    bench.ask(
      "UPDATE t SET A = v.n FROM dbo.T AS t INNER JOIN (VALUES (1, 10), (1, 11), (2, 20)) AS v (i, n) ON v.i = t.Id;",
    );
    expect(bench.rows("SELECT A FROM dbo.T ORDER BY Id;")).toEqual([[10], [20], [3]]);
    const answer = bench.ask("DELETE TOP (2) FROM dbo.T; SELECT @@ROWCOUNT AS n;");
    expect([answer.counts, answer.rowSets[0]?.rows]).toEqual([[2, 1], [[2]]]);
  });

  test("an update sets variables, also beside a column", () => {
    const sql =
      "DECLARE @v int, @w nvarchar(5); UPDATE dbo.T SET @v = A = A + 10, @w = B WHERE Id = 2; SELECT @v, @w;";
    expect(bench.rows(sql)).toEqual([[12, "y"]]);
  });

  test("an update that fails leaves the statement undone, and the transaction open", () => {
    bench.ask("BEGIN TRANSACTION; UPDATE dbo.T SET B = N'q' WHERE Id = 1;");
    expect(bench.errors("UPDATE dbo.T SET A = A + 97;")).toEqual([547]);
    expect(bench.rows("SELECT @@TRANCOUNT, A, B FROM dbo.T WHERE Id = 1;")).toEqual([[1, 1, "q"]]);
    bench.ask("ROLLBACK;");
    expect(bench.rows("SELECT B FROM dbo.T WHERE Id = 1;")).toEqual([["x"]]);
  });

  test("an update shows inserted and deleted to the client", () => {
    const answer = bench.ask(
      "UPDATE dbo.T SET A = A * 2 OUTPUT deleted.A AS Old, inserted.A AS New WHERE Id > 1;",
    );
    expect(answer.objects()).toEqual([
      { Old: 2, New: 4 },
      { Old: 3, New: 6 },
    ]);
    expect(answer.counts).toEqual([2]);
  });

  test("a delete with a join shows columns of the joined rows as well", () => {
    const sql = `DECLARE @gone TABLE (Id int NOT NULL, N int NOT NULL);
      DELETE t OUTPUT deleted.Id, v.n INTO @gone (Id, N)
      FROM (VALUES (3, 30), (1, 10), (9, 90)) AS v (i, n) INNER JOIN dbo.T AS t ON t.Id = v.i;
      SELECT Id, N FROM @gone ORDER BY Id;`;
    expect(bench.rows(sql)).toEqual([
      [1, 10],
      [3, 30],
    ]);
    expect(bench.rows("SELECT Id FROM dbo.T;")).toEqual([[2]]);
  });

  test("a TOP in CROSS APPLY takes as many rows as the row beside it says", () => {
    const sql = `SELECT v.i, x.Id FROM (VALUES (1, 2), (2, 0), (3, 1)) AS v (i, n)
      CROSS APPLY (SELECT TOP (v.n) t.Id FROM dbo.T AS t ORDER BY t.Id DESC) AS x ORDER BY v.i, x.Id;`;
    expect(bench.rows(sql)).toEqual([
      [1, 2],
      [1, 3],
      [3, 3],
    ]);
  });

  test("TOP counts with the rows of the statement before", () => {
    const sql =
      "DELETE FROM dbo.T WHERE Id = 1; DELETE TOP (2 - @@ROWCOUNT) FROM dbo.T; SELECT COUNT(*) FROM dbo.T;";
    expect(bench.rows(sql)).toEqual([[1]]);
  });

  test("an update by a list of keys walks from key to key", () => {
    bench.ask(
      "DELETE FROM dbo.T WHERE Id IN (SELECT v.n FROM (VALUES (3), (1), (9), (NULL)) AS v (n));",
    );
    expect(bench.rows("SELECT Id FROM dbo.T;")).toEqual([[2]]);
    expect(bench.connection.metrics.rowsRead).toBe(1);
  });
});

describe("queries", () => {
  test("a query applies a function to each row, and keeps rows without match under OUTER APPLY", () => {
    bench.ask("INSERT INTO dbo.T (Id, A) VALUES (1, 2), (2, 1);");
    const sql = `SELECT t.Id, x.n FROM dbo.T AS t
      OUTER APPLY (SELECT TOP (1) v.n FROM (VALUES (5), (6)) AS v (n) WHERE t.A = 2 ORDER BY v.n DESC) AS x ORDER BY t.Id;`;
    expect(bench.rows(sql)).toEqual([
      [1, 6],
      [2, null],
    ]);
  });

  test("a query groups, sorts and numbers rows", () => {
    const sql = `SELECT v.g, COUNT(*) AS c, STRING_AGG(v.t, N'') WITHIN GROUP (ORDER BY v.t DESC),
        ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS r
      FROM (VALUES (1, N'a'), (1, N'b'), (2, N'c')) AS v (g, t) GROUP BY v.g HAVING COUNT(*) > 0 ORDER BY v.g DESC;`;
    expect(bench.rows(sql)).toEqual([
      [2, 1, "c", 2n],
      [1, 2, "ba", 1n],
    ]);
  });

  test("a query combines sets", () => {
    expect(bench.rows("SELECT 1 AS n UNION SELECT 1 UNION ALL SELECT 2 ORDER BY n DESC;")).toEqual([
      [2],
      [1],
    ]);
    expect(bench.rows("SELECT v.n FROM (VALUES (1), (2), (2)) AS v (n) EXCEPT SELECT 1;")).toEqual([
      [2],
    ]);
    expect(bench.rows("SELECT NULL AS t UNION ALL SELECT N'x';")).toEqual([[null], ["x"]]);
  });

  test("a query reads only as many rows as TOP asks for where the index gives the order", () => {
    bench.ask("INSERT INTO dbo.T (Id, A) VALUES (1, 9), (2, 8), (3, 7);");
    bench.rows("SELECT TOP (1) t.Id FROM dbo.T AS t WITH (INDEX (PK_T)) ORDER BY t.Id DESC;");
    expect(bench.connection.metrics.rowsRead).toBe(1);
    bench.rows("SELECT TOP (1) t.Id FROM dbo.T AS t WITH (INDEX (PK_T)) ORDER BY t.A;");
    expect(bench.connection.metrics.rowsRead).toBe(3);
  });

  test("a query of a hint that no index can serve fails: 308 and 8622", () => {
    expect(bench.errors("SELECT 1 FROM dbo.T AS t WITH (INDEX (Nope));")).toEqual([308]);
    expect(bench.errors("SELECT 1 FROM dbo.T AS t WITH (INDEX (IX_T_A));")).toEqual([8622]);
    expect(bench.errors("SELECT 1 FROM dbo.T AS t WITH (FORCESEEK);")).toEqual([8622]);
    expect(bench.errors("SELECT 1 FROM dbo.T AS t WITH (INDEX (IX_T_A)) WHERE t.A = 5;")).toEqual(
      [],
    );
  });
});

describe("errors", () => {
  test("an error outside TRY is told, and the next statement runs; under XACT_ABORT the batch ends", () => {
    const mild = bench.ask("SELECT 1 / 0; SELECT 1;");
    expect([mild.errors.length, mild.rowSets.length]).toEqual([1, 2]);
    const harsh = bench.ask("SET XACT_ABORT ON; BEGIN TRANSACTION; SELECT 1 / 0; SELECT 1;");
    expect([harsh.errors.length, harsh.rowSets.length]).toEqual([1, 1]);
    expect(bench.rows("SELECT @@TRANCOUNT;")).toEqual([[0]]);
  });

  test("an error inside TRY is told by the ERROR_ functions, and THROW raises it again with its line", () => {
    const answer = bench.ask(`BEGIN TRY
      SELECT 1 / 0;
      END TRY BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_MESSAGE(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_LINE(); THROW; END CATCH; SELECT 2;`);
    expect(answer.rowSets.at(-1)?.rows).toEqual([
      [8134, "Divide by zero error encountered.", 16, 1, 2],
    ]);
    expect(answer.errors.map(({ number, line }) => [number, line])).toEqual([[8134, 2]]);
  });

  test("a THROW reads a double % as one, and dooms under XACT_ABORT", () => {
    const answer = bench.ask(`SET XACT_ABORT ON; BEGIN TRANSACTION;
      BEGIN TRY THROW 50001, N'100%%', 3; END TRY
      BEGIN CATCH SELECT XACT_STATE(), ERROR_MESSAGE(); INSERT INTO dbo.T (Id) VALUES (9); END CATCH;`);
    expect(answer.rowSets[0]?.rows).toEqual([[-1, "100%"]]);
    expect(answer.errors.map((error) => error.number)).toEqual([3930]);
    expect(bench.rows("SELECT @@TRANCOUNT, COUNT(*) FROM dbo.T;")).toEqual([[0, 0]]);
  });

  test("a doomed transaction that a batch leaves behind is rolled back: 3998", () => {
    const sql =
      "SET XACT_ABORT ON; BEGIN TRANSACTION; BEGIN TRY SELECT 1 / 0; END TRY BEGIN CATCH SELECT 1; END CATCH;";
    expect(bench.errors(sql)).toEqual([3998]);
  });

  test("an unmatched COMMIT or ROLLBACK is an error", () => {
    expect(bench.errors("COMMIT;")).toEqual([3902]);
    expect(bench.errors("ROLLBACK;")).toEqual([3903]);
  });
});

describe("procedures", () => {
  const procedures = `
CREATE PROCEDURE dbo.P @a int, @b nvarchar(3) = N'def', @o int OUTPUT AS
BEGIN
  SET NOCOUNT ON;
  SET @o = @a * 2;
  SELECT @b AS b;
  RETURN 7;
END;
GO
CREATE TYPE dbo.Ids AS TABLE (Id int NOT NULL PRIMARY KEY);
GO
CREATE PROCEDURE dbo.Q @ids dbo.Ids READONLY AS SELECT i.Id FROM @ids AS i ORDER BY i.Id;
GO
CREATE PROCEDURE dbo.Leaves AS BEGIN TRANSACTION;
GO
CREATE FUNCTION dbo.F (@n int) RETURNS int AS BEGIN RETURN (SELECT COUNT(*) FROM dbo.T AS t WHERE t.Id <= @n); END;
GO
CREATE FUNCTION dbo.G (@n int) RETURNS TABLE AS RETURN SELECT t.Id FROM dbo.T AS t WHERE t.Id <= @n;
GO
CREATE VIEW dbo.V AS SELECT t.Id, t.A FROM dbo.T AS t WHERE t.A > 1;`;

  beforeEach(() => {
    bench = new Bench(`${setup}\nGO\n${procedures}`, engines.locking);
    bench.ask("INSERT INTO dbo.T (Id, A) VALUES (1, 1), (2, 2);");
  });

  test("a procedure takes arguments by name and position, defaults, and gives outputs and a status", () => {
    const sql = "DECLARE @x int, @r int; EXEC @r = dbo.P 4, @o = @x OUTPUT; SELECT @x, @r;";
    expect(bench.ask(sql).rowSets.map((set) => set.rows)).toEqual([[["def"]], [[8, 7]]]);
    expect(
      bench.rows("DECLARE @x int; EXEC dbo.P @b = N'longer', @a = 1, @o = @x OUTPUT;"),
    ).toEqual([["lon"]]);
    expect(bench.errors("DECLARE @x int; EXEC dbo.P @o = @x OUTPUT;")).toEqual([201]);
    expect(bench.errors("EXEC dbo.P 1, N'a', 2, 3;")).toEqual([8144]);
    expect(bench.errors("EXEC dbo.P @nope = 1;")).toEqual([8145]);
    expect(bench.errors("EXEC dbo.Nope;")).toEqual([2812]);
  });

  test("a procedure sees tables that are handed over", () => {
    const sql = "DECLARE @i dbo.Ids; INSERT INTO @i (Id) VALUES (2), (1); EXEC dbo.Q @ids = @i;";
    expect(bench.rows(sql)).toEqual([[1], [2]]);
    expect(bench.rows("EXEC dbo.Q;")).toEqual([]);
  });

  test("a procedure that leaves a transaction open is told so: 266", () => {
    expect(bench.errors("EXEC dbo.Leaves;")).toEqual([266]);
    expect(bench.rows("SELECT @@TRANCOUNT;")).toEqual([[1]]);
  });

  test("a procedure keeps SET options to itself; sp_executesql is a scope, too", () => {
    const answer = bench.ask(
      "DECLARE @x int; EXEC dbo.P 1, @o = @x OUTPUT; UPDATE dbo.T SET A = A WHERE Id = 1;",
    );
    expect(answer.counts).toEqual([1]);
    expect(
      bench.rows("EXEC sys.sp_executesql N'SET XACT_ABORT ON; SELECT @p + 1;', N'@p int', @p = 4;"),
    ).toEqual([[5]]);
    expect(bench.connection.settings.isXactAbort).toBe(false);
  });

  test("functions and views read like what they stand for", () => {
    expect(bench.rows("SELECT dbo.F(1), dbo.F(9);")).toEqual([[1, 2]]);
    expect(
      bench.rows(
        "SELECT v.n, g.Id FROM (VALUES (1), (2)) AS v (n) CROSS APPLY dbo.G(v.n) AS g ORDER BY v.n, g.Id;",
      ),
    ).toEqual([
      [1, 1],
      [2, 1],
      [2, 2],
    ]);
    expect(bench.rows("SELECT v.Id FROM dbo.V AS v;")).toEqual([[2]]);
  });

  test("INSERT .. EXEC takes the rows", () => {
    expect(
      bench.rows(
        "DECLARE @t TABLE (x nvarchar(9) NULL); DECLARE @o int; INSERT INTO @t (x) EXEC dbo.P 1, N'q', @o OUTPUT; SELECT x FROM @t;",
      ),
    ).toEqual([["q"]]);
  });
});

describe("table variables", () => {
  test("a table variable survives a rollback, but not the failing statement", () => {
    const sql = `DECLARE @t TABLE (K int NOT NULL PRIMARY KEY);
      BEGIN TRANSACTION; INSERT INTO @t (K) VALUES (1); ROLLBACK;
      BEGIN TRY INSERT INTO @t (K) VALUES (2), (1); END TRY BEGIN CATCH END CATCH;
      SELECT K FROM @t;`;
    expect(bench.rows(sql)).toEqual([[1]]);
  });

  test("a table variable isn't emptied when a loop declares it again", () => {
    const sql = `DECLARE @i int = 0;
      WHILE @i < 3 BEGIN DECLARE @t TABLE (K int NOT NULL); INSERT INTO @t (K) VALUES (@i); SET @i += 1; END;
      SELECT COUNT(*) FROM @t;`;
    expect(bench.rows(sql)).toEqual([[3]]);
  });
});

describe("definitions", () => {
  test("a definition is undone with its transaction", () => {
    bench.ask(
      "BEGIN TRANSACTION; CREATE TABLE dbo.N (Id int NOT NULL PRIMARY KEY); INSERT INTO dbo.N (Id) VALUES (1);",
    );
    expect(bench.rows("SELECT Id FROM dbo.N;")).toEqual([[1]]);
    bench.ask("ROLLBACK;");
    expect(bench.errors("SELECT Id FROM dbo.N;")).toEqual([208]);
    expect(bench.rows("SELECT OBJECT_ID(N'dbo.N', N'U');")).toEqual([[null]]);
  });

  test("a definition changes tables that have rows", () => {
    bench.ask("INSERT INTO dbo.T (Id, A) VALUES (1, 1);");
    bench.ask("ALTER TABLE dbo.T ADD C int NOT NULL CONSTRAINT DF_T_C DEFAULT (5);");
    expect(bench.rows("SELECT Id, A, B, C FROM dbo.T;")).toEqual([[1, 1, "b", 5]]);
    bench.ask("CREATE INDEX IX_T_C ON dbo.T (C) INCLUDE (A);");
    expect(bench.rows("SELECT t.A FROM dbo.T AS t WITH (INDEX (IX_T_C)) WHERE t.C = 5;")).toEqual([
      [1],
    ]);
  });

  test("a definition shows in the catalogue's views", () => {
    expect(
      bench.rows(
        "SELECT t.name FROM sys.tables AS t INNER JOIN sys.schemas AS s ON s.schema_id = t.schema_id WHERE s.name = N'dbo' ORDER BY t.name;",
      ),
    ).toEqual([["I"], ["T"]]);
    expect(
      bench.rows(
        "SELECT c.COLUMN_NAME, c.DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS AS c WHERE c.TABLE_NAME = N'I' ORDER BY c.ORDINAL_POSITION;",
      ),
    ).toEqual([
      ["Id", "bigint"],
      ["At", "datetime2"],
    ]);
  });
});
