import type { SelectItem } from "../syntax/ast";
import type { Output } from "../syntax/ast-statements";
import type { Image } from "../storage/row";
import type { SqlValue } from "../values";
import { bindExpression } from "./bind/expressions";
import { Scope, SourceBinding } from "./bind/scope";
import type { SourceColumn } from "./bind/scope";
import { columnInfo } from "./column-info";
import { columnConverter } from "./column-values";
import type { Scalar } from "./expression";
import type { Frame } from "./frame";
import { insertImages, InsertTarget } from "./insert-target";
import { SimulationError } from "./sql-error";
import type { Steps } from "./steps";

interface OutputItem {
  readonly column: SourceColumn;
  readonly scalar: Scalar;
}

/** What `inserted` and `deleted` show: the target's columns, or those of the CTE that is written through. */
export interface OutputShape {
  readonly columns: readonly SourceColumn[];
  readonly hasInserted: boolean;
  readonly hasDeleted: boolean;
}

/** OUTPUT: gathers what it shows of each row that is written, then sends it, or puts it into a table. */
export class OutputPlan {
  readonly #items: readonly OutputItem[];
  readonly #inserted: number;
  readonly #deleted: number;
  readonly #into: InsertTarget | undefined;

  constructor(node: Output, shape: OutputShape, outer: Scope) {
    const scope = new Scope(outer.binder, outer);
    this.#inserted = outer.binder.newSlot();
    this.#deleted = outer.binder.newSlot();
    const { columns } = shape;
    if (shape.hasInserted)
      scope.sources.push(new SourceBinding("inserted", this.#inserted, { columns }));
    if (shape.hasDeleted)
      scope.sources.push(new SourceBinding("deleted", this.#deleted, { columns }));
    this.#items = node.items.flatMap((item) => bindItem(item, scope));
    this.#into =
      node.into === undefined
        ? undefined
        : new InsertTarget(node.into.target, node.into.columns, outer.binder);
    this.#into?.expectCount(this.#items.length);
  }

  /** One row's items; the images are those that `shape.columns` tell. */
  gather(frame: Frame, images: { inserted: Image; deleted: Image }): SqlValue[] {
    frame.rows[this.#inserted] = images.inserted;
    frame.rows[this.#deleted] = images.deleted;
    return this.#items.map((item) => item.scalar.evaluate(frame));
  }

  *finish(frame: Frame, rows: readonly SqlValue[][]): Steps<void> {
    if (this.#into === undefined) {
      const answer = frame.connection.requireAnswer();
      answer.columns(this.#items.map((item) => columnInfo(item.column)));
      for (const row of rows) answer.row(row);
      answer.endRows(frame.connection.settings.isNoCount ? undefined : rows.length);
      return;
    }
    const target = this.#into;
    const converters = this.#items.map((item, place) =>
      columnConverter(item.scalar.type, target.columnAt(place), target.schema),
    );
    const images = rows.map((row) =>
      target.imageOf(
        row.map((value, place) => converters[place]?.(value) ?? null),
        frame,
      ),
    );
    yield* insertImages(frame, target, images);
  }

  get sendsRows(): boolean {
    return this.#into === undefined;
  }
}

function bindItem(node: SelectItem, scope: Scope): OutputItem[] {
  if (node.kind === "assign") {
    throw new SimulationError(`${scope.binder.place(node.line)}: OUTPUT assigns nothing`);
  }
  if (node.kind === "star") {
    const wanted = node.qualifier?.toLowerCase();
    return scope.sources
      .filter((source) => source.alias === wanted)
      .flatMap((source) =>
        source.columns.map(({ name }) =>
          itemOf(
            name,
            bindExpression(
              { kind: "column", qualifier: source.alias, name, line: node.line },
              scope,
            ),
          ),
        ),
      );
  }
  const scalar = bindExpression(node.value, scope);
  const name = node.alias ?? (node.value.kind === "column" ? node.value.name : "");
  if (scalar.run !== undefined) throw new SimulationError("OUTPUT of a query isn't modelled");
  return [itemOf(name, scalar)];
}

function itemOf(name: string, scalar: Scalar): OutputItem {
  const { type, isNullable, collation } = scalar;
  return { column: { name, type, isNullable, collation }, scalar };
}
