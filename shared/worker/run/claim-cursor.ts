import type { ClaimPlace, WorkAnswer } from "../../ports/task-store";

/** The longest time for which a cursor may hide older rows. */
const hintMs = 1_000;

/** Where the last claim ended: the next one needn't step over deleted rows before it. Monotonic milliseconds. */
export class ClaimCursor {
  #place: { after: ClaimPlace; sinceMs: number } | null = null;

  /**
   * What the call told that was sent at `sentAtMs`. After one that claimed nothing, and while tasks are still due, the next one
   * looks from the start.
   */
  note({ last, nextDueMs }: Pick<WorkAnswer, "last" | "nextDueMs">, sentAtMs: number): void {
    this.#place =
      last === null || nextDueMs === 0
        ? null
        : { after: last, sinceMs: this.#place?.sinceMs ?? sentAtMs };
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
