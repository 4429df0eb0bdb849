/** Served calls from which the pace is taken. */
const paceCalls = 16;
/** Some more come than were served: a pace that only followed the arrivals would never rise again. */
const hurry = 2 / 3;
/** A denied call comes again within this time, however many were denied before it. */
export const returnMaxMs = 30_000;

/**
 * When calls that waited in vain come again: one after the other, at the pace at which the waiting calls of this process are
 * served. All of them after the same time would leave the tokens idle until then, and be too many when they come.
 */
export class ReturnSlots {
  /** Monotonic milliseconds, oldest first. */
  readonly #servedAtMs: number[] = [];
  #nextAtMs = Number.NEGATIVE_INFINITY;

  /** A waiting call got its tokens. */
  noteServed(nowMs: number): void {
    this.#servedAtMs.push(nowMs);
    if (this.#servedAtMs.length > paceCalls) this.#servedAtMs.shift();
  }

  /** In how many milliseconds the next denied call comes again, behind `waiting` ones; null: nothing is known of the pace. */
  next(nowMs: number, waiting: number): number | null {
    const [first] = this.#servedAtMs;
    const calls = this.#servedAtMs.length - 1;
    if (first === undefined || calls < 1) return null;
    // Since the first of them until now: a pace that has become slow is seen.
    const eachMs = (Math.max(nowMs - first, 1) / calls) * hurry;
    const atMs = Math.max(nowMs + waiting * eachMs, this.#nextAtMs);
    const inMs = Math.min(atMs - nowMs, returnMaxMs);
    this.#nextAtMs = nowMs + inMs + eachMs;
    return Math.round(inMs);
  }
}
