import type { Exists, InQuery, Subquery } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import type { Condition, Scalar, Truth } from "../expression";
import { scalarOf, steppedCondition, steppedScalar, unite, valueOf } from "../expression";
import type { Frame } from "../frame";
import { SqlError, sqlErrors } from "../sql-error";
import type { Steps } from "../steps";
import { bindExpression } from "./expressions";
import { comparison } from "./predicates";
import type { QueryPlan } from "./query";
import { bindQuery } from "./query";
import type { Scope } from "./scope";

/** Queries inside expressions. One that reads nothing of the rows around it runs once per statement, first. */

function onlyColumn(plan: QueryPlan): QueryPlan["columns"][number] {
  const [column] = plan.columns;
  if (column === undefined || plan.columns.length > 1) {
    throw new SqlError(
      116,
      "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.",
    );
  }
  return column;
}

function readAll(plan: QueryPlan): void {
  plan.columns.forEach((_column, place) => {
    plan.noteRead(place);
  });
}

export function bindSubquery(node: Subquery, scope: Scope): Scalar {
  const plan = bindQuery(node.query, scope);
  const column = onlyColumn(plan);
  readAll(plan);
  const run = function* (frame: Frame): Steps<SqlValue> {
    let value: SqlValue | undefined;
    yield* plan.run(frame, (row) => {
      if (value !== undefined) throw sqlErrors.severalRows();
      value = row[0] ?? null;
      return false;
    });
    return value ?? null;
  };
  const shape = { type: column.type, collation: column.collation, uses: plan.uses };
  const cell = hoist(plan, scope, run);
  if (cell === undefined) return steppedScalar(shape, run);
  return scalarOf(shape, (frame) => frame.cells[cell]?.value as SqlValue);
}

/** Puts a query that is the same for all rows in front of them. Undefined when it isn't, or there are no rows. */
function hoist(
  plan: QueryPlan,
  scope: Scope,
  run: (frame: Frame) => Steps<unknown>,
): number | undefined {
  if (plan.uses.size > 0 || scope.hoisted === undefined) return undefined;
  const cell = scope.binder.newCell();
  scope.hoisted.push(function* (frame) {
    if (frame.cells[cell]?.turn === frame.turn) return;
    const value = yield* run(frame);
    frame.cells[cell] = { turn: frame.turn, value };
  });
  return cell;
}

export function bindExists(node: Exists, scope: Scope): Condition {
  const plan = bindQuery(node.query, scope, true);
  const run = function* (frame: Frame): Steps<Truth> {
    return yield* plan.run(frame, () => true);
  };
  const cell = hoist(plan, scope, run);
  if (cell === undefined) return steppedCondition(plan.uses, run);
  return { uses: plan.uses, test: (frame) => frame.cells[cell]?.value === true, run: undefined };
}

export function bindInQuery(node: InQuery, scope: Scope): Condition {
  const operand = bindExpression(node.operand, scope);
  const plan = bindQuery(node.query, scope);
  const column = onlyColumn(plan);
  readAll(plan);
  const slot = scope.binder.newSlot();
  const item = scalarOf(
    { type: column.type, collation: column.collation, isNullable: column.isNullable },
    (frame) => frame.value(slot, 0),
  );
  const { parts, compare } = comparison(operand, item, "=");
  const [left, right] = parts;
  const uses = unite([operand, plan]);
  const decide = (wanted: SqlValue, values: readonly SqlValue[]): Truth => {
    if (values.length === 0) return node.isNegated;
    if (wanted === null) return null;
    if (values.some((value) => value !== null && compare(wanted, value) === 0))
      return !node.isNegated;
    return values.includes(null) ? null : node.isNegated;
  };
  const collect = function* (frame: Frame): Steps<SqlValue[]> {
    const values: SqlValue[] = [];
    yield* plan.run(frame, (row) => {
      frame.rows[slot] = row;
      values.push(right.evaluate(frame));
      return false;
    });
    return values;
  };
  const cell = left.run === undefined ? hoist(plan, scope, collect) : undefined;
  if (cell !== undefined) {
    const test = (frame: Frame): Truth =>
      decide(left.evaluate(frame), frame.cells[cell]?.value as SqlValue[]);
    if (node.isNegated) return { uses, test, run: undefined };
    const values = (frame: Frame): SqlValue[] => frame.cells[cell]?.value as SqlValue[];
    return { uses, test, run: undefined, membership: { operand, item: right, values } };
  }
  return steppedCondition(uses, function* (frame) {
    const wanted = yield* valueOf(left, frame);
    return decide(wanted, yield* collect(frame));
  });
}
