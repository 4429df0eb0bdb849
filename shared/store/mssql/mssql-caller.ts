import type * as Mssql from "mssql";
import { InvalidArgumentError, StoreContractError, TaskgateError } from "../../core/errors";
import type { SqlValue, StatementOptions, StoreTransaction } from "../../ports/task-store";
import { operations, parameterTypes, toCamelCase, toPascalCase } from "../operations";
import type { AnswerRow, OperationName, ParameterType, ParameterValue } from "../operations";
import type { ProcedureCaller } from "../procedure-caller";
import { completionBatch, lineContinuation } from "./mssql-completion";
import { mapMssqlError, storeTroubleOf, transactionOver } from "./mssql-errors";
import { loadDriver, MssqlPool } from "./mssql-pool";
import type { Driver, Lease, MssqlPoolOptions } from "./mssql-pool";

type Values = Readonly<Record<string, ParameterValue>>;
type SqlType = (() => Mssql.ISqlType) | Mssql.ISqlType;

/** Calls of the core's procedures over `mssql`. One procedure call is one transaction and one round trip. */
export class MssqlCaller implements ProcedureCaller {
  readonly dialect = "mssql";
  readonly #pool: MssqlPool;

  /** Throws InvalidArgumentError for a bad address. Nothing is loaded or sent before the first call. */
  constructor(options: MssqlPoolOptions) {
    this.#pool = new MssqlPool(options);
  }

  async call(
    operation: OperationName,
    values: Values,
    within?: StoreTransaction,
  ): Promise<AnswerRow> {
    if (within !== undefined) return ours(within).call(operation, values);
    return this.#withLease((lease) =>
      lease.run(() => execute(lease.driver, lease.request(), { operation, values })),
    );
  }

  completeAndCommit(values: Values, within: StoreTransaction): Promise<AnswerRow> {
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

  /**
   * A transaction that the user's own `mssql` has begun: enqueue and complete join it. It must come from the same
   * installed `mssql` as the store's. Commit, rollback and time-outs stay the user's.
   */
  static join(transaction: Mssql.Transaction): StoreTransaction {
    return new MssqlTransaction(transaction, null);
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

/** What one call needs. */
interface ProcedureCall {
  operation: OperationName;
  values: Values;
}

/** A transaction on one connection: the store's own with a lease, or one that the user began. */
class MssqlTransaction implements StoreTransaction {
  readonly dialect = "mssql";
  readonly #inner: Mssql.Transaction;
  readonly #lease: Lease | null;
  /** The driver refuses a second statement while one runs: they queue up. */
  #last: Promise<unknown> = Promise.resolve();
  #over: TaskgateError | null = null;
  #isCompleted = false;

  constructor(inner: Mssql.Transaction, lease: Lease | null) {
    this.#inner = inner;
    this.#lease = lease;
  }

  async call(operation: OperationName, values: Values): Promise<AnswerRow> {
    try {
      return await this.#run((driver) =>
        execute(driver, this.#inner.request(), { operation, values }),
      );
    } catch (error) {
      // Of the user's transaction nobody here knows whether it will be rolled back.
      throw mapMssqlError(error, this.#lease === null ? "sent" : "undone");
    }
  }

  /** Has a completion ended it, by commit or, when it was fenced, by rollback? */
  get isCompleted(): boolean {
    return this.#isCompleted;
  }

  /** The completion and the commit as one batch. */
  async complete(values: Values): Promise<AnswerRow> {
    const lease = this.#lease;
    if (lease === null) {
      throw new StoreContractError(
        "endsTransaction: expected a transaction that the store began, got the user's own, which the user commits",
        { code: "TASKGATE_STORE_CONTEXT" },
      );
    }
    await this.#last.catch(() => undefined);
    if (this.#over !== null) throw this.#over;
    try {
      lease.expectEnd();
      const row = await lease.run(() =>
        completeAndEnd(lease.driver, this.#inner.request(), values),
      );
      this.#isCompleted = true;
      return row;
    } catch (error) {
      // The commit is in the batch: an answer that was lost leaves open whether it was reached.
      const mapped = mapMssqlError(error, "sent");
      if (isFatal(mapped)) lease.discard();
      throw mapped;
    } finally {
      this.#over = new StoreContractError("The transaction is over: its completion has ended it", {
        code: "TASKGATE_STORE_CONTEXT",
      });
    }
  }

  /** The user's own statement: its errors pass unchanged. */
  async query(
    text: string,
    values: readonly SqlValue[] = [],
    options: StatementOptions = {},
  ): Promise<Record<string, unknown>[]> {
    const { signal, timeoutMs } = this.#lease === null ? {} : options;
    return this.#run(async (driver) => {
      signal?.throwIfAborted();
      const request = requestOf(driver, this.#inner, timeoutMs);
      for (const [index, value] of values.entries()) {
        const bound = bindValue(driver, value);
        request.input(`p${String(index + 1)}`, bound.type, bound.value);
      }
      const result = await breakable(request.query<Record<string, unknown>>(text), request, signal);
      const sets: Record<string, unknown>[][] = result.recordsets;
      return sets[0] ?? [];
    }, timeoutMs);
  }

  /** Waits for the statements under way and takes no more. Throws what ended the transaction before its commit. */
  async end(): Promise<void> {
    await this.#last.catch(() => undefined);
    const over = this.#over;
    this.#over ??= new StoreContractError("The transaction is over: its body has returned", {
      code: "TASKGATE_STORE_CONTEXT",
    });
    if (over !== null) throw over;
  }

  async #run<Result>(
    body: (driver: Driver) => Promise<Result>,
    timeoutMs?: number,
  ): Promise<Result> {
    const turn = this.#last.then(
      () => this.#runNow(body, timeoutMs),
      () => this.#runNow(body, timeoutMs),
    );
    this.#last = turn;
    return turn;
  }

  async #runNow<Result>(
    body: (driver: Driver) => Promise<Result>,
    timeoutMs: number | undefined,
  ): Promise<Result> {
    // After a rollback by the server the connection works on, and each statement would commit by itself.
    if (this.#over !== null) throw this.#over;
    const lease = this.#lease;
    if (lease === null && !(await isOpen(this.#inner)))
      throw (this.#over = transactionOver(undefined));
    try {
      const result = await (lease === null
        ? body(loadDriver())
        : lease.run(() => body(lease.driver), timeoutMs));
      if (lease?.isInTransaction === false) this.#over ??= transactionOver(undefined);
      return result;
    } catch (error) {
      if (lease === null) throw error;
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

/** Tells the server to break the statement off when the signal says so; its answer to that is waited for. */
async function breakable<Result>(
  answer: Promise<Result>,
  request: Mssql.Request,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const cancel = (): void => {
    request.cancel();
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await answer;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

function ours(transaction: StoreTransaction): MssqlTransaction {
  if (transaction instanceof MssqlTransaction) return transaction;
  throw new InvalidArgumentError("Expected the transaction to be one of this SQL Server store's");
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

/** Has the connection of the user's transaction one open? Throws the driver's error when it was rolled back. */
async function isOpen(transaction: Mssql.Transaction): Promise<boolean> {
  // Part of the driver, not of its types.
  const inner = transaction as unknown as {
    acquire(user: object, lend: (error: Error | null, connection?: Connection) => void): void;
    release(connection: Connection): void;
  };
  interface Connection {
    inTransaction: boolean;
  }
  const connection = await new Promise<Connection | undefined>((resolve, reject) => {
    inner.acquire({}, (error, lent) => {
      if (error) reject(error);
      else resolve(lent);
    });
  });
  if (connection === undefined) return false;
  inner.release(connection);
  return connection.inTransaction;
}

/** Connections in doubt aren't given to the next call. */
function isFatal(error: TaskgateError): boolean {
  return error.code === "TASKGATE_STORE_UNCERTAIN" || error.code === "TASKGATE_STORE_UNAVAILABLE";
}

async function execute(
  driver: Driver,
  request: Mssql.Request,
  call: ProcedureCall,
): Promise<AnswerRow> {
  bindOperation(driver, request, call);
  const result = await request.execute<Record<string, unknown>>(
    `Taskgate.${toPascalCase(call.operation)}`,
  );
  return toAnswer(driver, call.operation, result);
}

async function completeAndEnd(
  driver: Driver,
  request: Mssql.Request,
  values: Values,
): Promise<AnswerRow> {
  const { result } = values;
  if (typeof result === "string" && lineContinuation.test(result)) {
    throw new InvalidArgumentError(
      "result: expected the text of a JSON object or array, got a backslash before the end of a line",
    );
  }
  const operation = "completeTask";
  bindOperation(driver, request, { operation, values });
  return toAnswer(driver, operation, await request.batch<Record<string, unknown>>(completionBatch));
}

/** By declared type: the driver's own guess would send other lengths with each value, and one plan for each. */
const driverTypes: Readonly<
  Record<(typeof parameterTypes)[ParameterType]["mssql"], (driver: Driver) => SqlType>
> = {
  int: (driver) => driver.Int,
  smallint: (driver) => driver.SmallInt,
  bigint: (driver) => driver.BigInt,
  bit: (driver) => driver.Bit,
  uniqueidentifier: (driver) => driver.UniqueIdentifier,
  "nvarchar(max)": (driver) => driver.NVarChar(driver.MAX),
  "nvarchar(64)": (driver) => driver.NVarChar(64),
  "nvarchar(200)": (driver) => driver.NVarChar(200),
};

/** Longer texts than these would be cut by the procedure, or break the stream of the protocol. */
const lengthsMax: Partial<Record<ParameterType, number>> = {
  text64: 64,
  text200: 200,
};

/** Gives `request` every parameter of the operation, null where there is no value. */
export function bindOperation(driver: Driver, request: Mssql.Request, call: ProcedureCall): void {
  for (const [name, type] of operations[call.operation]) {
    const value = bind(type, name, call.values[name] ?? null);
    const declared = driverTypes[parameterTypes[type].mssql](driver);
    request.input(toPascalCase(name), declared, value);
  }
}

/** Lists are JSON arrays there; numbers beyond 2^53 stay text here. */
function bind(
  type: ParameterType,
  name: string,
  value: ParameterValue,
): string | number | boolean | null {
  if (typeof value === "object" && value !== null) {
    if (type !== "ids" && type !== "ints") {
      throw new StoreContractError(`A list was bound as ${type}`);
    }
    return `[${value.join(",")}]`;
  }
  if (value !== null && type === "bigint") return String(value);
  const lengthMax = lengthsMax[type];
  if (typeof value === "string" && lengthMax !== undefined && value.length > lengthMax) {
    throw new InvalidArgumentError(
      `${name}: expected at most ${String(lengthMax)} characters (${value.slice(0, 100)})`,
    );
  }
  return value;
}

/** How a value of a user's statement travels. */
export function bindValue(
  driver: Driver,
  value: SqlValue,
): { type: SqlType; value: string | number | boolean | Date | null } {
  if (value === null) return { type: driver.NVarChar(driver.MAX), value };
  if (typeof value === "string") return { type: driver.NVarChar(driver.MAX), value };
  if (typeof value === "boolean") return { type: driver.Bit, value };
  if (typeof value === "bigint") return { type: driver.BigInt, value: String(value) };
  if (value instanceof Date) return { type: driver.DateTime2(3), value };
  if (!Number.isFinite(value)) {
    throw new InvalidArgumentError(
      `Expected numbers of a statement to be finite, got ${String(value)}`,
    );
  }
  if (!Number.isSafeInteger(value)) return { type: driver.Float, value };
  if (Math.abs(value) < 2 ** 31) return { type: driver.Int, value };
  return { type: driver.BigInt, value: String(value) };
}

/** The one row of the one set; keys in camelCase. Throws StoreContractError for any other answer. */
export function toAnswer(
  driver: Driver,
  operation: OperationName,
  result: Pick<Mssql.IProcedureResult<Record<string, unknown>>, "recordsets">,
): AnswerRow {
  const sets: Mssql.IRecordSet<Record<string, unknown>>[] = result.recordsets;
  const [set] = sets;
  const row = set?.[0];
  if (set === undefined || row === undefined || sets.length !== 1 || set.length !== 1) {
    throw new StoreContractError(
      `Expected one row from ${operation}, got ${String(sets.length)} sets with ${String(sets.flat().length)} rows`,
    );
  }
  const answer: Record<string, string | number | boolean | null> = {};
  for (const [column, value] of Object.entries(row)) {
    if (typeof value === "object" && value !== null) {
      throw new StoreContractError(
        `Expected text, a number, a bit or null in ${column} of ${operation}, got ${Object.prototype.toString.call(value)}`,
      );
    }
    const isId = set.columns[column]?.type === driver.UniqueIdentifier;
    // The driver writes these in upper case, everybody else in lower case.
    const plain = isId && typeof value === "string" ? value.toLowerCase() : value;
    answer[toCamelCase(column)] = plain as string | number | boolean | null;
  }
  return answer;
}
