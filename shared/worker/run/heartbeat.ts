import { messageOf } from "../../core/foreign-value";
import type { ExecutionId, TaskId } from "../../core/ids";
import { limits } from "../../core/limits";
import type { RunningCount } from "../../core/running-count";
import type { HeartbeatAnswer } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";
import { instants } from "../environment";
import type { Instants } from "../../core/lease";
import { EarliestTimer } from "./earliest-timer";

/** An execution that wants to live. */
export interface LeaseHolder {
  readonly executionId: ExecutionId;
  /** The lease as last told; 0 before the first answer. */
  readonly leaseMs: number;
  /** The longest time-out of its handlers, ms; null: none. */
  readonly timeoutMs: number | null;
  readonly running: RunningCount;
  /** Milliseconds since something renewed the lease. */
  renewedAgoMs(): number;
  /** Claimed tasks wait for a token: before they start a pause, or a lower limit, is to be known. */
  hasWaiting(): boolean;
  /** Prefetched claims started since the last report; the beat takes them along. */
  takeStarted(): TaskId[];
  /** They didn't arrive: report them again. */
  returnStarted(started: readonly TaskId[]): void;
  /** What the database said, and when the question was sent. */
  onRenewed(answer: HeartbeatAnswer["executions"][number], sentAt: Instants): void;
}

/** An execution with claimed tasks that wait asks so often, unless its own calls do. Their tasks are long, or not known yet: short ones cause calls. */
const waitingBeatMs = 1_000;

/**
 * One timer per process renews all its executions in one call, three times per lease, or by `waitingBeatMs`; an execution
 * whose own calls renewed it lately is left out. A beat that fails is logged and tried again: the trust of core/lease.ts ends in time.
 */
export class Heartbeat {
  readonly #environment: WorkerEnvironment;
  /** And how each is let go by the keeper of leases. */
  readonly #holders = new Map<LeaseHolder, () => void>();
  readonly #timer: EarliestTimer;
  #isRenewing = false;
  #isStopped = false;

  constructor(environment: WorkerEnvironment) {
    this.#environment = environment;
    this.#timer = new EarliestTimer(environment, () => {
      void this.#renew();
      // Also while this beat waits: the next one sees that.
      if (this.#holders.size > 0) this.#schedule();
    });
  }

  /** Starts to renew; the returned function ends it. */
  add(holder: LeaseHolder): () => void {
    if (this.#isStopped) return () => undefined;
    const { executionId, timeoutMs } = holder;
    const leaseMs = holder.leaseMs || 60_000;
    const running = holder.running.cell;
    const release = this.#environment.leaseKeeper?.keep({
      executionId,
      leaseMs,
      timeoutMs,
      running,
    });
    this.#holders.set(holder, release ?? (() => undefined));
    this.#schedule();
    return () => {
      release?.();
      this.#holders.delete(holder);
      if (this.#holders.size === 0) this.#timer.cancel();
    };
  }

  /** Renews nothing any more: the process is about to close its connections. A handler that runs on is told when its lease ends. */
  stop(): void {
    this.#isStopped = true;
    this.#timer.cancel();
    for (const release of this.#holders.values()) release();
    this.#holders.clear();
  }

  /** Never puts off a beat that is to come: executions may begin more often than it beats. */
  #schedule(): void {
    const { clock, telemetry } = this.#environment;
    const shortest = Math.min(
      ...[...this.#holders.keys()].map((holder) => holder.leaseMs || 60_000),
    );
    // A beat serves all executions: it stands in the trace of none.
    telemetry.within(null, () => {
      this.#timer.set(clock.monotonicMs() + Math.min(shortest / 6, waitingBeatMs / 2));
    });
  }

  async #renew(): Promise<void> {
    const due = [...this.#holders.keys()].filter(isDue);
    if (this.#isRenewing) this.#renewBeside(due);
    if (due.length === 0 || this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      for (let from = 0; from < due.length; from += limits.heartbeatExecutionsMax)
        await renewTogether(
          this.#environment,
          due.slice(from, from + limits.heartbeatExecutionsMax),
        );
    } finally {
      this.#isRenewing = false;
    }
  }

  /** The last beat still waits: transactions of handlers may keep all connections for longer than a lease. The keeper has its own. */
  #renewBeside(due: readonly LeaseHolder[]): void {
    const late = due.filter((holder) => holder.renewedAgoMs() >= holder.leaseMs / 2);
    if (late.length > 0)
      this.#environment.leaseKeeper?.renew(late.map(({ executionId }) => executionId));
  }
}

/** Renews these executions in one call. One that fails is logged, and tried again later. Never rejects. */
export async function renewTogether(
  { clock, store, logger }: WorkerEnvironment,
  holders: readonly LeaseHolder[],
): Promise<void> {
  const renewals = holders.map((holder) => ({ holder, started: holder.takeStarted() }));
  const sentAt = instants(clock);
  try {
    const answer = await store.heartbeat({
      executions: renewals.map(({ holder, started }) => ({
        executionId: holder.executionId,
        started,
      })),
    });
    const answers = new Map(answer.executions.map((entry) => [entry.executionId, entry]));
    for (const { holder, started } of renewals) {
      const entry = answers.get(holder.executionId);
      if (entry === undefined || entry.status === "busy") holder.returnStarted(started);
      if (entry !== undefined) holder.onRenewed(entry, sentAt);
    }
  } catch (error) {
    for (const { holder, started } of renewals) holder.returnStarted(started);
    logger.warn("a heartbeat failed; it is tried again while the lease is trusted", {
      error: messageOf(error),
      executions: renewals.length,
    });
  }
}

function isDue(holder: LeaseHolder): boolean {
  const thirdMs = holder.leaseMs / 3;
  const everyMs = holder.hasWaiting() ? Math.min(thirdMs, waitingBeatMs) : thirdMs;
  return holder.renewedAgoMs() >= everyMs;
}
