import { defaultCollation, isCollation } from "../storage/collation";
import type { ColumnSchema, IndexParts, TableSchema } from "../storage/schema";
import { fitIndexes } from "../storage/schema";
import type { ColumnReference } from "../syntax/ast";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "../syntax/ast-definitions";
import { canonicalText } from "./bind/canonical";
import type { Catalog } from "./catalog";
import { scalarTypeOf } from "./declarations";
import { SimulationError, SqlError, sqlErrors } from "./sql-error";

/** From a definition as written to a table's schema: names become places. */

let nextLocalId = -1;

interface TableName {
  readonly schema: string;
  readonly name: string;
  readonly isLocal: boolean;
}

export function resolveTable(
  definition: TableDefinition,
  catalog: Catalog,
  table: TableName,
): TableSchema {
  const keys = new Set(
    definition.indexes
      .filter((index) => index.constraint === "primaryKey")
      .flatMap((index) => index.columns.map((column) => column.name.toLowerCase())),
  );
  const columns = definition.columns.map((column) =>
    resolveColumn(column, { table, isKey: keys.has(column.name.toLowerCase()) }),
  );
  const parts = definition.indexes.map((index, place) =>
    resolveIndex(index, columns, { table, place }),
  );
  if (!table.isLocal && !parts.some((part) => part.isClustered)) {
    throw new SimulationError(
      `Table ${table.schema}.${table.name} has no clustered index: heaps aren't modelled`,
    );
  }
  return {
    id: table.isLocal ? nextLocalId-- : catalog.newId(),
    ...table,
    columns,
    indexes: fitIndexes(columns, parts),
    checks: definition.checks.map((check, place) => ({
      name: check.name ?? `CK__${table.name}__${place + 1}`,
      condition: check.condition,
    })),
    foreignKeys: definition.foreignKeys.map((key, place) => ({
      name: key.name ?? `FK__${table.name}__${place + 1}`,
      columns: key.columns.map((name) => placeOf(columns, name)),
      table: { schema: key.table.schema ?? "dbo", name: key.table.name },
      referenced: key.referenced,
    })),
  };
}

export function resolveColumn(
  column: ColumnDefinition,
  context: { table: { name: string }; isKey: boolean },
): ColumnSchema {
  if (column.type === undefined || column.computed !== undefined) {
    throw new SimulationError(
      `Column ${context.table.name}.${column.name} is computed: that isn't modelled`,
    );
  }
  const { collation } = column;
  if (collation !== undefined && !isCollation(collation)) {
    throw new SqlError(448, `Invalid collation '${collation}'.`);
  }
  return {
    name: column.name,
    type: scalarTypeOf(column.type),
    collation: collation ?? defaultCollation,
    isNullable: column.isNullable ?? (!context.isKey && column.identity === undefined),
    identity: column.identity,
    default:
      column.default === undefined
        ? undefined
        : {
            name: column.default.name ?? `DF__${context.table.name}__${column.name}`,
            value: column.default.value,
          },
  };
}

export function resolveIndex(
  index: IndexDefinition,
  columns: readonly ColumnSchema[],
  context: { table: { name: string }; place: number },
): IndexParts {
  const filterColumns: number[] = [];
  if (index.filter !== undefined) {
    canonicalText(index.filter, (column: ColumnReference) => {
      filterColumns.push(placeOf(columns, column.name));
      return column.name;
    });
  }
  const prefix = index.constraint === "primaryKey" ? "PK" : index.isUnique ? "UQ" : "IX";
  return {
    name: index.name ?? `${prefix}__${context.table.name}__${context.place + 1}`,
    isClustered: index.isClustered,
    isUnique: index.isUnique,
    constraint: index.constraint,
    keys: index.columns.map((column) => ({
      column: placeOf(columns, column.name),
      isDescending: column.isDescending,
    })),
    include: index.include.map((name) => placeOf(columns, name)),
    filter: index.filter,
    filterColumns,
  };
}

/** The parts that an index was made of, to make it again beside others. */
export function partsOf(table: TableSchema): IndexParts[] {
  return table.indexes.map((index) => ({
    name: index.name,
    isClustered: index.isClustered,
    isUnique: index.isUnique,
    constraint: index.constraint,
    keys: index.keyColumns
      .slice(0, index.declaredCount)
      .map((column, at) => ({ column, isDescending: index.isDescending[at] === true })),
    include: index.isClustered ? [] : [...index.covered],
    filter: index.filter,
    filterColumns: [...index.filterColumns],
  }));
}

export function placeOf(columns: readonly { readonly name: string }[], name: string): number {
  const place = columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase());
  if (place < 0) throw sqlErrors.unknownColumn(name);
  return place;
}
