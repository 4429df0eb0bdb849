import { errorCodes, InvalidArgumentError, StoreContractError } from "../core/errors";
import type { ErrorCode, TaskgateError } from "../core/errors";

const codes = new Map(
  Object.entries(errorCodes).map(([code, { sql }]) => [sql as number | null, code as ErrorCode]),
);

/** The error that a procedure has raised: `sql` 404 is TG404 on PostgreSQL, 50404 on SQL Server; undefined: it isn't one of ours. */
export function ownError(sql: number, message: string, cause: unknown): TaskgateError | undefined {
  const code = codes.get(sql);
  if (code === undefined) return undefined;
  const Kind = code.startsWith("TASKGATE_ARG_") ? InvalidArgumentError : StoreContractError;
  return new Kind(message, { code, cause });
}
