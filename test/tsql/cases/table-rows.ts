import type { World } from "../../tsql-server/engine/world";
import type { Row } from "../../tsql-server/storage/row";
import type { TableData } from "../../tsql-server/storage/table";
import type { SqlValue } from "../../tsql-server/values";
import type { AnswerRow } from "./model-case";

/** 64-bit numbers as numbers: cases count from 1. */
export function plainValue(value: SqlValue): SqlValue {
  return typeof value === "bigint" ? Number(value) : value;
}

export function plainRow(row: Readonly<Record<string, SqlValue>>): AnswerRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, plainValue(value)]),
  );
}

export function taskgateTable(world: World, name: string): TableData {
  return world.data(world.catalog.table({ schema: "Taskgate", name, line: 0 }));
}

function asObject(data: TableData, image: readonly SqlValue[]): AnswerRow {
  return Object.fromEntries(
    data.schema.columns.map(({ name }, place) => [name, plainValue(image[place] ?? null)]),
  );
}

/** Rows of a table as they stand, those of open changes as they would be. */
export function committedRows(world: World, name: string): AnswerRow[] {
  const data = taskgateTable(world, name);
  return [...data.liveRows()].map((row) => asObject(data, row.image ?? []));
}

/** A row that a writer is changing: as it is committed, and as it would be. */
export interface OpenChange {
  readonly before: AnswerRow | undefined;
  readonly after: AnswerRow | undefined;
}

export function openChanges(world: World, name: string): OpenChange[] {
  const data = taskgateTable(world, name);
  // A row whose key changes has two entries.
  const rows = new Set(data.clustered.entries.map(({ row }) => row));
  return [...rows]
    .filter(({ writer }) => writer !== undefined)
    .map((row) => ({
      before: imageObject(data, row.older.at(-1)?.image),
      after: imageObject(data, row.image),
    }));
}

function imageObject(data: TableData, image: Row["image"]): AnswerRow | undefined {
  return image === undefined ? undefined : asObject(data, image);
}

/** Tables that operations write. */
export function sharedTables(world: World): string[] {
  return [...world.tables]
    .map(({ schema }) => schema)
    .filter(({ isLocal, name }) => !isLocal && name !== "Number")
    .map(({ name }) => name)
    .sort();
}

/** All rows of those, without a writer. */
export function tablesAsText(world: World): string {
  return sharedTables(world)
    .map((name) => {
      const rows = [...taskgateTable(world, name).liveRows()];
      return [name, ...rows.map((row) => (row.image ?? []).map(String).join(","))].join(";");
    })
    .join("\n");
}
