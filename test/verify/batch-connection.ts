import { Connection, Request } from "tedious";
import type { ConnectionConfiguration } from "tedious";
import { parseMssqlAddress } from "../../shared/store/mssql/mssql-options";

/** What one batch said. */
export interface BatchAnswer {
  /** The last row set; values as litmus cases write them. */
  readonly rows: readonly (readonly Cell[])[];
  /** Numbers of all errors in order. */
  readonly errors: readonly number[];
  /** The texts of the same. */
  readonly messages: readonly string[];
}

export type Cell = string | number | null;

const connectTimeoutMs = 15_000;
/** Nothing here lasts longer, not even a wait for the deadlock monitor. */
const requestTimeoutMs = 60_000;

/** One connection that stays what it was made as: batches on it share a session, as two people at two windows do. */
export class BatchConnection {
  /** The number under which the server's views show it. */
  readonly sessionId: number;
  readonly #connection: Connection;

  private constructor(connection: Connection, sessionId: number) {
    this.#connection = connection;
    this.sessionId = sessionId;
  }

  /** Opens one; `application` is what the server's views call it. */
  static async open(url: string, application: string): Promise<BatchConnection> {
    const connection = new Connection(configurationOf(url, application));
    connection.on("error", () => undefined);
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
    const { rows } = await runOn(connection, "SELECT @@SPID AS id;");
    return new BatchConnection(connection, Number(rows[0]?.[0]));
  }

  /** Runs a batch. Errors of T-SQL are part of the answer; a broken connection rejects. */
  run(sql: string): Promise<BatchAnswer> {
    return runOn(this.#connection, sql);
  }

  /** Runs a batch that must not fail. */
  async must(sql: string): Promise<BatchAnswer> {
    const answer = await this.run(sql);
    if (answer.errors.length === 0) return answer;
    const error = `error ${String(answer.errors[0])}: ${answer.messages[0] ?? ""}`;
    throw new Error(`${error}, for: ${sql.slice(0, 200)}`);
  }

  /** The server rolls back open transactions. */
  async close(): Promise<void> {
    if (this.#connection.closed) return;
    await new Promise<void>((resolve) => {
      this.#connection.once("end", () => {
        resolve();
      });
      this.#connection.close();
    });
  }
}

function configurationOf(url: string, application: string): ConnectionConfiguration {
  const target = parseMssqlAddress({ url });
  if (target.signIn.kind !== "password") throw new Error("Expected an address with a password");
  const { user, password } = target.signIn;
  // A name for TLS where an address is none and the certificate isn't looked at.
  const serverName =
    target.certificateName ?? (target.trustServerCertificate ? "localhost" : undefined);
  return {
    server: target.server,
    authentication: { type: "default", options: { userName: user, password } },
    options: {
      database: target.database,
      ...(target.port === null ? {} : { port: target.port }),
      ...(target.instance === null ? {} : { instanceName: target.instance }),
      ...(serverName === undefined ? {} : { serverName }),
      encrypt: target.encrypt,
      trustServerCertificate: target.trustServerCertificate,
      appName: application,
      connectTimeout: connectTimeoutMs,
      requestTimeout: requestTimeoutMs,
      useUTC: true,
    },
  };
}

function runOn(connection: Connection, sql: string): Promise<BatchAnswer> {
  return new Promise((resolve, reject) => {
    let rows: Cell[][] = [];
    const errors: number[] = [];
    const messages: string[] = [];
    const note = (message: { number: number; message: string }): void => {
      errors.push(message.number);
      messages.push(message.message);
    };
    connection.on("errorMessage", note);
    const request = new Request(sql, (error) => {
      connection.removeListener("errorMessage", note);
      // Without a number among the messages it wasn't T-SQL that failed.
      if (error && errors.length === 0) reject(error);
      else resolve({ rows, errors, messages });
    });
    request.on("columnMetadata", () => {
      rows = [];
    });
    request.on("row", (columns: readonly RowColumn[]) => {
      rows.push(columns.map(toCell));
    });
    connection.execSqlBatch(request);
  });
}

interface RowColumn {
  readonly value: unknown;
  readonly metadata: { readonly type: { readonly name: string } };
}

function toCell({ value, metadata }: RowColumn): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string") return metadata.type.name === "BigInt" ? Number(value) : value;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return value.toString("hex");
  throw new Error(`A column of type ${metadata.type.name} gave a ${typeof value}`);
}
