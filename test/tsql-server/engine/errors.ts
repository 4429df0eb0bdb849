import type { Connection } from "./connection";
import type { SqlError } from "./sql-error";
import { rollBackTransaction } from "./transaction";

/**
 * What an error does besides being told [doc: SET XACT_ABORT, TRY...CATCH]. Inside TRY: under XACT_ABORT, or where the
 * error always ends a batch, the transaction is doomed. Outside: those roll back and end the batch, THROW ends the batch,
 * and after anything else the next statement runs. True: the batch goes on.
 */
export function settleError(connection: Connection, error: SqlError): boolean {
  if (error.isSettled) return false;
  error.isSettled = true;
  const isHarsh = !error.isMild && (connection.settings.isXactAbort || error.abortsBatch);
  if (connection.tryDepth > 0) {
    if (isHarsh && connection.transactionCount > 0) connection.isDoomed = true;
    return false;
  }
  if (isHarsh) {
    endTransaction(connection);
    return false;
  }
  if (error.isThrown) return false;
  tell(connection, error);
  return true;
}

export function tell(connection: Connection, error: SqlError): void {
  connection.lastError = error.number;
  connection.rowCount = 0;
  connection.requireAnswer().error(error);
}

/** Every open transaction is rolled back, at all levels. */
export function endTransaction(connection: Connection): void {
  const wasExplicit = connection.transactionCount > 0;
  connection.transactionCount = 0;
  connection.isDoomed = false;
  rollBackTransaction(connection);
  connection.releaseLocks();
  if (wasExplicit) connection.answer?.rolledBack(connection.transactionId);
}
