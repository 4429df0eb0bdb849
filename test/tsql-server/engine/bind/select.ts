import type { Expression, Query, Select, SelectItem } from "../../syntax/ast";
import { bindConjuncts } from "../conjunct";
import type { Condition, Scalar } from "../expression";
import { SelectRun } from "../select-run";
import { SimulationError, sqlErrors } from "../sql-error";
import type { Source, WantedOrder } from "../source";
import { bigintType } from "../types";
import { convertTo } from "./conversions";
import { bindExpression } from "./expressions";
import { Grouper } from "./grouping";
import type { OrderKey } from "./ordering";
import { orderKey, outputPlace } from "./ordering";
import { bindPredicate } from "./predicates";
import type { QueryPlan } from "./query";
import type { ColumnUse, SourceColumn } from "./scope";
import { Scope } from "./scope";
import { bindSource } from "./sources";
import { WindowSet } from "./windows";

/** An item of a select list that is bound. */
interface BoundItem {
  readonly column: SourceColumn;
  readonly scalar: Scalar;
  /** Columns that it reads: they count once the item itself is used. */
  readonly reads: readonly ColumnUse[];
}

/** How a statement binds items that only it may have: assignments. */
export type BindAssignment = (
  item: Extract<SelectItem, { kind: "assign" }>,
  scope: Scope,
) => { name: string; scalar: Scalar };

/** A SELECT with the order of its query. */
export function bindSelect(
  node: { select: Select; query: Query; bindAssignment?: BindAssignment; asksForAny?: boolean },
  outer: Scope,
): QueryPlan {
  const { select, query, bindAssignment, asksForAny = false } = node;
  const scope = new Scope(outer.binder, outer);
  scope.hoisted = [];
  const source = select.from === undefined ? undefined : bindSource(select.from, scope);
  const startup = placeWhere(select, source, scope);
  const { hoisted } = scope;
  scope.hoisted = undefined;
  const grouper = needsGrouping(select, query) ? new Grouper(select.groupBy, scope) : undefined;
  const windows = new WindowSet(scope);
  scope.grouping = grouper;
  scope.windows = windows;
  const items = bindItems(select.items, scope, bindAssignment);
  const having = select.having === undefined ? undefined : bindPredicate(select.having, scope);
  const order = bindOrderKeys(query, items, scope);
  scope.grouping = undefined;
  scope.windows = undefined;
  const isWhole = select.isDistinct || grouper !== undefined || !windows.isEmpty;
  const noteRead = (place: number): void => {
    for (const use of items[place]?.reads ?? []) scope.binder.noteRead(use);
  };
  if (isWhole)
    items.forEach((_item, place) => {
      noteRead(place);
    });
  const scalars = items.map((item) => item.scalar);
  const run = new SelectRun({
    source,
    startup,
    hoisted,
    grouper,
    windows: windows.isEmpty ? undefined : windows,
    having,
    order,
    wantedOrder: wantedOrder(query, items, scope),
    items: scalars,
    columns: items.map((item) => item.column),
    isDistinct: select.isDistinct,
    top: bindCount(select.top, outer),
    offset: bindCount(query.offset, outer),
    fetch: bindCount(query.fetch, outer),
    slots: [...(source?.slots ?? [])],
    asksForAny,
  });
  return {
    columns: items.map((item) => item.column),
    uses: scope.freeSlots,
    isSingleRow: source === undefined || (grouper !== undefined && select.groupBy.length === 0),
    noteRead,
    run: (frame, consume) => run.run(frame, consume),
    updatable: { items: scalars, source },
  };
}

/** Conditions go as far down as they can; those about no source are tested once, first. */
function placeWhere(select: Select, source: Source | undefined, scope: Scope): Condition[] {
  const startup: Condition[] = [];
  for (const conjunct of bindConjuncts(select.where, scope)) {
    const isOwn =
      source !== undefined && [...conjunct.condition.uses].some((slot) => source.slots.has(slot));
    if (isOwn) source.place(conjunct);
    else startup.push(conjunct.condition);
  }
  return startup;
}

function bindCount(count: Expression | undefined, outer: Scope): Scalar | undefined {
  return count === undefined ? undefined : convertTo(bindExpression(count, outer), bigintType);
}

function needsGrouping(select: Select, query: Query): boolean {
  if (select.groupBy.length > 0 || select.having !== undefined) return true;
  const parts: unknown[] = [select.items, query.orderBy];
  return parts.some(hasAggregate);
}

/** An aggregate without OVER, outside subqueries. */
function hasAggregate(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some(hasAggregate);
  if ("kind" in node) {
    if (node.kind === "aggregate" && "over" in node && node.over === undefined) return true;
    if (node.kind === "subquery" || node.kind === "exists") return false;
    if (node.kind === "inQuery" && "operand" in node) return hasAggregate(node.operand);
  }
  return Object.values(node).some(hasAggregate);
}

// ---- items

function bindItems(
  nodes: readonly SelectItem[],
  scope: Scope,
  bindAssignment: BindAssignment | undefined,
): BoundItem[] {
  return nodes.flatMap((node) => {
    if (node.kind === "star") return expandStar(node, scope);
    const { result, reads } = scope.binder.record(() => bindItem(node, scope, bindAssignment));
    return [{ ...result, reads }];
  });
}

function bindItem(
  node: Exclude<SelectItem, { kind: "star" }>,
  scope: Scope,
  bindAssignment: BindAssignment | undefined,
): Omit<BoundItem, "reads"> {
  if (node.kind === "assign") {
    if (bindAssignment === undefined) {
      throw new SimulationError(
        `${scope.binder.place(node.line)}: an assignment is no column of a query`,
      );
    }
    const { name, scalar } = bindAssignment(node, scope);
    return { column: columnOf(name, scalar), scalar };
  }
  const scalar = bindExpression(node.value, scope);
  const name = node.alias ?? (node.value.kind === "column" ? node.value.name : "");
  return { column: columnOf(name, scalar), scalar };
}

function columnOf(name: string, scalar: Scalar): SourceColumn {
  const { type, isNullable, collation } = scalar;
  // Outside the query the text is a column: its collation counts as one's.
  const rank = collation.rank === "default" ? "default" : "implicit";
  const { isUntyped } = scalar;
  return { name, type, isNullable, isUntyped, collation: { name: collation.name, rank } };
}

function expandStar(node: Extract<SelectItem, { kind: "star" }>, scope: Scope): BoundItem[] {
  const wanted = node.qualifier?.toLowerCase();
  const sources = scope.sources.filter(
    (source) => wanted === undefined || source.alias.toLowerCase() === wanted,
  );
  if (sources.length === 0) throw sqlErrors.unboundName(`${node.qualifier ?? ""}.*`);
  return sources.flatMap((source) =>
    source.columns.map((column) => {
      const { result, reads } = scope.binder.record(() =>
        bindExpression(
          { kind: "column", qualifier: source.alias, name: column.name, line: node.line },
          scope,
        ),
      );
      return { column: columnOf(column.name, result), scalar: result, reads };
    }),
  );
}

// ---- order

function bindOrderKeys(query: Query, items: readonly BoundItem[], scope: Scope): OrderKey[] {
  const columns = items.map((item) => item.column);
  return query.orderBy.map((node) => {
    const place = outputPlace(node.expression, columns);
    const item = place === undefined ? undefined : items[place];
    if (item === undefined)
      return orderKey(bindExpression(node.expression, scope), node.isDescending);
    for (const use of item.reads) scope.binder.noteRead(use);
    return orderKey(item.scalar, node.isDescending);
  });
}

/** The order as plain columns of sources, which an index may serve; undefined when it is more than that. */
function wantedOrder(
  query: Query,
  items: readonly BoundItem[],
  scope: Scope,
): WantedOrder[] | undefined {
  if (query.orderBy.length === 0) return undefined;
  const columns = items.map((item) => item.column);
  const order: WantedOrder[] = [];
  for (const node of query.orderBy) {
    const place = outputPlace(node.expression, columns);
    let column = place === undefined ? undefined : items[place]?.scalar.column;
    if (place === undefined && node.expression.kind === "column") {
      const found = scope.resolve(node.expression);
      column = { slot: found.binding.slot, place: found.column };
    }
    if (column === undefined) return undefined;
    order.push({ slot: column.slot, column: column.place, isDescending: node.isDescending });
  }
  return order;
}
