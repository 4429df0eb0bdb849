import type { SqlValue } from "../values";
import { foldText } from "./collation";
import type { Image, Row, Writer } from "./row";
import type { IndexSchema, TableSchema } from "./schema";
import { fullName } from "./schema";

/** A key of an index and its row. A ghost is deleted, but its key stays, with its lock, until the deleter commits. */
export interface Entry {
  readonly key: readonly SqlValue[];
  readonly row: Row;
  isGhost: boolean;
  writer: Writer | undefined;
  /** The name of its lock, once it was asked for. */
  resource: string | undefined;
}

/** The entries of one index, sorted by key and then by row. */
export class Index {
  readonly schema: IndexSchema;
  readonly table: TableSchema;
  #entries: Entry[];
  /** Grows with each entry that comes or goes: who walks looks for its place again. */
  changes = 0;
  #prefix: string | undefined;

  constructor(table: TableSchema, schema: IndexSchema, entries: Entry[] = []) {
    this.table = table;
    this.schema = schema;
    this.#entries = entries;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  replaceEntries(entries: Entry[]): void {
    this.#entries = entries;
    this.changes += 1;
  }

  keyOf(image: Image): SqlValue[] {
    return this.schema.keyColumns.map((place) => image[place] ?? null);
  }

  /** Compares as many leading columns as both keys have, at most `count`. */
  compareKeys(left: readonly SqlValue[], right: readonly SqlValue[], count: number): number {
    const { comparers, isDescending } = this.schema;
    const length = Math.min(count, left.length, right.length);
    for (let at = 0; at < length; at += 1) {
      const order = comparers[at]?.(left[at] ?? null, right[at] ?? null) ?? 0;
      if (order !== 0) return isDescending[at] === true ? -order : order;
    }
    return 0;
  }

  /** The first place whose entry isn't before (key, row); a shorter key stands before all that begin with it. */
  lowerBound(key: readonly SqlValue[], rowId: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = this.#entries[middle];
      if (entry !== undefined && this.#isBefore(entry, key, rowId)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first place whose entry is after all that begin with this key. */
  upperBound(key: readonly SqlValue[]): number {
    return this.lowerBound(key, Number.POSITIVE_INFINITY);
  }

  #isBefore(entry: Entry, key: readonly SqlValue[], rowId: number): boolean {
    const order = this.compareKeys(entry.key, key, this.schema.keyColumns.length);
    if (order !== 0) return order < 0;
    return entry.row.id < rowId;
  }

  find(key: readonly SqlValue[], row: Row): Entry | undefined {
    const entry = this.#entries[this.lowerBound(key, row.id)];
    if (entry?.row !== row) return undefined;
    return this.compareKeys(entry.key, key, this.schema.keyColumns.length) === 0
      ? entry
      : undefined;
  }

  /** Entries with the same identifying columns, ghosts among them. */
  *twins(key: readonly SqlValue[]): Generator<Entry> {
    const count = this.schema.identifyingCount;
    const start = key.slice(0, count);
    for (let at = this.lowerBound(start, -1); at < this.#entries.length; at += 1) {
      const entry = this.#entries[at];
      if (entry === undefined || this.compareKeys(entry.key, start, count) !== 0) return;
      yield entry;
    }
  }

  add(entry: Entry): void {
    this.#entries.splice(this.lowerBound(entry.key, entry.row.id), 0, entry);
    this.changes += 1;
  }

  remove(entry: Entry): void {
    const at = this.lowerBound(entry.key, entry.row.id);
    const place = this.#entries[at] === entry ? at : this.#entries.indexOf(entry);
    if (place < 0) return;
    this.#entries.splice(place, 1);
    this.changes += 1;
  }

  /** The lock of a key (L5): a unique index names it by its own columns, another one by the row's address, too. */
  resourceOf(key: readonly SqlValue[]): string {
    const parts = key
      .slice(0, this.schema.identifyingCount)
      .map((value, at) => this.#print(value, this.schema.keyColumns[at]));
    return `${this.#name}(${parts.join(",")})`;
  }

  resourceOfEntry(entry: Entry): string {
    return (entry.resource ??= this.resourceOf(entry.key));
  }

  /** The lock of the range behind the last key. */
  get infinity(): string {
    return `${this.#name}(infinity)`;
  }

  get #name(): string {
    return (this.#prefix ??= `KEY ${fullName(this.table)}.${this.schema.name}`);
  }

  #print(value: SqlValue, place: number | undefined): string {
    if (typeof value !== "string") {
      return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
    }
    const column = place === undefined ? undefined : this.table.columns[place];
    return `'${foldText(value, column?.collation ?? "")}'`;
  }
}
