import type { Connection } from "./connection";
import { endTransaction } from "./errors";
import { SqlError } from "./sql-error";
import type { Steps } from "./steps";
import { commitTransaction, rollBackTo, savePoint } from "./transaction";
import { cannotCommit } from "./transaction-start";

/** COMMIT, ROLLBACK and SAVE TRANSACTION: inner ones only count [doc: BEGIN TRANSACTION]. */

export function* commitOne(connection: Connection): Steps<void> {
  if (connection.transactionCount === 0) {
    throw new SqlError(
      3902,
      "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.",
    );
  }
  if (connection.isDoomed) throw cannotCommit();
  if (connection.transactionCount > 1) {
    connection.transactionCount -= 1;
    return;
  }
  yield* pause(connection, "commit");
  connection.transactionCount = 0;
  commitTransaction(connection);
  connection.answer?.committed(connection.transactionId);
}

export function* rollBackAll(connection: Connection, savepoint: string | undefined): Steps<void> {
  if (connection.transactionCount === 0) {
    throw new SqlError(
      3903,
      "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.",
    );
  }
  if (savepoint !== undefined) {
    if (connection.isDoomed) {
      throw new SqlError(
        3931,
        "The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the entire transaction.",
      );
    }
    rollBackTo(connection, savepoint);
    return;
  }
  yield* pause(connection, "rollback");
  endTransaction(connection);
}

export function saveTransaction(connection: Connection, name: string): void {
  if (connection.transaction === undefined || connection.transactionCount === 0) {
    throw new SqlError(628, "Cannot issue SAVE TRANSACTION when there is no active transaction.");
  }
  savePoint(connection.transaction, name);
}

/** Others may still do something before these locks go. */
function* pause(connection: Connection, reason: string): Steps<void> {
  if (connection.world.locks.locksOf(connection.id).size > 0) yield { kind: "pause", reason };
}
