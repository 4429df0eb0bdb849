import type { Entry } from "../storage/index";
import type { Image, Row } from "../storage/row";
import { fullName } from "../storage/schema";
import type { TableData } from "../storage/table";
import type { LockingAccess } from "./access";
import type { Connection } from "./connection";
import type { Frame } from "./frame";
import type { KeyTarget } from "./key-lock";
import { lockKey } from "./key-lock";
import type { KeyRange } from "./key-range";
import type { Emit } from "./source";
import { emitted, passes } from "./source";
import { SqlError } from "./sql-error";
import type { Reply, Steps } from "./steps";
import type { TableScan } from "./table-scan";
import { imageText, readVersion } from "../storage/row";

/** The name of the lock of a whole table. */
export function tableResource(table: { schema: string; name: string }): string {
  return `OBJECT ${table.schema}.${table.name}`;
}

/**
 * A scan that locks what it reads: find the next key, lock it, look at the row, go on. Every rule about reading under
 * locks is here; the numbers are those of the project's list of lock rules (L1 to L23).
 */
export class LockingScan {
  readonly #scan: TableScan;
  readonly #frame: Frame;
  readonly #connection: Connection;
  readonly #access: LockingAccess;
  readonly #range: KeyRange;
  readonly #data: TableData;
  /** L7: a whole unique key was found, so no gap matters. */
  #hasFound = false;
  #hasStopped = false;

  constructor(scan: TableScan, frame: Frame, way: { access: LockingAccess; range: KeyRange }) {
    this.#scan = scan;
    this.#frame = frame;
    this.#connection = frame.connection;
    this.#access = way.access;
    this.#data = scan.data(frame);
    this.#range = way.range;
  }

  *run(emit: Emit): Steps<boolean> {
    const ask = { resource: tableResource(this.#scan.schema), mode: this.#access.tableMode };
    const conflict = this.#access.onConflict === "fail" ? "fail" : "wait";
    // L13: READPAST steps over rows only, a table's lock is waited for. L17: the intent is granted at once as a rule.
    yield* this.#connection.lockMinor({ kind: "lock", resolve: () => ask, onConflict: conflict });
    for (;;) {
      if (!this.#hasNext() && !(yield* this.#goesOn())) return false;
      // Only qualification passes over what may qualify by the time the turn comes.
      const abandon = this.#access.isQualified ? this.#keepPlace() : nothingToForget;
      const got = yield* lockKey(this.#connection, () => this.#next(), {
        onConflict: this.#access.onConflict,
        abandon,
      });
      const entry = got.target?.entry;
      this.#hasStopped = true;
      if (got.outcome === "nothing") return false;
      if (entry === undefined) {
        if (this.#isAtEnd()) return false;
        continue;
      }
      if (got.outcome === "skipped") {
        this.#noteSkip(entry);
        continue;
      }
      if (yield* this.#visit(entry, got.reply, emit)) return true;
    }
  }

  // ---- finding

  #next(): KeyTarget | undefined {
    const entry = this.#peek();
    if (entry !== undefined) {
      const index = this.#range.index;
      return {
        resource: index.resourceOfEntry(entry),
        mode: this.#usesRanges ? this.#access.rangeMode : this.#access.rowMode,
        entry,
        writer: entry.writer,
      };
    }
    // L6, L7 [doc: Key-range locking]: the gap behind the last key, too; behind a whole unique key only if it is missing.
    if (this.#access.level !== "serializable") return undefined;
    if (this.#scan.plan.path.isWholeUniqueKey && this.#hasFound) return undefined;
    return {
      resource: this.#range.boundary(),
      mode: this.#access.rangeMode,
      entry: undefined,
      writer: undefined,
    };
  }

  get #usesRanges(): boolean {
    return this.#access.level === "serializable" && !this.#scan.plan.path.isWholeUniqueKey;
  }

  /**
   * Nothing more is found. That is an observation like any other, so others may come before it: a point of its own. Without
   * one where the gap is locked anyway, where a whole unique key was found, and where the scan has stopped before and keeps
   * its locks: what others insert behind it then might as well have come later.
   */
  *#goesOn(): Steps<boolean> {
    if (this.#access.level === "serializable") return true;
    if (this.#hasFound && this.#scan.plan.path.isWholeUniqueKey) return false;
    const keepsAll = this.#access.isKept && this.#access.keepsRejected;
    if (this.#hasStopped && keepsAll) {
      this.#connection.observe("over");
      return false;
    }
    yield { kind: "pause", reason: `end of ${fullName(this.#scan.schema)}` };
    this.#hasStopped = true;
    const isOver = this.#peek() === undefined;
    this.#connection.observe(isOver ? "over" : "more");
    return !isOver;
  }

  /** The gap's lock is held; did another insert before it was? */
  #isAtEnd(): boolean {
    const hasMore = this.#peek() !== undefined;
    this.#connection.observe(hasMore ? "more" : "over");
    if (hasMore) return false;
    const held = this.#connection.heldMode(this.#range.boundary());
    return held !== undefined && held.startsWith("Range");
  }

  /** The next entry that another could work on: ghosts of ended transactions and of the own one are passed over. */
  #peek(): Entry | undefined {
    for (let entry = this.#range.peek(); entry !== undefined; entry = this.#range.peek()) {
      const isOver =
        entry.isGhost &&
        (entry.writer === undefined || entry.writer === this.#connection.transaction);
      if (!isOver && (!this.#access.isQualified || this.#qualifies(entry))) return entry;
      if (entry.isGhost) this.#connection.metrics.ghostsPassed += 1;
      this.#range.pass(entry);
    }
    return undefined;
  }

  /** A look ahead, which decides nothing. */
  #hasNext(): boolean {
    const goBack = this.#access.isQualified ? this.#keepPlace() : nothingToForget;
    const { recorder } = this.#connection.world;
    const mark = recorder?.mark();
    const hasNext = this.#peek() !== undefined;
    goBack();
    recorder?.rewind(mark);
    return hasNext;
  }

  /** How to come back to where the scan stands. */
  #keepPlace(): () => void {
    const here = this.#range.save();
    const { metrics } = this.#connection;
    const { ghostsPassed } = metrics;
    return () => {
      this.#range.restore(here);
      metrics.ghostsPassed = ghostsPassed;
    };
  }

  // ---- L20: lock after qualification

  /** The condition on the last committed version, without a lock; what passes is locked and tested again. */
  #qualifies(entry: Entry): boolean {
    const { transaction, world } = this.#connection;
    const image = readVersion(entry.row, world.commitSequence, transaction);
    if (image === undefined) return false;
    this.#frame.rows[this.#scan.slot] = image;
    return passes(this.#scan.plan.filters, this.#frame);
  }

  // ---- one row

  *#visit(entry: Entry, reply: Reply, emit: Emit): Steps<boolean> {
    if (!this.#range.contains(entry)) {
      // It went away, or moved, while this scan waited for it: read again.
      this.#connection.observe("gone");
      if (this.#access.level !== "serializable") this.#connection.restore(reply);
      return false;
    }
    this.#range.pass(entry);
    if (entry.isGhost) {
      this.#connection.observe("ghost");
      this.#connection.metrics.ghostsPassed += 1;
      if (this.#access.level !== "serializable") this.#connection.restore(reply);
      return false;
    }
    const replies = [reply];
    if (!this.#scan.plan.path.isCovering) {
      const base = yield* this.#lockBase(entry.row);
      if (base === undefined) {
        if (!this.#access.keepsRejected) this.#connection.restore(reply);
        return false;
      }
      replies.push(base);
    }
    this.#hasFound = true;
    return yield* this.#read(entry.row, replies, emit);
  }

  /** L4: after the index key the row itself, unless the index has all that is read. Undefined: there is no row to read. */
  *#lockBase(row: Row): Steps<Reply | undefined> {
    const { clustered } = this.#data;
    this.#connection.meter?.seek();
    const got = yield* lockKey(
      this.#connection,
      () => {
        const image = row.image ?? this.#deletedImage(row);
        if (image === undefined) return undefined;
        const key = clustered.keyOf(image);
        this.#connection.world.recorder?.reads(clustered, key, "all");
        return {
          resource: clustered.resourceOf(key),
          mode: this.#access.rowMode,
          entry: undefined,
          writer: row.writer,
        };
      },
      { onConflict: this.#access.onConflict },
    );
    if (got.outcome === "granted" && row.image !== undefined) return got.reply;
    // L13: READPAST steps over it in the lookup, too.
    if (got.outcome === "skipped") this.#connection.metrics.rowsSkipped += 1;
    else this.#connection.restore(got.reply);
    return undefined;
  }

  /** A row that another has deleted and not committed: its entry is a ghost, but its key is locked as ever. */
  #deletedImage(row: Row): Image | undefined {
    const isOpen = row.writer !== undefined && row.writer !== this.#connection.transaction;
    return isOpen ? row.older.at(-1)?.image : undefined;
  }

  *#read(row: Row, replies: readonly Reply[], emit: Emit): Steps<boolean> {
    // Another call has deleted the row, and its entry here is still to come: an index that covers the read shows it.
    const image = row.image ?? this.#deletedImage(row);
    if (image === undefined) {
      this.#release(replies);
      return false;
    }
    const { metrics, world } = this.#connection;
    this.#refuseConflict(row);
    this.#frame.rows[this.#scan.slot] = image;
    metrics.rowsRead += 1;
    this.#connection.meter?.examined();
    if (world.isObserved) this.#connection.observe(`r${imageText(image)}`);
    if (!passes(this.#scan.plan.filters, this.#frame)) {
      // L11: dropped again where it doesn't qualify; L12: what a hint or a level keeps stays.
      if (!this.#access.keepsRejected) this.#release(replies);
      return false;
    }
    this.#frame.hits[this.#scan.slot] = row;
    this.#frame.take(undefined);
    if (this.#access.isQualified) this.#connection.qualified.push(...replies);
    const isStopped = yield* this.#emit(replies, emit);
    // L6: a shared lock of READ COMMITTED lasts while its row is worked on; L11: so does U, unless the row is written.
    const isWritten = this.#scan.isTarget && this.#frame.isTaken(row);
    if (!this.#access.isKept && !isWritten) this.#release(replies);
    return isStopped;
  }

  /** An error in what follows ends the statement, and with it the shared locks that don't outlive their row. */
  *#emit(replies: readonly Reply[], emit: Emit): Steps<boolean> {
    try {
      return yield* emitted(emit());
    } catch (error) {
      if (!this.#access.isKept && this.#access.rowMode === "S") this.#release(replies);
      throw error;
    }
  }

  /** [doc: Snapshot isolation, update conflicts]. */
  #refuseConflict(row: Row): void {
    const { transaction } = this.#connection;
    if (!this.#access.detectsConflicts || !this.#scan.isTarget || row.writer !== undefined) return;
    const snapshot = transaction?.snapshot ?? this.#connection.world.snapshotOf(this.#connection);
    if (snapshot === undefined || row.sequence <= snapshot) return;
    throw new SqlError(
      3960,
      `Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot isolation to access table '${fullName(this.#scan.schema)}' directly or indirectly in database '${this.#connection.world.databaseName}' to update, delete, or insert the row that has been modified or deleted by another transaction. Retry the transaction or change the isolation level for the update/delete statement.`,
      { state: 2 },
    );
  }

  #release(replies: readonly Reply[]): void {
    for (const reply of replies.toReversed()) this.#connection.restore(reply);
  }

  #noteSkip(entry: Entry): void {
    this.#connection.metrics.rowsSkipped += 1;
    this.#connection.observe(`skip ${this.#range.index.resourceOfEntry(entry)}`);
    this.#range.pass(entry);
  }
}

function nothingToForget(): void {
  // Skipped entries concern no other.
}
