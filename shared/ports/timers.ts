/** Waiting as a parameter: production uses Node's timers, simulations a virtual clock. */
export interface Timers {
  /** Calls back once after `ms`; the returned function takes it back. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back after the events that wait already: lets finished work gather. */
  soon(callback: () => void): void;
}
