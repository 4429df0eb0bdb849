import { fullName } from "../storage/schema";
import type { IndexSchema, TableSchema } from "../storage/schema";
import type { Image } from "../storage/row";
import type { Predicate } from "../syntax/ast";
import type { SqlValue } from "../values";
import { Binder } from "./bind/binder";
import { canonicalText, conjunctsOf } from "./bind/canonical";
import { convertTo } from "./bind/conversions";
import { bindExpression } from "./bind/expressions";
import { bindPredicate } from "./bind/predicates";
import { Scope, SourceBinding } from "./bind/scope";
import type { Catalog } from "./catalog";
import type { Connection } from "./connection";
import type { Condition, Scalar } from "./expression";
import { Frame } from "./frame";
import type { PlanOptions } from "./options";
import { SqlError, sqlErrors } from "./sql-error";

/** Defaults, checks and filters of a table: its own expressions, bound once. */

interface FilterPart {
  readonly text: string;
  /** Is it true whenever these columns have these values? undefined: some value that isn't NULL. */
  followsFrom(known: ReadonlyMap<number, SqlValue | undefined>): boolean;
}

const slot = 0;

/** The source through which a table's own expressions, and statements, see its columns. */
export function bindTable(schema: TableSchema, alias: string, place: number): SourceBinding {
  return new SourceBinding(alias, place, {
    columns: schema.columns.map((column) => ({
      name: column.name,
      type: column.type,
      isNullable: column.isNullable,
      collation: { name: column.collation, rank: "implicit" },
    })),
  });
}

export class TableRules {
  readonly #schema: TableSchema;
  readonly #scope: Scope;
  readonly #defaults: readonly (Scalar | undefined)[];
  readonly #checks: readonly { name: string; condition: Condition }[];
  readonly #filters = new Map<number, { parts: { node: Predicate; condition: Condition }[] }>();

  constructor(schema: TableSchema, catalog: Catalog) {
    this.#schema = schema;
    const binder = new Binder(catalog, noOptions, {
      name: fullName(schema),
      fileName: "",
      isStrict: false,
    });
    binder.newSlot();
    this.#scope = new Scope(binder);
    this.#scope.sources.push(bindTable(schema, schema.name, slot));
    this.#defaults = schema.columns.map((column) =>
      column.default === undefined
        ? undefined
        : convertTo(bindExpression(column.default.value, new Scope(binder)), column.type),
    );
    this.#checks = schema.checks.map((check) => ({
      name: check.name,
      condition: bindPredicate(check.condition, this.#scope),
    }));
    for (const index of schema.indexes) {
      const parts = conjunctsOf(index.filter).map((node) => ({
        node,
        condition: bindPredicate(node, this.#scope),
      }));
      this.#filters.set(index.place, { parts });
    }
  }

  defaultOf(column: number, connection: Connection): SqlValue | undefined {
    return this.#defaults[column]?.evaluate(new Frame(connection, ""));
  }

  hasDefault(column: number): boolean {
    return this.#defaults[column] !== undefined;
  }

  /** Has the index an entry for this row? */
  belongs(index: IndexSchema, image: Image, connection: Connection): boolean {
    if (index.filter === undefined) return true;
    const frame = new Frame(connection, "");
    frame.rows[slot] = image;
    return this.#parts(index).every((part) => part.condition.test(frame) === true);
  }

  /** Null where it may not be (515), and checks (547): unknown passes. */
  check(image: Image, connection: Connection, action: "INSERT" | "UPDATE"): void {
    this.#schema.columns.forEach((column, place) => {
      if (column.isNullable || (image[place] ?? null) !== null) return;
      throw sqlErrors.nullColumn(column.name, fullName(this.#schema), action);
    });
    if (this.#checks.length === 0) return;
    const frame = new Frame(connection, "");
    frame.rows[slot] = image;
    for (const { name, condition } of this.#checks) {
      if (condition.test(frame) !== false) continue;
      throw new SqlError(
        547,
        `The ${action} statement conflicted with the CHECK constraint "${name}". The conflict occurred in database "${connection.world.databaseName}", table "${fullName(this.#schema)}".`,
      );
    }
  }

  /** The filter's parts, named as a statement names them whose source stands at `asked`. */
  filterParts(index: IndexSchema, asked: number): FilterPart[] {
    return this.#parts(index).map(({ node, condition }) => ({
      text: canonicalText(node, (column) => `${asked}.${this.#scope.resolve(column).column}`),
      followsFrom: (known) => this.#follows(condition, node, known),
    }));
  }

  #follows(
    condition: Condition,
    node: Predicate,
    known: ReadonlyMap<number, SqlValue | undefined>,
  ): boolean {
    const columns: number[] = [];
    canonicalText(node, (column) => {
      columns.push(this.#scope.resolve(column).column);
      return column.name;
    });
    if (!columns.every((column) => known.has(column))) return false;
    if (node.kind === "isNull" && node.isNegated) return known.get(columns[0] ?? 0) !== null;
    if (!columns.every((column) => known.get(column) !== undefined)) return false;
    const image = this.#schema.columns.map((_column, place) => known.get(place) ?? null);
    const frame = { rows: [image] } as unknown as Frame;
    return condition.test(frame) === true;
  }

  #parts(index: IndexSchema): { node: Predicate; condition: Condition }[] {
    return this.#filters.get(index.place)?.parts ?? [];
  }
}

const noOptions: PlanOptions = { strictSchemas: [], forcedPaths: new Map() };

const known = new WeakMap<TableSchema, TableRules>();

export function rulesOf(schema: TableSchema, catalog: Catalog): TableRules {
  let rules = known.get(schema);
  if (rules === undefined) {
    rules = new TableRules(schema, catalog);
    known.set(schema, rules);
  }
  return rules;
}
