import { byVersions } from "../litmus-case";
import type { RaceCase } from "../litmus-case";
import { filteredRows, indexedRows, threeRows } from "../tables";

const hintsPage = "Table hints (Transact-SQL)";
const claim =
  "WITH Head AS (SELECT TOP (1) Id FROM dbo.T WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_T)) ORDER BY Id) DELETE FROM Head OUTPUT deleted.Id;";

/** Rules that only some orders of the steps inside statements show: every order is looked at. */
export const raceCases: readonly RaceCase[] = [
  {
    title:
      "a lookup through an index against an update of its key: a deadlock without versions, none with them",
    rules: ["L4", "L8", "L22"],
    source: "dba.stackexchange.com 2063",
    setup: indexedRows,
    callers: {
      A: ["SELECT V FROM dbo.T WITH (INDEX (IX_T_K)) WHERE K = 1;"],
      B: ["UPDATE dbo.T SET K = 9 WHERE Id = 1;"],
    },
    deadlock: byVersions("possible", "never"),
    wait: byVersions("possible", "never"),
  },
  {
    title:
      "a lookup through an index against a delete of its row: a deadlock without versions, none with them",
    rules: ["L4", "L8", "L22"],
    source: "sqlblog.com, Jonathan Kehayias: The Anatomy of a Deadlock (DELETE/SELECT)",
    setup: indexedRows,
    callers: {
      A: ["SELECT V FROM dbo.T WITH (INDEX (IX_T_K)) WHERE K = 1;"],
      B: ["DELETE FROM dbo.T WHERE Id = 1;"],
    },
    deadlock: byVersions("possible", "never"),
    wait: byVersions("possible", "never"),
  },
  {
    title: "the same lookup with locks: a deadlock on every engine",
    rules: ["L4", "L9", "L22"],
    source: "sqlblog.com, Jonathan Kehayias: The Anatomy of a Deadlock (DELETE/SELECT)",
    setup: indexedRows,
    callers: {
      A: ["SELECT V FROM dbo.T WITH (READCOMMITTEDLOCK, INDEX (IX_T_K)) WHERE K = 1;"],
      B: ["DELETE FROM dbo.T WHERE Id = 1;"],
    },
    deadlock: "possible",
    wait: "possible",
  },
  {
    title: "none when the delete has the index's key first, and steps over who reads there",
    rules: ["L4", "L13", "L22"],
    source: `${hintsPage}: READPAST skips row-level locks; sqlblog.com, The Anatomy of a Deadlock`,
    setup: indexedRows,
    callers: {
      A: ["SELECT V FROM dbo.T WITH (READCOMMITTEDLOCK, INDEX (IX_T_K)) WHERE K = 1;"],
      B: [
        "BEGIN TRANSACTION; DECLARE @found TABLE (Id int NOT NULL PRIMARY KEY CLUSTERED); INSERT INTO @found (Id) SELECT Id FROM dbo.T WITH (ROWLOCK, XLOCK, READPAST, INDEX (IX_T_K)) WHERE K = 1; DELETE t FROM @found AS f INNER JOIN dbo.T AS t ON t.Id = f.Id; COMMIT;",
      ],
    },
    deadlock: "never",
    wait: "possible",
  },
  {
    title: "two transactions that write two rows in opposite order can deadlock on every engine",
    rules: ["L22"],
    source: "Deadlocks guide",
    setup: threeRows,
    callers: {
      A: [
        "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1; UPDATE dbo.T SET V = 21 WHERE Id = 2; COMMIT;",
      ],
      B: [
        "BEGIN TRANSACTION; UPDATE dbo.T SET V = 22 WHERE Id = 2; UPDATE dbo.T SET V = 12 WHERE Id = 1; COMMIT;",
      ],
    },
    deadlock: "possible",
    end: {
      sql: "SELECT V FROM dbo.T WHERE Id <= 2 ORDER BY Id;",
      rows: [
        [[11], [21]],
        [[12], [22]],
      ],
    },
  },
  {
    title: "in the same order they wait and never deadlock",
    rules: ["L22"],
    source: "Deadlocks guide: access objects in the same order",
    setup: threeRows,
    callers: {
      A: [
        "BEGIN TRANSACTION; UPDATE dbo.T SET V = 11 WHERE Id = 1; UPDATE dbo.T SET V = 21 WHERE Id = 2; COMMIT;",
      ],
      B: [
        "BEGIN TRANSACTION; UPDATE dbo.T SET V = 12 WHERE Id = 1; UPDATE dbo.T SET V = 22 WHERE Id = 2; COMMIT;",
      ],
    },
    deadlock: "never",
    wait: "possible",
    end: {
      sql: "SELECT V FROM dbo.T WHERE Id <= 2 ORDER BY Id;",
      rows: [
        [[11], [21]],
        [[12], [22]],
      ],
    },
  },
  {
    title: "claims that step over locked rows never wait, and give each row once",
    rules: ["L13"],
    source: "Table hints (Transact-SQL), READPAST, for work queues",
    setup: `${threeRows} CREATE TABLE dbo.Taken (Id int NOT NULL, CONSTRAINT PK_Taken PRIMARY KEY CLUSTERED (Id) WITH (ALLOW_PAGE_LOCKS = OFF));`,
    callers: {
      A: [claim.replace(" OUTPUT deleted.Id", " OUTPUT deleted.Id INTO dbo.Taken (Id)")],
      B: [claim.replace(" OUTPUT deleted.Id", " OUTPUT deleted.Id INTO dbo.Taken (Id)")],
      C: [claim.replace(" OUTPUT deleted.Id", " OUTPUT deleted.Id INTO dbo.Taken (Id)")],
    },
    deadlock: "never",
    wait: "never",
    end: {
      sql: "SELECT Id FROM dbo.Taken WITH (INDEX (PK_Taken)) ORDER BY Id;",
      rows: [[[1], [2], [3]]],
    },
  },
  {
    title: "read, then write what was read: an update is lost at READ COMMITTED",
    rules: ["L6"],
    source: "Transaction locking and row versioning guide: lost updates",
    setup: threeRows,
    callers: {
      A: [
        "BEGIN TRANSACTION; DECLARE @v int; SELECT @v = V FROM dbo.T WHERE Id = 1; UPDATE dbo.T SET V = @v + 1 WHERE Id = 1; COMMIT;",
      ],
      B: [
        "BEGIN TRANSACTION; DECLARE @v int; SELECT @v = V FROM dbo.T WHERE Id = 1; UPDATE dbo.T SET V = @v + 1 WHERE Id = 1; COMMIT;",
      ],
    },
    deadlock: "never",
    end: { sql: "SELECT V FROM dbo.T WHERE Id = 1;", rows: [[[11]], [[12]]] },
  },
  {
    title: "the same with UPDLOCK: none is lost, and nobody deadlocks",
    rules: ["L10"],
    source: "Transaction locking and row versioning guide: update locks",
    setup: threeRows,
    callers: {
      A: [
        "BEGIN TRANSACTION; DECLARE @v int; SELECT @v = V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 1; UPDATE dbo.T SET V = @v + 1 WHERE Id = 1; COMMIT;",
      ],
      B: [
        "BEGIN TRANSACTION; DECLARE @v int; SELECT @v = V FROM dbo.T WITH (ROWLOCK, UPDLOCK) WHERE Id = 1; UPDATE dbo.T SET V = @v + 1 WHERE Id = 1; COMMIT;",
      ],
    },
    deadlock: "never",
    end: { sql: "SELECT V FROM dbo.T WHERE Id = 1;", rows: [[[12]]] },
  },
  {
    title: "the same at SERIALIZABLE: none is lost, but they deadlock",
    rules: ["L6", "L22"],
    source: "Transaction locking and row versioning guide: conversion deadlock",
    setup: threeRows,
    callers: {
      A: [
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; DECLARE @v int; SELECT @v = V FROM dbo.T WHERE Id = 1; UPDATE dbo.T SET V = @v + 1 WHERE Id = 1; COMMIT;",
      ],
      B: [
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; DECLARE @v int; SELECT @v = V FROM dbo.T WHERE Id = 1; UPDATE dbo.T SET V = @v + 1 WHERE Id = 1; COMMIT;",
      ],
    },
    deadlock: "possible",
    end: { sql: "SELECT V FROM dbo.T WHERE Id = 1;", rows: [[[12]]] },
  },
  {
    title: "a unique index among rows of a state lets one of two have it, in every order",
    rules: ["L14"],
    source: "Create filtered indexes: uniqueness of the filtered rows",
    setup: filteredRows,
    callers: {
      A: ["UPDATE dbo.T SET State = 1 WHERE Id = 1;"],
      B: ["UPDATE dbo.T SET State = 1 WHERE Id = 2;"],
    },
    deadlock: "never",
    errors: [2601],
    end: {
      sql: "SELECT COUNT(*) AS n FROM dbo.T WITH (INDEX (PK_T)) WHERE State = 1;",
      rows: [[[1]]],
    },
  },
];
