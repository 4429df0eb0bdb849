import type {
  Apply,
  FunctionSource,
  Join,
  Source as SourceNode,
  TableSource,
  ValuesSource,
} from "../../syntax/ast";
import type { CreateView } from "../../syntax/ast-definitions";
import type { CreateFunction, Parameter } from "../../syntax/ast-statements";
import { bindConjuncts } from "../conjunct";
import type { Scalar } from "../expression";
import { literal } from "../expression";
import { ApplySource, JoinSource } from "../joins";
import { DerivedSource, ParameterSource, RowsSource } from "../row-sources";
import { SimulationError, sqlErrors } from "../sql-error";
import type { Source } from "../source";
import { findSystemView } from "../system-views";
import { TableScan } from "../table-scan";
import { bindTable } from "../table-rules";
import { printName } from "../catalog";
import type { Binder } from "./binder";
import { convertTo } from "./conversions";
import { bindExpression, valueTypeOf } from "./expressions";
import { bindOpenJson } from "./open-json";
import type { QueryPlan } from "./query";
import { bindQuery } from "./query";
import { resultCollation, resultType } from "./case";
import { Scope, SourceBinding } from "./scope";
import { noteUpdatable } from "./updatable";
import { bindParameters, returnedQuery } from "./user-calls";

/** Binds FROM: its sources become visible in the scope, left to right. */
export function bindSource(node: SourceNode, scope: Scope): Source {
  switch (node.kind) {
    case "table":
      return bindNamed(node, scope);
    case "tableVariable": {
      const variable = scope.binder.table(node.name);
      const binding = bindTable(variable.schema, node.alias ?? node.name, scope.binder.newSlot());
      scope.sources.push(binding);
      const scan = new TableScan(
        { binding, schema: variable.schema, variable: variable.place },
        { binder: scope.binder, line: node.line },
      );
      scope.binder.noteScan(scan);
      return scan;
    }
    case "function":
      return bindFunction(node, scope);
    case "openJson":
      return bindOpenJson(node, scope);
    case "derived": {
      const plan = bindQuery(node.query, inner(scope));
      return derive(plan, scope, { alias: node.alias, columns: node.columns });
    }
    case "values":
      return bindValues(node, scope);
    case "join":
      return bindJoin(node, scope);
    case "apply":
      return bindApply(node, scope);
  }
}

/** A derived table sees the surroundings of the query, not its neighbours. */
function inner(scope: Scope): Scope {
  const around = new Scope(scope.binder, scope.outer);
  around.parameters = scope.parameters;
  around.lookUpCtesIn(scope);
  return around;
}

/** A query as a source. Only its used columns count as read. */
function derive(
  plan: QueryPlan,
  scope: Scope,
  as: { alias: string; columns: readonly string[] | undefined; ownSlot?: number },
): Source {
  const slot = scope.binder.newSlot();
  const columns = plan.columns.map((column, place) => ({
    ...column,
    name: as.columns?.[place] ?? column.name,
  }));
  scope.sources.push(new SourceBinding(as.alias, slot, { columns, onRead: plan.noteRead }));
  if (plan.updatable !== undefined) noteUpdatable(scope.binder, slot, plan.updatable);
  for (const used of plan.uses) {
    if (used !== as.ownSlot) scope.noteFree(used, ownerOf(used, scope));
  }
  return new DerivedSource(plan, slot, scope.binder.newCell());
}

/** The scope, here or further out, that has a slot; undefined for parameters. */
function ownerOf(slot: number, scope: Scope): Scope | undefined {
  for (let one: Scope | undefined = scope; one !== undefined; one = one.outer) {
    if (one.sources.some((source) => source.slot === slot)) return one;
  }
  return undefined;
}

/** The name of a CTE, a view or a table. */
function bindNamed(node: TableSource, scope: Scope): Source {
  const alias = node.alias ?? node.name.name;
  const scoped = node.name.schema === undefined ? scope.findCte(node.name.name) : undefined;
  if (scoped !== undefined) {
    const plan = bindQuery(scoped.cte.query, scoped.scope);
    return derive(plan, scope, { alias, columns: scoped.cte.columns });
  }
  const object = scope.binder.catalog.find(node.name);
  if (object?.kind === "view") {
    scope.binder.need("SELECT", object);
    const plan = scope.binder.within(object.schema, () =>
      bindView(object.definition, scope.binder),
    );
    return derive(plan, scope, { alias, columns: object.definition.columns });
  }
  if (object?.kind === "table") {
    const binding = bindTable(object.table, alias, scope.binder.newSlot());
    scope.sources.push(binding);
    const scan = new TableScan(
      { binding, schema: object.table },
      { binder: scope.binder, hints: node.hints, line: node.line },
    );
    scope.binder.noteScan(scan);
    scope.binder.need("SELECT", object, scan);
    return scan;
  }
  const view = findSystemView(node.name);
  if (view === undefined) throw sqlErrors.unknownObject(printName(node.name));
  const slot = scope.binder.newSlot();
  scope.sources.push(new SourceBinding(alias, slot, { columns: view.columns }));
  return new RowsSource(slot, (frame) => view.rows(frame.connection));
}

export function bindView(definition: CreateView, binder: Binder): QueryPlan {
  const around = new Scope(binder);
  for (const cte of definition.ctes) around.addCte(cte, around);
  return bindQuery(definition.query, around);
}

/** An inline function is a query whose parameters are columns of one row. */
function bindFunction(node: FunctionSource, scope: Scope): Source {
  const object = scope.binder.catalog.find(node.name);
  if (object?.kind !== "function" || object.definition.result.kind !== "inlineTable") {
    throw sqlErrors.unknownObject(printName(node.name));
  }
  scope.binder.need("SELECT", object);
  const { parameters, result } = object.definition;
  const values = bindParameters(node.name, { parameters, arguments: node.arguments }, scope);
  const slot = scope.binder.newSlot();
  const plan = scope.binder.within(object.schema, () =>
    bindReturned(result, parametersAs(parameters, values, slot), scope.binder),
  );
  for (const value of values)
    for (const used of value.uses) scope.noteFree(used, ownerOf(used, scope));
  const source = derive(plan, scope, {
    alias: node.alias ?? node.name.name,
    columns: undefined,
    ownSlot: slot,
  });
  return new ParameterSource(source, slot, values);
}

type InlineResult = Extract<CreateFunction["result"], { kind: "inlineTable" }>;

function parametersAs(
  parameters: readonly Parameter[],
  values: readonly Pick<Scalar, "type" | "collation">[],
  slot: number,
): SourceBinding {
  return new SourceBinding("", slot, {
    columns: values.map(({ type, collation }, place) => ({
      name: parameters[place]?.name ?? "",
      type,
      isNullable: true,
      collation,
    })),
  });
}

function bindReturned(result: InlineResult, parameters: SourceBinding, binder: Binder): QueryPlan {
  const around = new Scope(binder);
  around.parameters = parameters;
  return bindQuery(returnedQuery(result, around), around);
}

/** An inline function by itself, as CREATE sees it. */
export function bindInline(definition: CreateFunction, binder: Binder): QueryPlan {
  const { parameters, result } = definition;
  if (result.kind !== "inlineTable") throw new Error("Expected an inline function");
  const scope = new Scope(binder);
  const values = parameters.map(({ type }) => literal(valueTypeOf(type, scope), null));
  return bindReturned(result, parametersAs(parameters, values, binder.newSlot()), binder);
}

function bindValues(node: ValuesSource, scope: Scope): Source {
  const rows = node.rows.map((row) => row.map((value) => bindExpression(value, scope)));
  const columns = node.columns.map((name, place) => {
    const values = rows.flatMap((row) => row[place] ?? []);
    if (values.length !== rows.length) {
      throw new SimulationError(
        `${scope.binder.place(node.line)}: VALUES has rows of unequal length`,
      );
    }
    const type = values.every((value) => value.isUntyped)
      ? { name: "int" as const }
      : resultType(values);
    const collation = resultCollation(values, "VALUES");
    return { name, type, collation, isNullable: values.some((value) => value.isNullable) };
  });
  const typed = rows.map((row) =>
    row.map((value, place) => convertTo(value, columns[place]?.type ?? value.type)),
  );
  const slot = scope.binder.newSlot();
  scope.sources.push(new SourceBinding(node.alias, slot, { columns }));
  return new RowsSource(slot, (frame) =>
    typed.map((row) => row.map((value) => value.evaluate(frame))),
  );
}

function bindJoin(node: Join, scope: Scope): Source {
  if (node.type === "right" || node.type === "full") {
    throw new SimulationError(
      `${scope.binder.place(node.line)}: ${node.type} joins aren't modelled`,
    );
  }
  const left = bindSource(node.left, scope);
  const before = scope.sources.length;
  const right = bindSource(node.right, scope);
  const join = new JoinSource(left, right, node.type === "left");
  for (const conjunct of bindConjuncts(node.on, scope)) join.placeOn(conjunct);
  for (const source of scope.sources.slice(before)) source.isOptional ||= node.type === "left";
  return join;
}

/** The right side sees the rows of the left one. */
function bindApply(node: Apply, scope: Scope): Source {
  const left = bindSource(node.left, scope);
  const beside = new Scope(scope.binder, scope);
  const right = bindSource(node.right, beside);
  for (const source of beside.sources) source.isOptional ||= node.isOuter;
  scope.sources.push(...beside.sources);
  return new ApplySource(left, right, node.isOuter);
}
