import type { SqlValue } from "../../values";
import { converterOf, isConversionError } from "../convert";
import type { Scalar } from "../expression";
import { applyOne, databaseCollation, literal, scalarOf } from "../expression";
import type { ValueType } from "../types";
import { isText, printType } from "../types";

/** Converts without being told to: to a common type, to a column's, to a variable's. Texts are cut (columns are checked). */
export function convertTo(scalar: Scalar, type: ValueType): Scalar {
  if (scalar.isUntyped) return { ...scalar, type, isUntyped: false };
  if (printType(scalar.type) === printType(type)) return scalar;
  const convert = converterOf(scalar.type, type, { collation: scalar.collation.name });
  const collation = isText(scalar.type) ? scalar.collation : databaseCollation;
  if (scalar.constant !== undefined) {
    const folded = fold(scalar.constant, convert);
    if (folded !== undefined) return { ...literal(type, folded.value), collation };
  }
  return applyOne({ type, collation }, scalar, convert);
}

/** A constant that can't be converted fails when the statement runs, not when it is bound. */
function fold(
  constant: SqlValue,
  convert: (value: SqlValue) => SqlValue,
): { value: SqlValue } | undefined {
  try {
    return { value: convert(constant) };
  } catch (error) {
    if (isConversionError(error)) return undefined;
    throw error;
  }
}

/** CAST, CONVERT, TRY_CAST, TRY_CONVERT with a constant style. */
export function convertExplicitly(
  operand: Scalar,
  type: ValueType,
  options: { style: number; isTry: boolean },
): Scalar {
  if (operand.isUntyped) return scalarOf({ type, constant: null }, () => null);
  // The collation of a text stays with it [doc: Collation precedence, CAST and CONVERT].
  const collation = isText(operand.type) && isText(type) ? operand.collation : databaseCollation;
  const convert = converterOf(operand.type, type, {
    style: options.style,
    collation: collation.name,
  });
  const isNullable = options.isTry || operand.isNullable;
  return applyOne(
    { type, collation, isNullable },
    operand,
    options.isTry ? tryTo(convert) : convert,
  );
}

function tryTo(convert: (value: SqlValue) => SqlValue): (value: SqlValue) => SqlValue {
  return (value) => {
    try {
      return convert(value);
    } catch (error) {
      if (isConversionError(error)) return null;
      throw error;
    }
  };
}
