/**
 * Every error class of the product. Expected outcomes are values; these are for broken contracts and failing databases.
 * Match by `code`, not by `instanceof`, across processes. docs/reference/errors.md lists them; a test keeps both equal.
 */

/** The codes, once. SQL raises 504nn (T-SQL) and TGnnn (PostgreSQL) for those with a number. */
export const errorCodes = {
  TASKGATE_ARG_INVALID: { sql: 422, meaning: "a value is missing, malformed or out of range" },
  TASKGATE_ARG_UNKNOWN: { sql: 404, meaning: "the definition, task or execution doesn't exist" },
  TASKGATE_ARG_TOO_LARGE: { sql: 413, meaning: "too many rows or too many bytes" },
  TASKGATE_ARG_CONFLICT: { sql: 409, meaning: "the call comes too late or out of order" },
  TASKGATE_ARG_RULE: {
    sql: 424,
    meaning: "the call leaves out, or contradicts, what the kind's code says of its tasks",
  },
  TASKGATE_ARG_OWNER: { sql: null, meaning: "the definition belongs to another app" },
  TASKGATE_SETTINGS: { sql: null, meaning: "a setting is unknown or bad; all problems are listed" },
  TASKGATE_PACKAGE_MISSING: {
    sql: null,
    meaning: "an optional package is not installed; the message has the command that installs it",
  },
  TASKGATE_APP_BROKEN: {
    sql: null,
    meaning: "the app's code can't be loaded; the message names the file",
  },
  TASKGATE_SCHEMA_MISSING: { sql: null, meaning: "the database has no Taskgate schema" },
  TASKGATE_SCHEMA_TOO_OLD: { sql: null, meaning: "the schema lacks migrations this code needs" },
  TASKGATE_SCHEMA_TOO_NEW: { sql: null, meaning: "the schema no longer serves code this old" },
  TASKGATE_SCHEMA_EDITED: {
    sql: null,
    meaning: "a migration's file is not the one that the database was made with",
  },
  TASKGATE_STORE_UNAVAILABLE: {
    sql: null,
    meaning: "the database can't be reached; nothing happened",
  },
  TASKGATE_STORE_FORBIDDEN: {
    sql: null,
    meaning: "the login lacks a right; the message names it and the role that has it",
  },
  TASKGATE_STORE_CONFLICT: {
    sql: null,
    meaning: "deadlock, lock time-out or serialization; nothing happened",
  },
  TASKGATE_STORE_UNCERTAIN: {
    sql: null,
    meaning: "the answer was lost: it may or may not have happened",
  },
  TASKGATE_STORE_CONTRACT: {
    sql: 499,
    meaning: "the database answered outside its contract, or holds damaged data",
  },
  TASKGATE_STORE_CONTEXT: { sql: 490, meaning: "called in the wrong transaction context" },
  TASKGATE_LEASE_LOST: { sql: null, meaning: "another worker holds this now; write nothing" },
  TASKGATE_LIMIT_REACHED: {
    sql: null,
    meaning: "a function got no token in time; its host delivers again",
  },
  TASKGATE_ASSERTION: { sql: null, meaning: "a mistake in Taskgate itself" },
} as const;

/** One of the codes above. */
export type ErrorCode = keyof typeof errorCodes;

/** Options of every error: plain data and what caused it. */
export interface ErrorOptions {
  details?: Readonly<Record<string, unknown>>;
  cause?: unknown;
}

/** Base of all: a stable `code`, and whether the same call may simply be made again. */
export class TaskgateError extends Error {
  readonly code: ErrorCode;
  readonly isRetryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: ErrorOptions & { isRetryable?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.isRetryable = options.isRetryable ?? false;
    this.details = options.details ?? {};
  }
}

/** The caller broke a precondition. The message names field, value and the expected form. */
export class InvalidArgumentError extends TaskgateError {
  constructor(message: string, options: ErrorOptions & { code?: ErrorCode } = {}) {
    super(options.code ?? "TASKGATE_ARG_INVALID", message, options);
  }
}

/** Settings that can't be used; `problems` lists them all. */
export class SettingsError extends TaskgateError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super("TASKGATE_SETTINGS", `Settings can't be used:\n- ${problems.join("\n- ")}`, {
      details: { problems },
    });
    this.problems = problems;
  }
}

/** The schema doesn't fit this code; the message says which command to run. */
export class SchemaError extends TaskgateError {}

/** Not reached: nothing happened. Retry with back-off. */
export class StoreUnavailableError extends TaskgateError {
  constructor(message: string, options: ErrorOptions = {}) {
    super("TASKGATE_STORE_UNAVAILABLE", message, { ...options, isRetryable: true });
  }
}

/** The login lacks a right. Nothing happened, and nothing will until an administrator grants it the named role. */
export class StoreForbiddenError extends TaskgateError {
  constructor(message: string, options: ErrorOptions = {}) {
    super("TASKGATE_STORE_FORBIDDEN", message, options);
  }
}

/** Deadlock, lock time-out, serialization: nothing happened. Retry at once with jitter, bounded. */
export class StoreConflictError extends TaskgateError {
  constructor(message: string, options: ErrorOptions = {}) {
    super("TASKGATE_STORE_CONFLICT", message, { ...options, isRetryable: true });
  }
}

/** The connection was lost after the request was sent. Repeat only with the same operation id, call number or fence. */
export class StoreUncertainError extends TaskgateError {
  constructor(message: string, options: ErrorOptions = {}) {
    super("TASKGATE_STORE_UNCERTAIN", message, options);
  }
}

/** An answer outside the contract, or damaged data. Alert. */
export class StoreContractError extends TaskgateError {
  constructor(message: string, options: ErrorOptions & { code?: ErrorCode } = {}) {
    super(options.code ?? "TASKGATE_STORE_CONTRACT", message, options);
  }
}

/** The lease is over or another holds the claim: stop, write nothing. */
export class LeaseLostError extends TaskgateError {
  constructor(message: string, options: ErrorOptions = {}) {
    super("TASKGATE_LEASE_LOST", message, options);
  }
}

/** A function whose message can't wait elsewhere got no token in time: thrown for the host's own retry. */
export class LimitReachedError extends TaskgateError {
  constructor(message: string, options: ErrorOptions = {}) {
    super("TASKGATE_LIMIT_REACHED", message, { ...options, isRetryable: true });
  }
}

/** A mistake of ours. */
export class AssertionError extends TaskgateError {
  constructor(message: string) {
    super("TASKGATE_ASSERTION", message);
  }
}

/** The store was away or too busy, or its answer was lost. */
export const outages: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TASKGATE_STORE_UNAVAILABLE",
  "TASKGATE_STORE_UNCERTAIN",
  "TASKGATE_STORE_CONFLICT",
]);

/** Of the store's state, not of what a call says: the same call may succeed later. */
const storeStates: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...outages,
  "TASKGATE_STORE_FORBIDDEN",
  "TASKGATE_SCHEMA_MISSING",
  "TASKGATE_SCHEMA_TOO_OLD",
  "TASKGATE_SCHEMA_TOO_NEW",
  "TASKGATE_SCHEMA_EDITED",
]);

/** May the same work succeed later: when the store is back, or when its schema or its rights are mended? */
export function isForLater(error: unknown): boolean {
  return error instanceof TaskgateError && storeStates.has(error.code);
}
