import type { Index } from "../storage/index";
import type { Image, Row } from "../storage/row";
import type { TableData } from "../storage/table";
import { newEntry } from "../storage/table";
import type { Connection } from "./connection";
import { duplicateKey } from "./duplicate-key";
import { SimulationError } from "./sql-error";
import type { Change } from "./table-writer";

/** Writes to a table variable: no locks, and no rollback but that of the failing statement [doc: table]. */
export class LocalWriter {
  readonly #connection: Connection;
  readonly #data: TableData;

  constructor(connection: Connection, data: TableData) {
    this.#connection = connection;
    this.#data = data;
    if (data.schema.indexes.some((index) => index.filter !== undefined)) {
      throw new SimulationError(
        `${data.schema.name}: filtered indexes of table variables aren't modelled`,
      );
    }
  }

  insert(image: Image): Row {
    const row = this.#data.newRow();
    this.#add(row, image);
    return row;
  }

  /** All old keys go before new ones come, so that rows may swap theirs. */
  update(changes: readonly Change[]): void {
    for (const { row } of changes) this.#remove(row);
    for (const { row, image } of changes) this.#add(row, image);
  }

  delete(rows: readonly Row[]): void {
    for (const row of rows) this.#remove(row);
  }

  #add(row: Row, image: Image): void {
    for (const index of this.#data.indexes) {
      const key = index.keyOf(image);
      if (index.schema.isUnique && !index.twins(key).next().done) {
        throw duplicateKey(this.#data.schema, index, key);
      }
    }
    const before = row.image;
    row.image = image;
    const added = this.#data.indexes.map((index) => ({
      index,
      entry: newEntry(index, image, row),
    }));
    for (const { index, entry } of added) index.add(entry);
    this.#connection.localUndo.push(() => {
      for (const { index, entry } of added) index.remove(entry);
      row.image = before;
    });
  }

  #remove(row: Row): void {
    const { image } = row;
    if (image === undefined) return;
    const removed = this.#data.indexes.flatMap((index: Index) => {
      const entry = index.find(index.keyOf(image), row);
      return entry === undefined ? [] : [{ index, entry }];
    });
    for (const { index, entry } of removed) index.remove(entry);
    row.image = undefined;
    this.#connection.localUndo.push(() => {
      row.image = image;
      for (const { index, entry } of removed) index.add(entry);
    });
  }
}
