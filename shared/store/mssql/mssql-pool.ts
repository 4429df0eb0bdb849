import { TLSSocket } from "node:tls";
import type * as Identity from "@azure/identity";
import type * as Mssql from "mssql";
import type { Connection } from "tedious";
import { StoreContractError, StoreUnavailableError, StoreUncertainError } from "../../core/errors";
import { loadPackage } from "../../core/load-package";
import type { ConnectionLimits } from "../connection-limits";
import { isLoopback } from "../../core/loopback";
import { storeClosed } from "../store-closed";
import { rememberLoginErrors } from "./mssql-errors";
import { cancelTimeoutMs, parseMssqlAddress, toDriverConfig } from "./mssql-options";
import type { MssqlAddress, MssqlTarget } from "./mssql-options";

/**
 * Connections to SQL Server, lent one at a time. All that is special about the driver (`mssql` over `tedious`) is here:
 * it is loaded at first use, never speaks in the clear when it shouldn't, and is bounded from outside, because its own
 * time-out ends with the first packet of an answer. A connection in doubt is closed, never lent again.
 */

/** How to reach the server and how much of it to use. */
export type MssqlPoolOptions = MssqlAddress & ConnectionLimits;

/** `mssql`. */
export type Driver = typeof Mssql;

/** Longest wait for calls in flight when the pool is closed. */
const closeTimeoutMs = 5_000;
/** Ours come after the driver's time-outs, which end a call in a better way. */
const graceMs = 1_000;

let driver: Driver | undefined;

/** The driver; loading it takes longer than all the rest, so it waits for the first call. */
export function loadDriver(): Driver {
  driver ??= loadPackage<Driver>("mssql");
  return driver;
}

/** A pool that opens at the first lease. */
export class MssqlPool {
  readonly #options: MssqlPoolOptions;
  readonly #target: MssqlTarget;
  readonly #connections = new Set<Connection>();
  /** Connections that are lent now, or were closed while lent: the borrower knows what became of them. */
  readonly #lent = new WeakSet<Connection>();
  #opening: Promise<Mssql.ConnectionPool> | undefined;
  #isClosed = false;

  /** Throws InvalidArgumentError for a bad address; sends nothing. */
  constructor(options: MssqlPoolOptions) {
    this.#options = options;
    this.#target = parseMssqlAddress(options);
  }

  /** Lends a connection. What this throws happened before anything was sent. Release it in any case. */
  async lease(): Promise<Lease> {
    if (this.#isClosed) throw storeClosed();
    const pool = await this.#open();
    const connection = await this.#acquire(pool);
    this.#lent.add(connection);
    return new Lease({
      driver: loadDriver(),
      pool,
      connection,
      callTimeoutMs: this.#options.callTimeoutMs,
      onRelease: () => this.#lent.delete(connection),
    });
  }

  /** Ends all connections; calls in flight get five seconds. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const pool = await this.#opening?.catch(() => undefined);
    if (pool === undefined) return;
    const timer = setTimeout(() => {
      for (const connection of this.#connections) connection.close();
    }, closeTimeoutMs);
    try {
      await pool.close();
    } finally {
      clearTimeout(timer);
    }
  }

  async #acquire(pool: Mssql.ConnectionPool): Promise<Connection> {
    try {
      // `pool.acquire` of mssql does the same, but tells the pool's error listener as well.
      return await pool.pool.acquire().promise;
    } catch (error) {
      // The pool's own time-out is the only error without a code: connecting fails with one of the driver's.
      if (!(error instanceof Error) || "code" in error) throw error;
      const { connectionsMax, connectTimeoutMs } = this.#options;
      throw new StoreUnavailableError(
        `No connection to SQL Server got free within ${String(connectTimeoutMs)} ms; this process has at most ${String(connectionsMax)}`,
        { cause: error, details: { isBusy: true } },
      );
    }
  }

  #open(): Promise<Mssql.ConnectionPool> {
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #connect(): Promise<Mssql.ConnectionPool> {
    const { ConnectionPool } = loadDriver();
    const pool = new ConnectionPool({
      ...toDriverConfig(this.#target, this.#options),
      ...signInOf(this.#target),
      beforeConnect: (connection) => {
        this.#watch(connection);
      },
    });
    // Without a listener a connection that is cut under a request ends the process. The call itself reports it.
    pool.on("error", () => undefined);
    return pool.connect();
  }

  /** Called for each connection before its first byte. */
  #watch(connection: Connection): void {
    this.#connections.add(connection);
    const messages: unknown[] = [];
    const note = (message: unknown): void => void messages.push(message);
    connection.on("errorMessage", note);
    // The driver's time-out for connecting doesn't cover an answer to the login that begins and stalls, and begins
    // anew with each of its retries.
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      connection.close();
    }, this.#options.connectTimeoutMs + graceMs);
    connection.on("connect", (error?: Error) => {
      clearTimeout(timer);
      connection.removeListener("errorMessage", note);
      if (error !== undefined) rememberLoginErrors(error, messages);
      if (error !== undefined) this.#connections.delete(connection);
      if (isLate) connection.close();
    });
    connection.on("end", () => {
      clearTimeout(timer);
      this.#connections.delete(connection);
    });
    connection.on("error", (error: Error) => {
      if (!this.#lent.has(connection)) this.#options.onIdleError?.(error);
    });
    if (this.#target.encrypt === true) refuseCleartext(connection, this.#target.server);
    if (this.#target.encrypt === "strict") boundRecords(connection);
  }
}

interface LeaseParts {
  driver: Driver;
  pool: Mssql.ConnectionPool;
  connection: Connection;
  callTimeoutMs: number;
  onRelease: () => void;
}

/** One connection, lent to one user at a time. */
export class Lease {
  readonly driver: Driver;
  readonly #parts: LeaseParts;
  readonly #parent: Mssql.ConnectionPool;
  #isUsers = false;

  constructor(parts: LeaseParts) {
    this.driver = parts.driver;
    this.#parts = parts;
    this.#parent = onlyWith(parts.pool, parts.connection);
  }

  /** Is a transaction open, as far as the server has told? It tells of each begin, commit and rollback. */
  get isInTransaction(): boolean {
    return !this.#parts.connection.closed && this.#parts.connection.inTransaction;
  }

  request(): Mssql.Request {
    return new this.driver.Request(this.#parent);
  }

  transaction(): Mssql.Transaction {
    return new this.driver.Transaction(this.#parent);
  }

  /**
   * Runs one call. The driver's time-out comes first and cancels it on the server; when that gets no answer, either,
   * or an answer stalls half-way, the connection is closed.
   */
  async run<Result>(
    call: () => Promise<Result>,
    timeoutMs = this.#parts.callTimeoutMs,
  ): Promise<Result> {
    const waitMs = timeoutMs + cancelTimeoutMs + graceMs;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(
          new StoreUncertainError(`SQL Server gave no whole answer within ${String(waitMs)} ms`),
        );
        this.discard();
      }, waitMs);
    });
    const answer = call();
    answer.catch(() => undefined);
    try {
      return await Promise.race([answer, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Commits. A server that rolls back instead says so in its answer, and the driver's listener for that takes the
   * connection away from the transaction before the driver's own commit has used it: it throws in a callback, where
   * no code can catch it, and the process ends (mssql 12). The answer's error tells the same, so the listener goes first.
   */
  async commit(transaction: Mssql.Transaction): Promise<void> {
    this.expectEnd();
    await this.run(() => transaction.commit());
  }

  /** A statement is about to end the transaction: the driver's listener for that goes (see `commit`). */
  expectEnd(): void {
    this.#parts.connection.removeAllListeners("rollbackTransaction");
  }

  /** Closes the connection: the server rolls back its open transaction, and the pool makes a new connection. */
  discard(): void {
    this.#parts.connection.close();
  }

  /** Statements of a user are about to run: what they leave in the session ends before it is another's. */
  becomeUsers(): void {
    this.#isUsers = true;
  }

  /**
   * Gives the connection back; nobody waits for its reset. One with an open transaction is closed: its locks must not
   * wait for the next user.
   */
  release(): void {
    if (this.isInTransaction) this.discard();
    // The driver leaves its listener behind where a transaction ended by a statement in it.
    this.#parts.connection.removeAllListeners("rollbackTransaction");
    if (this.#isUsers && !this.#parts.connection.closed) void this.#resetAndGiveBack();
    else this.#giveBack();
  }

  #giveBack(): void {
    if (!this.#parts.connection.closed) this.#parts.onRelease();
    // A pool that was closed has no inner pool any more, although its type says that it has one.
    const inner = this.#parts.pool.pool as Mssql.ConnectionPool["pool"] | null;
    inner?.release(this.#parts.connection);
  }

  /**
   * Takes away session context, application locks of the session and what else outlives a statement, as other drivers do
   * before they lend a connection again (sp_reset_connection, a flag of the protocol). Never rejects.
   */
  async #resetAndGiveBack(): Promise<void> {
    const { connection } = this.#parts;
    const asked = (): Promise<void> =>
      new Promise((resolve, reject) => {
        connection.reset((error) => {
          if (error instanceof Error) reject(error);
          else resolve();
        });
      });
    await this.run(asked).catch(() => {
      this.discard();
    });
    this.#giveBack();
  }
}

/**
 * A view of the pool that always lends this one connection: requests and transactions ask their parent for it and
 * give it back to their parent, so they never take another, and the lease decides what happens to it afterwards.
 */
function onlyWith(pool: Mssql.ConnectionPool, connection: Connection): Mssql.ConnectionPool {
  type Lend = (error: null, connection: Connection, config: unknown) => void;
  const config: unknown = "config" in pool ? pool.config : undefined;
  return Object.create(pool, {
    acquire: {
      value: (_: unknown, lend: Lend): void => {
        queueMicrotask(() => {
          lend(null, connection, config);
        });
      },
    },
    release: { value: (): void => undefined },
  }) as Mssql.ConnectionPool;
}

/** One credential for all connections, because it keeps the token it got. */
function signInOf(target: MssqlTarget): Pick<Mssql.config, "authentication"> {
  if (target.signIn.kind === "password") return {};
  const identity = loadPackage<typeof Identity>("@azure/identity");
  const { clientId } = target.signIn;
  const credential =
    clientId === null
      ? new identity.DefaultAzureCredential()
      : new identity.ManagedIdentityCredential({ clientId });
  return { authentication: { type: "token-credential", options: { credential } } };
}

/**
 * A server (or an attacker in between) that answers "encryption isn't supported" makes the driver go on in the clear, without
 * a word. So the login, which holds the password, is held back until TLS is established; the driver has no public way
 * to ask for that. Where its inner method is gone nothing connects.
 */
function refuseCleartext(connection: Connection, server: string): void {
  const optOut = isLoopback(server) ? "encrypt=false" : "encrypt=false&allowCleartext=true";
  let isSecure = false;
  connection.on("secure", () => {
    isSecure = true;
  });
  beforeLogin(connection, () => {
    if (!isSecure) {
      throw new StoreUnavailableError(
        `${server} doesn't offer encryption: nothing was sent. Give it a certificate; where the password and all data may travel in the clear add ${optOut} to the address`,
      );
    }
    // A redirected or repeated login has a connection of its own to prove.
    isSecure = false;
  });
}

/** Of a packet before the server has granted a size [doc: MS-TDS 2.2.3.1.3]. */
const recordBytesMax = 4_096;

/**
 * Where TLS comes first the driver puts several packets into one record, and a server ends the connection at a record that is
 * longer than a packet [tedious #1762; the pinned version bounds them only where TLS begins inside of TDS].
 */
function boundRecords(connection: Connection): void {
  beforeLogin(connection, () => {
    const { socket } = connection as unknown as { socket?: unknown };
    if (socket instanceof TLSSocket) socket.setMaxSendFragment(recordBytesMax);
  });
}

/** `act` before each login of the connection; where it throws nothing is sent. The driver has no public way to ask for that. */
function beforeLogin(connection: Connection, act: () => void): void {
  const inner = connection as unknown as { sendLogin7Packet?: () => void };
  const send = inner.sendLogin7Packet;
  if (typeof send !== "function") {
    connection.close();
    throw new StoreContractError(
      "This version of tedious can't be kept from sending a login in the clear: use the pinned one",
    );
  }
  inner.sendLogin7Packet = (): void => {
    act();
    send.call(connection);
  };
}
