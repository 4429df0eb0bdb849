import { outages, TaskgateError } from "./errors";
import { isOf } from "./foreign-value";

/** Was the store away or too busy, or is its answer lost? Any value may be asked about, as handlers throw what they like. */
export function isOutage(error: unknown): error is TaskgateError {
  return isOf(error, TaskgateError) && outages.has(error.code);
}
