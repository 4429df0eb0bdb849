import type { TaskgateError } from "../../../shared/core/errors";
import { InvalidArgumentError, StoreContractError } from "../../../shared/core/errors";
import type { SqlValue as UserValue, StoreTransaction } from "../../../shared/ports/task-store";
import { mapMssqlError, transactionOver } from "../../../shared/store/mssql/mssql-errors";
import { operations } from "../../../shared/store/operations";
import {
  parameterTypes,
  toCamelCase,
  toPascalCase,
} from "../../../shared/store/operations/operation";
import type {
  AnswerRow,
  ParameterType,
  ParameterValue,
  ParameterValues,
  Procedure,
} from "../../../shared/store/operations/operation";
import type { ProcedureCaller } from "../../../shared/store/procedure-caller";
import type { EngineArgument, EngineArgumentValue } from "../../tsql-server/tds/engine-port";
import type { SqlType } from "../../tsql-server/values";
import { EngineClient, toSql, toTicks } from "./engine-client";
import type { ClientRow, ClientSet } from "./engine-client";
import type { LocalServer } from "./local-server";

/**
 * Calls the core's procedures straight in the engine: what MssqlCaller does, without driver and wire, a hundred times as
 * often in a second. That the wire changes nothing is shown by the contract suite that runs over it.
 */
export class EngineCaller implements ProcedureCaller {
  readonly dialect = "mssql";
  readonly #server: LocalServer;
  readonly #idle: EngineClient[] = [];

  constructor(server: LocalServer) {
    this.#server = server;
  }

  async call(
    procedure: Procedure,
    values: ParameterValues,
    within?: StoreTransaction,
  ): Promise<AnswerRow> {
    if (within !== undefined) return ours(within).call(procedure, values);
    return this.#lend(async (client) => {
      try {
        return await execute(client, procedure, values);
      } catch (error) {
        throw mapped(error, "sent");
      }
    });
  }

  async transaction<Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    return this.#lend(async (client) => {
      await client.begin();
      const transaction = new EngineTransaction(client);
      let result: Result;
      try {
        result = await body(transaction);
      } catch (error) {
        await transaction.end().catch(() => undefined);
        await client.rollBack();
        throw error;
      }
      if (transaction.isCompleted) return result;
      await transaction.end();
      await client.commit();
      return result;
    });
  }

  async completeAndCommit(values: ParameterValues, within: StoreTransaction): Promise<AnswerRow> {
    return ours(within).complete(values);
  }

  close(): Promise<void> {
    this.#server.close();
    return Promise.resolve();
  }

  async #lend<Result>(body: (client: EngineClient) => Promise<Result>): Promise<Result> {
    const client = this.#idle.pop() ?? new EngineClient(this.#server);
    try {
      return await body(client);
    } finally {
      if (!client.isBroken) this.#idle.push(client);
    }
  }
}

/** One statement at a time; after its end, or the server's rollback, no more. */
class EngineTransaction implements StoreTransaction {
  readonly dialect = "mssql";
  readonly #client: EngineClient;
  #last: Promise<unknown> = Promise.resolve();
  #over: TaskgateError | null = null;
  #isCompleted = false;

  constructor(client: EngineClient) {
    this.#client = client;
  }

  async call(procedure: Procedure, values: ParameterValues): Promise<AnswerRow> {
    try {
      return await this.#run(() => execute(this.#client, procedure, values));
    } catch (error) {
      throw mapped(error, "undone");
    }
  }

  /** Has a completion ended it, by commit or, unless it is done, by rollback? */
  get isCompleted(): boolean {
    return this.#isCompleted;
  }

  /** The completion and the end, as two calls: nothing comes between. That they are one batch is the adapter's matter. */
  async complete(values: ParameterValues): Promise<AnswerRow> {
    try {
      const row = await this.call(operations.completeTask, values);
      await (row["status"] === "done" ? this.#client.commit() : this.#client.rollBack());
      this.#isCompleted = true;
      return row;
    } catch (error) {
      await this.#client.rollBack().catch(() => undefined);
      throw error;
    } finally {
      this.#over = new StoreContractError("The transaction is over: its completion has ended it", {
        code: "TASKGATE_STORE_CONTEXT",
      });
    }
  }

  async query(text: string, values: readonly UserValue[] = []): Promise<ClientRow[]> {
    const bound = values.map(bindUserValue);
    const declaration = bound.map(({ type }, index) => `@p${index + 1} ${type}`).join(", ");
    const [set] = await this.#run(() =>
      this.#client.run({
        kind: "statement",
        sql: text,
        declaration,
        arguments: bound.map(({ value }, index) => argument(`@p${index + 1}`, value)),
      }),
    );
    return [...(set?.rows ?? [])];
  }

  /** Waits for running calls and takes no more. Throws the error that ended the transaction before its commit. */
  async end(): Promise<void> {
    await this.#last.catch(() => undefined);
    const over = this.#over;
    this.#over ??= new StoreContractError("The transaction is over: its body has returned", {
      code: "TASKGATE_STORE_CONTEXT",
    });
    if (over !== null) throw over;
  }

  async #run<Result>(body: () => Promise<Result>): Promise<Result> {
    const now = async (): Promise<Result> => {
      if (this.#over !== null) throw this.#over;
      try {
        const result = await body();
        if (!this.#client.isInTransaction) this.#over ??= transactionOver(undefined);
        return result;
      } catch (error) {
        if (!this.#client.isInTransaction) this.#over ??= transactionOver(error);
        throw error;
      }
    };
    const turn = this.#last.then(now, now);
    this.#last = turn;
    return turn;
  }
}

function ours(transaction: StoreTransaction): EngineTransaction {
  if (transaction instanceof EngineTransaction) return transaction;
  throw new InvalidArgumentError("Expected the transaction to be one of this SQL Server store's");
}

/** What the engine's own faults throw must not look like an answer of the store. */
function mapped(error: unknown, sent: "sent" | "undone"): unknown {
  const isOfServer = error instanceof Error && error.name === "RequestError";
  return isOfServer ? mapMssqlError(error, sent) : error;
}

async function execute(
  client: EngineClient,
  procedure: Procedure,
  values: ParameterValues,
): Promise<AnswerRow> {
  const bound = procedure.parameters.map(([parameter, type]) =>
    argument(`@${toPascalCase(parameter)}`, bind(type, values[parameter] ?? null)),
  );
  const name = `Taskgate.${toPascalCase(procedure.name)}`;
  return toAnswer(
    procedure.name,
    await client.run({ kind: "procedure", name, arguments: bound }, true),
  );
}

function argument(name: string, value: EngineArgumentValue): EngineArgument {
  return { name, isOutput: false, usesDefault: false, value };
}

const sqlTypes: Readonly<Record<(typeof parameterTypes)[ParameterType]["mssql"], SqlType>> = {
  int: { name: "int" },
  smallint: { name: "smallint" },
  bigint: { name: "bigint" },
  bit: { name: "bit" },
  uniqueidentifier: { name: "uniqueidentifier" },
  "nvarchar(max)": { name: "nvarchar", length: "max" },
  "nvarchar(64)": { name: "nvarchar", length: 64 },
};

/** Lists travel as JSON arrays. */
function bind(type: ParameterType, value: ParameterValue): EngineArgumentValue {
  const plain = typeof value === "object" && value !== null ? `[${value.join(",")}]` : value;
  const sent = typeof plain === "number" && type === "bigint" ? String(plain) : plain;
  return toSql(sqlTypes[parameterTypes[type].mssql], sent);
}

/** The one row of the one set; keys in camelCase. */
function toAnswer(name: string, sets: readonly ClientSet[]): AnswerRow {
  const [set] = sets;
  const row = set?.rows[0];
  if (set === undefined || row === undefined || sets.length !== 1 || set.rows.length !== 1) {
    throw new StoreContractError(`Expected one row from ${name}, got ${sets.length} sets`);
  }
  return Object.fromEntries(
    set.columns.map(({ name, type }) => [toCamelCase(name), plainOf(type, row[name])]),
  );
}

function plainOf(type: SqlType, value: unknown): string | number | boolean | null {
  switch (typeof value) {
    case "string":
      return type.name === "uniqueidentifier" ? value.toLowerCase() : value;
    case "number":
    case "boolean":
      return value;
    default:
      if (value === null) return null;
      throw new StoreContractError(`Expected text, a number, a bit or null, got ${typeof value}`);
  }
}

/** How a value of a user's statement travels, and how its parameter is declared. */
function bindUserValue(value: UserValue): { type: string; value: EngineArgumentValue } {
  if (value === null || typeof value === "string") {
    return { type: "nvarchar(max)", value: toSql({ name: "nvarchar", length: "max" }, value) };
  }
  if (typeof value === "boolean") return { type: "bit", value: toSql({ name: "bit" }, value) };
  if (value instanceof Date) {
    const type: SqlType = { name: "datetime2", scale: 3 };
    return { type: "datetime2(3)", value: { kind: "scalar", type, value: toTicks(value) } };
  }
  if (typeof value === "number" && Math.abs(value) < 2 ** 31 && Number.isInteger(value)) {
    return { type: "int", value: toSql({ name: "int" }, value) };
  }
  return { type: "bigint", value: toSql({ name: "bigint" }, String(value)) };
}
