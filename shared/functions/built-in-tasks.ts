import type { Settings } from "../settings/settings";
import { defineSqlTask } from "../worker/define/define-sql-task";
import type { AnyTaskKind } from "../worker/define/task-kind";

/**
 * Kinds that need no code. `sql`, where TASKGATE_SQL_PROCEDURES allows procedures: a caller that can write to the database
 * enqueues `{ "procedure": .., "parameters": {..} }` for it. As many at once as TASKGATE_CONNECTIONS_MAX leaves, over
 * all instances; an operator sets another limit while it runs.
 */
export function builtInTasks(
  settings: Pick<Settings, "sqlProcedures" | "connectionsMax">,
): AnyTaskKind[] {
  const { sqlProcedures, connectionsMax } = settings;
  if (sqlProcedures.length === 0) return [];
  // One for the worker's own calls, one for its heartbeat.
  const atOnce = Math.max(1, connectionsMax - 2);
  return [
    defineSqlTask({
      name: "sql",
      procedures: sqlProcedures,
      limit: atOnce,
      concurrencyPerWorker: atOnce,
    }),
  ];
}
