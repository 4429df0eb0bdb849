import {
  InvalidArgumentError,
  SchemaError,
  StoreConflictError,
  StoreContractError,
  StoreUnavailableError,
  StoreUncertainError,
  TaskgateError,
} from "../../core/errors";
import { textAt } from "../../core/foreign-value";
import { lockTimeout } from "../lock-timeout";
import { missingRight } from "../missing-right";
import { transactionEnded } from "../operations/transaction-ends";
import { ownError } from "../own-errors";
import { numbersOf } from "./mssql-troubles";

/**
 * Had the request been sent when it failed? Only then may it have had an effect.
 * `undone`: it had, inside a transaction that can't be committed any more.
 */
export type Sent = "sent" | "not sent" | "undone";

/** One error of the server, or of the driver when it has no number. */
export interface ServerError {
  readonly number: number;
  /** Severity; from 20 the server ends the connection. */
  readonly severity: number;
  readonly message: string;
}

/** THROW 50499 of the procedures: damaged data. It is told with its number, as the server's own errors are. */
const damaged = 50_499;

/** A lock stayed taken for too long: of a row, by LOCK_TIMEOUT, or of a key, told by our procedures. */
const lockTimeouts = new Set([1222, 50423]);
const conflicts = numbersOf("conflict");
/** Two calls with one operation id at once: the second reads the first one's answer when it is repeated. */
const duplicateKeys = new Set([2601, 2627]);
const operationKey = /\b(?:PK_Operation|UQ_[A-Za-z]+_OperationId)\b/;

const unavailable = numbersOf("unavailable");
const uncertain = numbersOf("uncertain");
/** From here on the server ends the connection itself. */
const fatalSeverity = 20;

/** The database, or the secondary that was reached, takes no writes: reads are answered. */
const readOnly: ReadonlySet<number> = new Set([3906, 3908]);

/** Procedures or tables are missing. */
const schemaMissing = new Set([208, 2812]);
/** The user lacks a right: on an object, on a column, to make something, to do this at all. */
const forbidden = new Set([229, 230, 262, 15247]);
/** The caller's data: null, out of range, too long, not convertible, not JSON, against a check. */
const badData = new Set([220, 241, 245, 515, 547, 2628, 8114, 8115, 8152, 13609]);
/** Say only that a statement or a transaction ended because of an error beside them. */
const followers = new Set([266, 3621, 3903, 3930, 3998]);

/** What 50423 says of a dedupe key: the name of its lock (_KeyLock). */
const keyWait = /\(Taskgate:dedupe:/;

/** The classes of error of the driver. */
const driverErrors = new Set([
  "ConnectionError",
  "PreparedStatementError",
  "RequestError",
  "TransactionError",
]);
/** Of the driver: a value it refuses before anything is sent. */
const badValueCodes = new Set(["EPARAM", "EARGS", "EINJECT"]);
/** Of the driver: nothing was sent, because there was no usable connection. */
const unsentCodes = new Set(["ENOTOPEN", "ECONNCLOSED", "EINVALIDSTATE", "ELOGIN", "EFEDAUTH"]);
/** Of the driver: the transaction isn't there, or a second statement runs in it. */
const transactionCodes = new Set(["EABORT", "ENOTBEGUN", "EALREADYBEGUN", "EREQINPROG"]);

/** A refused login has no number in the driver's error: what the server had said before, by that error. */
const loginErrors = new WeakMap<Error, readonly ServerError[]>();

/** Notes what the server said before a login failed with `error`. */
export function rememberLoginErrors(error: Error, messages: readonly unknown[]): void {
  loginErrors.set(error, messages.map(readServerError).filter(isPresent));
}

/**
 * Maps what `mssql` throws to the product's errors (sql-core table of errors). The original stays as `cause`.
 * All numbers count: the driver throws the last error of the server and keeps the earlier ones beside it.
 */
export function mapMssqlError(error: unknown, sent: Sent): TaskgateError {
  const own = findOwn(error);
  if (own instanceof StoreUncertainError && sent === "undone") {
    return new StoreUnavailableError(own.message, { cause: error });
  }
  if (own !== null) return own;
  const errors = serverErrorsOf(error);
  const find = (numbers: { has: (number: number) => boolean }): ServerError | undefined =>
    errors.find((entry) => numbers.has(entry.number));

  for (const { number, message } of errors) {
    const raised = number === damaged ? undefined : ownError(number - 50_000, message, error);
    if (raised !== undefined) return raised;
  }

  const locked = errors.find((entry) => lockTimeouts.has(entry.number));
  if (locked !== undefined) {
    const isKey = keyWait.test(locked.message);
    return lockTimeout({ database: "SQL Server", said: locked.message, cause: error, isKey });
  }
  const conflict = find(conflicts) ?? errors.find(isSameOperation);
  if (conflict !== undefined) {
    return new StoreConflictError(`SQL Server undid the call ${describe(conflict)}`, {
      cause: error,
    });
  }
  return mapState(error, sent, errors);
}

/** The error of a transaction that is over before its commit, by its cause (undefined: one of its own statements). */
export function transactionOver(reason: unknown): TaskgateError {
  if (reason === undefined) {
    return transactionEnded("a statement in it ended it with COMMIT or ROLLBACK");
  }
  const mapped = mapMssqlError(reason, "undone");
  const message = `The transaction is over: nothing of it will be committed. It ended by: ${mapped.message}`;
  if (mapped instanceof StoreConflictError)
    return new StoreConflictError(message, { cause: reason });
  if (mapped instanceof StoreUnavailableError) {
    return new StoreUnavailableError(message, { cause: reason });
  }
  return new StoreContractError(message, { code: "TASKGATE_STORE_CONTEXT", cause: reason });
}

/**
 * What a user's own statement threw, when it says that the store can't now: a TaskgateError with the same meaning. Null:
 * it is the user's, and passes unchanged.
 */
export function storeTroubleOf(error: unknown): TaskgateError | null {
  if (error instanceof TaskgateError || !isOfDriver(error)) return null;
  const isTrouble = serverErrorsOf(error).some(
    ({ number, severity }) =>
      [conflicts, unavailable, uncertain].some((numbers) => numbers.has(number)) ||
      severity >= fatalSeverity,
  );
  return isTrouble ? mapMssqlError(error, "undone") : null;
}

/** Did the driver throw this? What fails beside the database keeps its own words. */
export function isOfDriver(error: unknown): boolean {
  return error instanceof Error && driverErrors.has(error.name);
}

/** Is this the server's error `number`, last or earlier? */
export function hasNumber(error: unknown, number: number): boolean {
  return serverErrorsOf(error).some((entry) => entry.number === number);
}

/** What the server said, by the error that was made of it; [] where it said nothing. */
export function saidByServer(error: unknown): readonly ServerError[] {
  let found = error;
  while (found instanceof TaskgateError) found = found.cause;
  return serverErrorsOf(found);
}

/** The errors that depend on whether the request was sent, and those that only Taskgate can have caused. */
function mapState(error: unknown, sent: Sent, errors: readonly ServerError[]): TaskgateError {
  const refusal = errors.find((entry) => unavailable.has(entry.number));
  const end = errors.find(
    (entry) => uncertain.has(entry.number) || entry.severity >= fatalSeverity,
  );
  if (refusal === undefined && end !== undefined && sent === "sent") {
    return new StoreUncertainError(
      `SQL Server ended the connection before the answer came ${describe(end)}`,
      { cause: error },
    );
  }
  const away = refusal ?? end;
  if (away !== undefined) {
    return new StoreUnavailableError(`SQL Server can't be used now ${describe(away)}`, {
      cause: error,
      ...(readOnly.has(away.number) ? { details: { isReadOnly: true } } : {}),
    });
  }
  if (sent === "not sent") return notReached(error, errors);
  return mapStatement(error, errors) ?? mapDriver(error, sent);
}

function mapStatement(error: unknown, errors: readonly ServerError[]): TaskgateError | null {
  const refused = errors.find((entry) => forbidden.has(entry.number));
  if (refused !== undefined) {
    return missingRight({ dialect: "mssql", said: refused.message, cause: error });
  }
  const missing = errors.find((entry) => schemaMissing.has(entry.number));
  if (missing !== undefined) {
    return new SchemaError(
      "TASKGATE_SCHEMA_MISSING",
      `The database lacks Taskgate's procedures (${missing.message}). Run \`npx taskgate migrate\`.`,
      { cause: error },
    );
  }
  const bad = errors.find((entry) => badData.has(entry.number));
  if (bad !== undefined) {
    return new InvalidArgumentError(`SQL Server refused a value: ${bad.message}`, { cause: error });
  }
  const other = errors.find((entry) => !followers.has(entry.number)) ?? errors[0];
  if (other === undefined) return null;
  return new StoreContractError(`SQL Server failed ${describe(other)}`, { cause: error });
}

/** Errors of the driver itself. */
function mapDriver(error: unknown, sent: Sent): TaskgateError {
  const code = codeOf(error);
  const message = messageOf(error);
  if (badValueCodes.has(code)) {
    return new InvalidArgumentError(`The driver refused a value: ${message}`, { cause: error });
  }
  if (transactionCodes.has(code)) {
    const reason = code === "EABORT" ? originalOf(error) : undefined;
    if (reason !== undefined) return transactionOver(reason);
    return new StoreContractError(`The transaction can't be used: ${message}`, {
      code: "TASKGATE_STORE_CONTEXT",
      cause: error,
    });
  }
  // An answer that only says "failed": the driver has neither number nor text.
  if (code === "UNKNOWN") {
    return new StoreContractError(`SQL Server failed without saying why: ${message}`, {
      cause: error,
    });
  }
  const what = code === "ETIMEOUT" ? "SQL Server didn't answer" : "SQL Server was lost";
  if (sent === "undone" || unsentCodes.has(code)) {
    return new StoreUnavailableError(`${what}: ${message}`, { cause: error });
  }
  return new StoreUncertainError(`${what}, and what became of the call isn't known: ${message}`, {
    cause: error,
  });
}

function notReached(error: unknown, errors: readonly ServerError[]): TaskgateError {
  const code = codeOf(error);
  if (badValueCodes.has(code)) return mapDriver(error, "not sent");
  const numbers = [...new Set(errors.map((entry) => entry.number))].join(", ");
  const said = numbers === "" ? "" : ` (${numbers})`;
  return new StoreUnavailableError(`SQL Server can't be reached${said}: ${messageOf(error)}`, {
    cause: error,
  });
}

/** `(1205): Transaction was deadlocked` */
function describe(entry: ServerError): string {
  return `(${String(entry.number)}): ${entry.message}`;
}

function isSameOperation(entry: ServerError): boolean {
  return duplicateKeys.has(entry.number) && operationKey.test(entry.message);
}

/** The product's own errors pass, also when the driver has wrapped them. */
function findOwn(error: unknown): TaskgateError | null {
  if (error instanceof TaskgateError) return error;
  const original = originalOf(error);
  return original instanceof TaskgateError ? original : null;
}

/**
 * The last error of the server first, then the earlier ones, then what it said when it refused a login. The driver's
 * error of a transaction has no number of its own: the server's is in the original.
 */
function serverErrorsOf(error: unknown): ServerError[] {
  if (!(error instanceof Error)) return [];
  const earlier: unknown = "precedingErrors" in error ? error.precedingErrors : undefined;
  const original = originalOf(error);
  const last = readServerError(error) === null ? original : error;
  const all = [last, ...(Array.isArray(earlier) ? (earlier as unknown[]) : [])];
  const login = loginErrors.get(error) ?? (original && loginErrors.get(original)) ?? [];
  return [...all.map(readServerError).filter(isPresent), ...login];
}

/** `number` is the server's only when it is a number: a lost connection has the text "ECONNRESET" there. */
function readServerError(value: unknown): ServerError | null {
  const { number, class: severity } = Object(value) as Readonly<Record<string, unknown>>;
  if (typeof number !== "number") return null;
  const message = textAt(value, "message") ?? "";
  return { number, severity: typeof severity === "number" ? severity : 0, message };
}

function isPresent<Value>(value: Value | null): value is Value {
  return value !== null;
}

function originalOf(error: unknown): Error | undefined {
  if (!(error instanceof Error) || !("originalError" in error)) return undefined;
  return error.originalError instanceof Error ? error.originalError : undefined;
}

function codeOf(error: unknown): string {
  const codes = [error, ...partsOf(error)].map((part) => textAt(part, "code"));
  return codes.find((code) => code !== undefined) ?? "";
}

/**
 * A token that can't be had comes as several errors in one, without a text of its own; a refused connection has one
 * error for each address that was tried as its cause.
 */
function partsOf(error: unknown): unknown[] {
  const original = originalOf(error) ?? error;
  const holder = original instanceof AggregateError ? original : causeOf(original);
  return holder instanceof AggregateError ? (holder.errors as unknown[]) : [];
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const parts = partsOf(error).map((part) => (part instanceof Error ? part.message : String(part)));
  if (parts.length === 0) return error.message;
  return error.message === "" ? parts.join("; ") : `${error.message} (${parts.join("; ")})`;
}

/** Connections in doubt aren't given to the next call. */
export function isFatal(error: TaskgateError): boolean {
  return error.code === "TASKGATE_STORE_UNCERTAIN" || error.code === "TASKGATE_STORE_UNAVAILABLE";
}
