import type { Timers } from "../../ports/timers";

/** Timers that end together, such as those of an execution. */
export class LoopTimers {
  readonly #timers: Timers;
  readonly #cancels = new Set<() => void>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  after(ms: number, callback: () => void): () => void {
    const cancel = this.#timers.after(Math.max(ms, 0), () => {
      this.#cancels.delete(cancel);
      callback();
    });
    this.#cancels.add(cancel);
    return () => {
      this.#cancels.delete(cancel);
      cancel();
    };
  }

  cancelAll(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }
}
