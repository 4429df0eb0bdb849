import { StoreUnavailableError, TaskgateError } from "../core/errors";
import type { Clock } from "../ports/clock";
import { reading } from "./operations/operation";
import type { ProcedureCaller } from "./procedure-caller";

/** What the breaker found out. */
export type BreakerNews =
  | { readonly kind: "away"; readonly reason: string }
  | { readonly kind: "back"; readonly afterMs: number };

/** What a breaker needs. */
export interface BreakerOptions {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly sleep: (ms: number) => Promise<void>;
  /** Told once when the store goes away and once when it is back. */
  readonly onNews: (news: BreakerNews) => void;
}

/** Pauses before the first probe, the second and so on; the last one stays. A lone broken connection costs no pause. */
const pausesMs = [0, 500, 1_000, 2_000, 5_000] as const;

interface Asked {
  readonly begunAtMs: number;
  readonly does: "reads" | "writes";
}

interface Away {
  readonly sinceMs: number;
  /** No probe before. */
  untilMs: number;
  failedProbes: number;
  reason: string;
  /** It answers reads, and refuses what writes: only a write that is answered ends it. */
  readonly isReadOnly: boolean;
  /** Under way; resolves when it has ended, however it did. */
  probe: { readonly ended: Promise<void>; readonly end: () => void } | null;
}

/**
 * While the store is away one call at a time asks whether it is back, at most every 5 s. So not every call waits
 * for a time-out of its own. New work is refused at once (`enter`); work under way waits for the next probe (`run`).
 * One per process, shared by everything that asks the store.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #away: Away | null = null;
  /** When the newest answer came. */
  #answeredAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /**
   * For new work. Resolves at once unless the store is away; then the first to come after a pause asks, by `probe`, and
   * all others are refused at once. Throws StoreUnavailableError, or what `probe` threw.
   */
  async enter(probe: () => Promise<void>): Promise<void> {
    const away = this.#away;
    // Of one that refuses writes alone: work that only reads goes on, and a write meets `run`.
    if (away === null || away.isReadOnly) return;
    if (away.probe !== null || this.#pauseMs(away) > 0) throw this.#refusal(away);
    await this.run(probe, "reads");
  }

  /** Runs `call`. While the store is away it waits for the next probe, or is that; a failed one is its failure, too. */
  async run<Result>(
    call: () => Promise<Result>,
    does: "reads" | "writes" = "writes",
  ): Promise<Result> {
    const failedBefore = this.#away?.failedProbes ?? 0;
    for (;;) {
      const away = this.#away;
      if (away === null || (away.isReadOnly && does === "reads")) return this.#ask(call, does);
      if (away.failedProbes > failedBefore) throw this.#refusal(away);
      const pauseMs = this.#pauseMs(away);
      if (away.probe !== null) await away.probe.ended;
      else if (pauseMs > 0) await this.#options.sleep(pauseMs);
      else return this.#probe(away, () => this.#ask(call, does));
    }
  }

  /** The store has answered something that only reads, or that writes. */
  answered(does: "reads" | "writes"): void {
    const nowMs = this.#options.clock.monotonicMs();
    const away = this.#away;
    if (away?.isReadOnly === true && does === "reads") return;
    this.#answeredAtMs = nowMs;
    if (away === null) return;
    this.#away = null;
    // Calls that wait for the probe go on now: a transaction that was the probe may go on for long.
    away.probe?.end();
    this.#options.onNews({ kind: "back", afterMs: nowMs - away.sinceMs });
  }

  async #ask<Result>(call: () => Promise<Result>, does: "reads" | "writes"): Promise<Result> {
    const begunAtMs = this.#options.clock.monotonicMs();
    try {
      const result = await call();
      this.answered(does);
      return result;
    } catch (error) {
      this.#judge(error, { begunAtMs, does });
      throw error;
    }
  }

  async #probe<Result>(away: Away, ask: () => Promise<Result>): Promise<Result> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    away.probe = { ended, end };
    try {
      return await ask();
    } finally {
      away.failedProbes += 1;
      const pauseMs = pausesMs[Math.min(away.failedProbes, pausesMs.length - 1)] ?? 0;
      away.untilMs = this.#options.clock.monotonicMs() + pauseMs;
      away.probe = null;
      end();
    }
  }

  #judge(error: unknown, { begunAtMs, does }: Asked): void {
    // What a handler threw inside its transaction tells nothing.
    if (!(error instanceof TaskgateError)) return;
    const isLost = error.code === "TASKGATE_STORE_UNCERTAIN";
    if (!isLost && error.code !== "TASKGATE_STORE_UNAVAILABLE") {
      this.answered(does);
      return;
    }
    const isReadOnly = error.details["isReadOnly"] === true;
    // The process's own connections are all in use, or others were answered meanwhile: the store is there.
    if (error.details["isBusy"] === true) return;
    if (begunAtMs < this.#answeredAtMs && !isReadOnly) return;
    if (this.#away !== null) {
      this.#away.reason = error.message;
      return;
    }
    const nowMs = this.#options.clock.monotonicMs();
    const untilMs = nowMs + pausesMs[0];
    const reason = error.message;
    this.#away = { sinceMs: nowMs, untilMs, failedProbes: 0, reason, isReadOnly, probe: null };
    this.#options.onNews({ kind: "away", reason });
  }

  #pauseMs(away: Away): number {
    return away.untilMs - this.#options.clock.monotonicMs();
  }

  #refusal(away: Away): StoreUnavailableError {
    return new StoreUnavailableError(
      `The database is away, as one probe of this process found; nothing was sent. It said: ${away.reason}`,
    );
  }
}

/** The same caller behind the breaker. Calls within a user's transaction have their connection already. */
export function behindBreaker(caller: ProcedureCaller, breaker: Breaker): ProcedureCaller {
  return {
    dialect: caller.dialect,
    call: (procedure, values, within) =>
      within === undefined
        ? breaker.run(
            () => caller.call(procedure, values),
            reading.test(procedure.name) ? "reads" : "writes",
          )
        : caller.call(procedure, values, within),
    completeAndCommit: (values, within) => caller.completeAndCommit(values, within),
    transaction: (body, bounds) =>
      breaker.run(() =>
        caller.transaction((transaction) => {
          // Its begin was answered; how long the body takes is the user's matter.
          breaker.answered("reads");
          return body(transaction);
        }, bounds),
      ),
    // It comes behind a call that was answered, and tells nothing that the next call doesn't.
    ...(caller.notifyWaiting === undefined ? {} : { notifyWaiting: caller.notifyWaiting }),
    close: () => caller.close(),
  };
}
