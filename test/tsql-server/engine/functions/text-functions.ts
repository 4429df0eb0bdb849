import { foldText, isUtf8 } from "../../storage/collation";
import type { BuiltinName } from "../../syntax/ast";
import type { SqlType, SqlValue } from "../../values";
import { convertTo } from "../bind/conversions";
import type { Scalar } from "../expression";
import { apply, applyOne, combineCollations } from "../expression";
import { SqlError } from "../sql-error";
import type { TextType } from "../types";
import { bigintType, intType, isText, isUnicode, longestOf } from "../types";
import type { BindFunction } from "./builtins";
import { part } from "./builtins";

/** An argument as text: numbers and instants are converted. */
export function asText(parts: readonly Scalar[], place: number): Scalar & { type: TextType } {
  return asTextScalar(part(parts, place));
}

export function asTextScalar(scalar: Scalar): Scalar & { type: TextType } {
  if (scalar.isUntyped)
    return asTyped({ ...scalar, isUntyped: false }, { name: "nvarchar", length: 1 });
  if (isText(scalar.type)) return asTyped(scalar, scalar.type);
  const type: TextType = { name: "nvarchar", length: 4000 };
  return asTyped(convertTo(scalar, type), type);
}

function asTyped(scalar: Scalar, type: TextType): Scalar & { type: TextType } {
  return { ...scalar, type };
}

/** Lengths and places in `max` texts are bigint [doc: LEN, DATALENGTH, CHARINDEX]. */
function lengthType(text: Scalar): SqlType {
  return "length" in text.type && text.type.length === "max" ? bigintType : intType;
}

function lengthOf(type: SqlType): (value: number) => SqlValue {
  return type.name === "bigint" ? (value) => BigInt(value) : (value) => value;
}

function variable(type: TextType): TextType {
  return { name: isUnicode(type) ? "nvarchar" : "varchar", length: type.length };
}

/** Of LEFT, RIGHT, SUBSTRING: as long as a literal count says, at most as long as the text. */
function cutType(text: TextType, count: Scalar): TextType {
  const { name, length } = variable(text);
  const most = length === "max" ? length : length;
  if (typeof count.constant !== "number") return { name, length: most };
  const wanted = Math.max(1, count.constant);
  return {
    name,
    length: length === "max" ? Math.min(wanted, longestOf(text)) : Math.min(length, wanted),
  };
}

function keepText(change: (text: string) => string): BindFunction {
  return (parts) => {
    const text = asText(parts, 0);
    const shape = { type: variable(text.type), collation: text.collation };
    return applyOne(shape, text, (value) => change(String(value)));
  };
}

function cutAt(name: string, cut: (text: string, count: number) => string): BindFunction {
  return (parts) => {
    const text = asText(parts, 0);
    const count = convertTo(part(parts, 1), bigintType);
    const shape = { type: cutType(text.type, part(parts, 1)), collation: text.collation };
    return apply(shape, [text, count], ([value, length]) => {
      if (value === null || length === null) return null;
      if (Number(length) < 0) {
        throw new SqlError(537, `Invalid length parameter passed to the ${name} function.`, {
          state: 2,
        });
      }
      return cut(String(value), Number(length));
    });
  };
}

/** The bytes of a value as the server stores it. */
function byteCounter(scalar: Scalar): (value: Exclude<SqlValue, null>) => number {
  const { type } = scalar;
  if (isText(type)) {
    if (isUnicode(type)) return (value) => 2 * String(value).length;
    if (isUtf8(scalar.collation.name)) return (value) => Buffer.byteLength(String(value), "utf8");
    return (value) => String(value).length;
  }
  if (type.name === "varbinary") return (value) => (value instanceof Uint8Array ? value.length : 0);
  const sizes: Record<string, number> = {
    bit: 1,
    tinyint: 1,
    smallint: 2,
    int: 4,
    bigint: 8,
    float: 8,
    datetime: 8,
    uniqueidentifier: 16,
    decimal: 9,
    datetimeoffset: 10,
    datetime2: 8,
  };
  const size = sizes[type.name] ?? 0;
  return () => size;
}

/** The last place of `max` makes the answer `max`; otherwise it is cut at 8,000 bytes without a word. */
function replaceIn(parts: readonly Scalar[]): Scalar {
  const [text, search, replacement] = [asText(parts, 0), asText(parts, 1), asText(parts, 2)];
  const all = [text, search, replacement];
  const collation = combineCollations(all, "replace");
  const name = all.some((one) => isUnicode(one.type)) ? "nvarchar" : "varchar";
  const isMax = all.some((one) => one.type.length === "max");
  const length = isMax ? "max" : longestOf({ name, length: 1 });
  const fold = (value: string): string => foldText(`${value}.`, collation.name).slice(0, -1);
  return apply({ type: { name, length }, collation }, all, ([value, from, to]) => {
    if (value === null || from === null || to === null) return null;
    if (String(from) === "") return String(value ?? "");
    const replaced = replaceAll(String(value), { from: String(from), to: String(to), fold });
    return length === "max" ? replaced : replaced.slice(0, length);
  });
}

function replaceAll(
  text: string,
  change: { from: string; to: string; fold: (value: string) => string },
): string {
  const folded = change.fold(text);
  const wanted = change.fold(change.from);
  if (folded === text && wanted === change.from)
    return text.replaceAll(change.from, () => change.to);
  let result = "";
  let start = 0;
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, start)) {
    result += text.slice(start, at) + change.to;
    start = at + wanted.length;
  }
  return result + text.slice(start);
}

function substring(parts: readonly Scalar[]): Scalar {
  const text = asText(parts, 0);
  const numbers = [convertTo(part(parts, 1), bigintType), convertTo(part(parts, 2), bigintType)];
  const shape = { type: cutType(text.type, part(parts, 2)), collation: text.collation };
  return apply(shape, [text, ...numbers], ([value, from, length]) => {
    if (value === null || from === null || length === null) return null;
    const start = Number(from) - 1;
    const end = start + Number(length);
    if (Number(length) < 0) {
      throw new SqlError(
        537,
        "Invalid length parameter passed to the LEFT or SUBSTRING function.",
        { state: 3 },
      );
    }
    return String(value).slice(Math.max(0, start), Math.max(0, end));
  });
}

function charIndex(parts: readonly Scalar[]): Scalar {
  const [search, text] = [asText(parts, 0), asText(parts, 1)];
  const from = parts[2] === undefined ? [] : [convertTo(parts[2], bigintType)];
  const collation = combineCollations([search, text], "charindex");
  const type = lengthType(text);
  const hold = lengthOf(type);
  const fold = (value: string): string => foldText(`${value}.`, collation.name).slice(0, -1);
  return apply({ type }, [search, text, ...from], ([wanted, value, start]) => {
    if (wanted === null || value === null || start === null) return null;
    if (String(wanted) === "") return hold(0);
    const at = fold(String(value)).indexOf(
      fold(String(wanted)),
      Math.max(0, Number(start ?? 1n) - 1),
    );
    return hold(at + 1);
  });
}

export const textFunctions: Partial<Record<BuiltinName, BindFunction>> = {
  CHARINDEX: charIndex,
  CONCAT: (parts) => {
    const texts = parts.map((_part, place) => asText(parts, place));
    const isMax = texts.some((text) => text.type.length === "max");
    const name = texts.some((text) => isUnicode(text.type)) ? "nvarchar" : "varchar";
    const most = longestOf({ name, length: 1 });
    const sum = texts.reduce(
      (total, { type }) => total + (type.length === "max" ? 0 : type.length),
      0,
    );
    const length = isMax ? "max" : Math.min(sum, most);
    const collation = combineCollations(texts, "concat");
    return apply({ type: { name, length }, isNullable: false, collation }, texts, (values) => {
      const joined = values.map((value) => (value === null ? "" : String(value))).join("");
      return length === "max" ? joined : joined.slice(0, length);
    });
  },
  DATALENGTH: (parts) => {
    const scalar = part(parts, 0);
    const type = lengthType(scalar);
    const count = byteCounter(scalar);
    const hold = lengthOf(type);
    return applyOne({ type }, scalar, (value) => hold(count(value)));
  },
  LEFT: cutAt("left", (text, count) => text.slice(0, count)),
  LEN: (parts) => {
    const text = asText(parts, 0);
    const type = lengthType(text);
    const hold = lengthOf(type);
    return applyOne({ type }, text, (value) => hold(String(value).replace(/ +$/, "").length));
  },
  LOWER: keepText((text) => text.toLowerCase()),
  LTRIM: keepText((text) => text.replace(/^ +/, "")),
  QUOTENAME: (parts) =>
    applyOne({ type: { name: "nvarchar", length: 258 } }, asText(parts, 0), (value) => {
      const text = String(value);
      return text.length > 128 ? null : `[${text.replaceAll("]", "]]")}]`;
    }),
  REPLACE: replaceIn,
  REPLICATE: (parts) => {
    const text = asText(parts, 0);
    const isMax = text.type.length === "max";
    const most = longestOf(text.type);
    const { name } = variable(text.type);
    const shape = {
      type: { name, length: isMax ? ("max" as const) : most },
      collation: text.collation,
    };
    return apply(shape, [text, convertTo(part(parts, 1), intType)], ([value, count]) => {
      if (value === null || count === null || Number(count) < 0) return null;
      const repeated = String(value).repeat(Number(count));
      return isMax ? repeated : repeated.slice(0, most);
    });
  },
  RIGHT: cutAt("right", (text, count) => (count === 0 ? "" : text.slice(-count))),
  RTRIM: keepText((text) => text.replace(/ +$/, "")),
  SUBSTRING: substring,
  TRIM: keepText((text) => text.replace(/^ +| +$/g, "")),
  /** Of collations without supplementary characters: the first UTF-16 unit; of an empty text NULL [doc: UNICODE]. */
  UNICODE: (parts) =>
    applyOne({ type: intType }, asText(parts, 0), (value) =>
      value === "" ? null : String(value).charCodeAt(0),
    ),
  UPPER: keepText((text) => text.toUpperCase()),
};
