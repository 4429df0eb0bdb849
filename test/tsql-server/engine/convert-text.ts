import { isUtf8 } from "../storage/collation";
import { formatInstant, localTicks, unpackOffset } from "./instants";
import { isIntegerName, printDecimal, printFloat } from "./numbers";
import type { Convert, Present } from "./representations";
import { asBigint, asBytes, asNumber } from "./representations";
import { SqlError } from "./sql-error";
import type { TextType, ValueType } from "./types";
import { isInstant, isText, isUnicode } from "./types";

/** Conversions to texts [doc: CAST and CONVERT]. */

export interface ConversionOptions {
  style?: number;
  /** Of the target, when it is varchar: decides which characters it can hold. */
  collation?: string;
}

export function toText(
  from: ValueType,
  to: TextType,
  options: ConversionOptions,
): Convert | undefined {
  const cut = cutTo(to);
  if (isText(from)) {
    const encode = encoderOf(from, to, options.collation);
    if (cut === undefined) return encode;
    return encode === undefined ? cut : (value) => cut(encode(value));
  }
  const print = printerOf(from, to, options.style ?? 0);
  if (from.name === "varbinary" || isInstant(from)) {
    return cut === undefined ? print : (value) => cut(print(value));
  }
  return (value) => fill(print(value), from, to);
}

/**
 * A varchar that isn't UTF-8 holds code page 1252; what that lacks becomes a question mark. UTF-8 has no half of a surrogate pair:
 * the replacement character stands there (a model: the documents don't say which character it is).
 */
function encoderOf(
  from: TextType,
  to: TextType,
  collation: string | undefined,
): ((value: Present) => string) | undefined {
  if (!isUnicode(from) || isUnicode(to)) return undefined;
  if (isUtf8(collation ?? "")) return (value) => String(value).replace(/\p{Surrogate}/gu, "\ufffd");
  return (value) =>
    String(value).replace(/[^\p{ASCII}\u00a0-\u00ff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/gu, "?");
}

function cutTo(to: TextType): ((value: Present) => string) | undefined {
  const { length } = to;
  if (length === "max") return undefined;
  const isFixed = to.name === "nchar" || to.name === "char";
  return (value) => {
    const text = String(value);
    if (text.length > length) return text.slice(0, length);
    return isFixed ? text.padEnd(length) : text;
  };
}

/** Numbers and ids aren't cut: too little room is an error, or a star where varchar is asked for a whole number. */
function fill(text: string, from: ValueType, to: TextType): string {
  if (to.length === "max" || text.length <= to.length) {
    const isFixed = to.name === "nchar" || to.name === "char";
    return isFixed && to.length !== "max" ? text.padEnd(to.length) : text;
  }
  if (from.name === "uniqueidentifier") {
    throw new SqlError(
      8170,
      "Insufficient result space to convert uniqueidentifier value to char.",
    );
  }
  if (isIntegerName(from.name) && !isUnicode(to)) return "*";
  throw new SqlError(
    8115,
    `Arithmetic overflow error converting expression to data type ${to.name}.`,
    {
      state: 2,
    },
  );
}

function printerOf(from: ValueType, to: TextType, style: number): (value: Present) => string {
  switch (from.name) {
    case "decimal":
      return (value) => printDecimal(BigInt(asNumber(value)), from.scale);
    case "float":
      return (value) => printFloat(Number(value), style);
    case "datetime":
      return (value) => formatInstant(asBigint(value), 3, separatorOf(style, from, to));
    case "datetime2":
      return (value) => formatInstant(asBigint(value), from.scale, separatorOf(style, from, to));
    case "datetimeoffset":
      return (value) => {
        const { minutes } = unpackOffset(asBigint(value));
        const sign = minutes < 0 ? "-" : "+";
        const hours = String(Math.floor(Math.abs(minutes) / 60)).padStart(2, "0");
        const rest = String(Math.abs(minutes) % 60).padStart(2, "0");
        const separator = separatorOf(style, from, to);
        return `${formatInstant(localTicks(asBigint(value)), from.scale, separator)} ${sign}${hours}:${rest}`;
      };
    case "varbinary":
      return (value) => printBinary(asBytes(value), to, style);
    default:
      return (value) => (value instanceof Uint8Array ? "" : String(value));
  }
}

function separatorOf(style: number, from: ValueType, to: TextType): " " | "T" {
  if (style === 126 || style === 127) return "T";
  if (style === 121 || style === 25) return " ";
  if (style === 0 && from.name !== "datetime") return " ";
  throw new SqlError(
    281,
    `${style} is not a valid style number when converting from ${from.name} to a character string (${to.name}).`,
  );
}

function printBinary(bytes: Uint8Array, to: TextType, style: number): string {
  const hex = Buffer.from(bytes).toString("hex").toUpperCase();
  if (style === 1) return `0x${hex}`;
  if (style === 2) return hex;
  return Buffer.from(bytes).toString(isUnicode(to) ? "utf16le" : "latin1");
}
