import { describe } from "@jest/globals";
import { describeForms } from "./parser-cases";
import type { FormCase } from "./parser-cases";

const queries: readonly FormCase[] = [
  {
    form: "SELECT with all its clauses",
    good: "SELECT DISTINCT TOP (@n) t.A, t.B AS [From] FROM dbo.T AS t WHERE t.A = 1 GROUP BY t.A, t.B HAVING COUNT(*) > 1 ORDER BY t.A DESC, t.B;",
    bad: "SELECT t.A FORM dbo.T AS t;",
    error: "expected a statement, found `FORM`",
  },
  {
    form: "an alias needs its AS",
    good: "SELECT t.A AS B FROM dbo.T AS t;",
    bad: "SELECT t.A B FROM dbo.T AS t;",
    error: "expected a statement, found `B`",
  },
  {
    form: "TOP has parentheses",
    good: "SELECT TOP (1) t.A FROM dbo.T AS t;",
    bad: "SELECT TOP 1 t.A FROM dbo.T AS t;",
    error: "expected (, found `1`",
  },
  {
    form: "all columns",
    good: "SELECT t.*, * FROM dbo.T AS t;",
    tree: {
      query: { body: { items: [{ kind: "star", qualifier: "t" }, { qualifier: undefined }] } },
    },
    bad: "SELECT t.* AS x FROM dbo.T AS t;",
    error: "expected a statement, found `AS`",
  },
  {
    form: "ORDER BY with OFFSET",
    good: "SELECT t.A FROM dbo.T AS t ORDER BY t.A OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY;",
    bad: "SELECT t.A FROM dbo.T AS t ORDER BYE t.A;",
    error: "found `ORDER`",
  },
  {
    form: "UNION ALL, with one order for both",
    good: "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3 ORDER BY a;",
    tree: {
      query: {
        body: { operator: "unionAll", left: { operator: "unionAll" } },
        orderBy: [{ isDescending: false }],
      },
    },
    bad: "SELECT 1 AS a UNION ALL 2;",
    error: "expected SELECT, found `2`",
  },
  {
    form: "INTERSECT binds more than EXCEPT",
    good: "SELECT 1 AS a EXCEPT SELECT 2 INTERSECT SELECT 3;",
    tree: { query: { body: { operator: "except", right: { operator: "intersect" } } } },
    bad: "SELECT 1 AS a INTERSECT ALL SELECT 2;",
    error: "expected SELECT, found `ALL`",
  },
  {
    form: "assignments",
    good: "SELECT @a = t.A, @b += t.B FROM dbo.T AS t;",
    bad: "SELECT @a = t.A, t.B FROM dbo.T AS t;",
    error: "a SELECT that assigns variables can't answer rows (error 141)",
  },
  {
    form: "WITH, several",
    good: "WITH A (X) AS (SELECT 1), B AS (SELECT X FROM A) SELECT X FROM B;",
    bad: "SELECT 1 AS a WITH A AS (SELECT 2) SELECT 3;",
    error: "expected ; before WITH",
  },
  {
    form: "OPTION",
    good: "SELECT 1 AS a OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, OPTIMIZE FOR (@n = 100, @m UNKNOWN), RECOMPILE, KEEPFIXED PLAN, USE HINT ('DISABLE_TSQL_SCALAR_UDF_INLINING'));",
    bad: "SELECT 1 AS a OPTION (FORCED ORDER);",
    error: "expected a query hint, found `FORCED`",
  },
];

const sources: readonly FormCase[] = [
  {
    form: "joins, from left to right",
    good: "SELECT 1 AS a FROM dbo.A AS a INNER JOIN dbo.B AS b ON b.X = a.X LEFT JOIN dbo.C AS c ON c.X = a.X CROSS JOIN dbo.D AS d;",
    tree: { query: { body: { from: { type: "cross", left: { type: "left" } } } } },
    bad: "SELECT 1 AS a FROM dbo.A AS a INNER JOIN dbo.B AS b WHERE b.X = a.X;",
    error: "expected ON, found `WHERE`",
  },
  {
    form: "a loop join",
    good: "SELECT 1 AS a FROM dbo.A AS a INNER LOOP JOIN dbo.B AS b ON b.X = a.X;",
    tree: { query: { body: { from: { isLoop: true } } } },
    bad: "SELECT 1 AS a FROM dbo.A AS a INER JOIN dbo.B AS b ON b.X = a.X;",
    error: "expected a statement, found `INER`",
  },
  {
    form: "APPLY",
    good: "SELECT 1 AS a FROM dbo.A AS a CROSS APPLY (SELECT a.X + 1 AS Y) AS b OUTER APPLY (SELECT b.Y AS Z) AS c;",
    bad: "SELECT 1 AS a FROM dbo.A AS a CROSS APPLY (SELECT a.X AS Y) AS b ON b.Y = 1;",
    error: "expected a statement, found `ON`",
  },
  {
    form: "a derived table has an alias",
    good: "SELECT x.A FROM (SELECT 1) AS x (A);",
    bad: "SELECT x.A FROM (SELECT 1 AS A) x;",
    error: "expected AS, found `x`",
  },
  {
    form: "VALUES as a table",
    good: "SELECT v.A FROM (VALUES (1, 2), (3, 4)) AS v (A, B);",
    bad: "SELECT v.A FROM (VALUES (1, 2), (3)) AS v (A, B);",
    error: "expected rows of 2 values, found one of 1",
  },
  {
    form: "a table-valued function",
    good: "SELECT t.Ord FROM App._ReadTokens(@a) AS t;",
    bad: "SELECT t.Ord FROM _ReadTokens(@a) AS t;",
    error: "expected a function of our own with its schema",
  },
  {
    form: "OPENJSON without columns",
    good: "SELECT j.[key], j.[value] FROM OPENJSON(@a, N'$.hours') AS j;",
    bad: "SELECT j.key FROM OPENJSON(@a) AS j;",
    error: "expected a name, found `key`",
  },
  {
    form: "OPENJSON with columns",
    good: "SELECT v.A FROM OPENJSON(@a) WITH (A int, B nvarchar(10) COLLATE Latin1_General_100_BIN2 N'$.b', C nvarchar(max) '$.c' AS JSON) AS v;",
    tree: {
      query: {
        body: {
          from: { columns: [{ path: "$.A" }, { path: "$.b" }, { path: "$.c", isJson: true }] },
        },
      },
    },
    bad: "SELECT v.A FROM OPENJSON(@a) WITH (A nvarchar(10) N'$.a' AS JSON) AS v;",
    error: "AS JSON needs a column of nvarchar(max)",
  },
  {
    form: "a table variable",
    good: "SELECT t.A FROM @t AS t;",
    bad: "SELECT t.A FROM @t AS t WITH (UPDLOCK);",
    error: "expected ; before WITH",
  },
];

const hints: readonly FormCase[] = [
  {
    form: "table hints",
    good: "SELECT t.A FROM dbo.T AS t WITH (ROWLOCK, UPDLOCK, READPAST);",
    tree: {
      query: { body: { from: { hints: { locks: ["ROWLOCK", "UPDLOCK", "READPAST"] } } } },
    },
    bad: "SELECT t.A FROM dbo.T AS t WITH (READPASST);",
    error: "expected a table hint, found `READPASST`",
  },
  {
    form: "each hint once",
    good: "SELECT t.A FROM dbo.T AS t WITH (HOLDLOCK);",
    bad: "SELECT t.A FROM dbo.T AS t WITH (HOLDLOCK, HOLDLOCK);",
    error: "HOLDLOCK is written twice",
  },
  {
    form: "INDEX",
    good: "SELECT t.A FROM dbo.T AS t WITH (INDEX (PK_T), UPDLOCK);",
    tree: { query: { body: { from: { hints: { index: "PK_T" } } } } },
    bad: "SELECT t.A FROM dbo.T AS t WITH (INDEX (PK_T, IX_T));",
    error: "expected ), found `,`",
  },
  {
    form: "FORCESEEK alone",
    good: "SELECT t.A FROM dbo.T AS t WITH (FORCESEEK);",
    tree: {
      query: {
        body: { from: { hints: { isForceSeek: true, index: undefined, seekColumns: undefined } } },
      },
    },
    bad: "SELECT t.A FROM dbo.T AS t WITH (FORCESEEK, FORCESEEK);",
    error: "expected each hint once",
  },
  {
    form: "FORCESEEK with an index and its columns",
    good: "SELECT t.A FROM dbo.T AS t WITH (FORCESEEK (PK_T (A, B)));",
    tree: {
      query: {
        body: {
          from: { hints: { isForceSeek: true, index: "PK_T", seekColumns: ["A", "B"] } },
        },
      },
    },
    bad: "SELECT t.A FROM dbo.T AS t WITH (FORCESEEK (PK_T));",
    error: "expected (, found `)`",
  },
  {
    form: "hints stand behind WITH",
    good: "SELECT t.A FROM dbo.T AS t WITH (NOLOCK);",
    bad: "SELECT t.A FROM dbo.T (NOLOCK);",
    error: "expected WITH before a hint, found `(`",
  },
];

describe("queries", () => {
  describeForms(queries);
});
describe("sources", () => {
  describeForms(sources);
});
describe("hints", () => {
  describeForms(hints);
});
