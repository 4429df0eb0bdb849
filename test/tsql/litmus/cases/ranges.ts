import { done, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";
import { gappedRows } from "../tables";

const guide = "Transaction locking and row versioning guide: Key-range locking";

/** Ranges between keys: what SERIALIZABLE and HOLDLOCK keep others from inserting. */
export const rangeCases: readonly LitmusCase[] = [
  {
    title: "HOLDLOCK on a whole unique key that exists locks that key and no range",
    rules: ["L7"],
    source: `${guide}, singleton fetch`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, HOLDLOCK) WHERE Id = 20;",
        then: rows([2]),
        locks: { "PK_T S": 1 },
      },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (19, 0), (21, 0);", then: done },
      { on: "B", sql: "UPDATE dbo.T SET V = 3 WHERE Id = 20;", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "HOLDLOCK on a key that is missing locks the range up to the next key",
    rules: ["L7", "L18"],
    source: `${guide}, nonexistent row`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, HOLDLOCK) WHERE Id = 15;",
        then: rows(),
        locks: { "PK_T RangeS-S": 1 },
      },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (25, 0);", then: done },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (11, 0);", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title:
      "SERIALIZABLE locks each key it reads and the next one behind, with the ranges before them",
    rules: ["L6", "L18"],
    source: `${guide}, range scan query`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (INDEX (PK_T)) WHERE Id BETWEEN 10 AND 20 ORDER BY Id;",
        then: rows([1], [2]),
        locks: { "PK_T RangeS-S": 3 },
      },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (35, 0);", then: done },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (15, 0);", then: "waits" },
      { on: "C", sql: "INSERT INTO dbo.T (Id, V) VALUES (25, 0);", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done, C: done } },
    ],
  },
  {
    title: "the range behind the last key reaches to the end of the index",
    rules: ["L6"],
    source: `${guide}: a range after the last key is locked at infinity`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (HOLDLOCK, INDEX (PK_T)) WHERE Id > 30;",
        then: rows(),
        locks: { "PK_T RangeS-S": 1 },
      },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (25, 0);", then: done },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (40, 0);", then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: done } },
    ],
  },
  {
    title: "UPDLOCK with HOLDLOCK keeps the place of a missing key for one caller",
    rules: ["L2", "L10"],
    source: `${guide}, RangeS-U`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE Id = 15;",
        then: rows(),
        locks: { "PK_T RangeS-U": 1 },
      },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE Id = 15;",
        then: "waits",
      },
      { on: "A", sql: "INSERT INTO dbo.T (Id, V) VALUES (15, 7);", then: done },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([7]) } },
    ],
  },
  {
    title: "UPDLOCK alone keeps nobody from inserting between the keys it has locked",
    rules: ["L10", "L18"],
    source: `${guide}: below SERIALIZABLE no ranges are locked`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, UPDLOCK, INDEX (PK_T)) WHERE Id BETWEEN 10 AND 30 ORDER BY Id;",
        then: rows([1], [2], [3]),
        locks: { "PK_T U": 3 },
      },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (15, 0);", then: done },
    ],
  },
  {
    title: "two inserts into one gap don't wait for each other",
    rules: ["L2", "L18"],
    source: `${guide}, RangeI-N`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; INSERT INTO dbo.T (Id, V) VALUES (15, 0);",
        then: done,
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; INSERT INTO dbo.T (Id, V) VALUES (16, 0);",
        then: done,
      },
      { on: "B", sql: "COMMIT;", then: done },
    ],
  },
  {
    title: "ranges of two readers don't exclude each other",
    rules: ["L2"],
    source: `${guide}, compatibility of RangeS-S`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, HOLDLOCK) WHERE Id = 15;",
        then: rows(),
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, HOLDLOCK) WHERE Id = 16;",
        then: rows(),
        locks: { "PK_T RangeS-S": 1 },
      },
    ],
  },
  {
    title: "two callers that look for a missing key under HOLDLOCK and then insert it deadlock",
    rules: ["L2", "L22"],
    source: `${guide}: RangeI-N doesn't fit with RangeS-S of another`,
    setup: gappedRows,
    steps: [
      {
        on: "A",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, HOLDLOCK) WHERE Id = 15;",
        then: rows(),
      },
      {
        on: "B",
        sql: "BEGIN TRANSACTION; SELECT V FROM dbo.T WITH (ROWLOCK, HOLDLOCK) WHERE Id = 16;",
        then: rows(),
      },
      { on: "A", sql: "INSERT INTO dbo.T (Id, V) VALUES (15, 0);", then: "waits" },
      { on: "B", sql: "INSERT INTO dbo.T (Id, V) VALUES (16, 0);", then: "deadlock" },
    ],
  },
  {
    title: "a range of a deleted key is kept until the deletion is over",
    rules: ["L6", "L18"],
    source: `${guide}, delete operation`,
    setup: gappedRows,
    engines: ["locking", "versioned"],
    steps: [
      { on: "A", sql: "BEGIN TRANSACTION; DELETE FROM dbo.T WHERE Id = 20;", then: done },
      {
        on: "B",
        sql: "SELECT V FROM dbo.T WITH (ROWLOCK, HOLDLOCK) WHERE Id = 20;",
        then: "waits",
      },
      { on: "A", sql: "ROLLBACK;", then: done, wakes: { B: rows([2]) } },
    ],
  },
];
