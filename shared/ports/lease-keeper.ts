import type { ExecutionId } from "../core/ids";
import type { Instants } from "../core/lease";

/** An execution whose lease is to be renewed while the event loop is blocked. */
export interface KeptExecution {
  readonly executionId: ExecutionId;
  readonly leaseMs: number;
  /** The longest time-out of its kinds, ms; null: one of them has none. */
  readonly timeoutMs: number | null;
  /** Its first entry: how many handlers run under it just now; shared memory. */
  readonly running: Int32Array;
}

/** Renews leases from beside the event loop: a handler that computes for long blocks the timers of its whole process. */
export interface LeaseKeeper {
  /** From now on; the returned function ends it. */
  keep(execution: KeptExecution): () => void;
  /** Renews them soon: the event loop's own call waits, such as for a connection that handlers' transactions keep. */
  renew(executionIds: readonly ExecutionId[]): void;
  /** The last renewal that the event loop didn't make itself, by this thread's clocks; null: none. Never waits. */
  renewalOf(
    executionId: ExecutionId,
  ): { readonly sentAt: Instants; readonly leaseMs: number } | null;
}
