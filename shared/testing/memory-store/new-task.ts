import { asTaskId } from "../../core/ids";
import type { Memory, TaskRow } from "./state";

/** Of a task to which nothing has happened yet. */
export const untouched = {
  failedCount: 0,
  lostCount: 0,
  continuedCount: 0,
  isCancelRequested: false,
  checkpoint: null,
  progress: { done: null, total: null, text: null },
} satisfies Partial<TaskRow>;

/** What a new task is told by those who add it. */
type Given = Pick<
  TaskRow,
  "definitionId" | "kind" | "priority" | "dueAtMs" | "pendingGroup" | "build" | "payload"
> &
  Partial<Pick<TaskRow, "waveId" | "dedupeKey" | "traceParent">>;

/** A task with the next number, which stands nowhere yet. */
export function newTask(memory: Memory, given: Given): TaskRow {
  return {
    taskId: asTaskId(String(memory.sequences.next("task"))),
    rank: "0",
    createdAtMs: memory.nowMs,
    groupId: null,
    waveId: null,
    dedupeKey: null,
    traceParent: null,
    lastError: null,
    ...untouched,
    ...given,
  };
}
