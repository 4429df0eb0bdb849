import type { SqlType, SqlValue } from "../values";
import type { Token } from "./lexer";

/** The value of a constant, with the type that the server gives it. */
export interface Constant {
  readonly type: SqlType;
  readonly value: Exclude<SqlValue, null>;
}

/**
 * Reads a constant [doc: Constants (Transact-SQL)]: whole numbers beyond int are decimal, not bigint, and texts are as
 * long as they are written. Its error, if it is none.
 */
export function readConstant(token: Token, isNegative: boolean): Constant | string {
  switch (token.kind) {
    case "number":
      return readNumber(token.text, isNegative);
    case "unicode":
      return { type: { name: "nvarchar", length: lengthOf(token.text, 4000) }, value: token.text };
    case "string":
      if (Buffer.byteLength(token.text) > token.text.length) {
        return "expected a text without N to have ASCII characters only: others depend on the collation";
      }
      return { type: { name: "varchar", length: lengthOf(token.text, 8000) }, value: token.text };
    case "binary":
      return readBinary(token.text.slice(2));
    default:
      return "expected a constant";
  }
}

function lengthOf(text: string, most: number): number | "max" {
  return text.length > most ? "max" : Math.max(1, text.length);
}

function readNumber(text: string, isNegative: boolean): Constant | string {
  const sign = isNegative ? -1 : 1;
  if (/e/i.test(text)) return { type: { name: "float" }, value: sign * Number(text) };
  const [whole = "", fraction = ""] = text.split(".");
  const digits = whole.replace(/^0+/, "");
  if (!text.includes(".") && (digits.length < 10 || Number(digits) <= 2_147_483_647)) {
    // -0 is 0.
    return { type: { name: "int" }, value: isNegative ? 0 - Number(digits) : Number(digits) };
  }
  const precision = Math.max(1, digits.length + fraction.length);
  if (precision > 38) return "expected a number of at most 38 digits";
  return {
    type: { name: "decimal", precision, scale: fraction.length },
    value: BigInt(sign) * BigInt(digits + fraction),
  };
}

function readBinary(digits: string): Constant {
  // 0x1 is 0x01, and 0x is empty.
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  const length = even.length / 2;
  return {
    type: { name: "varbinary", length: length > 8000 ? "max" : Math.max(1, length) },
    value: Uint8Array.from(Buffer.from(even, "hex")),
  };
}
