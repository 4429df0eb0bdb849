import { compareNumbers } from "./rows";
import type { ArchiveRow, MemoryState } from "./state";

/** Tasks of a definition that ended so, newest first. */
export function newestEnded(
  state: MemoryState,
  definitionId: number,
  outcome: ArchiveRow["outcome"],
): ArchiveRow[] {
  return [...state.archive.values()]
    .filter((row) => row.task.definitionId === definitionId && row.outcome === outcome)
    .sort((a, b) => b.endedAtMs - a.endedAtMs || compareNumbers(b.task.taskId, a.task.taskId));
}
