import type { StoreDialect, StoreTransaction, TransactionBounds } from "../ports/task-store";
import type { AnswerRow, ParameterValues, Procedure } from "./operations/operation";

/**
 * What an adapter gives: calls of procedures and transactions. Errors come mapped (core/errors.ts).
 * Private to shared/store.
 */
export interface ProcedureCaller {
  readonly dialect: StoreDialect;
  /** One call, one row. Every operation is one transaction, unless it runs `within` the user's. */
  call(
    procedure: Procedure,
    values: ParameterValues,
    within?: StoreTransaction,
  ): Promise<AnswerRow>;
  /**
   * `complete_task` and the commit of its transaction, or the rollback when it says `fenced`, in one message. An error of
   * it commits nothing. Only for a transaction of this caller's.
   */
  completeAndCommit(values: ParameterValues, within: StoreTransaction): Promise<AnswerRow>;
  /** One transaction on one connection of its own. */
  transaction<Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
    bounds?: TransactionBounds,
  ): Promise<Result>;
  /** As `TaskStore` has it; left out where the database has no notifications. */
  readonly notifyWaiting?: (definition: string, tasks: number) => Promise<number>;
  /** Ends all connections. */
  close(): Promise<void>;
}
