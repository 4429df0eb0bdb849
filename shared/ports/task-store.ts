import type { StoreOperations } from "../store/operations";
import type {
  StoreDialect,
  StoreTransaction,
  TransactionBounds,
} from "../store/operations/store-transaction";

/*
 * The port to the database. Its methods, inputs and answers stand beside the operations that they are, by topic.
 */

export type { Limit, SharedLimitStatus } from "../store/operations/limit";
export type { NewTask } from "../store/operations/new-tasks";
export type { OpenedWaves } from "../store/operations/opened";
export type { ActorInput } from "../store/operations/operator";
export type { SetLimitInput } from "../store/operations/set-limit";
export type * from "../store/operations/store-transaction";
export type * from "../store/operations/topics";

/**
 * The seam to the database: one method per atomic operation, each one procedure call, one transaction, one round trip.
 * Expected outcomes are values; misuse, bad input and a failing database throw. Private: SQL users read docs/reference/sql.md.
 */
export interface TaskStore extends StoreOperations {
  /** Which adapter this is; the banner and the tests name it. */
  readonly dialect: StoreDialect;
  /**
   * Runs the user's writes in one transaction on one connection: committed when `body` returns, rolled back when it throws.
   * Nothing is repeated: a broken connection throws `StoreUncertainError` when the commit had been sent.
   * On PostgreSQL the server ends a transaction that waits for its client for longer than `idleMs`, 30,000 at most and by default.
   */
  transaction<Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
    bounds?: TransactionBounds,
  ): Promise<Result>;
  /**
   * Notifies at most `tasks` of the processes that wait for tasks of a definition; answers how many. Left out where the
   * database has no notifications. Called after the commit: within a transaction of a caller's it would hold up the
   * commits of others.
   */
  readonly notifyWaiting?: (definition: string, tasks: number) => Promise<number>;
  /** Ends all connections; waits for calls in flight, at most 5 s. */
  close(): Promise<void>;
}
