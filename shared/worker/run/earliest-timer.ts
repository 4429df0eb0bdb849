import type { WorkerEnvironment } from "../environment";

/**
 * One timer that stands at the earliest instant that was asked for since it last ended. A later instant changes nothing:
 * asks that come more often than the timer ends never put it off.
 */
export class EarliestTimer {
  readonly #environment: Pick<WorkerEnvironment, "clock" | "timers">;
  readonly #callback: (atMs: number) => void;
  #atMs = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | null = null;

  /** The callback gets the instant at which the timer stood; it may set the timer again. */
  constructor(
    environment: Pick<WorkerEnvironment, "clock" | "timers">,
    callback: (atMs: number) => void,
  ) {
    this.#environment = environment;
    this.#callback = callback;
  }

  /** Asks for an instant, monotonic ms; one that is over: as soon as may be. Infinity: nothing is asked for. */
  set(atMs: number): void {
    if (atMs >= this.#atMs) return;
    this.#cancel?.();
    this.#atMs = atMs;
    const { clock, timers } = this.#environment;
    this.#cancel = timers.after(Math.max(atMs - clock.monotonicMs(), 0), () => {
      this.#forget();
      this.#callback(atMs);
    });
  }

  cancel(): void {
    this.#cancel?.();
    this.#forget();
  }

  #forget(): void {
    this.#cancel = null;
    this.#atMs = Number.POSITIVE_INFINITY;
  }
}
