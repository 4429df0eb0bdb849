import type { Index } from "../storage/index";
import type { Image } from "../storage/row";
import type { ColumnSchema } from "../storage/schema";
import type { StoredRow } from "../storage/stored-size";
import {
  columnAt,
  pieceHeaderBytes,
  pieceMax,
  storedBytes,
  storedRow,
  wholeSize,
  widthOf,
} from "../storage/stored-size";
import type { SqlValue } from "../values";
import { isSameValue } from "./images";
import type { WrittenPart } from "./written-part";

/*
 * A model of what a change costs in the transaction log. Which images are logged is known [Paul Randal, sqlperformance.com,
 * "The SQL Server Transaction Log, Part 4: Log Records"]; the size of a record's frame is that of a published record, read byte
 * by byte; how an update cuts its images is a model. Not counted: pages and extents given out, splits, the later removal of
 * ghosts, compensation of what is rolled back.
 */

/**
 * Around the image of a record of one row: 72 bytes of header, lengths and padding, 20 of the lock. So it is in the record that
 * sqlservercentral.com prints whole ("Time pass with transaction log, part 5: insert"): 124 bytes for a row of 32.
 */
export const recordBytes = 92;

/** Begin and commit of a transaction that wrote: about 120 and 80 bytes. */
export const transactionBytes = 200;

/** Every row carries so much for its versions [doc: Row versioning resource usage]. */
const versionTagBytes = 14;

/** What one change of an index's row costs. */
export interface RowCost {
  readonly log: number;
  /** With row versions: the copy of what was there, and the tag. */
  readonly version: number;
  /** The row as it is stored from now on. */
  readonly stored: number;
}

export function insertCost(index: Index, image: Image): RowCost {
  const row = storedRow(index.table, index.schema, image);
  const stored = wholeSize(row);
  return { log: recordsOf(row) + stored, version: versionTagBytes, stored };
}

/** The whole row is logged, to bring it back. */
export function deleteCost(index: Index, old: Image): RowCost {
  const row = storedRow(index.table, index.schema, old);
  const size = wholeSize(row);
  return { log: recordsOf(row) + size, version: versionTagBytes + size, stored: 0 };
}

/** A key that stays: one record with what has changed, before and after. */
export function updateCost(
  index: Index,
  change: {
    readonly old: Image;
    readonly image: Image;
    readonly parts: ReadonlyMap<number, WrittenPart>;
  },
): RowCost {
  const { old, image, parts } = change;
  const { table, schema } = index;
  const before = storedRow(table, schema, old);
  const after = storedRow(table, schema, image);
  let log = recordBytes;
  let copied = before.inRow;
  for (const place of schema.covered) {
    const [was, is] = [old[place] ?? null, image[place] ?? null];
    if (isSameValue(was, is)) continue;
    const part = parts.get(place);
    if (part !== undefined) {
      const cost = partCost(part, after.outside.has(place));
      log += cost.log;
      copied += cost.copied;
      continue;
    }
    log += changedBytes(columnAt(table, place), was, is);
    for (const { outside } of [before, after])
      log += (outside.get(place)?.pieces ?? 0) * recordBytes;
    copied += before.outside.get(place)?.bytes ?? 0;
  }
  return { log, version: versionTagBytes + copied, stored: wholeSize(after) };
}

/**
 * A `max` value that .WRITE changes: what is taken out and put in, with a record for each piece outside the row that it touches,
 * and a version of these pieces [doc: UPDATE, .WRITE, "partial updates"; Row versioning resource usage: "the data fragments that are
 * modified"]. What stands behind a part of another length moves, too (writePart).
 */
function partCost(
  { offset, was, is }: WrittenPart,
  isOutside: boolean,
): { readonly log: number; readonly copied: number } {
  const log = was.length + is.length;
  if (!isOutside) return { log, copied: 0 };
  const first = Math.floor(offset / pieceMax);
  const last = Math.floor((offset + Math.max(was.length, is.length, 1) - 1) / pieceMax);
  const pieces = last - first + 1;
  return { log: log + pieces * recordBytes, copied: pieces * (pieceMax + pieceHeaderBytes) };
}

/** A record for the row, and one for each piece outside. */
function recordsOf(row: StoredRow): number {
  let pieces = 0;
  for (const value of row.outside.values()) pieces += value.pieces;
  return (1 + pieces) * recordBytes;
}

/** Both images: of a `max` value that `=` sets all of it, of other texts what lies between equal ends, else the whole width. */
function changedBytes(column: ColumnSchema, was: SqlValue, is: SqlValue): number {
  const width = widthOf(column.type);
  if (width !== undefined) return 2 * width;
  const sizes = storedBytes(was, column) + storedBytes(is, column);
  const isWhole = "length" in column.type && column.type.length === "max";
  if (isWhole || typeof was !== "string" || typeof is !== "string") return sizes;
  const [start, end] = equalEnds(was, is);
  const cut = (text: string): string => text.slice(start, text.length - end);
  return storedBytes(cut(was), column) + storedBytes(cut(is), column);
}

function equalEnds(left: string, right: string): [number, number] {
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < most - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  return [start, end];
}
