import { showNumber } from "../terminal/output";

/** What became of tasks, for people. */

/** Ids that a line shows. */
const idsShownMax = 20;

/** `1, 2, 3`; of many the first ones and how many more there are. */
export function showIds(ids: readonly string[], count = ids.length): string {
  const shown = ids.slice(0, idsShownMax).join(", ");
  return count > idsShownMax ? `${shown} and ${String(count - idsShownMax)} more` : shown;
}

/** How an outcome is told: of one task, of several. */
export type OutcomeTexts = Readonly<Record<string, readonly [one: string, several: string]>>;

/** The outcome of an id that no task has. One that ended before is told apart from it. */
export const unknownTasks = ["is unknown or was removed", "are unknown or were removed"] as const;

/** An outcome as the texts name it: of an unknown task the answers tell it as a state. */
export function outcomeOf({
  outcome,
  state,
}: {
  readonly outcome: string;
  readonly state?: string | null;
}): string {
  return state === "unknown" ? state : outcome;
}

/** What became of many tasks, counted; of each outcome the first ids are kept. */
export class Outcomes {
  readonly #by = new Map<string, { count: number; readonly ids: string[] }>();
  total = 0;

  /** Counts one. */
  add(task: string, outcome: string): void {
    const entry = this.#by.get(outcome) ?? { count: 0, ids: [] };
    entry.count += 1;
    if (entry.ids.length < idsShownMax) entry.ids.push(task);
    this.#by.set(outcome, entry);
    this.total += 1;
  }

  /** By outcome. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.#by].map(([outcome, { count }]) => [outcome, count]));
  }

  /** Had each of them one of these outcomes? */
  areAll(outcomes: readonly string[]): boolean {
    return [...this.#by.keys()].every((outcome) => outcomes.includes(outcome));
  }

  /** A line for each outcome that came about: how many tasks, and which, except of those in `unnamed`. */
  describe(texts: OutcomeTexts, unnamed: readonly string[] = []): string {
    const lines = Object.entries(texts).flatMap(([outcome, [one, several]]) => {
      const entry = this.#by.get(outcome);
      if (entry === undefined) return [];
      const count = showNumber(entry.count, `task ${one}`, `tasks ${several}`);
      return [
        unnamed.includes(outcome) ? `${count}.` : `${count}: ${showIds(entry.ids, entry.count)}`,
      ];
    });
    return lines.length === 0 ? "There is no such task." : lines.join("\n");
  }
}
