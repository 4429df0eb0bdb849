/**
 * Time as code may see it. The database's clock decides; a worker's own only makes it stop sooner.
 */
export interface Clock {
  /** Milliseconds since 1970 by the wall clock: may jump. For people, and to notice that a machine was suspended. */
  nowMs(): number;
  /** Milliseconds that only grow, from an arbitrary start: for durations, leases and deadlines. */
  monotonicMs(): number;
}
