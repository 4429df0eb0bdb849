import type { ColumnInfo, SqlType, SqlValue } from "../values";

/** What the endpoint asks of the engine behind it: nothing else of the engine is known to the endpoint. */
export interface EngineServer {
  /** Whether a client with another login than the server's own may come in. Without it none may. */
  welcomes?(login: { user: string; password: string }): Welcome;
  /** A new connection; the login was accepted. */
  connect(login: { database: string; user: string; application: string }): EngineSession;
}

/** unknown: no such login, or another password; homeless: a login that is no user of the database. */
export type Welcome = "welcome" | "unknown" | "homeless";

/** One connection. One request at a time. */
export interface EngineSession {
  readonly sessionId: number;
  /**
   * Runs a request; events come in the order a server sends them. Resolves when all is sent; errors of T-SQL are
   * `message` events, never exceptions (an exception is a fault of the simulation).
   */
  run(request: EngineRequest, events: EngineEvents): Promise<RequestOutcome>;
  /** Attention: ends the running batch; CATCH doesn't see it. With XACT_ABORT ON or in autocommit the transaction ends too. */
  cancel(): void;
  /** The connection is gone: rolls back, frees locks, wakes those who wait. Idempotent. */
  close(): void;
  /** The reset flag of a packet: settings as after login; the transaction ends unless kept. */
  reset(keepsTransaction: boolean): void;
}

/** What a client may send. */
export type EngineRequest =
  | { kind: "batch"; sql: string }
  | { kind: "procedure"; name: string; arguments: EngineArgument[] }
  /** sp_executesql: a scope of its own; `declaration` as sent, e.g. "@a int, @b nvarchar(20) output". */
  | { kind: "statement"; sql: string; declaration: string; arguments: EngineArgument[] }
  | {
      kind: "transaction";
      action: "begin" | "commit" | "rollback";
      /** Level byte of `begin`: 1 read uncommitted, 2 committed, 3 repeatable, 4 serializable, 5 snapshot; 0 keeps. */
      level: number;
    };

/** One argument of a call: by name (with @) or, where the name is empty, by position. */
export interface EngineArgument {
  name: string;
  isOutput: boolean;
  /** The client asked for the default value. */
  usesDefault: boolean;
  value: EngineArgumentValue;
}

export type EngineArgumentValue =
  | { kind: "scalar"; type: SqlType; value: SqlValue }
  | { kind: "table"; typeName: string; columns: SqlType[]; rows: SqlValue[][] };

/** Events of one request. */
export interface EngineEvents {
  /** A row set begins. */
  columns(columns: ColumnInfo[]): void;
  row(values: SqlValue[]): void;
  /** The row set ends; the count is left out under NOCOUNT ON. */
  endRows(count: number | undefined): void;
  /** A statement without a row set counted rows (never under NOCOUNT ON). */
  count(rows: number): void;
  /** class 11 and more: an error; less: information. */
  message(message: EngineMessage): void;
  began(transactionId: bigint): void;
  committed(transactionId: bigint): void;
  rolledBack(transactionId: bigint): void;
}

export interface EngineMessage {
  number: number;
  state: number;
  class: number;
  text: string;
  /** Name with schema, or empty. */
  procedure: string;
  line: number;
}

export interface RequestOutcome {
  /** RETURN's value; undefined where there is none (a batch, or an error ended the procedure). */
  returnStatus: number | undefined;
  /** In the order of the arguments that asked for output. */
  outputs: { name: string; type: SqlType; value: SqlValue }[];
  /** An error was among the messages. */
  isFailed: boolean;
  /** `cancel` ended it. */
  isCancelled: boolean;
}
