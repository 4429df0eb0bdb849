import type { Expression, Predicate } from "../syntax/ast";
import type { SqlType } from "../values";
import type { Comparer } from "./compare";
import { comparerOf } from "./compare";

/** What a table is made of, resolved: types are scalar, columns are places. Immutable; ALTER TABLE makes a new one. */
export interface TableSchema {
  /** Unique in a world; table variables have one of their own per declaration. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  /** Table variables and table types: no locks, no transaction, nothing shared. */
  readonly isLocal: boolean;
  readonly columns: readonly ColumnSchema[];
  /** The clustered one first. */
  readonly indexes: readonly [IndexSchema, ...IndexSchema[]];
  readonly checks: readonly CheckSchema[];
  readonly foreignKeys: readonly ForeignKeySchema[];
}

export interface ColumnSchema {
  readonly name: string;
  readonly type: SqlType;
  readonly collation: string;
  readonly isNullable: boolean;
  readonly identity: { readonly seed: bigint; readonly increment: bigint } | undefined;
  readonly default: { readonly name: string; readonly value: Expression } | undefined;
}

export interface CheckSchema {
  readonly name: string;
  readonly condition: Predicate;
}

export interface ForeignKeySchema {
  readonly name: string;
  readonly columns: readonly number[];
  /** `schema.table` of the referenced one. */
  readonly table: { readonly schema: string; readonly name: string };
  readonly referenced: readonly string[];
}

export interface IndexSchema {
  readonly name: string;
  /** Place in the table's list; 0 is the clustered one. */
  readonly place: number;
  readonly isClustered: boolean;
  readonly isUnique: boolean;
  /** A constraint raises 2627, an index 2601. */
  readonly constraint: "primaryKey" | "unique" | undefined;
  /** The declared key, followed by the clustered key's columns that it lacks: places of columns. */
  readonly keyColumns: readonly number[];
  readonly isDescending: readonly boolean[];
  /** How many of them were declared. */
  readonly declaredCount: number;
  /** L5: how many of them name a key: those declared of a unique index, else all. */
  readonly identifyingCount: number;
  /** Columns that a scan of this index can read without the row. */
  readonly covered: ReadonlySet<number>;
  readonly filter: Predicate | undefined;
  readonly filterColumns: ReadonlySet<number>;
  readonly comparers: readonly Comparer[];
}

/** What it takes to make an IndexSchema; columns by place. */
export interface IndexParts {
  readonly name: string;
  readonly isClustered: boolean;
  readonly isUnique: boolean;
  readonly constraint: "primaryKey" | "unique" | undefined;
  readonly keys: readonly { readonly column: number; readonly isDescending: boolean }[];
  readonly include: readonly number[];
  readonly filter: Predicate | undefined;
  readonly filterColumns: readonly number[];
}

/** Fits indexes to a table's columns: the clustered one first, its key appended to the others as the row's address. */
export function fitIndexes(
  columns: readonly ColumnSchema[],
  parts: readonly IndexParts[],
): [IndexSchema, ...IndexSchema[]] {
  const clustered = parts.find((part) => part.isClustered) ?? heap;
  const others = parts.filter((part) => part !== clustered);
  const first = fitIndex(columns, clustered, { place: 0, address: [] });
  const address = clustered.keys.map((key) => key.column);
  return [first, ...others.map((part, at) => fitIndex(columns, part, { place: at + 1, address }))];
}

/** Rows in order of arrival: what a table without a clustered key has. */
const heap: IndexParts = {
  name: "",
  isClustered: true,
  isUnique: false,
  constraint: undefined,
  keys: [],
  include: [],
  filter: undefined,
  filterColumns: [],
};

function fitIndex(
  columns: readonly ColumnSchema[],
  part: IndexParts,
  fit: { place: number; address: readonly number[] },
): IndexSchema {
  const declared = part.keys.map((key) => key.column);
  const address = fit.address.filter((column) => !declared.includes(column));
  const keyColumns = [...declared, ...address];
  const covered = part.isClustered ? columns.keys() : [...keyColumns, ...part.include];
  return {
    name: part.name,
    place: fit.place,
    isClustered: part.isClustered,
    isUnique: part.isUnique,
    constraint: part.constraint,
    keyColumns,
    isDescending: [...part.keys.map((key) => key.isDescending), ...address.map(() => false)],
    declaredCount: declared.length,
    identifyingCount: part.isUnique ? declared.length : keyColumns.length,
    covered: new Set(covered),
    filter: part.filter,
    filterColumns: new Set(part.filterColumns),
    comparers: keyColumns.map((place) => {
      const column = columns[place];
      if (column === undefined) throw new Error(`Index ${part.name} names no column ${place}`);
      return comparerOf(column.type.name, column.collation);
    }),
  };
}

/** The name by which messages and locks call a table. */
export function fullName(table: TableSchema): string {
  return table.isLocal ? table.name : `${table.schema}.${table.name}`;
}
