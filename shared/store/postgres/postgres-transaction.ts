import type { CustomTypesConfig } from "pg";
import { InvalidArgumentError, StoreContractError } from "../../core/errors";
import { limits } from "../../core/limits";
import type { SqlValue, StatementOptions, StoreTransaction } from "../../ports/task-store";
import { inTurn } from "../in-turn";
import { endsUsersTransaction, transactionEnded } from "../operations/transaction-ends";
import type { TransactionEnd } from "../operations/transaction-ends";
import { mapPostgresError } from "./postgres-errors";

/** A statement with its values beside it. */
export interface Statement {
  text: string;
  values: unknown[];
  name?: string;
  /** How its rows are read. Left out: as the store reads its own. */
  types?: CustomTypesConfig;
}

/** What the driver answers, as far as it is looked at. */
export interface QueryResult {
  command?: string;
  rows: Record<string, unknown>[];
}

/** What a transaction needs from its connection. */
export interface TransactionConnection {
  /** The driver's connection: calls on it run one after the other. */
  readonly client: object;
  /** One statement, in the extended protocol. */
  run(statement: Statement, options?: StatementOptions): Promise<QueryResult>;
  /** One operation of the core. Left out: like other statements. */
  runOperation?(statement: Statement): Promise<QueryResult>;
  /** Several statements as one message of the simple protocol. Left out: the transaction is the user's to end. */
  runText?(text: string): Promise<QueryResult[]>;
  /** Is the transaction open, or failed? Left out: nothing tells. */
  isInTransaction?(): boolean;
}

/** Keeps `complete_task`'s status until the statement behind it has looked at it. */
const statusSetting = "taskgate.completion";
/** Keeps what a completion is called with until the message that calls it. */
const valuesSetting = "taskgate.completion_values";
/** Raised behind a completion that was refused, so that the commit behind it isn't reached. */
const undoneState = "TGFEN";

/**
 * Takes away what a user's statements may leave in a session that is the next task's: settings, roles, locks, temporary tables.
 * DISCARD ALL, without what the driver has prepared (https://www.postgresql.org/docs/current/sql-discard.html).
 */
const tidyText =
  "close all; set session authorization default; reset all; unlisten *; select pg_advisory_unlock_all(); discard temp; discard sequences";

/** Of a connection whose peer is gone: asked after 15 s of silence, given up after 3 answers that are missing. */
const deadPeer = {
  tcp_keepalives_idle: 15,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
} as const;

/** Of a connection that was sent an answer: given up when none has received it for so long. Only Linux has it. */
const unanswered = { tcp_user_timeout: 30_000 } as const;

/** Does what `version()` answers tell of a server on Linux? */
export const namesLinux = (version: unknown): boolean => String(version).includes("linux");

/**
 * Begins a transaction that its server ends when the client is silent: after `idleMs` between two statements, sooner
 * when the connection is seen to be dead. Said in each transaction, because a pooler (PgBouncer) refuses settings at the
 * start of a connection and gives its server's connections to others afterwards.
 */
export function beginText(isOnLinux: boolean, idleMs?: number): string {
  const settings = {
    idle_in_transaction_session_timeout: silentMsMax(idleMs),
    ...deadPeer,
    // Elsewhere a server would write a line to its log for each transaction.
    ...(isOnLinux ? unanswered : {}),
  };
  // SET is no query: the user's first statement may still choose an isolation level.
  const texts = Object.entries(settings).map(
    ([name, value]) => `set local ${name} = ${String(value)}`,
  );
  // Databases and roles may have another level as their default, at which operations that wait for a row would fail.
  return ["begin isolation level read committed", ...texts].join("; ");
}

/** How long its client may be silent, for as long as is asked: whole milliseconds. */
export function silentMsMax(idleMs: number = limits.transactionIdleMsMax): number {
  return Math.max(1, Math.min(Math.round(idleMs), limits.transactionIdleMsMax));
}

/** A transaction on one connection: the store's own, or one that the user began. */
export class PostgresTransaction implements StoreTransaction {
  readonly dialect = "postgres";
  readonly #connection: TransactionConnection;
  #end: "committed" | "undone" | null = null;
  /** Have statements of the user's own run in it? */
  #isUsers = false;
  /** Has its connection prepared statements of functions that were renewed since? */
  #isOutdated = false;
  /** Why it takes nothing more, beside its completion. */
  #over: TransactionEnd | null = null;

  constructor(connection: TransactionConnection) {
    this.#connection = connection;
  }

  /** How a completion has ended it; null: it is open, or failed. */
  get end(): "committed" | "undone" | null {
    return this.#end;
  }

  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** The text that ends it, and tidies its session up behind the user's statements. */
  endText(word: "commit" | "rollback"): string {
    return this.#isUsers ? `${word}; ${tidyText}` : word;
  }

  run(statement: Statement): Promise<QueryResult> {
    const connection = this.#connection;
    return this.#inTurn(async () => {
      try {
        return await (connection.runOperation?.(statement) ?? connection.run(statement));
      } catch (error) {
        const mapped = mapPostgresError(error, "sent");
        this.#isOutdated ||= mapped.details["isRenewal"] === true;
        throw mapped;
      }
    });
  }

  /**
   * `completion` and the commit as one message, its values in a setting of the transaction that is made before: a message
   * of the simple protocol binds nothing, and as literals a result would stand in telemetry and in the server's log. The extended protocol has no such message: a server that got Execute and
   * not yet Sync waits with its locks, without any time-out before PostgreSQL 17. A Query arrives whole or not at all.
   */
  complete(completion: Statement): Promise<QueryResult> {
    return this.#inTurn(() => this.#complete(completion));
  }

  async #complete(completion: Statement): Promise<QueryResult> {
    if (this.#connection.runText === undefined) throw endsUsersTransaction();
    try {
      await this.#connection.run(keepValues(completion));
      const text = `${completionText(completion)}; ${this.endText("commit")}`;
      const [answer] = await this.#connection.runText(text);
      this.#end = "committed";
      return { rows: (answer?.rows ?? []).map(withoutSetting) };
    } catch (error) {
      const status = undoneBy(error);
      if (status === null) throw mapPostgresError(error, "sent");
      // The server has undone everything and let go of its locks; the rollback that follows only tidies up.
      this.#end = "undone";
      return { rows: [{ status, woken: null, opening: null }] };
    }
  }

  /** The user's own statement: its errors pass unchanged. */
  query(
    text: string,
    values: readonly SqlValue[] = [],
    options?: StatementOptions,
  ): Promise<Record<string, unknown>[]> {
    const statement = { text, values: [...values] };
    return this.#inTurn(async () => {
      this.#isUsers = true;
      const { rows } = await this.#connection.run(statement, options);
      if (this.#connection.isInTransaction?.() === false)
        this.#over ??= "a statement in it ended it with COMMIT or ROLLBACK";
      return rows;
    });
  }

  /** Behind the calls before it, unless one of them has ended the transaction. */
  async #inTurn<Result>(body: () => Promise<Result>): Promise<Result> {
    return inTurn(this.#connection.client, async () => {
      this.expectOpen();
      return body();
    });
  }

  /** Its connection is about to be another's: it takes nothing more. */
  close(): void {
    this.#over ??= "its body has returned";
  }

  /** Behind its end a statement would be committed by itself. */
  expectOpen(): void {
    const over = this.#end === null ? this.#over : "its completion has ended it";
    if (over !== null) throw transactionEnded(over);
  }
}

/** Values may be null, which an array tells only where `array_nulls` is on. */
function keepValues({ values }: Statement): Statement {
  return {
    text: `select set_config('${valuesSetting}', $1, true), set_config('array_nulls', 'on', true)`,
    values: [values.map(textOf)],
  };
}

/** A value as an array of texts holds it; the call casts it to its parameter's type. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
    throw new StoreContractError(`A completion was bound with a value of type ${typeof value}`);
  const text = String(value);
  if (text.includes("\0"))
    throw new InvalidArgumentError("result: expected text without U+0000, which is no JSON either");
  return text;
}

/** An error of either ends the message that it stands in, and with it the transaction: the commit behind it isn't reached. */
function completionText({ text }: Statement): string {
  const call = text
    .replace("select * from", `select c.*, set_config('${statusSetting}', c.status, true) from`)
    .replace(
      /\$(\d+)/g,
      (_, place: string) => `(current_setting('${valuesSetting}')::text[])[${place}]`,
    );
  const guard = `do $$ begin
    if current_setting('${statusSetting}') <> 'done' then
      raise exception '%: nothing is committed', current_setting('${statusSetting}') using errcode = '${undoneState}';
    end if;
  end $$`;
  return `${call} c; ${guard}`;
}

function withoutSetting(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== "set_config"));
}

/** Which answer of the completion undid the transaction; null: another error did. */
function undoneBy(error: unknown): "fenced" | "again" | null {
  if (!(error instanceof Error && "code" in error && error.code === undoneState)) return null;
  return error.message.startsWith("again") ? "again" : "fenced";
}
