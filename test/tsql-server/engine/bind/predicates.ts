import { comparerOf } from "../../storage/compare";
import type { Between, Comparison, InList, Like, Logic, Predicate } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import type { Condition, Scalar, Truth } from "../expression";
import {
  apply,
  combineCollations,
  compareTwo,
  steppedCondition,
  truthOf,
  unite,
  valueOf,
} from "../expression";
import type { Frame } from "../frame";
import { SqlError } from "../sql-error";
import type { Steps } from "../steps";
import type { ValueType } from "../types";
import { isInstant, isText, isUnicode } from "../types";
import { comparedType } from "./arithmetic";
import { convertTo } from "./conversions";
import { bindExpression } from "./expressions";
import { matcherOf } from "./like";
import { bindExists, bindInQuery } from "./subqueries";
import type { Scope } from "./scope";

/** Conditions: three-valued logic over closures. */

export function bindPredicate(node: Predicate, scope: Scope): Condition {
  switch (node.kind) {
    case "and":
    case "or":
      return bindLogic(node, scope);
    case "not": {
      const operand = bindPredicate(node.operand, scope);
      return negate(operand);
    }
    case "comparison":
      return bindComparison(node, scope);
    case "isNull":
      return nullTest(bindExpression(node.operand, scope), node.isNegated);
    case "between":
      return bindBetween(node, scope);
    case "like":
      return bindLike(node, scope);
    case "inList":
      return bindInList(node, scope);
    case "inQuery":
      return bindInQuery(node, scope);
    case "exists":
      return bindExists(node, scope);
  }
}

export function negate(operand: Condition): Condition {
  const flip = (truth: Truth): Truth => (truth === null ? null : !truth);
  if (operand.run !== undefined) {
    return steppedCondition(operand.uses, function* (frame) {
      return flip(yield* truthOf(operand, frame));
    });
  }
  const { test } = operand;
  return { uses: operand.uses, test: (frame) => flip(test(frame)), run: undefined };
}

/** The second operand is left out where the first one decides: a query in it then locks nothing. */
function bindLogic(node: Logic, scope: Scope): Condition {
  const left = bindPredicate(node.left, scope);
  const right = bindPredicate(node.right, scope);
  return joinConditions(node.kind, left, right);
}

function joinConditions(kind: "and" | "or", left: Condition, right: Condition): Condition {
  const uses = unite([left, right]);
  const decisive = kind === "or";
  const join = (one: Truth, other: Truth): Truth => {
    if (other === decisive) return decisive;
    return one === null || other === null ? null : !decisive;
  };
  if (left.run !== undefined || right.run !== undefined) {
    return steppedCondition(uses, function* (frame: Frame): Steps<Truth> {
      const one = yield* truthOf(left, frame);
      if (one === decisive) return decisive;
      return join(one, yield* truthOf(right, frame));
    });
  }
  const testLeft = left.test;
  const testRight = right.test;
  const test = (frame: Frame): Truth => {
    const one = testLeft(frame);
    return one === decisive ? decisive : join(one, testRight(frame));
  };
  return { uses, test, run: undefined };
}

function nullTest(operand: Scalar, isNegated: boolean): Condition {
  if (operand.run !== undefined) {
    return steppedCondition(operand.uses, function* (frame) {
      return ((yield* valueOf(operand, frame)) === null) !== isNegated;
    });
  }
  const { evaluate } = operand;
  return {
    uses: operand.uses,
    test: (frame) => (evaluate(frame) === null) !== isNegated,
    run: undefined,
  };
}

// ---- comparisons

type Order = (order: number) => boolean;

const orders: Record<Comparison["operator"], Order> = {
  "=": (order) => order === 0,
  "<>": (order) => order !== 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

function bindComparison(node: Comparison, scope: Scope): Condition {
  const left = bindExpression(node.left, scope);
  const right = bindExpression(node.right, scope);
  return compareScalars(left, right, node.operator);
}

export function compareScalars(
  left: Scalar,
  right: Scalar,
  operator: Comparison["operator"],
): Condition {
  const { parts, compare } = comparison(left, right, operator);
  const decide = orders[operator];
  return compareTwo(parts, (one, other) => decide(compare(one, other)));
}

/** Both sides in their common type, and how its values compare. Whole numbers of any size compare as they are. */
export function comparison(
  left: Scalar,
  right: Scalar,
  operation: string,
): { parts: readonly [Scalar, Scalar]; compare: (one: SqlValue, other: SqlValue) => number } {
  const type = comparedType(left, right);
  refuseClash(left, right, type);
  const parts = [convertOperand(left, type), convertOperand(right, type)] as const;
  const collation = isText(type)
    ? combineCollations(parts, words[operation] ?? operation)
    : undefined;
  return { parts, compare: comparerOf(type.name, collation?.name ?? "") };
}

const words: Record<string, string> = {
  "=": "equal to",
  "<>": "not equal to",
  "<": "less than",
  "<=": "less than or equal to",
  ">": "greater than",
  ">=": "greater than or equal to",
};

function convertOperand(scalar: Scalar, type: ValueType): Scalar {
  const { name } = scalar.type;
  if (name === type.name && name !== "decimal") return scalar;
  if (isWhole(name) && isWhole(type.name)) return scalar;
  // Texts are compared as long as they are.
  if (isText(scalar.type) && isText(type)) {
    return isUnicode(type) === isUnicode(scalar.type)
      ? scalar
      : convertTo(scalar, { name: "nvarchar", length: scalar.type.length });
  }
  return convertTo(scalar, type);
}

function isWhole(name: string): boolean {
  return (
    name === "bigint" ||
    name === "int" ||
    name === "smallint" ||
    name === "tinyint" ||
    name === "bit"
  );
}

function refuseClash(left: Scalar, right: Scalar, type: ValueType): void {
  const isMixed =
    isInstant(type) &&
    [left, right].some((part) => !isInstant(part.type) && !isText(part.type) && !part.isUntyped);
  if (isMixed) {
    throw new SqlError(
      206,
      `Operand type clash: ${left.type.name} is incompatible with ${right.type.name}`,
    );
  }
}

function bindBetween(node: Between, scope: Scope): Condition {
  const operand = bindExpression(node.operand, scope);
  const low = compareScalars(operand, bindExpression(node.low, scope), ">=");
  const high = compareScalars(operand, bindExpression(node.high, scope), "<=");
  const both = joinConditions("and", low, high);
  return node.isNegated ? negate(both) : both;
}

function bindInList(node: InList, scope: Scope): Condition {
  const operand = bindExpression(node.operand, scope);
  const items = node.values.map((value) => bindExpression(value, scope));
  const [first, ...rest] = items.map((item) => compareScalars(operand, item, "="));
  const [item] = items;
  if (first === undefined || item === undefined) throw new Error("IN without values");
  const any = rest.reduce((left, right) => joinConditions("or", left, right), first);
  if (node.isNegated) return negate(any);
  const areAlike = items.every((one) => one.run === undefined && one.type.name === item.type.name);
  if (!areAlike || any.run !== undefined) return any;
  const evaluations = items.map((one) => one.evaluate);
  const values = (frame: Frame): SqlValue[] => evaluations.map((evaluate) => evaluate(frame));
  const allConstant = items.every((one) => one.constant !== undefined);
  return {
    ...any,
    membership: {
      operand,
      item: allConstant ? item : { ...item, constant: undefined, uses: unite(items) },
      values,
    },
  };
}

function bindLike(node: Like, scope: Scope): Condition {
  const parts = [
    node.operand,
    node.pattern,
    ...(node.escape === undefined ? [] : [node.escape]),
  ].map((part) => {
    const scalar = bindExpression(part, scope);
    return isText(scalar.type) ? scalar : convertTo(scalar, { name: "nvarchar", length: 4000 });
  });
  const collation = combineCollations(parts, "like");
  const matched = apply({ type: { name: "bit" } }, parts, ([text, pattern, escape]) => {
    if (text === null || pattern === null || escape === null) return null;
    const matches = matcherOf(String(pattern), {
      escape: escape === undefined ? undefined : String(escape),
      collation: collation.name,
    });
    return matches(String(text)) ? 1 : 0;
  });
  const isTrue = (value: SqlValue): Truth =>
    value === null ? null : (value === 1) !== node.isNegated;
  if (matched.run !== undefined) {
    return steppedCondition(matched.uses, function* (frame) {
      return isTrue(yield* valueOf(matched, frame));
    });
  }
  return { uses: matched.uses, test: (frame) => isTrue(matched.evaluate(frame)), run: undefined };
}
