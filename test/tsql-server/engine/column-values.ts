import { fullName } from "../storage/schema";
import type { ColumnSchema, TableSchema } from "../storage/schema";
import type { SqlValue } from "../values";
import { converterOf } from "./convert";
import { SqlError } from "./sql-error";
import type { ValueType } from "./types";
import { isText } from "./types";

/** A value on its way into a column: converted; a text that is too long is an error (2628), trailing blanks aside. */
export function columnConverter(
  from: ValueType,
  column: ColumnSchema,
  table: TableSchema,
): (value: SqlValue) => SqlValue {
  const convert = converterOf(from, column.type, { collation: column.collation });
  const { type } = column;
  if ((!isText(type) && type.name !== "varbinary") || type.length === "max") return convert;
  if (!isText(from) && from.name !== "varbinary") return convert;
  const { length } = type;
  return (value) => {
    if (typeof value === "string" && value.length > length && value.trimEnd().length > length) {
      throw truncated(value.slice(0, length), column, table);
    }
    if (value instanceof Uint8Array && value.length > length) {
      throw truncated(
        Buffer.from(value)
          .toString("hex")
          .slice(0, 2 * length),
        column,
        table,
      );
    }
    return convert(value);
  };
}

function truncated(kept: string, column: ColumnSchema, table: TableSchema): SqlError {
  return new SqlError(
    2628,
    `String or binary data would be truncated in table '${fullName(table)}', column '${column.name}'. Truncated value: '${kept.slice(0, 128)}'.`,
  );
}
