import { InvalidArgumentError } from "../core/errors";
import { describeInstance, read } from "../core/foreign-value";
import type { StoreTransaction } from "../ports/task-store";
import { JoinedMssqlTransaction } from "./mssql/joined-mssql-transaction";
import type { OpenMssqlTransaction } from "./mssql/joined-mssql-transaction";

/** A `Request` of the package `mssql`, as far as it is looked at. */
export interface MssqlRequestLike {
  readonly canceled: boolean;
  readonly stream: boolean;
  execute(procedure: string): Promise<unknown>;
}

/** A `Transaction` of the package `mssql`, as far as it is looked at. */
export interface MssqlTransactionLike {
  commit(): Promise<void>;
  rollback(): Promise<void>;
  request(): MssqlRequestLike;
}

/** Members that only a transaction of `mssql` over tedious has, all of them. */
const transactionMembers = ["acquire", "release", "request", "commit", "rollback"] as const;

/**
 * The caller's own transaction of the package `mssql`, or a request on it, for `enqueue(.., { transaction: fromMssql(transaction) })`:
 * the tasks exist when it commits, or not at all. One value belongs to one transaction; calls in it run one after the other.
 * Any isolation level will do. Nothing is sent here.
 *
 * Throws InvalidArgumentError for anything else, such as a ConnectionPool, whose statements each commit by themselves.
 * An enqueue within throws StoreContractError (TASKGATE_STORE_CONTEXT), with nothing sent, when the transaction hasn't begun
 * or has ended. Any other error of an enqueue within makes SQL Server roll the transaction back: begin another one.
 */
export function fromMssql(transaction: MssqlTransactionLike | MssqlRequestLike): StoreTransaction {
  const given: unknown = transaction;
  if (isTransaction(given)) return new JoinedMssqlTransaction(given);
  const parent = isObject(given) ? read(given, "parent") : undefined;
  if (isTransaction(parent)) return new JoinedMssqlTransaction(parent);
  throw new InvalidArgumentError(
    `Expected \`transaction\` to be a Transaction of the package mssql, or a Request on one, got ${describeInstance(given)}. Use \`new sql.Transaction(pool)\`, and \`begin\` it`,
    { details: { field: "transaction" } },
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isTransaction(value: unknown): value is OpenMssqlTransaction {
  return (
    isObject(value) &&
    transactionMembers.every((member) => typeof read(value, member) === "function")
  );
}
