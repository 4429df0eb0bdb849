import type { Timers } from "../../ports/timers";

/** Turns of one execution's loop that are planned: at most one of each sort at a time. */
export class LoopTurns {
  readonly #timers: Timers;
  #isCallPlanned = false;
  #isTurnPlanned = false;
  #isSending = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** No handler starts while a full call leaves the process. */
  get isSending(): boolean {
    return this.#isSending;
  }

  /** A call in the next turn of the event loop: tasks that end in this one ride along. */
  planCall(call: () => void): void {
    if (this.#isCallPlanned) return;
    this.#isCallPlanned = true;
    this.#timers.soon(() => {
      this.#isCallPlanned = false;
      call();
    });
  }

  /** One turn for all tasks that end together, as those do that don't wait. */
  planTurn(turn: () => void): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    queueMicrotask(() => {
      this.#isTurnPlanned = false;
      turn();
    });
  }

  /** No handler starts until the event loop has turned: handlers that never wait would keep the call from leaving the process. */
  afterSending(turn: () => void): void {
    this.#isSending = true;
    this.#timers.soon(() => {
      this.#isSending = false;
      turn();
    });
  }
}
