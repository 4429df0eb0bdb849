import { byLocking, done, fails, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";
import { filteredRows, indexedRows, threeRows } from "../tables";

const guide = "Transaction locking and row versioning guide";
const optimized = "Optimized locking";

/** The locks of writers, and the waits for them. */
export const writeCases: readonly LitmusCase[] = [
  {
    title: "an update keeps a lock on the rows it changed, not on those it passed",
    rules: ["L11", "L19"],
    source: "dba.stackexchange.com 61433: U is dropped where the row doesn't qualify",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE t SET V = 0 FROM dbo.T AS t WITH (INDEX (PK_T)) WHERE t.V = 20;",
        then: done,
        locks: byLocking({ "PK_T X": 1 }, { "XACT X": 1 }),
      },
    ],
  },
  {
    title:
      "the second of two updates of different rows without an index waits; with lock after qualification it doesn't",
    rules: ["L11", "L20"],
    source: `${optimized}: lock after qualification`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE V = 10;", then: done },
      {
        on: "B",
        sql: "UPDATE dbo.T SET V = 21 WHERE V = 20;",
        then: byLocking("waits", done),
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: byLocking({ B: done }, {}) },
    ],
  },
  {
    title:
      "a row that comes to qualify by an open change: waits and is changed; after qualification it is passed over",
    rules: ["L11", "L20"],
    source: `${optimized}: its example of two updates, a = 1 and b = 2`,
    setup: `CREATE TABLE dbo.T (A int NOT NULL, B int NOT NULL, CONSTRAINT PK_T PRIMARY KEY CLUSTERED (A) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO dbo.T (A, B) VALUES (1, 1);`,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET B = 2 WHERE A = 1;", then: done },
      {
        on: "B",
        sql: "UPDATE dbo.T SET B = 3 WHERE B = 2;",
        then: byLocking("waits", done),
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: byLocking({ B: done }, {}) },
      { on: "A", sql: "SELECT B FROM dbo.T WHERE A = 1;", then: byLocking(rows([3]), rows([2])) },
    ],
  },
  {
    title: "two updates of one row add up on every engine",
    rules: ["L11", "L20"],
    source: `${optimized}: the row is read again after the wait`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = V + 10 WHERE Id = 1;", then: done },
      { on: "B", sql: "UPDATE dbo.T SET V = V + 10 WHERE Id = 1;", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
      { on: "A", sql: "SELECT V FROM dbo.T WHERE Id = 1;", then: rows([30]) },
    ],
  },
  {
    title: "the lock after qualification stays away where a statement answers what it changed",
    rules: ["L20"],
    source: `${optimized}: limitations of lock after qualification`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE V = 10;", then: done },
      {
        on: "B",
        sql: "UPDATE dbo.T SET V = 21 OUTPUT inserted.Id WHERE V = 20;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([2]) } },
    ],
  },
  {
    title: "the lock after qualification stays away where a statement keeps a value",
    rules: ["L20"],
    source: `${optimized}: limitations of lock after qualification`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE V = 10;", then: done },
      {
        on: "B",
        sql: "DECLARE @v int; UPDATE dbo.T SET V = 21, @v = Id WHERE V = 20; SELECT @v AS v;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([2]) } },
    ],
  },
  {
    title: "the lock after qualification stays away from a table with a hint",
    rules: ["L20"],
    source: `${optimized}: limitations of lock after qualification`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE V = 10;", then: done },
      {
        on: "B",
        sql: "UPDATE t SET V = 21 FROM dbo.T AS t WITH (ROWLOCK, UPDLOCK) WHERE t.V = 20;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "optimised locking keeps one lock of the transaction, however many rows it changes",
    rules: ["L19"],
    source: `${optimized}: transaction id locking`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 1 WHERE Id = 1; UPDATE dbo.T SET V = 2 WHERE Id = 2; DELETE FROM dbo.T WHERE Id = 3;",
        then: done,
        locks: byLocking({ "PK_T X": 3 }, { "XACT X": 1 }),
      },
    ],
  },
  {
    title: "a hinted lock on a row that is then changed stays, with optimised locking too",
    rules: ["L19"],
    source: `${optimized}: locks asked for by hints are held to the end`,
    setup: threeRows,
    unverified: "that the U turned into X by the write is the one that stays",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 1; UPDATE t SET V = 11 FROM dbo.T AS t WITH (ROWLOCK, UPDLOCK) WHERE t.Id = 1;",
        then: done,
        locks: byLocking({ "PK_T X": 1 }, { "PK_T X": 1, "XACT X": 1 }),
      },
    ],
  },
  {
    title:
      "a caller that meets a changed row waits for its transaction and then reads the row anew",
    rules: ["L19"],
    source: `${optimized}: a waiting writer waits for S on the transaction id`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      { on: "B", sql: "UPDATE dbo.T SET V = V + 1 WHERE Id = 1;", then: "waits" },
      { on: "A", sql: "UPDATE dbo.T SET V = 12 WHERE Id = 1;", then: done },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
      { on: "A", sql: "SELECT V FROM dbo.T WHERE Id = 1;", then: rows([13]) },
    ],
  },
  {
    title: "a change of an indexed column locks the old and the new key of that index",
    rules: ["L5", "L19"],
    source: `${guide}: an update of a key is a deletion and an insertion in the index`,
    setup: indexedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE dbo.T SET K = 9 WHERE Id = 1;",
        then: done,
        locks: byLocking({ "PK_T X": 1, "IX_T_K X": 2 }, { "XACT X": 1 }),
      },
      {
        on: "B",
        sql: "SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (IX_T_K)) WHERE K = 1;",
        then: "waits",
      },
      {
        on: "C",
        sql: "SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (IX_T_K)) WHERE K = 9;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows(), C: rows([1]) } },
    ],
  },
  {
    title: "a change of a column that no index has locks the row alone",
    rules: ["L4", "L19"],
    source: "aboutsqlserver.com, Locking in Microsoft SQL Server (Part 18)",
    setup: indexedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;",
        then: done,
        locks: byLocking({ "PK_T X": 1 }, { "XACT X": 1 }),
      },
      {
        on: "B",
        sql: "SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (IX_T_K)) WHERE K = 1;",
        then: rows([1]),
      },
    ],
  },
  {
    title: "a row whose key is changed is waited for at its old place and at its new one",
    rules: ["L5", "L14"],
    source: `${guide}: an update of a key is a deletion and an insertion in the index`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET Id = 4 WHERE Id = 2;", then: done },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 2;",
        then: "waits",
      },
      {
        on: "C",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 4;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows(), C: rows([20]) } },
    ],
  },
  {
    title: "an equal key waits for the transaction that is inserting it; committed: 2627",
    rules: ["L14"],
    source: `${guide}: exclusive locks of an insert; error 2627`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; INSERT INTO dbo.T (Id, V) VALUES (4, 1);", then: done },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (4, 2);", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: fails(2627) } },
    ],
  },
  {
    title: "an equal key waits for the transaction that is inserting it; rolled back: it is free",
    rules: ["L14"],
    source: `${guide}: exclusive locks of an insert`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; INSERT INTO dbo.T (Id, V) VALUES (4, 1);", then: done },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (4, 2);", then: "waits" },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: { B: done } },
      { on: "A", sql: "SELECT V FROM dbo.T WHERE Id = 4;", then: rows([2]) },
    ],
  },
  {
    title: "a key that is being deleted is waited for; rolled back: 2627, committed: it is free",
    rules: ["L14"],
    source: `${guide}: a deleted key stays locked until the transaction ends`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; DELETE FROM dbo.T WHERE Id = 2;", then: done },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (2, 9);", then: "waits" },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: { B: fails(2627) } },
      { on: "A", sql: "BEGIN TRANSACTION; DELETE FROM dbo.T WHERE Id = 2;", then: done },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (2, 9);", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "a unique index is no constraint: its error is 2601",
    rules: ["L14"],
    source: "Database engine errors 2601 and 2627",
    setup: filteredRows,
    steps: [
      { on: "A", sql: "UPDATE dbo.T SET State = 1 WHERE Id = 1;", then: done },
      { on: "A", sql: "UPDATE dbo.T SET State = 1 WHERE Id = 2;", then: fails(2601) },
      { on: "A", sql: "INSERT INTO dbo.T (Id, K, State) VALUES (1, 8, 0);", then: fails(2627) },
    ],
  },
  {
    title: "a filtered unique index is about the rows of its filter",
    rules: ["L5", "L14"],
    source: "Create filtered indexes: uniqueness of the filtered rows",
    setup: filteredRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET State = 1 WHERE Id = 1;", then: done },
      { on: "B", sql: "INSERT INTO dbo.T (Id, K, State) VALUES (4, 7, 0);", then: done },
      { on: "B", sql: "UPDATE dbo.T SET State = 2 WHERE Id = 2;", then: done },
      { on: "B", sql: "UPDATE dbo.T SET State = 1 WHERE Id = 3;", then: "waits" },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "equal keys of an index that isn't unique don't wait for each other",
    rules: ["L5"],
    source: `${guide}: a row locator belongs to the key of a nonclustered index`,
    setup: indexedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; INSERT INTO dbo.T (Id, K, V) VALUES (4, 1, 0);",
        then: done,
        locks: byLocking({ "PK_T X": 1, "IX_T_K X": 1 }, { "XACT X": 1 }),
      },
      { on: "B", sql: "INSERT INTO dbo.T (Id, K, V) VALUES (5, 1, 0);", then: done },
    ],
  },
  {
    title: "a statement that fails is undone, and its locks stay",
    rules: ["L14"],
    source:
      "the lock list of two agents that claim from one table: the failed row's locks are in it",
    setup: threeRows,
    engines: ["locking", "versioned"],
    steps: [
      {
        on: "A",
        sql: "SET XACT_ABORT OFF; BEGIN TRANSACTION; INSERT INTO dbo.T (Id, V) VALUES (5, 1), (1, 1);",
        then: fails(2627),
      },
      { on: "A", sql: "SELECT COUNT(*) AS n FROM dbo.T WITH (INDEX (PK_T));", then: rows([3]) },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (5, 2);", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "two transactions that have read one row under S can't write it",
    rules: ["L1", "L22"],
    source: `${guide}: conversion deadlock, the reason for update locks`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; SELECT V FROM dbo.T WHERE Id = 1;",
        then: rows([10]),
      },
      {
        on: "B",
        sql: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; SELECT V FROM dbo.T WHERE Id = 1;",
        then: rows([10]),
      },
      { on: "A", sql: "UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: "waits" },
      { on: "B", sql: "UPDATE dbo.T SET V = 12 WHERE Id = 1;", then: "deadlock" },
    ],
  },
  {
    title: "the second of two transactions that read one row with UPDLOCK waits where it reads",
    rules: ["L10"],
    source: `${guide}: update locks avoid the conversion deadlock`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE Id = 1;",
        then: rows([10]),
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE Id = 1;",
        then: "waits",
      },
      {
        on: "A",
        sql: "UPDATE dbo.T SET V = 11 WHERE Id = 1; COMMIT;",
        then: done,
        wakes: { B: rows([11]) },
      },
      { on: "B", sql: "UPDATE dbo.T SET V = V + 1 WHERE Id = 1; COMMIT;", then: done },
      { on: "A", sql: "SELECT V FROM dbo.T WHERE Id = 1;", then: rows([12]) },
    ],
  },
  {
    title: "two transactions that write two rows in opposite order deadlock; the other one goes on",
    rules: ["L22"],
    source: "Deadlocks guide",
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      { on: "B", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 22 WHERE Id = 2;", then: done },
      { on: "A", sql: "UPDATE dbo.T SET V = 21 WHERE Id = 2;", then: "waits" },
      { on: "B", sql: "UPDATE dbo.T SET V = 12 WHERE Id = 1;", then: "deadlock" },
    ],
  },
];
