import type { Entry, Index } from "../storage/index";
import type { Image, Row } from "../storage/row";
import { fullName } from "../storage/schema";
import type { TableData } from "../storage/table";
import { newEntry } from "../storage/table";
import type { Connection } from "./connection";
import { duplicateKey } from "./duplicate-key";
import { isSameValue, mergeColumns } from "./images";
import { lockKey } from "./key-lock";
import { tableResource } from "./locking-scan";
import { SimulationError } from "./sql-error";
import type { Steps } from "./steps";
import type { TableRules } from "./table-rules";
import { rulesOf } from "./table-rules";
import type { WrittenPart } from "./written-part";

export interface Change {
  readonly row: Row;
  /** As it was found, and as it is to be. */
  readonly found: Image;
  readonly image: Image;
  /** Which columns are set; the others stay as they are when the row is written. */
  readonly columns: readonly number[];
  /** Of them those that are written in part (.WRITE). */
  readonly parts: ReadonlyMap<number, WrittenPart>;
}

/** A row that was written: before and after. */
interface Written {
  readonly old: Image;
  readonly image: Image;
}

interface IndexChange {
  readonly index: Index;
  readonly row: Row;
  readonly oldKey: readonly Image[number][] | undefined;
  readonly oldImage: Image;
  readonly newImage: Image | undefined;
}

/** Writes to a shared table: locks each key, keeps the old state for undo, and marks the writer. */
export class TableWriter {
  readonly #connection: Connection;
  readonly #data: TableData;
  readonly #rules: TableRules;

  constructor(connection: Connection, data: TableData) {
    this.#connection = connection;
    this.#data = data;
    this.#rules = rulesOf(data.schema, connection.world.catalog);
    if (data.isConstant)
      throw new SimulationError(`${fullName(data.schema)} is said never to be written`);
    data.own();
  }

  /** L17: the intent to write here, and with optimized locking the transaction's own lock (L19). */
  *begin(): Steps<void> {
    const ask = { resource: tableResource(this.#data.schema), mode: "IX" as const };
    yield* this.#connection.lockMinor({ kind: "lock", resolve: () => ask, onConflict: "wait" });
    yield* this.#connection.markTransaction();
  }

  *insert(image: Image): Steps<Row> {
    const row = this.#data.newRow();
    const { clustered } = this.#data;
    const release = yield* this.#insertKey(clustered, image, row);
    this.#setImage(row, image);
    release();
    for (const index of this.#data.indexes.slice(1)) {
      if (this.#belongs(index, image)) (yield* this.#insertKey(index, image, row))();
    }
    return row;
  }

  /** Clustered rows first, then index by index: deletes before inserts, in key order; or all indexes row by row. */
  *update(changes: readonly Change[]): Steps<void> {
    const pending: IndexChange[] = [];
    const isWide = this.#connection.world.options.hasWideUpdates;
    for (const change of changes) {
      const written = yield* this.#updateClustered(change);
      if (written === undefined) continue;
      pending.push(...this.#indexChanges(change.row, written));
      if (!isWide) yield* this.#maintain(pending.splice(0));
    }
    yield* this.#maintain(pending);
  }

  *delete(rows: readonly Row[]): Steps<void> {
    const pending: IndexChange[] = [];
    const isWide = this.#connection.world.options.hasWideUpdates;
    for (const row of rows) {
      if (row.image === undefined) continue;
      const { clustered } = this.#data;
      const key = clustered.keyOf(row.image);
      const release = yield* this.#lockKey(clustered, key, row);
      const old = this.#rowAt(row, key);
      if (old === undefined) {
        release();
        continue;
      }
      this.#makeGhost(clustered, key, { row, old });
      this.#setImage(row, undefined);
      release();
      for (const index of this.#data.indexes.slice(1)) {
        if (this.#belongs(index, old))
          pending.push({
            index,
            row,
            oldKey: index.keyOf(old),
            oldImage: old,
            newImage: undefined,
          });
      }
      if (!isWide) yield* this.#maintain(pending.splice(0));
    }
    yield* this.#maintain(pending);
  }

  // ---- the row itself

  /** Undefined: the row isn't there any more. */
  *#updateClustered(change: Change): Steps<Written | undefined> {
    const { clustered } = this.#data;
    const { row } = change;
    if (row.image === undefined) return undefined;
    const oldKey = clustered.keyOf(row.image);
    const release = yield* this.#lockKey(clustered, oldKey, row);
    const old = this.#rowAt(row, oldKey);
    if (old === undefined) {
      release();
      return undefined;
    }
    const image = old === change.found ? change.image : mergeColumns(old, change);
    const newKey = clustered.keyOf(image);
    if (clustered.compareKeys(oldKey, newKey, newKey.length) !== 0) {
      this.#makeGhost(clustered, oldKey, { row, old });
      const releaseNew = yield* this.#insertKey(clustered, image, row);
      this.#setImage(row, image);
      releaseNew();
    } else {
      this.#setImage(row, image);
      const entry = clustered.find(oldKey, row);
      if (entry !== undefined) this.#markEntry(clustered, entry);
      this.#connection.meter?.updated(clustered, old, { image, parts: change.parts });
    }
    release();
    return { old, image };
  }

  /** The row under its lock: where an index was read that has all columns, it may have changed before it was locked. */
  #rowAt(row: Row, key: readonly Image[number][]): Image | undefined {
    const { clustered } = this.#data;
    if (row.image === undefined) return undefined;
    const isHere = clustered.compareKeys(clustered.keyOf(row.image), key, key.length) === 0;
    return isHere ? row.image : undefined;
  }

  #setImage(row: Row, image: Image | undefined): void {
    const { writer, metrics } = this.#connection;
    const before = { image: row.image, writer: row.writer, sequence: row.sequence };
    const isFirst = row.writer !== writer;
    if (isFirst) row.older.push({ sequence: row.sequence, image: row.image });
    row.image = image;
    row.writer = writer;
    writer.rows.add(row);
    if (this.#connection.world.isObserved) {
      for (const index of this.#data.indexes) {
        if (before.image !== undefined) this.#note(index, index.keyOf(before.image), "row");
        if (image !== undefined) this.#note(index, index.keyOf(image), "row");
      }
    }
    metrics.rowsWritten += 1;
    this.#data.writeCount += 1;
    writer.undo.push(() => {
      row.image = before.image;
      row.writer = before.writer;
      row.sequence = before.sequence;
      if (isFirst) row.older.pop();
    });
  }

  // ---- indexes

  #belongs(index: Index, image: Image): boolean {
    return this.#rules.belongs(index.schema, image, this.#connection);
  }

  /** What the other indexes have to do: nothing where no column of theirs changes. */
  #indexChanges(row: Row, { old, image }: Written): IndexChange[] {
    return this.#data.indexes.slice(1).flatMap((index) => {
      const was = this.#belongs(index, old);
      const is = this.#belongs(index, image);
      const isSame =
        was === is &&
        [...index.schema.covered].every((place) => isSameValue(old[place], image[place]));
      if (isSame || (!was && !is)) return [];
      return [
        {
          index,
          row,
          oldKey: was ? index.keyOf(old) : undefined,
          oldImage: old,
          newImage: is ? image : undefined,
        },
      ];
    });
  }

  *#maintain(changes: readonly IndexChange[]): Steps<void> {
    for (const index of this.#data.indexes.slice(1)) {
      const own = changes.filter((change) => change.index === index);
      if (own.length > 0) yield* this.#maintainIndex(index, own);
    }
  }

  *#maintainIndex(index: Index, changes: readonly IndexChange[]): Steps<void> {
    const count = index.schema.keyColumns.length;
    const stays = ({ oldKey, newImage }: IndexChange): boolean =>
      oldKey !== undefined &&
      newImage !== undefined &&
      index.compareKeys(oldKey, index.keyOf(newImage), count) === 0;
    for (const { oldKey, oldImage, newImage, row } of changes.filter(stays)) {
      if (oldKey === undefined || newImage === undefined) continue;
      const release = yield* this.#lockKey(index, oldKey, row);
      const entry = index.find(oldKey, row);
      if (entry !== undefined) this.#markEntry(index, entry);
      this.#connection.meter?.updated(index, oldImage, { image: newImage });
      release();
    }
    const moved = changes.filter((change) => !stays(change));
    const deletes = moved.flatMap(({ oldKey, oldImage, row }) =>
      oldKey === undefined ? [] : [{ key: oldKey, row, old: oldImage }],
    );
    deletes.sort((left, right) => index.compareKeys(left.key, right.key, count));
    for (const { key, row, old } of deletes) {
      const release = yield* this.#lockKey(index, key, row);
      this.#makeGhost(index, key, { row, old });
      release();
    }
    const inserts = moved.flatMap(({ newImage, row }) =>
      newImage === undefined ? [] : [{ image: newImage, row }],
    );
    inserts.sort((left, right) =>
      index.compareKeys(index.keyOf(left.image), index.keyOf(right.image), count),
    );
    for (const { image, row } of inserts) (yield* this.#insertKey(index, image, row))();
  }

  #makeGhost(
    index: Index,
    key: readonly Image[number][],
    { row, old }: { readonly row: Row; readonly old: Image },
  ): void {
    this.#connection.meter?.deleted(index, old);
    const entry = index.find(key, row);
    if (entry === undefined)
      throw new Error(`${index.schema.name} lost the entry of row ${row.id}`);
    this.#markEntry(index, entry);
    entry.isGhost = true;
    this.#connection.writer.undo.push(() => {
      entry.isGhost = false;
    });
  }

  #markEntry(index: Index, entry: Entry): void {
    const { writer } = this.#connection;
    this.#note(index, entry.key, "row");
    const before = entry.writer;
    entry.writer = writer;
    writer.entries.push({ index, entry });
    writer.undo.push(() => {
      entry.writer = before;
    });
  }

  /** A key that others may look for: told now, and at the end of the transaction. */
  #note(index: Index, key: readonly Image[number][], change: "row" | "entry"): void {
    const { recorder, isObserved } = this.#connection.world;
    if (!isObserved) return;
    recorder?.writes(index, key, change);
    this.#connection.writer.touched.push({ index, key });
  }

  // ---- keys

  /** X on a key. With optimized locking it goes once the row is written, unless hint or level keep it (L19). */
  *#lockKey(index: Index, key: readonly Image[number][], row: Row): Steps<() => void> {
    const resource = index.resourceOf(key);
    const got = yield* lockKey(
      this.#connection,
      () => {
        const entry = index.find(key, row);
        this.#connection.world.recorder?.reads(index, key, "entries");
        return { resource, mode: "X", entry, writer: row.writer };
      },
      { onConflict: "wait" },
    );
    return () => {
      this.#dropAfterWrite(got.reply);
    };
  }

  #dropAfterWrite(reply: Parameters<Connection["restore"]>[0]): void {
    const { world, settings, meter } = this.#connection;
    if (reply.ask !== undefined) meter?.written(reply.ask.resource);
    const isKept =
      settings.isolation === "REPEATABLE READ" || settings.isolation === "SERIALIZABLE";
    if (world.options.hasOptimizedLocking && !isKept && reply.before === undefined)
      this.#connection.restore(reply);
  }

  /**
   * L14: X on the new key, behind the writer of an uncommitted equal one; then the gap is tested against range locks (L18), in
   * the same step as the insert: tested earlier, a range lock taken in between would be missed.
   */
  *#insertKey(index: Index, image: Image, row: Row): Steps<() => void> {
    const key = index.keyOf(image);
    const resource = index.resourceOf(key);
    const got = yield* lockKey(
      this.#connection,
      () => ({ resource, mode: "X", entry: this.#liveTwin(index, key), writer: undefined }),
      { onConflict: "wait" },
    );
    const gap = yield* this.#connection.lockMinor({
      kind: "lock",
      onConflict: "wait",
      resolve: () => {
        const next = index.entries[index.lowerBound(key, row.id)];
        const boundary = next === undefined ? index.infinity : index.resourceOfEntry(next);
        return boundary === resource ? undefined : { resource: boundary, mode: "RangeI-N" };
      },
    });
    this.#connection.restore(gap);
    const release = (): void => {
      this.#dropAfterWrite(got.reply);
    };
    const isTaken = index.schema.isUnique && [...index.twins(key)].some((twin) => !twin.isGhost);
    this.#connection.observe(isTaken ? "taken" : "new");
    if (isTaken) {
      release();
      throw duplicateKey(this.#data.schema, index, key);
    }
    this.#addEntry(index, image, row);
    return release;
  }

  /** An equal key whose fate another transaction decides. */
  #liveTwin(index: Index, key: readonly Image[number][]): Entry | undefined {
    if (!index.schema.isUnique) return undefined;
    this.#connection.world.recorder?.reads(
      index,
      key.slice(0, index.schema.identifyingCount),
      "entries",
    );
    for (const twin of index.twins(key)) {
      if (twin.writer !== undefined && twin.writer.session !== this.#connection.id) return twin;
    }
    return undefined;
  }

  #addEntry(index: Index, image: Image, row: Row): void {
    const { writer, meter } = this.#connection;
    meter?.inserted(index, image);
    const old = index.find(index.keyOf(image), row);
    if (old !== undefined) {
      // The row comes back to a key that it has just left.
      this.#markEntry(index, old);
      const wasGhost = old.isGhost;
      old.isGhost = false;
      writer.undo.push(() => {
        old.isGhost = wasGhost;
      });
      return;
    }
    const entry = { ...newEntry(index, image, row), writer };
    this.#note(index, entry.key, "entry");
    index.add(entry);
    writer.entries.push({ index, entry });
    writer.undo.push(() => {
      index.remove(entry);
    });
  }
}
