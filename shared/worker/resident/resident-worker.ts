import { messageOf } from "../../core/foreign-value";
import { isForLater } from "../../core/errors";
import { lingerPauseMs } from "../../core/look-times";
import type { TaskListener } from "../../ports/task-listener";
import { pause } from "../run/pause";
import { isBroken, runWorker } from "../run/run-worker";
import type { ExecutionBounds, WorkerOptions } from "../run/run-worker";
import type { Standby } from "../run/standby";
import { EarliestTimer } from "../run/earliest-timer";

/** What a resident worker is made of. */
export interface ResidentWorkerOptions {
  readonly worker: WorkerOptions;
  readonly definition: string;
  /** null: nothing notifies, polls find the tasks. */
  readonly listener: TaskListener | null;
  /** How long each execution may last, and which signals end it. */
  readonly bounds: () => ExecutionBounds;
  /** Aborted when no further execution begins. */
  readonly draining: AbortSignal;
}

/** A process that can take no more tasks for this time is no longer notified of others. */
const fullAfterMs = 50;
/** The pause after an execution that failed: the database is away, or refuses. */
const troubleMs = 1_000;

/**
 * Works for one definition for as long as its process lives: one execution after another, and between them it waits. An
 * execution lasts for about two seconds after its last task, with its tokens; it hands them on within 250 ms when another
 * process needs them. Between executions it holds no tokens.
 */
export class ResidentWorker implements Standby {
  readonly growsOnArrival = true;
  readonly #options: ResidentWorkerOptions;
  /** Tasks may have become ready since the execution began. */
  #isPending = true;
  /** Of the execution at work. */
  #look: (() => number) | null = null;
  /** Ends the wait between two executions. */
  #resume: (() => void) | null = null;
  #isBusy = false;
  #isFull = false;
  #isListed = false;
  #cancelUnlisting: (() => void) | null = null;
  /** Why the last execution could not begin: told once, not each second. */
  #trouble: string | null = null;
  readonly #due: EarliestTimer;

  constructor(options: ResidentWorkerOptions) {
    this.#options = options;
    this.#due = new EarliestTimer(options.worker.environment, () => {
      this.wake();
    });
  }

  /** It has tasks just now. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Tasks may have become ready. */
  wake(): void {
    this.#isPending = true;
    this.#look?.();
    this.#resume?.();
  }

  /** Tasks wait while others hold all tokens: a process that has no task asks for a part. */
  ask(): void {
    if (!this.#isBusy) this.wake();
  }

  /** A task is due after this time; only the earliest instant is kept. */
  wakeIn(ms: number): void {
    this.#due.set(this.#options.worker.environment.clock.monotonicMs() + ms);
  }

  /** Works until `draining` is aborted and the last execution has ended. Never rejects. */
  async run(): Promise<void> {
    const { draining, worker } = this.#options;
    const { timers } = worker.environment;
    const onDrain = (): void => this.#resume?.();
    draining.addEventListener("abort", onDrain, { once: true });
    this.#list();
    while (!this.#isEnding) {
      this.#isPending = false;
      const isGood = await this.#execute();
      await (isGood ? this.#untilWoken() : pause(timers, troubleMs, draining));
    }
    draining.removeEventListener("abort", onDrain);
    this.#due.cancel();
    this.#unlist();
  }

  onArrival(look: () => number): () => void {
    this.#look = look;
    return () => {
      this.#look = null;
      this.noteLoad(false, false);
    };
  }

  noteLoad(isBusy: boolean, isFull: boolean): void {
    this.#isBusy = isBusy;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#cancelUnlisting?.();
    this.#cancelUnlisting = null;
    if (!isFull) this.#list();
    else
      this.#cancelUnlisting = this.#options.worker.environment.timers.after(fullAfterMs, () => {
        this.#cancelUnlisting = null;
        this.#unlist();
      });
  }

  pauseMs(emptyReads: number): number | null {
    const { worker, definition } = this.#options;
    const settings = worker.registry.definition(definition)?.settings;
    const isShared = (settings?.sharedLimits?.length ?? 0) > 0;
    return lingerPauseMs(emptyReads, { isNotified: this.#isNotified, isShared });
  }

  /** One execution. Answers false after a failure: another one makes no sense at once. */
  async #execute(): Promise<boolean> {
    const { worker, definition, bounds } = this.#options;
    const { logger } = worker.environment;
    try {
      const result = await runWorker(worker, definition, { ...bounds(), standby: this });
      this.#trouble = null;
      logger.debug("execution ended", { definition, status: result.status, end: result.end });
      // Without a token it can't take what it would be notified of; the poll that finds a free one wakes it.
      if (result.status === "limited" || result.status === "paused") this.#unlist();
      else this.#list();
      return !isBroken(result);
    } catch (error) {
      const reason = messageOf(error);
      if (!isForLater(error) && reason !== this.#trouble)
        logger.error("an execution could not begin", { definition, reason });
      this.#trouble = reason;
      return false;
    }
  }

  /** Of tasks that came before the database knew that this process waits there was no word: hence a look. */
  #list(): void {
    const { listener, definition, draining } = this.#options;
    if (listener === null || this.#isListed || draining.aborted) return;
    this.#isListed = true;
    void listener.wait(definition).then(() => {
      if (this.#isNotified) this.wake();
    });
  }

  #unlist(): void {
    this.#cancelUnlisting?.();
    this.#cancelUnlisting = null;
    if (!this.#isListed) return;
    this.#isListed = false;
    this.#options.listener?.stopWaiting(this.#options.definition);
  }

  get #isNotified(): boolean {
    return this.#isListed && this.#options.listener?.isListening === true;
  }

  get #isEnding(): boolean {
    return this.#options.draining.aborted;
  }

  #untilWoken(): Promise<void> {
    if (this.#isPending || this.#isEnding) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = () => {
        this.#resume = null;
        resolve();
      };
    });
  }
}
