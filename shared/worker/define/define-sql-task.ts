import { InvalidArgumentError } from "../../core/errors";
import type { JsonObject } from "../../core/json";
import { isProcedureName } from "../../core/procedure-name";
import type { StoreTransaction } from "../../ports/task-store";
import type { QueueOptions } from "./define-queue";
import { defineTask } from "./define-task";
import { sqlCallSchema, toStatement } from "./sql-call";
import type { SqlCall } from "./sql-call";
import type { Definition, TaskKind } from "./task-kind";

/** A kind of task whose work is a stored procedure. */
export interface SqlTaskOptions extends QueueOptions {
  /** A queue that several kinds share; default: one of the kind's own name. */
  queue?: Definition;
  /** The procedures that may be called, each as `schema.name`. A payload can't name any other. */
  procedures: readonly string[];
}

/**
 * Declares a kind that executes the stored procedure its payload names (`SqlCall`) inside the fenced completion: the
 * procedure's writes and the task's end are committed together, once, or neither is. The first row that it selects
 * becomes the result (at most 64 KiB). On PostgreSQL a function will do as well. While it runs it keeps one connection
 * of the worker's, so `concurrencyPerWorker` must stay below TASKGATE_CONNECTIONS_MAX - 1; default 1.
 * Throws InvalidArgumentError for a list that is empty or holds anything but such names.
 */
export function defineSqlTask(options: SqlTaskOptions): TaskKind<SqlCall, JsonObject | null> {
  const { procedures, ...rest } = options;
  const bad = procedures.find((name) => !isProcedureName(name));
  if (procedures.length === 0 || bad !== undefined) {
    throw new InvalidArgumentError(
      `Expected \`procedures\` to name at least one procedure, each as schema.name of letters, digits and _, got \`${bad ?? "[]"}\``,
      { details: { field: "procedures" } },
    );
  }
  return defineTask({
    ...(rest.queue === undefined ? { concurrencyPerWorker: 1 } : {}),
    ...rest,
    input: sqlCallSchema(procedures),
    run: (call, ctx) =>
      ctx.completeWith(async (transaction) => {
        const { text, values } = toStatement(call, await formOf(transaction, call));
        const timeoutMs = Math.min(Math.max(Math.ceil(ctx.timeLeftMs()), 1), timeoutMaxMs);
        const [row] = await transaction.query(text, values, { timeoutMs, signal: ctx.signal });
        return row === undefined ? null : toJson(row);
      }),
  });
}

/** A statement's own bound where the invocation has none. */
const timeoutMaxMs = 86_400_000;

/** PostgreSQL calls procedures and functions in two ways. */
async function formOf(
  transaction: StoreTransaction,
  call: SqlCall,
): Promise<Parameters<typeof toStatement>[1]> {
  if (transaction.dialect === "mssql") return { dialect: "mssql", isFunction: false };
  const kinds = await transaction.query(
    "select p.prokind::text as kind from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = $1 and p.proname = $2 limit 1",
    call.procedure.split("."),
  );
  return { dialect: "postgres", isFunction: kinds[0]?.["kind"] === "f" };
}

function toJson(row: Record<string, unknown>): JsonObject {
  const text = JSON.stringify(row, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return JSON.parse(text) as JsonObject;
}
