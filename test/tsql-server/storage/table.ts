import type { Entry } from "./index";
import { Index } from "./index";
import type { Image, Row } from "./row";
import type { TableSchema } from "./schema";

/**
 * The rows of one table. A copy of a world shares them until a step locks or writes here: then they are made its own
 * (`own`), so that a world with a thousand rows costs nothing to copy.
 */
export class TableData {
  schema: TableSchema;
  #indexes: Index[];
  #isShared = false;
  #isCopy = false;
  #nextRowId = 1;
  nextIdentity: bigint;
  /** Has a number been given since the table was made or truncated? A new seed means something else then. */
  hasGivenIdentity = false;
  /** Rows written so far, also with the values they had. */
  writeCount = 0;
  /** No step writes here any more: copies of the world share the rows for good. To write here is a fault. */
  isConstant = false;

  constructor(schema: TableSchema, indexes?: Index[]) {
    this.schema = schema;
    this.#indexes = indexes ?? schema.indexes.map((index) => new Index(schema, index));
    this.nextIdentity = firstIdentity(schema);
  }

  get clustered(): Index {
    return this.index(0);
  }

  get indexes(): readonly Index[] {
    return this.#indexes;
  }

  index(place: number): Index {
    const index = this.#indexes[place];
    if (index === undefined) throw new Error(`${this.schema.name} has no index ${place}`);
    return index;
  }

  newRow(): Row {
    const id = this.#nextRowId;
    this.#nextRowId += 1;
    return { id, image: undefined, sequence: 0, writer: undefined, older: [] };
  }

  /** Rows that exist, in clustered order, of all writers. */
  *liveRows(): Generator<Row> {
    for (const entry of this.clustered.entries) {
      if (!entry.isGhost && entry.row.image !== undefined) yield entry.row;
    }
  }

  /** Still the rows of the world that this one was copied from: no step has written here. */
  get isUntouched(): boolean {
    return this.#isShared || (this.#isCopy && this.writeCount === 0);
  }

  get rowCount(): number {
    return this.clustered.entries.length;
  }

  /** Another table with the same rows. No step may be writing here. */
  fork(): TableData {
    const copy = new TableData(this.schema, this.#indexes);
    copy.#nextRowId = this.#nextRowId;
    copy.nextIdentity = this.nextIdentity;
    copy.hasGivenIdentity = this.hasGivenIdentity;
    copy.#isShared = true;
    copy.#isCopy = true;
    copy.isConstant = this.isConstant;
    this.#isShared = true;
    return copy;
  }

  /** To be called before a row or an entry is held or changed. */
  own(): void {
    if (!this.#isShared || this.isConstant) return;
    this.#isShared = false;
    const rows = new Map<Row, Row>();
    this.#indexes = this.#indexes.map((index) => {
      const entries = index.entries.map((entry) => ({ ...entry, row: copyRow(entry.row, rows) }));
      const copy = new Index(this.schema, index.schema, entries);
      copy.changes = index.changes + 1;
      return copy;
    });
  }

  /** Everything goes, at once: for table variables and set-up. */
  clear(): void {
    this.own();
    this.writeCount += 1;
    for (const index of this.#indexes) index.replaceEntries([]);
  }

  /** The rows go, and identities begin anew [doc: TRUNCATE TABLE]. */
  truncate(): void {
    this.clear();
    this.nextIdentity = firstIdentity(this.schema);
    this.hasGivenIdentity = false;
  }

  /** A row of a table variable, or of set-up: no locks, no undo, committed since ever. */
  addCommitted(image: Image, belongs: (index: Index) => boolean): Row {
    this.own();
    const row = this.newRow();
    row.image = image;
    for (const index of this.#indexes) {
      if (belongs(index)) index.add(newEntry(index, image, row));
    }
    return row;
  }

  /** The table with other columns or indexes: rows are converted, indexes made anew. */
  rebuild(
    schema: TableSchema,
    change: { convert: (image: Image) => Image; belongs: (index: Index, image: Image) => boolean },
  ): void {
    const rows = [...this.liveRows()];
    this.writeCount += 1;
    this.#isShared = false;
    this.schema = schema;
    this.#indexes = schema.indexes.map((index) => new Index(schema, index));
    for (const { id, image, sequence, writer } of rows) {
      if (image === undefined) continue;
      const converted = change.convert(image);
      const row: Row = { id, image: converted, sequence, writer, older: [] };
      for (const index of this.#indexes) {
        if (change.belongs(index, converted)) index.add(newEntry(index, converted, row));
      }
    }
  }
}

function firstIdentity(schema: TableSchema): bigint {
  return schema.columns.find((column) => column.identity)?.identity?.seed ?? 1n;
}

export function newEntry(index: Index, image: Image, row: Row): Entry {
  return { key: index.keyOf(image), row, isGhost: false, writer: undefined, resource: undefined };
}

function copyRow(row: Row, copies: Map<Row, Row>): Row {
  let copy = copies.get(row);
  if (copy === undefined) {
    copy = { ...row, older: [...row.older] };
    copies.set(row, copy);
  }
  return copy;
}
