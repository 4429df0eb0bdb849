/** Types and values of T-SQL as the simulation holds them: one representation from the parser to the wire. */

/** A scalar type as declared. Lengths count characters of nvarchar, bytes of varchar and varbinary. */
export type SqlType =
  | { name: "bit" | "tinyint" | "smallint" | "int" | "bigint" | "float" | "uniqueidentifier" }
  | { name: "nvarchar" | "varchar" | "nchar" | "char" | "varbinary"; length: number | "max" }
  | { name: "datetime2"; scale: number }
  | { name: "datetime" }
  | { name: "decimal"; precision: number; scale: number };

/**
 * A scalar value; the static type says how to read it.
 * bit (0 or 1), tinyint, smallint, int, float: number. bigint: bigint. decimal: bigint scaled by the type's scale.
 * Text: string. uniqueidentifier: string in upper case. datetime2 and datetime: bigint, units of 100 ns since 0001-01-01.
 */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** A column of a row set: name as written. */
export interface ColumnInfo {
  name: string;
  type: SqlType;
  isNullable: boolean;
}

/** Units of 100 ns between 0001-01-01 and 1970-01-01. */
export const ticksOfUnixEpoch = 621_355_968_000_000_000n;
