import { describe, expect, test } from "@jest/globals";
import { Bench } from "../engine/bench";
import { storedBytes, storedRow, wholeSize, widthOf } from "./stored-size";
import type { StoredRow } from "./stored-size";

/* Each expected number is added up in the comment beside it, by the formulas of the documentation. */

const bin2 = "Latin1_General_100_BIN2";

describe("bytes of a value", () => {
  test("a text takes the bytes of UTF-16, UTF-8 or a code page, as type and collation say", () => {
    const text = "é中😀";
    const max = { length: "max" as const };
    expect(storedBytes(text, { type: { name: "nvarchar", ...max }, collation: bin2 })).toBe(8); // 2 + 2 + 4
    const utf8 = `${bin2}_UTF8`;
    expect(storedBytes(text, { type: { name: "varchar", ...max }, collation: utf8 })).toBe(9); // 2 + 3 + 4
    expect(storedBytes("abc", { type: { name: "varchar", ...max }, collation: bin2 })).toBe(3);
    expect(storedBytes(null, { type: { name: "varchar", ...max }, collation: bin2 })).toBe(0);
  });

  test("the fixed widths are those of the documentation", () => {
    expect([
      widthOf({ name: "smallint" }),
      widthOf({ name: "bigint" }),
      widthOf({ name: "uniqueidentifier" }),
      widthOf({ name: "datetime2", scale: 3 }),
      widthOf({ name: "datetime2", scale: 7 }),
      widthOf({ name: "decimal", precision: 19, scale: 0 }),
      widthOf({ name: "nchar", length: 10 }),
    ]).toEqual([2, 8, 16, 7, 8, 9, 20]);
  });
});

describe("bytes of a row", () => {
  const bench = new Bench(`
    CREATE TABLE dbo.T (
      Id bigint NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED, A int NOT NULL, B bit NOT NULL, C bit NOT NULL,
      Name nvarchar(200) NOT NULL, Body nvarchar(max) NULL);
    CREATE INDEX IX_T_Name ON dbo.T (Name) INCLUDE (A);`);
  const table = bench.world.catalog.table({ schema: "dbo", name: "T", line: 1 });
  const [clustered, named] = table.indexes;
  const row = (body: string | null, index = clustered): StoredRow =>
    storedRow(table, index, [1n, 2, 0, 1, "abc", body]);

  test("a row takes a header, fixed columns, bits together, a null bitmap, and places and values of variable columns", () => {
    // 4 header + 8 + 4 + 1 for both bits + 2 + 1 null bitmap of 6 columns + 2 + 2 * 2 places + 6 of the name
    expect(wholeSize(row(null))).toBe(32);
    expect(row("x".repeat(100))).toEqual({ inRow: 232, outside: new Map() });
  });

  test("another index has its key, what it includes, and the clustered key", () => {
    if (named === undefined) throw new Error("The index isn't there");
    // 1 header + 8 + 4 + 2 + 1 null bitmap of 3 columns + 2 + 2 place + 6 of the name
    expect(wholeSize(row(null, named))).toBe(26);
  });

  test("a value that has no room in the row leaves a pointer there, and pieces of 8,040 bytes elsewhere", () => {
    // 32 + 24 of the pointer; 10,000 bytes in two pieces with 14 bytes of header each
    expect(row("x".repeat(5_000))).toEqual({
      inRow: 56,
      outside: new Map([[5, { bytes: 10_028, pieces: 2 }]]),
    });
    // 8,000 bytes alone would do, but 8,032 with the rest are less than 8,060, so it stays.
    expect(row("x".repeat(4_000)).inRow).toBe(8_032);
    expect(row("x".repeat(4_001)).inRow).toBe(56);
  });
});
