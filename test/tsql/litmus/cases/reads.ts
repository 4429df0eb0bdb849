import { byLocking, byVersions, done, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";
import { indexedRows, threeRows } from "../tables";

const guide = "Transaction locking and row versioning guide";
const hintsPage = "Table hints (Transact-SQL)";

/** The rows that readers see, and their waits. */
export const readCases: readonly LitmusCase[] = [
  {
    title: "a reader waits for an open writer; with versions it sees the row as it was",
    rules: ["L1", "L6", "L8"],
    source: `${guide}: READ COMMITTED with and without READ_COMMITTED_SNAPSHOT`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WHERE Id = 1;",
        then: byVersions("waits", rows([10])),
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: byVersions({ B: rows([11]) }, {}) },
    ],
  },
  {
    title: "READCOMMITTEDLOCK waits for an open writer, versions or not",
    rules: ["L9"],
    source: `${hintsPage}: READCOMMITTEDLOCK`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (READCOMMITTEDLOCK) WHERE Id = 1;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([11]) } },
    ],
  },
  {
    title: "a reader that waited for a writer that rolls back sees the row as it was",
    rules: ["L9"],
    source: `${guide}: dirty reads are prevented at READ COMMITTED`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (READCOMMITTEDLOCK) WHERE Id = 1;",
        then: "waits",
      },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: { B: rows([10]) } },
    ],
  },
  {
    title: "READ COMMITTED lets go of a row after reading it: a second read may differ",
    rules: ["L6", "L8"],
    source: `${guide}: nonrepeatable reads at READ COMMITTED`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WHERE Id = 1;",
        then: rows([10]),
        locks: {},
      },
      { on: "B", sql: "UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      { on: "A", sql: "SELECT V FROM dbo.T WHERE Id = 1;", then: rows([11]) },
    ],
  },
  {
    title: "REPEATABLE READ keeps what it has read: a writer waits",
    rules: ["L6"],
    source: `${guide}: REPEATABLE READ`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRANSACTION; SELECT V FROM dbo.T WHERE Id = 1;",
        then: rows([10]),
        locks: { "PK_T S": 1 },
      },
      { on: "B", sql: "UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done }, locks: {} },
    ],
  },
  {
    title: "REPEATABLE READ doesn't keep new rows out",
    rules: ["L6"],
    source: `${guide}: phantom reads at REPEATABLE READ`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRANSACTION; SELECT Id FROM dbo.T WITH (INDEX (PK_T)) ORDER BY Id;",
        then: rows([1], [2], [3]),
      },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (4, 40);", then: done },
      {
        on: "A",
        sql: "SELECT Id FROM dbo.T WITH (INDEX (PK_T)) ORDER BY Id;",
        then: rows([1], [2], [3], [4]),
        locks: { "PK_T S": 4 },
      },
    ],
  },
  {
    title: "readers don't wait for readers",
    rules: ["L1"],
    source: `${guide}: Lock compatibility`,
    setup: threeRows,
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
        locks: { "PK_T S": 1 },
      },
    ],
  },
  {
    title: "NOLOCK reads what isn't committed",
    rules: ["L6"],
    source: `${hintsPage}: NOLOCK`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      { on: "B", sql: "SELECT V FROM dbo.T WITH (NOLOCK) WHERE Id = 1;", then: rows([11]) },
      { on: "A", sql: "ROLLBACK;", then: done },
      { on: "B", sql: "SELECT V FROM dbo.T WITH (NOLOCK) WHERE Id = 1;", then: rows([10]) },
    ],
  },
  {
    title: "a reader with versions sees neither half of an open transaction",
    rules: ["L8"],
    source: `${guide}: statement-level read consistency with READ_COMMITTED_SNAPSHOT`,
    setup: threeRows,
    engines: ["versioned", "azure"],
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; DELETE FROM dbo.T WHERE Id = 1; INSERT INTO dbo.T (Id, V) VALUES (4, 40); UPDATE dbo.T SET V = 21 WHERE Id = 2;",
        then: done,
      },
      {
        on: "B",
        sql: "SELECT Id, V FROM dbo.T WITH (INDEX (PK_T)) ORDER BY Id;",
        then: rows([1, 10], [2, 20], [3, 30]),
        locks: {},
      },
      { on: "A", sql: "COMMIT;", then: done },
      {
        on: "B",
        sql: "SELECT Id, V FROM dbo.T WITH (INDEX (PK_T)) ORDER BY Id;",
        then: rows([2, 21], [3, 30], [4, 40]),
      },
    ],
  },
  {
    title: "a transaction sees its own changes, versions or not",
    rules: ["L8"],
    source: `${guide}: row versioning, a transaction's own changes`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1; DELETE FROM dbo.T WHERE Id = 2; INSERT INTO dbo.T (Id, V) VALUES (4, 40); SELECT Id, V FROM dbo.T WITH (INDEX (PK_T)) ORDER BY Id;",
        then: rows([1, 11], [3, 30], [4, 40]),
      },
    ],
  },
  {
    title: "an index that has all columns is locked alone: the row itself stays free",
    rules: ["L4"],
    source: `${hintsPage}, Remarks: locks are taken on the keys of the index that is used`,
    setup: indexedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (IX_T_K)) WHERE K = 1;",
        then: rows([1]),
        locks: { "IX_T_K U": 1 },
      },
      { on: "B", sql: "UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      { on: "B", sql: "UPDATE dbo.T SET K = 9 WHERE Id = 1;", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "an index that lacks a column is locked, and then the row",
    rules: ["L4", "L10"],
    source: "dba.stackexchange.com 2063: lookups lock the index key first, then the clustered key",
    setup: indexedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (IX_T_K)) WHERE K = 1;",
        then: rows([10]),
        locks: { "IX_T_K U": 1, "PK_T U": 1 },
      },
      { on: "B", sql: "UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "a deleted row that isn't committed holds up readers that lock, not those with versions",
    rules: ["L6", "L8"],
    source: `${guide}: ghost records keep their lock until the deleting transaction ends`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; DELETE FROM dbo.T WHERE Id = 2;", then: done },
      {
        on: "B",
        sql: "SELECT Id FROM dbo.T WITH (INDEX (PK_T)) ORDER BY Id;",
        then: byVersions("waits", rows([1], [2], [3])),
      },
      {
        on: "A",
        sql: "COMMIT;",
        then: done,
        wakes: byVersions({ B: rows([1], [3]) }, {}),
      },
    ],
  },
  {
    title: "a new row that isn't committed holds up readers that lock, not those with versions",
    rules: ["L6", "L8"],
    source: `${guide}: dirty reads are prevented at READ COMMITTED`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; INSERT INTO dbo.T (Id, V) VALUES (4, 40);",
        then: done,
        locks: byLocking({ "PK_T X": 1 }, { "XACT X": 1 }),
      },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WHERE Id = 4;",
        then: byVersions("waits", rows()),
      },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: byVersions({ B: rows() }, {}) },
    ],
  },
];
