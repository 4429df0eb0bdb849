import type { ClaimPlace } from "../ports/task-store";

/** A scan hint may hide older rows for so long (P4). */
const scanHintMs = 1_000;

/** Where the last claim ended, for at most a second after a claim that looked from the start. */
export class ScanHint {
  #place: { after: ClaimPlace; sinceMs: number } | null = null;

  /** The next claim may look behind `last`; null: it looks from the start. */
  note(last: ClaimPlace | null, sentMs: number): void {
    this.#place = last === null ? null : { after: last, sinceMs: this.#place?.sinceMs ?? sentMs };
  }

  /** Where to look; null: from the start. */
  at(nowMs: number): ClaimPlace | null {
    if (this.#place !== null && nowMs - this.#place.sinceMs >= scanHintMs) this.#place = null;
    return this.#place?.after ?? null;
  }
}
