import { messageOf } from "../core/foreign-value";
import { isCallsDefinition } from "../core/calls-definition";
import type { Clock } from "../ports/clock";
import type { Logger } from "../ports/logger";
import type { Telemetry } from "../ports/telemetry";
import type { Timers } from "../ports/timers";
import type { HintOptions, WakeUp } from "../ports/wake-up";
import type { HintQueue } from "./storage-hint-queue";

/** What hints are sent with. */
export interface StorageQueueWakeUpOptions {
  readonly queue: HintQueue;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly telemetry?: Telemetry;
}

/** Of one definition there is at most one hint at once per this time. */
const quietMs = 200;
/** A delayed hint replaces a pending one only when it comes earlier by more than this. */
const earlierMs = 1_000;
/** Messages live 7 days; a woken worker leaves the next hint. */
const delaySecondsMax = 6 * 24 * 3_600;
/** Definitions that are remembered; beyond it finished entries are dropped. */
const rememberedMax = 1_000;

/** Where no queue is known: hints go nowhere, the sweep finds the work. */
export const noWakeUp: WakeUp = { hint: () => Promise.resolve() };

/**
 * Hints over a storage queue: the message is the JSON text `{ "taskDefinition": name, "traceParent"?: W3C text,
 * "schedule"?: true }`. Hints for schedules are counted apart. Per process and definition at most one hint at once per 200 ms: the first goes out immediately, those within the
 * 200 ms become one that goes out at their end, so that work enqueued after the first was consumed is still announced.
 * At most one delayed hint is pending, unless a new one is to arrive earlier by more than 1 s: the worker that is woken by the
 * pending one leaves the next. Delays are rounded up to seconds and cut at 6 days. A hint's promise resolves when it
 * was sent or given up; it never rejects: failures are logged, and the sweep finds the work later.
 */
export function createStorageQueueWakeUp(options: StorageQueueWakeUpOptions): WakeUp {
  return new StorageQueueWakeUp(options);
}

interface Hint {
  readonly definition: string;
  readonly traceParent?: string | undefined;
  /** The key of a remembered hint. */
  readonly key: string;
  readonly schedule?: true;
}

class StorageQueueWakeUp implements WakeUp {
  readonly #options: StorageQueueWakeUpOptions;
  /** Until when (monotonic) no further hint goes out at once. */
  readonly #quietUntilMs = new Map<string, number>();
  /** The hint at the end of the quiet time. */
  readonly #following = new Map<string, Promise<void>>();
  /** When (monotonic) the pending delayed hint arrives. */
  readonly #arrivesAtMs = new Map<string, number>();

  constructor(options: StorageQueueWakeUpOptions) {
    this.#options = options;
  }

  hint(definition: string, given: HintOptions = {}): Promise<void> {
    // Its processes look by themselves; no worker could follow the hint.
    if (isCallsDefinition(definition)) return Promise.resolve();
    const { inMs = 0, traceParent, forSchedule = false } = given;
    const key = JSON.stringify([definition, forSchedule]);
    const hint = {
      definition,
      traceParent,
      key,
      ...(forSchedule ? { schedule: true as const } : {}),
    };
    return inMs > 0 ? this.#hintLater(hint, inMs) : this.#hintNow(hint);
  }

  async #hintNow(hint: Hint): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const waitMs = (this.#quietUntilMs.get(hint.key) ?? nowMs) - nowMs;
    if (waitMs > 0) return this.#hintAtEndOfQuiet(hint, waitMs);
    this.#remember(this.#quietUntilMs, hint.key, nowMs + quietMs);
    // One that failed must not silence the next.
    if (!(await this.#send(hint, 0))) this.#quietUntilMs.delete(hint.key);
  }

  #hintAtEndOfQuiet(hint: Hint, waitMs: number): Promise<void> {
    const following = this.#following.get(hint.key);
    if (following !== undefined) return following;
    const promise = new Promise<void>((resolve) => {
      this.#options.timers.after(waitMs, () => {
        this.#following.delete(hint.key);
        resolve(this.#hintNow(hint));
      });
    });
    this.#following.set(hint.key, promise);
    return promise;
  }

  async #hintLater(hint: Hint, inMs: number): Promise<void> {
    const delaySeconds = Math.min(Math.ceil(inMs / 1_000), delaySecondsMax);
    const nowMs = this.#options.clock.monotonicMs();
    const arrivesAtMs = nowMs + delaySeconds * 1_000;
    const pendingMs = this.#arrivesAtMs.get(hint.key);
    if (pendingMs !== undefined && pendingMs > nowMs && arrivesAtMs >= pendingMs - earlierMs)
      return;
    this.#remember(this.#arrivesAtMs, hint.key, arrivesAtMs);
    if (!(await this.#send(hint, delaySeconds))) this.#arrivesAtMs.delete(hint.key);
  }

  async #send({ definition, traceParent, schedule }: Hint, delaySeconds: number): Promise<boolean> {
    const { queue, logger, telemetry } = this.#options;
    try {
      const message = { taskDefinition: definition, traceParent, schedule };
      await queue.send(JSON.stringify(message), delaySeconds);
      telemetry?.count("taskgate.hint.sent", 1, { definition });
      return true;
    } catch (error) {
      const reason = messageOf(error);
      logger.warn("A hint could not be sent; the sweep will find the work", { definition, reason });
      return false;
    }
  }

  #remember(instants: Map<string, number>, key: string, atMs: number): void {
    if (instants.size >= rememberedMax) {
      const nowMs = this.#options.clock.monotonicMs();
      for (const [name, untilMs] of instants) if (untilMs <= nowMs) instants.delete(name);
    }
    instants.set(key, atMs);
  }
}
