/** What a loop knows of its definition's rate: whether there is one, and from when on it lets the next task start. */
export class RatePermits {
  #isRated: boolean;
  #atMs: number | null = null;

  constructor(isRated: boolean) {
    this.#isRated = isRated;
  }

  /** The code names a rate, or an answer has told of one that an operator set. */
  get isRated(): boolean {
    return this.#isRated;
  }

  /** The rate cut a claim short, or null: it didn't. Returns when the next claim makes sense; monotonic, null: now. */
  note(retryInMs: number | null, nowMs: number): number | null {
    if (retryInMs !== null) this.#isRated = true;
    this.#atMs = retryInMs === null ? null : nowMs + retryInMs;
    return this.#atMs;
  }

  /** Milliseconds until the next task may start, as last told; null: it isn't known to be held up. */
  leftMs(clock: { monotonicMs(): number }): number | null {
    if (this.#atMs === null) return null;
    const leftMs = this.#atMs - clock.monotonicMs();
    return leftMs <= 0 ? null : leftMs;
  }
}
