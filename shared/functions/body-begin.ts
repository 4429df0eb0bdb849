import { StoreUnavailableError } from "../core/errors";
import { answerMs, lateAfter } from "./in-time";

/** The begin of a body that runs on tokens: whether it was in time. */
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
