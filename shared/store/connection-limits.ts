/** How much of a database a process uses, and how long it waits. */
export interface ConnectionLimits {
  /** Most connections of this process. */
  readonly connectionsMax: number;
  /** A call that has no answer after this long is given up; its outcome is unknown. */
  readonly callTimeoutMs: number;
  /** Longest wait for a connection. */
  readonly connectTimeoutMs: number;
  /** Told about connections that break while idle; default: no listener. */
  readonly onIdleError?: (error: Error) => void;
}
