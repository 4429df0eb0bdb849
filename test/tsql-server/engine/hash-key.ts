import { foldText } from "../storage/collation";
import type { SqlValue } from "../values";
import type { Collation } from "./expression";
import type { ValueType } from "./types";
import { isText } from "./types";

/** A string that two values of one type share exactly if they are equal; NULLs are equal here, as in GROUP BY. */
export function hashKey(value: SqlValue, like: { type: ValueType; collation: Collation }): string {
  if (value === null) return "n";
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString("hex")}`;
  if (isText(like.type)) return `t${foldText(String(value), like.collation.name)}`;
  return `v${String(value)}`;
}

export function hashKeys(
  values: readonly SqlValue[],
  likes: readonly { type: ValueType; collation: Collation }[],
): string {
  return likes.map((like, place) => hashKey(values[place] ?? null, like)).join("\u0000");
}
