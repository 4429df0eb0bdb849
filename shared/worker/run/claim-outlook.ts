import type { ClaimFacts, LoopEnd } from "../../core/next-call";
import type { WorkAnswer } from "../../ports/task-store";
import { moreWorkersPauseMs } from "./loop-options";
import type { LoopOptions } from "./loop-options";
import type { AnsweredCall } from "./work-calls";

/** What the answers to claims told about the tasks that wait: whether there are more, and when the next claim makes sense. */
export class ClaimOutlook implements ClaimFacts {
  readonly #options: LoopOptions;
  #hasBacklog = false;
  #hasArrivals = false;
  #idleUntilMs = Number.NEGATIVE_INFINITY;
  #permitAtMs: number | null = null;
  #isRated: boolean;
  #isPaused = false;
  #mayBeResumed = false;
  #emptyReads = 0;
  #workersRequestedAtMs = Number.NEGATIVE_INFINITY;
  /** Tasks may have become ready then. */
  #arrivedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#isRated = options.definition.settings.rate != null;
  }

  get hasBacklog(): boolean {
    return this.#hasBacklog;
  }

  get hasArrivals(): boolean {
    return this.#hasArrivals;
  }

  get idleUntilMs(): number {
    return this.#idleUntilMs;
  }

  /** The instant from which on the rate lets the next task start, as last told; null: it isn't known to hold anything up. */
  get permitAtMs(): number | null {
    return this.#permitAtMs;
  }

  /** The code names a rate, or an answer has told of one that an operator set. */
  get isRated(): boolean {
    return this.#isRated;
  }

  /** Nothing may start, as the last claim or heartbeat told. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  get mayBeResumed(): boolean {
    return this.#mayBeResumed;
  }

  /** What an answer told of a call that was sent then. */
  notePaused(isPaused: boolean, sentAtMs: number): void {
    this.#isPaused = isPaused;
    this.#mayBeResumed = isPaused && this.#arrivedAtMs >= sentAtMs;
  }

  /** Tasks may have become ready: the next claim makes sense now, unless the rate holds it up. */
  noteArrival(): void {
    const nowMs = this.#options.environment.clock.monotonicMs();
    this.#arrivedAtMs = nowMs;
    this.#emptyReads = 0;
    this.#mayBeResumed = this.#isPaused;
    this.#hasArrivals = this.#options.standby?.growsOnArrival === true;
    if (this.#permitAtMs === null || this.#permitAtMs <= nowMs)
      this.#idleUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** No further token can be had: processes that hold the others take what has arrived. */
  noteDenied(): void {
    this.#hasArrivals = false;
  }

  /**
   * Notes the answer to a claim. Returns `idle` after so many empty answers in a row: the execution is to end, should nothing be
   * at work.
   */
  note(answer: WorkAnswer, call: AnsweredCall): Extract<LoopEnd, "idle"> | null {
    const nowMs = this.#options.environment.clock.monotonicMs();
    if (this.#arrivedAtMs < call.sentAt.monotonicMs) this.#hasArrivals = false;
    this.#permitAtMs = answer.retryInMs === null ? null : nowMs + answer.retryInMs;
    if (this.#permitAtMs !== null) {
      this.#isRated = true;
      // The next claim makes no sense before.
      this.#idleUntilMs = this.#permitAtMs;
    }
    this.notePaused(answer.status === "paused", call.sentAt.monotonicMs);
    this.#hasBacklog = answer.claimed.length === call.claim;
    if (this.#hasBacklog) this.#requestMoreWorkers(nowMs);
    if (answer.claimed.length > 0) this.#emptyReads = 0;
    else if (answer.retryInMs === null) return this.#noteEmpty(answer, call, nowMs);
    return null;
  }

  #noteEmpty(answer: WorkAnswer, call: AnsweredCall, nowMs: number): "idle" | null {
    if (answer.status === "paused") return null;
    const { standby, idlePauseMs, idleReads } = this.#options;
    // The call had been sent before: its answer may not know of them.
    if (this.#arrivedAtMs >= call.sentAt.monotonicMs) {
      this.#idleUntilMs = nowMs;
      return null;
    }
    // A handler that ran when the call was sent, or a wave that is being opened here, may have brought tasks since.
    const maySucceed = call.wasBusy || this.#options.pump.isOpening;
    this.#emptyReads = maySucceed ? 0 : this.#emptyReads + 1;
    const pauseMs =
      standby === undefined
        ? this.#emptyReads > idleReads
          ? null
          : idlePauseMs
        : standby.pauseMs(this.#emptyReads);
    this.#idleUntilMs = nowMs + (pauseMs ?? idlePauseMs);
    return pauseMs === null ? "idle" : null;
  }

  #requestMoreWorkers(nowMs: number): void {
    if (nowMs - this.#workersRequestedAtMs < moreWorkersPauseMs) return;
    this.#workersRequestedAtMs = nowMs;
    this.#options.wakeMore();
  }
}
