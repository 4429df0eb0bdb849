import type { AcquireTokensAnswer } from "../ports/task-store";

/**
 * Pauses before each further look of somebody whose denial was noted: holders give between tasks, so a token idles for at
 * most half as long as it took to come. At most one worker a second and definition is noted: nobody else looks so often.
 */
const lookAgainMs = [50, 50, 75, 110, 170, 250, 380, 570, 850];
/** Where nobody was noted and none is known to be free, tokens that are wanted are asked for after so long. */
const pauseMs = 500;
/** Who hears that one is free may be late, or not be meant. */
const leastPauseMs = 50;

/** When a worker that holds tokens asks for more. Monotonic milliseconds. */
export class TokenLooks {
  #left: number[] = [];
  #askedAtMs: number;
  #nextMs: number;

  constructor(nowMs: number) {
    this.#askedAtMs = nowMs;
    this.#nextMs = nowMs + pauseMs;
  }

  get nextMs(): number {
    return this.#nextMs;
  }

  /** It asks now. */
  note(nowMs: number): void {
    this.#askedAtMs = nowMs;
    this.#nextMs = nowMs + (this.#left.shift() ?? pauseMs);
  }

  /** Its denial was noted, so a token is on its way: it looks again soon. */
  begin(nowMs: number): void {
    this.#left = [...lookAgainMs];
    this.note(nowMs);
  }

  /** What it was answered. */
  hear(answer: Pick<AcquireTokensAnswer, "granted" | "demand">, nowMs: number): void {
    if (answer.granted > 0) this.end(nowMs);
    else if (answer.demand === "noted") this.begin(nowMs);
  }

  /** A token is free: it asks at once, but not over and over. */
  hurry(): void {
    this.#nextMs = Math.min(this.#nextMs, this.#askedAtMs + leastPauseMs);
  }

  /** It got one, or gave one away: for a while it asks only when it hears that one is free. */
  end(nowMs: number): void {
    this.#left = [];
    this.note(nowMs);
  }
}
