import type * as Mssql from "mssql";
import { StoreContractError } from "../../core/errors";
import type { TaskgateError } from "../../core/errors";
import { messageOf } from "../../core/foreign-value";
import type { SqlValue, StoreTransaction } from "../../ports/task-store";
import { toPascalCase } from "../operations/operation";
import type { AnswerRow, ParameterValues, Procedure } from "../operations/operation";
import { endsUsersTransaction } from "../operations/transaction-ends";
import { inTurn } from "../in-turn";
import { bindAsText, toAnswer } from "./mssql-binding";
import { mapMssqlError } from "./mssql-errors";

/** The part of the driver's connection that tells whether a transaction is open on it. */
interface DriverConnection {
  readonly inTransaction: unknown;
}

/** The members of the caller's `Transaction` that are used. The driver has `acquire` and `release`; its types don't declare them. */
export interface OpenMssqlTransaction {
  acquire(user: object, lend: (error: Error | null, connection?: DriverConnection) => void): void;
  release(connection: DriverConnection): void;
  request(): Mssql.Request;
}

/**
 * A transaction that the caller's own `mssql` has begun. Commit, rollback and time-outs stay the caller's. Nothing of our own
 * `mssql` is used: the caller's may be another copy of the package, whose types ours doesn't know.
 */
export class JoinedMssqlTransaction implements StoreTransaction {
  readonly dialect = "mssql";
  readonly #inner: OpenMssqlTransaction;

  constructor(inner: OpenMssqlTransaction) {
    this.#inner = inner;
  }

  /** Runs the procedure of an operation. Throws StoreContractError, with nothing sent, when no transaction is open. */
  call(procedure: Procedure, values: ParameterValues): Promise<AnswerRow> {
    return this.#inTurn(async () => {
      try {
        const request = await this.#request();
        bindAsText(request, { procedure, values }, nvarcharOf(request));
        const result = await request.execute<Record<string, unknown>>(
          `Taskgate.${toPascalCase(procedure.name)}`,
        );
        return toAnswer(null, procedure.name, result);
      } catch (error) {
        // A time-out of the caller's leaves open whether the procedure ran.
        throw mapMssqlError(error, "sent");
      }
    });
  }

  /** Refused: the caller commits. */
  complete(): Promise<AnswerRow> {
    return Promise.reject(endsUsersTransaction());
  }

  /** A statement of the caller's; its errors pass unchanged. Instants travel as ISO-8601 text. */
  query(text: string, values: readonly SqlValue[] = []): Promise<Record<string, unknown>[]> {
    return this.#inTurn(async () => {
      const request = await this.#request();
      values.forEach((value, index) => {
        const name = `p${String(index + 1)}`;
        if (value instanceof Date) request.input(name, nvarcharOf(request), value.toISOString());
        else if (typeof value === "string") request.input(name, nvarcharOf(request), value);
        else request.input(name, value);
      });
      const { recordsets } = await request.query<Record<string, unknown>>(text);
      const sets: Record<string, unknown>[][] = recordsets;
      return sets[0] ?? [];
    });
  }

  #inTurn<Result>(body: () => Promise<Result>): Promise<Result> {
    return inTurn(this.#inner, body);
  }

  /** A request whose rows have our format, regardless of the configuration of the caller's pool. */
  async #request(): Promise<Mssql.Request> {
    await expectOpen(this.#inner);
    const request = this.#inner.request();
    request.stream = false;
    request.arrayRowMode = false;
    return request;
  }
}

/** The caller's copy of the type NVarChar: what its driver takes null for. Its guess of a text may be another type. */
function nvarcharOf(request: Mssql.Request): () => Mssql.ISqlType {
  const name = "taskgate_type";
  request.input(name, null);
  const type = request.parameters[name]?.type as unknown as () => Mssql.ISqlType;
  Reflect.deleteProperty(request.parameters, name);
  return type;
}

/** Throws StoreContractError unless a transaction is open. Asks the driver, not the server. */
async function expectOpen(transaction: OpenMssqlTransaction): Promise<void> {
  const lent = await new Promise<DriverConnection | Error>((resolve) => {
    transaction.acquire({}, (error, connection) => {
      resolve(error ?? connection ?? new Error("the driver lent no connection"));
    });
  });
  if (lent instanceof Error) throw notOpen(messageOf(lent));
  transaction.release(lent);
  if (lent.inTransaction === true) return;
  throw notOpen(
    lent.inTransaction === false
      ? "a statement ended it with COMMIT or ROLLBACK"
      : "its driver isn't tedious",
  );
}

function notOpen(reason: string): TaskgateError {
  return new StoreContractError(
    `transaction: expected an open transaction of \`mssql\` without a request under way (${reason}). Nothing was enqueued. Call \`await transaction.begin()\` first, await each request, and enqueue before the commit`,
    { code: "TASKGATE_STORE_CONTEXT", details: { field: "transaction" } },
  );
}
