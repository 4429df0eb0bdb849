import type { Rate } from "../../core/rate";
import type { AcquireTokensAnswer, StartExecutionAnswer } from "../../ports/task-store";
import type { Clock } from "../../ports/clock";
import type { Random } from "../../ports/random";
import { TokenPollSchedule } from "./token-poll-schedule";

/** Why a call got no tokens. `aborted`: its own signal was; `stopping`: the process ends. */
export type DenialReason = "limited" | "paused" | "aborted" | "stopping";

/** A call that got no tokens. */
export interface Denial {
  readonly reason: DenialReason;
  /** Milliseconds, 0..30,000: a later try makes more sense. */
  readonly retryInMs: number;
}

/** A denied call comes again within this time: tokens usually come back before a lease ends. */
export const retryMaxMs = 5_000;
/** A rate says when the next start may come. */
const rateRetryMaxMs = 30_000;
/** A rate that denies a start gives it a turn within this time; no token says so little, but the end of a lease. */
const rateTurnMaxMs = 1_000;
/** Pauses before the first asks after another denial, each of them varied: where tokens are seldom used, they are free again soon. */
const earlyPausesMs = [60, 120, 240] as const;
/** For so long after a denial other processes are taken to want the same tokens. */
const contendedMs = 5_000;
const limited: Denial = { reason: "limited", retryInMs: retryMaxMs };
/** Pauses after a part of the wanted tokens went back, one after the other, the last one again and again. */
const partPausesMs = [50, 100, 200, 400] as const;

/** When a process may ask for tokens of one limit again, and what its calls are told until then. */
export class AskOutlook {
  /** What a call is told that gets no tokens. */
  denial: Denial = limited;
  readonly #clock: Clock;
  readonly #rate: Rate | null;
  readonly #random: Random;
  readonly #polls: TokenPollSchedule;
  #askAtMs = Number.NEGATIVE_INFINITY;
  /** Parts that went back since a waiting call was last served. */
  #parts = 0;
  /** Denied starts since then. */
  #denials = 0;
  #contendedUntilMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, random }: { clock: Clock; random: Random }, rate: Rate | null) {
    this.#clock = clock;
    this.#random = random;
    this.#rate = rate;
    this.#polls = new TokenPollSchedule(clock.monotonicMs());
  }

  /** Monotonic milliseconds; minus infinity: at once. */
  get askAtMs(): number {
    return this.#askAtMs;
  }

  /** May it be asked at that instant? Monotonic milliseconds. */
  mayAskAt(nowMs: number): boolean {
    return nowMs >= this.#askAtMs;
  }

  /** Other processes want the same tokens: they held all that there are, or wanted some back. */
  get isContended(): boolean {
    return this.#now() < this.#contendedUntilMs;
  }

  /** Others want tokens just now. */
  noteContention(): void {
    this.#contendedUntilMs = this.#now() + contendedMs;
  }

  /** The next ask may be sent at once. */
  askAtOnce(): void {
    this.#askAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Tokens came, perhaps fewer than wanted: the next ask, at once, notes the demand. */
  noteStart(): void {
    this.denial = limited;
    this.#polls.pollSeldom(this.#now());
    this.askAtOnce();
  }

  /** A start was denied. */
  noteDenial(answer: Pick<StartExecutionAnswer, "status" | "demand" | "retryInMs">): void {
    this.#polls.notePoll(this.#now());
    if (answer.demand === "noted") this.#polls.pollOften(this.#now());
    const earlyMs = this.#earlyMs(answer.retryInMs);
    this.#denials += 1;
    this.#askAtMs = Math.min(this.#polls.nextPollMs, this.#now() + earlyMs);
    if (answer.status === "limited") this.noteContention();
    this.denial = {
      reason: answer.status === "paused" ? "paused" : "limited",
      retryInMs: Math.min(
        answer.retryInMs ?? retryMaxMs,
        this.#isSlow ? rateRetryMaxMs : retryMaxMs,
      ),
    };
  }

  /** A rate says when; of a slow one the answer may be long, as that about a lease, and asking often doesn't help. */
  #earlyMs(retryInMs: number | null): number {
    const rate = this.#rate;
    if (rate !== null && retryInMs !== null && retryInMs <= rateTurnMaxMs) return retryInMs;
    if (this.#isSlow) return Infinity;
    return this.#varied(earlyPausesMs[this.#denials] ?? Infinity);
  }

  /** Under a rate that lets less than one start a second. */
  get #isSlow(): boolean {
    return this.#rate !== null && this.#rate.periodMs / this.#rate.count > rateTurnMaxMs;
  }

  /** An ask for more is sent. */
  noteAsk(): void {
    this.#polls.notePoll(this.#now());
  }

  /** It was answered: with all that was wanted, or with less. */
  noteAnswer(answer: Pick<AcquireTokensAnswer, "granted" | "demand">, isMet: boolean): void {
    this.#polls.noteAnswer(answer, this.#now());
    if (isMet) this.askAtOnce();
    else {
      this.#askAtMs = this.#polls.nextPollMs;
      this.denial = limited;
    }
  }

  /** Given tokens are for others: for a while no more are asked for. */
  noteGift(): void {
    this.#polls.pollSeldom(this.#now());
    this.#askAtMs = this.#polls.nextPollMs;
  }

  /**
   * A part of the wanted tokens went back, so that another process can use it. The next ask comes soon, and later each time;
   * the pauses vary, or processes that want the same number would take each other's part again and again.
   */
  notePart(): void {
    const pauseMs = partPausesMs[this.#parts] ?? partPausesMs[3];
    this.#parts += 1;
    this.#askAtMs = this.#now() + this.#varied(pauseMs);
  }

  /** A waiting call got its tokens. */
  noteServed(): void {
    this.#parts = 0;
    this.#denials = 0;
  }

  /** A call failed. */
  noteError(): void {
    this.#polls.notePoll(this.#now());
    this.#askAtMs = this.#polls.nextPollMs;
  }

  #varied(pauseMs: number): number {
    return pauseMs * (0.5 + this.#random.fraction());
  }

  #now(): number {
    return this.#clock.monotonicMs();
  }
}
