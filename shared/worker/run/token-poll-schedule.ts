import type { AcquireTokensAnswer } from "../../ports/task-store";

/**
 * Pauses before each further request of a worker whose denial was noted: holders release between tasks, so a token idles
 * for at most half of the time it took to come. The store notes at most one worker per second and definition.
 */
const oftenMs = [50, 50, 75, 110, 170, 250, 380, 570, 850];
/** The pause between requests where no denial was noted and no token is known to be free. */
const pauseMs = 500;
/** The least pause: a free token may be taken or reserved by then. */
const leastPauseMs = 50;

/** When a worker that holds tokens asks for more. Monotonic milliseconds. */
export class TokenPollSchedule {
  #left: number[] = [];
  #askedAtMs: number;
  #nextPollMs: number;
  #isDenied = false;

  constructor(nowMs: number) {
    this.#askedAtMs = nowMs;
    this.#nextPollMs = nowMs + pauseMs;
  }

  get nextPollMs(): number {
    return this.#nextPollMs;
  }

  /** The last request was denied, or a token was given away, and none has been known to be free since. */
  get isDenied(): boolean {
    return this.#isDenied;
  }

  /** A request is sent now. */
  notePoll(nowMs: number): void {
    this.#askedAtMs = nowMs;
    this.#nextPollMs = nowMs + (this.#left.shift() ?? pauseMs);
  }

  /** The denial was noted, so a token is on its way: requests come soon. */
  pollOften(nowMs: number): void {
    this.#left = [...oftenMs];
    this.notePoll(nowMs);
  }

  /** Takes the next pause from the answer to a request. */
  noteAnswer(answer: Pick<AcquireTokensAnswer, "granted" | "demand">, nowMs: number): void {
    this.#isDenied = answer.granted === 0;
    if (answer.granted > 0) this.pollSeldom(nowMs);
    else if (answer.demand === "noted") this.pollOften(nowMs);
  }

  /** A token is free: the next request comes at once, but not within the least pause. */
  pollSoon(): void {
    this.#isDenied = false;
    this.#nextPollMs = Math.min(this.#nextPollMs, this.#askedAtMs + leastPauseMs);
  }

  /** A token went to another process. */
  noteReleased(nowMs: number): void {
    this.#isDenied = true;
    this.pollSeldom(nowMs);
  }

  /** Further requests come at the usual pause, or when a token is known to be free. */
  pollSeldom(nowMs: number): void {
    this.#left = [];
    this.notePoll(nowMs);
  }
}
