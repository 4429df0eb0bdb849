import { executionNumber } from "../../core/ids";
import type { TaskId } from "../../core/ids";
import type { Instants } from "../../core/lease";
import { RunningCount } from "../../core/running-count";
import type { HeartbeatAnswer } from "../../ports/task-store";
import type { WorkerEnvironment } from "../environment";
import { renewTogether } from "./heartbeat";
import type { LeaseHolder } from "./heartbeat";
import { KeptLease } from "./kept-lease";
import type { LeaseGrant } from "./kept-lease";

/** The lease as it was granted. */
export interface GrantedLease extends LeaseGrant {
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
export class ExecutionLease extends KeptLease implements LeaseHolder {
  readonly timeoutMs: number | null;
  readonly running = new RunningCount();
  readonly takeStarted: LeaseEvents["takeStarted"];
  readonly returnStarted: LeaseEvents["returnStarted"];
  readonly hasWaiting: LeaseEvents["hasWaiting"];
  readonly #events: LeaseEvents;
  /** Of the worker's span, in which the lease was made. */
  readonly #traceParent: string | null;
  #heardAtMs: number;
  #isBetween = false;

  constructor(environment: WorkerEnvironment, granted: GrantedLease, events: LeaseEvents) {
    super(environment, granted);
    this.#events = events;
    this.#traceParent = environment.telemetry.currentTraceParent();
    this.timeoutMs = granted.timeoutMs;
    this.takeStarted = events.takeStarted;
    this.returnStarted = events.returnStarted;
    this.hasWaiting = events.hasWaiting;
    this.#heardAtMs = granted.sentAt.monotonicMs;
  }

  /** No heartbeat has been answered for a third of the lease: that of the process leaves out an execution that its calls renew. */
  get isUnheard(): boolean {
    return this.environment.clock.monotonicMs() - this.#heardAtMs >= this.leaseMs / 3;
  }

  /**
   * A heartbeat between two calls of the execution. No other answer tells what a database has forgotten that lost its last commits, and
   * beside a call it couldn't be compared. Never rejects.
   */
  async hear(): Promise<void> {
    // Tried so often, whether it is answered or not.
    this.#heardAtMs = this.environment.clock.monotonicMs();
    this.#isBetween = true;
    await renewTogether(this.environment, [this]);
    this.#isBetween = false;
  }

  onRenewed(answer: HeartbeatAnswer["executions"][number], sentAt: Instants): void {
    // What follows from a renewal, such as calls to the store, belongs to this execution's trace again.
    this.environment.telemetry.within(this.#traceParent, () => {
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

  protected onOver(): void {
    this.environment.logger.warn("the lease could not be renewed in time", {
      execution: executionNumber(this.executionId),
    });
    this.#events.onLost();
  }
}
