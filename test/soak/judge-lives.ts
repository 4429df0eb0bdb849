import type { Findings } from "./findings";
import type { Flight } from "./flights";
import { IdSet } from "./id-set";
import type { Entry } from "./ledger";

/** A task that hasn't ended. */
interface Life {
  readonly kind: string;
  isAcknowledged: boolean;
  isDead: boolean;
  begins: number;
}

type Ended = Extract<Entry, { is: "ended" }>;

/** Each task from its enqueue to its end. */
export class JudgeLives {
  readonly #findings: Findings;
  readonly #lives = new Map<string, Life>();
  readonly #done = new IdSet();
  /** Parents that are done and whose child isn't. */
  readonly #childless = new Set<string>();
  readonly #childDone = new IdSet();
  readonly counts = { acknowledged: 0, begun: 0, done: 0, dead: 0, redriven: 0, unacknowledged: 0 };

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Tasks that have neither ended nor died. */
  get unfinished(): number {
    return [...this.#lives.values()].filter(({ isDead }) => !isDead).length;
  }

  isDone(task: string): boolean {
    return this.#done.has(task);
  }

  queued({ task, kind }: Extract<Entry, { is: "queued" }>): void {
    this.counts.acknowledged += 1;
    if (this.#done.has(task)) {
      this.counts.unacknowledged -= 1;
      return;
    }
    this.#life(task, kind).isAcknowledged = true;
  }

  began(flight: Flight, before: Flight | null, wasHalted: (flight: Flight) => boolean): void {
    const { task, kind, worker, beginMs } = flight;
    this.counts.begun += 1;
    const text = `task ${task} (${kind}) on ${worker} at ${String(beginMs)}`;
    if (this.#done.has(task)) {
      this.#findings.found("once", `${text}: it was done`);
      return;
    }
    const life = this.#life(task, kind);
    life.begins += 1;
    if (life.isDead) this.#findings.found("once", `${text}: it was a dead letter`);
    if (before === null) return;
    if (before.endMs === null && before.isCovered && !wasHalted(before))
      this.#findings.found("one holder", `${text}: it ran on ${before.worker}`);
    if (before.how === "returned" && !wasHalted(before))
      this.#findings.found("once", `${text}: it had returned on ${before.worker}`);
  }

  ended(entry: Ended): void {
    const { task, kind, outcome } = entry;
    if (this.#done.has(task)) return;
    const life = this.#lives.get(task);
    if (life === undefined || life.begins === 0) {
      this.#findings.found("nothing lost", `task ${task} (${kind}) is ${outcome} and never began`);
    }
    if (outcome === "dead") {
      if (life?.isDead !== true) this.counts.dead += 1;
      this.#life(task, kind).isDead = true;
      if (kind !== "doomed")
        this.#findings.found("nothing lost", `task ${task} (${kind}) is a dead letter`);
      return;
    }
    if (outcome === "cancelled")
      this.#findings.found("nothing lost", `task ${task} (${kind}) was cancelled by nobody`);
    this.#done.add(task);
    this.#lives.delete(task);
    this.counts.done += 1;
    if (life?.isAcknowledged !== true && kind !== "child" && kind !== "scheduled")
      this.counts.unacknowledged += 1;
    this.#countFamily(entry);
  }

  redriven(task: string): void {
    const life = this.#lives.get(task);
    if (life !== undefined) life.isDead = false;
    this.counts.redriven += 1;
  }

  /** Once, when everything has been told. */
  finish(): void {
    for (const [task, { kind, isDead, begins }] of this.#lives) {
      if (!isDead)
        this.#findings.found(
          "nothing lost",
          `task ${task} (${kind}) began ${String(begins)} times and never ended`,
        );
    }
    for (const parent of this.#childless)
      this.#findings.found("nothing lost", `the child of task ${parent} never ended`);
  }

  #countFamily({ task, kind, tag }: Ended): void {
    if (kind === "parent" && !this.#childDone.has(task)) this.#childless.add(task);
    if (kind !== "child" || tag === null) return;
    this.#childless.delete(tag);
    if (!this.#childDone.add(tag))
      this.#findings.found("once", `task ${tag} has a second child, ${task}`);
  }

  #life(task: string, kind: string): Life {
    const known = this.#lives.get(task);
    if (known !== undefined) return known;
    const life: Life = { kind, isAcknowledged: false, isDead: false, begins: 0 };
    this.#lives.set(task, life);
    return life;
  }
}
