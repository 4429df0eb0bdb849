import { TaskgateError } from "../core/errors";
import type { ErrorCode } from "../core/errors";

/** What the program's exit code says; stable, for scripts. */
export const exitCodes = {
  /** Done. */
  ok: 0,
  /** Not done, or `doctor` and `migrate --check` found something; the text says what. */
  failed: 1,
  /** The command line, a file or a setting can't be used; nothing happened. */
  usage: 2,
  /** There is no such definition or task. */
  notFound: 3,
  /** The database or the app can't be reached, or its answer was lost. */
  unreachable: 4,
} as const;

/** One of the codes above. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Also what shells expect of a program that a signal has ended: of `dev`, and of long commands that Ctrl+C has ended half-way. */
export type CommandExitCode = ExitCode | 129 | 130 | 143;

const byError: Readonly<Record<ErrorCode, ExitCode>> = {
  TASKGATE_ARG_INVALID: exitCodes.usage,
  TASKGATE_ARG_UNKNOWN: exitCodes.notFound,
  TASKGATE_ARG_TOO_LARGE: exitCodes.usage,
  TASKGATE_ARG_CONFLICT: exitCodes.failed,
  TASKGATE_ARG_RULE: exitCodes.usage,
  TASKGATE_ARG_OWNER: exitCodes.failed,
  TASKGATE_SETTINGS: exitCodes.usage,
  TASKGATE_PACKAGE_MISSING: exitCodes.usage,
  TASKGATE_APP_BROKEN: exitCodes.usage,
  TASKGATE_SCHEMA_MISSING: exitCodes.failed,
  TASKGATE_SCHEMA_TOO_OLD: exitCodes.failed,
  TASKGATE_SCHEMA_TOO_NEW: exitCodes.failed,
  TASKGATE_SCHEMA_EDITED: exitCodes.failed,
  TASKGATE_STORE_UNAVAILABLE: exitCodes.unreachable,
  TASKGATE_STORE_FORBIDDEN: exitCodes.failed,
  TASKGATE_STORE_CONFLICT: exitCodes.failed,
  TASKGATE_STORE_UNCERTAIN: exitCodes.unreachable,
  TASKGATE_STORE_CONTRACT: exitCodes.failed,
  TASKGATE_STORE_CONTEXT: exitCodes.failed,
  TASKGATE_LEASE_LOST: exitCodes.failed,
  TASKGATE_LIMIT_REACHED: exitCodes.failed,
  TASKGATE_ASSERTION: exitCodes.failed,
};

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof TaskgateError ? byError[error.code] : exitCodes.failed;
}
