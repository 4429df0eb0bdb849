import { isForLater, TaskgateError } from "../core/errors";
import type { InvalidArgumentError } from "../core/errors";
import type { ExecutionId, TaskId } from "../core/ids";
import type { Instants } from "../core/lease";
import { LeaseTrust } from "../core/lease";
import { limits } from "../core/limits";
import { Pace } from "../core/pace";
import type {
  ClaimedTask,
  DoneTask,
  Failure,
  HeartbeatAnswer,
  WorkAnswer,
  WorkInput,
} from "../ports/task-store";
import type { WorkerEnvironment } from "./environment";
import { instants } from "./environment";
import { AloneTurn } from "./alone-turn";
import type { Beating } from "./heartbeat";
import { HeldTokens } from "./held-tokens";
import type { TokensAnswer } from "./held-tokens";
import type { GateMember } from "./process-gate";
import { LoopTimers } from "./loop-timers";
import { RunningTasks } from "./running-tasks";
import type { AbortReason, EndedTask } from "./running-tasks";
import { renewByKeeper } from "./kept-lease";
import { RatePermits } from "./rate-permits";
import { refusedEnd } from "./refused-end";
import { ScanPlace } from "./scan-place";
import { isRefusedValue, sendEach } from "./send-each";
import { UntoldFailures } from "./untold-failures";
import { helpPauseMs, idleLookMs, permitWaitMostMs } from "./loop-options";
import type { LoopEnd, LoopOptions } from "./loop-options";

/*
 * The loop of one execution: one call to the database in flight, at most as many handlers as tokens.
 * While a call is in flight finished tasks gather; the next one carries them all and asks for as many new ones
 * ("riding calls": 12,400 tasks/s with 8 in flight on one connection, where 8 connections gave 4,100).
 * Invariants: a handler starts only on a token, before the trust in the lease ends and while the deadline leaves time;
 * a token is given back only when no handler runs on it; nothing is written after the lease was lost.
 */

/** One execution at work. `run` resolves when no handler of it runs any more, or when those that do ignore their signal. */
export class ExecutionLoop implements Beating, GateMember {
  readonly #options: LoopOptions;
  readonly #environment: WorkerEnvironment;
  /** Of the worker's span, in which the loop was made. */
  readonly #traceParent: string | null;
  readonly #trust = new LeaseTrust();
  readonly #pace = new Pace();
  readonly #running: RunningTasks;
  readonly #ring: ClaimedTask[] = [];
  #done: DoneTask[] = [];
  readonly #failures: UntoldFailures;
  #started: TaskId[] = [];
  readonly #tokens: HeldTokens;
  #callNumber = 0;
  #isCalling = false;
  #isPumpPlanned = false;
  #end: LoopEnd | null = null;
  #emptyReads = 0;
  /** Whether a handler ran when the last call was sent. */
  #hasRun = false;
  #idleUntilMs = Number.NEGATIVE_INFINITY;
  readonly #place = new ScanPlace();
  #hasBacklog = false;
  #calledHelpAtMs = Number.NEGATIVE_INFINITY;
  #renewedAtMs: number;
  #nextDueMs: number | null = null;
  readonly #permits: RatePermits;
  /** Why the execution ended as `failed`, where that was no outage. */
  #fault: string | null = null;
  #finish: (() => void) | null = null;
  #abortedAtMs: number | null = null;
  #cancelIdleLook: (() => void) | null = null;
  readonly #alone: AloneTurn;
  readonly #timers: LoopTimers;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#environment = options.environment;
    this.#timers = new LoopTimers(options.environment.timers);
    this.#traceParent = options.environment.telemetry.currentTraceParent();
    this.#permits = new RatePermits(options.definition.settings.rate != null);
    this.#tokens = new HeldTokens(options.environment, {
      executionId: options.started.executionId,
      count: options.started.tokens,
      nowMs: options.sentAt.monotonicMs,
    });
    this.timeoutMs = options.registry.longestTimeoutMs(options.definition.name);
    this.#alone = new AloneTurn(this, options.gate);
    this.#renewedAtMs = options.sentAt.monotonicMs;
    this.#trust.renew(
      options.sentAt,
      options.started.leaseMs ?? options.definition.settings.leaseMs,
    );
    this.#failures = new UntoldFailures(
      options.environment,
      { executionId: options.started.executionId, definition: options.definition.name },
      {
        onFenced: () => {
          this.#lose();
        },
        onNextDue: (ms) => {
          this.#nextDueMs = Math.min(this.#nextDueMs ?? ms, ms);
        },
        wake: options.wake,
        pump: options.pump,
      },
    );
    this.#running = new RunningTasks({
      environment: options.environment,
      executionId: options.started.executionId,
      registry: options.registry,
      definition: options.definition.name,
      timeLeftMs: () => options.abortAtMs - options.environment.clock.monotonicMs(),
      onStuck: () => {
        this.#stop("stuck");
      },
      leaseMs: this.#trust.leaseMs,
    });
  }

  /** Works until there is nothing to do, the time is up, or the lease is lost. Never throws. */
  async run(): Promise<LoopEnd> {
    const { signal, draining, abortAtMs, stopAtMs } = this.#options;
    const now = this.#environment.clock.monotonicMs();
    const onDrain = (): void => {
      this.#stop("stopped");
    };
    const onStop = (): void => {
      onDrain();
      this.#abort("stopped");
    };
    signal.addEventListener("abort", onStop, { once: true });
    draining?.addEventListener("abort", onDrain, { once: true });
    this.#timers.after(stopAtMs - now, () => {
      this.#stop("deadline");
    });
    this.#timers.after(abortAtMs - now, () => {
      this.#abort("deadline");
    });
    this.#watchTrust();
    await new Promise<void>((resolve) => {
      this.#finish = resolve;
      if (signal.aborted || draining?.aborted === true) this.#stop("stopped");
      this.#pump();
    });
    signal.removeEventListener("abort", onStop);
    draining?.removeEventListener("abort", onDrain);
    this.#running.close();
    this.#alone.leave();
    this.#timers.cancelAll();
    return this.#end ?? "idle";
  }

  /** Handlers that ignored their signal: their tokens are not given back, the lease ends by itself. */
  get stragglers(): number {
    return this.#running.size;
  }

  /** Of them, what ran on after its time-out, as the database is to be told. */
  stuckFailures(): Failure[] {
    return this.#running.stuckFailures();
  }

  /** Milliseconds for which the lease is trusted. */
  get trustLeftMs(): number {
    return Math.max(this.#trust.leftMs(instants(this.#environment.clock)), 0);
  }

  /** Milliseconds until the next scheduled task, as last told. */
  get nextDueMs(): number | null {
    return this.#nextDueMs;
  }

  /** Milliseconds until the rate lets the next task start, as last told; null: it isn't known to hold anything up. */
  get permitInMs(): number | null {
    return this.#permits.leftMs(this.#environment.clock);
  }

  get isQuiet(): boolean {
    // What ended well but isn't told yet would count as lost, too.
    return !this.#isCalling && this.#running.size === 0 && this.#hasNothingLeft();
  }

  /** In a turn of its own: the gate may be in the middle of what another execution asked. */
  look(): void {
    this.#environment.timers.soon(() => {
      this.#pump();
    });
  }

  get executionId(): ExecutionId {
    return this.#options.started.executionId;
  }
  get leaseMs(): number {
    return this.#trust.leaseMs;
  }
  readonly timeoutMs: number | null;
  renewedAgoMs(): number {
    return this.#environment.clock.monotonicMs() - this.#renewedAtMs;
  }
  takeStarted(): TaskId[] {
    return this.#started.splice(0);
  }
  returnStarted(started: readonly TaskId[]): void {
    this.#started.unshift(...started);
  }

  onBeat(answer: HeartbeatAnswer["executions"][number], sentAt: Instants): void {
    // What follows from a beat, such as calls to the store, belongs to this execution's trace again.
    this.#environment.telemetry.within(this.#traceParent, () => {
      this.#onBeat(answer, sentAt);
    });
  }

  #onBeat(answer: HeartbeatAnswer["executions"][number], sentAt: Instants): void {
    if (answer.status === "fenced" || answer.status === "ended") {
      this.#lose();
      return;
    }
    if (answer.status === "busy" || answer.leaseMs === null) return;
    this.#renew(sentAt, answer.leaseMs);
    this.#tokens.surplus = answer.surplus;
    for (const taskId of answer.cancel) this.#running.cancel(taskId);
    if (answer.isPaused) this.#stop("paused");
    else if (answer.surplus > 0) this.#pump();
  }

  /** One turn: start what may start, then decide whether a call is due. */
  #pump(): void {
    this.#startReady();
    this.#alone.note();
    if (this.#isCalling) return;
    if (this.#end === null && this.#waitsForRate()) this.#end = "rate";
    if (this.#isOver()) {
      this.#finish?.();
      return;
    }
    if (this.#nextCall() === null) {
      this.#planIdleLook();
      return;
    }
    if (this.#isPumpPlanned) return;
    // Tasks that end in this turn of the event loop ride along.
    this.#isPumpPlanned = true;
    this.#environment.timers.soon(() => {
      this.#isPumpPlanned = false;
      if (!this.#isCalling) void this.#call();
    });
  }

  #startReady(): void {
    while (this.#mayStart()) {
      const [task] = this.#ring;
      if (task === undefined) return;
      const turn = this.#alone.turnOf(task);
      if (turn.kind === "wait") return;
      this.#ring.shift();
      if (turn.kind === "later") {
        this.#failures.add(turn.failure);
        continue;
      }
      if (task.isSpare) this.#started.push(task.taskId);
      void this.#running.start(task).then(this.#onEnded);
    }
  }

  /** One for all tasks. */
  readonly #onEnded = (ended: EndedTask): void => {
    this.#pace.noteTask(ended.durationMs);
    if (ended.done !== null) this.#done.push(ended.done);
    if (ended.failure !== null) this.#failures.add(ended.failure);
    if (ended.isLost) this.#lose();
    this.#alone.noteEnd();
    this.#options.wake(ended.woken);
    this.#options.pump.open(ended.opening);
    this.#pump();
  };

  #mayStart(): boolean {
    if (this.#ring.length === 0 || this.#end !== null || this.#tokens.isReleasing) return false;
    if (this.#running.size >= this.#tokens.count - (this.#tokens.surplus > 0 ? 1 : 0)) return false;
    const now = instants(this.#environment.clock);
    if (!this.#trust.holdsAt(now)) {
      renewByKeeper(this.#environment, this.executionId, this.#trust);
      if (!this.#trust.holdsAt(now)) return false;
    }
    return now.monotonicMs + (this.#pace.taskMs ?? 0) < this.#options.stopAtMs;
  }

  /** Over when it is to end, nothing runs (or is past being waited for) and nothing is left to tell. */
  #isOver(): boolean {
    if (this.#end === null) return false;
    if (this.#end === "lost" || this.#end === "failed") return this.#isNobodyWaitedFor();
    return this.#done.length === 0 && this.#failures.size === 0 && this.#isNobodyWaitedFor();
  }

  /** Nothing runs but what is stuck, or it is past being waited for. */
  #isNobodyWaitedFor(): boolean {
    return this.#running.size === this.#running.stuckSize || this.#isPastWaiting();
  }

  /** Nothing runs, nothing is left to tell, and the rate lets nothing start for so long that it isn't waited for here. */
  #waitsForRate(): boolean {
    if ((this.permitInMs ?? 0) <= permitWaitMostMs || this.#running.size > 0) return false;
    return this.#hasNothingLeft();
  }
  #hasNothingLeft(): boolean {
    return this.#ring.length + this.#done.length + this.#failures.size === 0;
  }

  /** Handlers that ignore their signal are waited for so long and no longer. */
  #isPastWaiting(): boolean {
    return (
      this.#abortedAtMs !== null &&
      this.#environment.clock.monotonicMs() >= this.#abortedAtMs + this.#options.abortGraceMs
    );
  }

  #abort(reason: AbortReason): void {
    this.#abortedAtMs ??= this.#environment.clock.monotonicMs();
    this.#running.abortAll(reason);
  }

  #nextCall(): "fail" | "surplus" | "acquire" | "work" | null {
    if (this.#end === "lost" || this.#end === "failed") return null;
    if (this.#failures.size > 0) return "fail";
    // What is done is told first: then no claim is left on a token that goes back.
    const isTokenIdle = this.#tokens.surplus > 0 && this.#tokens.count > this.#running.size;
    if (isTokenIdle) return this.#done.length > 0 ? "work" : "surplus";
    if (this.#end !== null) return this.#done.length > 0 ? "work" : null;
    const nowMs = this.#environment.clock.monotonicMs();
    const mayAcquire = this.#wantsTokens() && nowMs >= this.#tokens.looks.nextMs;
    // A free one first: where tasks block this process, some are always done by now.
    if (mayAcquire && this.#tokens.surplus < 0) return "acquire";
    if (this.#done.length > 0) return "work";
    if (mayAcquire) return "acquire";
    const isIdle = nowMs < this.#idleUntilMs;
    return !isIdle &&
      this.#want() > 0 &&
      this.#ring.length === 0 &&
      this.#running.size < this.#tokens.count
      ? "work"
      : null;
  }

  #wantsTokens(): boolean {
    const hasRoom = this.#tokens.count < this.#options.tokensWanted;
    return hasRoom && this.#end === null && this.#hasBacklog && this.#tokens.surplus <= 0;
  }

  /** How many more claims make sense now. */
  #want(): number {
    if (this.#end !== null || this.#tokens.surplus > 0 || this.permitInMs !== null) return 0;
    if (!this.#alone.mayClaim) return 0;
    // A spare claim that is given back has used up a start all the same.
    const tokens = this.#tokens.count;
    const spareMax = tokens * this.#options.definition.settings.spareMax;
    const spare = this.#permits.isRated ? 0 : this.#pace.spare(tokens, spareMax);
    const want = tokens + spare - this.#running.size - this.#ring.length;
    return Math.max(0, Math.min(want, this.#fitting(), limits.claimMax));
  }

  /** Claims no more than can be expected to start before the time is up (P12). */
  #fitting(): number {
    const leftMs = this.#options.stopAtMs - this.#environment.clock.monotonicMs();
    return this.#pace.fitting(this.#tokens.count, leftMs) - this.#ring.length;
  }

  async #call(): Promise<void> {
    const next = this.#nextCall();
    if (next === null || this.#isCalling) {
      this.#pump();
      return;
    }
    this.#isCalling = true;
    const sentAt = instants(this.#environment.clock);
    this.#hasRun = this.#running.size > 0;
    try {
      if (next === "work") await this.#work(sentAt);
      else if (next === "fail") await this.#failures.tell();
      else if (next === "surplus")
        this.#onTokens(await this.#tokens.releaseSurplus(this.#running.size));
      else this.#onTokens(await this.#tokens.acquire(this.#options.tokensWanted));
      this.#environment.telemetry.record(
        "taskgate.store.call",
        this.#environment.clock.monotonicMs() - sentAt.monotonicMs,
        { operation: next },
      );
    } catch (error) {
      this.#onCallError(error);
    } finally {
      this.#isCalling = false;
    }
    this.#pump();
  }

  async #work(sentAt: Instants): Promise<void> {
    const done = this.#done;
    const started = this.#started;
    this.#done = [];
    this.#started = [];
    const want = this.#want();
    const after = this.#place.hintAt(sentAt.monotonicMs);
    const input = {
      executionId: this.executionId,
      callNumber: (this.#callNumber += 1),
      done,
      started,
      want,
      ...(after === null ? {} : { after }),
    };
    let answer: WorkAnswer;
    try {
      answer = await this.#askWork(input);
    } catch (error) {
      // Nothing of the call happened: the starts travel with the next one.
      this.#started.unshift(...started);
      if (isRefusedValue(error) && done.length > 0) {
        await this.#completeEach(done, error);
        return;
      }
      this.#done.unshift(...done);
      throw error;
    }
    this.#pace.noteCall(this.#environment.clock.monotonicMs() - sentAt.monotonicMs);
    this.#onWork(answer, { sentAt, want, doneCount: done.length });
  }

  async #askWork(input: WorkInput): Promise<WorkAnswer> {
    const { store } = this.#environment;
    let answer = await store.work(input);
    for (let attempt = 0; answer.status === "busy" && attempt < 5; attempt += 1)
      answer = await store.work(input);
    return answer;
  }

  /** The store refused a completion for what one task left: the others complete, and that one has failed. */
  async #completeEach(done: readonly DoneTask[], error: InvalidArgumentError): Promise<void> {
    const sent = await sendEach(done, error, async (part) => {
      const sentAt = instants(this.#environment.clock);
      const callNumber = (this.#callNumber += 1);
      const { executionId } = this;
      const answer = await this.#askWork({
        executionId,
        callNumber,
        done: part,
        started: [],
        want: 0,
      });
      this.#onWork(answer, { sentAt, want: 0, doneCount: part.length });
    });
    for (const { entry, error: reason } of sent.refused)
      this.#failures.add(refusedEnd(entry, "dead", reason));
    if (sent.unsent.length === 0) return;
    this.#done.unshift(...sent.unsent);
    throw sent.failure;
  }

  #onWork(answer: WorkAnswer, call: { sentAt: Instants; want: number; doneCount: number }): void {
    const { telemetry } = this.#environment;
    if (answer.status === "fenced" || answer.status === "ended" || answer.status === "busy") {
      this.#lose();
      return;
    }
    if (answer.leaseMs !== null) this.#renew(call.sentAt, answer.leaseMs);
    telemetry.count("taskgate.task.done", call.doneCount - answer.refused.length, {
      definition: this.#options.definition.name,
    });
    if (answer.refused.length > 0) telemetry.count("taskgate.task.refused", answer.refused.length);
    this.#tokens.surplus = answer.surplus;
    if (answer.surplus < 0) this.#tokens.looks.hurry();
    this.#nextDueMs = answer.nextDueMs ?? this.#nextDueMs;
    this.#options.wake(answer.woken);
    this.#options.pump.open(answer.opening);
    this.#ring.push(...answer.claimed);
    if (call.want === 0) return;
    telemetry.count("taskgate.task.claimed", answer.claimed.length);
    const permitAtMs = this.#permits.note(answer.retryInMs, this.#environment.clock.monotonicMs());
    // The next claim makes no sense before.
    if (permitAtMs !== null) this.#idleUntilMs = permitAtMs;
    this.#hasBacklog = answer.claimed.length === call.want;
    this.#callHelp();
    this.#place.note(answer.last, call.sentAt.monotonicMs);
    if (answer.claimed.length > 0) this.#emptyReads = 0;
    else if (answer.retryInMs === null) this.#onEmpty(answer);
  }

  #callHelp(): void {
    const nowMs = this.#environment.clock.monotonicMs();
    if (!this.#hasBacklog || nowMs - this.#calledHelpAtMs < helpPauseMs) return;
    this.#calledHelpAtMs = nowMs;
    this.#options.wake([this.#options.definition.name]);
  }

  #onEmpty(answer: WorkAnswer): void {
    if (answer.status === "paused") {
      this.#stop("paused");
      return;
    }
    const nowMs = this.#environment.clock.monotonicMs();
    this.#idleUntilMs = nowMs + this.#options.idlePauseMs;
    // What ran when the look was sent, or a wave that is being opened here, may have brought tasks since.
    const maySucceed = this.#hasRun || this.#options.pump.isOpening;
    this.#emptyReads = maySucceed ? 0 : this.#emptyReads + 1;
    if (
      this.#emptyReads > this.#options.idleReads &&
      this.#running.size === 0 &&
      this.#ring.length === 0
    )
      this.#stop("idle");
  }

  #onTokens(answer: TokensAnswer): void {
    if (answer.status === "fenced") {
      this.#lose();
      return;
    }
    if (answer.given !== null) this.#options.wake([this.#options.definition.name, ...answer.given]);
    if (this.#tokens.count === 0) this.#stop("idle");
  }

  #onCallError(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof TaskgateError ? error.code : undefined;
    const text = "a call to the store failed after its repeats; this execution ends";
    this.#environment.logger.error(text, { execution: this.executionId, error: message, code });
    // What was not told in time is fenced or done again by somebody else: the lease decides.
    this.#end = "failed";
    // An outage is nobody's fault here; anything else might be, and comes back counted.
    this.#fault = isForLater(error) ? null : message;
    this.#ring.length = 0;
    this.#abort("failed");
  }

  /**
   * After an end as `failed` that was no outage: what had been started has failed, so that nothing goes round uncounted. Throws
   * when the store doesn't take that, either; then the lease must run out, which counts them as lost.
   */
  async countStarted(): Promise<void> {
    if (this.#fault !== null) await this.#failures.tellFaulted(this.#done.splice(0), this.#fault);
  }

  #renew(sentAt: Instants, leaseMs: number): void {
    this.#trust.renew(sentAt, leaseMs);
    this.#renewedAtMs = Math.max(this.#renewedAtMs, sentAt.monotonicMs);
  }

  #stop(end: LoopEnd): void {
    this.#end ??= end;
    this.#ring.length = 0;
    this.#pump();
  }

  #lose(): void {
    if (this.#end === "lost") return;
    this.#trust.lose();
    this.#end = "lost";
    this.#ring.length = 0;
    this.#done = [];
    this.#failures.clear();
    this.#abort("lost");
    this.#environment.telemetry.count("taskgate.execution.lost", 1, {
      definition: this.#options.definition.name,
    });
    this.#pump();
  }

  /** Tells handlers to stop as soon as the lease can't be trusted any more. */
  #watchTrust(): void {
    renewByKeeper(this.#environment, this.executionId, this.#trust);
    const leftMs = this.#trust.leftMs(instants(this.#environment.clock));
    if (this.#end === "lost") return;
    if (leftMs <= 0) {
      this.#environment.logger.warn("the lease could not be renewed in time", {
        execution: this.executionId,
      });
      this.#lose();
      return;
    }
    this.#timers.after(Math.min(leftMs + 1, 1_000), () => {
      this.#watchTrust();
    });
  }

  /** There is always a next look: for tasks, for tokens, soon when nothing runs; at the latest after a quarter of a second. */
  #planIdleLook(): void {
    const nowMs = this.#environment.clock.monotonicMs();
    const leastMs = this.#end === null && this.#running.size === 0 ? 1 : idleLookMs;
    const idleMs = Math.max(this.#idleUntilMs - nowMs, leastMs);
    const tokensMs = this.#wantsTokens() ? this.#tokens.looks.nextMs - nowMs : idleMs;
    this.#cancelIdleLook?.();
    this.#cancelIdleLook = this.#timers.after(Math.min(idleMs, tokensMs), () => {
      this.#pump();
    });
  }
}
