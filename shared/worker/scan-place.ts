import type { ClaimPlace } from "../ports/task-store";

/** A scan hint may hide older rows for so long (P4). */
const hintMs = 1_000;

/** Where the last claim ended: the next one needn't step over what is gone before it. Monotonic milliseconds. */
export class ScanPlace {
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
