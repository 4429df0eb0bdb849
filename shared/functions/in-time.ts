import { StoreUnavailableError, StoreUncertainError } from "../core/errors";
import type { TaskgateError } from "../core/errors";
import { nodeTimers } from "../platform/node-timers";
import { untilEnd } from "./invocations";

/** Who calls by HTTP waits no longer for the database; with its way the answer comes within 5 s. */
export const answerMs = 4_000;
/** After so many seconds such a client may try again while the database is away. */
export const awayRetrySeconds = 5;
/** How long a request that is told to end may still ask the database. */
const endGraceMs = 2_200;

/**
 * What `work` gives, within 4 s. Later, or when the app ends meanwhile, this throws: StoreUnavailableError for a
 * request that only reads, else StoreUncertainError with `isLate`, as the sent call may still happen. A call that goes on
 * behind is bounded by the store's own time-outs and repeats.
 */
export async function inTime<Result>(
  work: Promise<Result>,
  { reads, ending }: { reads: boolean; ending: AbortSignal },
): Promise<Result> {
  work.catch(() => undefined);
  const { late, cancel } = lateAfter(answerMs, () => lateError(reads));
  try {
    return await untilEnd(Promise.race([work, late]), { ending, graceMs: endGraceMs });
  } finally {
    cancel();
  }
}

/** Rejects after `ms` with what `toError` makes then; to be raced against, and taken back by `cancel`. */
export function lateAfter(
  ms: number,
  toError: () => Error,
): { readonly late: Promise<never>; readonly cancel: () => void } {
  let cancel = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = nodeTimers.after(ms, () => {
      reject(toError());
    });
  });
  return { late, cancel };
}

/** Is this the error of a request that the database hasn't answered in time? */
export function isLate(error: unknown): boolean {
  return error instanceof StoreUncertainError && error.details["isLate"] === true;
}

function lateError(reads: boolean): TaskgateError {
  const silent = `The database hasn't answered within ${String(answerMs / 1_000)} s`;
  if (reads) return new StoreUnavailableError(`${silent}. Try again later`);
  return new StoreUncertainError(
    `${silent}: the change may still happen. Look before you repeat it, or repeat it with the same operationId where the route takes one`,
    { details: { isLate: true } },
  );
}
