import { StoreUnavailableError } from "../core/errors";
import type { TaskStore } from "../ports/task-store";

/** As the server says it of the login's own transaction and of itself; nothing is written. A full disk shows only in a write. */
const questions = {
  postgres: `
    select case when pg_is_in_recovery() then 'it is a standby'
                when current_setting('transaction_read_only') = 'on' then 'it is set to read only (default_transaction_read_only)'
           end as reason`,
  mssql: `
    SELECT CASE WHEN CONVERT(nvarchar(20), DATABASEPROPERTYEX(DB_NAME(), N'Updateability')) = N'READ_ONLY'
                THEN N'it is read only, or a secondary replica' END AS reason;`,
} as const;

/** Does the database take writes, for `doctor`? Throws StoreUnavailableError, with the reason, when it doesn't. */
export async function expectWritable(
  store: Pick<TaskStore, "dialect" | "transaction">,
): Promise<string> {
  const { dialect } = store;
  if (dialect !== "postgres" && dialect !== "mssql") return "Not read from this database.";
  const [row] = await store.transaction((transaction) => transaction.query(questions[dialect]));
  const reason = row?.["reason"];
  if (typeof reason === "string") {
    throw new StoreUnavailableError(
      `The database takes no writes: ${reason}. Nothing is added and nothing runs until it does, or until the address names the server that takes them`,
    );
  }
  return "The database isn't read-only.";
}
