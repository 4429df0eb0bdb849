import type { Query, SetOperation } from "../../syntax/ast";
import type { SqlValue } from "../../values";
import { converterOf } from "../convert";
import type { Frame } from "../frame";
import { hashKeys } from "../hash-key";
import { SqlError } from "../sql-error";
import type { Steps } from "../steps";
import type { ValueType } from "../types";
import { commonType, printType } from "../types";
import type { UpdatableQuery } from "./updatable";
import { bindSelect } from "./select";
import type { Scope, SourceColumn } from "./scope";
import { bindOutputOrder } from "./ordering";

/** Called with each row. True: enough. */
export type Consume = (row: SqlValue[]) => boolean | Steps<boolean>;

/** A query that is bound: what its columns are, and how to run it. */
export interface QueryPlan {
  readonly columns: readonly SourceColumn[];
  /** Slots of the rows around it. */
  readonly uses: ReadonlySet<number>;
  readonly isSingleRow: boolean;
  /** Says that a column's value is used: its sources count as read. */
  readonly noteRead: (place: number) => void;
  readonly run: (frame: Frame, consume: Consume) => Steps<boolean>;
  /** Of a single SELECT: what a write through it is about. */
  readonly updatable?: UpdatableQuery;
}

/** Binds a query inside a scope. `asksForAny`: only whether there is a row counts, as in EXISTS. */
export function bindQuery(query: Query, outer: Scope, asksForAny = false): QueryPlan {
  if (query.body.kind === "select")
    return bindSelect({ select: query.body, query, asksForAny }, outer);
  const plan = bindSetOperation(query.body, outer);
  if (query.orderBy.length === 0) return plan;
  return bindOutputOrder(plan, query, outer);
}

function bindBody(body: Query["body"], outer: Scope): QueryPlan {
  if (body.kind === "setOperation") return bindSetOperation(body, outer);
  const bare = { line: body.line, body, orderBy: [], offset: undefined, fetch: undefined };
  return bindSelect({ select: body, query: bare }, outer);
}

function bindSetOperation(node: SetOperation, outer: Scope): QueryPlan {
  const left = bindBody(node.left, outer);
  const right = bindBody(node.right, outer);
  if (left.columns.length !== right.columns.length) {
    throw new SqlError(
      205,
      "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.",
      { class: 16 },
    );
  }
  const columns = left.columns.map((column, place) => {
    const other = right.columns[place] ?? column;
    const isUntyped = column.isUntyped === true && other.isUntyped === true;
    return {
      name: column.name,
      type: sharedType(column, other),
      isUntyped,
      collation: column.collation.rank === "default" ? other.collation : column.collation,
      isNullable: column.isNullable || other.isNullable,
    };
  });
  const shape = {
    columns,
    uses: new Set([...left.uses, ...right.uses]),
    isSingleRow: false,
    noteRead: (place: number): void => {
      left.noteRead(place);
      right.noteRead(place);
    },
  };
  const fitLeft = fit(left, columns);
  const fitRight = fit(right, columns);
  if (node.operator === "unionAll") {
    return {
      ...shape,
      run: function* (frame, consume) {
        if (yield* left.run(frame, (row) => consume(fitLeft(row)))) return true;
        return yield* right.run(frame, (row) => consume(fitRight(row)));
      },
    };
  }
  columns.forEach((_column, place) => {
    shape.noteRead(place);
  });
  return {
    ...shape,
    run: function* (frame, consume) {
      const one = yield* collect(left, frame, fitLeft);
      const other = yield* collect(right, frame, fitRight);
      for (const row of combine(node.operator, columns, [one, other])) {
        const result = consume(row);
        if (typeof result === "boolean" ? result : yield* result) return true;
      }
      return false;
    },
  };
}

function sharedType(left: SourceColumn, right: SourceColumn): ValueType {
  if (left.isUntyped === true) return right.type;
  return right.isUntyped === true ? left.type : commonType(left.type, right.type);
}

/** Rows in the types of the whole. */
function fit(plan: QueryPlan, columns: readonly SourceColumn[]): (row: SqlValue[]) => SqlValue[] {
  const converters = plan.columns.map((column, place) => {
    const to = columns[place]?.type ?? column.type;
    return column.isUntyped === true || printType(column.type) === printType(to)
      ? undefined
      : converterOf(column.type, to);
  });
  if (converters.every((convert) => convert === undefined)) return (row) => row;
  return (row) => row.map((value, place) => converters[place]?.(value) ?? value);
}

export function* collect(
  plan: QueryPlan,
  frame: Frame,
  fitRow: (row: SqlValue[]) => SqlValue[] = (row) => row,
): Steps<SqlValue[][]> {
  const rows: SqlValue[][] = [];
  yield* plan.run(frame, (row) => {
    rows.push(fitRow(row));
    return false;
  });
  return rows;
}

function combine(
  operator: SetOperation["operator"],
  columns: readonly SourceColumn[],
  sides: readonly [SqlValue[][], SqlValue[][]],
): SqlValue[][] {
  const [left, right] = sides;
  const rows = new Map<string, SqlValue[]>();
  const keyOf = (row: SqlValue[]): string => hashKeys(row, columns);
  const others = new Set(right.map(keyOf));
  const wanted = operator === "union" ? [...left, ...right] : left;
  for (const row of wanted) {
    const key = keyOf(row);
    const isIn = operator === "union" || others.has(key) === (operator === "intersect");
    if (isIn && !rows.has(key)) rows.set(key, row);
  }
  return [...rows.values()];
}
