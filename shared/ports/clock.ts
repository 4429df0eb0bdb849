/**
 * Time as code may see it. What decides is the database's clock; a worker's own only makes it stop sooner (P9).
 */
export interface Clock {
  /** Milliseconds since 1970 by the wall clock: may jump. For people, and to notice that a machine was suspended. */
  nowMs(): number;
  /** Milliseconds that only grow, from an arbitrary start: for durations, leases and deadlines. */
  monotonicMs(): number;
}
