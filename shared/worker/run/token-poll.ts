import { messageOf } from "../../core/foreign-value";
import { limits } from "../../core/limits";
import type { WorkerEnvironment } from "../environment";
import { instants } from "../environment";
import type { TokenLease } from "./token-lease";

/** A process that holds tokens asks so often what others want. */
export const pollMs = 250;
/** Executions in one call; more of them take turns. */
const executionsMax = limits.heartbeatExecutionsMax;

/**
 * One call per 250 ms for all limits of a process together, while it holds tokens: it renews the leases, and its answer tells
 * of a lowered limit, a pause, and the demand of other processes.
 */
export class TokenPoll {
  readonly #environment: WorkerEnvironment;
  readonly #leases = new Set<TokenLease>();
  #cancel: (() => void) | null = null;
  #isAsking = false;
  #hasFailed = false;

  constructor(environment: WorkerEnvironment) {
    this.#environment = environment;
  }

  /** From now on; the returned function ends it. */
  add(lease: TokenLease): () => void {
    this.#leases.add(lease);
    this.#plan(pollMs);
    return () => {
      this.#leases.delete(lease);
      if (this.#leases.size > 0) return;
      this.#cancel?.();
      this.#cancel = null;
    };
  }

  #plan(inMs: number): void {
    if (this.#cancel !== null || this.#isAsking || this.#leases.size === 0) return;
    const { telemetry, timers } = this.#environment;
    // One call serves all limits: it stands in the trace of none.
    this.#cancel = telemetry.within(null, () =>
      timers.after(inMs, () => {
        this.#cancel = null;
        void this.#ask();
      }),
    );
  }

  async #ask(): Promise<void> {
    const { clock, logger, store } = this.#environment;
    const leases = [...this.#leases].slice(0, executionsMax);
    const sentAt = instants(clock);
    this.#isAsking = true;
    try {
      const answer = await store.heartbeat({
        executions: leases.map(({ executionId }) => ({ executionId, started: [] })),
      });
      const told = new Map(answer.executions.map((entry) => [entry.executionId, entry]));
      for (const lease of leases) {
        const entry = told.get(lease.executionId);
        if (entry !== undefined) lease.onRenewed(entry, sentAt);
        // To the end: the next call begins with the others.
        if (this.#leases.size > executionsMax && this.#leases.delete(lease))
          this.#leases.add(lease);
      }
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed)
        logger.warn("tokens could not be renewed; it is tried again while the lease is trusted", {
          error: messageOf(error),
          executions: leases.length,
        });
      this.#hasFailed = true;
    } finally {
      this.#isAsking = false;
    }
    this.#plan(Math.max(pollMs - (clock.monotonicMs() - sentAt.monotonicMs), 0));
  }
}
