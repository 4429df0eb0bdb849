import type { ColumnReference, Expression, Predicate } from "../../syntax/ast";

/**
 * A text that two expressions share exactly if they say the same: lines are left out, the asker names the columns.
 * GROUP BY finds its expressions again by it, and a filtered index its own condition.
 */
export function canonicalText(
  node: Expression | Predicate,
  nameOf: (column: ColumnReference) => string,
): string {
  return JSON.stringify(node, (key, value: unknown) => {
    if (key === "line") return undefined;
    if (typeof value === "bigint") return `${String(value)}n`;
    if (isColumn(value)) return `column ${nameOf(value)}`;
    return value;
  });
}

function isColumn(value: unknown): value is ColumnReference {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "column";
}

/** The parts that must all hold. */
export function conjunctsOf(predicate: Predicate | undefined): Predicate[] {
  if (predicate === undefined) return [];
  if (predicate.kind !== "and") return [predicate];
  return [...conjunctsOf(predicate.left), ...conjunctsOf(predicate.right)];
}
