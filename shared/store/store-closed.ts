import { StoreUnavailableError } from "../core/errors";

/** The error of a call that comes, or is made again, after its store was closed: no later try makes sense. */
export function storeClosed(): StoreUnavailableError {
  return new StoreUnavailableError("The store is closed", { details: { isClosed: true } });
}
