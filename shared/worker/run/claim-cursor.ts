import type { ClaimPlace } from "../../ports/task-store";

/** The longest time for which a cursor may hide older rows. */
const hintMs = 1_000;

/** Where the last claim ended: the next one needn't step over deleted rows before it. Monotonic milliseconds. */
export class ClaimCursor {
  #place: { after: ClaimPlace; sinceMs: number } | null = null;

  /** `last`: of the tasks claimed by the call that was sent at `sentAtMs`; null: it claimed none. */
  note(last: ClaimPlace | null, sentAtMs: number): void {
    this.#place = last === null ? null : { after: last, sinceMs: this.#place?.sinceMs ?? sentAtMs };
  }

  /** For the next call; null at least once a second, so that a claim looks from the start. */
  hintAt(nowMs: number): ClaimPlace | null {
    if (this.#place === null || nowMs - this.#place.sinceMs >= hintMs) {
      this.#place = null;
      return null;
    }
    return this.#place.after;
  }
}
