import type { Timers } from "../../ports/timers";

/** The time after which unused tokens go back. */
export const idleMs = 500;
/** The same while other processes are known to want them: the next of several calls in a row still finds its token. */
export const contendedIdleMs = 50;

/** How many tokens of a process nothing has run on for a while. No timer is set or taken back per call. */
export class IdleTokens {
  readonly #timers: Timers;
  readonly #isContended: () => boolean;
  readonly #onDue: () => void;
  #cancel: (() => void) | null = null;
  /** The fewest that were free since the timer was set. */
  #least = 0;
  #free = 0;
  #due = 0;

  constructor(timers: Timers, told: { isContended: () => boolean; onDue: () => void }) {
    this.#timers = timers;
    this.#isContended = told.isContended;
    this.#onDue = told.onDue;
  }

  /** So many should go back. */
  get due(): number {
    return this.#due;
  }

  /** So many are free now: some came back. */
  note(free: number): void {
    this.#free = free;
    if (this.#cancel === null && free > 0) this.#arm();
  }

  /** So many are still free: a body has begun. */
  use(free: number): void {
    this.#free = free;
    if (free < this.#least) this.#least = free;
    if (free < this.#due) this.#due = free;
  }

  /** All that are free should go back now. */
  releaseAll(): void {
    this.#due = Number.POSITIVE_INFINITY;
  }

  /** What should go back did, or can't. */
  forget(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#due = 0;
  }

  #arm(): void {
    this.#least = this.#free;
    const ms = this.#isContended() ? contendedIdleMs : idleMs;
    this.#cancel = this.#timers.after(ms, () => {
      this.#cancel = null;
      this.#due = this.#least;
      if (this.#due > 0) this.#onDue();
      if (this.#free > this.#due) this.#arm();
    });
  }
}
