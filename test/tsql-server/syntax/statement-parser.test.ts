import { describe, expect, test } from "@jest/globals";
import { parseScript, parseStatements } from "./parser";
import { describeForms } from "./parser-cases";
import type { FormCase } from "./parser-cases";

const control: readonly FormCase[] = [
  {
    form: "DECLARE of several, with values",
    good: "DECLARE @a int = 1, @b nvarchar(max), @c datetime2(3) = SYSUTCDATETIME();",
    bad: "DECLARE @a nvarchr(200);",
    error: "expected a type, found `nvarchr`",
  },
  {
    form: "DECLARE of a table type",
    good: "DECLARE @a App.TaskIdList, @b App.EndedTaskList;",
    tree: { declarations: [{ type: { kind: "named" } }, { type: { kind: "named" } }] },
    bad: "DECLARE @a TaskIdList;",
    error: "expected a type, found `TaskIdList`",
  },
  {
    form: "DECLARE of a table variable",
    good: "DECLARE @t TABLE (A int NOT NULL PRIMARY KEY CLUSTERED, B int NULL UNIQUE, UNIQUE (A, B), INDEX IX NONCLUSTERED (B));",
    tree: {
      declarations: [
        {
          definition: {
            indexes: [
              { constraint: "primaryKey", isClustered: true },
              { constraint: "unique", isClustered: false },
              { constraint: "unique", columns: [{ name: "A" }, { name: "B" }] },
              { name: "IX", constraint: undefined, isUnique: false },
            ],
          },
        },
      ],
    },
    bad: "DECLARE @t TABLE (A int bigint NULL);",
    error: "expected ), found `bigint`",
  },
  {
    form: "lengths must be written",
    good: "DECLARE @a nvarchar(200), @b decimal(9, 1), @c datetime2(3);",
    bad: "DECLARE @a nvarchar;",
    error: "expected (, found `;`",
  },
  {
    form: "lengths have bounds",
    good: "DECLARE @a nvarchar(4000), @b varchar(8000);",
    bad: "DECLARE @a nvarchar(4001);",
    error: "expected a length of 1..4000",
  },
  {
    form: "SET of a variable",
    good: "SET @a = @b + 1; SET @a += 1;",
    tree: { operator: "+=" },
    bad: "SET @a == 1;",
    error: "expected a value, found `=`",
  },
  {
    form: "SET of options",
    good: "SET NOCOUNT, XACT_ABORT ON;",
    tree: { options: ["NOCOUNT", "XACT_ABORT"], isOn: true },
    bad: "SET NOCOUNT, XACT_ABRT ON;",
    error: "expected an option of the session, found `XACT_ABRT`",
  },
  {
    form: "SET LOCK_TIMEOUT",
    good: "SET LOCK_TIMEOUT -1;",
    tree: { milliseconds: -1 },
    bad: "SET LOCK_TIMEOUT ON;",
    error: "expected a whole number, found `ON`",
  },
  {
    form: "SET DEADLOCK_PRIORITY",
    good: "SET DEADLOCK_PRIORITY LOW;",
    tree: { priority: -5 },
    bad: "SET DEADLOCK_PRIORITY 11;",
    error: "expected a priority of -10..10",
  },
  {
    form: "SET TRANSACTION ISOLATION LEVEL",
    good: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;",
    tree: { level: "REPEATABLE READ" },
    bad: "SET TRANSACTION ISOLATION LEVEL COMMITTED;",
    error: "expected an isolation level, found `COMMITTED`",
  },
  {
    form: "SET IDENTITY_INSERT",
    good: "SET IDENTITY_INSERT dbo.T ON;",
    bad: "SET IDENTITY_INSERT dbo.T;",
    error: "expected ON or OFF, found `;`",
  },
  {
    form: "settings of a session that are its defaults anyway",
    good: "set textsize 2147483647\nset datefirst 7\nset dateformat mdy\nset language us_english",
    bad: "set dateformat dmy",
    error: "only the default of DATEFORMAT is simulated",
  },
  {
    form: "IF and ELSE, with and without ; before ELSE",
    good: "IF @a = 1 SET @b = 1; ELSE IF @a = 2 SET @b = 2 ELSE SET @b = 3;",
    tree: { otherwise: { kind: "if", otherwise: { kind: "setVariable" } } },
    bad: "IF @a = 1 ELSE SET @b = 3;",
    error: "expected a statement, found `ELSE`",
  },
  {
    form: "WHILE, BREAK, CONTINUE",
    good: "WHILE @a > 0 BEGIN IF @a = 3 BREAK; SET @a -= 1; CONTINUE; END;",
    bad: "WHILE (@a > 0) DO BEGIN BREAK; END;",
    error: "expected a statement, found `DO`",
  },
  {
    form: "BEGIN and END",
    good: "BEGIN SET @a = 1; SET @b = 2 END",
    bad: "BEGIN SET @a = 1;",
    error: "expected END, found the end",
  },
  {
    form: "an END too many",
    good: "BEGIN RETURN; END;",
    bad: "BEGIN RETURN; END; END;",
    error: "expected a statement, found `END`",
  },
  {
    form: "a block is not empty",
    good: "BEGIN RETURN; END;",
    bad: "BEGIN END;",
    error: "expected a statement, found `END`",
  },
  {
    form: "TRY and CATCH",
    good: "BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH THROW; END CATCH;",
    tree: { kind: "tryCatch", body: [{}], handler: [{ kind: "throw", error: undefined }] },
    bad: "BEGIN TRY SELECT 1 AS a; END TRY SELECT 2 AS b;",
    error: "expected BEGIN, found `SELECT`",
  },
  {
    form: "CATCH ends with END CATCH",
    good: "BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH END CATCH;",
    bad: "BEGIN TRY SELECT 1 AS a; END TRY BEGIN CATCH THROW; END TRY;",
    error: "expected a statement, found `END`",
  },
  {
    form: "THROW with an error",
    good: "IF @a = 1 THROW 50422, @vMessage, 1;",
    bad: "THROW 50000 + 1, @vMessage, 1;",
    error: "expected ,, found `+`",
  },
  {
    form: "THROW stands behind a ;",
    good: "ROLLBACK; THROW;",
    bad: "SET @a = 1 THROW 50000, 'a', 1;",
    error: "expected ; before THROW",
  },
  {
    form: "THROW is no savepoint",
    good: "ROLLBACK TRANSACTION; THROW;",
    bad: "ROLLBACK TRANSACTION THROW;",
    error: "expected ; before THROW",
  },
  {
    form: "RAISERROR",
    good: "RAISERROR (N'%s', 16, 1, @a);",
    bad: "RAISERROR N'a', 16, 1;",
    error: "expected (, found `a`",
  },
  {
    form: "PRINT",
    good: "PRINT N'a';",
    bad: "PRINT;",
    error: "expected a value, found `;`",
  },
  {
    form: "RETURN with and without a value",
    good: "IF @a = 1 RETURN SELECT 1 AS b; RETURN CASE WHEN @a = 1 THEN 1 END;",
    tree: { kind: "return", value: { kind: "searchedCase" } },
    bad: "RETRUN 1;",
    error: "expected a statement, found `RETRUN`",
  },
  {
    form: "transactions",
    good: "BEGIN TRAN; SAVE TRANSACTION a; ROLLBACK TRANSACTION a; COMMIT TRANSACTION; ROLLBACK;",
    tree: { kind: "rollback", savepoint: undefined },
    bad: "COMIT TRANSACTION;",
    error: "expected a statement, found `COMIT`",
  },
  {
    form: "EXEC of the procedure that a variable names",
    good: "EXEC @r = @name @Resource = @a;",
    tree: {
      result: "@r",
      procedure: { variable: "@name" },
      arguments: [{ name: "@Resource" }],
    },
    bad: "EXEC @r = @name + N'x';",
    error: "expected",
  },
  {
    form: "EXEC with arguments by name, OUTPUT and a result",
    good: "EXEC @r = sys.sp_getapplock @Resource = N'a', @LockTimeout = -1, @DbPrincipal = NULL, @x = @y OUTPUT, @z = DEFAULT;",
    tree: {
      result: "@r",
      arguments: [
        { name: "@Resource" },
        { value: { kind: "literal", value: -1 } },
        { value: { kind: "null" } },
        { isOutput: true },
        { value: undefined },
      ],
    },
    bad: "EXEC dbo.P @a = @b + 1;",
    error: "expected a statement, found `+`",
  },
  {
    form: "EXEC with arguments by place",
    good: "EXEC dbo.P 1, @a, @b OUTPUT;",
    bad: "EXEC dbo.P @a = 1, 2;",
    error: "an argument without a name stands behind a named one (error 119)",
  },
  {
    form: "OUTPUT needs a variable",
    good: "EXEC dbo.P @a = @b OUTPUT;",
    bad: "EXEC dbo.P @a = 1 OUTPUT;",
    error: "OUTPUT needs a variable (error 179)",
  },
  {
    form: "EXECUTE AS, REVERT",
    good: "EXECUTE AS USER = 'a'; REVERT; EXEC AS USER = N'b'; REVERT;",
    bad: "EXECUTE AS LOGIN = 'a';",
    error: "expected USER, found `LOGIN`",
  },
  {
    form: "EXEC of a text",
    good: "EXEC (N'SELECT ' + @a);",
    bad: "EXEC N'SELECT 1';",
    error: "expected a name, found `SELECT 1`",
  },
];

const writes: readonly FormCase[] = [
  {
    form: "INSERT of rows",
    good: "INSERT INTO dbo.T (A, B) OUTPUT inserted.A INTO @t (A) VALUES (1, DEFAULT), (2, 3);",
    bad: "INSERT INTO dbo.T (A, B) VALUES (1);",
    error: "expected rows of 2 values, found one of 1",
  },
  {
    form: "INSERT of a query",
    good: "INSERT INTO dbo.T WITH (TABLOCK) (A) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM dbo.T AS t) OPTION (MAXDOP 1);",
    bad: "INSERT dbo.T (A) SELECT 1;",
    error: "expected INTO, found `dbo`",
  },
  {
    form: "INSERT of what a procedure answers, and of defaults",
    good: "INSERT INTO @t (A) EXEC dbo.P; INSERT INTO dbo.T DEFAULT VALUES;",
    bad: "INSERT INTO @t (A);",
    error: "expected VALUES, SELECT, EXEC or DEFAULT VALUES, found `;`",
  },
  {
    form: "UPDATE through an alias",
    good: "UPDATE TOP (1) t SET A = 1, B += 2, C = DEFAULT OUTPUT inserted.A, deleted.A AS Old FROM dbo.T AS t WITH (ROWLOCK) WHERE t.A = 0;",
    bad: "UPDATE t SET t.A = 1 FROM dbo.T AS t;",
    error: "expected =, found `.`",
  },
  {
    form: "UPDATE of a part of a value",
    good: "UPDATE t SET A = 1, B.WRITE(@v, 2, DATALENGTH(@v)) FROM dbo.T AS t WHERE t.A = 0;",
    tree: {
      kind: "update",
      assignments: [
        { column: "A", part: undefined },
        { column: "B", operator: "=", part: { offset: {}, length: {} } },
      ],
    },
    bad: "UPDATE t SET t.B.WRITE(@v, 2, 3) FROM dbo.T AS t;",
    error: "expected =, found `.`",
  },
  {
    form: "UPDATE that keeps a value",
    good: "UPDATE dbo.T SET @a = A = @b, @c = B, C = @d;",
    tree: {
      assignments: [
        { variable: "@a", column: "A", value: { kind: "variable", name: "@b" } },
        { variable: "@c", column: undefined },
        { variable: undefined, column: "C" },
      ],
    },
    bad: "UPDATE dbo.T SET @a = A = B = 1;",
    error: "expected a value, found a condition",
  },
  {
    form: "DELETE, in its forms",
    good: "DELETE FROM dbo.T WHERE A = 1; DELETE t FROM dbo.T AS t; DELETE TOP (5) FROM dbo.T OUTPUT deleted.A INTO dbo.Log (A);",
    bad: "DELETE FROM dbo.T WERE A = 1;",
    error: "expected a statement, found `WERE`",
  },
  {
    form: "DELETE from a CTE",
    good: "WITH N AS (SELECT TOP (1) t.A FROM dbo.T AS t ORDER BY t.A) DELETE FROM N OUTPUT deleted.A INTO @t (A);",
    bad: "WITH N AS (SELECT TOP (1) t.A FROM dbo.T AS t) TRUNCATE TABLE N;",
    error: "expected SELECT, found `TRUNCATE`",
  },
];

describe("control", () => {
  describeForms(control);
});
describe("writes", () => {
  describeForms(writes);
});

describe("batches", () => {
  test("the word GO alone on its line separates batches; each starts behind its GO", () => {
    const batches = parseScript(
      "-- a\nSELECT 1 AS a;\nGO -- b\n\nSELECT 2 AS b\n go\n-- c\nGO\n",
      "f.sql",
    );
    expect(batches.map(({ text, line }) => [line, text])).toEqual([
      [1, "-- a\nSELECT 1 AS a;\n"],
      [4, "\nSELECT 2 AS b\n "],
    ]);
    expect(batches.map(({ statements }) => statements[0]?.line)).toEqual([2, 5]);
  });

  test("a GO in a text, a comment or behind another word is none", () => {
    expect(parseScript("SELECT '\nGO\n' AS a /*\nGO\n*/;", "f.sql")).toHaveLength(1);
    expect(() => parseScript("SELECT 1 AS a; GO\nSELECT 2 AS b;", "f.sql")).toThrow("found `GO`");
    expect(() => parseScript("SELECT 1 AS a;\nGO 5\n", "f.sql")).toThrow("found `GO`");
  });

  test("one batch is expected of a driver", () => {
    expect(() => parseStatements("SELECT 1 AS a;\nGO\nSELECT 2 AS b;", "f.sql")).toThrow(
      "f.sql:3: expected one batch, found GO",
    );
  });

  test("statements are numbered in the order of the text, over all batches", () => {
    const batches = parseScript("IF @a = 1 RETURN;\nGO\nBEGIN RETURN; END", "f.sql");
    const ids: number[] = [];
    JSON.stringify(batches, (key, value: unknown) => {
      if (key === "statementId" && typeof value === "number") ids.push(value);
      return value;
    });
    expect(ids.sort()).toEqual([1, 2, 3, 4]);
  });

  test("each statement knows where it stands in the file", () => {
    const text = "SELECT 1 AS a;\nGO\nIF @a = 1 WITH x AS (SELECT 1 AS b) DELETE FROM x;\n";
    const written = parseScript(text, "f.sql").flatMap(({ spans }) =>
      [...spans].map(([id, { start, end }]) => [id, text.slice(start, end)]),
    );
    expect(new Map(written as [number, string][])).toEqual(
      new Map([
        [1, "SELECT 1 AS a"],
        [2, "IF @a = 1 WITH x AS (SELECT 1 AS b) DELETE FROM x"],
        [3, "WITH x AS (SELECT 1 AS b) DELETE FROM x"],
      ]),
    );
  });

  test("a text is read once, and errors name file and line", () => {
    expect(parseScript("SELECT 1 AS a;", "f.sql")).toBe(parseScript("SELECT 1 AS a;", "f.sql"));
    expect(() => parseScript("SELECT 1 AS a;\nSELCT 2;", "f.sql")).toThrow(
      "f.sql:2: expected a statement, found `SELCT`",
    );
  });

  test("keywords in small letters and nothing at all are read", () => {
    expect(
      parseStatements("set nocount on\nset transaction isolation level read committed", "f"),
    ).toHaveLength(2);
    expect(parseStatements(" -- nothing\n;", "f")).toEqual([]);
  });
});
