import type * as Pg from "pg";
import type { Client, CustomTypesConfig, Pool, PoolClient } from "pg";
import { InvalidArgumentError, StoreContractError, StoreUnavailableError } from "../../core/errors";
import { textAt } from "../../core/foreign-value";
import { loadPackage } from "../../core/load-package";
import { isOutage } from "../../core/outage";
import type { StatementOptions, StoreTransaction, TransactionBounds } from "../../ports/task-store";
import { breakable } from "../breakable";
import type { ConnectionLimits } from "../connection-limits";
import { inTurn } from "../in-turn";
import { operations } from "../operations";
import type { AnswerRow, ParameterValues, Procedure } from "../operations/operation";
import { transactionSilent } from "../operations/transaction-ends";
import type { ProcedureCaller } from "../procedure-caller";
import { storeClosed } from "../store-closed";
import { endStatementText, GaveUpError, letGo } from "./given-up-calls";
import type { Backend } from "./given-up-calls";
import { poolClient } from "./postgres-client";
import { mapPostgresError, storeTroubleOf } from "./postgres-errors";
import type { Sent } from "./postgres-errors";
import { readPreparesStatements } from "./postgres-pooler";
import { readPostgresTarget } from "./postgres-tls";
import type { PostgresTarget } from "./postgres-tls";
import { answerOf, PostgresStatements } from "./postgres-statements";
import { beginText, namesLinux, PostgresTransaction, silentMsMax } from "./postgres-transaction";
import type { QueryResult, Statement } from "./postgres-transaction";
import { notifyStatement } from "./postgres-waiting";

/** How to reach PostgreSQL and how much of it to use. */
export interface PostgresOptions extends ConnectionLimits {
  /**
   * postgres://user:password@host:port/database?sslmode=..; TLS as postgres-tls.ts has it, `prepared_statements=off` as
   * postgres-pooler.ts has it.
   */
  url: string;
  /** Schema of the core; default `taskgate`. */
  schema?: string;
}

/** After this silence a connection is asked whether it is alive. */
const keepAliveMs = 15_000;
/** What the server says when a transaction was silent for longer than `idle_in_transaction_session_timeout`. */
const silentTransaction = "25P03";
/** How long `close` waits for calls in flight. */
const closeMs = 5_000;

/** Calls of the core's functions over `pg`. One function call is one transaction and one round trip. */
export class PostgresCaller implements ProcedureCaller {
  readonly dialect = "postgres";
  readonly #pool: Pool;
  readonly #options: PostgresOptions;
  #target: PostgresTarget;
  readonly #statements: PostgresStatements;
  readonly #programTypes: CustomTypesConfig;
  readonly #readsCommitted = new WeakMap<PoolClient, boolean>();
  /** Connections that the server has closed, as a transaction on them was silent for too long. */
  readonly #silent = new WeakSet<PoolClient>();
  /** The server's processes of connections that no pooler stands before. */
  readonly #backends = new WeakMap<PoolClient, Backend>();
  #serverIsOnLinux: boolean | undefined;
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #lent = new Set<PoolClient>();
  #isClosed = false;

  /** Throws InvalidArgumentError for a bad address; sends nothing. */
  constructor(options: PostgresOptions) {
    this.#options = options;
    this.#target = readPostgresTarget(options.url);
    const { schema = "taskgate" } = options;
    this.#statements = new PostgresStatements(schema, readPreparesStatements(options.url));
    const driver = loadPackage<typeof Pg>("pg");
    this.#programTypes = driver.types;
    this.#pool = new driver.Pool({
      ...this.#target,
      Client: poolClient(driver, () => this.#newestTarget()),
      max: options.connectionsMax,
      connectionTimeoutMillis: options.connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      application_name: "taskgate",
      allowExitOnIdle: true,
      // Of a server that is gone this end must hear, too.
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    });
    // Without a listener a connection that breaks under a call ends the process; the call hears of it anyway.
    this.#pool.on("connect", (client) =>
      client.on("error", (error) => {
        if (textAt(error, "code") === silentTransaction) this.#silent.add(client);
      }),
    );
    // Nor may one that breaks while idle.
    this.#pool.on("error", (error) => options.onIdleError?.(error));
  }

  async call(
    procedure: Procedure,
    values: ParameterValues,
    within?: StoreTransaction,
  ): Promise<AnswerRow> {
    const statement = this.#statements.of(procedure, values);
    if (within !== undefined) return answerOf(procedure, await ours(within).run(statement));
    return this.#withClient(async (client) => {
      const result = (await this.#isReadCommitted(client))
        ? await this.#bounded(client.query(statement))
        : await this.#transactionOn(client, (transaction) => transaction.run(statement));
      return answerOf(procedure, result);
    });
  }

  async completeAndCommit(values: ParameterValues, within: StoreTransaction): Promise<AnswerRow> {
    const procedure = operations.completeTask;
    const statement = this.#statements.of(procedure, values);
    return answerOf(procedure, await ours(within).complete(statement));
  }

  readonly notifyWaiting = async (definition: string, tasks: number): Promise<number> => {
    const { schema = "taskgate" } = this.#options;
    const statement = this.#statements.named(notifyStatement({ schema, definition }, tasks));
    return this.#withClient(async (client) => {
      const { rows } = await this.#bounded(client.query(statement));
      return rows.length;
    });
  };

  async transaction<Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
    bounds: TransactionBounds = {},
  ): Promise<Result> {
    return this.#withClient(async (client) => {
      try {
        return await this.#transactionOn(client, body, bounds);
      } catch (error) {
        const thrown = error instanceof BodyError ? error.cause : error;
        // What a call on a closed connection is told isn't why it was closed.
        if (!this.#silent.has(client) || !isOutage(thrown)) throw error;
        throw new BodyError(transactionSilent(silentMsMax(bounds.idleMs), thrown), true);
      }
    });
  }

  async close(): Promise<void> {
    // Calls that still wait for a connection are in flight, too: the pool would forget them.
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMs);
    });
    await Promise.race([Promise.allSettled([...this.#inFlight]), patience]);
    clearTimeout(timer);
    this.#isClosed = true;
    const ended = this.#pool.end();
    // What hangs is not waited for: its connection would keep the process alive until its own deadline.
    for (const client of this.#lent) void (client as unknown as Client).end();
    if (this.#inFlight.size === 0 && this.#lent.size === 0) await ended;
    else ended.catch(() => undefined);
  }

  /** For each connection anew: certificates are replaced while a process lives. What was read last counts while their files can't be read. */
  #newestTarget(): PostgresTarget {
    try {
      this.#target = readPostgresTarget(this.#options.url);
    } catch {
      // A file is being replaced.
    }
    return this.#target;
  }

  /**
   * Does a call that is sent by itself run at read committed, at which it sees what the one that it waited for has written? A
   * role's and a database's default may be another level, which a connection tells when it is asked: once.
   */
  async #isReadCommitted(client: PoolClient): Promise<boolean> {
    return this.#readsCommitted.get(client) ?? (await this.#ask(client)).isReadCommitted;
  }

  /** All connections lead to the same server, or to its standby: the first one that was asked has told. */
  async #isOnLinux(client: PoolClient): Promise<boolean> {
    return this.#serverIsOnLinux ?? (await this.#ask(client)).isOnLinux;
  }

  async #ask(
    client: PoolClient,
  ): Promise<{ readonly isReadCommitted: boolean; readonly isOnLinux: boolean }> {
    const [level, server] = await this.#runText(
      client,
      `show transaction_isolation;
       select version(), a.pid, a.backend_start::text as started
         from pg_catalog.pg_stat_activity a where a.pid = pg_catalog.pg_backend_pid()`,
    );
    const isReadCommitted = level?.rows[0]?.["transaction_isolation"] === "read committed";
    const isOnLinux = namesLinux(server?.rows[0]?.["version"]);
    this.#readsCommitted.set(client, isReadCommitted);
    const { pid, started: startedAt } = server?.rows[0] ?? {};
    // What a pooler has told at the start is its own invention.
    if (typeof pid === "number" && pid === processOf(client) && typeof startedAt === "string")
      this.#backends.set(client, { pid, startedAt });
    this.#serverIsOnLinux = isOnLinux;
    return { isReadCommitted, isOnLinux };
  }

  async #transactionOn<Result>(
    client: PoolClient,
    body: (transaction: PostgresTransaction) => Promise<Result>,
    { idleMs }: TransactionBounds = {},
  ): Promise<Result> {
    await this.#bounded(client.query(beginText(await this.#isOnLinux(client), idleMs)));
    let backend: Promise<number> | undefined;
    const runText = (text: string): Promise<QueryResult[]> => this.#runText(client, text);
    const transaction = new PostgresTransaction({
      client,
      runOperation: (statement) => this.#bounded(client.query(statement)),
      // Rows of the user's own statements are read as the program wants its rows.
      run: (statement, options = {}) =>
        this.#runStatement(
          client,
          { ...statement, types: this.#programTypes },
          {
            ...options,
            // Once per transaction, and only where a statement may be broken off.
            backend: () => (backend ??= this.#backendOf(client)),
          },
        ),
      runText,
      isInTransaction: () => client.getTransactionStatus() !== "I",
    });
    let result: Result;
    try {
      result = await body(transaction);
      if (transaction.end === null) transaction.expectOpen();
      transaction.close();
    } catch (error) {
      transaction.close();
      const isBroken =
        transaction.isOutdated ||
        (transaction.end !== "committed" && !(await this.#rollBack(client, transaction)));
      throw new BodyError(storeTroubleOf(error) ?? error, isBroken);
    }
    if (transaction.end === "committed") return result;
    if (transaction.end === "undone") {
      await runText(transaction.endText("rollback"));
      return result;
    }
    const [commit] = await this.#commit(client, transaction);
    // A transaction in which a statement failed answers a commit with ROLLBACK, without an error.
    if (commit?.command === "ROLLBACK") {
      throw new StoreContractError(
        "The transaction was rolled back: a statement in it had failed and the error was swallowed",
      );
    }
    return result;
  }

  async #withClient<Result>(body: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const call = this.#lend(body);
    this.#inFlight.add(call);
    try {
      return await call;
    } finally {
      this.#inFlight.delete(call);
    }
  }

  async #lend<Result>(body: (client: PoolClient) => Promise<Result>): Promise<Result> {
    let sent: Sent = "not sent";
    let client: PoolClient | undefined;
    try {
      client = await this.#acquire();
      this.#lent.add(client);
      sent = "sent";
      const result = await body(client);
      this.#giveBack(client, { isBroken: false });
      return result;
    } catch (error) {
      // What a user's code threw is handed on unread: a question to it may throw before the connection is back.
      if (error instanceof BodyError) {
        if (client !== undefined) this.#giveBack(client, error);
        throw error.cause;
      }
      const mapped = mapPostgresError(error, sent);
      // A connection in doubt isn't given to the next call, nor one in a transaction, nor one whose prepared statements are outdated.
      const isIdle = client?.getTransactionStatus() === "I";
      const isBroken = isFatal(mapped.code) || !isIdle || mapped.details["isRenewal"] === true;
      if (client !== undefined) this.#giveBack(client, { isBroken, cause: mapped });
      throw mapped;
    }
  }

  /** To the pool, at once, or when the server has let go of a call that was given up. */
  #giveBack(
    client: PoolClient,
    { isBroken, cause }: { readonly isBroken: boolean; readonly cause?: unknown },
  ): void {
    const release = (): void => {
      this.#lent.delete(client);
      client.release(isBroken);
    };
    const backend = this.#backends.get(client);
    if (!(cause instanceof GaveUpError) || backend === undefined) {
      release();
      return;
    }
    void letGo(cause, () => this.#endStatement(backend)).then(release);
  }

  async #acquire(): Promise<PoolClient> {
    if (this.#isClosed) throw storeClosed();
    try {
      return await this.#pool.connect();
    } catch (error) {
      // The driver's words for its own queue; a server that is silent makes it say something else.
      if (!(error instanceof Error) || error.message !== "timeout exceeded when trying to connect")
        throw error;
      const { connectionsMax, connectTimeoutMs } = this.#options;
      throw new StoreUnavailableError(
        `No connection to PostgreSQL got free within ${String(connectTimeoutMs)} ms; this process has at most ${String(connectionsMax)}`,
        { cause: error, details: { isBusy: true } },
      );
    }
  }

  /** A commit that is refused, by a constraint that waited for it, ends its message: nothing has tidied up behind it. */
  async #commit(client: PoolClient, transaction: PostgresTransaction): Promise<QueryResult[]> {
    try {
      return await inTurn(client, () => this.#runText(client, transaction.endText("commit")));
    } catch (error) {
      const mapped = mapPostgresError(error, "sent");
      if (isFatal(mapped.code)) throw mapped;
      throw new BodyError(mapped, !(await this.#rollBack(client, transaction)));
    }
  }

  /** False where the connection is gone: the server rolls back by itself, and what the body threw is what counts. */
  async #rollBack(client: PoolClient, transaction: PostgresTransaction): Promise<boolean> {
    try {
      await inTurn(client, () => this.#runText(client, transaction.endText("rollback")));
      return true;
    } catch {
      return false;
    }
  }

  /** One statement, or several as one message of the simple protocol. */
  async #runText(client: PoolClient, text: string): Promise<QueryResult[]> {
    // The driver answers several with a list, which its types don't say.
    const answer = (await this.#bounded(client.query(text))) as QueryResult | QueryResult[];
    return Array.isArray(answer) ? answer : [answer];
  }

  /** A user's statement. An aborted one is waited for: the statement still runs on the server. */
  async #runStatement(
    client: PoolClient,
    statement: Statement,
    options: StatementOptions & { backend: () => Promise<number> },
  ): Promise<QueryResult> {
    const { backend, signal, timeoutMs } = options;
    signal?.throwIfAborted();
    if (signal === undefined) return this.#bounded(client.query(statement), timeoutMs);
    const pid = await backend();
    signal.throwIfAborted();
    const answer = this.#bounded(client.query(statement), timeoutMs);
    return breakable(answer, signal, () => this.#cancel(pid));
  }

  /**
   * The server's process behind a transaction. The one that the driver was told at the start is the pooler's invention,
   * where there is a pooler.
   */
  async #backendOf(client: PoolClient): Promise<number> {
    const { rows } = await this.#bounded(
      client.query<{ pid: number }>("select pg_backend_pid() as pid"),
    );
    const [row] = rows;
    if (row === undefined) throw new StoreContractError("Expected one row from pg_backend_pid");
    return row.pid;
  }

  /** Never rejects: the statement's own bound remains. */
  async #cancel(pid: number): Promise<void> {
    try {
      await this.#askBeside("select pg_cancel_backend($1)", [pid]);
    } catch {
      // The time-out ends it.
    }
  }

  /** Does a session still work at the call that was given up? Ends it, where that is safe. Rejects where the server can't be asked. */
  async #endStatement({ pid, startedAt }: Backend): Promise<boolean> {
    if (this.#isClosed) return false;
    return (await this.#askBeside(endStatementText, [pid, startedAt])).rows.length > 0;
  }

  /** On a connection of its own: the pool's may all be at work. */
  async #askBeside(text: string, values: readonly unknown[]): Promise<QueryResult> {
    const driver = loadPackage<typeof Pg>("pg");
    const caller = new driver.Client({
      ...this.#newestTarget(),
      connectionTimeoutMillis: this.#options.connectTimeoutMs,
      application_name: "taskgate",
    });
    caller.on("error", () => undefined);
    try {
      await caller.connect();
      return await this.#bounded(caller.query(text, [...values]));
    } finally {
      await this.#bounded(caller.end()).catch(() => undefined);
    }
  }

  /** The driver waits for ever when a network goes silent: bound every call from outside. */
  async #bounded<Result>(
    promise: Promise<Result>,
    timeoutMs = this.#options.callTimeoutMs,
  ): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new GaveUpError(timeoutMs, promise));
      }, timeoutMs);
    });
    promise.catch(() => undefined);
    try {
      return await Promise.race([promise, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The number of the server's process, as the driver was told it at the start. */
function processOf(client: PoolClient): number | null {
  return (client as unknown as { readonly processID: number | null }).processID;
}

function ours(transaction: StoreTransaction): PostgresTransaction {
  if (transaction instanceof PostgresTransaction) return transaction;
  throw new InvalidArgumentError(
    `transaction: expected a transaction of this PostgreSQL store, or one from \`fromPg\` (${transaction.dialect})`,
    { details: { field: "transaction" } },
  );
}

/** Carries what the user's body threw, and why its commit was refused, past the mapping of the driver's errors. */
class BodyError extends Error {
  /** Of its connection, which isn't given to the next call then. */
  readonly isBroken: boolean;

  constructor(cause: unknown, isBroken: boolean) {
    super("a transaction wasn't committed", { cause });
    this.isBroken = isBroken;
  }
}

function isFatal(code: string): boolean {
  return code === "TASKGATE_STORE_UNCERTAIN" || code === "TASKGATE_STORE_UNAVAILABLE";
}
