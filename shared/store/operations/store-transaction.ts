/** The adapters. */
export type StoreDialect = "memory" | "postgres" | "mssql";

/** A user's transaction: a store's own, or one that wraps a `pg` client or an `mssql` transaction. */
export interface StoreTransaction {
  readonly dialect: StoreDialect;
  /**
   * Runs one statement of the user's. Placeholders: `$1` on PostgreSQL, `@p1` on SQL Server.
   * Rows come as plain objects with the column names as the statement writes them.
   */
  query(
    text: string,
    values?: readonly SqlValue[],
    options?: StatementOptions,
  ): Promise<Record<string, unknown>[]>;
}

/** Of one transaction. */
export interface TransactionBounds {
  /** Longest pause between two statements; more than 30,000 ms counts as that. The worker's is its lease. */
  readonly idleMs?: number;
}

/** For long statements. In a transaction that the user's own driver has begun time-outs stay the user's. */
export interface StatementOptions {
  /** Longest wait for the answer, instead of the store's for calls; 1..86,400,000 ms. */
  timeoutMs?: number;
  /** Breaks the statement off: the promise settles when the server has let go of it, and the transaction is rolled back. */
  signal?: AbortSignal;
}

/** What a user's statement may carry. */
export type SqlValue = string | number | bigint | boolean | Date | null;
