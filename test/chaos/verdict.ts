/** The promises of the design, in the words of a report. */
export const promises = {
  limit:
    "of each definition, each shared limit and each group no more run under a live lease than allowed",
  "one holder":
    "no task runs twice at a time; one completion counts; effects carry the fence that counts",
  "nothing lost": "each acknowledged task ended once; the database's own invariants hold",
  order:
    "within a claim by priority and id; in a strict group one after the other, over retries, too",
  "no waiting": "no deadlock",
  once: "a repeated call has one effect and one answer; a key has one task",
  "stale work returns": "what a dead host had begun runs again",
  "first come, first served": "every asker is granted",
  clock: "hosts whose clocks are wrong work like others",
  "flat cost": "a claim reads as much with a large backlog as with a small one",
  "quiet when idle": "nothing to do, no statement",
  "in time": "an execution is over by its deadline",
} as const;

export type Rule = keyof typeof promises;

export const rules = Object.keys(promises) as Rule[];

/** Told of a rule no more than this is kept; the rest is counted. */
const keptMax = 5;

/** What a run has found out, rule by rule. */
export class Verdict {
  readonly #checked = new Map<Rule, number>();
  readonly #broken = new Map<Rule, Set<string>>();
  readonly #figures = new Map<Rule, string>();

  /** So many more times something was looked at. */
  check(rule: Rule, times = 1): void {
    this.#checked.set(rule, (this.#checked.get(rule) ?? 0) + times);
  }

  /** The same detail counts once, however often it is seen. */
  broken(rule: Rule, detail: string): void {
    const details = this.#broken.get(rule) ?? new Set();
    this.#broken.set(rule, details.add(detail));
  }

  /** What people may want to know beside the counts. */
  figure(rule: Rule, text: string): void {
    this.#figures.set(rule, text);
  }

  get isGood(): boolean {
    return this.#broken.size === 0;
  }

  /** Of each rule: how often it was looked at, how often it was broken, some of these. */
  row(rule: Rule): { checked: number; broken: number; some: string[]; figure: string } {
    const details = [...(this.#broken.get(rule) ?? [])];
    return {
      checked: this.#checked.get(rule) ?? 0,
      broken: details.length,
      some: details.slice(0, keptMax),
      figure: this.#figures.get(rule) ?? "",
    };
  }
}
