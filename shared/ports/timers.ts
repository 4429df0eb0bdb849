/** Waiting as a parameter: production uses Node's timers, simulations a virtual clock. */
export interface Timers {
  /** Calls back once after `ms`; the returned function takes it back. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back after the events that wait already: lets finished work gather. */
  soon(callback: () => void): void;
}

/** Resolves after `ms`, or at once when `signal` is or gets aborted; never rejects. */
export function sleep(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const finish = (): void => {
      cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = timers.after(ms, finish);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
