import type { Comparer } from "../../storage/compare";
import { comparerOf } from "../../storage/compare";
import type { Expression, OrderItem, Query } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import type { Scalar } from "../expression";
import type { Frame } from "../frame";
import { SimulationError, SqlError } from "../sql-error";
import { bindExpression } from "./expressions";
import type { QueryPlan } from "./query";
import { collect } from "./query";
import type { Scope, SourceColumn } from "./scope";

/** ORDER BY: keys and how they compare. */

export interface OrderKey {
  readonly scalar: Scalar;
  readonly isDescending: boolean;
  readonly compare: Comparer;
}

/** Keys of an OVER or WITHIN GROUP: expressions only. */
export function bindOrder(items: readonly OrderItem[], scope: Scope): OrderKey[] {
  return items.map((item) => orderKey(bindExpression(item.expression, scope), item.isDescending));
}

export function orderKey(scalar: Scalar, isDescending: boolean): OrderKey {
  if (scalar.run !== undefined) throw new SimulationError("ORDER BY a query isn't modelled");
  return { scalar, isDescending, compare: comparerOf(scalar.type.name, scalar.collation.name) };
}

export function keysOf(keys: readonly OrderKey[], frame: Frame): SqlValue[] {
  return keys.map((key) => key.scalar.evaluate(frame));
}

export function compareKeyRows(
  keys: readonly { isDescending: boolean; compare: Comparer }[],
  left: readonly SqlValue[],
  right: readonly SqlValue[],
): number {
  for (const [place, key] of keys.entries()) {
    const order = key.compare(left[place] ?? null, right[place] ?? null);
    if (order !== 0) return key.isDescending ? -order : order;
  }
  return 0;
}

/** The place of an output column that an item of ORDER BY names: by number, or by its alias. */
export function outputPlace(
  item: Expression,
  columns: readonly SourceColumn[],
): number | undefined {
  if (item.kind === "literal" && typeof item.value === "number") {
    if (columns[item.value - 1] !== undefined) return item.value - 1;
    throw new SqlError(
      108,
      `The ORDER BY position number ${item.value} is out of range of the number of items in the select list.`,
    );
  }
  if (item.kind !== "column" || item.qualifier !== undefined) return undefined;
  const wanted = item.name.toLowerCase();
  const place = columns.findIndex((column) => column.name.toLowerCase() === wanted);
  return place < 0 ? undefined : place;
}

/** The order of a UNION: by its output columns only. */
export function bindOutputOrder(plan: QueryPlan, query: Query, scope: Scope): QueryPlan {
  if (query.offset !== undefined) {
    throw new SimulationError(
      `${scope.binder.place(query.line)}: OFFSET on a UNION isn't modelled`,
    );
  }
  const keys = query.orderBy.map((item) => {
    const place = outputPlace(item.expression, plan.columns);
    const column = place === undefined ? undefined : plan.columns[place];
    if (place === undefined || column === undefined) {
      throw new SqlError(
        104,
        "ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.",
      );
    }
    plan.noteRead(place);
    const compare = comparerOf(column.type.name, column.collation.name);
    return { place, isDescending: item.isDescending, compare };
  });
  return {
    ...plan,
    run: function* (frame, consume) {
      const rows = yield* collect(plan, frame);
      const keyed = rows.map((row) => ({ row, values: keys.map((key) => row[key.place] ?? null) }));
      keyed.sort((left, right) => compareKeyRows(keys, left.values, right.values));
      for (const { row } of keyed) {
        const result = consume(row);
        if (typeof result === "boolean" ? result : yield* result) return true;
      }
      return false;
    },
  };
}
