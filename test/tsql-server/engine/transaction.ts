import type { Entry, Index } from "../storage/index";
import type { Row, Writer } from "../storage/row";
import type { IsolationLevel } from "../syntax/ast-statements";
import type { Connection } from "./connection";
import { SqlError } from "./sql-error";

/** What a transaction has written, and how to undo it. */
export class Transaction implements Writer {
  readonly session: number;
  readonly number: number;
  readonly undo: (() => void)[] = [];
  readonly rows = new Set<Row>();
  readonly entries: { index: Index; entry: Entry }[] = [];
  readonly savepoints = new Map<string, number>();
  /** Keys written, in worlds of which a recorder may want to know. */
  readonly touched: { index: Index; key: Entry["key"] }[] = [];
  /** At level SNAPSHOT: what all its statements see, from the first one that reads. */
  snapshot: number | undefined;
  /** The level of the first statement that touched a table. */
  startedAt: IsolationLevel | undefined;
  /** BEGIN TRANSACTION made it; else it lasts for one statement. */
  readonly isExplicit: boolean;

  constructor(connection: Connection, isExplicit: boolean) {
    this.session = connection.id;
    this.number = connection.nextTransactionNumber();
    this.isExplicit = isExplicit;
  }

  undoTo(mark: number): void {
    while (this.undo.length > mark) this.undo.pop()?.();
  }
}

/** L19: the lock that stands for a transaction as long as it lives. */
export function transactionResource(writer: Writer): string {
  return `XACT ${writer.session}.${writer.number}`;
}

/** Rows become the committed ones; locks go. */
export function commitTransaction(connection: Connection): void {
  const { world, transaction } = connection;
  if (transaction === undefined) return;
  tellAgain(connection, transaction, "commit");
  if (transaction.rows.size > 0) {
    world.commitSequence += 1;
    for (const row of transaction.rows) {
      if (row.writer !== transaction) continue;
      row.writer = undefined;
      row.sequence = world.commitSequence;
      world.dropVersions(row);
    }
  }
  settleEntries(connection, transaction);
  connection.meter?.committed(transaction.rows.size > 0);
  finish(connection);
}

/** Everything is undone; locks go. */
export function rollBackTransaction(connection: Connection): void {
  const { transaction } = connection;
  if (transaction === undefined) return;
  tellAgain(connection, transaction, "rollback");
  transaction.undoTo(0);
  settleEntries(connection, transaction);
  finish(connection);
}

/** The writes are seen by others from now on, or are gone. */
export function tellAgain(
  connection: Connection,
  transaction: Transaction,
  how: "commit" | "rollback",
): void {
  const { recorder } = connection.world;
  if (recorder === undefined) return;
  for (const { index, key } of transaction.touched) recorder.writes(index, key, how);
}

function settleEntries(connection: Connection, transaction: Transaction): void {
  for (const { index, entry } of transaction.entries) {
    if (entry.writer !== transaction) continue;
    entry.writer = undefined;
    if (entry.isGhost) connection.world.dropGhost(index, entry);
  }
}

function finish(connection: Connection): void {
  connection.transaction = undefined;
  connection.world.closeSnapshot(connection);
  connection.releaseLocks();
}

export function savePoint(transaction: Transaction, name: string): void {
  transaction.savepoints.set(name.toLowerCase(), transaction.undo.length);
}

/** Undoes to a savepoint; locks stay [doc: SAVE TRANSACTION]. */
export function rollBackTo(connection: Connection, name: string): void {
  const { transaction } = connection;
  const mark = transaction?.savepoints.get(name.toLowerCase());
  if (transaction === undefined || mark === undefined) {
    throw new SqlError(
      6401,
      `Cannot roll back ${name}. No transaction or savepoint of that name was found.`,
    );
  }
  tellAgain(connection, transaction, "rollback");
  transaction.undoTo(mark);
}
