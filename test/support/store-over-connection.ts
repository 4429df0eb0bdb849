import type { Client } from "pg";
import type { TaskStore } from "../../shared/ports/task-store";
import { PostgresCaller } from "../../shared/store/postgres/postgres-caller";
import { PostgresTransaction } from "../../shared/store/postgres/postgres-transaction";
import { SqlTaskStore } from "../../shared/store/sql-task-store";

/** A store whose calls all take one connection, with its plans and its open transaction. `url`: of the same database. */
export function storeOver(session: Client, url: string): TaskStore {
  const options = { url, connectionsMax: 1 };
  const caller = new PostgresCaller({
    ...options,
    callTimeoutMs: 60_000,
    connectTimeoutMs: 15_000,
  });
  const joined = new PostgresTransaction({
    client: session,
    run: (statement) => session.query(statement),
  });
  return new SqlTaskStore(
    {
      dialect: "postgres",
      call: (operation, values) => caller.call(operation, values, joined),
      completeAndCommit: (values, within) => caller.completeAndCommit(values, within),
      transaction: (body) => caller.transaction(body),
      close: () => caller.close(),
    },
    (call) => call(),
  );
}
