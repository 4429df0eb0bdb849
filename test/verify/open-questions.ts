import { byLocking, done, fails, rows } from "../tsql/litmus/litmus-case";
import type { LitmusCase } from "../tsql/litmus/litmus-case";
import { indexedRows, threeRows } from "../tsql/litmus/tables";

/*
 * Scripts for what sources leave open, besides those of the litmus tests: the expected outcome is the model's, and
 * it wasn't seen on a server yet. They are run by `npm run verify`, and in the model, so that they say what it does.
 */

const noSource = "no document says it: inferred";

/** Each the only one of its question. */
export const openQuestions: readonly LitmusCase[] = [
  {
    title: "rows are found and locked before the first one is written",
    rules: ["L11"],
    source: noSource,
    setup: threeRows,
    unverified: "an update whose plan has no spool may write each row before it looks for the next",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 2;",
        then: rows([20]),
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; UPDATE t SET V = t.V + 1 OUTPUT inserted.Id FROM dbo.T AS t WITH (INDEX (PK_T));",
        then: "waits",
      },
      {
        on: "C",
        sql: "SELECT V FROM dbo.T WITH (READCOMMITTEDLOCK, NOWAIT) WHERE Id = 1;",
        then: rows([10]),
      },
    ],
  },
  {
    title: "an update of several rows changes all rows before it looks after an index",
    rules: ["L11", "L14"],
    source:
      "the lock list of two agents that claim from one table: rows and one index are done while a key of another waits",
    setup: indexedRows,
    unverified: "that is a wide plan; a narrow one goes row by row through all indexes",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (IX_T_K)) WHERE K = 1;",
        then: rows([1]),
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; UPDATE t SET K = t.K + 10 OUTPUT inserted.Id FROM dbo.T AS t WITH (INDEX (PK_T)) WHERE t.Id <= 2;",
        then: "waits",
      },
      {
        on: "C",
        sql: "SELECT V FROM dbo.T WITH (READCOMMITTEDLOCK, NOWAIT) WHERE Id = 2;",
        then: fails(1222),
      },
    ],
  },
  {
    title: "an update that sets an indexed column to what it was leaves the index alone",
    rules: ["L5"],
    source: noSource,
    setup: indexedRows,
    unverified: "whether the index's key is locked all the same",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (IX_T_K)) WHERE K = 1;",
        then: rows([1]),
      },
      { on: "B", sql: "UPDATE dbo.T SET K = 1 WHERE Id = 1;", then: done },
    ],
  },
  {
    title: "equal keys of an index that isn't unique are locked one by one",
    rules: ["L5", "L13"],
    source: noSource,
    setup: `${indexedRows}
GO
UPDATE dbo.T SET K = 7 WHERE Id <= 2;`,
    unverified: "that the clustered key is part of the resource",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (IX_T_K)) WHERE K = 7 ORDER BY K, Id;",
        then: rows([1]),
        locks: { "IX_T_K U": 1 },
      },
      {
        on: "B",
        sql: "SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (IX_T_K)) WHERE K = 7 ORDER BY K, Id;",
        then: rows([2]),
      },
    ],
  },
  {
    title: "the victim of a deadlock has lost its locks before it rolls back",
    rules: ["L22"],
    source: noSource,
    setup: threeRows,
    unverified: "whether CATCH still holds them until ROLLBACK",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;",
        then: done,
      },
      {
        on: "B",
        sql: "SET DEADLOCK_PRIORITY LOW; SET XACT_ABORT ON; BEGIN TRANSACTION; UPDATE dbo.T SET V = 22 WHERE Id = 2; UPDATE dbo.T SET V = 33 WHERE Id = 3;",
        then: done,
      },
      { on: "A", sql: "UPDATE dbo.T SET V = 21 WHERE Id = 2;", then: "waits" },
      {
        on: "B",
        sql: "BEGIN TRY UPDATE dbo.T SET V = 12 WHERE Id = 1; END TRY BEGIN CATCH SELECT XACT_STATE() AS s, COUNT(*) AS n FROM sys.dm_tran_locks AS l WHERE l.request_session_id = @@SPID AND l.resource_type = N'KEY'; ROLLBACK; END CATCH;",
        then: rows([-1, 0]),
        wakes: { A: done },
      },
    ],
  },
  {
    title: "a key whose holder has let go of it is met by way of the holder's transaction",
    rules: ["L14", "L19"],
    source: "Optimized locking: transaction id locking",
    setup: threeRows,
    unverified: "that a new unique key is waited for in the same way",
    engines: ["azure"],
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; INSERT INTO dbo.T (Id, V) VALUES (4, 40);",
        then: done,
        locks: byLocking({ "PK_T X": 1 }, { "XACT X": 1 }),
      },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (4, 41);", then: "waits" },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: { B: done } },
    ],
  },
];
