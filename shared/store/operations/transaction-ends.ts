import { formatDuration } from "../../core/duration";
import { InvalidArgumentError, StoreContractError } from "../../core/errors";

/** What a transaction has ended by, before a further call in it. */
export type TransactionEnd =
  | "a statement in it ended it with COMMIT or ROLLBACK"
  | "its body has returned"
  | "its completion has ended it";

/** Of a call behind the end of its transaction: it would be committed by itself. */
export function transactionEnded(by: TransactionEnd): StoreContractError {
  return outOfContext(`The transaction is over: ${by}`);
}

/** The server has ended a transaction whose body sent nothing for that long: the body's doing, and no outage. */
export function transactionSilent(idleMs: number, cause: unknown): StoreContractError {
  const text = `The transaction's body sent no statement for ${formatDuration(idleMs)}, so the database ended the transaction: its writes are undone. Do slow work, such as calls of other systems, before it begins`;
  return outOfContext(text, cause);
}

/** PostgreSQL takes no call in a transaction in which a statement has failed, also where its error was caught. */
export function statementFailed(cause: unknown): StoreContractError {
  const text =
    "An earlier statement of this transaction failed, and its error was caught: nothing of the transaction is kept. Let the error pass, or set a savepoint before the statement and roll back to it";
  return outOfContext(text, cause);
}

/** A completion was told to end a transaction that isn't the store's. */
export function endsUsersTransaction(): StoreContractError {
  return outOfContext(
    "endsTransaction: expected a transaction that the store began, got the user's own, which the user commits",
  );
}

/** A completion was told to end its transaction, and there is none. */
export function nothingToEnd(): InvalidArgumentError {
  return new InvalidArgumentError(
    "endsTransaction: expected a transaction to end, got none. Leave it out, or call within `transaction`",
    { details: { field: "endsTransaction" } },
  );
}

function outOfContext(text: string, cause?: unknown): StoreContractError {
  return new StoreContractError(text, { code: "TASKGATE_STORE_CONTEXT", cause });
}
