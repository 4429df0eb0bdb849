import type * as Mssql from "mssql";
import { InvalidArgumentError, TaskgateError } from "../../core/errors";
import type { SqlValue, StatementOptions, StoreTransaction } from "../../ports/task-store";
import { inTurn } from "../in-turn";
import { breakable } from "../breakable";
import { operations } from "../operations";
import { transactionEnded } from "../operations/transaction-ends";
import type { AnswerRow, ParameterValues, Procedure } from "../operations/operation";
import { bindProcedure, bindValue, execute, toAnswer } from "./mssql-binding";
import { completionBatch, lineContinuation } from "./mssql-completion";
import { isFatal, mapMssqlError, transactionOver } from "./mssql-errors";
import type { Driver, Lease } from "./mssql-pool";

/** A transaction that the store has begun, on one connection. */
export class MssqlTransaction implements StoreTransaction {
  readonly dialect = "mssql";
  readonly #inner: Mssql.Transaction;
  readonly #lease: Lease;
  #over: TaskgateError | null = null;
  #isCompleted = false;

  constructor(inner: Mssql.Transaction, lease: Lease) {
    this.#inner = inner;
    this.#lease = lease;
  }

  async call(procedure: Procedure, values: ParameterValues): Promise<AnswerRow> {
    try {
      return await this.#run((driver) =>
        execute(driver, this.#inner.request(), { procedure, values }),
      );
    } catch (error) {
      throw mapMssqlError(error, "undone");
    }
  }

  /** Has a completion ended it, by commit or, unless it is done, by rollback? */
  get isCompleted(): boolean {
    return this.#isCompleted;
  }

  /** The completion and the commit as one batch. */
  async complete(values: ParameterValues): Promise<AnswerRow> {
    const lease = this.#lease;
    await inTurn(this.#inner, () => Promise.resolve());
    if (this.#over !== null) throw this.#over;
    try {
      lease.expectEnd();
      const row = await lease.run(() =>
        completeAndEnd(lease.driver, this.#inner.request(), values),
      );
      this.#isCompleted = true;
      return row;
    } catch (error) {
      lease.becomeUsers();
      // The commit is in the batch: an answer that was lost leaves open whether it was reached.
      const mapped = mapMssqlError(error, "sent");
      if (isFatal(mapped)) lease.discard();
      throw mapped;
    } finally {
      this.#over = transactionEnded("its completion has ended it");
    }
  }

  /** The user's own statement: its errors pass unchanged. */
  async query(
    text: string,
    values: readonly SqlValue[] = [],
    options: StatementOptions = {},
  ): Promise<Record<string, unknown>[]> {
    const { signal, timeoutMs } = options;
    return this.#run(async (driver) => {
      signal?.throwIfAborted();
      this.#lease.becomeUsers();
      const request = requestOf(driver, this.#inner, timeoutMs);
      for (const [index, value] of values.entries()) {
        const bound = bindValue(driver, value);
        request.input(`p${String(index + 1)}`, bound.type, bound.value);
      }
      const answer = request.query<Record<string, unknown>>(text);
      const result = await breakable(answer, signal, async () => {
        request.cancel();
      });
      const sets: Record<string, unknown>[][] = result.recordsets;
      return sets[0] ?? [];
    }, timeoutMs);
  }

  /** Waits for the statements under way and takes no more. Throws the error that ended the transaction before its commit. */
  async end(): Promise<void> {
    await inTurn(this.#inner, () => Promise.resolve());
    const over = this.#over;
    this.#over ??= transactionEnded("its body has returned");
    if (over !== null) throw over;
  }

  async #run<Result>(
    body: (driver: Driver) => Promise<Result>,
    timeoutMs?: number,
  ): Promise<Result> {
    return inTurn(this.#inner, () => this.#runNow(body, timeoutMs));
  }

  async #runNow<Result>(
    body: (driver: Driver) => Promise<Result>,
    timeoutMs: number | undefined,
  ): Promise<Result> {
    // After a rollback by the server the connection works on, and each statement would commit by itself.
    if (this.#over !== null) throw this.#over;
    const lease = this.#lease;
    try {
      const result = await lease.run(() => body(lease.driver), timeoutMs);
      if (!lease.isInTransaction) this.#over ??= transactionOver(undefined);
      return result;
    } catch (error) {
      const mapped = mapMssqlError(error, "undone");
      if (isFatal(mapped)) lease.discard();
      if (!lease.isInTransaction) this.#over ??= transactionOver(error);
      // The driver's own errors pass; ours were written for calls outside a transaction.
      throw error instanceof TaskgateError ? mapped : error;
    }
  }
}

/** The driver takes a time-out for one request; its types don't say so. */
function requestOf(
  driver: Driver,
  transaction: Mssql.Transaction,
  requestTimeout: number | undefined,
): Mssql.Request {
  if (requestTimeout === undefined) return transaction.request();
  const Request = driver.Request as unknown as new (
    parent: Mssql.Transaction,
    overrides: { requestTimeout: number },
  ) => Mssql.Request;
  return new Request(transaction, { requestTimeout });
}

async function completeAndEnd(
  driver: Driver,
  request: Mssql.Request,
  values: ParameterValues,
): Promise<AnswerRow> {
  const { result } = values;
  if (typeof result === "string" && lineContinuation.test(result)) {
    throw new InvalidArgumentError(
      "result: expected the text of a JSON object or array, got a backslash before the end of a line",
    );
  }
  const procedure = operations.completeTask;
  bindProcedure(driver, request, { procedure, values });
  return toAnswer(
    driver,
    procedure.name,
    await request.batch<Record<string, unknown>>(completionBatch),
  );
}
