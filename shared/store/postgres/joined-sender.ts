import { InvalidArgumentError, TaskgateError } from "../../core/errors";
import { describeInstance, isObject, messageOf, read, textAt } from "../../core/foreign-value";
import type { SqlValue } from "../../ports/task-store";
import { hasFailed, refused, unfit } from "./joined-refusal";
import type { Refusal } from "./joined-refusal";
import { isSqlState } from "./postgres-errors";
import { PostgresTransaction } from "./postgres-transaction";
import type { QueryResult, Statement } from "./postgres-transaction";
import { isLost, serverErrorOf } from "./wrapped-error";

/**
 * Sends one statement within the caller's transaction. Each value is a text or null, because drivers differ in what they make
 * of other types. The answer holds the statement's rows.
 */
export type PgSendStatement = (text: string, values: (string | null)[]) => PromiseLike<unknown>;

type Row = Record<string, unknown>;

/**
 * The transaction gets its number, which it keeps to its end. The call below happens only in the transaction of that number. A
 * standby has no numbers, and is read-only. ORMs send one statement at a time, so `savepoint` would cost a round trip more.
 * A comparison of `transaction_timestamp()` and `statement_timestamp()` tells nothing: in the extended protocol they differ even
 * where no transaction is open.
 */
const questionText =
  "select case when current_setting('transaction_read_only') = 'off' then pg_current_xact_id()::text end as xact, current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as readonly";

const notOpen: Refusal = {
  expected: "one (no transaction is open: each statement commits by itself)",
  fix: "Send the statements by the object that the ORM hands out for its transaction, and await the enqueue inside of it",
};

/** A transaction that another driver or an ORM has begun. The caller ends it. */
export function joinSender(send: PgSendStatement): PostgresTransaction {
  return new PostgresTransaction({
    client: send,
    run: async ({ text, values }) => ({ rows: rowsOf(await send(text, asTexts(values))) }),
    runOperation: async (statement) => {
      const xact = await askOpen(send);
      const answer = await sendOwn(send, inTransaction(statement, xact));
      if (answer.rows.length === 0) throw refused("function", notOpen);
      return answer;
    },
  });
}

/**
 * The same call, for the transaction of this number only: the condition has no column, so it is looked at before the function
 * is called. Values are cast from texts, so that a driver that asks the server for types finds texts.
 */
function inTransaction({ text, values }: Statement, xact: string): Statement {
  const mark = `$${String(values.length + 1)}`;
  return {
    text: `${text.replace(/\$\d+/g, "$&::text")} where pg_current_xact_id_if_assigned()::text = ${mark}::text`,
    values: [...values, xact],
  };
}

/** The number of the open transaction. */
async function askOpen(send: PgSendStatement): Promise<string> {
  let rows: Row[];
  try {
    ({ rows } = await sendOwn(send, { text: questionText, values: [] }));
  } catch (error) {
    if (error instanceof TaskgateError) throw error;
    const said = messageOf(error);
    const code = textAt(error, "code");
    if (code === "25P02") throw refused("function", { ...hasFailed(said), cause: error });
    if ((code !== undefined && isSqlState(code)) || isLost(error)) throw error;
    // The words of the ORM itself, such as that the transaction has ended.
    throw refused("function", {
      expected: `one that takes statements (${said})`,
      fix: "Await the enqueue before the transaction ends",
      cause: error,
    });
  }
  const [row] = rows;
  if (rows.length !== 1 || typeof row?.["isolation"] !== "string") throw noRows(rows);
  const refusal = unfit({ isolation: row["isolation"], readOnly: row["readonly"] });
  if (refusal !== null) throw refused("function", refusal);
  if (typeof row["xact"] !== "string") throw noRows(rows);
  return row["xact"];
}

/** A statement of the store's own: errors are the server's, and numbers of 64 bits are texts. */
async function sendOwn(send: PgSendStatement, { text, values }: Statement): Promise<QueryResult> {
  let answer: unknown;
  try {
    answer = await send(text, asTexts(values));
  } catch (error) {
    throw serverErrorOf(error, text);
  }
  return { rows: rowsOf(answer).map(withoutBigints) };
}

function withoutBigints(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      typeof value === "bigint" ? String(value) : value,
    ]),
  );
}

/** Values are what `SqlValue` lists, also those of the store's own statements. */
function asTexts(values: unknown[]): (string | null)[] {
  return (values as SqlValue[]).map((value) => {
    if (value === null) return null;
    return value instanceof Date ? value.toISOString() : String(value);
  });
}

/**
 * The rows of an answer: Prisma, TypeORM, MikroORM and postgres.js give an array; pg, Drizzle, Knex and Kysely an object with
 * `rows`; Sequelize an array of the array and what the driver says besides.
 */
function rowsOf(answer: unknown): Row[] {
  const given = typeof answer === "object" && answer !== null ? answer : {};
  const list: unknown = Array.isArray(given) ? given : read(given, "rows");
  if (!Array.isArray(list)) throw noRows(answer);
  const [first] = list as unknown[];
  const rows: unknown[] = list === answer && Array.isArray(first) ? first : list;
  if (!rows.every(isObject)) throw noRows(answer);
  return rows;
}

function noRows(answer: unknown): InvalidArgumentError {
  return new InvalidArgumentError(
    `Expected the function that is \`client\` to answer the rows of its statement, as an array of objects, an object with \`rows\`, or an array that begins with the array of rows, got ${describeAnswer(answer)}. Return what the driver answers`,
    { details: { field: "client" } },
  );
}

function describeAnswer(answer: unknown): string {
  if (!Array.isArray(answer)) return describeInstance(answer);
  if (answer.length === 0) return "an empty array";
  const [first] = answer as unknown[];
  return `an array that begins with ${Array.isArray(first) ? "an array" : describeInstance(first)}`;
}
