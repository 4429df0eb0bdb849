import { Findings } from "./findings";
import { Flights } from "./flights";
import { JudgeLimits } from "./judge-limits";
import { JudgeLives } from "./judge-lives";
import { JudgeOrder } from "./judge-order";
import type { Entry } from "./ledger";
import type { Scale } from "./plan";

/** Of entries at the same instant: what ends a run comes before what begins one. */
const rank: Readonly<Record<Entry["is"], number>> = {
  leg: 0,
  worker: 1,
  queued: 2,
  redriven: 3,
  wrong: 4,
  end: 5,
  ended: 6,
  begin: 7,
  read: 8,
};

/** What only a leg under way writes: the next one reads the database before it starts. */
const signsOfLife: readonly Entry["is"][] = ["begin", "end", "queued"];

/**
 * Reads a ledger in the order of time and finds what must not be. Entries may be told in any order, as long as all of an
 * instant are told before it is judged.
 */
export class LedgerJudge {
  readonly findings = new Findings();
  readonly limits: JudgeLimits;
  readonly lives = new JudgeLives(this.findings);
  readonly #order = new JudgeOrder(this.findings);
  readonly #flights = new Flights();
  #told: Entry[] = [];
  #waits: number[] = [];
  /** All ends before it have been told. */
  #readMs = 0;
  legs = 0;
  /** Begins that were told, judged or not. */
  begun = 0;

  constructor(scale: Scale) {
    this.limits = new JudgeLimits(this.findings, scale);
  }

  tell(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#told.push(entry);
      if (entry.is === "read") this.#readMs = Math.max(this.#readMs, entry.atMs);
      if (entry.is === "begin") this.#noteBegin(entry.waitMs);
    }
  }

  /** Judges what was told, up to an instant, and never beyond what was read of the database. */
  judgeUntil(atMs: number): void {
    const untilMs = Math.min(atMs, this.#readMs);
    const due = this.#told.filter((entry) => entry.atMs < untilMs);
    this.#told = this.#told.filter((entry) => entry.atMs >= untilMs);
    due.sort((a, b) => a.atMs - b.atMs || rank[a.is] - rank[b.is]);
    for (const entry of due) this.#take(entry);
  }

  /** Judges all that was told, and what is missing at the end. */
  finish(): void {
    this.#readMs = Number.POSITIVE_INFINITY;
    this.judgeUntil(Number.POSITIVE_INFINITY);
    this.lives.finish();
    this.#order.finish();
  }

  /** From enqueue to handler, ms, of begins that were told since the last call. */
  takeWaits(): number[] {
    const waits = this.#waits;
    this.#waits = [];
    return waits;
  }

  #noteBegin(waitMs: number | null): void {
    this.begun += 1;
    if (waitMs !== null) this.#waits.push(waitMs);
  }

  #take(entry: Entry): void {
    if (entry.is === "leg" && entry.what === "started") this.#startLeg(entry.atMs);
    if (signsOfLife.includes(entry.is)) this.#order.lived(entry.atMs);
    switch (entry.is) {
      case "begin":
        this.#begin(entry);
        return;
      case "end": {
        const flight = this.#flights.end(entry);
        if (flight?.isCovered === true) this.limits.uncovered(flight);
        return;
      }
      case "queued":
        this.lives.queued(entry);
        return;
      case "ended":
        this.#ended(entry);
        return;
      case "redriven":
        this.lives.redriven(entry.task);
        return;
      case "worker": {
        if (this.#flights.isLateForNoReason(entry))
          this.findings.found("leases", `${entry.worker} at ${String(entry.atMs)}`);
        const { uncovered, covered } = this.#flights.workerNews(entry);
        for (const flight of uncovered) this.limits.uncovered(flight);
        for (const flight of covered) this.limits.covered(flight);
        return;
      }
      case "wrong":
        this.findings.found("answers", entry.text);
        return;
      case "leg":
      case "read":
    }
  }

  #startLeg(atMs: number): void {
    this.legs += 1;
    for (const flight of this.#flights.legNews(atMs)) this.limits.uncovered(flight);
    this.#order.legStarted(atMs);
  }

  #begin(entry: Extract<Entry, { is: "begin" }>): void {
    const { flight, before } = this.#flights.begin(entry);
    this.limits.began(flight);
    this.#order.began(flight);
    this.lives.began(flight, before, (other) => this.#flights.wasHalted(other));
  }

  #ended(entry: Extract<Entry, { is: "ended" }>): void {
    if (!this.lives.isDone(entry.task)) this.#order.ended(entry);
    this.lives.ended(entry);
    if (entry.outcome === "done") this.#flights.forget(entry.task);
  }
}
