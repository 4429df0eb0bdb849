import { beforeEach, describe, expect, test } from "@jest/globals";
import { Bench } from "./bench";
import { recordBytes, transactionBytes } from "./log-bytes";
import type { Tally } from "./meter";
import { engines } from "./options";

/* Each expected number is added up in the comment beside it. */

const setup = `
CREATE TABLE dbo.T (
  Id bigint NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED, A int NOT NULL, Name nvarchar(50) NOT NULL, Body nvarchar(max) NULL);
CREATE INDEX IX_T_A ON dbo.T (A);
INSERT INTO dbo.T (Id, A, Name) VALUES (1, 1, N'one'), (2, 2, N'two'), (3, 3, N'six');
CREATE TABLE dbo.U (Id int NOT NULL CONSTRAINT PK_U PRIMARY KEY CLUSTERED);
INSERT INTO dbo.U (Id) VALUES (1);
GO
CREATE FUNCTION dbo.Twice (@n int) RETURNS int AS BEGIN DECLARE @r int = 2 * @n; RETURN @r; END;
GO
CREATE PROCEDURE dbo.Three AS
BEGIN
  SET NOCOUNT ON;
  DECLARE @a int = 1, @b int;
  SELECT @b = Id FROM dbo.U;
  IF @a = @b SET @a = 2;
END;`;

let bench: Bench;

/** What a batch costs on a metered connection. */
function costOf(sql: string): Tally {
  const connection = bench.world.connect();
  bench.ask(sql, connection);
  if (connection.meter === undefined) throw new Error("It isn't metered");
  return connection.meter.call;
}

function start(engine = engines.azure): void {
  bench = new Bench(setup, engine);
  bench.world.isMetered = true;
}

beforeEach(() => {
  start();
});

describe("statements", () => {
  test.each([
    ["SELECT 1;", 1],
    ["SET NOCOUNT ON; DECLARE @a int, @b int;", 0],
    ["DECLARE @a int = 1, @b int = 2;", 1],
    ["DECLARE @a int; SET @a = 1; SELECT @a = 2;", 2],
    ["DECLARE @a int; IF @a IS NULL BEGIN SET @a = 1; END;", 1],
    ["IF EXISTS (SELECT 1 FROM dbo.U) SELECT 1;", 2],
    ["DECLARE @a int = 0; WHILE @a < 3 SET @a += 1;", 4],
    ["DECLARE @a int = 0; WHILE EXISTS (SELECT 1 FROM dbo.U WHERE Id > @a) SET @a += 1;", 4], // 1 + 2 tests + 1
    ["BEGIN TRANSACTION; COMMIT;", 2],
    ["BEGIN TRY THROW 50000, N'no', 1; END TRY BEGIN CATCH PRINT N'caught'; END CATCH;", 2],
    // EXEC, and in it DECLARE, SELECT, SET
    ["EXEC dbo.Three;", 4],
  ])("the meter counts the statements of %s", (sql, count) => {
    expect(costOf(sql).statements).toBe(count);
  });

  test("the meter counts statements in scalar functions apart: once per call", () => {
    const { statements, functionStatements } = costOf("SELECT dbo.Twice(t.A) FROM dbo.T AS t;");
    // DECLARE and RETURN for each of three rows
    expect([statements, functionStatements]).toEqual([1, 6]);
  });

  test("the meter counts statements by call and by session", () => {
    const connection = bench.world.connect();
    bench.ask("SELECT 1;", connection);
    bench.ask("SELECT 1; SELECT 2;", connection);
    expect([connection.meter?.call.statements, connection.meter?.session().statements]).toEqual([
      2, 3,
    ]);
  });
});

describe("bytes of the log, and index rows", () => {
  test("an insert writes a log record per index", () => {
    const cost = costOf("INSERT INTO dbo.T (Id, A, Name) VALUES (4, 4, N'four');");
    // 4 header + 8 + 4 + 2 + 1 null bitmap + 2 + 4 places + 8 name
    const row = 33;
    // 1 header + 4 + 8 + 2 + 1 null bitmap
    const entry = 16;
    expect(cost.logBytes).toBe(2 * recordBytes + row + entry + transactionBytes);
    expect([cost.indexWrites, cost.storedBytes, cost.commits]).toEqual([2, row + entry, 1]);
    expect(cost.versionBytes).toBe(2 * 14);
  });

  test("a delete logs the whole row, and a version of it", () => {
    const cost = costOf("DELETE FROM dbo.T WHERE Id = 1;");
    // 31 as above with three letters, 16 of the other index
    expect(cost.logBytes).toBe(2 * recordBytes + 31 + 16 + transactionBytes);
    expect([cost.indexWrites, cost.versionBytes, cost.storedBytes]).toEqual([2, 75, 0]);
  });

  test("an update in place logs what changes, before and after", () => {
    const fixed = costOf("UPDATE dbo.T SET A = A WHERE Id = 1;");
    expect(fixed.logBytes).toBe(recordBytes + transactionBytes);
    // `two` and `tWo` differ in one character of two bytes.
    const text = costOf("UPDATE dbo.T SET Name = N'tWo' WHERE Id = 2;");
    expect([text.logBytes, text.indexWrites]).toEqual([recordBytes + 4 + transactionBytes, 1]);
    // 14 and the whole old row
    expect(text.versionBytes).toBe(14 + 31);
  });

  test("an update of a key logs a delete and an insert in its index", () => {
    const cost = costOf("UPDATE dbo.T SET A = 9 WHERE Id = 1;");
    // the row: an int before and after; the entry of 16 bytes goes and comes
    expect(cost.logBytes).toBe(3 * recordBytes + 8 + 2 * 16 + transactionBytes);
    expect(cost.indexWrites).toBe(3);
  });

  test("a max value that is set: all of both, and a record per piece where it stands outside of the row", () => {
    costOf("UPDATE dbo.T SET Body = REPLICATE(CONVERT(nvarchar(max), N'a'), 100) WHERE Id = 1;");
    const small = costOf("UPDATE dbo.T SET Body = Body + N'b' WHERE Id = 1;");
    expect(small.logBytes).toBe(recordBytes + 200 + 202 + transactionBytes);
    const large = costOf(
      "UPDATE dbo.T SET Body = REPLICATE(CONVERT(nvarchar(max), N'a'), 5000) WHERE Id = 1;",
    );
    // 202 old, 10,000 new in two pieces
    expect(large.logBytes).toBe(3 * recordBytes + 202 + 10_000 + transactionBytes);
  });

  test("the log has no versions without row versions, and nothing for table variables and for a rollback's commit", () => {
    start(engines.locking);
    expect(costOf("DELETE FROM dbo.T WHERE Id = 1;").versionBytes).toBe(0);
    const local = costOf("DECLARE @t TABLE (A int); INSERT INTO @t (A) VALUES (1);");
    expect([local.indexWrites, local.logBytes, local.commits]).toEqual([0, 0, 0]);
    const undone = costOf("BEGIN TRANSACTION; INSERT INTO dbo.U (Id) VALUES (2); ROLLBACK;");
    // 4 header + 4 + 2 + 1
    expect([undone.logBytes, undone.commits]).toEqual([recordBytes + 11, 0]);
  });

  test("the meter counts one seek per access, per row that is looked up and per value of an IN, and the rows they gave", () => {
    expect(costOf("SELECT Name FROM dbo.T WHERE Id = 1;").seeks).toBe(1);
    const looked = "SELECT Name FROM dbo.T WITH (INDEX (IX_T_A)) WHERE A <= 2;";
    expect(costOf(looked).seeks).toBe(3);
    expect(
      costOf("SELECT Name FROM dbo.T WITH (UPDLOCK, INDEX (IX_T_A)) WHERE A <= 2;").seeks,
    ).toBe(3);
    expect(costOf("SELECT Name FROM dbo.T WHERE Id IN (1, 3);").seeks).toBe(2);
    expect(costOf("SELECT Id FROM dbo.T WHERE Name = N'two';").rowsExamined).toBe(3);
  });
});

describe("how long a row is held", () => {
  const change = "UPDATE dbo.T SET Body = N'x' WHERE Id = 1;";

  test.each(["azure", "versioned", "locking"] as const)(
    "statements behind the one that locks it, the commit with them: %s",
    (engine) => {
      start(engines[engine]);
      const one = costOf(`BEGIN TRANSACTION; ${change} COMMIT;`);
      const four = costOf(`BEGIN TRANSACTION; ${change} SELECT 1; SELECT 2; SELECT 3; COMMIT;`);
      expect([one.heldMax.get("dbo.T"), four.heldMax.get("dbo.T")]).toEqual([1, 4]);
      expect(costOf(change).heldMax.get("dbo.T")).toBe(0);
    },
  );

  test("UPDLOCK holds, too; a reader's lock and a row that didn't qualify don't", () => {
    const kept = "SELECT Id FROM dbo.T WITH (UPDLOCK) WHERE Id = 1;";
    expect(costOf(`BEGIN TRANSACTION; ${kept} COMMIT;`).heldMax.get("dbo.T")).toBe(1);
    const passed = "UPDATE dbo.T SET Body = N'x' WHERE Id = 1 AND A = 7; SELECT 1;";
    expect(costOf(`BEGIN TRANSACTION; ${passed} COMMIT;`).heldMax.size).toBe(0);
  });

  test("the hold of a row is measured across the requests of one transaction", () => {
    const connection = bench.world.connect();
    bench.ask(`BEGIN TRANSACTION; ${change}`, connection);
    bench.ask("SELECT 1;", connection);
    bench.ask("COMMIT;", connection);
    expect(connection.meter?.session().heldMax.get("dbo.T")).toBe(2);
  });

  test("the commits are counted by the tables of which they hold a row, only those that wrote", () => {
    const both = costOf(`BEGIN TRANSACTION; ${change} INSERT INTO dbo.U (Id) VALUES (2); COMMIT;`);
    expect([both.commits, Object.fromEntries(both.commitsHolding)]).toEqual([
      1,
      { "dbo.T": 1, "dbo.U": 1 },
    ]);
    const read = "BEGIN TRANSACTION; SELECT Id FROM dbo.T WITH (UPDLOCK) WHERE Id = 1; COMMIT;";
    expect(costOf(read).commits).toBe(0);
  });
});

describe("passes over long texts", () => {
  const long = "DECLARE @s nvarchar(max) = REPLICATE(CONVERT(nvarchar(max), N'a'), 4001);";

  test("each function that reads more than 8,000 bytes from end to end", () => {
    const cost = costOf(`${long} SELECT LEN(@s), CHARINDEX(N'b', REPLACE(@s, N'a', N'aa'));`);
    // LEN 8,002, REPLACE 8,002, CHARINDEX over 16,004
    expect([cost.passes, cost.passedBytes]).toEqual([3, 32_008]);
  });

  test("a pass over a long text isn't counted where it knows the length or takes a part, nor over shorter texts", () => {
    expect(costOf(`${long} SELECT DATALENGTH(@s), LEFT(@s, 10);`).passes).toBe(0);
    const short = "DECLARE @s nvarchar(max) = REPLICATE(CONVERT(nvarchar(max), N'a'), 4000);";
    expect(costOf(`${short} SELECT LEN(@s);`).passes).toBe(0);
  });

  test("a call of OPENJSON passes once for all its rows", () => {
    const json =
      "DECLARE @j nvarchar(max) = N'[' + REPLICATE(CONVERT(nvarchar(max), N'1,'), 4000) + N'1]';";
    expect(costOf(`${json} SELECT COUNT(*) FROM OPENJSON(@j);`).passes).toBe(1);
  });

  test("a pass over a long text is counted while a row is held, by its table", () => {
    const update = "UPDATE dbo.T SET A = 5 WHERE Id = 1;";
    const cost = costOf(
      `${long} BEGIN TRANSACTION; SELECT LEN(@s); ${update} SELECT LEN(@s); COMMIT; SELECT LEN(@s);`,
    );
    expect([cost.passes, cost.passesHolding.get("dbo.T")]).toEqual([3, 1]);
  });
});

test("a world that isn't metered counts none of this", () => {
  const { world } = new Bench(setup);
  expect(world.connect().meter).toBeUndefined();
});

describe("a part of a value", () => {
  const wide = (n: number): string => `REPLICATE(CONVERT(varchar(max), 'abcdefgh'), ${String(n)})`;
  const write = (what: string): Tally =>
    costOf(`UPDATE d SET Body.WRITE(${what}) FROM dbo.V AS d WHERE d.Id = 1;`);

  beforeEach(() => {
    costOf(
      "CREATE TABLE dbo.V (Id int NOT NULL CONSTRAINT PK_V PRIMARY KEY CLUSTERED, Body varchar(max) NULL);",
    );
  });

  test("a part of a value in its row costs what changes", () => {
    costOf("INSERT INTO dbo.V (Id, Body) VALUES (1, 'abcdefgh');");
    expect(write("'XY', 2, 2").logBytes).toBe(recordBytes + transactionBytes + 2 + 2);
    // another length: what stands behind it moves
    expect(write("'Z', 2, 2").logBytes).toBe(recordBytes + transactionBytes + 6 + 5);
    expect(bench.ask("SELECT Body FROM dbo.V;").objects()).toEqual([{ Body: "abZefgh" }]);
  });

  test("a part of a value outside of its row costs the pieces that it touches", () => {
    costOf(`INSERT INTO dbo.V (Id, Body) VALUES (1, ${wide(3_000)});`);
    const one = write("'XY', 8000, 2");
    expect(one.logBytes).toBe(2 * recordBytes + transactionBytes + 2 + 2);
    expect(write("'XY', 8039, 2").logBytes).toBe(3 * recordBytes + transactionBytes + 2 + 2);
    expect(one.versionBytes).toBeLessThan(write(`${wide(3_000)}, 0, 24000`).versionBytes);
  });

  test.each([
    ["behind its end", "'abcdefgh'", "Body.WRITE('X', 9, 1)"],
    ["before its beginning", "'abcdefgh'", "Body.WRITE('X', -1, 1)"],
    ["that is NULL", "NULL", "Body.WRITE('X', 0, 0)"],
    [
      "beyond ASCII",
      "'abcdefgh'",
      "Body.WRITE(CONVERT(varchar(9), N'é' COLLATE Latin1_General_100_BIN2_UTF8), 0, 1)",
    ],
    ["without max", "NULL", "Id.WRITE('X', 0, 0)"],
  ])("%s stops the model", (_, value, what) => {
    costOf(`INSERT INTO dbo.V (Id, Body) VALUES (1, ${value});`);
    expect(() => bench.ask(`UPDATE dbo.V SET ${what} WHERE Id = 1;`)).toThrow(/\.WRITE/);
  });
});
