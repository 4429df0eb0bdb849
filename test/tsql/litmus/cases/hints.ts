import { byLocking, byVersions, done, fails, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";
import { filteredRows, indexedRows, threeRows } from "../tables";

const hintsPage = "Table hints (Transact-SQL)";
const readpastThread =
  "Table hints (Transact-SQL), READPAST, as corrected by MicrosoftDocs/sql-docs pull request 10287";

/** UPDLOCK, XLOCK, TABLOCKX, NOWAIT, READPAST. */
export const hintCases: readonly LitmusCase[] = [
  {
    title: "UPDLOCK lets readers pass and keeps others with UPDLOCK waiting",
    rules: ["L1", "L10"],
    source: `${hintsPage}: UPDLOCK`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 1;",
        then: rows([10]),
        locks: { "PK_T U": 1 },
      },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (REPEATABLEREAD) WHERE Id = 1;",
        then: rows([10]),
      },
      {
        on: "C",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 1;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { C: rows([10]) } },
    ],
  },
  {
    title: "UPDLOCK reads the row as it is after the wait, not as it was",
    rules: ["L10"],
    source: `${hintsPage}: UPDLOCK takes locks also with READ_COMMITTED_SNAPSHOT on`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 1;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([11]) } },
    ],
  },
  {
    title: "XLOCK keeps readers that lock waiting",
    rules: ["L10"],
    source: `${hintsPage}: XLOCK`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, XLOCK) WHERE Id = 1;",
        then: rows([10]),
        locks: { "PK_T X": 1 },
      },
      { on: "B", sql: "SELECT V FROM dbo.T WITH (REPEATABLEREAD) WHERE Id = 1;", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([10]) } },
    ],
  },
  {
    title: "a hinted lock is kept to the end of the transaction, not of the statement",
    rules: ["L10"],
    source: `${hintsPage}: UPDLOCK is held until the transaction completes`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 1; SELECT V FROM dbo.T WHERE Id = 3;",
        then: rows([30]),
        locks: { "PK_T U": 1 },
      },
    ],
  },
  {
    title: "a hinted lock on a row that a test on another column rejects stays",
    rules: ["L12"],
    source: "dba.stackexchange.com 61433, answer by Paul White",
    setup: threeRows,
    unverified:
      "the answer's two versions differ on rows that are rejected where they are read; the model keeps them here",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (PK_T)) WHERE V = 20;",
        then: rows([2]),
        locks: { "PK_T U": 3 },
      },
    ],
  },
  {
    title: "READPAST steps over a locked row: the page's own example",
    rules: ["L13", "L21"],
    source: `${hintsPage}: READPAST, rows 1 2 4 5 of 1 to 5 while 3 is changed`,
    setup: `${threeRows}
INSERT INTO dbo.T (Id, V) VALUES (4, 40), (5, 50);`,
    unverified:
      "with optimised locking (L21): a changed row whose key lock is gone is taken as locked",
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 8 WHERE Id = 3;", then: done },
      {
        on: "B",
        sql: "SELECT Id FROM dbo.T WITH (READCOMMITTEDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id;",
        then: rows([1], [2], [4], [5]),
      },
    ],
  },
  {
    title: "READPAST steps over new and deleted rows that aren't committed",
    rules: ["L13", "L21"],
    source: `${hintsPage}: READPAST`,
    setup: threeRows,
    unverified: "with optimised locking (L21)",
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; INSERT INTO dbo.T (Id, V) VALUES (4, 40); DELETE FROM dbo.T WHERE Id = 1;",
        then: done,
      },
      {
        on: "B",
        sql: "SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id;",
        then: rows([2], [3]),
      },
    ],
  },
  {
    title: "UPDLOCK with READPAST gives each caller another row",
    rules: ["L10", "L13"],
    source: `${hintsPage}: READPAST, for work queues`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id;",
        then: rows([1]),
        locks: { "PK_T U": 1 },
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id;",
        then: rows([2]),
        locks: { "PK_T U": 1 },
      },
      {
        on: "C",
        sql: "SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id;",
        then: rows([3]),
      },
    ],
  },
  {
    title: "READPAST steps over the row behind an index, too",
    rules: ["L4", "L13", "L21"],
    source: `${hintsPage}: READPAST skips row-level locks, in the index and in the lookup`,
    setup: indexedRows,
    unverified: "with optimised locking (L21)",
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "SELECT K, V FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (IX_T_K)) WHERE K <= 2 ORDER BY K;",
        then: rows([2, 20]),
      },
    ],
  },
  {
    title: "READPAST waits for a table lock",
    rules: ["L13", "L17"],
    source: `${hintsPage}: READPAST skips row locks only`,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT COUNT(*) AS n FROM dbo.T WITH (TABLOCKX, INDEX (PK_T));",
        then: rows([3]),
      },
      {
        on: "B",
        sql: "SELECT Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST) WHERE Id = 1;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([1]) } },
    ],
  },
  {
    title:
      "READPAST is about rows being found: a unique key that somebody else is making makes it wait",
    rules: ["L13", "L14"],
    source:
      "the lock list of two agents that claim from one table: an X on a key of the unique index waits",
    setup: filteredRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET State = 1 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "UPDATE t SET State = 1 FROM dbo.T AS t WITH (ROWLOCK, UPDLOCK, READPAST) WHERE t.Id = 2;",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: fails(2601) } },
    ],
  },
  {
    title: "READPAST at SERIALIZABLE is error 650",
    rules: ["L15"],
    source: readpastThread,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT Id FROM dbo.T WITH (READPAST) WHERE Id = 1;",
        then: fails(650),
      },
      {
        on: "B",
        sql: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT Id FROM dbo.T WITH (UPDLOCK, READPAST) WHERE Id = 1;",
        then: fails(650),
      },
    ],
  },
  {
    title: "READPAST beside HOLDLOCK is error 650",
    rules: ["L15"],
    source: readpastThread,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "SELECT Id FROM dbo.T WITH (READPAST, HOLDLOCK) WHERE Id = 1;",
        then: fails(650),
      },
      {
        on: "B",
        sql: "UPDATE t SET V = 1 FROM dbo.T AS t WITH (READPAST, SERIALIZABLE) WHERE t.Id = 1;",
        then: fails(650),
      },
    ],
  },
  {
    title: "READPAST works at REPEATABLE READ",
    rules: ["L15", "L21"],
    source: readpastThread,
    setup: threeRows,
    unverified: "with optimised locking (L21)",
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT Id FROM dbo.T WITH (READPAST, INDEX (PK_T)) ORDER BY Id;",
        then: rows([2], [3]),
      },
    ],
  },
  {
    title:
      "READPAST on a plain read with versions is refused; READCOMMITTEDLOCK beside it makes it work",
    rules: ["L16"],
    source: `${hintsPage}: READPAST with READ_COMMITTED_SNAPSHOT on`,
    setup: threeRows,
    unverified: "the number of the error",
    steps: [
      {
        on: "A",
        sql: "SELECT Id FROM dbo.T WITH (READPAST) WHERE Id = 1;",
        then: byVersions(rows([1]), fails(650)),
      },
      {
        on: "A",
        sql: "SELECT Id FROM dbo.T WITH (READCOMMITTEDLOCK, READPAST) WHERE Id = 1;",
        then: rows([1]),
      },
    ],
  },
  {
    title: "READPAST on the target of a write works with versions as well",
    rules: ["L16", "L21"],
    source: "Rebus.SqlServer issue 35, NServiceBus.SqlServer issue 1277",
    setup: threeRows,
    unverified: "with optimised locking (L21)",
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "UPDATE TOP (1) t SET V = 0 OUTPUT inserted.Id FROM dbo.T AS t WITH (READPAST, INDEX (PK_T));",
        then: rows([2]),
      },
    ],
  },
  {
    title: "NOWAIT fails with 1222 in place of waiting",
    rules: ["L23"],
    source: `${hintsPage}: NOWAIT is SET LOCK_TIMEOUT 0 for one table`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;", then: done },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, NOWAIT) WHERE Id = 1;",
        then: fails(1222),
      },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, NOWAIT) WHERE Id = 2;",
        then: rows([20]),
      },
    ],
  },
  {
    title: "a table lock waits for the intent of a writer, and the other way round",
    rules: ["L1", "L17"],
    source: "Transaction locking and row versioning guide: intent locks",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1;",
        then: done,
        locks: byLocking({ "PK_T X": 1 }, { "XACT X": 1 }),
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; SELECT COUNT(*) AS n FROM dbo.T WITH (TABLOCKX, INDEX (PK_T));",
        then: "waits",
      },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([3]) } },
      { on: "A", sql: "UPDATE dbo.T SET V = 12 WHERE Id = 1;", then: "waits" },
      { on: "B", sql: "COMMIT;", then: done, wakes: { A: done } },
    ],
  },
];
