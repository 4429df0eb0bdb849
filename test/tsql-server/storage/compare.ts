import type { SqlValue } from "../values";
import { textComparer } from "./collation";

/** Compares two values of one type; NULL comes first, as in every index. */
export type Comparer = (left: SqlValue, right: SqlValue) => number;

type Present = Exclude<SqlValue, null>;

function withNulls(compare: (left: Present, right: Present) => number): Comparer {
  return (left, right) => {
    if (left === null) return right === null ? 0 : -1;
    return right === null ? 1 : compare(left, right);
  };
}

/** Numbers and big integers, also mixed: JavaScript compares those exactly. */
const compareNumbers = withNulls((left, right) => (left < right ? -1 : left > right ? 1 : 0));

/** uniqueidentifier sorts by its last six bytes first [doc: uniqueidentifier; blog "How are GUIDs sorted by SQL Server?"]. */
function guidOrder(text: string): string {
  const pairs = (from: number, to: number): string[] => {
    const part = text.slice(from, to).replaceAll("-", "");
    return (part.match(/../g) ?? []).reverse();
  };
  return [
    text.slice(24),
    text.slice(19, 23),
    ...pairs(14, 18),
    ...pairs(9, 13),
    ...pairs(0, 8),
  ].join("");
}

const compareGuids = withNulls((left, right) => {
  if (left === right) return 0;
  return guidOrder(String(left)) < guidOrder(String(right)) ? -1 : 1;
});

const compareBytes = withNulls((left, right) => Buffer.compare(toBytes(left), toBytes(right)));

function toBytes(value: Present): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new Error(`Expected bytes, got ${typeof value}`);
}

/** The comparer of a type's values; texts also need a collation. */
export function comparerOf(typeName: string, collation: string): Comparer {
  switch (typeName) {
    case "nvarchar":
    case "varchar":
    case "nchar":
    case "char": {
      const compare = textComparer(collation);
      return withNulls((left, right) => compare(String(left), String(right)));
    }
    case "uniqueidentifier":
      return compareGuids;
    case "varbinary":
      return compareBytes;
    default:
      return compareNumbers;
  }
}
