import { StoreUnavailableError } from "../core/errors";
import { isOutage } from "../core/outage";
import type { Denial } from "../worker/run/ask-outlook";
import { answerMs, awayRetrySeconds, lateAfter } from "./in-time";

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

/** The begin of one invocation's body: whether it was in time. */
export class BodyBegin {
  #hasBegun = false;
  #cancel = (): void => undefined;
  readonly #late = new AbortController();

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Aborted when the body may begin no more. */
  get late(): AbortSignal {
    return this.#late.signal;
  }

  /** To be called at the body's begin. Throws where its caller has been answered already. */
  note(): void {
    if (this.#late.signal.aborted) throw new StoreUnavailableError("answered before it began");
    this.#hasBegun = true;
    this.#cancel();
  }

  /**
   * What `work` gives. Where its body hasn't begun 4 s after `waitMs`, this throws StoreUnavailableError, and it begins no more:
   * only a silent database needs longer to say no.
   */
  async inTime<Result>(work: Promise<Result>, waitMs: number): Promise<Result> {
    work.catch(() => undefined);
    const { late, cancel } = lateAfter(waitMs + answerMs, () => {
      const error = new StoreUnavailableError("The database hasn't answered in time");
      this.#late.abort(error);
      return error;
    });
    this.#cancel = cancel;
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel();
    }
  }
}
