import { InvalidArgumentError } from "../core/errors";
import { describeInstance, read } from "../core/foreign-value";
import type { StoreTransaction } from "../ports/task-store";
import { joinPostgres } from "./postgres/joined-connection";
import type { PgQuery } from "./postgres/joined-connection";

/** A `Client` or `PoolClient` of the package `pg`, as far as it is looked at. */
export interface PgClientLike {
  query(text: string): Promise<{ readonly rows: unknown[] }>;
  /** Only clients have it; a pool's statements go to any of its connections. */
  escapeLiteral(text: string): string;
}

/**
 * The caller's own transaction on a client of the package `pg`, for `enqueue(.., { transaction: fromPg(client) })`: the tasks exist
 * when it commits, or not at all. Take one value per transaction; enqueues in it are sent one after the other. Nothing is sent here.
 *
 * Throws InvalidArgumentError for anything else, such as a Pool, whose statements each commit by themselves.
 * An enqueue within first asks whether a transaction is open, at isolation level read committed, and may write. If not, it
 * throws StoreContractError (TASKGATE_STORE_CONTEXT), nothing is enqueued, and an open transaction goes on. Any other error of an
 * enqueue within makes PostgreSQL refuse further statements: roll back, to a savepoint of yours or wholly.
 */
export function fromPg(client: PgClientLike): StoreTransaction {
  const given: unknown = client;
  if (isClient(given)) return joinPostgres(given);
  throw new InvalidArgumentError(
    `Expected \`client\` to be a Client or PoolClient of the package pg, got ${describeInstance(given)}. Take a client with \`await pool.connect()\`, and \`begin\``,
    { details: { field: "client" } },
  );
}

function isClient(value: unknown): value is PgQuery {
  if (typeof value !== "object" || value === null) return false;
  const isPool = typeof read(value, "totalCount") === "number";
  return (
    !isPool &&
    typeof read(value, "query") === "function" &&
    typeof read(value, "escapeLiteral") === "function"
  );
}
