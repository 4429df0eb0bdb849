/** What a ledger must show, in the words of a report. */
export const rules = {
  "nothing lost":
    "every acknowledged task came to its end, and every child of a parent that is done",
  once: "nothing runs again after its end, nor without a reason: a failed attempt, a halted worker, a lost lease",
  "one holder": "no task runs in two processes at a time",
  limits: "of a definition, a shared limit and a group no more ran at a time than allowed",
  rate: "no more starts than the rate allows",
  waves: "no task of a wave began before all of the wave before had ended",
  schedules: "each instant of a schedule has one task",
  leases: "a worker that nothing has halted for a lease renews its leases in time",
  answers: "a second event with a known key is told the first one's task",
} as const;

export type Rule = keyof typeof rules;
export const ruleNames = Object.keys(rules) as Rule[];

/** Of one rule no more than this is kept in words; the rest is counted. */
const keptMax = 5;

/** What a judge has found. */
export class Findings {
  readonly #counts = new Map<Rule, number>();
  readonly #texts = new Map<Rule, string[]>();

  found(rule: Rule, text: string): void {
    this.#counts.set(rule, this.count(rule) + 1);
    const texts = this.#texts.get(rule) ?? [];
    if (texts.length < keptMax) this.#texts.set(rule, [...texts, text]);
  }

  count(rule: Rule): number {
    return this.#counts.get(rule) ?? 0;
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  some(rule: Rule): readonly string[] {
    return this.#texts.get(rule) ?? [];
  }
}
