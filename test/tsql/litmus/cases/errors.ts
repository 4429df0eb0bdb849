import { done, fails, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";
import { threeRows } from "../tables";

const xactAbort = "SET XACT_ABORT (Transact-SQL)";
const tryCatch = "TRY...CATCH (Transact-SQL): uncommittable transactions and XACT_STATE";
const duplicate = "INSERT INTO dbo.T (Id, V) VALUES (1, 0);";
const open = "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;";
const count = "SELECT @@TRANCOUNT AS n;";
const caught = "BEGIN CATCH SELECT XACT_STATE() AS s, ERROR_NUMBER() AS e; ROLLBACK; END CATCH;";

/** XACT_ABORT with and without TRY, doomed transactions, counts of transactions, time-outs. */
export const errorCases: readonly LitmusCase[] = [
  {
    title: "a duplicate key with XACT_ABORT OFF ends its statement; batch and transaction go on",
    rules: ["E"],
    source: xactAbort,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT OFF; ${open} ${duplicate} ${count}`,
        then: { errors: [2627], rows: [[1]] },
      },
      { on: "A", sql: "COMMIT; SELECT V FROM dbo.T WHERE Id = 1;", then: rows([11]) },
    ],
  },
  {
    title: "a duplicate key with XACT_ABORT ON ends the batch and rolls back",
    rules: ["E"],
    source: xactAbort,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} ${duplicate} ${count}`,
        then: { errors: [2627], rows: [] },
        locks: {},
      },
      {
        on: "A",
        sql: "SELECT @@TRANCOUNT AS n, V FROM dbo.T WHERE Id = 1;",
        then: rows([0, 10]),
      },
    ],
  },
  {
    title: "XACT_ABORT OFF inside TRY: the transaction can still be committed",
    rules: ["E"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT OFF; ${open} BEGIN TRY ${duplicate} END TRY BEGIN CATCH SELECT XACT_STATE() AS s, ERROR_NUMBER() AS e; COMMIT; END CATCH;`,
        then: rows([1, 2627]),
      },
      { on: "A", sql: "SELECT V FROM dbo.T WHERE Id = 1;", then: rows([11]) },
    ],
  },
  {
    title: "XACT_ABORT ON inside TRY: the transaction is doomed",
    rules: ["E"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} BEGIN TRY ${duplicate} END TRY ${caught}`,
        then: rows([-1, 2627]),
      },
      { on: "A", sql: "SELECT V FROM dbo.T WHERE Id = 1;", then: rows([10]) },
    ],
  },
  {
    title: "XACT_ABORT ON inside TRY without a transaction: nothing is doomed",
    rules: ["E"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; BEGIN TRY ${duplicate} END TRY BEGIN CATCH SELECT XACT_STATE() AS s, ERROR_NUMBER() AS e; END CATCH;`,
        then: rows([0, 2627]),
      },
    ],
  },
  {
    title: "a doomed transaction writes nothing: 3930",
    rules: ["E"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} BEGIN TRY ${duplicate} END TRY BEGIN CATCH UPDATE dbo.T SET V = 0 WHERE Id = 2; END CATCH;`,
        then: fails(3930),
      },
      { on: "A", sql: "SELECT @@TRANCOUNT AS n, V FROM dbo.T WHERE Id = 2;", then: rows([0, 20]) },
    ],
  },
  {
    title: "a doomed transaction can't be committed: 3930",
    rules: ["E"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} BEGIN TRY ${duplicate} END TRY BEGIN CATCH COMMIT; END CATCH;`,
        then: fails(3930),
      },
      { on: "A", sql: "SELECT @@TRANCOUNT AS n, V FROM dbo.T WHERE Id = 1;", then: rows([0, 10]) },
    ],
  },
  {
    title: "a doomed transaction may read",
    rules: ["E"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} BEGIN TRY ${duplicate} END TRY BEGIN CATCH SELECT V FROM dbo.T WHERE Id = 1; ROLLBACK; END CATCH;`,
        then: rows([11]),
      },
    ],
  },
  {
    title: "a batch that ends with a doomed transaction is told so and rolled back: 3998",
    rules: ["E"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} BEGIN TRY ${duplicate} END TRY BEGIN CATCH SELECT XACT_STATE() AS s; END CATCH;`,
        then: { errors: [3998], rows: [[-1]] },
        locks: {},
      },
      { on: "A", sql: count, then: rows([0]) },
    ],
  },
  {
    title: "THROW outside TRY ends the batch; with XACT_ABORT OFF the transaction stays open",
    rules: ["E"],
    source: "THROW (Transact-SQL); SET XACT_ABORT (Transact-SQL)",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT OFF; ${open} THROW 50001, N'no', 1; ${count}`,
        then: { errors: [50001], rows: [] },
      },
      { on: "A", sql: count, then: rows([1]) },
    ],
  },
  {
    title: "THROW outside TRY with XACT_ABORT ON rolls back",
    rules: ["E"],
    source: "THROW (Transact-SQL); SET XACT_ABORT (Transact-SQL)",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} THROW 50001, N'no', 1;`,
        then: fails(50001),
        locks: {},
      },
      { on: "A", sql: count, then: rows([0]) },
    ],
  },
  {
    title: "THROW inside TRY with XACT_ABORT ON dooms the transaction",
    rules: ["E"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} BEGIN TRY THROW 50001, N'no', 1; END TRY ${caught}`,
        then: rows([-1, 50001]),
      },
    ],
  },
  {
    title: "RAISERROR heeds XACT_ABORT as little as the batch does",
    rules: ["E"],
    source: `${xactAbort}: RAISERROR isn't affected`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT ON; ${open} RAISERROR (N'no', 16, 1); ${count}`,
        then: { errors: [50000], rows: [[1]] },
      },
    ],
  },
  {
    title: "THROW without arguments raises what was caught",
    rules: ["E"],
    source: "THROW (Transact-SQL)",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `BEGIN TRY ${duplicate} END TRY BEGIN CATCH THROW; END CATCH;`,
        then: fails(2627),
      },
    ],
  },
  {
    title: "a procedure that leaves a transaction open is told so: 266",
    rules: ["E"],
    source: "Database engine error 266",
    setup: `${threeRows}
GO
CREATE PROCEDURE dbo.P AS BEGIN TRANSACTION;
GO`,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT OFF; EXEC dbo.P; ${count}`,
        then: { errors: [266], rows: [[1]] },
      },
    ],
  },
  {
    title: "a procedure that ends its caller's transaction is told so: 266",
    rules: ["E"],
    source: "Database engine error 266",
    setup: `${threeRows}
GO
CREATE PROCEDURE dbo.P AS COMMIT TRANSACTION;
GO`,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT OFF; BEGIN TRANSACTION; EXEC dbo.P; ${count}`,
        then: { errors: [266], rows: [[0]] },
      },
    ],
  },
  {
    title: "a COMMIT and a ROLLBACK without a transaction raise 3902 and 3903",
    rules: ["E"],
    source: "Database engine errors 3902 and 3903",
    setup: threeRows,
    steps: [
      { on: "A", sql: "COMMIT;", then: fails(3902) },
      { on: "A", sql: "ROLLBACK;", then: fails(3903) },
    ],
  },
  {
    title: "transactions are counted: COMMIT ends one level, ROLLBACK all",
    rules: ["E"],
    source: "@@TRANCOUNT (Transact-SQL)",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `BEGIN TRANSACTION; BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1; COMMIT; ${count}`,
        then: rows([1]),
      },
      { on: "A", sql: `BEGIN TRANSACTION; ROLLBACK; ${count}`, then: rows([0]) },
      { on: "A", sql: "SELECT V FROM dbo.T WHERE Id = 1;", then: rows([10]) },
    ],
  },
  {
    title: "LOCK_TIMEOUT 0 fails with 1222 at once, and the transaction stays open",
    rules: ["L23"],
    source: "SET LOCK_TIMEOUT (Transact-SQL): the statement is cancelled, the transaction isn't",
    setup: threeRows,
    steps: [
      { on: "A", sql: open, then: done },
      {
        on: "B",
        sql: `SET XACT_ABORT OFF; SET LOCK_TIMEOUT 0; BEGIN TRANSACTION; UPDATE dbo.T SET V = 22 WHERE Id = 2; UPDATE dbo.T SET V = 12 WHERE Id = 1; ${count}`,
        then: { errors: [1222], rows: [[1]] },
      },
    ],
  },
  {
    title: "1222 with XACT_ABORT ON rolls back",
    rules: ["L23"],
    source: `${xactAbort}; SET LOCK_TIMEOUT (Transact-SQL)`,
    setup: threeRows,
    steps: [
      { on: "A", sql: open, then: done },
      {
        on: "B",
        sql: "SET XACT_ABORT ON; SET LOCK_TIMEOUT 0; BEGIN TRANSACTION; UPDATE dbo.T SET V = 22 WHERE Id = 2; UPDATE dbo.T SET V = 12 WHERE Id = 1;",
        then: fails(1222),
        locks: {},
      },
      { on: "B", sql: count, then: rows([0]) },
    ],
  },
  {
    title: "the victim of a deadlock may catch it: its transaction is doomed",
    rules: ["L22"],
    source: tryCatch,
    setup: threeRows,
    steps: [
      { on: "A", sql: open, then: done },
      {
        on: "B",
        sql: "SET DEADLOCK_PRIORITY LOW; BEGIN TRANSACTION; UPDATE dbo.T SET V = 22 WHERE Id = 2;",
        then: done,
      },
      { on: "A", sql: "UPDATE dbo.T SET V = 21 WHERE Id = 2;", then: "waits" },
      {
        on: "B",
        sql: `BEGIN TRY UPDATE dbo.T SET V = 12 WHERE Id = 1; END TRY ${caught}`,
        then: rows([-1, 1205]),
        wakes: { A: done },
      },
    ],
  },
  {
    title: "a level that a procedure sets is its own: the caller's comes back with it",
    rules: ["L6"],
    source: "SET TRANSACTION ISOLATION LEVEL (Transact-SQL), Remarks",
    setup: `${threeRows}
GO
CREATE PROCEDURE dbo.P AS SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
GO`,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; EXEC dbo.P; SELECT V FROM dbo.T WHERE Id = 1;",
        then: rows([10]),
        locks: {},
      },
    ],
  },
  {
    title: "SET options of a procedure are its own",
    rules: ["E"],
    source: "SET statements (Transact-SQL): a setting in a procedure ends with it",
    setup: `${threeRows}
GO
CREATE PROCEDURE dbo.P AS SET XACT_ABORT ON;
GO`,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT OFF; EXEC dbo.P; BEGIN TRANSACTION; ${duplicate} ${count}`,
        then: { errors: [2627], rows: [[1]] },
      },
    ],
  },
  {
    title: "a rollback to a savepoint undoes what came after it and frees no lock",
    rules: ["E"],
    source: "SAVE TRANSACTION (Transact-SQL)",
    setup: threeRows,
    engines: ["locking", "versioned"],
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SAVE TRANSACTION Before; UPDATE dbo.T SET V = 11 WHERE Id = 1; ROLLBACK TRANSACTION Before; SELECT V FROM dbo.T WHERE Id = 1;",
        then: rows([10]),
        locks: { "PK_T X": 1 },
      },
      { on: "B", sql: "UPDATE dbo.T SET V = 12 WHERE Id = 1;", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "division by zero ends its statement, and the batch goes on",
    rules: ["E"],
    source:
      "sommarskog.se, Error and Transaction Handling in SQL Server, Part Two: 8134 ends a statement",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT OFF; ${open} UPDATE dbo.T SET V = 1 / (Id - Id) WHERE Id = 2; ${count}`,
        then: { errors: [8134], rows: [[1]] },
      },
    ],
  },
  {
    title: "a text that is no number ends the batch and the transaction, even with XACT_ABORT OFF",
    rules: ["E"],
    source:
      "sommarskog.se, Error and Transaction Handling in SQL Server, Part Two: 245 aborts batch and transaction",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: `SET XACT_ABORT OFF; ${open} DECLARE @n int = CONVERT(int, N'x'); ${count}`,
        then: { errors: [245], rows: [] },
      },
      { on: "A", sql: count, then: rows([0]) },
    ],
  },
];
