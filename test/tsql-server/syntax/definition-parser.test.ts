import { describe, expect, test } from "@jest/globals";
import { parseScript } from "./parser";
import { describeForms } from "./parser-cases";
import type { FormCase } from "./parser-cases";

const tables: readonly FormCase[] = [
  {
    form: "CREATE TABLE",
    good: `CREATE TABLE dbo.T (
      A int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED WITH (ALLOW_PAGE_LOCKS = OFF, FILLFACTOR = 80),
      B nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT DF_T_B DEFAULT (N'') CONSTRAINT CK_T_B CHECK (DATALENGTH(B) > 0),
      C AS (A + 1) PERSISTED,
      D int NULL REFERENCES dbo.U (A) ON DELETE CASCADE,
      CONSTRAINT UQ_T_B UNIQUE NONCLUSTERED (B DESC, A),
      CONSTRAINT CK_T CHECK (A > 0),
      CONSTRAINT FK_T FOREIGN KEY (A, D) REFERENCES dbo.V (A, D),
      INDEX IX_T UNIQUE (D) INCLUDE (B) WHERE D = 1);`,
    tree: {
      definition: {
        columns: [
          { name: "A", identity: { seed: 1n, increment: 1n }, isNullable: false },
          { name: "B", collation: "Latin1_General_100_BIN2", default: { name: "DF_T_B" } },
          { name: "C", type: undefined, computed: { isPersisted: true } },
          { name: "D", isNullable: true },
        ],
        indexes: [
          { name: "PK_T", isClustered: true, settings: { allowPageLocks: false, fillFactor: 80 } },
          { name: "UQ_T_B", isClustered: false, columns: [{ isDescending: true }, {}] },
          { name: "IX_T", include: ["B"], filter: { kind: "comparison" } },
        ],
        checks: [{ name: "CK_T_B" }, { name: "CK_T" }],
        foreignKeys: [{ onDelete: "cascade", columns: ["D"] }, { referenced: ["A", "D"] }],
      },
    },
    bad: "CREATE TABLE dbo.T (A int NOT NULL B int NULL);",
    error: "expected ), found `B`",
  },
  {
    form: "a primary key is clustered unless another index is",
    good: "CREATE TABLE dbo.T (A int NOT NULL PRIMARY KEY, CONSTRAINT U UNIQUE CLUSTERED (A));",
    tree: { definition: { indexes: [{ isClustered: false }, { isClustered: true }] } },
    bad: "CREATE TABLE dbo.T (A int NOT NULL CONSTRAINT PK_T PRIMRY KEY);",
    error: "expected DEFAULT, PRIMARY KEY, UNIQUE, CHECK or REFERENCES, found `PRIMRY`",
  },
  {
    form: "a property is written once",
    good: "CREATE TABLE dbo.T (A int NOT NULL);",
    bad: "CREATE TABLE dbo.T (A int NOT NULL NULL);",
    error: "a property is written twice",
  },
  {
    form: "a constraint of the table",
    good: "CREATE TABLE dbo.T (A int NOT NULL, CONSTRAINT PK_T PRIMARY KEY CLUSTERED (A));",
    bad: "CREATE TABLE dbo.T (A int NOT NULL, CONSTRAIT PK_T PRIMARY KEY CLUSTERED (A));",
    error: "expected a type, found `PK_T`",
  },
  {
    form: "settings of an index",
    good: "CREATE NONCLUSTERED INDEX IX ON dbo.T (A) WITH (ALLOW_PAGE_LOCKS = OFF, ONLINE = ON, DROP_EXISTING = ON);",
    tree: { index: { settings: { allowPageLocks: false, isOnline: true, dropsExisting: true } } },
    bad: "CREATE INDEX IX ON dbo.T (A) WITH (ALLOW_PAGE_LOKS = OFF);",
    error: "expected a setting of an index, found `ALLOW_PAGE_LOKS`",
  },
  {
    form: "CREATE INDEX with columns beside and a filter",
    good: "CREATE UNIQUE INDEX IX ON dbo.T (A, B DESC) INCLUDE (C) WHERE D IN (1, 3);",
    tree: { index: { isUnique: true, isClustered: false, filter: { kind: "inList" } } },
    bad: "CREATE UNIQUE INDEX IX dbo.T (A);",
    error: "expected ON, found `dbo`",
  },
  {
    form: "ALTER TABLE .. ADD",
    good: "ALTER TABLE dbo.T ADD B int NULL, CONSTRAINT CK_T CHECK (B > 0);",
    tree: { definition: { columns: [{ name: "B" }], checks: [{ name: "CK_T" }] } },
    bad: "ALTER TABLE dbo.T ADD COLUMN B int NULL;",
    error: "expected a column, found `COLUMN`",
  },
  {
    form: "ALTER TABLE .. DROP",
    good: "ALTER TABLE dbo.T DROP CONSTRAINT IF EXISTS CK_T, DF_T;",
    tree: { what: "constraint", ifExists: true, names: ["CK_T", "DF_T"] },
    bad: "ALTER TABLE dbo.T DROP CK_T;",
    error: "expected COLUMN or CONSTRAINT, found `CK_T`",
  },
  {
    form: "ALTER TABLE .. SET (LOCK_ESCALATION)",
    good: "ALTER TABLE dbo.T SET (LOCK_ESCALATION = DISABLE);",
    bad: "ALTER TABLE dbo.T SET (LOCK_ESCALATION = OFF);",
    error: "expected AUTO, TABLE or DISABLE, found `OFF`",
  },
  {
    form: "CREATE TYPE",
    good: "CREATE TYPE dbo.L AS TABLE (A int NOT NULL, PRIMARY KEY CLUSTERED (A));",
    bad: "CREATE TYPE dbo.L FROM int;",
    error: "expected AS, found `FROM`",
  },
  {
    form: "CREATE SEQUENCE",
    good: "CREATE SEQUENCE dbo.S AS bigint START WITH 1 INCREMENT BY 1 CACHE 1000;",
    tree: { start: 1n, increment: 1n, cache: 1000 },
    bad: "CREATE SEQUENCE dbo.S START 1;",
    error: "expected AS, found `START`",
  },
  {
    form: "ALTER SEQUENCE .. RESTART WITH",
    good: "ALTER SEQUENCE dbo.S RESTART WITH -5;",
    tree: { kind: "restartSequence", name: { schema: "dbo", name: "S" }, value: -5n },
    bad: "ALTER SEQUENCE dbo.S INCREMENT BY 2;",
    error: "expected RESTART, found `INCREMENT`",
  },
  {
    form: "ALTER SEQUENCE without a number, which begins with the first one",
    good: "ALTER SEQUENCE [dbo].[a b] RESTART WITH 1;",
    bad: "ALTER SEQUENCE dbo.S RESTART;",
    error: "expected WITH, found `;`",
  },
  {
    form: "DBCC CHECKIDENT with a seed",
    good: "DBCC CHECKIDENT ('[dbo].[a b]', RESEED, 50);",
    tree: { kind: "reseedIdentity", table: { schema: "dbo", name: "a b" }, value: 50n },
    bad: "DBCC CHECKIDENT (N'dbo.T', NORESEED);",
    error: "expected RESEED, found `NORESEED`",
  },
  {
    form: "the table of DBCC CHECKIDENT as a text of one or two names",
    good: "DBCC CHECKIDENT (N'T', RESEED, 50);",
    tree: { table: { schema: undefined, name: "T" } },
    bad: "DBCC CHECKIDENT (N'db.dbo.T', RESEED, 50);",
    error: "expected `table` or `schema.table`, found `db.dbo.T`",
  },
  {
    form: "no other command of DBCC",
    good: "DBCC CHECKIDENT (N'dbo.T', RESEED, 50);",
    bad: "DBCC CHECKTABLE (N'dbo.T');",
    error: "expected CHECKIDENT, found `CHECKTABLE`",
  },
];

const others: readonly FormCase[] = [
  {
    form: "CREATE SCHEMA",
    good: "CREATE SCHEMA App AUTHORIZATION dbo;",
    bad: "SET NOCOUNT ON; CREATE SCHEMA App;",
    error: "CREATE SCHEMA must be the first statement of its batch (error 111)",
  },
  {
    form: "CREATE ROLE, ALTER ROLE",
    good: "CREATE ROLE R; ALTER ROLE R ADD MEMBER [a b]; ALTER ROLE R DROP MEMBER [a b];",
    bad: "ALTER ROLE R ADD [a b];",
    error: "expected MEMBER, found `a b`",
  },
  {
    form: "CREATE USER",
    good: "CREATE USER [a b] WITH SID = 0x0102, TYPE = E; CREATE USER c WITHOUT LOGIN; CREATE USER d FOR LOGIN l; CREATE USER e WITH PASSWORD = 'x';",
    bad: "CREATE USER [a b] FROM EXTERNAL PROVIDER;",
    error: "expected LOGIN, found `EXTERNAL`",
  },
  {
    form: "CREATE LOGIN",
    good: "CREATE LOGIN [a b] WITH PASSWORD = N'x'; DROP LOGIN [a b];",
    bad: "CREATE LOGIN a WITH PASSWORD = x;",
    error: "expected a password, found `x`",
  },
  {
    form: "GRANT, DENY, REVOKE",
    good: "GRANT SELECT, EXECUTE ON SCHEMA::Flights TO R, S; DENY DELETE ON OBJECT::dbo.T TO R; REVOKE EXECUTE ON TYPE::dbo.L FROM R, public;",
    bad: "GRANT EXECUT ON OBJECT::dbo.P TO R;",
    error: "expected a right, found `EXECUT`",
  },
  {
    form: "the class of what a right is about is written",
    good: "GRANT EXECUTE ON OBJECT::dbo.P TO R;",
    bad: "GRANT EXECUTE ON dbo.P TO R;",
    error: "expected OBJECT, TYPE or SCHEMA, found `dbo`",
  },
  {
    form: "DROP",
    good: "DROP PROCEDURE IF EXISTS dbo.P, dbo.Q; DROP INDEX IX ON dbo.T; DROP USER [a b];",
    bad: "DROP dbo.P;",
    error: "expected what to drop, found `dbo`",
  },
  {
    form: "TRUNCATE TABLE",
    good: "TRUNCATE TABLE dbo.T;",
    bad: "TRUNCATE dbo.T;",
    error: "expected TABLE, found `dbo`",
  },
  {
    form: "ALTER DATABASE",
    good: "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH NO_WAIT; ALTER DATABASE [a] SET OPTIMIZED_LOCKING = ON;",
    bad: "ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT = ON;",
    error: "= stands before the value of OPTIMIZED_LOCKING only",
  },
];

const modules: readonly FormCase[] = [
  {
    form: "CREATE PROCEDURE: the whole rest is its body",
    good: "CREATE OR ALTER PROCEDURE dbo.P @a int, @b nvarchar(max) = NULL, @c int = -1, @d int OUTPUT, @e dbo.L READONLY AS SET @a = 1; SET @d = 2;",
    tree: {
      mode: "createOrAlter",
      parameters: [{}, { default: { kind: "null" } }, { default: { value: -1 } }, {}, {}],
      body: [{}, {}],
    },
    bad: "CREATE PROCEDURE dbo.P @a int @b int AS RETURN;",
    error: "expected AS, found `@b`",
  },
  {
    form: "a parameter of a table type is READONLY",
    good: "CREATE PROCEDURE dbo.P @a dbo.L READONLY AS RETURN;",
    bad: "CREATE PROCEDURE dbo.P @a dbo.L AS RETURN;",
    error: "@a: READONLY belongs to parameters of table types",
  },
  {
    form: "a module is first in its batch",
    good: "ALTER PROCEDURE dbo.P AS RETURN;",
    bad: "SET NOCOUNT ON; CREATE PROCEDURE dbo.P AS RETURN;",
    error: "must be the first statement of its batch (error 111)",
  },
  {
    form: "CREATE FUNCTION with a value",
    good: "CREATE FUNCTION dbo.F (@a int) RETURNS nvarchar(24) AS BEGIN IF @a = 1 RETURN N'a'; RETURN N'b'; END;",
    tree: { result: { kind: "scalar", body: [{}, {}] } },
    bad: "CREATE FUNCTION dbo.F (@a int) RETURNS int AS BEGIN IF @a = 1 RETURN 2; END;",
    error: "a function must end with RETURN (error 455)",
  },
  {
    form: "CREATE FUNCTION with rows",
    good: "CREATE FUNCTION dbo.F () RETURNS TABLE AS RETURN (WITH A AS (SELECT 1 AS X) SELECT X FROM A);",
    tree: { result: { kind: "inlineTable", ctes: [{ name: "A" }] } },
    bad: "CREATE FUNCTION dbo.F () RETURNS TABLE AS BEGIN RETURN SELECT 1 AS X; END;",
    error: "expected RETURN, found `BEGIN`",
  },
  {
    form: "CREATE VIEW",
    good: "CREATE OR ALTER VIEW dbo.V (X) AS SELECT 1 UNION ALL SELECT 2;",
    bad: "CREATE VIEW dbo.V AS SELECT 1 AS X; SELECT 2 AS Y;",
    error: "expected the end of the batch, found `SELECT`",
  },
];

describe("tables", () => {
  describeForms(tables);
});
describe("other objects", () => {
  describeForms(others);
});
describe("procedures, functions and views", () => {
  describeForms(modules);

  test("a file may hold several procedures, functions and views, a batch each", () => {
    const text =
      "CREATE VIEW dbo.V AS SELECT 1 AS X;\nGO\nCREATE PROCEDURE dbo.P AS BEGIN RETURN; END;\nGO\n";
    const kinds = parseScript(text, "f.sql").map(({ statements }) => statements[0]?.kind);
    expect(kinds).toEqual(["createView", "createProcedure"]);
  });
});
