import type { Predicate } from "../syntax/ast";
import { bindExpression, columnName } from "./bind/expressions";
import { canonicalText, conjunctsOf } from "./bind/canonical";
import { bindPredicate, compareScalars } from "./bind/predicates";
import type { Scope } from "./bind/scope";
import type { Condition, Scalar } from "./expression";

/** One of the conditions that must all hold, in a form that scans can judge. */
export interface Conjunct {
  readonly condition: Condition;
  readonly line: number;
  /** The same for the same condition on the same sources. */
  readonly text: string;
  readonly comparison:
    | {
        readonly operator: "=" | "<" | "<=" | ">" | ">=";
        readonly left: Scalar;
        readonly right: Scalar;
      }
    | undefined;
  /** `column IS NULL`. */
  readonly nullColumn: { readonly slot: number; readonly place: number } | undefined;
}

/** Splits and binds a WHERE or ON. */
export function bindConjuncts(predicate: Predicate | undefined, scope: Scope): Conjunct[] {
  return conjunctsOf(predicate).flatMap((part) => bindConjunct(part, scope));
}

function bindConjunct(node: Predicate, scope: Scope): Conjunct[] {
  const text = canonicalText(node, (column) => columnName(column, scope));
  const plain = { line: node.line, text, comparison: undefined, nullColumn: undefined };
  if (node.kind === "comparison" && node.operator !== "<>") {
    const left = bindExpression(node.left, scope);
    const right = bindExpression(node.right, scope);
    const { operator } = node;
    const condition = compareScalars(left, right, operator);
    return [{ ...plain, condition, comparison: { operator, left, right } }];
  }
  if (node.kind === "between" && !node.isNegated) {
    const left = bindExpression(node.operand, scope);
    const sides = [
      { operator: ">=", right: bindExpression(node.low, scope) },
      { operator: "<=", right: bindExpression(node.high, scope) },
    ] as const;
    return sides.map(({ operator, right }) => ({
      ...plain,
      text: `${text} ${operator}`,
      condition: compareScalars(left, right, operator),
      comparison: { operator, left, right },
    }));
  }
  const condition = bindPredicate(node, scope);
  if (node.kind === "isNull" && !node.isNegated && node.operand.kind === "column") {
    return [{ ...plain, condition, nullColumn: bindExpression(node.operand, scope).column }];
  }
  return [{ ...plain, condition }];
}
