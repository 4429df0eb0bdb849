import type {
  Case,
  ColumnReference,
  Conversion,
  DataType,
  Expression,
  SystemVariable,
} from "../../syntax/ast";
import type { Scalar } from "../expression";
import { literal, scalarOf } from "../expression";
import { bindBuiltin } from "../functions/builtins";
import { bindDateCall } from "../functions/dates";
import { SimulationError, SqlError } from "../sql-error";
import type { ValueType } from "../types";
import { intType } from "../types";
import { bindArithmetic, bindUnary } from "./arithmetic";
import { canonicalText } from "./canonical";
import { bindCase } from "./case";
import { convertExplicitly } from "./conversions";
import type { Scope } from "./scope";
import { bindSubquery } from "./subqueries";
import { bindUserCall } from "./user-calls";

/** Gives every expression its type and its closure. */
export function bindExpression(node: Expression, scope: Scope): Scalar {
  const grouped = scope.grouping?.find(canonicalText(node, (column) => columnName(column, scope)));
  if (grouped !== undefined) return grouped;
  switch (node.kind) {
    case "literal":
      return literal(node.type, node.value);
    case "null":
      return scalarOf({ type: intType, constant: null, isUntyped: true }, () => null);
    case "variable":
      return bindVariable(node.name, scope);
    case "systemVariable":
      return bindSystemVariable(node);
    case "column":
      return bindColumn(node, scope);
    case "unary":
      return bindUnary(node.operator, bindExpression(node.operand, scope));
    case "arithmetic":
      return bindArithmetic(node.operator, [
        bindExpression(node.left, scope),
        bindExpression(node.right, scope),
      ]);
    case "collate": {
      const operand = bindExpression(node.operand, scope);
      return {
        ...operand,
        collation: { name: node.collation, rank: "explicit" },
        column: undefined,
      };
    }
    case "simpleCase":
    case "searchedCase":
      return bindCase(node satisfies Case, scope);
    case "conversion":
      return bindConversion(node, scope);
    case "builtin":
      return bindBuiltin(node, scope);
    case "dateCall":
      return bindDateCall(node, scope);
    case "userCall":
      return bindUserCall(node, scope);
    case "aggregate":
      if (node.over !== undefined) return needWindows(scope, node.line).add(node);
      return needGrouping(scope, node.line).addAggregate(node);
    case "windowCall":
      return needWindows(scope, node.line).add(node);
    case "nextValue":
      return bindNextValue(node, scope);
    case "subquery":
      return bindSubquery(node, scope);
  }
}

function needWindows(scope: Scope, line: number): NonNullable<Scope["windows"]> {
  if (scope.windows !== undefined) return scope.windows;
  throw new SqlError(
    4108,
    `Windowed functions can only appear in the SELECT or ORDER BY clauses (${scope.binder.place(line)}).`,
    { class: 15 },
  );
}

function needGrouping(scope: Scope, line: number): NonNullable<Scope["grouping"]> {
  if (scope.grouping !== undefined) return scope.grouping;
  throw new SqlError(
    147,
    `An aggregate may not appear in the WHERE clause (${scope.binder.place(line)}).`,
    { class: 15 },
  );
}

/** A column by source and place, so that two spellings of one column are the same; as written inside subqueries. */
export function columnName(node: ColumnReference, scope: Scope): string {
  const found = scope.find(node);
  if (found === undefined) return `${node.qualifier ?? ""}.${node.name}`;
  return `${found.binding.slot}.${found.column}`;
}

function bindColumn(node: ColumnReference, scope: Scope): Scalar {
  const { binding, column: place, scope: owner } = scope.resolve(node);
  if (scope.grouping !== undefined && owner === scope) {
    throw new SqlError(
      8120,
      `Column '${binding.alias}.${node.name}' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.`,
    );
  }
  scope.binder.noteRead({ binding, column: place });
  const { slot } = binding;
  const column = binding.columnAt(place);
  return scalarOf(
    {
      type: column.type,
      isNullable: column.isNullable || binding.isOptional,
      collation: column.collation,
      uses: new Set([slot]),
      column: { slot, place },
    },
    (frame) => frame.rows[slot]?.[place] ?? null,
  );
}

function bindVariable(name: string, scope: Scope): Scalar {
  const parameters = scope.findParameters();
  if (parameters !== undefined) {
    const place = parameters.placeOf(name);
    if (place === undefined)
      throw new SqlError(137, `Must declare the scalar variable "${name}".`, {
        class: 15,
        state: 2,
      });
    const { slot } = parameters;
    scope.noteFree(slot, undefined);
    const { type } = parameters.columnAt(place);
    return scalarOf({ type, uses: new Set([slot]) }, (frame) => frame.rows[slot]?.[place] ?? null);
  }
  const { place, type } = scope.binder.variable(name);
  return scalarOf({ type }, (frame) => frame.variables[place] ?? null);
}

function bindSystemVariable(node: SystemVariable): Scalar {
  const shape = { type: intType, isNullable: false };
  switch (node.name) {
    case "@@ROWCOUNT":
      return scalarOf(shape, (frame) => frame.connection.rowCount);
    case "@@TRANCOUNT":
      return scalarOf(shape, (frame) => frame.connection.transactionCount);
    case "@@OPTIONS":
      // Of its bits those of settings that are modelled and may be off [doc: user options].
      return scalarOf(shape, ({ connection: { settings } }) =>
        [2, 512, 16_384].reduce(
          (sum, bit, place) =>
            [settings.isImplicit, settings.isNoCount, settings.isXactAbort][place] === true
              ? sum + bit
              : sum,
          0,
        ),
      );
    case "@@ERROR":
      return scalarOf(shape, (frame) => frame.connection.lastError);
    case "@@SPID":
      return scalarOf(
        { type: { name: "smallint" }, isNullable: false },
        (frame) => frame.connection.id,
      );
    case "@@LOCK_TIMEOUT":
      return scalarOf(shape, (frame) => frame.connection.settings.lockTimeoutMs);
  }
}

/** A type of the text as expressions know it. */
export function valueTypeOf(type: DataType, scope: Scope): ValueType {
  switch (type.kind) {
    case "scalar":
      return type.type;
    case "datetimeoffset":
      return { name: "datetimeoffset", scale: type.scale };
    case "named":
      throw new SimulationError(
        `${scope.binder.place(type.name.line)}: ${type.name.name} is no type of values`,
      );
  }
}

function bindConversion(node: Conversion, scope: Scope): Scalar {
  const operand = bindExpression(node.operand, scope);
  const style = node.style === undefined ? undefined : bindExpression(node.style, scope);
  if (style !== undefined && typeof style.constant !== "number") {
    throw new SimulationError(
      `${scope.binder.place(node.line)}: a style that is no literal isn't modelled`,
    );
  }
  return convertExplicitly(operand, valueTypeOf(node.target, scope), {
    style: typeof style?.constant === "number" ? style.constant : 0,
    isTry: node.isTry,
  });
}

/** In the order of OVER (ORDER BY ..) it is given out like a row number; else whenever it is asked for. */
function bindNextValue(node: Extract<Expression, { kind: "nextValue" }>, scope: Scope): Scalar {
  if (node.orderBy.length > 0) return needWindows(scope, node.line).add(node);
  const sequence = scope.binder.catalog.sequence(node.sequence);
  scope.binder.need("UPDATE", sequence);
  return scalarOf({ type: sequence.type, isNullable: false }, (frame) => {
    const { world } = frame.connection;
    return world.nextValue(sequence, frame.connection);
  });
}
