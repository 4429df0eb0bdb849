import type { ArithmeticOperator } from "../../syntax/ast";
import type { SqlType, SqlValue } from "../../values";
import type { Scalar } from "../expression";
import { applyOne, applyTwo, combineCollations } from "../expression";
import { checkPrecision, fitsInteger, isIntegerName, rescale } from "../numbers";
import { SqlError, sqlErrors } from "../sql-error";
import type { TextType, ValueType } from "../types";
import {
  commonType,
  digitsOf,
  isExactNumber,
  isHigher,
  isText,
  isUnicode,
  longestOf,
} from "../types";
import { convertTo } from "./conversions";

/** Operators with a value. */

type Present = Exclude<SqlValue, null>;

function clash(left: ValueType, right: ValueType, operator: string): SqlError {
  return new SqlError(
    402,
    `The data types ${left.name} and ${right.name} are incompatible in the ${operator} operator.`,
  );
}

export function bindArithmetic(
  operator: ArithmeticOperator,
  operands: readonly [Scalar, Scalar],
): Scalar {
  const [left, right] = typeNulls(operands);
  if (isText(left.type) && isText(right.type)) {
    if (operator !== "+") throw clash(left.type, right.type, operator);
    return concatenate(left, right);
  }
  const type = isHigher(right.type, left.type) ? right.type : left.type;
  if (type.name === "float") {
    return applyTwo({ type }, [convertTo(left, type), convertTo(right, type)], (one, other) =>
      computeFloat(operator, Number(one), Number(other)),
    );
  }
  if (isIntegerName(type.name)) {
    return bindIntegers(operator, [convertTo(left, type), convertTo(right, type)]);
  }
  if (type.name === "decimal") return bindDecimals(operator, left, right);
  throw clash(left.type, right.type, operator);
}

/** NULL takes the other side's type. */
function typeNulls(operands: readonly [Scalar, Scalar]): readonly [Scalar, Scalar] {
  const [left, right] = operands;
  if (left.isUntyped) return [convertTo(left, right.type), right];
  return right.isUntyped ? [left, convertTo(right, left.type)] : operands;
}

// ---- texts

/** Longer than 4,000 characters only if one of them is `max`: a longer text is cut silently [doc: + (string concatenation)]. */
function concatenate(left: Scalar, right: Scalar): Scalar {
  const type = concatenatedType(left.type, right.type);
  const collation = combineCollations([left, right], "add");
  const { length } = type;
  const join =
    length === "max"
      ? (one: Present, other: Present): string => String(one) + String(other)
      : (one: Present, other: Present): string => (String(one) + String(other)).slice(0, length);
  return applyTwo({ type, collation }, [left, right], join);
}

function concatenatedType(left: ValueType, right: ValueType): TextType {
  if (!isText(left) || !isText(right)) throw clash(left, right, "add");
  const name = isUnicode(left) || isUnicode(right) ? "nvarchar" : "varchar";
  if (left.length === "max" || right.length === "max") return { name, length: "max" };
  const length = Math.min(left.length + right.length, longestOf({ name, length: 1 }));
  return { name, length };
}

// ---- whole numbers

function bindIntegers(operator: ArithmeticOperator, operands: readonly [Scalar, Scalar]): Scalar {
  const { type } = operands[0];
  // A bit is no number to count with: it counts as int.
  const name = type.name === "bit" ? "int" : type.name;
  if (!isIntegerName(name)) throw clash(type, type, operator);
  if (name === "bigint") {
    return applyTwo({ type: { name } }, operands, (one, other) => {
      const value = computeBig(operator, BigInt(asNumber(one)), BigInt(asNumber(other)));
      if (!fitsInteger(value, name)) throw sqlErrors.overflow(name);
      return value;
    });
  }
  return applyTwo({ type: { name } }, operands, (one, other) => {
    const value = computeSmall(operator, Number(one), Number(other));
    if (!fitsInteger(value, name)) throw sqlErrors.overflow(name);
    return Object.is(value, -0) ? 0 : value;
  });
}

function divideByZero(): SqlError {
  return new SqlError(8134, "Divide by zero error encountered.");
}

function computeSmall(operator: ArithmeticOperator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      if (right === 0) throw divideByZero();
      return Math.trunc(left / right);
    case "%":
      if (right === 0) throw divideByZero();
      return left % right;
    case "&":
      return left & right;
    case "|":
      return left | right;
    case "^":
      return left ^ right;
  }
}

function computeBig(operator: ArithmeticOperator, left: bigint, right: bigint): bigint {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      if (right === 0n) throw divideByZero();
      return left / right;
    case "%":
      if (right === 0n) throw divideByZero();
      return left % right;
    case "&":
      return left & right;
    case "|":
      return left | right;
    case "^":
      return left ^ right;
  }
}

function computeFloat(operator: ArithmeticOperator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      if (right === 0) throw divideByZero();
      return left / right;
    default:
      throw clash({ name: "float" }, { name: "float" }, operator);
  }
}

// ---- decimals

interface Digits {
  readonly precision: number;
  readonly scale: number;
}

/** A whole literal counts as many digits as it has. */
function digitsOfScalar(scalar: Scalar): Digits {
  const { constant, type } = scalar;
  if (typeof constant !== "number" || !isIntegerName(type.name)) return digitsOf(type);
  return { precision: String(Math.abs(constant)).length, scale: 0 };
}

/** Precision and scale of the result [doc: Precision, scale and length]. */
function decimalResult(
  operator: ArithmeticOperator,
  one: Digits,
  other: Digits,
): SqlType & { name: "decimal" } {
  const whole = Math.max(one.precision - one.scale, other.precision - other.scale);
  let scale = Math.max(one.scale, other.scale);
  let precision: number;
  switch (operator) {
    case "*":
      scale = one.scale + other.scale;
      precision = one.precision + other.precision + 1;
      break;
    case "/":
      scale = Math.max(6, one.scale + other.precision + 1);
      precision = one.precision - one.scale + other.scale + scale;
      break;
    case "%":
      precision = Math.min(one.precision - one.scale, other.precision - other.scale) + scale;
      break;
    default:
      precision = whole + scale + 1;
  }
  if (precision <= 38) return { name: "decimal", precision, scale };
  const kept = Math.max(38 - (precision - scale), Math.min(scale, 6));
  return { name: "decimal", precision: 38, scale: Math.min(scale, kept) };
}

function bindDecimals(operator: ArithmeticOperator, left: Scalar, right: Scalar): Scalar {
  if (![left, right].every((part) => isExactNumber(part.type) || isText(part.type))) {
    throw clash(left.type, right.type, operator);
  }
  const type = decimalResult(operator, digitsOfScalar(left), digitsOfScalar(right));
  const scales = [digitsOf(left.type).scale, digitsOf(right.type).scale] as const;
  return applyTwo({ type }, [toDecimal(left), toDecimal(right)], (one, other) =>
    checkPrecision(
      computeDecimal(operator, [asBigint(one), asBigint(other)], { scales, result: type.scale }),
      type,
    ),
  );
}

function toDecimal(scalar: Scalar): Scalar {
  return convertTo(scalar, { name: "decimal", ...digitsOf(scalar.type) });
}

function computeDecimal(
  operator: ArithmeticOperator,
  values: readonly [bigint, bigint],
  scale: { scales: readonly [number, number]; result: number },
): bigint {
  const [left, right] = values;
  const [leftScale, rightScale] = scale.scales;
  const shared = Math.max(leftScale, rightScale);
  const one = rescale(left, leftScale, shared);
  const other = rescale(right, rightScale, shared);
  switch (operator) {
    case "+":
      return rescale(one + other, shared, scale.result);
    case "-":
      return rescale(one - other, shared, scale.result);
    case "*":
      return rescale(left * right, leftScale + rightScale, scale.result);
    case "/":
      if (right === 0n) throw divideByZero();
      return rescale(left, leftScale, scale.result + rightScale) / right;
    case "%":
      if (right === 0n) throw divideByZero();
      return rescale(one % other, shared, scale.result);
    default:
      throw clash({ name: "bigint" }, { name: "bigint" }, operator);
  }
}

/** A sign in front. */
export function bindUnary(operator: "-" | "+" | "~", operand: Scalar): Scalar {
  const { type } = operand;
  if (operator === "+") return operand;
  if (operator === "~") {
    return applyOne({ type }, operand, (value) =>
      typeof value === "bigint" ? ~value : ~Number(value),
    );
  }
  if (operand.constant !== undefined && operand.constant !== null) {
    const negated = negate(operand.constant);
    return { ...operand, constant: negated, evaluate: () => negated };
  }
  return applyOne({ type }, operand, (value) => {
    const negated = negate(value);
    if (
      isIntegerName(type.name) &&
      typeof negated !== "string" &&
      !fitsInteger(negated, type.name)
    ) {
      throw sqlErrors.overflow(type.name);
    }
    return negated;
  });
}

function negate(value: Present): number | bigint {
  if (typeof value === "bigint") return -value;
  const negated = -Number(value);
  return Object.is(negated, -0) ? 0 : negated;
}

function asNumber(value: Present): number | bigint {
  if (typeof value === "number" || typeof value === "bigint") return value;
  throw new Error(`Expected a number, got ${typeof value}`);
}

function asBigint(value: Present): bigint {
  return BigInt(asNumber(value));
}

/** The type both sides of a comparison have, NULL literals aside. */
export function comparedType(left: Scalar, right: Scalar): ValueType {
  if (left.isUntyped) return right.type;
  return right.isUntyped ? left.type : commonType(left.type, right.type);
}
