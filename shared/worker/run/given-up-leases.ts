import type { ExecutionId } from "../../core/ids";
import type { WorkerEnvironment } from "../environment";
import { LoopTimers } from "./loop-timers";

const firstPauseMs = 1_000;
const longestPauseMs = 10_000;

/**
 * Executions whose lease this process has given up, and on whose tokens no body runs any more. A heartbeat that lay in a
 * silent connection may still renew such a lease, and its tokens would idle for as long again: so the database is told of the
 * end as soon as it can be reached.
 */
export class GivenUpLeases {
  readonly #environment: WorkerEnvironment;
  readonly #timers: LoopTimers;
  #isStopped = false;

  constructor(environment: WorkerEnvironment) {
    this.#environment = environment;
    this.#timers = new LoopTimers(environment.timers);
  }

  /** Never throws. It tries for two leases: no renewal lasts longer, unless the database was silent for as long. */
  end(executionId: ExecutionId, leaseMs: number): void {
    const untilMs = this.#environment.clock.monotonicMs() + 2 * leaseMs;
    void this.#try(executionId, { untilMs, pauseMs: firstPauseMs });
  }

  /** Tries no more: what remains comes back by its lease. */
  stop(): void {
    this.#isStopped = true;
    this.#timers.cancelAll();
  }

  async #try(
    executionId: ExecutionId,
    { untilMs, pauseMs }: { untilMs: number; pauseMs: number },
  ): Promise<void> {
    const { store, clock } = this.#environment;
    try {
      await store.finishExecution({ executionId });
    } catch {
      // The loss has been told; the database's own trouble is told by the calls that it denies.
      if (this.#isStopped || clock.monotonicMs() + pauseMs > untilMs) return;
      this.#timers.after(pauseMs, () => {
        void this.#try(executionId, { untilMs, pauseMs: Math.min(pauseMs * 2, longestPauseMs) });
      });
    }
  }
}
