import { done, fails, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";
import { threeRows } from "../tables";

const deferred = "Deferred name resolution and compilation";
const inline =
  "kendralittle.com 2021/10/18, deferred name resolution by kind of object: inline functions no; Erland Sommarskog on error 208 for one of another";

/** Names that CREATE needs, and names that are resolved later. */
export const creationCases: readonly LitmusCase[] = [
  {
    title: "an inline function that calls one that isn't there yet isn't made: 208",
    rules: ["N"],
    source: inline,
    setup: "CREATE FUNCTION dbo.Other () RETURNS TABLE AS RETURN SELECT 7 AS n;",
    steps: [
      {
        on: "A",
        sql: "CREATE FUNCTION dbo.A () RETURNS TABLE AS RETURN SELECT b.n FROM dbo.B() AS b;",
        then: fails(208),
      },
      {
        on: "A",
        sql: "CREATE FUNCTION dbo.B () RETURNS TABLE AS RETURN SELECT o.n FROM dbo.Other() AS o;",
        then: done,
      },
      {
        on: "A",
        sql: "CREATE FUNCTION dbo.A () RETURNS TABLE AS RETURN SELECT b.n FROM dbo.B() AS b;",
        then: done,
      },
      { on: "A", sql: "SELECT a.n FROM dbo.A() AS a;", then: rows([7]) },
    ],
  },
  {
    title: "an inline function over a table that isn't there, or a column, isn't made: 208, 207",
    rules: ["N"],
    source: inline,
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "CREATE FUNCTION dbo.A () RETURNS TABLE AS RETURN SELECT x.V FROM dbo.None AS x;",
        then: fails(208),
      },
      {
        on: "A",
        sql: "CREATE FUNCTION dbo.A () RETURNS TABLE AS RETURN SELECT W AS n FROM dbo.T;",
        then: fails(207),
      },
    ],
  },
  {
    title: "a view over what isn't there isn't made: 208",
    rules: ["N"],
    source: `CREATE VIEW (Transact-SQL); ${deferred}`,
    setup: threeRows,
    steps: [
      { on: "A", sql: "CREATE VIEW dbo.A AS SELECT x.V FROM dbo.None AS x;", then: fails(208) },
      { on: "A", sql: "CREATE VIEW dbo.A AS SELECT t.V FROM dbo.T AS t;", then: done },
    ],
  },
  {
    title: "a scalar function that an inline function or a view calls must be there: 4121",
    rules: ["N"],
    source: "error 4121; scalar functions are bound like columns",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "CREATE FUNCTION dbo.A () RETURNS TABLE AS RETURN SELECT dbo.None(1) AS n;",
        then: fails(4121),
      },
      {
        on: "A",
        sql: "CREATE VIEW dbo.A AS SELECT dbo.None(t.V) AS n FROM dbo.T AS t;",
        then: fails(4121),
      },
    ],
  },
  {
    title: "a procedure is made over what isn't there, and fails where it comes to it",
    rules: ["N"],
    source: deferred,
    setup: "CREATE PROCEDURE dbo.P AS BEGIN SELECT 1 AS n; SELECT x.V FROM dbo.Later AS x; END;",
    steps: [
      { on: "A", sql: "EXEC dbo.P;", then: fails(208) },
      { on: "A", sql: "CREATE TABLE dbo.Later (V int NOT NULL PRIMARY KEY);", then: done },
      { on: "A", sql: "EXEC dbo.P;", then: rows() },
    ],
  },
  {
    title: "a procedure calls one that is made later",
    rules: ["N"],
    source: deferred,
    setup: "CREATE PROCEDURE dbo.P AS EXEC dbo.Q;",
    steps: [
      { on: "A", sql: "EXEC dbo.P;", then: fails(2812) },
      { on: "A", sql: "CREATE PROCEDURE dbo.Q AS SELECT 5 AS n;", then: done },
      { on: "A", sql: "EXEC dbo.P;", then: rows([5]) },
    ],
  },
  {
    title: "a scalar function is made over what isn't there",
    rules: ["N"],
    source: deferred,
    setup:
      "CREATE FUNCTION dbo.F () RETURNS int AS BEGIN RETURN (SELECT MAX(x.V) FROM dbo.Later AS x); END;",
    steps: [
      { on: "A", sql: "SELECT dbo.F() AS n;", then: fails(208) },
      { on: "A", sql: "CREATE TABLE dbo.Later (V int NOT NULL PRIMARY KEY);", then: done },
      { on: "A", sql: "SELECT dbo.F() AS n;", then: rows([null]) },
    ],
  },
  {
    title: "a type must be there for whatever declares it, in procedures as well: 2715",
    rules: ["N"],
    source: "error 2715; deferred name resolution is for tables only",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "CREATE PROCEDURE dbo.P AS BEGIN DECLARE @n dbo.None; SELECT 1 AS n; END;",
        then: fails(2715),
      },
      {
        on: "A",
        sql: "CREATE PROCEDURE dbo.P @n dbo.None READONLY AS SELECT 1 AS n;",
        then: fails(2715),
      },
    ],
  },
  {
    title: "each column of an inline function or a view has a name, and one of its own",
    rules: ["N"],
    source: "CREATE VIEW (Transact-SQL), column: errors 4511 and 4506",
    setup: threeRows,
    steps: [
      { on: "A", sql: "CREATE VIEW dbo.A AS SELECT t.V + 1 FROM dbo.T AS t;", then: fails(4511) },
      {
        on: "A",
        sql: "CREATE VIEW dbo.A AS SELECT t.V, t.Id AS V FROM dbo.T AS t;",
        then: fails(4506),
      },
    ],
  },
  {
    title: "a default that takes from a sequence needs the sequence: 208",
    rules: ["N"],
    source: "CREATE SEQUENCE (Transact-SQL), examples; NEXT VALUE FOR in a DEFAULT",
    setup: threeRows,
    steps: [
      {
        on: "A",
        sql: "CREATE TABLE dbo.X (Id bigint NOT NULL DEFAULT (NEXT VALUE FOR dbo.None) PRIMARY KEY);",
        then: fails(208),
      },
    ],
  },
];
