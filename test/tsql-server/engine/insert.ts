import type { Image } from "../storage/row";
import type { Insert } from "../syntax/ast-statements";
import type { SqlValue } from "../values";
import type { Binder } from "./bind/binder";
import { bindExpression } from "./bind/expressions";
import { bindQuery } from "./bind/query";
import { Scope } from "./bind/scope";
import { columnConverter } from "./column-values";
import { bindTable } from "./table-rules";
import { literal, valueOf } from "./expression";
import type { Scalar } from "./expression";
import type { Frame } from "./frame";
import { insertImages, InsertTarget } from "./insert-target";
import { noteCount } from "./counts";
import { OutputPlan } from "./output";
import type { Flow, Runner } from "./program";
import { captureRows } from "./capture";
import { compileExecute } from "./execute";
import { SqlError } from "./sql-error";
import type { Steps } from "./steps";
import { startTransaction } from "./transaction-start";
import { runStatement } from "./statement-run";

/** Gives the rows to be inserted, in the target's types. */
type GiveRows = (frame: Frame, take: (values: SqlValue[]) => void) => Steps<void>;

/** INSERT: all rows are read before the first one is written. */
export function compileInsert(node: Insert, binder: Binder): Runner {
  const from = binder.scans.length;
  const scope = new Scope(binder);
  for (const cte of node.ctes) scope.addCte(cte, scope);
  const columns = node.source.kind === "defaults" ? [] : node.columns;
  const target = new InsertTarget(node.target, columns, binder);
  const give = bindRows(node, target, scope);
  const output = bindOutput(node, target, scope);
  const scans = binder.scans.splice(from);
  const run = function* (frame: Frame): Steps<Flow> {
    const images: Image[] = [];
    yield* give(frame, (values) => {
      images.push(target.imageOf(values, frame));
    });
    const shown = images.map(
      (image) => output?.gather(frame, { inserted: image, deleted: [] }) ?? [],
    );
    yield* insertImages(frame, target, images);
    if (output !== undefined) yield* output.finish(frame, shown);
    noteCount(frame.connection, images.length, output?.sendsRows === true);
    return "next";
  };
  // INSERT .. EXEC isn't one statement: what it calls has its own.
  if (node.source.kind === "execute") return run;
  return (frame) => {
    if (!target.schema.isLocal) startTransaction(frame.connection);
    return runStatement(frame, scans, () => run(frame));
  };
}

function bindOutput(node: Insert, target: InsertTarget, scope: Scope): OutputPlan | undefined {
  if (node.output === undefined) return undefined;
  const { columns } = bindTable(target.schema, "inserted", 0);
  return new OutputPlan(node.output, { columns, hasInserted: true, hasDeleted: false }, scope);
}

function bindRows(node: Insert, target: InsertTarget, scope: Scope): GiveRows {
  const { source } = node;
  switch (source.kind) {
    case "defaults":
      return function* (_frame, take) {
        yield* nothing();
        take([]);
      };
    case "rows":
      return bindValueRows(source.rows, target, scope);
    case "query": {
      const plan = bindQuery(source.query, scope);
      target.expectCount(plan.columns.length);
      plan.columns.forEach((_column, place) => {
        plan.noteRead(place);
      });
      const converters = plan.columns.map((column, place) =>
        columnConverter(column.type, target.columnAt(place), target.schema),
      );
      return function* (frame, take) {
        const top = node.top === undefined ? undefined : bindExpression(node.top, scope);
        const limit =
          top === undefined ? Number.POSITIVE_INFINITY : Number(yield* valueOf(top, frame));
        let count = 0;
        yield* plan.run(frame, (row) => {
          if (count >= limit) return true;
          count += 1;
          take(row.map((value, place) => converters[place]?.(value) ?? null));
          return count >= limit;
        });
      };
    }
    case "execute": {
      const execute = compileExecute(source.execute, scope.binder);
      return function* (frame, take) {
        for (const { type, row } of yield* captureRows(frame, execute)) {
          target.expectCount(row.length);
          take(
            row.map((value, place) =>
              columnConverter(
                type[place] ?? { name: "int" },
                target.columnAt(place),
                target.schema,
              )(value),
            ),
          );
        }
      };
    }
  }
}

function bindValueRows(
  rows: Extract<Insert["source"], { kind: "rows" }>["rows"],
  target: InsertTarget,
  scope: Scope,
): GiveRows {
  const bound = rows.map((row) => {
    if (row.length !== target.places.length) {
      throw new SqlError(
        row.length < target.places.length ? 109 : 110,
        `There are ${row.length < target.places.length ? "more" : "fewer"} columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.`,
        { class: 15 },
      );
    }
    return row.map((value, place) => {
      const scalar =
        value === undefined ? defaultOf(target, place, scope) : bindExpression(value, scope);
      return {
        scalar,
        convert: scalar.isUntyped
          ? (given: SqlValue): SqlValue => given
          : columnConverter(scalar.type, target.columnAt(place), target.schema),
      };
    });
  });
  return function* (frame, take) {
    for (const row of bound) {
      const values: SqlValue[] = [];
      for (const { scalar, convert } of row) values.push(convert(yield* valueOf(scalar, frame)));
      take(values);
    }
  };
}

/** DEFAULT in a row of VALUES. */
function defaultOf(target: InsertTarget, place: number, scope: Scope): Scalar {
  const column = target.columnAt(place);
  return column.default === undefined
    ? literal(column.type, null)
    : bindExpression(column.default.value, new Scope(scope.binder));
}

function* nothing(): Steps<void> {
  // Nothing to wait for.
}
