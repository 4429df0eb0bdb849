import type { TaskId } from "../../core/ids";
import { limits } from "../../core/limits";
import { fillsACall, isEmpty, mayStart, nextStep } from "../../core/next-call";
import type { ExecutionFacts, LoopEnd, TaskFacts } from "../../core/next-call";
import { Pace } from "../../core/pace";
import type { WorkAnswer } from "../../ports/task-store";
import { AloneTurn } from "./alone-turn";
import { ClaimOutlook } from "./claim-outlook";
import { ClaimedTasks } from "./claimed-tasks";
import { instants } from "../environment";
import { ExecutionLease } from "./execution-lease";
import { HeldTokens } from "./held-tokens";
import type { TokensAnswer } from "./held-tokens";
import { LoopCalls } from "./loop-calls";
import { LoopEnding } from "./loop-ending";
import type { LoopOptions } from "./loop-options";
import { watchStops } from "./loop-stops";
import { LoopTimers } from "./loop-timers";
import { LoopTurns } from "./loop-turns";
import type { Holdings } from "./own-calls";
import type { GateMember } from "./process-gate";
import { RunningTasks } from "./running-tasks";
import type { AbortReason, EndedTask } from "./running-tasks";
import { UntoldFailures } from "./untold-failures";
import { WorkCalls } from "./work-calls";
import type { AnsweredCall } from "./work-calls";

/*
 * The loop of one execution: one call to the database in flight, at most as many handlers as tokens. core/next-call.ts
 * decides the next step; the loop keeps the timers, makes the calls and starts the handlers.
 * While a call is in flight ended tasks gather; the next one carries them all and asks for as many new ones
 * ("riding calls": 12,400 tasks/s with 8 in flight on one connection, where 8 connections gave 4,100).
 * Invariants: a handler starts only on a token, before the trust in the lease ends and while the deadline leaves time;
 * a token is given back only when no handler runs on it; nothing is written after the lease was lost.
 */

/** One execution at work. `run` resolves when no handler of it runs any more, or when those that do ignore their signal. */
export class ExecutionLoop implements GateMember {
  readonly lease: ExecutionLease;
  /** After `run`: handlers that ignored their signal. Their tokens are not given back, the lease ends by itself. */
  readonly running: RunningTasks;
  readonly outlook: ClaimOutlook;
  readonly #options: LoopOptions;
  readonly #pace = new Pace();
  readonly #claimed = new ClaimedTasks();
  readonly #ending: LoopEnding;
  readonly #work: WorkCalls;
  readonly #failures: UntoldFailures;
  readonly #tokens: HeldTokens;
  readonly #calls: LoopCalls;
  readonly #alone: AloneTurn;
  readonly #timers: LoopTimers;
  readonly #turns: LoopTurns;
  #cancelLook: (() => void) | null = null;
  #finish: (() => void) | null = null;

  constructor(options: LoopOptions) {
    const { environment, definition, registry, sentAt, started } = options;
    const { executionId } = started;
    this.#options = options;
    this.#ending = new LoopEnding(options);
    this.#timers = new LoopTimers(environment.timers);
    this.#turns = new LoopTurns(environment.timers);
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
    this.lease = new ExecutionLease(
      environment,
      { executionId, leaseMs, sentAt, timeoutMs: registry.longestTimeoutMs(definition.name) },
      {
        onLost,
        onRenewed: (answer, { sentAt, isBetween }) => {
          if (!this.#isEnding && this.#calls.areForgotten(answer, sentAt, this.#holdings)) {
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
        hasWaiting: () => this.#claimed.count > 0,
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
    this.#calls = this.#makeCalls();
  }

  /** Works until there is nothing to do, the time is up, or the lease is lost. Never throws. */
  async run(): Promise<LoopEnd> {
    const { signal, draining, standby } = this.#options;
    const endWatch = watchStops(this.#options, this.#timers, {
      stop: this.#stop.bind(this),
      abort: this.#abort.bind(this),
    });
    this.lease.watch(this.#timers);
    const endStandby = standby?.onArrival(() => {
      this.outlook.noteArrival();
      this.#tokens.noteArrival();
      this.#pump();
      return this.#isEnding ? 0 : this.#freeTokens;
    });
    await new Promise<void>((resolve) => {
      this.#finish = resolve;
      if (signal.aborted || draining?.aborted === true) this.#stop("stopped");
      this.#pump();
    });
    endWatch();
    endStandby?.();
    this.running.close();
    this.#alone.leave();
    this.#timers.cancelAll();
    return this.#ending.reason ?? "idle";
  }

  #makeCalls(): LoopCalls {
    const { lease, outlook, running } = this;
    const told = { tokens: this.#tokens, work: this.#work, failures: this.#failures };
    return new LoopCalls(
      this.#options.environment,
      { lease, outlook, running, ...told },
      {
        facts: this.#facts,
        onTokens: this.#onTokens.bind(this),
        onError: (error) => {
          this.#ending.fail(error);
          this.#claimed.clear();
          this.#abort("failed");
        },
        onEnded: this.#pump.bind(this),
      },
    );
  }

  get #isEnding(): boolean {
    return this.#ending.reason !== null;
  }

  get #holdings(): Holdings {
    const { running, claimed, done, failed } = this.#tasks;
    return { tokens: this.#tokens.count, claims: running + claimed + done + failed };
  }

  /** Held tokens that no task runs or waits on. */
  get #freeTokens(): number {
    return Math.max(this.#tokens.count - this.running.size - this.#claimed.count, 0);
  }

  get isQuiet(): boolean {
    // A completion that isn't reported yet would count as lost, too.
    return !this.#calls.isUnderWay && isEmpty(this.#tasks);
  }

  /** In a turn of its own: the gate may be in the middle of what another execution asked. */
  look(): void {
    this.#options.environment.timers.soon(this.#pump.bind(this));
  }

  /**
   * After an end as `failed` that was no outage, reports every started task as failed, so that none comes back uncounted.
   * Throws what the store throws; then the lease runs out, which counts them as lost.
   */
  async countStarted(): Promise<void> {
    const { fault } = this.#ending;
    if (fault !== null) await this.#failures.tellFaulted(this.#work.takeDone(), fault);
  }

  get #tasks(): TaskFacts {
    return {
      running: this.running.size,
      stuck: this.running.stuckSize,
      claimed: this.#claimed.count,
      done: this.#work.doneCount,
      failed: this.#failures.size,
    };
  }

  /** All that the next decision depends on, at this instant. */
  readonly #facts = (): ExecutionFacts => {
    const { environment, definition, stopAtMs, tokensWanted } = this.#options;
    const now = instants(environment.clock);
    return {
      nowMs: now.monotonicMs,
      end: this.#ending.reason,
      stopAtMs,
      handlersUntilMs: this.#ending.handlersUntilMs,
      isLeaseTrusted: this.lease.holdsAt(now),
      mayClaim: this.#alone.mayClaim,
      tokensWanted,
      prefetchMax: definition.settings.prefetchMax,
      tokens: this.#tokens,
      tasks: this.#tasks,
      claims: this.outlook,
      pace: this.#pace,
    };
  };

  /** One turn: start what may start, then take the next step. */
  #pump(): void {
    this.#startReady();
    this.#alone.note();
    this.#noteLoad();
    if (this.#calls.isUnderWay) return;
    const facts = this.#facts();
    const step = nextStep(facts);
    if (step.kind === "finish") {
      this.#ending.finish(step.end);
      this.#finish?.();
    } else if (step.kind === "wait") {
      this.#cancelLook?.();
      this.#cancelLook = this.#timers.after(step.forMs, this.#pump.bind(this));
    } else if (fillsACall(step.call, facts.tasks)) {
      void this.#calls.next();
      this.#turns.afterSending(this.#pump.bind(this));
    } else if (isEmpty(facts.tasks)) {
      // Nothing could ride along: a task that has just been told of starts a turn of the event loop sooner.
      void this.#calls.next();
    } else {
      this.#turns.planCall(() => {
        if (!this.#calls.isUnderWay) void this.#calls.next();
      });
    }
  }

  #noteLoad(): void {
    const { standby, tokensWanted } = this.#options;
    const held = this.running.size + this.#claimed.count;
    standby?.noteLoad(held > 0, held >= this.#tokens.usableOf(tokensWanted));
  }

  #startReady(): void {
    if (this.#turns.isSending) return;
    for (let task = this.#claimed.first; task !== undefined; task = this.#claimed.first) {
      if (!mayStart(this.#facts())) return;
      const turn = this.#alone.turnOf(task);
      if (turn.kind === "wait") return;
      this.#claimed.takeFirst();
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
    this.#turns.planTurn(() => {
      this.#pump();
    });
  };

  /** A handler hears it by its signal; a task that has none yet doesn't start. */
  #cancel(taskId: TaskId): void {
    this.running.cancel(taskId);
    const unstarted = this.#claimed.cancel(taskId);
    if (unstarted !== null) this.#failures.add(unstarted);
  }

  #onWork(answer: WorkAnswer, call: AnsweredCall): void {
    if (answer.leaseMs !== null) this.lease.renew(call.sentAt, answer.leaseMs);
    this.#tokens.noteNeeds(answer);
    this.#options.wake(answer.woken);
    this.#options.pump.open(answer.opening);
    this.#claimed.add(answer.claimed);
    // The process goes on with another execution.
    if (this.#claimed.countInAll >= limits.executionTasksMax) this.#stop("deadline");
    if (call.claim === 0) return;
    const end = this.outlook.note(answer, call);
    const isAtWork = this.running.size > 0 || this.#claimed.count > 0;
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

  #stop(end: LoopEnd): void {
    this.#ending.stop(end);
    this.#claimed.clear();
    this.#pump();
  }

  #lose(): void {
    if (!this.#ending.lose()) return;
    this.lease.lose();
    this.#claimed.clear();
    this.#work.takeDone();
    this.#failures.clear();
    this.#abort("lost");
    this.#pump();
  }

  #abort(reason: AbortReason): void {
    this.#ending.noteTold();
    this.running.abortAll(reason);
  }
}
