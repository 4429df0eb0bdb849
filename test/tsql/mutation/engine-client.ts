import type { CollectedAnswer } from "../../tsql-server/engine/answer";
import type { Connection } from "../../tsql-server/engine/connection";
import type { SqlError } from "../../tsql-server/engine/sql-error";
import type { EngineArgumentValue, EngineRequest } from "../../tsql-server/tds/engine-port";
import { ticksOfUnixEpoch } from "../../tsql-server/values";
import type { ColumnInfo, SqlType, SqlValue } from "../../tsql-server/values";
import type { LocalServer } from "./local-server";

/** A row as the driver gives it: bits are booleans, 64-bit numbers text, instants Dates. */
export type ClientRow = Record<string, unknown>;

export interface ClientSet {
  readonly columns: readonly ColumnInfo[];
  readonly rows: readonly ClientRow[];
}

/**
 * One connection of a client without a wire: what the engine answers becomes what the driver would give
 * (tds/driver.test.ts pins that). Errors are thrown as the driver throws them: the last one, with the earlier ones
 * beside it.
 */
export class EngineClient {
  readonly #server: LocalServer;
  readonly #connection: Connection;

  constructor(server: LocalServer) {
    this.#server = server;
    this.#connection = server.connect();
  }

  get isInTransaction(): boolean {
    return this.#connection.transactionCount > 0;
  }

  /** After a fault: nothing more can be asked here. */
  get isBroken(): boolean {
    return this.#server.isBroken(this.#connection);
  }

  /** `isQuiet`: counts of rows are a fault, since each costs a packet's worth on the wire (SET NOCOUNT). */
  async run(request: EngineRequest, isQuiet = false): Promise<ClientSet[]> {
    const answer: CollectedAnswer = await this.#server.run(this.#connection, request);
    if (isQuiet && answer.counts.length > 0) {
      throw new Error("The procedure tells how many rows each statement touched");
    }
    const errors = answer.errors.filter((error) => error.class > 10).map(toRequestError);
    const last = errors.pop();
    if (last !== undefined) throw Object.assign(last, { precedingErrors: errors });
    return answer.rowSets.map(({ columns, rows }) => {
      return { columns, rows: rows.map((row) => toRow(columns, row)) };
    });
  }

  async begin(): Promise<void> {
    await this.run({ kind: "transaction", action: "begin", level: readCommitted });
  }

  async commit(): Promise<void> {
    await this.run({ kind: "transaction", action: "commit", level: 0 });
  }

  /** Nothing to do where the server has ended the transaction. */
  async rollBack(): Promise<void> {
    if (!this.isInTransaction) return;
    await this.run({ kind: "transaction", action: "rollback", level: 0 });
  }
}

const readCommitted = 2;

function toRequestError(error: SqlError): Error {
  const { number, state, message, procedure, line } = error;
  return Object.assign(new Error(message), {
    name: "RequestError",
    code: "EREQUEST",
    number,
    state,
    class: error.class,
    procName: procedure,
    lineNumber: line,
  });
}

function toRow(columns: readonly ColumnInfo[], values: readonly SqlValue[]): ClientRow {
  return Object.fromEntries(
    columns.map(({ name, type }, index) => [name, fromSql(type, values[index] ?? null)]),
  );
}

function fromSql(type: SqlType, value: SqlValue): unknown {
  if (value === null) return null;
  switch (type.name) {
    case "bit":
      return value === 1;
    case "bigint":
      return String(value);
    case "datetime2":
    case "datetime":
      return new Date(Number((BigInt(String(value)) - ticksOfUnixEpoch) / ticksOfMs));
    case "decimal":
      return Number(value) / 10 ** type.scale;
    default:
      return value;
  }
}

const ticksOfMs = 10_000n;

/** A value as it is sent for a parameter of this type. */
export function toSql(type: SqlType, value: string | number | boolean | null): EngineArgumentValue {
  return { kind: "scalar", type, value: valueToSql(type, value) };
}

function valueToSql(type: SqlType, value: string | number | boolean | null): SqlValue {
  if (value === null) return null;
  switch (type.name) {
    case "bigint":
      return BigInt(value);
    case "uniqueidentifier":
      return String(value).toUpperCase();
    default:
      return typeof value === "boolean" ? Number(value) : value;
  }
}

/** An instant as datetime2(3) holds it. */
export function toTicks(instant: Date): bigint {
  return BigInt(instant.getTime()) * ticksOfMs + ticksOfUnixEpoch;
}
