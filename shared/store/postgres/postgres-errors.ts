import { messageOf, textAt } from "../../core/foreign-value";
import {
  InvalidArgumentError,
  SchemaError,
  StoreConflictError,
  StoreContractError,
  StoreUnavailableError,
  StoreUncertainError,
  TaskgateError,
} from "../../core/errors";
import { lockTimeout } from "../lock-timeout";
import { missingRight } from "../missing-right";
import { ownError } from "../own-errors";
import { explainLostName, isPoolerTrouble } from "./postgres-pooler";
import { isRenewal } from "./postgres-renewal";
import { explainTlsFailure } from "./postgres-tls";
import { troubleOf } from "./postgres-troubles";
import { statementFailed } from "../operations/transaction-ends";

/** Had the request been sent when it failed? Only then may it have had an effect. */
export type Sent = "sent" | "not sent";

/** What the core's functions raise. */
const ownState = /^TG(\d{3})$/;
/** The connection broke: Node's codes, and the driver's words, which have none. */
const lostCodes = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT"]);
const lostMessage = /^(?:Connection terminated|Client has encountered a connection error)/;
/** Functions or tables are missing. */
const schemaMissing = new Set(["42883", "3F000", "42P01"]);
/** The login lacks a right. */
const forbidden = "42501";
/** A standby, a failover, or a disk that is nearly full: reads are answered. */
const readOnly = "25006";
/** The caller's data: too long, not JSON, out of range, a bad instant. */
const badData = /^22/;

/** In this function a call waits for dedupe keys, and for nothing else. */
const keyWait = /\b_take_keys\(/;

/** Maps what `pg` throws to the product's errors (sql-core table of errors). The original stays as `cause`. */
export function mapPostgresError(error: unknown, sent: Sent): TaskgateError {
  if (error instanceof TaskgateError) return error;
  const code = codeOf(error);
  const message = messageOf(error);
  // The functions in which the server was.
  const where = textAt(error, "where") ?? "";
  const routine = textAt(error, "routine") ?? "";
  const own = ownError(Number(ownState.exec(code)?.[1]), message, error);
  if (own !== undefined) return own;
  if (code === "55P03") {
    const isKey = keyWait.test(where);
    return lockTimeout({ database: "PostgreSQL", said: message, cause: error, isKey });
  }
  if (isRenewal({ code, message, where, routine })) {
    return new StoreConflictError(
      `PostgreSQL undid the call (${code}): the functions were renewed meanwhile: ${message}`,
      { cause: error, details: { isRenewal: true } },
    );
  }
  // A server that can't even begin a session: "could not write init file", where its disk is full.
  const isFatal = textAt(error, "severity") === "FATAL";
  const isStartFailure = isFatal && sent === "not sent" && code === "XX000";
  const trouble = isStartFailure ? "unavailable" : troubleOf(code);
  if (trouble === "conflict")
    return new StoreConflictError(`PostgreSQL undid the call (${code}): ${message}`, {
      cause: error,
    });
  if (trouble === "unavailable")
    return new StoreUnavailableError(`PostgreSQL can't be used now (${code}): ${message}`, {
      cause: error,
      ...(code === readOnly ? { details: { isReadOnly: true } } : {}),
    });
  if (code === forbidden) {
    const makesRole = routine === "CreateRole";
    return missingRight({ dialect: "postgres", said: message, makesRole, cause: error });
  }
  if (schemaMissing.has(code)) {
    return new SchemaError(
      "TASKGATE_SCHEMA_MISSING",
      `The database lacks Taskgate's functions (${message}). Run \`npx taskgate migrate\`.`,
      { cause: error },
    );
  }
  if (badData.test(code))
    return new InvalidArgumentError(`PostgreSQL refused a value: ${message}`, { cause: error });
  const lostName = explainLostName(code);
  if (lostName !== undefined) return new StoreContractError(lostName, { cause: error });
  if (code === "25P02") return statementFailed(error);
  const isAnswer = isSqlState(code) && trouble !== "uncertain";
  if (isAnswer && !isPoolerTrouble(error)) {
    return new StoreContractError(`PostgreSQL failed (${code}): ${message}`, { cause: error });
  }
  if (sent === "not sent")
    return (
      explainMissingPassword(error) ??
      explainTlsFailure(error) ??
      new StoreUnavailableError(`PostgreSQL can't be reached: ${message}`, { cause: error })
    );
  return new StoreUncertainError(
    `The connection to PostgreSQL was lost before the answer came: ${message}`,
    { cause: error },
  );
}

/**
 * What a user's own statement threw, when it says that the store can't now: a TaskgateError with the same meaning. Null:
 * it is the user's, and passes unchanged. A statement that was cancelled is the user's, too.
 */
export function storeTroubleOf(error: unknown): TaskgateError | null {
  try {
    if (error instanceof TaskgateError || !(error instanceof Error)) return null;
    const code = codeOf(error);
    const isOutage = isLostConnection(error) || isPoolerTrouble(error);
    if (!isOutage && (troubleOf(code) === undefined || code === "57014")) return null;
    return mapPostgresError(error, "not sent");
  } catch {
    // A handler's own value whose getters throw: it is none of the driver's.
    return null;
  }
}

/**
 * Is it a SQLSTATE? All that PostgreSQL and Taskgate raise have a digit, which Node's EPIPE hasn't; P1001 and the like are
 * Prisma's own.
 */
export function isSqlState(code: string): boolean {
  return /^(?=.*\d)(?!P[1-9])[0-9A-Z]{5}$/.test(code);
}

/** Did the connection break, by the words of Node or `pg`? */
export function isLostConnection(error: unknown): boolean {
  const code = codeOf(error);
  return lostCodes.has(code) || (code === "" && lostMessage.test(messageOf(error)));
}

/** The driver's words where the server asks for a password and none is known. */
function explainMissingPassword(error: unknown): StoreUnavailableError | null {
  if (!/client password must be a (?:non-empty )?string/.test(messageOf(error))) return null;
  return new StoreUnavailableError(
    "PostgreSQL asks for a password, and the address has none: expected postgres://USER:PASSWORD@HOST/DATABASE",
    { cause: error },
  );
}

function codeOf(error: unknown): string {
  return textAt(error, "code") ?? "";
}
