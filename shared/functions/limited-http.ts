import { isOutage } from "../core/outage";
import type { Denial } from "../worker/run/ask-outlook";
import { awayRetrySeconds } from "./in-time";

/** What an HTTP function under a limit answers when its handler doesn't run. */

/** No token was free in time. */
export function tooMany(limit: string, { retryInMs, reason }: Denial): object {
  const seconds = Math.max(1, Math.ceil(retryInMs / 1_000));
  const error = { code: "TASKGATE_LIMIT_REACHED", message: `limit ${limit}: ${reason}` };
  return answer(429, seconds, error);
}

/** The database is away: 503; null: the error is another one, which the invocation throws. */
export function away(limit: string, error: unknown): object | null {
  // Without a token nothing has happened, also where the answer to the ask was lost.
  if (!isOutage(error)) return null;
  const message = `limit ${limit}: ${error.message}`;
  return answer(503, awayRetrySeconds, { code: error.code, message });
}

function answer(status: number, seconds: number, error: object): object {
  return { status, headers: { "Retry-After": String(seconds) }, jsonBody: { error } };
}
