import type * as Mssql from "mssql";
import { InvalidArgumentError } from "../../core/errors";
import type { StoreTransaction } from "../../ports/task-store";
import type { AnswerRow, ParameterValues, Procedure } from "../operations/operation";
import type { ProcedureCaller } from "../procedure-caller";
import { JoinedMssqlTransaction } from "./joined-mssql-transaction";
import { execute } from "./mssql-binding";
import { isFatal, mapMssqlError, storeTroubleOf } from "./mssql-errors";
import { MssqlPool } from "./mssql-pool";
import type { Lease, MssqlPoolOptions } from "./mssql-pool";
import { MssqlTransaction } from "./mssql-transaction";

/** Calls of the core's procedures over `mssql`. One procedure call is one transaction and one round trip. */
export class MssqlCaller implements ProcedureCaller {
  readonly dialect = "mssql";
  readonly #pool: MssqlPool;

  /** Throws InvalidArgumentError for a bad address. Nothing is loaded or sent before the first call. */
  constructor(options: MssqlPoolOptions) {
    this.#pool = new MssqlPool(options);
  }

  async call(
    procedure: Procedure,
    values: ParameterValues,
    within?: StoreTransaction,
  ): Promise<AnswerRow> {
    if (within !== undefined) return ours(within).call(procedure, values);
    return this.#withLease((lease) =>
      lease.run(() => execute(lease.driver, lease.request(), { procedure, values })),
    );
  }

  completeAndCommit(values: ParameterValues, within: StoreTransaction): Promise<AnswerRow> {
    return ours(within).complete(values);
  }

  /** SQL Server has no time-out for a transaction that waits for its client: `bounds` has no effect here. */
  async transaction<Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    return this.#withLease(async (lease) => {
      const inner = lease.transaction();
      try {
        await lease.run(() => inner.begin(lease.driver.ISOLATION_LEVEL.READ_COMMITTED));
      } catch (error) {
        lease.discard();
        throw mapMssqlError(error, "undone");
      }
      const transaction = new MssqlTransaction(inner, lease);
      let result: Result;
      try {
        result = await body(transaction);
      } catch (error) {
        await transaction.end().catch(() => undefined);
        await rollBack(lease, inner);
        throw new BodyError(storeTroubleOf(error) ?? error);
      }
      if (transaction.isCompleted) return result;
      await transaction.end();
      await lease.commit(inner);
      return result;
    });
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #withLease<Result>(body: (lease: Lease) => Promise<Result>): Promise<Result> {
    let lease: Lease | undefined;
    try {
      lease = await this.#pool.lease();
      return await body(lease);
    } catch (error) {
      if (error instanceof BodyError) throw error.cause;
      const mapped = mapMssqlError(error, lease === undefined ? "not sent" : "sent");
      if (isFatal(mapped)) lease?.discard();
      throw mapped;
    } finally {
      lease?.release();
    }
  }
}

function ours(transaction: StoreTransaction): MssqlTransaction | JoinedMssqlTransaction {
  if (transaction instanceof MssqlTransaction) return transaction;
  if (transaction instanceof JoinedMssqlTransaction) return transaction;
  throw new InvalidArgumentError(
    `transaction: expected a transaction of this SQL Server store, or one from \`fromMssql\` (${transaction.dialect})`,
    { details: { field: "transaction" } },
  );
}

/** Carries what the user's body threw past the mapping of the driver's errors. */
class BodyError extends Error {
  constructor(cause: unknown) {
    super("the body of a transaction threw", { cause });
  }
}

/** Nothing to do when the server has ended the transaction, or the connection is gone. */
async function rollBack(lease: Lease, transaction: Mssql.Transaction): Promise<void> {
  if (!lease.isInTransaction) return;
  try {
    await lease.run(() => transaction.rollback());
  } catch {
    // What the body threw is what the caller must hear. The server rolls back when the connection ends.
    lease.discard();
  }
}
