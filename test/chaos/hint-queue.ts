import type { Dice } from "../support/dice";
import { machineMs } from "./machine-clock";

/** What became of messages. */
export interface HintCounts {
  sent: number;
  lost: number;
  doubled: number;
  late: number;
}

/** Of one definition no more wait at a time: a spare one is worth nothing. */
const waitingMax = 12;

/** The queue between hosts. It loses messages, delivers them twice, and in another order than they came in. */
export class HintQueue {
  readonly counts: HintCounts = { sent: 0, lost: 0, doubled: 0, late: 0 };
  readonly #dice: Dice;
  #waiting: { definition: string; dueMs: number }[] = [];
  /** Delivers everything, at once, from now on. */
  isHonest = false;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  get size(): number {
    return this.#waiting.length;
  }

  push(definition: string, inMs: number): void {
    this.counts.sent += 1;
    if (!this.isHonest && this.#dice.percent(5)) {
      this.counts.lost += 1;
      return;
    }
    this.#add(definition, inMs);
    if (this.isHonest || !this.#dice.percent(10)) return;
    this.counts.doubled += 1;
    this.#add(definition, inMs + this.#dice.int(0, 2_000));
  }

  /** Takes out the messages that are due. */
  take(): string[] {
    const nowMs = machineMs();
    const due = this.#waiting.filter(({ dueMs }) => dueMs <= nowMs);
    this.#waiting = this.#waiting.filter(({ dueMs }) => dueMs > nowMs);
    return due.map(({ definition }) => definition);
  }

  #add(definition: string, inMs: number): void {
    const waiting = this.#waiting.filter((hint) => hint.definition === definition);
    if (waiting.length >= waitingMax) return;
    const isLate = !this.isHonest && this.#dice.percent(20);
    if (isLate) this.counts.late += 1;
    const lateMs = isLate ? this.#dice.int(0, 1_000) : 0;
    this.#waiting.push({ definition, dueMs: machineMs() + inMs + lateMs });
  }
}
