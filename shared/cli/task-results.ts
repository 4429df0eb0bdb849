import { showNumber } from "../terminal/output";

/** What became of tasks, for people. */

/** Ids that a line shows. */
const idsShownMax = 20;

/** `1, 2, 3`; of many the first ones and how many more there are. */
export function showIds(ids: readonly string[]): string {
  const shown = ids.slice(0, idsShownMax).join(", ");
  return ids.length > idsShownMax ? `${shown} and ${String(ids.length - idsShownMax)} more` : shown;
}

/** How an outcome is told: of one task, of several. */
export type OutcomeTexts = Readonly<Record<string, readonly [one: string, several: string]>>;

/** A line for each outcome that came about: how many tasks, and which. */
export function renderOutcomes(
  tasks: readonly { readonly task: string; readonly outcome: string }[],
  texts: OutcomeTexts,
): string {
  const lines = Object.entries(texts).flatMap(([outcome, [one, several]]) => {
    const ids = tasks.filter((task) => task.outcome === outcome).map(({ task }) => task);
    if (ids.length === 0) return [];
    return [`${showNumber(ids.length, `task ${one}`, `tasks ${several}`)}: ${showIds(ids)}`];
  });
  return lines.length === 0 ? "There is no such task." : lines.join("\n");
}
