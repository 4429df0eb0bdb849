import { describe, expect, test } from "@jest/globals";
import type { SqlValue } from "../values";
import { Bench } from "./bench";

/* Values as the server computes them: each row an expression and what it comes to. */

const bench = new Bench();

function value(expression: string): SqlValue {
  return bench.rows(`SELECT ${expression};`)[0]?.[0] ?? null;
}

const texts: [string, SqlValue][] = [
  ["LEN(N'a b  ')", 3],
  ["DATALENGTH(N'a b ')", 8],
  ["DATALENGTH(CONVERT(nvarchar(max), N'ab'))", 4n],
  ["DATALENGTH(CONVERT(varchar(max), N'añ€' COLLATE Latin1_General_100_BIN2_UTF8))", 6n],
  [
    `CONVERT(nvarchar(9), CONVERT(varchar(max), JSON_VALUE(N'["a\\ud83d\\ude00"]', '$[0]') COLLATE Latin1_General_100_BIN2_UTF8))`,
    "a\ud83d\ude00",
  ],
  [
    `CONVERT(nvarchar(9), CONVERT(varchar(max), JSON_VALUE(N'["a\\ud83db"]', '$[0]') COLLATE Latin1_General_100_BIN2_UTF8))`,
    "a\ufffdb",
  ],
  ["DATALENGTH(CONVERT(varchar(10), N'añ€'))", 3],
  ["CONVERT(varchar(10), N'aЖ')", "a?"],
  ["CONVERT(nvarchar(3), N'abcdef')", "abc"],
  ["CONVERT(nchar(4), N'ab')", "ab  "],
  ["N'a' + NULL", null],
  ["REPLACE(N'aXbx', N'x', N'-')", "a-b-"],
  ["REPLACE(N'aXbx' COLLATE Latin1_General_100_BIN2, N'x', N'-')", "aXb-"],
  ["REPLACE(N'a b', N' ', N'T')", "aTb"],
  ["LEFT(N'abc', 2) + RIGHT(N'abc', 1)", "abc"],
  ["SUBSTRING(N'abcdef', 0, 3)", "ab"],
  ["CHARINDEX(N'C', N'abc')", 3],
  ["CONCAT(N'a', 1, NULL, N'b')", "a1b"],
  ["QUOTENAME(N'a]b')", "[a]]b]"],
  ["STRING_ESCAPE(N'a\"/\\', 'json')", 'a\\"\\/\\\\'],
  ["UNICODE(N'😀' COLLATE Latin1_General_100_BIN2)", 55357],
  ["UNICODE(SUBSTRING(N'ab', 2, 1))", 98],
  ["UNICODE(N'')", null],
  ["ISNULL(CONVERT(nvarchar(2), NULL), N'long')", "lo"],
  ["COALESCE(NULL, N'x')", "x"],
  ["CASE WHEN N'abc' = N'ABC ' THEN 1 ELSE 0 END", 1],
  ["CASE WHEN N'abc' COLLATE Latin1_General_100_BIN2 = N'ABC' THEN 1 ELSE 0 END", 0],
  ["CASE WHEN N'a' = N'a ' COLLATE Latin1_General_100_BIN2 THEN 1 ELSE 0 END", 1],
  ["CASE WHEN N'a_c' LIKE N'a[_]%' THEN 1 ELSE 0 END", 1],
  ["CASE WHEN N'abc' LIKE N'a!_c' ESCAPE N'!' THEN 1 ELSE 0 END", 0],
  ["LEN(REPLICATE(N'ab', 3000))", 4000],
  ["DATALENGTH(REPLICATE(N'a', 4000) + N'b')", 8000],
];

const numbers: [string, SqlValue][] = [
  ["-7 / 2", -3],
  ["7 % -3", 1],
  ["-7 % 3", -1],
  ["1.5 * 2", 30n],
  ["10.0 / 4", 2_500_000n],
  ["CONVERT(decimal(9, 2), 1.005)", 101n],
  ["CONVERT(int, 2.9)", 2],
  ["CONVERT(bigint, 2) * 3000000000", 6_000_000_000n],
  ["POWER(CONVERT(bigint, 2), 40)", 1_099_511_627_776n],
  ["ABS(-3)", 3],
  ["CONVERT(nvarchar(20), CONVERT(decimal(9, 3), -0.5))", "-0.500"],
  ["TRY_CONVERT(bigint, N'1 2')", null],
  ["TRY_CONVERT(int, N'')", 0],
  ["TRY_CONVERT(tinyint, 256)", null],
  ["CONVERT(bit, N'true')", 1],
  ["CONVERT(bit, -5)", 1],
  ["CONVERT(varchar(2), 123)", "*"],
  ["NULLIF(1, 1)", null],
  ["CASE WHEN 1 = NULL THEN 1 WHEN NOT (1 = NULL) THEN 2 ELSE 3 END", 3],
  ["CASE WHEN 1 NOT IN (2, NULL) THEN 1 ELSE 0 END", 0],
];

const others: [string, SqlValue][] = [
  [
    "CONVERT(nvarchar(23), CONVERT(datetime2(3), N'2026-01-31T10:20:30.1235'), 121)",
    "2026-01-31 10:20:30.124",
  ],
  [
    "CONVERT(nvarchar(30), DATEADD(MONTH, 1, CONVERT(datetime2(0), N'2026-01-31')), 126)",
    "2026-02-28T00:00:00",
  ],
  [
    "DATEDIFF(MILLISECOND, CONVERT(datetime2(7), N'2026-01-01T00:00:00.0009'), CONVERT(datetime2(7), N'2026-01-01T00:00:00.001'))",
    1,
  ],
  ["DATEDIFF_BIG(SECOND, N'2026-01-01', N'2026-01-02')", 86_400n],
  [
    "CONVERT(nvarchar(30), CONVERT(datetime2(3), TRY_CONVERT(datetimeoffset(3), N'2026-01-01T12:00:00+02:00'), 1), 121)",
    "2026-01-01 10:00:00.000",
  ],
  ["TRY_CONVERT(datetimeoffset(3), N'2026-02-30')", null],
  [
    "CONVERT(nvarchar(30), CONVERT(datetime2(3), SWITCHOFFSET(TRY_CONVERT(datetimeoffset(3), N'2026-01-01T12:00:00+02:00'), 0)), 121)",
    "2026-01-01 10:00:00.000",
  ],
  ["SWITCHOFFSET(TRY_CONVERT(datetimeoffset(3), N'2026-02-30'), 0)", null],
  [
    "CONVERT(uniqueidentifier, N'0e984725-c51c-4bf4-9960-e1c80e27aba0')",
    "0E984725-C51C-4BF4-9960-E1C80E27ABA0",
  ],
  ["TRY_CONVERT(uniqueidentifier, N'0e984725')", null],
  [
    "CONVERT(nvarchar(50), CONVERT(varbinary(16), CONVERT(uniqueidentifier, N'0e984725-c51c-4bf4-9960-e1c80e27aba0')), 1)",
    "0x2547980E1CC5F44B9960E1C80E27ABA0",
  ],
  ['JSON_VALUE(N\'{"a":{"b c":[1,"z"]}}\', N\'$.a."b c"[1]\')', "z"],
  ["JSON_VALUE(N'{\"a\":{}}', N'$.a')", null],
  ["JSON_QUERY(N'{\"a\": {\"b\": 1.50}}', N'$.a')", '{"b": 1.50}'],
  ["ISJSON(N'1')", 0],
  ["ISJSON(N'[1,]')", 0],
  ["CASE WHEN CHECKSUM(N'a') = CHECKSUM(N'A') THEN 1 ELSE 0 END", 1],
];

describe("values", () => {
  test.each([...texts, ...numbers, ...others])(
    "the expression %s has the value that a server gives",
    (expression, expected) => {
      expect(value(expression)).toEqual(expected);
    },
  );
});

describe("errors of values", () => {
  const cases: [string, number][] = [
    ["2147483647 + 1", 8115],
    ["1 / 0", 8134],
    ["CONVERT(int, N'x')", 245],
    ["CONVERT(bigint, N'x')", 8114],
    ["CONVERT(tinyint, 300)", 220],
    ["CONVERT(smallint, N'70000')", 244],
    ["CONVERT(int, N'3000000000')", 248],
    ["CONVERT(int, 3000000000)", 8115],
    ["CONVERT(uniqueidentifier, N'x')", 8169],
    ["CONVERT(datetime2(3), N'31/01/2026')", 241],
    ["CONVERT(nvarchar(2), 123)", 8115],
    ["DATEADD(MILLISECOND, 3000000000, SYSUTCDATETIME())", 8115],
    ["DATEDIFF(MILLISECOND, N'2000-01-01', N'2026-01-01')", 535],
    ["(SELECT v.n FROM (VALUES (1), (2)) AS v (n))", 512],
    ["(SELECT STRING_AGG(v.n, N',') FROM (VALUES (REPLICATE(N'a', 4000)), (N'b')) AS v (n))", 9829],
    ["(SELECT SUM(v.n) FROM (VALUES (2147483647), (1)) AS v (n))", 8115],
    ["JSON_VALUE(N'no', N'$.a')", 13609],
    ["SYSUTCDATETIME() + 1", 402],
    ["CASE WHEN SYSUTCDATETIME() > 1 THEN 1 END", 206],
    ["NoSuch", 207],
    ["t.NoSuch", 4104],
  ];

  test.each(cases)("%s raises %d", (expression, number) => {
    expect(bench.errors(`SELECT ${expression};`)).toEqual([number]);
  });

  test("two columns of different collations don't join or compare, unless one says how", () => {
    const tables =
      "DECLARE @a TABLE (x nvarchar(9) COLLATE Latin1_General_100_BIN2 NULL, y nvarchar(9) NULL);";
    expect(bench.errors(`${tables} SELECT a.x + a.y FROM @a AS a;`)).toEqual([468]);
    expect(bench.errors(`${tables} SELECT 1 FROM @a AS a WHERE a.x = a.y;`)).toEqual([468]);
    expect(
      bench.errors(
        `${tables} SELECT N'' COLLATE Latin1_General_100_BIN2 + a.x + a.y FROM @a AS a;`,
      ),
    ).toEqual([]);
  });
});

describe("columns that are told", () => {
  test("the columns have the name as written, the type and whether NULL may come", () => {
    const { rowSets } = bench.ask(
      "SELECT COUNT(*) AS [Count], CONVERT(nvarchar(20), 1) AS Text, NULL AS Nothing, 1.50 AS Amount, N'ab' + N'c';",
    );
    expect(rowSets[0]?.columns).toEqual([
      { name: "Count", type: { name: "int" }, isNullable: false },
      { name: "Text", type: { name: "nvarchar", length: 20 }, isNullable: false },
      { name: "Nothing", type: { name: "int" }, isNullable: true },
      { name: "Amount", type: { name: "decimal", precision: 3, scale: 2 }, isNullable: false },
      { name: "", type: { name: "nvarchar", length: 3 }, isNullable: false },
    ]);
  });

  test("the columns of an outer join may be NULL", () => {
    const { rowSets } = bench.ask(
      "SELECT b.n FROM (VALUES (1)) AS a (n) LEFT JOIN (VALUES (2)) AS b (n) ON b.n = a.n;",
    );
    expect(rowSets[0]).toEqual({
      columns: [{ name: "n", type: { name: "int" }, isNullable: true }],
      rows: [[null]],
    });
  });
});
