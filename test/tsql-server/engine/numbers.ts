import type { SqlType, SqlValue } from "../values";
import type { ValueType } from "./types";
import { SqlError, sqlErrors } from "./sql-error";

/** Numbers: their ranges, their texts, and how one kind becomes another. */

const ranges: Record<"bit" | "tinyint" | "smallint" | "int" | "bigint", readonly [bigint, bigint]> =
  {
    bit: [0n, 1n],
    tinyint: [0n, 255n],
    smallint: [-32_768n, 32_767n],
    int: [-2_147_483_648n, 2_147_483_647n],
    bigint: [-9_223_372_036_854_775_808n, 9_223_372_036_854_775_807n],
  };

type IntegerName = keyof typeof ranges;

export function isIntegerName(name: string): name is IntegerName {
  return name in ranges;
}

export function fitsInteger(value: bigint | number, name: IntegerName): boolean {
  const [low, high] = ranges[name];
  return value >= low && value <= high;
}

/** A whole number as the type holds it: bigint as bigint, the others as number. */
export function holdInteger(value: bigint | number, name: IntegerName): SqlValue {
  if (name === "bigint") return BigInt(value);
  return Number(value);
}

/** A number that doesn't fit: 220 from one whole type to a smaller one, 8115 to int and from expressions. */
function overflowTo(value: bigint | number, from: ValueType, name: IntegerName): SqlError {
  if ((name === "tinyint" || name === "smallint") && isIntegerName(from.name)) {
    const text = `Arithmetic overflow error for data type ${name}, value = ${String(value)}.`;
    return new SqlError(220, text, { state: name === "tinyint" ? 2 : 1 });
  }
  if (from.name === "decimal") {
    const text = `Arithmetic overflow error converting numeric to data type ${name}.`;
    return new SqlError(8115, text, { state: 8 });
  }
  return sqlErrors.overflow(name);
}

export function narrow(value: bigint | number, from: ValueType, to: IntegerName): SqlValue {
  if (to === "bit") return value == 0 ? 0 : 1;
  if (!fitsInteger(value, to)) throw overflowTo(value, from, to);
  return holdInteger(value, to);
}

/** Drops digits behind the point, towards zero. */
export function truncateDecimal(value: bigint, scale: number): bigint {
  return value / 10n ** BigInt(scale);
}

/** To another scale; half rounds away from zero. */
export function rescale(value: bigint, from: number, to: number): bigint {
  if (to >= from) return value * 10n ** BigInt(to - from);
  const unit = 10n ** BigInt(from - to);
  const half = value < 0n ? -unit / 2n : unit / 2n;
  return (value + half) / unit;
}

export function checkPrecision(value: bigint, type: Extract<SqlType, { name: "decimal" }>): bigint {
  const limit = 10n ** BigInt(type.precision);
  if (value >= limit || value <= -limit) {
    throw new SqlError(8115, "Arithmetic overflow error converting numeric to data type numeric.", {
      state: 8,
    });
  }
  return value;
}

export function printDecimal(value: bigint, scale: number): string {
  if (scale === 0) return String(value);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${value < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** undefined when the text is no number of that kind. */
export function parseInteger(text: string): bigint | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return 0n;
  return /^[+-]?\d+$/.test(trimmed) ? BigInt(trimmed.replace(/^\+/, "")) : undefined;
}

export function parseDecimal(text: string, scale: number): bigint | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text.trim());
  const [, sign = "", whole = "", fraction = ""] = match ?? [];
  if (match === null || whole + fraction === "") return undefined;
  const value = rescale(BigInt(whole + fraction), fraction.length, scale);
  return sign === "-" ? -value : value;
}

export function parseFloatText(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : undefined;
}

/** Style 0 of CONVERT: six digits; 3: all of them. */
export function printFloat(value: number, style: number): string {
  if (style === 3) return value.toExponential(16).replace(/e([+-])(\d)$/, "e$10$2");
  const rounded = Number(value.toPrecision(6));
  const exponent = rounded === 0 ? 0 : Math.floor(Math.log10(Math.abs(rounded)));
  if (exponent >= -5 && exponent < 6) return String(rounded);
  return rounded
    .toExponential()
    .replace(/e([+-])(\d)$/, (_all, sign: string, digit: string) => `e${sign}00${digit}`);
}
