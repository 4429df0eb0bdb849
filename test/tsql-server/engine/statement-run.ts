import { accessOf } from "./access";
import type { Connection } from "./connection";
import type { Frame } from "./frame";
import { sqlErrors } from "./sql-error";
import type { Steps } from "./steps";
import type { TableScan } from "./table-scan";
import { startTransaction } from "./transaction-start";
import { commitTransaction, rollBackTransaction, tellAgain } from "./transaction";

/**
 * Runs one statement as a whole: with its snapshot, with a transaction of its own outside BEGIN TRANSACTION, undone when it
 * fails while its locks stay. A statement of a function is part of the one that calls it.
 */
export function* runStatement<Result>(
  frame: Frame,
  scans: readonly TableScan[],
  body: () => Steps<Result>,
): Steps<Result> {
  const { connection } = frame;
  frame.turn += 1;
  if (connection.isInStatement) return yield* body();
  if (scans.some((scan) => !scan.schema.isLocal)) startTransaction(connection);
  connection.isInStatement = true;
  const mark = connection.transaction?.undo.length ?? 0;
  try {
    yield* takeSnapshot(connection, scans);
    const result = yield* body();
    releaseQualified(connection);
    connection.isInStatement = false;
    closeSnapshot(connection);
    if (connection.transactionCount === 0) yield* endOwn(connection);
    return result;
  } catch (error) {
    undoStatement(connection, mark);
    throw error;
  } finally {
    connection.isInStatement = false;
    connection.localUndo = [];
    connection.qualified = [];
    closeSnapshot(connection);
  }
}

/** L8: a snapshot is taken when the statement starts; others may commit until then. */
function* takeSnapshot(connection: Connection, scans: readonly TableScan[]): Steps<void> {
  const reads = scans.some((scan) => !scan.isTarget && !hasOwnAccess(scan, connection));
  if (!reads || connection.world.snapshotOf(connection) !== undefined) return;
  yield { kind: "pause", reason: "snapshot" };
  connection.world.openSnapshot(connection);
}

/** Errors of hints are for the scan to raise. */
function hasOwnAccess(scan: TableScan, connection: Connection): boolean {
  if (scan.schema.isLocal || scan.hints.has("READPAST")) return true;
  return accessOf(scan, connection).kind !== "versioned";
}

/** At level SNAPSHOT it is the transaction's. */
function closeSnapshot(connection: Connection): void {
  if (connection.transaction?.snapshot === undefined) connection.world.closeSnapshot(connection);
}

function releaseQualified(connection: Connection): void {
  for (const reply of connection.qualified.toReversed()) connection.restore(reply);
  connection.qualified = [];
}

/** The transaction of a single statement. */
function* endOwn(connection: Connection): Steps<void> {
  const { transaction, world } = connection;
  if (transaction === undefined) {
    connection.releaseLocks();
    return;
  }
  if (world.locks.locksOf(connection.id).size > 0) yield { kind: "pause", reason: "commit" };
  commitTransaction(connection);
}

/** The statement's writes go, its locks stay [seed: 001's list shows those of the failed row]. */
function undoStatement(connection: Connection, mark: number): void {
  for (const undo of connection.localUndo.toReversed()) undo();
  const { transaction } = connection;
  if (transaction !== undefined) {
    tellAgain(connection, transaction, "rollback");
    transaction.undoTo(mark);
  }
  releaseQualified(connection);
  if (connection.transactionCount === 0) {
    rollBackTransaction(connection);
    connection.releaseLocks();
  }
}

/** Before a write: a doomed transaction only rolls back. */
export function requireWritable(connection: Connection): void {
  if (connection.isDoomed) throw sqlErrors.doomed();
}
