import { describe, expect, test } from "@jest/globals";
import type { Expression, Predicate } from "./ast";
import { describeForms, parseOne } from "./parser-cases";
import type { FormCase } from "./parser-cases";

function valueOf(text: string): Expression {
  const statement = parseOne(`SELECT ${text} AS v;`);
  if (statement.kind !== "selectStatement") throw new Error("expected a SELECT");
  const { body } = statement.query;
  const item = body.kind === "select" ? body.items[0] : undefined;
  if (item?.kind !== "value") throw new Error("expected a value");
  return item.value;
}

function conditionOf(text: string): Predicate {
  const statement = parseOne(`IF ${text} RETURN;`);
  if (statement.kind !== "if") throw new Error("expected an IF");
  return statement.condition;
}

describe("constants have the types that a server gives them", () => {
  test.each([
    ["1", { name: "int" }, 1],
    ["2147483647", { name: "int" }, 2147483647],
    ["2147483648", { name: "decimal", precision: 10, scale: 0 }, 2147483648n],
    ["2592000000", { name: "decimal", precision: 10, scale: 0 }, 2592000000n],
    ["1.50", { name: "decimal", precision: 3, scale: 2 }, 150n],
    ["0.5", { name: "decimal", precision: 1, scale: 1 }, 5n],
    ["1e3", { name: "float" }, 1000],
    ["'abc'", { name: "varchar", length: 3 }, "abc"],
    ["''", { name: "varchar", length: 1 }, ""],
    ["N'ü'", { name: "nvarchar", length: 1 }, "ü"],
    ["0x1", { name: "varbinary", length: 1 }, Uint8Array.of(1)],
  ])("the constant %s has the type that a server gives it", (text, type, value) => {
    expect(valueOf(text)).toEqual({ kind: "literal", type, value, line: 1 });
  });

  test("a long text is nvarchar(max)", () => {
    const text = `N'${"x".repeat(4001)}'`;
    expect(valueOf(text)).toMatchObject({ type: { name: "nvarchar", length: "max" } });
  });

  test("a text without N has ASCII characters only, and a number at most 38 digits", () => {
    expect(() => valueOf("'ü'")).toThrow("ASCII");
    expect(() => valueOf("1".repeat(39))).toThrow("38 digits");
  });
});

describe("precedence", () => {
  test("products bind more than sums, and both are read from the left", () => {
    expect(valueOf("1 - 2 - 3 * 4")).toMatchObject({
      operator: "-",
      left: { operator: "-" },
      right: { operator: "*" },
    });
  });

  test("a sign binds less than a product behind it", () => {
    expect(valueOf("1 / -2 * 3")).toMatchObject({
      operator: "/",
      right: { kind: "unary", operand: { operator: "*" } },
    });
  });

  test("COLLATE binds more than +", () => {
    expect(valueOf("N'a' + @b COLLATE Latin1_General_100_BIN2")).toMatchObject({
      operator: "+",
      right: { kind: "collate", collation: "Latin1_General_100_BIN2" },
    });
  });

  test("the operator NOT binds more than AND, AND more than OR", () => {
    expect(conditionOf("@a = 1 OR NOT @b = 2 AND @c = 3")).toMatchObject({
      kind: "or",
      right: { kind: "and", left: { kind: "not" } },
    });
  });

  test("parentheses may hold a value or a condition", () => {
    expect(conditionOf("(@a + 1) * 2 = (3)")).toMatchObject({ kind: "comparison" });
    expect(conditionOf("((@a = 1) OR (@b = 2)) AND @c = 3")).toMatchObject({ kind: "and" });
  });

  test("the AND of a BETWEEN is its own", () => {
    expect(conditionOf("@a BETWEEN 1 AND 2 AND @b = 3")).toMatchObject({
      kind: "and",
      left: { kind: "between" },
    });
  });
});

const values: readonly FormCase[] = [
  {
    form: "CASE value WHEN value",
    good: "SELECT CASE @a WHEN 1 THEN 2 ELSE 3 END AS x;",
    bad: "SELECT CASE @a WHEN 1 THEN 2 ELSE 3 AS x;",
    error: "expected END, found `AS`",
  },
  {
    form: "CASE WHEN condition",
    good: "SELECT CASE WHEN @a = 1 THEN 2 WHEN @a = 2 THEN 3 END AS x;",
    bad: "SELECT CASE WHEN @a THEN 2 END AS x;",
    error: "expected a condition, found a value",
  },
  {
    form: "IIF",
    good: "SELECT IIF(@a = 1, 2, 3) AS x;",
    bad: "SELECT IIF(@a, 2, 3) AS x;",
    error: "expected a condition, found a value",
  },
  {
    form: "CAST and TRY_CAST",
    good: "SELECT CAST(@a AS varbinary(16)) AS x, TRY_CAST(@a AS int) AS y;",
    bad: "SELECT CAST(@a, int) AS x;",
    error: "expected AS, found `,`",
  },
  {
    form: "CONVERT with and without a style",
    good: "SELECT CONVERT(nvarchar(23), @a, 121) AS x, TRY_CONVERT(datetimeoffset(3), @a) AS y;",
    bad: "SELECT CONVERT(nvarchar(23), @a, 121,) AS x;",
    error: "expected ), found `,`",
  },
  {
    form: "a function of the server",
    good: "SELECT REPLACE(@a, N'a', N'b') AS x, NEWID() AS y, LEFT(@a, 3) AS z;",
    bad: "SELECT REPLACE(@a, N'a') AS x;",
    error: "REPLACE takes 3 arguments, found 2",
  },
  {
    form: "an unknown function",
    good: "SELECT LOWER(@a) AS x;",
    bad: "SELECT TO_CHAR(@a, 121) AS x;",
    error: "expected a function of the server, or one of our own with its schema, found `TO_CHAR`",
  },
  {
    form: "a function that takes a part of a date",
    good: "SELECT DATEADD(MILLISECOND, -@a, @b) AS x, DATEDIFF_BIG(DAY, @a, @b) AS y;",
    bad: "SELECT DATEADD(ms, 1, @b) AS x;",
    error: "expected a part of a date, found `ms`",
  },
  {
    form: "a scalar function of our own",
    good: "SELECT App._Iso(@a) AS x;",
    bad: "SELECT _Iso(@a) AS x;",
    error: "expected a function of the server, or one of our own with its schema",
  },
  {
    form: "a variable of the server",
    good: "IF @@TRANCOUNT > 0 RETURN;",
    bad: "IF @@TRANSCOUNT > 0 RETURN;",
    error: "expected a variable of the server that is known here, found `@@TRANSCOUNT`",
  },
  {
    form: "aggregates",
    good: "SELECT COUNT(*) AS n, COUNT(DISTINCT t.A) AS d, SUM(t.A) AS s FROM dbo.T AS t GROUP BY t.B HAVING MAX(t.A) > 1;",
    bad: "SELECT SUM(*) AS n FROM dbo.T AS t;",
    error: "expected a value, found `*`",
  },
  {
    form: "STRING_AGG with and without an order",
    good: "SELECT STRING_AGG(t.A, N',') WITHIN GROUP (ORDER BY t.B DESC) AS x, STRING_AGG(t.A, N',') AS y FROM dbo.T AS t;",
    bad: "SELECT STRING_AGG(t.A) AS x FROM dbo.T AS t;",
    error: "expected ,, found `)`",
  },
  {
    form: "ROW_NUMBER over a window",
    good: "SELECT ROW_NUMBER() OVER (PARTITION BY t.A ORDER BY t.B, t.C) AS k FROM dbo.T AS t;",
    bad: "SELECT ROW_NUMBER() OVER (PARTITION BY t.A) AS k FROM dbo.T AS t;",
    error: "ROW_NUMBER needs an ORDER BY in its OVER",
  },
  {
    form: "an aggregate over a window, without a frame",
    good: "SELECT COUNT(*) OVER () AS n FROM dbo.T AS t;",
    bad: "SELECT SUM(t.A) OVER (ORDER BY t.B ROWS UNBOUNDED PRECEDING) AS n FROM dbo.T AS t;",
    error: "expected ), found `ROWS`",
  },
  {
    form: "NEXT VALUE FOR with and without an order",
    good: "SELECT NEXT VALUE FOR dbo.S OVER (ORDER BY t.A) AS n FROM dbo.T AS t;",
    bad: "SELECT NEXT VALUE dbo.S AS n;",
    error: "expected a statement, found `VALUE`",
  },
];

const conditions: readonly FormCase[] = [
  {
    form: "comparisons",
    good: "IF @a <> 1 AND @a != 2 AND @a <= 3 RETURN;",
    bad: "IF @a = 1 = 2 RETURN;",
    error: "expected a statement, found `=`",
  },
  {
    form: "a value is no condition",
    good: "IF @a = 1 RETURN;",
    bad: "IF @a RETURN;",
    error: "expected a condition, found a value",
  },
  {
    form: "a condition is no value",
    good: "SELECT CASE WHEN @a = 1 THEN 1 END AS x;",
    bad: "SELECT @a > 1 AS x;",
    error: "expected a value, found a condition",
  },
  {
    form: "IS NULL, IS NOT NULL",
    good: "IF @a IS NULL OR @b IS NOT NULL RETURN;",
    bad: "IF @a IS 1 RETURN;",
    error: "expected NULL, found `1`",
  },
  {
    form: "BETWEEN",
    good: "IF @a NOT BETWEEN 1 AND 1000 RETURN;",
    bad: "IF @a BETWEEN 1, 1000 RETURN;",
    error: "expected AND, found `,`",
  },
  {
    form: "LIKE",
    good: "IF @a LIKE N'%a!%' ESCAPE N'!' RETURN;",
    bad: "IF @a LIKE RETURN;",
    error: "expected a value, found `RETURN`",
  },
  {
    form: "IN a list and IN a query",
    good: "IF @a IN (1, 2) OR @a NOT IN (SELECT t.A FROM dbo.T AS t) RETURN;",
    bad: "IF @a IN () RETURN;",
    error: "expected a value, found `)`",
  },
  {
    form: "EXISTS",
    good: "IF NOT EXISTS (SELECT 1 FROM dbo.T AS t WHERE t.A = 1) RETURN;",
    bad: "IF EXISTS (1) RETURN;",
    error: "expected SELECT, found `1`",
  },
];

describe("values", () => {
  describeForms(values);
});
describe("conditions", () => {
  describeForms(conditions);
});
