/** How long a run will still take, by its pace over the last seconds. Pure. */

interface Sample {
  readonly atMs: number;
  readonly share: number;
}

/** Long enough to see several tasks end, short enough to follow a changed limit. */
const windowMs = 10_000;
/** Before that a guess says nothing. */
const observedMinMs = 2_500;

/** Takes an observation and answers the remaining time. */
export class Estimate {
  readonly #samples: Sample[] = [];

  /** Notes which share (0..1) of the work was done at an instant (monotonic). */
  note(atMs: number, share: number): void {
    const last = this.#samples.at(-1);
    // Less than before: more work has come.
    if (last !== undefined && share < last.share) this.#samples.length = 0;
    this.#samples.push({ atMs, share });
    while (this.#samples.length > 2 && atMs - (this.#samples[1]?.atMs ?? atMs) >= windowMs) {
      this.#samples.shift();
    }
  }

  /** Milliseconds until all is done; null: nothing to go by, or nothing left to do. */
  leftMs(): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return null;
    const passedMs = last.atMs - first.atMs;
    const gained = last.share - first.share;
    if (passedMs < observedMinMs || gained <= 0 || last.share >= 1) return null;
    return ((1 - last.share) * passedMs) / gained;
  }
}
