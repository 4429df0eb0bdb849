import { comparerOf } from "../../storage/compare";
import type { Aggregate } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import type { Scalar } from "../expression";
import type { Frame } from "../frame";
import { hashKey } from "../hash-key";
import { fitsInteger, isIntegerName } from "../numbers";
import { SimulationError, SqlError, sqlErrors } from "../sql-error";
import type { ValueType } from "../types";
import { bigintType, intType, isText, isUnicode, longestOf } from "../types";
import { asTextScalar } from "../functions/text-functions";
import { bindExpression } from "./expressions";
import { bindOrder, compareKeyRows, keysOf } from "./ordering";
import type { Scope } from "./scope";

/** What an aggregate gathers from the rows of a group, and gives at its end. */
export interface Accumulator {
  add(frame: Frame): void;
  result(): SqlValue;
}

export interface AggregatePlan {
  readonly type: ValueType;
  readonly isNullable: boolean;
  readonly collation: Scalar["collation"];
  start(): Accumulator;
}

/** Takes over an argument that takes steps (it calls a function of ours): the result reads its value for the row. */
export type Prepare = (argument: Scalar) => Scalar;

/** Binds an aggregate's argument in the scope of the rows that it is about. */
export function bindAggregate(node: Aggregate, scope: Scope, prepare: Prepare): AggregatePlan {
  if (node.argument === undefined) {
    return counting(node, () => ({ add: () => true }));
  }
  if (hasQuery(node.argument)) {
    throw new SqlError(
      130,
      `Cannot perform an aggregate function on an expression containing an aggregate or a subquery (${scope.binder.place(node.line)}).`,
    );
  }
  const argument = bindExpression(node.argument, scope);
  const bound = argument.run === undefined ? argument : prepare(argument);
  switch (node.name) {
    case "COUNT":
    case "COUNT_BIG":
      return counting(node, () => distinctly(node, bound));
    case "MIN":
    case "MAX":
      return extreme(bound, node.name === "MIN" ? -1 : 1);
    case "SUM":
    case "AVG":
      return summing(node, bound);
    case "STRING_AGG":
      return joining(node, bound, scope);
  }
}

function hasQuery(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (
    "kind" in node &&
    (node.kind === "subquery" || node.kind === "exists" || node.kind === "inQuery")
  )
    return true;
  return Object.values(node).some(hasQuery);
}

function distinctly(node: Aggregate, scalar: Scalar): { add: (frame: Frame) => boolean } {
  const seen = new Set<string>();
  return {
    add: (frame) => {
      const value = scalar.evaluate(frame);
      if (value === null || !node.isDistinct) return value !== null;
      const key = hashKey(value, scalar);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    },
  };
}

function counting(node: Aggregate, begin: () => { add: (frame: Frame) => boolean }): AggregatePlan {
  const isBig = node.name === "COUNT_BIG";
  return {
    type: isBig ? bigintType : intType,
    isNullable: false,
    collation: { name: "", rank: "default" },
    start: () => {
      const counter = begin();
      let count = 0;
      return {
        add: (frame) => {
          if (counter.add(frame)) count += 1;
        },
        result: () => (isBig ? BigInt(count) : count),
      };
    },
  };
}

function extreme(scalar: Scalar, sign: -1 | 1): AggregatePlan {
  const compare = comparerOf(scalar.type.name, scalar.collation.name);
  return {
    type: scalar.type,
    isNullable: true,
    collation: scalar.collation,
    start: () => {
      let best: SqlValue = null;
      return {
        add: (frame) => {
          const value = scalar.evaluate(frame);
          if (value !== null && (best === null || compare(value, best) * sign > 0)) best = value;
        },
        result: () => best,
      };
    },
  };
}

/** Small numbers add up to int; too much is 8115 [doc: SUM]. */
function sumType(type: ValueType): ValueType {
  if (type.name === "decimal") return { name: "decimal", precision: 38, scale: type.scale };
  if (type.name === "bigint" || type.name === "float") return { name: type.name };
  if (isIntegerName(type.name) && type.name !== "bit") return intType;
  throw new SqlError(8117, `Operand data type ${type.name} is invalid for sum operator.`);
}

function summing(node: Aggregate, scalar: Scalar): AggregatePlan {
  const type = sumType(scalar.type);
  if (node.isDistinct) throw new SimulationError(`${node.name} of distinct values isn't modelled`);
  const average = (sum: number | bigint, count: number): SqlValue => {
    if (node.name === "SUM") return sum;
    if (typeof sum === "bigint") return sum / BigInt(count);
    return type.name === "float" ? sum / count : Math.trunc(sum / count);
  };
  return {
    type,
    isNullable: true,
    collation: scalar.collation,
    start: () => {
      let sum: number | bigint | undefined;
      let count = 0;
      return {
        add: (frame) => {
          const value = scalar.evaluate(frame);
          if (typeof value !== "number" && typeof value !== "bigint") return;
          count += 1;
          sum = addUp(sum, value);
          if (isIntegerName(type.name) && !fitsInteger(sum, type.name))
            throw sqlErrors.overflow(type.name);
        },
        result: () => (sum === undefined ? null : average(sum, count)),
      };
    },
  };
}

function addUp(sum: number | bigint | undefined, value: number | bigint): number | bigint {
  if (sum === undefined) return value;
  return typeof sum === "bigint" || typeof value === "bigint"
    ? BigInt(sum) + BigInt(value)
    : sum + value;
}

/** STRING_AGG: more than 8,000 bytes only if its argument is `max` (9829) [doc: STRING_AGG]. */
function joining(node: Aggregate, argument: Scalar, scope: Scope): AggregatePlan {
  const scalar = isText(argument.type) ? argument : asTextScalar(argument);
  const { type } = scalar;
  if (!isText(type)) throw new Error("STRING_AGG has no text");
  const separator =
    node.separator === undefined ? undefined : bindExpression(node.separator, scope);
  const keys = bindOrder(node.withinGroup, scope);
  const isMax = type.length === "max";
  const most = longestOf(type);
  return {
    type: { name: isUnicode(type) ? "nvarchar" : "varchar", length: isMax ? "max" : most },
    isNullable: true,
    collation: scalar.collation,
    start: () => {
      const items: { text: string; keys: SqlValue[] }[] = [];
      let between = "";
      return {
        add: (frame) => {
          const value = scalar.evaluate(frame);
          if (value === null) return;
          if (separator !== undefined) between = String(separator.evaluate(frame) ?? "");
          items.push({ text: String(value), keys: keysOf(keys, frame) });
        },
        result: () => {
          if (items.length === 0) return null;
          items.sort((left, right) => compareKeyRows(keys, left.keys, right.keys));
          const text = items.map((item) => item.text).join(between);
          if (isMax || text.length <= most) return text;
          throw new SqlError(
            9829,
            "STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB types to avoid result truncation.",
          );
        },
      };
    },
  };
}
