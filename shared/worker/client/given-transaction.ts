import { describeInstance, read } from "../../core/foreign-value";
import { InvalidArgumentError } from "../../core/errors";
import type { StoreTransaction } from "../../ports/task-store";

/**
 * The option `transaction` as it was given; undefined: none. Throws InvalidArgumentError for any other value, such as the driver's own
 * client, or the null of a variable that was to hold one: the tasks would be committed without the caller's rows.
 */
export function givenTransaction(options: {
  transaction?: StoreTransaction;
}): StoreTransaction | undefined {
  const given: unknown = options.transaction;
  if (given === undefined || isTransaction(given)) return given;
  throw new InvalidArgumentError(
    `transaction: expected what \`fromPg(client)\` or \`fromMssql(transaction)\` makes, or the transaction that \`ctx.completeWith\` hands out (${describeInstance(given)})`,
    { details: { field: "transaction" } },
  );
}

function isTransaction(given: unknown): given is StoreTransaction {
  if (typeof given !== "object" || given === null) return false;
  return typeof read(given, "dialect") === "string" && typeof read(given, "query") === "function";
}
