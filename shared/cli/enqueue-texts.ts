import type { EnqueueReport } from "../admin/create-admin";
import { showDuration, showNumber } from "../terminal/output";
import type { CommandContext } from "./command";
import { showIds } from "./task-results";

/** What an enqueue did, for people. */
export function describeEnqueue(result: EnqueueReport): string {
  const { definition, tasks } = result;
  const [first] = tasks;
  if (tasks.length === 1 && first !== undefined) {
    return {
      replaced: `Task ${first.task} has that dedupe key already; it carries the new payload.`,
      duplicate: `Task ${first.task} has that dedupe key already; nothing was added.`,
      enqueued: `Task ${first.task} was added to ${definition}.`,
    }[first.outcome];
  }
  const added = tasks.filter(({ outcome }) => outcome === "enqueued").map(({ task }) => task);
  return describeSums(definition, result, added.length === 0 ? "" : ` (${showIds(added)})`);
}

/** How many tasks were added, were there already, and carry another payload. `ids`: of the added ones. */
export function describeSums(
  definition: string,
  { enqueued, duplicates, replaced }: Pick<EnqueueReport, "enqueued" | "duplicates" | "replaced">,
  ids = "",
): string {
  const changed =
    replaced === 0 ? "" : `, ${showNumber(replaced, "carries", "carry")} the new payload`;
  return `${showNumber(enqueued, "task was", "tasks were")} added to ${definition}${ids}, ${showNumber(duplicates, "was", "were")} there already${changed}.`;
}

/** When the added tasks start; empty: none was added. */
export function whenItStarts(
  context: CommandContext,
  result: { readonly enqueued: number; readonly nextDueMs: number | null },
): string {
  if (result.enqueued === 0) return "";
  if (result.nextDueMs !== null) return ` It is due in ${showDuration(result.nextDueMs)}.`;
  // An app knows the queue of its own trigger.
  const isQueueKnown = context.app() !== null || context.target().settings.storage !== null;
  return isQueueKnown
    ? " A worker is told."
    : " No queue is known here (AzureWebJobsStorage): the next sweep finds it, or `taskgate work` at once.";
}
