import { isCallsDefinition } from "../core/calls-definition";
import type { Fence } from "../core/ids";
import type { Clock } from "../ports/clock";
import type { ReadFreeTokensAnswer, TaskStore } from "../ports/task-store";
import type { Timers } from "../ports/timers";
import type { HintOptions, WakeUp } from "../ports/wake-up";
import { RememberedDefinitions } from "./remembered-definitions";

/** What hints of free tokens are sent with. */
export interface FreeTokenHintsOptions {
  /** Where a hint goes that a free token stands behind. */
  readonly hints: WakeUp;
  /** Tells the free tokens. Asked for with each look: a client's may be closed by then. */
  readonly store: () => Pick<TaskStore, "readFreeTokens">;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** Of one definition there is at most one look per this time. */
const quietMs = 200;
/** A hint is taken to have reached a worker by then, also where no token was granted since. */
const arrivedMs = 5_000;
/** A delayed hint arrives then where hints under way may have found their tasks gone. */
const againInMs = 1_000;
/** A definition without a limit is looked at again after this time. */
const unlimitedMs = 10_000;

/** What this process knows of one definition. Instants are monotonic. */
interface Known {
  quietUntilMs: number;
  unlimitedUntilMs: number;
  /** A look that hasn't begun: it sees what was added until then. */
  next: Promise<void> | null;
  /** The first hint of this process was sent, or found no free token. */
  first: Promise<void> | null;
  /** Tasks of the hints that share it. */
  tasks: number;
  /** Hints that are taken to be under way to workers. */
  underWay: number;
  sentAtMs: number;
  fence: Fence | null;
}

const never = Number.NEGATIVE_INFINITY;
const unknown = (): Known => ({
  quietUntilMs: never,
  unlimitedUntilMs: never,
  next: null,
  first: null,
  tasks: 0,
  underWay: 0,
  sentAtMs: never,
  fence: null,
});

/**
 * Hints that wake no worker in vain: behind an enqueue's commit the database tells how many tokens are free, and this process
 * has no more hints under way than that. Where none is free, or no task waits, nothing is sent: the execution that holds the
 * tokens looks for tasks when it gives one back. Hints for later, for schedules and of workers that know of free tokens pass. Never rejects.
 */
export class FreeTokenHints implements WakeUp {
  readonly #options: FreeTokenHintsOptions;
  readonly #known = new RememberedDefinitions(unknown);

  constructor(options: FreeTokenHintsOptions) {
    this.#options = options;
  }

  hint(definition: string, options: HintOptions = {}): Promise<void> {
    if (isCallsDefinition(definition)) return Promise.resolve();
    const { inMs = 0, forSchedule, isForMore, isRest, isSure } = options;
    const passes = inMs > 0 || forSchedule || isForMore || isRest || isSure;
    const known = this.#known.of(definition);
    const nowMs = this.#options.clock.monotonicMs();
    if (passes === true || nowMs < known.unlimitedUntilMs)
      return this.#options.hints.hint(definition, options);
    known.tasks += options.tasks ?? Number.MAX_SAFE_INTEGER;
    known.next ??= this.#lookAfter(known.quietUntilMs - nowMs, () => {
      known.next = null;
      return this.#look(definition, known, options);
    });
    known.first ??= known.next;
    return known.next;
  }

  /** Resolves when the first hint of a definition has found its way, or its end. */
  async settledOnce(definition: string): Promise<void> {
    await this.#known.find(definition)?.first;
  }

  async #lookAfter(waitMs: number, look: () => Promise<void>): Promise<void> {
    // A look that could begin at once waits for the next step as well: hints of one moment share it.
    await new Promise<void>((resolve) => {
      if (waitMs > 0) this.#options.timers.after(waitMs, resolve);
      else resolve();
    });
    return look();
  }

  async #look(definition: string, known: Known, options: HintOptions): Promise<void> {
    const { clock, hints, store } = this.#options;
    const { tasks } = known;
    known.tasks = 0;
    known.quietUntilMs = clock.monotonicMs() + quietMs;
    const found = await this.#ask(store, definition, known.fence);
    const nowMs = clock.monotonicMs();
    if (found?.status !== "read") return hints.hint(definition, { ...options, tasks });
    this.#noteArrivals(known, found, nowMs);
    const { free, ready, crowdedOut } = found;
    if (free === null) {
      if (found.tokenFence !== null) known.unlimitedUntilMs = nowMs + unlimitedMs;
      return hints.hint(definition, { ...options, tasks });
    }
    if (free === 0 || ready === 0) return;
    if (known.underWay < free) {
      known.underWay += 1;
      known.sentAtMs = nowMs;
      return hints.hint(definition, { ...options, tasks });
    }
    // Tasks of before still wait: the hints under way are for them, and their workers find these tasks, too. A worker that was
    // crowded out comes again.
    if (ready > tasks && !crowdedOut) return;
    return hints.hint(definition, { ...options, tasks, inMs: againInMs });
  }

  async #ask(
    store: FreeTokenHintsOptions["store"],
    name: string,
    sinceFence: Fence | null,
  ): Promise<ReadFreeTokensAnswer | null> {
    try {
      return await store().readFreeTokens({ name, sinceFence });
    } catch {
      // The database is away, its connections are in use, or it has no such call yet.
      return null;
    }
  }

  #noteArrivals(known: Known, found: ReadFreeTokensAnswer, nowMs: number): void {
    known.underWay = Math.max(known.underWay - found.grants, 0);
    if (nowMs - known.sentAtMs >= arrivedMs) known.underWay = 0;
    if (found.tokenFence !== null) known.fence = found.tokenFence;
  }
}
