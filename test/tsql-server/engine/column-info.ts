import type { ColumnInfo } from "../values";
import type { SourceColumn } from "./bind/scope";

/** A column as it is sent. */
export function columnInfo(column: SourceColumn): ColumnInfo {
  const { name, type, isNullable } = column;
  return {
    name,
    type: type.name === "datetimeoffset" ? { name: "datetime2", scale: type.scale } : type,
    isNullable,
  };
}
