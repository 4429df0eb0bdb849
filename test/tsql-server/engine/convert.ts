import type { ConversionOptions } from "./convert-text";
import { toText } from "./convert-text";
import type { SqlType, SqlValue } from "../values";
import {
  localTicks,
  offsetToTicks,
  packOffset,
  parseInstant,
  roundTicks,
  roundToDatetime,
  unpackOffset,
} from "./instants";
import {
  checkPrecision,
  fitsInteger,
  isIntegerName,
  narrow,
  parseDecimal,
  parseFloatText,
  parseInteger,
  printDecimal,
  rescale,
  truncateDecimal,
} from "./numbers";
import type { Convert } from "./representations";
import { asBigint, asBytes, asNumber } from "./representations";
import { SqlError } from "./sql-error";
import type { ValueType } from "./types";
import { isExactNumber, isInstant, isText, isUnicode, printType } from "./types";

/** Conversions between types [doc: CAST and CONVERT]. A text that is too long is cut; columns are checked elsewhere. */

/** A function that converts one type's values to another's; NULL stays NULL. Refuses pairs that have no conversion. */
export function converterOf(
  from: ValueType,
  to: ValueType,
  options: ConversionOptions = {},
): (value: SqlValue) => SqlValue {
  const convert = choose(from, to, options);
  if (convert === undefined) return (value) => value;
  return (value) => (value === null ? null : convert(value));
}

/** The errors of values that TRY_CONVERT turns into NULL. */
export function isConversionError(error: unknown): boolean {
  return error instanceof SqlError && conversionErrors.has(error.number);
}

const conversionErrors = new Set([220, 241, 242, 244, 245, 248, 8114, 8115, 8169, 8170, 517]);

function choose(from: ValueType, to: ValueType, options: ConversionOptions): Convert | undefined {
  if (isText(to)) return toText(from, to, options);
  if (isIntegerName(to.name)) return toInteger(from, to.name);
  switch (to.name) {
    case "decimal":
      return toDecimal(from, to);
    case "float":
      return toFloat(from);
    case "uniqueidentifier":
      return toGuid(from, to);
    case "varbinary":
      return toBinary(from, { name: "varbinary", length: to.length }, options.style ?? 0);
    default:
      return toInstant(from, to, options.style ?? 0);
  }
}

function refuse(from: ValueType, to: ValueType): never {
  throw new SqlError(
    529,
    `Explicit conversion from data type ${from.name} to ${to.name} is not allowed.`,
    { state: 2 },
  );
}

// ---- numbers

function toInteger(from: ValueType, to: Parameters<typeof narrow>[2]): Convert | undefined {
  if (from.name === to) return undefined;
  if (isText(from)) return (value) => readInteger(String(value), from, to);
  if (isIntegerName(from.name)) return (value) => narrow(asNumber(value), from, to);
  if (from.name === "decimal") {
    if (to === "bit") return (value) => (asBigint(value) === 0n ? 0 : 1);
    return (value) => narrow(truncateDecimal(asBigint(value), from.scale), from, to);
  }
  if (from.name === "float") return (value) => narrow(wholeOf(Number(value), to), from, to);
  if (from.name === "varbinary") {
    return (value) => {
      const hex = Buffer.from(asBytes(value)).toString("hex").slice(-16);
      const bits = to === "bigint" ? 64 : to === "int" ? 32 : to === "smallint" ? 16 : 8;
      const number = BigInt(`0x${hex === "" ? "0" : hex}`);
      return narrow(
        to === "tinyint" ? BigInt.asUintN(8, number) : BigInt.asIntN(bits, number),
        from,
        to,
      );
    };
  }
  return refuse(from, { name: to });
}

function wholeOf(value: number, to: Parameters<typeof narrow>[2]): bigint | number {
  if (to === "bit") return value === 0 ? 0 : 1;
  return Number.isFinite(value) ? BigInt(Math.trunc(value)) : 2n ** 63n;
}

function readInteger(text: string, from: ValueType, to: Parameters<typeof narrow>[2]): SqlValue {
  if (to === "bit") {
    const word = text.trim().toLowerCase();
    if (word === "true") return 1;
    if (word === "false") return 0;
  }
  const value = parseInteger(text);
  if (value === undefined) {
    if (to === "bigint")
      throw new SqlError(8114, `Error converting data type ${from.name} to bigint.`, { state: 5 });
    throw new SqlError(
      245,
      `Conversion failed when converting the ${from.name} value '${text}' to data type ${to}.`,
    );
  }
  if (to === "bit") return value === 0n ? 0 : 1;
  if (fitsInteger(value, to)) return narrow(value, from, to);
  if (to === "bigint")
    throw new SqlError(
      8115,
      "Arithmetic overflow error converting expression to data type bigint.",
      { state: 2 },
    );
  const words = to === "tinyint" ? "an INT1" : to === "smallint" ? "an INT2" : "an int";
  throw new SqlError(
    to === "int" ? 248 : 244,
    `The conversion of the ${from.name} value '${text}' overflowed ${words} column.${to === "int" ? "" : " Use a larger integer column."}`,
  );
}

function toDecimal(from: ValueType, to: Extract<SqlType, { name: "decimal" }>): Convert {
  if (isText(from)) {
    return (value) => {
      const number = parseDecimal(String(value), to.scale);
      if (number === undefined)
        throw new SqlError(8114, `Error converting data type ${from.name} to numeric.`, {
          state: 5,
        });
      return checkPrecision(number, to);
    };
  }
  if (from.name === "decimal") {
    return (value) => checkPrecision(rescale(asBigint(value), from.scale, to.scale), to);
  }
  if (isIntegerName(from.name)) {
    return (value) => checkPrecision(rescale(BigInt(asNumber(value)), 0, to.scale), to);
  }
  if (from.name === "float") {
    return (value) => {
      const text = Number(value).toFixed(Math.min(20, to.scale));
      return checkPrecision(parseDecimal(text, to.scale) ?? 0n, to);
    };
  }
  return refuse(from, to);
}

function toFloat(from: ValueType): Convert | undefined {
  if (from.name === "float") return undefined;
  if (isText(from)) {
    return (value) => {
      const number = parseFloatText(String(value));
      if (number === undefined)
        throw new SqlError(8114, `Error converting data type ${from.name} to float.`, { state: 5 });
      return number;
    };
  }
  if (from.name === "decimal") {
    return (value) => Number(printDecimal(asBigint(value), from.scale));
  }
  if (isExactNumber(from)) return (value) => Number(value);
  return refuse(from, { name: "float" });
}

// ---- ids, bytes, instants

const guidForm = /^\{?([0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12})\}?/i;

function toGuid(from: ValueType, to: ValueType): Convert | undefined {
  if (from.name === "uniqueidentifier") return undefined;
  if (from.name === "varbinary") return (value) => guidOf(asBytes(value));
  if (!isText(from)) return refuse(from, to);
  // Text behind the 36 characters is ignored [doc: uniqueidentifier].
  return (value) => {
    const match = guidForm.exec(String(value));
    if (match?.[1] === undefined) {
      throw new SqlError(
        8169,
        "Conversion failed when converting from a character string to uniqueidentifier.",
        { state: 2 },
      );
    }
    return match[1].toUpperCase();
  };
}

/** The first three groups are stored with their bytes reversed. */
const guidOrder = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

function guidOf(bytes: Uint8Array): string {
  const hex = guidOrder.map((at) => (bytes[at] ?? 0).toString(16).padStart(2, "0")).join("");
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ];
  return groups.join("-").toUpperCase();
}

function bytesOfGuid(text: string): Uint8Array {
  const hex = Buffer.from(text.replaceAll("-", ""), "hex");
  return Uint8Array.from(guidOrder.map((at) => hex[at] ?? 0));
}

function toBinary(
  from: ValueType,
  to: { name: "varbinary"; length: number | "max" },
  style: number,
): Convert {
  const cut = (bytes: Uint8Array): Uint8Array =>
    to.length === "max" || bytes.length <= to.length ? bytes : bytes.slice(0, to.length);
  if (from.name === "varbinary") return (value) => cut(asBytes(value));
  if (from.name === "uniqueidentifier") return (value) => cut(bytesOfGuid(String(value)));
  if (isText(from) && style === 0) {
    return (value) => cut(Buffer.from(String(value), isUnicode(from) ? "utf16le" : "latin1"));
  }
  if (isText(from)) {
    return (value) => {
      const text = style === 1 ? String(value).replace(/^0x/i, "") : String(value);
      if (!/^([0-9a-f]{2})*$/i.test(text)) {
        throw new SqlError(8114, `Error converting data type ${from.name} to varbinary.`, {
          state: 5,
        });
      }
      return cut(Buffer.from(text, "hex"));
    };
  }
  if (from.name === "int" || from.name === "bigint") {
    return (value) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64BE(BigInt(asNumber(value)));
      return cut(from.name === "int" ? bytes.subarray(4) : bytes);
    };
  }
  return refuse(from, to);
}

function toInstant(from: ValueType, to: ValueType, style: number): Convert | undefined {
  const fit = (ticks: bigint): bigint =>
    to.name === "datetime"
      ? roundToDatetime(ticks)
      : "scale" in to
        ? roundTicks(ticks, to.scale)
        : ticks;
  if (isText(from)) return (value) => readInstant(String(value), to, fit);
  if (from.name === "datetimeoffset") {
    if (to.name === "datetimeoffset") return undefined;
    // Style 1 reads the instant in UTC, style 0 the local time [doc: CAST and CONVERT, date and time styles].
    return (value) =>
      fit(style === 1 ? unpackOffset(asBigint(value)).utcTicks : localTicks(asBigint(value)));
  }
  if (!isInstant(from)) return refuse(from, to);
  if (to.name === "datetimeoffset") return (value) => packOffset(fit(asBigint(value)), 0);
  if (from.name === to.name && printType(from) === printType(to)) return undefined;
  return (value) => fit(asBigint(value));
}

function readInstant(text: string, to: ValueType, fit: (ticks: bigint) => bigint): SqlValue {
  const instant = parseInstant(text);
  if (instant === undefined) {
    throw new SqlError(
      241,
      "Conversion failed when converting date and/or time from character string.",
    );
  }
  if (to.name === "datetimeoffset") return packOffset(fit(offsetToTicks(instant)), instant.minutes);
  return fit(instant.ticks);
}
