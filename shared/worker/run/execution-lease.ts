import { executionNumber } from "../../core/ids";
import type { ExecutionId, TaskId } from "../../core/ids";
import type { Instants } from "../../core/lease";
import { LeaseTrust } from "../../core/lease";
import { RunningCount } from "../../core/running-count";
import type { HeartbeatAnswer } from "../../ports/task-store";
import { instants } from "../environment";
import type { WorkerEnvironment } from "../environment";
import { renewTogether } from "./heartbeat";
import type { LeaseHolder } from "./heartbeat";
import { renewByKeeper } from "./kept-lease";
import type { LoopTimers } from "./loop-timers";

/** The lease as it was granted. */
export interface GrantedLease {
  readonly executionId: ExecutionId;
  readonly leaseMs: number;
  /** When the call was sent that granted it. */
  readonly sentAt: Instants;
  /** The longest time-out of the kinds that run under it, ms; null: one of them has none. */
  readonly timeoutMs: number | null;
}

/** What the lease tells its execution, and asks of it. */
export interface LeaseEvents {
  /** The lease can't be trusted any more, or another execution has what it was for. */
  readonly onLost: () => void;
  /** `isBetween`: asked by the execution itself, whose other calls tell of tokens that are wanted back. */
  readonly onRenewed: (
    answer: HeartbeatAnswer["executions"][number],
    call: { readonly sentAt: Instants; readonly isBetween: boolean },
  ) => void;
  /** Prefetched tasks that were started since the last report; the heartbeat reports them. */
  readonly takeStarted: () => TaskId[];
  readonly returnStarted: (started: readonly TaskId[]) => void;
  readonly hasWaiting: () => boolean;
}

/** The lease of one execution: renewed by the heartbeat and by the answers to its calls, trusted until shortly before its end. */
export class ExecutionLease implements LeaseHolder {
  readonly executionId: ExecutionId;
  readonly timeoutMs: number | null;
  readonly running = new RunningCount();
  readonly takeStarted: LeaseEvents["takeStarted"];
  readonly returnStarted: LeaseEvents["returnStarted"];
  readonly hasWaiting: LeaseEvents["hasWaiting"];
  readonly #environment: WorkerEnvironment;
  readonly #events: LeaseEvents;
  /** Of the worker's span, in which the lease was made. */
  readonly #traceParent: string | null;
  readonly #trust = new LeaseTrust();
  #renewedAtMs: number;
  #heardAtMs: number;
  #isBetween = false;

  constructor(environment: WorkerEnvironment, granted: GrantedLease, events: LeaseEvents) {
    this.#environment = environment;
    this.#events = events;
    this.#traceParent = environment.telemetry.currentTraceParent();
    this.executionId = granted.executionId;
    this.timeoutMs = granted.timeoutMs;
    this.takeStarted = events.takeStarted;
    this.returnStarted = events.returnStarted;
    this.hasWaiting = events.hasWaiting;
    this.#renewedAtMs = granted.sentAt.monotonicMs;
    this.#heardAtMs = granted.sentAt.monotonicMs;
    this.#trust.renew(granted.sentAt, granted.leaseMs);
  }

  get leaseMs(): number {
    return this.#trust.leaseMs;
  }

  /** Milliseconds for which the lease is trusted; 0: it isn't. */
  get trustLeftMs(): number {
    return Math.max(this.#trust.leftMs(instants(this.#environment.clock)), 0);
  }

  /** May a handler start at this instant? */
  holdsAt(now: Instants): boolean {
    if (this.#trust.holdsAt(now)) return true;
    renewByKeeper(this.#environment, this.executionId, this.#trust);
    return this.#trust.holdsAt(now);
  }

  renewedAgoMs(): number {
    return this.#environment.clock.monotonicMs() - this.#renewedAtMs;
  }

  /** No heartbeat has been answered for a third of the lease: that of the process leaves out an execution that its calls renew. */
  get isUnheard(): boolean {
    return this.#environment.clock.monotonicMs() - this.#heardAtMs >= this.leaseMs / 3;
  }

  /**
   * A heartbeat between two calls of the execution. No other answer tells what a database has forgotten that lost its last commits, and
   * beside a call it couldn't be compared. Never rejects.
   */
  async hear(): Promise<void> {
    // Tried so often, whether it is answered or not.
    this.#heardAtMs = this.#environment.clock.monotonicMs();
    this.#isBetween = true;
    await renewTogether(this.#environment, [this]);
    this.#isBetween = false;
  }

  /** A call sent at `sentAt` renewed the lease for `leaseMs`. */
  renew(sentAt: Instants, leaseMs: number): void {
    this.#trust.renew(sentAt, leaseMs);
    this.#renewedAtMs = Math.max(this.#renewedAtMs, sentAt.monotonicMs);
  }

  /** Final: nothing renews it any more. */
  lose(): void {
    this.#trust.lose();
  }

  onRenewed(answer: HeartbeatAnswer["executions"][number], sentAt: Instants): void {
    // What follows from a renewal, such as calls to the store, belongs to this execution's trace again.
    this.#environment.telemetry.within(this.#traceParent, () => {
      if (answer.status === "fenced" || answer.status === "ended") {
        this.#events.onLost();
        return;
      }
      if (answer.status === "busy" || answer.leaseMs === null) return;
      this.renew(sentAt, answer.leaseMs);
      this.#heardAtMs = sentAt.monotonicMs;
      this.#events.onRenewed(answer, { sentAt, isBetween: this.#isBetween });
    });
  }

  /** Reports the loss as soon as the lease can't be trusted any more. Ends with `timers`. */
  watch(timers: LoopTimers): void {
    renewByKeeper(this.#environment, this.executionId, this.#trust);
    const leftMs = this.#trust.leftMs(instants(this.#environment.clock));
    if (this.#trust.isLost) return;
    if (leftMs <= 0) {
      this.#environment.logger.warn("the lease could not be renewed in time", {
        execution: executionNumber(this.executionId),
      });
      this.#events.onLost();
      return;
    }
    timers.after(Math.min(leftMs + 1, 1_000), () => {
      this.watch(timers);
    });
  }
}
