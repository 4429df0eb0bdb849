import type { EnqueueReport } from "../admin/create-admin";
import type { ReasonCode } from "../admin/explain";
import type { TaskId } from "../core/ids";
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

/** The first task that was added; null: none was. */
export function firstAdded({ tasks }: EnqueueReport): TaskId | null {
  return tasks.find(({ outcome }) => outcome === "enqueued")?.task ?? null;
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

/** What an added task may meet: nothing starts it until an operator says so. */
const holding: readonly ReasonCode[] = ["paused", "limit-zero", "group-paused", "wave-closed"];

/** When the added tasks start; empty: none was added. `task`: the first of them, which stands for all; null: none is known. */
export async function whenItStarts(
  context: CommandContext,
  { enqueued, nextDueMs }: Pick<EnqueueReport, "enqueued" | "nextDueMs">,
  task: TaskId | null,
): Promise<string> {
  if (enqueued === 0) return "";
  const held = task === null ? "" : await heldBy(context, task);
  if (nextDueMs !== null) return ` It is due in ${showDuration(nextDueMs)}.${held}`;
  if (held !== "") return held;
  // An app knows the queue of its own trigger.
  const isQueueKnown = context.app() !== null || context.target().settings.storage !== null;
  return isQueueKnown
    ? " A worker is told."
    : " No queue is known here (AzureWebJobsStorage): the next sweep finds it, or `taskgate work` at once.";
}

/** What holds the task back, as `taskgate explain` says it. The task is added by now: where this can't be read, nothing is said. */
async function heldBy({ admin }: CommandContext, task: TaskId): Promise<string> {
  try {
    const { reasons } = await admin().explain(task);
    const found = reasons.find(({ code }) => holding.includes(code));
    return found === undefined ? "" : ` ${found.sentence}`;
  } catch {
    return "";
  }
}
