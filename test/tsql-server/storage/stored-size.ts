import type { SqlType, SqlValue } from "../values";
import { isUtf8 } from "./collation";
import type { Image } from "./row";
import type { ColumnSchema, IndexSchema, TableSchema } from "./schema";

/*
 * How many bytes the server stores. Widths of types, and how a row adds up: [doc: Estimate the size of a clustered index, of a
 * nonclustered index]. What lies outside the row: [doc: Row-overflow data exceeding 8 KB; improve.dk, "What is the size of the
 * LOB pointer"]. Compression and page splits aren't modelled.
 */

/** A row has room for so much, and a `max` value in it for so much. */
const rowMax = 8_060;
const inRowMax = 8_000;
/** What stands in the row for a value that doesn't. */
const pointerBytes = 24;
/** A page takes so much of such a value, behind the header of its piece. */
export const pieceMax = 8_040;
export const pieceHeaderBytes = 14;

/** An index's row as it is stored. */
export interface StoredRow {
  /** With its header, its null bitmap and the places of its variable columns. */
  readonly inRow: number;
  /** Pages' pieces of values that don't stand in the row, by column's place. */
  readonly outside: ReadonlyMap<number, { readonly bytes: number; readonly pieces: number }>;
}

export function storedRow(table: TableSchema, index: IndexSchema, image: Image): StoredRow {
  let fixed = 0;
  let bits = 0;
  const variable = new Map<number, number>();
  for (const place of index.covered) {
    const column = columnAt(table, place);
    const width = widthOf(column.type);
    if (width === undefined) variable.set(place, storedBytes(image[place] ?? null, column));
    else if (column.type.name === "bit") bits += 1;
    else fixed += width;
  }
  const header = index.isClustered ? 4 : 1;
  const nulls = 2 + Math.ceil(index.covered.size / 8);
  const places = variable.size === 0 ? 0 : 2 + 2 * variable.size;
  const rest = header + fixed + Math.ceil(bits / 8) + nulls + places;
  return settle(rest, variable);
}

/** The longest values leave the row until the rest has room. */
function settle(rest: number, variable: Map<number, number>): StoredRow {
  const outside = new Map<number, { bytes: number; pieces: number }>();
  let inRow = rest + [...variable.values()].reduce((sum, bytes) => sum + bytes, 0);
  for (const [place, bytes] of [...variable].sort(([, left], [, right]) => right - left)) {
    if (bytes <= inRowMax && (inRow <= rowMax || bytes <= pointerBytes)) break;
    inRow -= bytes - pointerBytes;
    outside.set(place, piecesOf(bytes));
  }
  return { inRow, outside };
}

function piecesOf(bytes: number): { bytes: number; pieces: number } {
  const pieces = Math.ceil(bytes / pieceMax);
  return { bytes: bytes + pieces * pieceHeaderBytes, pieces };
}

/** All of it, in the row and outside. */
export function wholeSize(row: StoredRow): number {
  let size = row.inRow;
  for (const { bytes } of row.outside.values()) size += bytes;
  return size;
}

/** Bytes of a fixed width; undefined: as long as its value. Bits share a byte. */
export function widthOf(type: SqlType): number | undefined {
  switch (type.name) {
    case "bit":
    case "tinyint":
      return 1;
    case "smallint":
      return 2;
    case "int":
      return 4;
    case "bigint":
    case "float":
    case "datetime":
      return 8;
    case "uniqueidentifier":
      return 16;
    case "datetime2":
      return type.scale <= 2 ? 6 : type.scale <= 4 ? 7 : 8;
    case "decimal":
      return type.precision <= 9 ? 5 : type.precision <= 19 ? 9 : type.precision <= 28 ? 13 : 17;
    case "nchar":
      return 2 * Number(type.length);
    case "char":
      return Number(type.length);
    case "nvarchar":
    case "varchar":
    case "varbinary":
      return undefined;
  }
}

/** Bytes of a value in its column: UTF-16 in nvarchar; in varchar UTF-8 or a code page, as the collation says. */
export function storedBytes(
  value: SqlValue,
  column: Pick<ColumnSchema, "type" | "collation">,
): number {
  const width = widthOf(column.type);
  if (width !== undefined) return width;
  if (value instanceof Uint8Array) return value.length;
  return typeof value === "string" ? textBytes(value, column.type, column.collation) : 0;
}

export function textBytes(
  text: string,
  type: { readonly name: string },
  collation: string,
): number {
  if (type.name === "nvarchar" || type.name === "nchar") return 2 * text.length;
  return isUtf8(collation) ? Buffer.byteLength(text, "utf8") : text.length;
}

export function columnAt(table: TableSchema, place: number): ColumnSchema {
  const column = table.columns[place];
  if (column === undefined) throw new Error(`${table.name} has no column ${place}`);
  return column;
}
