/** How long a run will still take, by its pace over the last seconds. Pure. */

interface Sample {
  readonly atMs: number;
  readonly finished: number;
}

/** Long enough to see several blocks end, short enough to follow a changed limit. */
const windowMs = 10_000;
/** Before that a guess says nothing. */
const observedMinMs = 2_500;

/** Takes what was seen and answers the time that is left. */
export class Estimate {
  readonly #samples: Sample[] = [];

  /** Notes how much was finished at an instant (monotonic). */
  note(atMs: number, finished: number): void {
    const last = this.#samples.at(-1);
    // Less than before: a new run over the same tables.
    if (last !== undefined && finished < last.finished) this.#samples.length = 0;
    this.#samples.push({ atMs, finished });
    while (this.#samples.length > 2 && atMs - (this.#samples[1]?.atMs ?? atMs) >= windowMs) {
      this.#samples.shift();
    }
  }

  /** Milliseconds until `total` are finished; null: nothing to go by. */
  leftMs(total: number): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return null;
    const passedMs = last.atMs - first.atMs;
    const gained = last.finished - first.finished;
    if (passedMs < observedMinMs || gained <= 0) return null;
    return ((total - last.finished) * passedMs) / gained;
  }
}
