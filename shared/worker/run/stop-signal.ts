/** Tells one handler to stop. The signal is made at its first use: most handlers never use it, and making it costs more than the rest of a start. */
export class StopSignal {
  #controller: AbortController | null = null;
  #reason: Error | null = null;

  /** Aborted with the first reason that was given, be it before this was asked for. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason; null: the handler wasn't told to stop. */
  get reason(): Error | null {
    return this.#reason;
  }

  /** Once; further reasons change nothing. */
  abort(reason: Error): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }
}
