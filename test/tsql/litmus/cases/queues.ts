import { byLocking, done, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";
import { indexedRows, threeRows } from "../tables";

const fifo =
  "Transaction locking and row versioning guide: requests are granted in order of arrival";
const claim =
  "SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY V;";

/** The order of waking, and tables used as queues. */
export const queueCases: readonly LitmusCase[] = [
  {
    title: "a reader that comes after a waiting writer waits behind it",
    rules: ["L3"],
    source: fifo,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (REPEATABLEREAD) WHERE Id = 1;",
        then: rows([10]),
      },
      { on: "B", sql: "UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: "waits" },
      { on: "C", sql: "SELECT V FROM dbo.T WITH (REPEATABLEREAD) WHERE Id = 1;", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done, C: rows([11]) } },
    ],
  },
  {
    title: "callers that wait for a row with UPDLOCK get it in order of arrival",
    rules: ["L3"],
    source: fifo,
    setup: threeRows,
    unverified: "with optimised locking that waiters of one key stay in order (K1)",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE t SET V = 11 FROM dbo.T AS t WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE t.Id = 1;",
        then: done,
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE Id = 1;",
        then: "waits",
      },
      {
        on: "C",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE Id = 1;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([11]) } },
      {
        on: "B",
        sql: "UPDATE t SET V = 12 FROM dbo.T AS t WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE t.Id = 1; COMMIT;",
        then: done,
        wakes: { C: rows([12]) },
      },
    ],
  },
  {
    title: "several readers are woken together",
    rules: ["L3"],
    source: fifo,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, XLOCK) WHERE Id = 1;",
        then: rows([10]),
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (REPEATABLEREAD) WHERE Id = 1;",
        then: "waits",
      },
      {
        on: "C",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (REPEATABLEREAD) WHERE Id = 1;",
        then: "waits",
      },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: { B: rows([10]), C: rows([10]) } },
    ],
  },
  {
    title:
      "a session that holds a lock and wants a stronger one stands before those that hold none",
    rules: ["L3"],
    source: fifo,
    setup: threeRows,
    unverified: "that a conversion always stands first",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (REPEATABLEREAD) WHERE Id = 1;",
        then: rows([10]),
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (REPEATABLEREAD) WHERE Id = 1;",
        then: rows([10]),
      },
      {
        on: "C",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, XLOCK) WHERE Id = 1;",
        then: "waits",
      },
      { on: "A", sql: "UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: "waits" },
      { on: "B", sql: "COMMIT;", then: done, wakes: { A: done } },
      { on: "A", sql: "COMMIT;", then: done, wakes: { C: rows([11]) } },
    ],
  },
  {
    title:
      "a caller that waits for a key of a failed statement is woken by the end of the transaction",
    rules: ["L3", "L14"],
    source:
      "Transaction locking and row versioning guide: locks are held to the end of the transaction",
    setup: threeRows,
    engines: ["locking", "versioned"],
    steps: [
      {
        on: "A",
        sql: "SET XACT_ABORT OFF; BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;",
        then: done,
      },
      { on: "B", sql: "UPDATE dbo.T SET V = V + 1 WHERE Id = 1;", then: "waits" },
      {
        on: "A",
        sql: "UPDATE dbo.T SET Id = 2 WHERE Id = 1;",
        then: { errors: [2627] },
      },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: { B: done } },
      { on: "B", sql: "SELECT V FROM dbo.T WHERE Id = 1;", then: rows([11]) },
    ],
  },
  {
    title: "TOP (1) in an order that no index has reads, and so reserves, every row",
    rules: ["L10", "L13"],
    source: "dba.stackexchange.com 92079",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `BEGIN TRANSACTION; ${claim}`,
        then: rows([1]),
        locks: { "PK_T U": 3 },
      },
      { on: "B", sql: claim, then: rows() },
    ],
  },
  {
    title: "the second caller gets the second row in the order of an index, too",
    rules: ["L10", "L13"],
    source: "dba.stackexchange.com 92079",
    setup: indexedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (IX_T_K)) ORDER BY K;",
        then: rows([1]),
        locks: { "IX_T_K U": 1 },
      },
      {
        on: "B",
        sql: "SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (IX_T_K)) ORDER BY K;",
        then: rows([2]),
      },
    ],
  },
  {
    title: "rows claimed by DELETE through a CTE come back when the claim is rolled back",
    rules: ["L13", "L21"],
    source: "Table hints (Transact-SQL), READPAST, for work queues",
    setup: threeRows,
    unverified: "with optimised locking (L21)",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; WITH Head AS (SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id) DELETE FROM Head OUTPUT deleted.Id;",
        then: rows([1]),
        locks: byLocking({ "PK_T X": 1 }, { "PK_T X": 1, "XACT X": 1 }),
      },
      {
        on: "B",
        sql: "WITH Head AS (SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id) DELETE FROM Head OUTPUT deleted.Id;",
        then: rows([2]),
      },
      { on: "A", sql: "ROLLBACK;", then: done },
      {
        on: "B",
        sql: "SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id;",
        then: rows([1], [3]),
      },
    ],
  },
  {
    title: "a probe that steps over locked rows says that there is none",
    rules: ["L9", "L13", "L21"],
    source: "Table hints (Transact-SQL), READPAST",
    setup: threeRows,
    unverified: "with optimised locking (L21)",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 0 WHERE Id <= 3;",
        then: done,
      },
      {
        on: "B",
        sql: "SELECT CASE WHEN EXISTS (SELECT 1 FROM dbo.T WITH (READCOMMITTEDLOCK, READPAST, INDEX (PK_T)) WHERE Id > 0) THEN 1 ELSE 0 END AS found;",
        then: rows([0]),
      },
      { on: "A", sql: "COMMIT;", then: done },
      {
        on: "B",
        sql: "SELECT CASE WHEN EXISTS (SELECT 1 FROM dbo.T WITH (READCOMMITTEDLOCK, READPAST, INDEX (PK_T)) WHERE Id > 0) THEN 1 ELSE 0 END AS found;",
        then: rows([1]),
      },
    ],
  },
];
