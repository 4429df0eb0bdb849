import {
  InvalidArgumentError,
  SchemaError,
  StoreConflictError,
  StoreContractError,
  StoreUnavailableError,
  StoreUncertainError,
  TaskgateError,
} from "../../core/errors";
import { missingRight } from "../missing-right";
import { explainTlsFailure } from "./postgres-tls";

/** Had the request been sent when it failed? Only then may it have had an effect. */
export type Sent = "sent" | "not sent";

const ownErrors: Readonly<Record<string, (message: string, cause: unknown) => TaskgateError>> = {
  TG404: (message, cause) =>
    new InvalidArgumentError(message, { code: "TASKGATE_ARG_UNKNOWN", cause }),
  TG409: (message, cause) =>
    new InvalidArgumentError(message, { code: "TASKGATE_ARG_CONFLICT", cause }),
  TG413: (message, cause) =>
    new InvalidArgumentError(message, { code: "TASKGATE_ARG_TOO_LARGE", cause }),
  TG422: (message, cause) => new InvalidArgumentError(message, { cause }),
  TG424: (message, cause) =>
    new InvalidArgumentError(message, { code: "TASKGATE_ARG_RULE", cause }),
  TG499: (message, cause) => new StoreContractError(message, { cause }),
  TG490: (message, cause) =>
    new StoreContractError(message, { code: "TASKGATE_STORE_CONTEXT", cause }),
};

/** Undone by the server, worth another try at once: deadlock, serialization, cancelled statement. */
const conflicts = new Set(["40P01", "40001", "57014"]);
/** Refused before anything ran: starting up, too many connections, out of memory, read-only after a failover. */
const unavailable = new Set(["57P03", "53300", "53200", "53400", "25006", "08001", "08004"]);
/** The backend died under the request: its commit may have won the race. */
const uncertain = new Set(["57P01", "57P02", "08006", "08003", "08007"]);
/** Functions or tables are missing. */
const schemaMissing = new Set(["42883", "3F000", "42P01"]);
/** The login lacks a right. */
const forbidden = "42501";
/** The caller's data: too long, not JSON, out of range, a bad instant. */
const badData = /^22/;

/** Maps what `pg` throws to the product's errors (sql-core table of errors). The original stays as `cause`. */
export function mapPostgresError(error: unknown, sent: Sent): TaskgateError {
  if (error instanceof TaskgateError) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const own = ownErrors[code];
  if (own !== undefined) return own(message, error);
  // A lock that stays taken is an answer of its own (`busy`): repeating at once would only wait again.
  if (code === "55P03") {
    return new StoreConflictError(`PostgreSQL gave up waiting for a lock: ${message}`, {
      cause: error,
      details: { isLockTimeout: true },
    });
  }
  if (conflicts.has(code))
    return new StoreConflictError(`PostgreSQL undid the call (${code}): ${message}`, {
      cause: error,
    });
  if (unavailable.has(code))
    return new StoreUnavailableError(`PostgreSQL can't be used now (${code}): ${message}`, {
      cause: error,
    });
  if (code === forbidden) return missingRight({ dialect: "postgres", said: message, cause: error });
  if (schemaMissing.has(code)) {
    return new SchemaError(
      "TASKGATE_SCHEMA_MISSING",
      `The database lacks Taskgate's functions (${message}). Run \`npx taskgate migrate\`.`,
      { cause: error },
    );
  }
  if (badData.test(code))
    return new InvalidArgumentError(`PostgreSQL refused a value: ${message}`, { cause: error });
  if (code !== "" && /^[0-9A-Z]{5}$/.test(code) && !uncertain.has(code)) {
    return new StoreContractError(`PostgreSQL failed (${code}): ${message}`, { cause: error });
  }
  if (sent === "not sent")
    return (
      explainTlsFailure(error) ??
      new StoreUnavailableError(`PostgreSQL can't be reached: ${message}`, { cause: error })
    );
  return new StoreUncertainError(
    `The connection to PostgreSQL was lost before the answer came: ${message}`,
    { cause: error },
  );
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
