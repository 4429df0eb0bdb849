import { messageOf } from "../../core/foreign-value";
import type { HintOptions, WakeUp } from "../../ports/wake-up";
import type { IdleExecutions } from "./idle-executions";
import { isBroken, runWorker } from "./run-worker";
import type { ExecutionBounds, WorkerOptions, WorkerResult } from "./run-worker";
import type { Standby } from "./standby";

/** What an invocation works with. */
export interface InvocationWorkOptions {
  /** Its environment's way to workers takes the rest. */
  readonly worker: WorkerOptions;
  /** Ends with the invocation, or earlier. */
  readonly bounds: ExecutionBounds;
  /** Of the process. */
  readonly idle: IdleExecutions;
  /** Are tasks run that this invocation makes ready? Else all hints go out. */
  readonly servesOthers: boolean;
  /** Tells of an execution that failed; the invocation goes on. */
  readonly onTrouble: (definition: string, reason: string) => void;
}

/** The work of this invocation for one definition: one execution after the other, until no task is left. */
interface OwnWork {
  readonly ended: Promise<WorkerResult>;
  /** It asked for a token per task. */
  readonly takesAll: boolean;
  /** Tasks became ready since it looked last. */
  isPending: boolean;
  /** Ends its pause between two looks. */
  look: (() => number) | null;
}

/** What a hint begins work for. */
interface Wanted {
  readonly tokens: number;
  /** Left out: not known how many. */
  readonly tasks: number | undefined;
}

/** An execution that begins later than this before the end would hardly start a task. */
const leastMs = 2_000;
/** Tasks of an execution that failed are looked for after this time. */
const troubleMs = 15_000;

/**
 * What an invocation makes ready, it works on itself: a hint for a definition of this app begins an execution here, instead of
 * another invocation. Together the executions ask for no more tokens than one worker does. A hint goes out only for the
 * rest: other apps' definitions, tasks that are due later, and what this invocation has no token or no time for.
 */
export class InvocationWork implements WakeUp {
  readonly #options: InvocationWorkOptions;
  readonly #worker: WorkerOptions;
  /** Where the spans of its executions belong. */
  readonly #traceParent: string | null;
  readonly #own = new Map<string, OwnWork>();
  #freeTokens: number;

  constructor(options: InvocationWorkOptions) {
    const { worker } = options;
    this.#options = options;
    this.#freeTokens = worker.concurrencyPerWorker;
    this.#traceParent = worker.environment.telemetry.currentTraceParent();
    this.#worker = { ...worker, environment: { ...worker.environment, wakeUp: this } };
  }

  /** The same environment, whose hints come here. */
  get environment(): WorkerOptions["environment"] {
    return this.#worker.environment;
  }

  /** As `WakeUp` says; an execution that begins here isn't waited for. */
  hint(definition: string, options: HintOptions = {}): Promise<void> {
    const { inMs = 0, forSchedule = false, tasks } = options;
    const own = this.#own.get(definition);
    const isOwn = this.#worker.registry.definition(definition) !== null;
    const isForHere = isOwn && this.#options.servesOthers && inMs <= 0 && !forSchedule;
    if (!isForHere || !this.#hasTime()) return this.#passOn(definition, options);
    const begun = this.#options.idle.wake(definition, tasks ?? 1);
    const left = tasks === undefined ? tasks : tasks - begun;
    if (left === 0) return Promise.resolve();
    if (own !== undefined) return this.#hintTo(own, definition, options);
    const want = Math.min(this.#wantOf(definition), left ?? Infinity, this.#freeTokens);
    if (want < 1) return this.#passOn(definition, options);
    this.#freeTokens -= want;
    void this.#begin(definition, { tokens: want, tasks: left }).ended.catch(() => undefined);
    return Promise.resolve();
  }

  /** A hint for a definition that this invocation works for already. */
  #hintTo(own: OwnWork, definition: string, options: HintOptions): Promise<void> {
    const { tasks, isRest = false, isForMore = false } = options;
    if (tasks !== undefined || isRest) {
      own.isPending = true;
      own.look?.();
    }
    // The tasks that the work was begun for, it can take.
    else if (!isForMore || !own.takesAll) return this.#passOn(definition, options);
    return Promise.resolve();
  }

  /** Works for `definition`; joins the work that a hint has begun here. Rejects where it can't reach the store at its start. */
  run(definition: string): Promise<WorkerResult> {
    const begun = this.#own.get(definition);
    // The invocation is there for this definition: it has its tokens besides.
    return (begun ?? this.#begin(definition, null)).ended;
  }

  /** Resolves when no execution of this invocation is at work any more. Never rejects. */
  async settled(): Promise<void> {
    while (this.#own.size > 0)
      await Promise.allSettled([...this.#own.values()].map(({ ended }) => ended));
  }

  /** `wanted` null: as many tokens as the definition's workers ask for. */
  #begin(definition: string, wanted: Wanted | null): OwnWork {
    const takesAll = wanted?.tasks !== undefined && wanted.tasks <= wanted.tokens;
    const work = (): Promise<WorkerResult> => this.#work(definition, wanted?.tokens ?? null);
    // Of the definition that the invocation is there for, the invocation has made the span.
    const ended = wanted === null ? work() : this.#traced(definition, work);
    const own = { ended, takesAll, isPending: false, look: null };
    this.#own.set(definition, own);
    return own;
  }

  /** A hint comes from within a task's span, which ends before this work does. */
  #traced(definition: string, work: () => Promise<WorkerResult>): Promise<WorkerResult> {
    const { telemetry } = this.#options.worker.environment;
    return telemetry.within(this.#traceParent, () =>
      telemetry.span({ name: `worker ${definition}` }, work),
    );
  }

  async #work(definition: string, want: number | null): Promise<WorkerResult> {
    // In a turn of its own: the caller notes the work first.
    await Promise.resolve();
    // At the end in the same turn as the last look at what is pending: a hint that comes later begins other work.
    const end = (): void => {
      this.#own.delete(definition);
      this.#freeTokens += want ?? 0;
    };
    try {
      const result = await this.#runUntilDone(definition, want);
      const isLeft = this.#isPending(definition) && result.status === "worked";
      end();
      if (isBroken(result)) await this.#passOn(definition, { inMs: troubleMs });
      else if (isLeft) await this.#passOn(definition, {});
      return result;
    } catch (error) {
      end();
      this.#options.onTrouble(definition, messageOf(error));
      // The invocation itself hears of the work that it was there for.
      if (want !== null) await this.#passOn(definition, { inMs: troubleMs });
      throw error;
    }
  }

  /** Again while there is time and tasks became ready that the last execution may not have seen. */
  async #runUntilDone(definition: string, want: number | null): Promise<WorkerResult> {
    const worker = want === null ? this.#worker : { ...this.#worker, tokensMax: want };
    for (;;) {
      const own = this.#own.get(definition);
      if (own !== undefined) own.isPending = false;
      const standby = this.#standbyOf(definition, own);
      const result = await runWorker(worker, definition, { ...this.#options.bounds, standby });
      // Denied: the holders of the tokens take the tasks.
      const mayGoOn = result.status === "worked" || result.status === "none";
      if (!mayGoOn || isBroken(result) || !this.#hasTime()) return result;
      if (!this.#isPending(definition)) return result;
    }
  }

  /** The execution ends as every invocation's does, and hears of tasks that this invocation makes ready. */
  #standbyOf(definition: string, own: OwnWork | undefined): Standby {
    const { idleReads, idlePauseMs } = this.#worker;
    let listed: ReturnType<IdleExecutions["add"]> | null = null;
    return {
      growsOnArrival: false,
      onArrival: (look) => {
        if (own === undefined) return () => undefined;
        own.look = look;
        const notePending = (): void => void (own.isPending = true);
        listed = this.#options.idle.add(definition, { look, notePending });
        return () => {
          own.look = null;
          listed?.remove();
        };
      },
      noteLoad: (isBusy) => {
        if (isBusy) listed?.noteBusy();
      },
      pauseMs: (emptyReads) => (emptyReads > idleReads ? null : idlePauseMs),
    };
  }

  #isPending(definition: string): boolean {
    return this.#own.get(definition)?.isPending === true;
  }

  #wantOf(definition: string): number {
    const own = this.#worker.registry.definition(definition)?.concurrencyPerWorker;
    return own ?? this.#worker.concurrencyPerWorker;
  }

  #hasTime(): boolean {
    const { bounds, worker } = this.#options;
    if (bounds.signal.aborted || bounds.draining?.aborted === true) return false;
    const nowMs = worker.environment.clock.monotonicMs();
    return nowMs + leastMs < bounds.deadlineMs - bounds.marginMs;
  }

  #passOn(definition: string, options: HintOptions): Promise<void> {
    return this.#options.worker.environment.wakeUp.hint(definition, options);
  }
}
