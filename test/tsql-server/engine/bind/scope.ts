import { isCaseSensitive } from "../../storage/collation";
import type { Aggregate, ColumnReference, Cte, NextValue, WindowCall } from "../../syntax/ast";
import type { Collation, Scalar } from "../expression";
import type { Frame } from "../frame";
import type { Steps } from "../steps";
import { SimulationError, sqlErrors } from "../sql-error";
import type { ValueType } from "../types";
import type { Binder } from "./binder";

/** Which names an expression sees. Scopes of subqueries lie inside those of the rows they are about. */

export interface SourceColumn {
  readonly name: string;
  readonly type: ValueType;
  readonly collation: Collation;
  readonly isNullable: boolean;
  /** NULL without a type: the other side of a UNION decides. */
  readonly isUntyped?: boolean;
}

/** A source of rows under the name by which columns are qualified. */
export class SourceBinding {
  readonly alias: string;
  readonly slot: number;
  readonly columns: readonly SourceColumn[];
  /** Columns that the statement reads: an index that has them all needs no row (access path, rule 3). */
  readonly read = new Set<number>();
  /** The missing side of an outer join: every column may be NULL. */
  isOptional = false;
  /** Passes on that a column of a derived table is read. */
  readonly onRead: ((column: number) => void) | undefined;
  readonly #places = new Map<string, number>();

  constructor(
    alias: string,
    slot: number,
    shape: { columns: readonly SourceColumn[]; onRead?: (column: number) => void },
  ) {
    this.alias = alias;
    this.slot = slot;
    this.columns = shape.columns;
    this.onRead = shape.onRead;
    shape.columns.forEach((column, place) => {
      if (!this.#places.has(column.name.toLowerCase())) {
        this.#places.set(column.name.toLowerCase(), place);
      }
    });
  }

  placeOf(name: string): number | undefined {
    return this.#places.get(name.toLowerCase());
  }

  columnAt(place: number): SourceColumn {
    const column = this.columns[place];
    if (column === undefined) throw new Error(`${this.alias} has no column ${place}`);
    return column;
  }
}

/** A column that was read, and of which source. */
export interface ColumnUse {
  readonly binding: SourceBinding;
  readonly column: number;
}

/** Stands in for what GROUP BY and aggregates have computed: an expression is looked up by its canonical text. */
export interface Grouping {
  find(text: string): Scalar | undefined;
  addAggregate(node: Aggregate): Scalar;
}

/** Stands in for window functions. */
export interface Windows {
  add(node: Aggregate | WindowCall | NextValue): Scalar;
}

export interface ScopedCte {
  readonly cte: Cte;
  readonly scope: Scope;
}

/** Runs a query whose answer holds for the whole statement, unless it has run already. */
export type Hoisted = (frame: Frame) => Steps<void>;

export class Scope {
  readonly binder: Binder;
  readonly outer: Scope | undefined;
  readonly sources: SourceBinding[] = [];
  /** Parameters of an inline function: columns of a source of one row. They hide the module's variables. */
  parameters: SourceBinding | undefined;
  /** Slots of outer scopes that this one reads: without any, its query has one answer per statement. */
  readonly freeSlots = new Set<number>();
  /** Where queries that read nothing of the rows put themselves, to be run once, first. */
  hoisted: Hoisted[] | undefined;
  grouping: Grouping | undefined;
  windows: Windows | undefined;
  readonly #ctes = new Map<string, ScopedCte>();
  #cteScope: Scope | undefined;

  constructor(binder: Binder, outer?: Scope) {
    this.binder = binder;
    this.outer = outer;
  }

  addCte(cte: Cte, scope: Scope): void {
    this.#ctes.set(cte.name.toLowerCase(), { cte, scope });
  }

  findCte(name: string): ScopedCte | undefined {
    return (
      this.#ctes.get(name.toLowerCase()) ??
      this.#cteScope?.findCte(name) ??
      this.outer?.findCte(name)
    );
  }

  /** CTEs are seen from derived tables, which don't see the columns beside them. */
  lookUpCtesIn(scope: Scope): void {
    this.#cteScope = scope;
  }

  /** Parameters in sight: those of the innermost inline function. */
  findParameters(): SourceBinding | undefined {
    return this.parameters ?? this.outer?.findParameters();
  }

  /** The source and place of a column, here or further out; 207, 209 or 4104 where there is none. */
  resolve(reference: ColumnReference): ColumnUse & { scope: Scope } {
    const found = this.find(reference);
    if (found !== undefined) {
      this.noteFree(found.binding.slot, found.scope);
      return found;
    }
    const { qualifier, name } = reference;
    throw qualifier === undefined
      ? sqlErrors.unknownColumn(name)
      : sqlErrors.unboundName(`${qualifier}.${name}`);
  }

  /** Everything between here and `owner` reads a slot that isn't its own. */
  noteFree(slot: number, owner: Scope | undefined): void {
    if (this === owner) return;
    this.freeSlots.add(slot);
    this.outer?.noteFree(slot, owner);
  }

  find(reference: ColumnReference): (ColumnUse & { scope: Scope }) | undefined {
    const { qualifier, name } = reference;
    const fits = this.sources.filter(
      (source) =>
        (qualifier === undefined || source.alias.toLowerCase() === qualifier.toLowerCase()) &&
        source.placeOf(name) !== undefined,
    );
    const [binding] = fits;
    if (binding === undefined) {
      return this.outer?.find(reference);
    }
    if (fits.length > 1) throw sqlErrors.unboundName(`${name} (ambiguous)`);
    const column = binding.placeOf(name) ?? 0;
    this.#checkCase(reference, binding, column);
    return { binding, column, scope: this };
  }

  /** A name that differs in case only would fail in a database with a case-sensitive collation. */
  #checkCase(reference: ColumnReference, binding: SourceBinding, column: number): void {
    if (!this.binder.isStrict || isCaseSensitive(this.binder.nameCollation)) return;
    const written = binding.columnAt(column).name;
    const isSame =
      written === reference.name && (reference.qualifier ?? binding.alias) === binding.alias;
    if (!isSame) {
      throw new SimulationError(
        `${this.binder.place(reference.line)}: ${reference.qualifier ?? binding.alias}.${reference.name} is written ${binding.alias}.${written} where it is declared`,
      );
    }
  }
}
