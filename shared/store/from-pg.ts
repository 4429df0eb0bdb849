import { InvalidArgumentError } from "../core/errors";
import { describeInstance, read } from "../core/foreign-value";
import type { StoreTransaction } from "../ports/task-store";
import { joinPostgres } from "./postgres/joined-connection";
import type { PgQuery } from "./postgres/joined-connection";
import { joinSender } from "./postgres/joined-sender";
import type { PgSendStatement } from "./postgres/joined-sender";

export type { PgSendStatement } from "./postgres/joined-sender";

/** A `Client` or `PoolClient` of the package `pg`, as far as it is looked at. */
export interface PgClientLike {
  query(text: string): Promise<{ readonly rows: unknown[] }>;
  /** Only clients have it; a pool's statements go to any of its connections. */
  escapeLiteral(text: string): string;
}

/** What ORMs' own transactions have, and no function that wraps one. */
const ormMembers = ["raw", "unsafe", "query", "execute"] as const;

/**
 * The caller's own PostgreSQL transaction, for `enqueue(.., { transaction: fromPg(client) })`: the tasks exist when it commits,
 * or not at all. `client` is a client of the package `pg`, or a function that sends one statement within the transaction of an
 * ORM or another driver: `fromPg((text, values) => tx.$queryRawUnsafe(text, ...values))`. Nothing is sent here. Take one value
 * per transaction; enqueues in it are sent one after the other.
 *
 * Each value that the function gets is a text or null. The text has the marks `$1`, `$2`, .. once each, in their order, and no
 * question mark. The function answers what its driver answers: an array of rows, an object with `rows`, or an array that
 * begins with the array of rows. A row is an object. Another answer is an InvalidArgumentError.
 *
 * Throws InvalidArgumentError for anything else, such as a Pool, whose statements each commit by themselves.
 * An enqueue within first asks whether a transaction is open, at isolation level read committed, and may write. If not, it
 * throws StoreContractError (TASKGATE_STORE_CONTEXT), nothing is enqueued, and an open transaction goes on. A function is also
 * refused so when its statements don't all go to one transaction. Any other error of an enqueue within makes PostgreSQL refuse
 * further statements: roll back, to a savepoint of yours or wholly. Its code is the same for a function as for a client: the
 * server's error is found within the ORM's.
 */
export function fromPg(client: PgClientLike | PgSendStatement): StoreTransaction {
  const given: unknown = client;
  if (isClient(given)) return joinPostgres(given);
  if (isSender(given)) return joinSender(given);
  throw new InvalidArgumentError(
    `Expected \`client\` to be a Client or PoolClient of the package pg, or a function that sends one statement, got ${describeGiven(given)}. Take a client with \`await pool.connect()\`, and \`begin\`; of an ORM wrap its transaction: \`fromPg((text, values) => ..)\``,
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

/** Transactions of Knex and postgres.js are functions themselves, which do other things with a text. */
function isSender(value: unknown): value is PgSendStatement {
  return typeof value === "function" && ormMember(value) === undefined;
}

function ormMember(value: object): string | undefined {
  return ormMembers.find((member) => typeof read(value, member) === "function");
}

function describeGiven(value: unknown): string {
  const member = typeof value === "function" ? ormMember(value) : undefined;
  return member === undefined
    ? describeInstance(value)
    : `a function with the method \`${member}\`, which is an ORM's own`;
}
