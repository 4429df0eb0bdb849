import { messageOf } from "../../core/foreign-value";
import { executionNumber } from "../../core/ids";
import type { TaskId } from "../../core/ids";
import { isForLater, TaskgateError } from "../../core/errors";
import { limits } from "../../core/limits";
import { isEmpty, mayStart, nextStep } from "../../core/next-call";
import type { ExecutionFacts, LoopEnd, NextCall } from "../../core/next-call";
import { Pace } from "../../core/pace";
import type { ClaimedTask, WorkAnswer } from "../../ports/task-store";
import { AloneTurn } from "./alone-turn";
import { ClaimOutlook } from "./claim-outlook";
import { instants } from "../environment";
import { ExecutionLease } from "./execution-lease";
import { HeldTokens } from "./held-tokens";
import type { TokensAnswer } from "./held-tokens";
import type { LoopOptions } from "./loop-options";
import { LoopTimers } from "./loop-timers";
import { OwnCalls } from "./own-calls";
import type { Holdings } from "./own-calls";
import type { GateMember } from "./process-gate";
import { cancelledEnd } from "./refused-end";
import { RunningTasks } from "./running-tasks";
import type { AbortReason, EndedTask } from "./running-tasks";
import { UntoldFailures } from "./untold-failures";
import { WorkCalls } from "./work-calls";
import type { AnsweredCall } from "./work-calls";

/*
 * The loop of one execution: one call to the database in flight, at most as many handlers as tokens. core/next-call.ts
 * decides the next step; the loop keeps the timers, makes the calls and starts the handlers.
 * While a call is in flight finished tasks gather; the next one carries them all and asks for as many new ones
 * ("riding calls": 12,400 tasks/s with 8 in flight on one connection, where 8 connections gave 4,100).
 * Invariants: a handler starts only on a token, before the trust in the lease ends and while the deadline leaves time;
 * a token is given back only when no handler runs on it; nothing is written after the lease was lost.
 */

/** Completions that are worth a call before all that is claimed has run. */
const fullCallMin = 100;

/** One execution at work. `run` resolves when no handler of it runs any more, or when those that do ignore their signal. */
export class ExecutionLoop implements GateMember {
  readonly lease: ExecutionLease;
  /** After `run`: handlers that ignored their signal. Their tokens are not given back, the lease ends by itself. */
  readonly running: RunningTasks;
  readonly outlook: ClaimOutlook;
  readonly #options: LoopOptions;
  readonly #pace = new Pace();
  readonly #claimed: ClaimedTask[] = [];
  readonly #work: WorkCalls;
  readonly #failures: UntoldFailures;
  readonly #tokens: HeldTokens;
  readonly #ownCalls: OwnCalls;
  readonly #alone: AloneTurn;
  readonly #timers: LoopTimers;
  #claimedInAll = 0;
  #isCalling = false;
  #isSending = false;
  #isPumpPlanned = false;
  #isTurnPlanned = false;
  #cancelLook: (() => void) | null = null;
  #end: LoopEnd | null = null;
  /** Why the execution ended as `failed`, where that was no outage. */
  #fault: string | null = null;
  /** Handlers that were told to stop are waited for until this instant. */
  #handlersUntilMs: number | null = null;
  #finish: (() => void) | null = null;

  constructor(options: LoopOptions) {
    const { environment, definition, registry, sentAt, started } = options;
    const { executionId } = started;
    this.#options = options;
    this.#timers = new LoopTimers(environment.timers);
    this.#ownCalls = new OwnCalls(environment.clock);
    this.outlook = new ClaimOutlook(options);
    this.#tokens = new HeldTokens(environment, {
      executionId,
      count: started.tokens,
      nowMs: sentAt.monotonicMs,
    });
    this.#alone = new AloneTurn(this, options.gate);
    const of = { executionId, definition: definition.name };
    const onLost = this.#lose.bind(this);
    this.#work = new WorkCalls(
      environment,
      { ...of, pace: this.#pace },
      {
        onAnswer: this.#onWork.bind(this),
        onFenced: onLost,
        onRefused: (failure) => {
          this.#failures.add(failure);
        },
      },
    );
    this.#failures = new UntoldFailures(environment, of, {
      onFenced: onLost,
      wake: options.wake,
      pump: options.pump,
    });
    const leaseMs = started.leaseMs ?? definition.settings.leaseMs;
    const timeoutMs = registry.longestTimeoutMs(definition.name);
    this.lease = new ExecutionLease(
      environment,
      { executionId, leaseMs, sentAt, timeoutMs },
      {
        onLost,
        onRenewed: (answer, { sentAt, isBetween }) => {
          if (this.#end === null && this.#ownCalls.areForgotten(answer, sentAt, this.#holdings)) {
            this.#lose();
            return;
          }
          if (!isBetween) this.#tokens.noteNeeds(answer);
          for (const taskId of answer.cancel) this.#cancel(taskId);
          this.outlook.notePaused(answer.isPaused, sentAt.monotonicMs);
          this.#pump();
        },
        takeStarted: () => this.#work.takeStarted(),
        returnStarted: (ids) => {
          this.#work.returnStarted(ids);
        },
        hasWaiting: () => this.#claimed.length > 0,
      },
    );
    this.running = new RunningTasks({
      environment,
      ...of,
      registry,
      timeLeftMs: () => options.abortAtMs - environment.clock.monotonicMs(),
      onStuck: () => {
        this.#stop("stuck");
      },
      leaseMs: this.lease.leaseMs,
      count: this.lease.running,
    });
  }

  /** Works until there is nothing to do, the time is up, or the lease is lost. Never throws. */
  async run(): Promise<LoopEnd> {
    const { environment, signal, draining, standby, abortAtMs, stopAtMs } = this.#options;
    const now = environment.clock.monotonicMs();
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
    this.lease.watch(this.#timers);
    const endStandby = standby?.onArrival(() => {
      this.outlook.noteArrival();
      this.#tokens.noteArrival();
      this.#pump();
      return this.#end === null ? this.#freeTokens : 0;
    });
    await new Promise<void>((resolve) => {
      this.#finish = resolve;
      if (signal.aborted || draining?.aborted === true) this.#stop("stopped");
      this.#pump();
    });
    signal.removeEventListener("abort", onStop);
    draining?.removeEventListener("abort", onDrain);
    endStandby?.();
    this.running.close();
    this.#alone.leave();
    this.#timers.cancelAll();
    return this.#end ?? "idle";
  }

  get #holdings(): Holdings {
    const { running, claimed, done, failed } = this.#facts().tasks;
    return { tokens: this.#tokens.count, claims: running + claimed + done + failed };
  }

  /** Held tokens that no task runs or waits on. */
  get #freeTokens(): number {
    return Math.max(this.#tokens.count - this.running.size - this.#claimed.length, 0);
  }

  get isQuiet(): boolean {
    // A completion that isn't reported yet would count as lost, too.
    return !this.#isCalling && isEmpty(this.#facts().tasks);
  }

  /** In a turn of its own: the gate may be in the middle of what another execution asked. */
  look(): void {
    this.#options.environment.timers.soon(() => {
      this.#pump();
    });
  }

  /**
   * After an end as `failed` that was no outage, reports every started task as failed, so that none comes back uncounted.
   * Throws what the store throws; then the lease runs out, which counts them as lost.
   */
  async countStarted(): Promise<void> {
    if (this.#fault !== null) await this.#failures.tellFaulted(this.#work.takeDone(), this.#fault);
  }

  /** All that the next decision depends on, at this instant. */
  #facts(): ExecutionFacts {
    const { environment, definition, stopAtMs, tokensWanted } = this.#options;
    const now = instants(environment.clock);
    return {
      nowMs: now.monotonicMs,
      end: this.#end,
      stopAtMs,
      handlersUntilMs: this.#handlersUntilMs,
      isLeaseTrusted: this.lease.holdsAt(now),
      mayClaim: this.#alone.mayClaim,
      tokensWanted,
      prefetchMax: definition.settings.prefetchMax,
      tokens: this.#tokens,
      tasks: {
        running: this.running.size,
        stuck: this.running.stuckSize,
        claimed: this.#claimed.length,
        done: this.#work.doneCount,
        failed: this.#failures.size,
      },
      claims: this.outlook,
      pace: this.#pace,
    };
  }

  /** One turn: start what may start, then take the next step. */
  #pump(): void {
    this.#startReady();
    this.#alone.note();
    this.#noteLoad();
    if (this.#isCalling) return;
    const step = nextStep(this.#facts());
    if (step.kind === "finish") {
      this.#end = step.end;
      this.#finish?.();
    } else if (step.kind === "wait") {
      this.#cancelLook?.();
      this.#cancelLook = this.#timers.after(step.forMs, () => {
        this.#pump();
      });
    } else if (this.#fillsACall(step.call)) {
      this.#sendFull();
    } else if (isEmpty(this.#facts().tasks)) {
      // Nothing could ride along: a task that has just been told of starts a turn of the event loop sooner.
      void this.#callNext();
    } else if (!this.#isPumpPlanned) {
      // Tasks that end in this turn of the event loop ride along.
      this.#isPumpPlanned = true;
      this.#options.environment.timers.soon(() => {
        this.#isPumpPlanned = false;
        if (!this.#isCalling) void this.#callNext();
      });
    }
  }

  #noteLoad(): void {
    const { standby, tokensWanted } = this.#options;
    const held = this.running.size + this.#claimed.length;
    // Where further tokens are denied those held are all that it can use.
    const usable = this.#tokens.isDenied ? this.#tokens.count : tokensWanted;
    standby?.noteLoad(held > 0, held >= usable);
  }

  /** No handler starts until the event loop has turned: handlers that never wait would keep the call from leaving the process. */
  #sendFull(): void {
    void this.#callNext();
    this.#isSending = true;
    this.#options.environment.timers.soon(() => {
      this.#isSending = false;
      this.#pump();
    });
  }

  /**
   * Enough has ended for a call of its own, and no more is still to run: the server works on the one half while this process
   * runs the other. A call that waits for the last handler leaves the server idle meanwhile.
   */
  #fillsACall({ kind }: NextCall): boolean {
    const { doneCount } = this.#work;
    return kind === "work" && doneCount >= fullCallMin && doneCount >= this.#claimed.length;
  }

  #startReady(): void {
    if (this.#isSending) return;
    for (let [task] = this.#claimed; task !== undefined; [task] = this.#claimed) {
      if (!mayStart(this.#facts())) return;
      const turn = this.#alone.turnOf(task);
      if (turn.kind === "wait") return;
      this.#claimed.shift();
      if (turn.kind === "later") {
        this.#failures.add(turn.failure);
        continue;
      }
      if (task.isPrefetched) this.#work.addStarted(task.taskId);
      void this.running.start(task).then(this.#onEnded);
    }
  }

  /** One for all tasks. */
  readonly #onEnded = (ended: EndedTask): void => {
    this.#pace.noteTask(ended.durationMs);
    if (ended.done !== null) this.#work.addDone(ended.done);
    if (ended.failure !== null) this.#failures.add(ended.failure);
    if (ended.isLost) this.#lose();
    this.#alone.noteEnd();
    this.#options.wake(ended.woken);
    this.#options.pump.open(ended.opening);
    this.#pumpOnce();
  };

  /** One turn for all tasks that end together, as those do that don't wait. */
  #pumpOnce(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    queueMicrotask(() => {
      this.#isTurnPlanned = false;
      this.#pump();
    });
  }

  /** Decides anew, as tasks may have ended since the call was planned, and calls. */
  async #callNext(): Promise<void> {
    if (this.lease.isUnheard) {
      this.#isCalling = true;
      await this.lease.hear();
      this.#isCalling = false;
    }
    const step = nextStep(this.#facts());
    if (step.kind === "call") {
      const { clock, telemetry } = this.#options.environment;
      this.#isCalling = true;
      const sentAtMs = clock.monotonicMs();
      try {
        await this.#ownCalls.during(this.#call(step.call));
        telemetry.record("taskgate.store.call", clock.monotonicMs() - sentAtMs, {
          operation: step.call.kind,
        });
      } catch (error) {
        this.#onCallError(error);
      } finally {
        this.#isCalling = false;
      }
    }
    this.#pump();
  }

  async #call(call: NextCall): Promise<void> {
    if (call.kind === "work") await this.#work.send(call.claim, this.running.size > 0);
    else if (call.kind === "fail") await this.#failures.tell();
    else if (call.kind === "release")
      this.#onTokens(await this.#tokens.releaseSurplus(this.running.size));
    else {
      this.#onTokens(await this.#tokens.acquire(call.upTo));
      if (this.#tokens.isDenied) this.outlook.noteDenied();
    }
  }

  /** A handler hears it by its signal; a task that has none yet doesn't start. */
  #cancel(taskId: TaskId): void {
    this.running.cancel(taskId);
    const at = this.#claimed.findIndex((task) => task.taskId === taskId);
    const task = this.#claimed[at];
    if (task === undefined) return;
    // Its turn at the gate is under way: it ends when it has it.
    if (task.isSuspect) this.#claimed[at] = { ...task, isCancelRequested: true };
    else {
      this.#claimed.splice(at, 1);
      this.#failures.add(cancelledEnd(task));
    }
  }

  #onWork(answer: WorkAnswer, call: AnsweredCall): void {
    if (answer.leaseMs !== null) this.lease.renew(call.sentAt, answer.leaseMs);
    this.#tokens.noteNeeds(answer);
    this.#options.wake(answer.woken);
    this.#options.pump.open(answer.opening);
    this.#claimed.push(...answer.claimed);
    this.#claimedInAll += answer.claimed.length;
    // The process goes on with another execution.
    if (this.#claimedInAll >= limits.executionTasksMax) this.#stop("deadline");
    if (call.claim === 0) return;
    const end = this.outlook.note(answer, call);
    const isAtWork = this.running.size > 0 || this.#claimed.length > 0;
    if (end !== null && !isAtWork) this.#stop(end);
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
    const message = messageOf(error);
    const code = error instanceof TaskgateError ? error.code : undefined;
    const text = "a call to the store failed after its repeats; this execution ends";
    const { executionId } = this.lease;
    this.#options.environment.logger.error(text, {
      execution: executionNumber(executionId),
      error: message,
      code,
    });
    // An end that wasn't reported in time is fenced, or the task runs again elsewhere: the lease decides.
    this.#end = "failed";
    // No task causes an outage; a task may cause any other error, and comes back counted.
    this.#fault = isForLater(error) ? null : message;
    this.#claimed.length = 0;
    this.#abort("failed");
  }

  #stop(end: LoopEnd): void {
    this.#end ??= end;
    this.#claimed.length = 0;
    this.#pump();
  }

  #lose(): void {
    if (this.#end === "lost") return;
    this.lease.lose();
    this.#end = "lost";
    this.#claimed.length = 0;
    this.#work.takeDone();
    this.#failures.clear();
    this.#abort("lost");
    const { telemetry } = this.#options.environment;
    telemetry.count("taskgate.execution.lost", 1, { definition: this.#options.definition.name });
    this.#pump();
  }

  #abort(reason: AbortReason): void {
    const { environment, abortGraceMs } = this.#options;
    this.#handlersUntilMs ??= environment.clock.monotonicMs() + abortGraceMs;
    this.running.abortAll(reason);
  }
}
