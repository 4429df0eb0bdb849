import type { Clock } from "../../../shared/ports/clock";
import type { Timers } from "../../../shared/ports/timers";

/** A clock and timers that a test moves by hand. Begins at one second. */
export class HandTime {
  nowMs = 1_000;
  #timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  readonly clock: Clock = { monotonicMs: () => this.nowMs, nowMs: () => this.nowMs };
  readonly timers: Timers = {
    after: (ms, callback) => {
      this.#timers.push({ atMs: this.nowMs + ms, callback });
      return () => undefined;
    },
    soon: (callback) => void setImmediate(callback),
  };

  /** Timers that are due by then go off. */
  async passTo(atMs: number): Promise<void> {
    this.nowMs = atMs;
    for (const timer of this.#timers.filter((each) => each.atMs <= atMs)) {
      this.#timers = this.#timers.filter((each) => each !== timer);
      timer.callback();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
