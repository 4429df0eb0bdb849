import type { Connection } from "./connection";
import { SqlError } from "./sql-error";
import { Transaction } from "./transaction";

/** How a transaction is begun, and when it starts: inner BEGIN TRANSACTIONs only count [doc: BEGIN TRANSACTION]. */

export function beginTransaction(connection: Connection): void {
  if (connection.isDoomed) throw cannotCommit();
  if (connection.transactionCount === 0) {
    connection.transaction = new Transaction(connection, true);
    connection.transactionId = connection.transaction.number;
    connection.answer?.began(connection.transactionId);
  }
  connection.transactionCount += 1;
}

/** A transaction starts with the first statement that touches a table; one that starts otherwise is never at SNAPSHOT (3951). */
export function requireSnapshotStart({ transaction, world }: Connection): void {
  if (transaction?.startedAt === undefined || transaction.startedAt === "SNAPSHOT") return;
  throw new SqlError(
    3951,
    `Transaction failed in database '${world.databaseName}' because the statement was run under snapshot isolation but the transaction did not start in snapshot isolation. You cannot change the isolation level of the transaction to snapshot after the transaction has started unless the transaction was originally started under snapshot isolation level.`,
  );
}

/** A statement that touches a table: it starts what was begun, or, with IMPLICIT_TRANSACTIONS, begins it. */
export function startTransaction(connection: Connection): void {
  const { isImplicit, isolation } = connection.settings;
  if (isImplicit && connection.transactionCount === 0) beginTransaction(connection);
  if (isolation === "SNAPSHOT") requireSnapshotStart(connection);
  if (connection.transaction !== undefined) connection.transaction.startedAt ??= isolation;
}

export function cannotCommit(): SqlError {
  return new SqlError(
    3930,
    "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.",
  );
}
