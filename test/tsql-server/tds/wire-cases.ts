import sql from "mssql";
import type { ISqlType } from "mssql";
import type { SqlType, SqlValue } from "../values";
import { ticksOfUnixEpoch } from "../values";

/* Values of every type as programs, the wire and the engine have them: the cases of wire.test.ts. */

/** Ticks of an instant in ISO 8601, and so many more. */
export function ticksOf(iso: string, more = 0n): bigint {
  return ticksOfUnixEpoch + BigInt(Date.parse(iso)) * 10_000n + more;
}

/** An identifier with all digits. */
export const guid = "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0";
const allBytes = Uint8Array.from({ length: 256 }, (_, index) => index);
const longText = "Ünïcode \u{1f512} ".repeat(3_000);

/** A parameter: what the program gives, and what the engine gets. */
export interface ParameterCase {
  title: string;
  declared: (() => ISqlType) | ISqlType | undefined;
  value: unknown;
  type: SqlType;
  got: SqlValue;
}

export const parameterCases: ParameterCase[] = [
  {
    title: "tinyint, most",
    declared: sql.TinyInt,
    value: 255,
    type: { name: "tinyint" },
    got: 255,
  },
  {
    title: "smallint, least",
    declared: sql.SmallInt,
    value: -32_768,
    type: { name: "smallint" },
    got: -32_768,
  },
  {
    title: "int, least",
    declared: sql.Int,
    value: -(2 ** 31),
    type: { name: "int" },
    got: -(2 ** 31),
  },
  { title: "int, null", declared: sql.Int, value: null, type: { name: "int" }, got: null },
  {
    title: "bigint from text, beyond 2^53",
    declared: sql.BigInt,
    value: "9223372036854775807",
    type: { name: "bigint" },
    got: 9_223_372_036_854_775_807n,
  },
  {
    title: "bigint from BigInt, least",
    declared: sql.BigInt,
    value: -(2n ** 63n),
    type: { name: "bigint" },
    got: -(2n ** 63n),
  },
  { title: "bigint, null", declared: sql.BigInt, value: null, type: { name: "bigint" }, got: null },
  { title: "bit, true", declared: sql.Bit, value: true, type: { name: "bit" }, got: 1 },
  { title: "bit, false", declared: sql.Bit, value: false, type: { name: "bit" }, got: 0 },
  { title: "bit, null", declared: sql.Bit, value: null, type: { name: "bit" }, got: null },
  { title: "float", declared: sql.Float, value: -1.5e300, type: { name: "float" }, got: -1.5e300 },
  { title: "float, null", declared: sql.Float, value: null, type: { name: "float" }, got: null },
  {
    title: "decimal, negative",
    declared: sql.Decimal(10, 2),
    value: -12.34,
    type: { name: "decimal", precision: 10, scale: 2 },
    got: -1_234n,
  },
  {
    title: "decimal, null",
    declared: sql.Decimal(10, 2),
    value: null,
    type: { name: "decimal", precision: 10, scale: 2 },
    got: null,
  },
  {
    title: "uniqueidentifier in lower case",
    declared: sql.UniqueIdentifier,
    value: guid.toLowerCase(),
    type: { name: "uniqueidentifier" },
    got: guid,
  },
  {
    title: "uniqueidentifier, null",
    declared: sql.UniqueIdentifier,
    value: null,
    type: { name: "uniqueidentifier" },
    got: null,
  },
  {
    title: "nvarchar(n), whole",
    declared: sql.NVarChar(9),
    value: "Prüfung\u{1f512}",
    type: { name: "nvarchar", length: 9 },
    got: "Prüfung\u{1f512}",
  },
  {
    title: "nvarchar(n), empty",
    declared: sql.NVarChar(20),
    value: "",
    type: { name: "nvarchar", length: 20 },
    got: "",
  },
  {
    title: "nvarchar(n), null",
    declared: sql.NVarChar(20),
    value: null,
    type: { name: "nvarchar", length: 20 },
    got: null,
  },
  {
    title: "nvarchar without a length: that of its value",
    declared: sql.NVarChar,
    value: "abc",
    type: { name: "nvarchar", length: 3 },
    got: "abc",
  },
  {
    title: "nvarchar without a length, null: the most",
    declared: sql.NVarChar,
    value: null,
    type: { name: "nvarchar", length: 4_000 },
    got: null,
  },
  {
    title: "nvarchar(max), over many packets",
    declared: sql.NVarChar(sql.MAX),
    value: longText,
    type: { name: "nvarchar", length: "max" },
    got: longText,
  },
  {
    title: "nvarchar(max), empty",
    declared: sql.NVarChar(sql.MAX),
    value: "",
    type: { name: "nvarchar", length: "max" },
    got: "",
  },
  {
    title: "nvarchar(max), null",
    declared: sql.NVarChar(sql.MAX),
    value: null,
    type: { name: "nvarchar", length: "max" },
    got: null,
  },
  {
    title: "varchar in code page 1252",
    declared: sql.VarChar(20),
    value: "Prüfung 1 €",
    type: { name: "varchar", length: 20 },
    got: "Prüfung 1 €",
  },
  {
    title: "varchar: what the code page lacks becomes a question mark in the driver",
    declared: sql.VarChar(20),
    value: "日",
    type: { name: "varchar", length: 20 },
    got: "?",
  },
  {
    title: "varbinary(n)",
    declared: sql.VarBinary(300),
    value: Buffer.from(allBytes),
    type: { name: "varbinary", length: 300 },
    got: allBytes,
  },
  {
    title: "varbinary(max), null",
    declared: sql.VarBinary(sql.MAX),
    value: null,
    type: { name: "varbinary", length: "max" },
    got: null,
  },
  {
    title: "datetime2(3)",
    declared: sql.DateTime2(3),
    value: new Date("2026-06-01T12:34:56.789Z"),
    type: { name: "datetime2", scale: 3 },
    got: ticksOf("2026-06-01T12:34:56.789Z"),
  },
  {
    title: "datetime2(7) before 1970",
    declared: sql.DateTime2(7),
    value: new Date("1969-12-31T23:59:59.999Z"),
    type: { name: "datetime2", scale: 7 },
    got: ticksOf("1969-12-31T23:59:59.999Z"),
  },
  {
    title: "datetime2 without a scale: 7",
    declared: sql.DateTime2,
    value: new Date("2026-06-01T00:00:00.001Z"),
    type: { name: "datetime2", scale: 7 },
    got: ticksOf("2026-06-01T00:00:00.001Z"),
  },
  {
    title: "datetime2(3), null",
    declared: sql.DateTime2(3),
    value: null,
    type: { name: "datetime2", scale: 3 },
    got: null,
  },
  {
    title: "an undeclared whole number: int",
    declared: undefined,
    value: 5,
    type: { name: "int" },
    got: 5,
  },
  {
    title: "an undeclared whole number beyond 32 bits: bigint",
    declared: undefined,
    value: 2 ** 40,
    type: { name: "bigint" },
    got: 2n ** 40n,
  },
  {
    title: "an undeclared fraction: float",
    declared: undefined,
    value: 1.5,
    type: { name: "float" },
    got: 1.5,
  },
  {
    title: "an undeclared text: nvarchar of its length",
    declared: undefined,
    value: "text",
    type: { name: "nvarchar", length: 4 },
    got: "text",
  },
  {
    title: "an undeclared instant: datetime, to 1/300 s",
    declared: undefined,
    value: new Date("2026-06-01T12:34:56.788Z"),
    type: { name: "datetime" },
    got: ticksOf("2026-06-01T12:34:56.786Z", 6_667n),
  },
  {
    title: "an undeclared truth: bit",
    declared: undefined,
    value: true,
    type: { name: "bit" },
    got: 1,
  },
];

/** A column: what the engine gives, and what the program gets. */
export interface ColumnCase {
  title: string;
  slot: { type: SqlType; isNullable?: boolean };
  value: SqlValue;
  got: unknown;
}

export const varchar = (length: number | "max"): SqlType => ({ name: "varchar", length });
export const nvarchar = (length: number | "max"): SqlType => ({ name: "nvarchar", length });
export const datetime2 = (scale: number): SqlType => ({ name: "datetime2", scale });
export const decimal = (precision: number, scale: number): SqlType => ({
  name: "decimal",
  precision,
  scale,
});

export const columnCases: ColumnCase[] = [
  { title: "tinyint", slot: { type: { name: "tinyint" } }, value: 255, got: 255 },
  { title: "smallint", slot: { type: { name: "smallint" } }, value: -32_768, got: -32_768 },
  { title: "int", slot: { type: { name: "int" } }, value: -(2 ** 31), got: -(2 ** 31) },
  {
    title: "bigint, always text",
    slot: { type: { name: "bigint" } },
    value: 2n ** 63n - 1n,
    got: "9223372036854775807",
  },
  { title: "bigint, small", slot: { type: { name: "bigint" } }, value: -1n, got: "-1" },
  { title: "bit", slot: { type: { name: "bit" } }, value: 1, got: true },
  { title: "float", slot: { type: { name: "float" } }, value: -1.5e-300, got: -1.5e-300 },
  {
    title: "decimal(9,2)",
    slot: { type: decimal(9, 2) },
    value: -123_456_789n,
    got: -1_234_567.89,
  },
  { title: "decimal(19,0)", slot: { type: decimal(19, 0) }, value: 2n ** 53n, got: 2 ** 53 },
  {
    title: "decimal(28,2), beyond 64 bits",
    slot: { type: decimal(28, 2) },
    value: 2n ** 64n * 25n,
    got: 2 ** 62,
  },
  { title: "decimal(38,4)", slot: { type: decimal(38, 4) }, value: 15_000n, got: 1.5 },
  {
    title: "uniqueidentifier",
    slot: { type: { name: "uniqueidentifier" } },
    value: guid,
    got: guid,
  },
  {
    title: "nvarchar(n)",
    slot: { type: nvarchar(9) },
    value: "Prüfung\u{1f512}",
    got: "Prüfung\u{1f512}",
  },
  { title: "nvarchar(n), empty", slot: { type: nvarchar(9) }, value: "", got: "" },
  { title: "nvarchar(max)", slot: { type: nvarchar("max") }, value: longText, got: longText },
  { title: "nvarchar(max), empty", slot: { type: nvarchar("max") }, value: "", got: "" },
  { title: "nchar(n)", slot: { type: { name: "nchar", length: 4 } }, value: "ab  ", got: "ab  " },
  { title: "varchar(n)", slot: { type: varchar(20) }, value: "Prüfung €", got: "Prüfung €" },
  {
    title: "varchar(max)",
    slot: { type: varchar("max") },
    value: "é".repeat(9_000),
    got: "é".repeat(9_000),
  },
  { title: "char(n)", slot: { type: { name: "char", length: 3 } }, value: "a  ", got: "a  " },
  {
    title: "varbinary(n)",
    slot: { type: { name: "varbinary", length: 300 } },
    value: allBytes,
    got: Buffer.from(allBytes),
  },
  {
    title: "varbinary(max)",
    slot: { type: { name: "varbinary", length: "max" } },
    value: new Uint8Array(20_000).fill(7),
    got: Buffer.alloc(20_000, 7),
  },
  {
    title: "datetime2(0), first day",
    slot: { type: datetime2(0) },
    value: 0n,
    got: new Date("0001-01-01T00:00:00Z"),
  },
  {
    title: "datetime2(3)",
    slot: { type: datetime2(3) },
    value: ticksOf("2026-06-01T12:34:56.789Z"),
    got: new Date("2026-06-01T12:34:56.789Z"),
  },
  {
    title: "datetime2(7), last tick",
    slot: { type: datetime2(7) },
    value: ticksOf("9999-12-31T23:59:59.999Z", 9_999n),
    got: new Date("9999-12-31T23:59:59.999Z"),
  },
  {
    title: "datetime, to 1/300 s",
    slot: { type: { name: "datetime" } },
    value: ticksOf("2026-06-01T12:34:56.786Z", 6_667n),
    got: new Date("2026-06-01T12:34:56.787Z"),
  },
];
