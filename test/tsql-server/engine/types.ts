import type { SqlType } from "../values";

/** A type inside expressions: also datetimeoffset, which no column has. */
export type ValueType = SqlType | { name: "datetimeoffset"; scale: number };

export interface TextType {
  name: "nvarchar" | "varchar" | "nchar" | "char";
  length: number | "max";
}

/** [doc: Data type precedence]: of two types the lower one is converted. */
const precedence: Record<ValueType["name"], number> = {
  datetimeoffset: 16,
  datetime2: 15,
  datetime: 14,
  float: 13,
  decimal: 12,
  bigint: 11,
  int: 10,
  smallint: 9,
  tinyint: 8,
  bit: 7,
  uniqueidentifier: 6,
  nvarchar: 5,
  nchar: 4,
  varchar: 3,
  char: 2,
  varbinary: 1,
};

export const intType: SqlType = { name: "int" };
export const bigintType: SqlType = { name: "bigint" };
export const bitType: SqlType = { name: "bit" };
export const sysname: SqlType = { name: "nvarchar", length: 128 };
export const textMax: SqlType = { name: "nvarchar", length: "max" };

export function isText(type: ValueType): type is TextType {
  return (
    type.name === "nvarchar" ||
    type.name === "varchar" ||
    type.name === "nchar" ||
    type.name === "char"
  );
}

export function isUnicode(type: ValueType): boolean {
  return type.name === "nvarchar" || type.name === "nchar";
}

/** Whole numbers held as JavaScript numbers. */
function isSmallInteger(type: ValueType): boolean {
  return (
    type.name === "bit" ||
    type.name === "tinyint" ||
    type.name === "smallint" ||
    type.name === "int"
  );
}

export function isExactNumber(type: ValueType): boolean {
  return isSmallInteger(type) || type.name === "bigint" || type.name === "decimal";
}

export function isInstant(type: ValueType): boolean {
  return type.name === "datetime2" || type.name === "datetime" || type.name === "datetimeoffset";
}

/** Precision and scale of an exact number, as arithmetic with decimals counts them [doc: Precision, scale and length]. */
export function digitsOf(type: ValueType): { precision: number; scale: number } {
  switch (type.name) {
    case "decimal":
      return { precision: type.precision, scale: type.scale };
    case "bigint":
      return { precision: 19, scale: 0 };
    case "int":
      return { precision: 10, scale: 0 };
    case "smallint":
      return { precision: 5, scale: 0 };
    case "tinyint":
      return { precision: 3, scale: 0 };
    default:
      return { precision: 1, scale: 0 };
  }
}

export function isHigher(left: ValueType, right: ValueType): boolean {
  return precedence[left.name] > precedence[right.name];
}

/** The type that both are converted to, for comparing and for the branches of CASE. */
export function commonType(left: ValueType, right: ValueType): ValueType {
  if (isText(left) && isText(right)) return commonText(left, right);
  if (left.name === "decimal" && isExactNumber(right)) return commonDecimal(left, right);
  if (right.name === "decimal" && isExactNumber(left)) return commonDecimal(left, right);
  if ("scale" in left && "scale" in right && left.name === right.name) {
    return left.scale >= right.scale ? left : right;
  }
  if (left.name === "varbinary" && right.name === "varbinary") {
    return { name: "varbinary", length: longer(left.length, right.length) };
  }
  return isHigher(right, left) ? right : left;
}

function commonText(left: TextType, right: TextType): SqlType {
  const higher = isHigher(right, left) ? right : left;
  const isFixed = left.name === right.name && left.length === right.length;
  const length = longer(left.length, right.length);
  const name = isFixed ? higher.name : isUnicode(higher) ? "nvarchar" : "varchar";
  return { name, length };
}

function commonDecimal(left: ValueType, right: ValueType): SqlType {
  const one = digitsOf(left);
  const other = digitsOf(right);
  const scale = Math.max(one.scale, other.scale);
  const whole = Math.max(one.precision - one.scale, other.precision - other.scale);
  return { name: "decimal", precision: Math.min(38, whole + scale), scale };
}

export function longer(left: number | "max", right: number | "max"): number | "max" {
  return left === "max" || right === "max" ? "max" : Math.max(left, right);
}

/** The longest text of a type that isn't `max`. */
export function longestOf(type: ValueType): number {
  return isUnicode(type) ? 4000 : 8000;
}

/** As messages and declarations write it. */
export function printType(type: ValueType): string {
  switch (type.name) {
    case "nvarchar":
    case "varchar":
    case "nchar":
    case "char":
    case "varbinary":
      return `${type.name}(${String(type.length)})`;
    case "datetime2":
    case "datetimeoffset":
      return `${type.name}(${type.scale})`;
    case "decimal":
      return `decimal(${type.precision},${type.scale})`;
    default:
      return type.name;
  }
}
