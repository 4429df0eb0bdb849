import { messageOf } from "../../core/foreign-value";
import { pollPauseMs } from "../../core/look-times";
import type { TaskListener } from "../../ports/task-listener";
import type { ExecutionBounds, WorkerOptions } from "../run/run-worker";
import { registerBuild } from "../run/schedules";
import { sweepOnce } from "../run/sweep";
import type { ResidentWakeUp } from "./resident-wake-up";
import { EarliestTimer } from "../run/earliest-timer";
import { ResidentWorker } from "./resident-worker";

/** What a resident process works with. */
export interface ResidentOptions {
  /** Its environment's way to workers is `wakeUp`. */
  readonly worker: WorkerOptions;
  readonly wakeUp: ResidentWakeUp;
  /** Names of this build's definitions. */
  readonly definitions: readonly string[];
  /** The longest pause between two polls. */
  readonly pollMs: number;
  readonly listener: TaskListener | null;
  readonly bounds: () => ExecutionBounds;
  /** Aborted when nothing more is to begin. */
  readonly draining: AbortSignal;
}

/** Statistics are added up, and rows whose retention is over looked for, so often. */
const upkeepEveryMs = 30_000;
/** The longest pause between two polls while the database is away. */
const awayMs = 30_000;

/**
 * The workers of a resident process, one per definition, and the poll that serves them all. Each poll is a sweep: it
 * finds tasks that nobody told of, takes back what dead workers held, fires schedules and opens waves, so no function app
 * is needed beside.
 */
export class ResidentProcess {
  readonly #options: ResidentOptions;
  readonly #workers: ReadonlyMap<string, ResidentWorker>;
  #idlePolls = 0;
  /** When the next delayed task or instant of a schedule is due, by the clock that never jumps. */
  #dueAtMs: number | null = null;
  #upkeepAtMs = 0;
  #troubles = 0;
  #hasToldRefused = false;
  #pollSooner: (() => void) | null = null;

  constructor(options: ResidentOptions) {
    this.#options = options;
    const { worker, listener, bounds, draining, wakeUp } = options;
    this.#workers = new Map(
      options.definitions.map((definition) => [
        definition,
        new ResidentWorker({ worker, definition, listener, bounds, draining }),
      ]),
    );
    for (const [definition, resident] of this.#workers) wakeUp.serve(definition, resident);
    wakeUp.onSchedule = (inMs) => {
      this.#dueIn(inMs);
      this.#pollSooner?.();
    };
  }

  /** Tasks of a definition may have become ready; null: of any. */
  wake(definition: string | null): void {
    for (const [name, worker] of this.#workers)
      if (definition === null || name === definition) worker.wake();
  }

  /** Works until `draining` is aborted and the last execution has ended. Never rejects. `onReady`: the definitions are known. */
  async run(onReady: () => void): Promise<void> {
    while (!(await this.#tried(() => this.#register())) && !this.#isEnding())
      await this.#pause(this.#troubleMs());
    if (this.#isEnding()) return;
    onReady();
    const workers = [...this.#workers.values()].map((worker) => worker.run());
    await Promise.all([this.#poll(), ...workers]);
  }

  async #poll(): Promise<void> {
    while (!this.#isEnding()) {
      const isGood = await this.#tried(() => this.#pollOnce());
      if (!this.#isEnding()) await this.#pause(isGood ? null : this.#troubleMs());
    }
  }

  #register(): Promise<void> {
    const { environment, registry } = this.#options.worker;
    return registerBuild(environment, registry);
  }

  async #pollOnce(): Promise<void> {
    const { worker, definitions } = this.#options;
    const { environment, registry } = worker;
    const nowMs = environment.clock.monotonicMs();
    const withUpkeep = nowMs >= this.#upkeepAtMs;
    if (withUpkeep) this.#upkeepAtMs = nowMs + upkeepEveryMs;
    const served = new Set(definitions);
    // Schedules that this sweep fires tell their next instants on the way.
    this.#dueAtMs = null;
    const { hinted, full, nextDueMs, refused } = await sweepOnce(environment, registry, {
      serves: (definition) => served.has(definition),
      withUpkeep,
    });
    this.#tellRefused(refused);
    // Tokens pass on to a process that asks, and a denied one stops asking after some seconds.
    for (const name of full) this.#workers.get(name)?.ask();
    if (nextDueMs !== null && nextDueMs > 0) this.#dueIn(nextDueMs);
    // Tasks that are due by now hide the next one.
    if (nextDueMs === 0) await this.#lookAtSchedules();
    this.#idlePolls = hinted > 0 || this.#isAnyBusy() ? 0 : this.#idlePolls + 1;
  }

  async #lookAtSchedules(): Promise<void> {
    const { schedules } = await this.#options.worker.environment.store.listSchedules({
      max: 1_000,
    });
    for (const { inMs, paused } of schedules)
      if (inMs !== null && inMs > 0 && !paused) this.#dueIn(inMs);
  }

  #dueIn(inMs: number): void {
    const atMs = this.#options.worker.environment.clock.monotonicMs() + inMs;
    this.#dueAtMs = Math.min(atMs, this.#dueAtMs ?? atMs);
  }

  /** Answers false where the database can't be asked; the first of such failures is told. */
  async #tried(call: () => Promise<void>): Promise<boolean> {
    const { logger } = this.#options.worker.environment;
    try {
      await call();
      if (this.#troubles > 0) this.wake(null);
      this.#troubles = 0;
      return true;
    } catch (error) {
      const reason = messageOf(error);
      this.#troubles += 1;
      if (this.#troubles === 1) logger.warn("a poll failed; polls go on", { reason });
      return false;
    }
  }

  #troubleMs(): number {
    return Math.min(awayMs, 1_000 * 2 ** Math.min(this.#troubles, 5));
  }

  #tellRefused(refused: ReadonlyMap<string, string>): void {
    const { environment } = this.#options.worker;
    if (refused.size === 0 || this.#hasToldRefused) return;
    this.#hasToldRefused = true;
    const reason = environment.app?.refusal(refused).message ?? "";
    environment.logger.error("definitions that belong to another app are left alone", { reason });
  }

  #isEnding(): boolean {
    return this.#options.draining.aborted;
  }

  #isAnyBusy(): boolean {
    return [...this.#workers.values()].some(({ isBusy }) => isBusy);
  }

  /** Until the next poll; `ms` null: as the last one and the schedules told since then say. */
  async #pause(ms: number | null): Promise<void> {
    const { worker, draining } = this.#options;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel();
        draining.removeEventListener("abort", end);
        this.#pollSooner = null;
        resolve();
      };
      const timer = new EarliestTimer(worker.environment, end);
      const arm = (): void => {
        timer.set(worker.environment.clock.monotonicMs() + (ms ?? this.#pollPauseMs()));
      };
      draining.addEventListener("abort", end, { once: true });
      this.#pollSooner = arm;
      arm();
    });
  }

  #pollPauseMs(): number {
    const { worker, listener, pollMs } = this.#options;
    return pollPauseMs({
      pollMs,
      idlePolls: this.#idlePolls,
      isNotified: listener?.isListening === true,
      nextDueMs:
        this.#dueAtMs === null ? null : this.#dueAtMs - worker.environment.clock.monotonicMs(),
      fraction: worker.environment.random.fraction(),
    });
  }
}
