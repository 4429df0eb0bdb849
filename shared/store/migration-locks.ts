import { StoreConflictError } from "../core/errors";

/**
 * A change of a table waits for every transaction that has used it, and all later calls wait behind the change. So it gives way
 * after a second and tries again: a transaction that stays open delays the migration, and stops no worker.
 */
export const migrationLocks = { waitMs: 1_000, pauseMs: 3_000, triesMax: 15 } as const;

/** Why a script wasn't applied: which session keeps its tables, where that is known, and what ends it. */
export function lockedOut({
  script,
  holder,
  cause,
}: {
  readonly script: string;
  /** A sentence's subject and verb, and the step that ends it; null: not known. */
  readonly holder: { readonly says: string; readonly end: string } | null;
  readonly cause: unknown;
}): StoreConflictError {
  const says = holder?.says ?? "Other sessions keep its tables locked";
  const end = holder?.end ?? "Let them end";
  return new StoreConflictError(
    `${script} wasn't applied. ${says}. Workers go on meanwhile. ${end}, then run \`npx taskgate migrate\` again`,
    { cause },
  );
}
