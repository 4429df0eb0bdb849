import { TaskgateError } from "./errors";
import { messageOf } from "./foreign-value";

/** An error as one line of JSON, `{"error":{"code":..,"message":..}}`: what `--json` puts on standard error. */
export function errorLine(error: unknown): string {
  const code = error instanceof TaskgateError ? error.code : null;
  const details = error instanceof TaskgateError ? error.details : {};
  return JSON.stringify({ error: { code, message: messageOf(error), ...details } });
}
