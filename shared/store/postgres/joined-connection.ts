import { messageOf, textAt } from "../../core/foreign-value";
import { hasFailed, refused, unfit } from "./joined-refusal";
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
    const code = textAt(error, "code");
    if (code === "25P01")
      throw refused("client", {
        expected: "one (no transaction is open)",
        fix: "Send `begin` first",
      });
    if (code === "25P02") throw refused("client", hasFailed(messageOf(error)));
    throw error;
  }
  const [row] = answer.rows;
  const refusal = unfit({ isolation: row?.["isolation"], readOnly: row?.["read_only"] });
  if (refusal !== null) throw refused("client", refusal);
}

/** Several statements in one message are answered by a list. */
function last(answer: QueryResult | QueryResult[]): QueryResult {
  if (!Array.isArray(answer)) return answer;
  return answer.at(-1) ?? { rows: [] };
}
