import type { TaskId } from "../../core/ids";
import { endInWaves } from "./waves";
import type { Opened } from "./waves";
import { handOver } from "./groups";
import { dedupeId } from "./dedupe-keys";
import { definitionOf, taskOf } from "./rows";
import type { Memory, TaskEnd, TaskRow } from "./state";

/** How one task ends; what is left out is null. */
export type Ending = { readonly taskId: TaskId } & Pick<TaskEnd, "outcome"> & Partial<TaskEnd>;

/** Who else is concerned. */
interface Others {
  /** Tasks that don't end but leave their groups: retries that aren't strict. */
  leaving?: readonly TaskRow[];
  /** They were never admitted: they hold no slot and are counted in no wave. */
  areBlocked?: boolean;
  /** Their wave's total has them all the same: a redrive doesn't add them once more. */
  areInTotal?: boolean;
}

/**
 * The one way to an end: tasks leave for the archive, their keys are freed, their groups handed over, their waves counted
 * down. Answers the definitions that got ready tasks, each as often as it did, and the batches with more to admit.
 */
export function endTasks(
  memory: Memory,
  endings: readonly Ending[],
  { leaving = [], areBlocked = false, areInTotal = false }: Others = {},
): Opened {
  const ended = endings.map((ending) => {
    const task = taskOf(memory.state, ending.taskId);
    archive(memory, task, { ...ending, wasBlocked: areBlocked && !areInTotal });
    freeDedupeKey(memory, task);
    memory.state.tasks.delete(task.taskId);
    return { task, outcome: ending.outcome };
  });
  if (areBlocked) return { woken: [], opening: [] };
  const handed = handOver(memory, [...ended.map(({ task }) => task), ...leaving]);
  const { woken, opening } = endInWaves(memory, ended);
  return { woken: [...handed, ...woken], opening };
}

function archive(memory: Memory, task: TaskRow, ending: Ending & { wasBlocked: boolean }): void {
  const { retainDoneMs, retainDeadMs, keepPayload } = definitionOf(memory.state, task).settings;
  // Retention 0: a done task leaves no trace; a dead or cancelled one always does.
  if (ending.outcome === "done" && retainDoneMs === 0) {
    memory.state.attempts = memory.state.attempts.filter((row) => row.taskId !== task.taskId);
    return;
  }
  memory.state.archive.set(task.taskId, {
    // A done task is never redriven.
    task: ending.outcome === "done" ? doneTask(task, keepPayload ?? true) : task,
    outcome: ending.outcome,
    endedAtMs: memory.nowMs,
    purgeAfterMs: memory.nowMs + (ending.outcome === "dead" ? retainDeadMs : retainDoneMs),
    executionId: ending.executionId ?? null,
    fence: ending.fence ?? null,
    durationMs: ending.durationMs ?? null,
    result: ending.result ?? null,
    wasBlocked: ending.wasBlocked,
  });
}

function doneTask(task: TaskRow, keepsPayload: boolean): TaskRow {
  return { ...task, groupId: null, payload: keepsPayload ? task.payload : null };
}

/** A key with a window outlives its task; so does one that another task has taken since. */
function freeDedupeKey(memory: Memory, task: TaskRow): void {
  if (task.dedupeKey === null) return;
  const id = dedupeId(task.definitionId, task.dedupeKey);
  const row = memory.state.dedupe.get(id);
  if (row?.taskId === task.taskId && row.expiresAtMs === null) memory.state.dedupe.delete(id);
}
