import { listMax } from "../../admin/listing";
import { readBehind, readCursor, seenHash, seenMax, writeCursor } from "./cursor";
import type { Shown } from "./cursor";

/** One page of a list: the rows that no earlier page has shown. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** There are other rows. */
  readonly more: boolean;
  /** Shows them; null: there are none, or the list is read no further. */
  readonly cursor: string | null;
}

/** How a list is paged. */
export interface Paging<Query, Row> {
  /** Names the list: cursors of others are refused. */
  readonly list: string;
  /** Tells a row from all others of the list. */
  readonly keyOf: (row: Row) => unknown;
  /** The most that one read answers. */
  readonly top?: number;
  /** For lists whose read begins anywhere: so they are paged to their end. */
  readonly seek?: Seek<Query, Row>;
}

interface Seek<Query, Row> {
  /** A place behind all rows that are shown but those of `tieOf` the last one. */
  readonly placeOf: (last: Row) => string;
  /** Rows with the same may stand on both sides of a place; the place alone doesn't tell them. */
  readonly tieOf: (row: Row) => unknown;
  /** The query that begins at a place. */
  readonly from: (query: Query, place: string) => Query;
}

/**
 * Reads a page. `cursor`: of the answer before. Of a list without `seek` the first thousand rows can be reached. The read asks
 * for as many rows as were shown, and one more than is wanted.
 */
export async function readPage<Query extends { readonly max: number }, Row>(
  paging: Paging<Query, Row>,
  { query, cursor }: { query: Query; cursor: string | undefined },
  read: (query: Query) => Promise<readonly Row[]>,
): Promise<Page<Row>> {
  const { keyOf, top = listMax, seek } = paging;
  const { max, ...filter } = query;
  const place = { list: paging.list, filter };
  const shown = readCursor(place, cursor);
  const seen = new Set(shown.seen);
  const wanted = max + seen.size + 1;
  const found = await readBehind(cursor, async () => {
    const begun = shown.before === null || !seek ? query : seek.from(query, shown.before);
    return read({ ...begun, max: Math.min(wanted, top) });
  });
  const unseen = found.filter((row) => !seen.has(seenHash(keyOf(row))));
  const rows = unseen.slice(0, max);
  const isCut = wanted > top && found.length >= top;
  const more = unseen.length > max || isCut;
  const next = more ? nextOf(paging, { shown, rows, isUnread: unseen.length <= max }) : null;
  return { rows, more, cursor: next === null ? null : writeCursor(place, next) };
}

/** The cursor behind these rows; null: no cursor leads on. */
function nextOf<Query, Row>(
  { keyOf, seek }: Paging<Query, Row>,
  { shown, rows, isUnread }: { shown: Shown; rows: readonly Row[]; isUnread: boolean },
): Shown | null {
  const last = rows.at(-1);
  if (seek === undefined || last === undefined) {
    const seen = [...shown.seen, ...rows.map((row) => seenHash(keyOf(row)))];
    // The rest stands behind the last row that a read answers.
    return isUnread || seen.length > seenMax ? null : { before: null, seen };
  }
  const before = seek.placeOf(last);
  const tie = seek.tieOf(last);
  const tied = rows.filter((row) => seek.tieOf(row) === tie).map((row) => seenHash(keyOf(row)));
  const earlier = before === shown.before ? shown.seen : [];
  return { before, seen: [...earlier, ...tied] };
}
