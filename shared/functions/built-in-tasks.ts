import { limits } from "../core/limits";
import type { Settings } from "../settings/settings";
import { defineSqlTask } from "../worker/define/define-sql-task";
import { defineTask } from "../worker/define/define-task";
import type { AnyTaskKind } from "../worker/define/task-kind";

/**
 * Kinds that need no code. `sql`, where TASKGATE_SQL_PROCEDURES allows procedures: a caller that can write to the database
 * enqueues `{ "procedure": .., "parameters": {..} }` for it. As many at once as TASKGATE_CONNECTIONS_MAX leaves, over
 * all instances; an operator sets another limit while it runs. `taskgate-probe`, where TASKGATE_PROBE is on: does nothing, for
 * `taskgate doctor --latency`; an app that has a name has a probe of its own.
 */
export function builtInTasks(
  settings: Pick<Settings, "sqlProcedures" | "connectionsMax" | "hasProbe">,
  app?: string,
): AnyTaskKind[] {
  return [...sqlTasks(settings), ...(settings.hasProbe ? [probe(app)] : [])];
}

function probe(app: string | undefined): AnyTaskKind {
  const name = app === undefined ? "taskgate-probe" : `taskgate-probe-${app}`;
  return defineTask({ name: name.slice(0, limits.nameLengthMax), run: () => Promise.resolve() });
}

function sqlTasks({
  sqlProcedures,
  connectionsMax,
}: Pick<Settings, "sqlProcedures" | "connectionsMax">): AnyTaskKind[] {
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
