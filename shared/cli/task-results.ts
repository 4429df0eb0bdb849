import { showNumber } from "./output";

/** What became of tasks, for people. */

/** Ids that a line shows. */
const idsShownMax = 20;

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
    const shown = ids.slice(0, idsShownMax).join(", ");
    const more = ids.length > idsShownMax ? ` and ${String(ids.length - idsShownMax)} more` : "";
    return [`${showNumber(ids.length, `task ${one}`, `tasks ${several}`)}: ${shown}${more}`];
  });
  return lines.length === 0 ? "There is no such task." : lines.join("\n");
}
