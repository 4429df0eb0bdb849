import { StoreConflictError } from "../core/errors";

/** A lock that stayed taken, as a database told it. */
interface LockTimeout {
  readonly database: "PostgreSQL" | "SQL Server";
  readonly said: string;
  readonly cause: unknown;
  /** The call waited for a dedupe key: its caller knows which transaction may have it. */
  readonly isKey: boolean;
}

/** An answer of its own (`busy`) for calls that have one: repeating them at once would only wait again. */
export function lockTimeout({ database, said, cause, isKey }: LockTimeout): StoreConflictError {
  const what = isKey ? "a dedupe key that another transaction holds" : "a lock";
  return new StoreConflictError(`${database} gave up waiting for ${what}: ${said}`, {
    cause,
    details: { isLockTimeout: true },
  });
}
