import type { BuiltinName } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import { convertTo } from "../bind/conversions";
import type { Scalar } from "../expression";
import { apply, applyOne } from "../expression";
import { fitsInteger, isIntegerName, rescale } from "../numbers";
import { SimulationError, sqlErrors } from "../sql-error";
import type { ValueType } from "../types";
import { intType, isText } from "../types";
import type { BindFunction } from "./builtins";
import { part } from "./builtins";

/** A number: small ones count as int, texts as float. */
function asNumber(parts: readonly Scalar[]): Scalar {
  const scalar = part(parts, 0);
  if (isText(scalar.type)) return convertTo(scalar, { name: "float" });
  const isSmall =
    scalar.type.name === "tinyint" || scalar.type.name === "smallint" || scalar.type.name === "bit";
  return isSmall ? convertTo(scalar, intType) : scalar;
}

function checked(value: number | bigint, type: ValueType): SqlValue {
  if (isIntegerName(type.name) && !fitsInteger(value, type.name))
    throw sqlErrors.overflow(type.name);
  return value;
}

/** Of decimals in their own scale, of floats as such; whole numbers are what they are. */
function rounding(round: (value: number) => number): BindFunction {
  return (parts) => {
    const number = asNumber(parts);
    const { type } = number;
    if (type.name === "float") return applyOne({ type }, number, (value) => round(Number(value)));
    if (type.name === "decimal" && type.scale > 0) {
      throw new SimulationError("Rounding of decimals isn't modelled");
    }
    return number;
  };
}

/** The exponent is whole in the vocabulary; the result has the base's type. */
function power(parts: readonly Scalar[]): Scalar {
  const base = asNumber(parts);
  const { type } = base;
  const exponent = convertTo(part(parts, 1), { name: "bigint" });
  return apply({ type }, [base, exponent], ([value, times]) => {
    if (value === null || times === null || value === undefined || times === undefined) return null;
    if (type.name === "float") return Math.pow(Number(value), Number(times));
    if (Number(times) < 0) return typeof value === "bigint" ? 0n : 0;
    const result = BigInt(Number(value)) ** BigInt(Number(times));
    return checked(typeof value === "bigint" ? result : Number(result), type);
  });
}

export const numberFunctions: Partial<Record<BuiltinName, BindFunction>> = {
  ABS: (parts) => {
    const number = asNumber(parts);
    const { type } = number;
    return applyOne({ type }, number, (value) => {
      if (typeof value === "bigint") return checked(value < 0n ? -value : value, type);
      return checked(Math.abs(Number(value)), type);
    });
  },
  CEILING: rounding(Math.ceil),
  FLOOR: rounding(Math.floor),
  POWER: power,
  ROUND: (parts) => {
    const number = asNumber(parts);
    const { type } = number;
    const digits = convertTo(part(parts, 1), intType);
    if (parts.length > 2) throw new SimulationError("ROUND with a function isn't modelled");
    return apply({ type }, [number, digits], ([value, count]) => {
      if (value === null || count === null || value === undefined) return null;
      const places = Number(count);
      if (type.name === "float")
        return Number(Number(value).toFixed(Math.max(0, Math.min(20, places))));
      const scale = type.name === "decimal" ? type.scale : 0;
      const exact = BigInt(value as number | bigint);
      const rounded =
        places >= scale ? exact : rescale(rescale(exact, scale, places), places, scale);
      return typeof value === "bigint" ? rounded : Number(rounded);
    });
  },
  SIGN: (parts) => {
    const number = asNumber(parts);
    return applyOne({ type: number.type }, number, (value) => {
      const sign = Math.sign(Number(value));
      return typeof value === "bigint" ? BigInt(sign) : sign;
    });
  },
};
