import { done, fails, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";

const reseed = "DBCC CHECKIDENT (Transact-SQL), Remarks";
const restart = "ALTER SEQUENCE (Transact-SQL), RESTART";

const numbered = `CREATE TABLE dbo.T (
  Id bigint IDENTITY(1, 3) NOT NULL,
  V int NOT NULL,
  CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE SEQUENCE dbo.S AS bigint START WITH 1 INCREMENT BY 3 CACHE 1000;`;

const insert = "INSERT INTO dbo.T (V) VALUES (0);";
const last = "SELECT MAX(Id) AS n FROM dbo.T;";
const next = "SELECT NEXT VALUE FOR dbo.S AS n;";
const setTo = (value: number): string => `DBCC CHECKIDENT (N'dbo.T', RESEED, ${value});`;

/** Numbers that begin anew: identities and sequences. */
export const numberCases: readonly LitmusCase[] = [
  {
    title: "a new seed is the number of the first row of a table that has had none",
    rules: ["S"],
    source: reseed,
    setup: numbered,
    steps: [
      { on: "A", sql: `${setTo(50)} ${insert} ${last}`, then: rows([50]) },
      { on: "A", sql: `${insert} ${last}`, then: rows([53]) },
    ],
  },
  {
    title:
      "a new seed is one step below the next row's number where rows are there, or were deleted",
    rules: ["S"],
    source: reseed,
    setup: numbered,
    steps: [
      { on: "A", sql: `${insert} ${setTo(50)} ${insert} ${last}`, then: rows([53]) },
      { on: "A", sql: `DELETE FROM dbo.T; ${setTo(10)} ${insert} ${last}`, then: rows([13]) },
    ],
  },
  {
    title:
      "TRUNCATE TABLE begins with the first seed again, and makes the table one that has had no rows",
    rules: ["S"],
    source: `${reseed}; TRUNCATE TABLE (Transact-SQL): the counter is reset`,
    setup: numbered,
    steps: [
      {
        on: "A",
        sql: `${insert} ${insert} TRUNCATE TABLE dbo.T; ${insert} ${last}`,
        then: rows([1]),
      },
      { on: "A", sql: `TRUNCATE TABLE dbo.T; ${setTo(50)} ${insert} ${last}`, then: rows([50]) },
    ],
  },
  {
    title: "a seed below numbers that are there gives them again, which a key refuses",
    rules: ["S"],
    source: reseed,
    setup: numbered,
    steps: [
      { on: "A", sql: `${insert} ${insert} ${setTo(1)}`, then: done },
      { on: "A", sql: insert, then: fails(2627) },
    ],
  },
  {
    title: "a new seed is rolled back with its transaction",
    rules: ["S"],
    source:
      "SqlServerSimulator, CheckIdent_ReseedRollsBackWithItsTransaction: seen on SQL Server 2025",
    unverified: "seen by one project; no document says it",
    setup: numbered,
    steps: [
      { on: "A", sql: `${insert} BEGIN TRANSACTION; ${setTo(50)} ROLLBACK;`, then: done },
      { on: "A", sql: `${insert} ${last}`, then: rows([4]) },
    ],
  },
  {
    title: "a sequence that restarts gives that number next, and goes on in its own steps",
    rules: ["S"],
    source: restart,
    setup: numbered,
    steps: [
      { on: "A", sql: next, then: rows([1]) },
      { on: "A", sql: "ALTER SEQUENCE dbo.S RESTART WITH 50;", then: done },
      { on: "B", sql: next, then: rows([50]) },
      { on: "A", sql: next, then: rows([53]) },
      { on: "A", sql: "ALTER SEQUENCE dbo.S RESTART WITH 2;", then: done },
      { on: "A", sql: next, then: rows([2]) },
    ],
  },
  {
    title: "a restart is rolled back with its transaction",
    rules: ["S"],
    source:
      "Transaction locking and row versioning guide: changes of definitions are part of the transaction",
    unverified: "no document says it of the number that comes next",
    setup: numbered,
    steps: [
      { on: "A", sql: next, then: rows([1]) },
      {
        on: "A",
        sql: "BEGIN TRANSACTION; ALTER SEQUENCE dbo.S RESTART WITH 50; ROLLBACK;",
        then: done,
      },
      { on: "A", sql: next, then: rows([4]) },
    ],
  },
  {
    title:
      "a table without an identity, an unknown table and a number beyond the type get no new seed",
    rules: ["S"],
    source: "Database engine errors: 2501, 2560, 7997",
    setup: `CREATE TABLE dbo.U (V int NOT NULL PRIMARY KEY);
GO
CREATE TABLE dbo.T (Id tinyint IDENTITY(1, 1) NOT NULL PRIMARY KEY);`,
    steps: [
      { on: "A", sql: "DBCC CHECKIDENT (N'dbo.U', RESEED, 5);", then: fails(7997) },
      { on: "A", sql: "DBCC CHECKIDENT (N'dbo.None', RESEED, 5);", then: fails(2501) },
      { on: "A", sql: "DBCC CHECKIDENT (N'dbo.T', RESEED, 256);", then: fails(2560) },
    ],
  },
];
