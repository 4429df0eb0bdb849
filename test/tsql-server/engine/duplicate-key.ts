import type { Index } from "../storage/index";
import type { TableSchema } from "../storage/schema";
import { fullName } from "../storage/schema";
import type { SqlValue } from "../values";
import { SqlError } from "./sql-error";

/** 2627 from a constraint, 2601 from an index. */
export function duplicateKey(table: TableSchema, index: Index, key: readonly SqlValue[]): SqlError {
  const values = key.slice(0, index.schema.declaredCount).map(printKey).join(", ");
  const name = fullName(table);
  const { constraint } = index.schema;
  if (constraint === undefined) {
    return new SqlError(
      2601,
      `Cannot insert duplicate key row in object '${name}' with unique index '${index.schema.name}'. The duplicate key value is (${values}).`,
      { class: 14 },
    );
  }
  const kind = constraint === "primaryKey" ? "PRIMARY KEY" : "UNIQUE KEY";
  return new SqlError(
    2627,
    `Violation of ${kind} constraint '${index.schema.name}'. Cannot insert duplicate key in object '${name}'. The duplicate key value is (${values}).`,
    { class: 14 },
  );
}

function printKey(value: SqlValue): string {
  if (value === null) return "<NULL>";
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString("hex")}` : String(value);
}
