import { StoreContractError } from "../../core/errors";
import type { TaskgateError } from "../../core/errors";
import { messageOf, read } from "../../core/foreign-value";
import { ownTypes } from "./postgres-types";
import { PostgresTransaction } from "./postgres-transaction";
import type { QueryResult, Statement } from "./postgres-transaction";

/** The members of the caller's client that are used. */
export interface PgQuery {
  query(statement: string | StatementOnClient): Promise<QueryResult | QueryResult[]>;
}

/** A statement as `pg` takes it. */
interface StatementOnClient {
  readonly text: string;
  readonly values?: unknown[];
  readonly types?: typeof ownTypes;
}

/**
 * Raises 25P01 where no transaction is open, 25P02 in one that has failed, and otherwise changes nothing: the savepoint is
 * gone at once. One message, so that a question costs one round trip.
 */
const questionText =
  "savepoint taskgate; release savepoint taskgate; select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as read_only";

/** A transaction that the caller's own client has begun. The caller ends it. */
export function joinPostgres(client: PgQuery): PostgresTransaction {
  return new PostgresTransaction({
    client,
    run: async ({ text, values }) => last(await client.query({ text, values })),
    // Without a name: a statement that is prepared would stay in the caller's session, which may be a pooler's.
    runOperation: async ({ text, values }: Statement) => {
      await expectOpen(client);
      return last(await client.query({ text, values, types: ownTypes }));
    },
  });
}

async function expectOpen(client: PgQuery): Promise<void> {
  let answer: QueryResult;
  try {
    answer = last(await client.query({ text: questionText, types: ownTypes }));
  } catch (error) {
    const code = typeof error === "object" && error !== null ? read(error, "code") : undefined;
    if (code === "25P01") throw refused("one (no transaction is open)", "Send `begin` first");
    if (code === "25P02") {
      const said = `one in which no statement has failed (${messageOf(error)})`;
      throw refused(said, "Roll it back, and begin another one");
    }
    throw error;
  }
  const [row] = answer.rows;
  const isolation = row?.["isolation"];
  if (isolation !== "read committed") {
    const said = `isolation level read committed (${String(isolation)})`;
    throw refused(said, "Begin it with `begin isolation level read committed`");
  }
  if (row?.["read_only"] !== "off")
    throw refused("one that may write (it is read-only)", "Begin it with `begin read write`");
}

function refused(expected: string, fix: string): TaskgateError {
  return new StoreContractError(
    `transaction: expected the client's to be ${expected}. Nothing was enqueued. ${fix}`,
    { code: "TASKGATE_STORE_CONTEXT", details: { field: "transaction" } },
  );
}

/** Several statements in one message are answered by a list. */
function last(answer: QueryResult | QueryResult[]): QueryResult {
  if (!Array.isArray(answer)) return answer;
  return answer.at(-1) ?? { rows: [] };
}
