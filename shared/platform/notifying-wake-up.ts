import { isCallsDefinition } from "../core/calls-definition";
import type { Clock } from "../ports/clock";
import type { TaskStore } from "../ports/task-store";
import type { Timers } from "../ports/timers";
import type { HintOptions, WakeUp } from "../ports/wake-up";
import { RememberedDefinitions } from "./remembered-definitions";

/** What notifications are sent with. */
export interface NotifyingWakeUpOptions {
  /** The other way to workers: every hint goes there as well. */
  readonly hints: WakeUp;
  /** Tells processes that wait in it. Asked for with each hint: a client's may be closed by then. */
  readonly store: () => Pick<TaskStore, "notifyWaiting">;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** Of one definition there is at most one notification per this time. */
const quietMs = 5;
/** Where nobody waited, nobody is looked for during this time: a process that begins to wait looks for tasks anyway. */
const nobodyMs = 250;

/** What this process knows of one definition. Instants are monotonic. */
interface Known {
  quietUntilMs: number;
  /** No process waited a moment ago. */
  nobodyUntilMs: number;
  /** Tasks that the notification at the end of the quiet time is for. */
  tasks: number;
  following: Promise<void> | null;
}

const never = Number.NEGATIVE_INFINITY;
const unknown = (): Known => ({
  quietUntilMs: never,
  nobodyUntilMs: never,
  tasks: 0,
  following: null,
});

/**
 * Hints that also notify resident processes. Per process and definition one notification goes out at once, and those of the
 * next 5 ms become one at their end. Where no process waits the next look for one comes after 250 ms. A delayed hint
 * notifies at once: the process that looks learns when the task is due. Never rejects: polls find what isn't told.
 */
export class NotifyingWakeUp implements WakeUp {
  readonly #options: NotifyingWakeUpOptions;
  readonly #known = new RememberedDefinitions(unknown);

  constructor(options: NotifyingWakeUpOptions) {
    this.#options = options;
  }

  async hint(definition: string, options: HintOptions = {}): Promise<void> {
    if (isCallsDefinition(definition)) return;
    const { tasks = Number.MAX_SAFE_INTEGER, inMs = 0, forSchedule = false } = options;
    const hint = this.#options.hints.hint(definition, options);
    if (!forSchedule) await this.#notify(definition, inMs > 0 ? 1 : tasks);
    await hint;
  }

  #notify(definition: string, tasks: number): Promise<void> {
    const { clock, timers } = this.#options;
    const known = this.#known.of(definition);
    const nowMs = clock.monotonicMs();
    if (nowMs < known.nobodyUntilMs) return Promise.resolve();
    const waitMs = known.quietUntilMs - nowMs;
    if (waitMs <= 0 && known.following === null) return this.#send(definition, known, tasks);
    known.tasks += tasks;
    known.following ??= new Promise((resolve) => {
      timers.after(Math.max(waitMs, 0), () => {
        known.following = null;
        resolve(this.#send(definition, known, known.tasks));
      });
    });
    return known.following;
  }

  async #send(definition: string, known: Known, tasks: number): Promise<void> {
    const { clock, store } = this.#options;
    known.tasks = 0;
    known.quietUntilMs = clock.monotonicMs() + quietMs;
    let notified = 0;
    try {
      notified = (await store().notifyWaiting?.(definition, tasks)) ?? 0;
    } catch {
      // The database is away, or its connections are in use.
    }
    if (notified === 0) known.nobodyUntilMs = clock.monotonicMs() + nobodyMs;
  }
}
