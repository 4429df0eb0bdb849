import type { ExecutionId } from "../../core/ids";
import { LeaseTrust } from "../../core/lease";
import type { Instants } from "../../core/lease";
import { instants } from "../environment";
import type { WorkerEnvironment } from "../environment";
import type { LoopTimers } from "./loop-timers";

/** A lease as it was granted. */
export interface LeaseGrant {
  readonly executionId: ExecutionId;
  readonly leaseMs: number;
  /** When the call was sent that granted it. */
  readonly sentAt: Instants;
}

/** The lease of an execution, trusted until shortly before its end: answers renew it, and the keeper beside the event loop. */
export abstract class KeptLease {
  readonly executionId: ExecutionId;
  protected readonly environment: WorkerEnvironment;
  readonly #trust = new LeaseTrust();
  #renewedAtMs: number;

  constructor(environment: WorkerEnvironment, granted: LeaseGrant) {
    this.environment = environment;
    this.executionId = granted.executionId;
    this.#renewedAtMs = granted.sentAt.monotonicMs;
    this.#trust.renew(granted.sentAt, granted.leaseMs);
  }

  get leaseMs(): number {
    return this.#trust.leaseMs;
  }

  get isLost(): boolean {
    return this.#trust.isLost;
  }

  /** Milliseconds for which the lease is trusted; 0: it isn't. */
  get trustLeftMs(): number {
    return Math.max(this.#trust.leftMs(instants(this.environment.clock)), 0);
  }

  /** May a handler or a body start at this instant? */
  holdsAt(now: Instants): boolean {
    if (this.#trust.holdsAt(now)) return true;
    this.#renewByKeeper();
    return this.#trust.holdsAt(now);
  }

  renewedAgoMs(): number {
    return this.environment.clock.monotonicMs() - this.#renewedAtMs;
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

  /** Says `onOver` as soon as the lease can't be trusted any more; looks at least once a second, as the wall clock may jump. Ends with `timers`. */
  watch(timers: LoopTimers): void {
    this.#renewByKeeper();
    if (this.isLost) return;
    const leftMs = this.trustLeftMs;
    if (leftMs <= 0) {
      this.onOver();
      return;
    }
    timers.after(Math.min(leftMs + 1, 1_000), () => {
      this.watch(timers);
    });
  }

  /** It was not renewed in time. */
  protected abstract onOver(): void;

  /**
   * Notes renewals from beside the event loop, before the trust is asked for: after a block the timer that looks at the
   * trust is first in line, before any heartbeat.
   */
  #renewByKeeper(): void {
    const renewal = this.environment.leaseKeeper?.renewalOf(this.executionId);
    if (renewal != null) this.#trust.renew(renewal.sentAt, renewal.leaseMs);
  }
}
