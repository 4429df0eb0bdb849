import { StoreContractError } from "../../core/errors";
import type { TaskgateError } from "../../core/errors";

/** What the server says of a joined transaction, as far as it decides about an enqueue. */
export interface TransactionFacts {
  /** As `transaction_isolation` has it. */
  readonly isolation: unknown;
  /** As `transaction_read_only` has it. */
  readonly readOnly: unknown;
}

/** Why a joined transaction takes no enqueue: the expectation that it breaks, and the remedy. */
export interface Refusal {
  readonly expected: string;
  readonly fix: string;
  readonly cause?: unknown;
}

/** The error of an enqueue for which nothing but a question was sent. */
export function refused(
  owner: "client" | "function",
  { expected, fix, cause }: Refusal,
): TaskgateError {
  return new StoreContractError(
    `transaction: expected the ${owner}'s to be ${expected}. Nothing was enqueued. ${fix}`,
    { code: "TASKGATE_STORE_CONTEXT", details: { field: "transaction" }, cause },
  );
}

/** Of one in which a statement has failed; `said`: the server's words. */
export function hasFailed(said: string): Refusal {
  return {
    expected: `one in which no statement has failed (${said})`,
    fix: "Roll it back, and begin another one",
  };
}

/** Of an open transaction that is of another kind than an enqueue needs; null: it takes one. */
export function unfit({ isolation, readOnly }: TransactionFacts): Refusal | null {
  if (isolation !== "read committed")
    return {
      expected: `isolation level read committed (${String(isolation)})`,
      fix: "Begin it with `begin isolation level read committed`",
    };
  if (readOnly !== "off")
    return {
      expected: "one that may write (it is read-only)",
      fix: "Begin it with `begin read write`",
    };
  return null;
}
