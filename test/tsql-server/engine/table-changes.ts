import type { Image } from "../storage/row";
import { fitIndexes, fullName } from "../storage/schema";
import type { TableSchema } from "../storage/schema";
import type {
  AlterTableAdd,
  AlterTableDrop,
  CreateIndex,
  CreateTable,
} from "../syntax/ast-definitions";
import type { Connection } from "./connection";
import type { Undo } from "./definition-names";
import { nameParts, refuseSecond } from "./definition-names";
import { duplicateKey } from "./duplicate-key";
import { SimulationError, SqlError } from "./sql-error";
import { partsOf, resolveColumn, resolveIndex, resolveTable } from "./table-definition";
import { rulesOf } from "./table-rules";

/** Tables and their indexes: made, and brought into another shape with their rows. */

export function createTable(statement: CreateTable, connection: Connection, undo: Undo): void {
  const { world } = connection;
  refuseSecond(statement.name, connection);
  const parts = nameParts(statement.name);
  const table = resolveTable(statement.definition, world.catalog, { ...parts, isLocal: false });
  if (table.foreignKeys.length > 0)
    throw new SimulationError(`${fullName(table)}: foreign keys aren't modelled`);
  undo(world.catalog.put({ kind: "table", id: table.id, ...parts, table }));
  // Defaults and checks are bound now: 208 and 4121 for what they name.
  rulesOf(table, world.catalog);
  undo(world.addTable(table));
}

/** The table in another shape. Its rows follow; no other can be here (Sch-M). */
function reshape(
  before: TableSchema,
  after: TableSchema,
  context: { connection: Connection; undo: Undo; convert: (image: Image) => Image },
): void {
  const { connection, undo, convert } = context;
  const { world } = connection;
  const data = world.data(before);
  const copy = data.fork();
  undo(
    world.catalog.put({
      kind: "table",
      id: after.id,
      schema: after.schema,
      name: after.name,
      table: after,
    }),
  );
  const rules = rulesOf(after, world.catalog);
  data.rebuild(after, {
    convert,
    belongs: (index, image) => rules.belongs(index.schema, image, connection),
  });
  undo(world.replaceTable(copy));
  for (const index of data.indexes) {
    if (!index.schema.isUnique) continue;
    index.entries.forEach((entry, at) => {
      const next = index.entries[at + 1];
      const isTwin =
        next !== undefined &&
        index.compareKeys(entry.key, next.key, index.schema.identifyingCount) === 0;
      if (isTwin) throw duplicateKey(after, index, entry.key);
    });
  }
}

export function createIndex(statement: CreateIndex, connection: Connection, undo: Undo): void {
  const before = connection.world.catalog.table(statement.table);
  const parts = partsOf(before);
  const { name, settings } = statement.index;
  const found = parts.findIndex((part) => part.name.toLowerCase() === name?.toLowerCase());
  if (found !== -1 && settings.dropsExisting !== true) {
    throw new SqlError(
      1913,
      `The operation failed because an index or statistics with name '${name}' already exists on table '${fullName(before)}'.`,
    );
  }
  if (found === -1 && settings.dropsExisting === true) {
    throw new SqlError(
      7999,
      `Could not find any index named '${name}' for table '${fullName(before)}'.`,
    );
  }
  const place = found === -1 ? parts.length : found;
  const part = resolveIndex(statement.index, before.columns, { table: before, place });
  if (part.isClustered)
    throw new SimulationError(
      `${fullName(before)}: a clustered index made after its table isn't modelled`,
    );
  const after = { ...before, indexes: fitIndexes(before.columns, parts.toSpliced(place, 1, part)) };
  reshape(before, after, { connection, undo, convert: (image) => image });
}

export function addToTable(statement: AlterTableAdd, connection: Connection, undo: Undo): void {
  const { catalog } = connection.world;
  const before = catalog.table(statement.table);
  const { definition } = statement;
  const added = definition.columns.map((column) =>
    resolveColumn(column, { table: before, isKey: false }),
  );
  const columns = [...before.columns, ...added];
  const parts = partsOf(before);
  const more = definition.indexes.map((index, at) =>
    resolveIndex(index, columns, { table: before, place: parts.length + at }),
  );
  const checks = definition.checks.map((check, at) => ({
    name: check.name ?? `CK__${before.name}__${before.checks.length + at + 1}`,
    condition: check.condition,
  }));
  const after: TableSchema = {
    ...before,
    columns,
    indexes: fitIndexes(columns, [...parts, ...more]),
    checks: [...before.checks, ...checks],
  };
  const rules = rulesOf(after, catalog);
  const convert = (image: Image): Image => {
    const fresh = added.map(
      (_column, at) => rules.defaultOf(before.columns.length + at, connection) ?? null,
    );
    const whole = [...image, ...fresh];
    rules.check(whole, connection, "INSERT");
    return whole;
  };
  reshape(before, after, { connection, undo, convert });
}

export function dropFromTable(statement: AlterTableDrop, connection: Connection, undo: Undo): void {
  const before = connection.world.catalog.table(statement.table);
  if (statement.what === "column") {
    throw new SimulationError(`${fullName(before)}: dropping a column isn't modelled`);
  }
  const names = new Set(statement.names.map((name) => name.toLowerCase()));
  const parts = partsOf(before).filter(
    (part) => part.isClustered || !names.has(part.name.toLowerCase()),
  );
  const after: TableSchema = {
    ...before,
    columns: before.columns.map((column) =>
      column.default !== undefined && names.has(column.default.name.toLowerCase())
        ? { ...column, default: undefined }
        : column,
    ),
    indexes: fitIndexes(before.columns, parts),
    checks: before.checks.filter((check) => !names.has(check.name.toLowerCase())),
  };
  reshape(before, after, { connection, undo, convert: (image) => image });
}

export function truncate(table: TableSchema, connection: Connection, undo: Undo): void {
  const { world } = connection;
  const data = world.data(table);
  const copy = data.fork();
  data.truncate();
  undo(world.replaceTable(copy));
}
