import type { Timers } from "../../ports/timers";

/** The time in one turn of the event loop in which bodies may begin that end without waiting. */
const shareMs = 5;

/**
 * The part of one turn of the event loop in which bodies begin. Bodies that wait for nothing would else keep timers and
 * answers of the database away, and with them the renewal of the lease. One per process.
 */
export class TurnShare {
  readonly #timers: Timers;
  readonly #waiting = new Set<() => void>();
  #endsAtMs: number | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** May a body begin in this turn? Monotonic milliseconds. */
  holdsAt(nowMs: number): boolean {
    if (this.#endsAtMs === null) {
      this.#endsAtMs = nowMs + shareMs;
      this.#timers.soon(() => {
        this.#endsAtMs = null;
        const waiting = [...this.#waiting];
        this.#waiting.clear();
        for (const callback of waiting) callback();
      });
    }
    return nowMs < this.#endsAtMs;
  }

  /** Calls back in the next turn, if this one's share is used up. */
  onNext(callback: () => void): void {
    if (this.#endsAtMs !== null) this.#waiting.add(callback);
  }
}
