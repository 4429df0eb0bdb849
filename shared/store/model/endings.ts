import type { ExecutionId, Fence, TaskId } from "../../core/ids";
import { endInWaves } from "./waves";
import type { Opened } from "./waves";
import { handOver } from "./groups";
import { dedupeId, definitionOf, taskOf } from "./rows";
import type { ArchiveRow, Model, TaskRow } from "./state";

/** How one task ends. */
export interface Ending {
  taskId: TaskId;
  /** Of the attempt that ends it; null: none does. */
  fence: Fence | null;
  executionId: ExecutionId | null;
  outcome: ArchiveRow["outcome"];
  durationMs: number | null;
  result: string | null;
}

/** Who else is concerned. */
interface Others {
  /** Tasks that don't end but leave their groups: retries that aren't strict. */
  leaving?: readonly TaskRow[];
  /** They were never admitted: they hold no slot and are counted in no wave. */
  areHeld?: boolean;
}

/**
 * The one way to an end: tasks leave for the archive, their keys are freed, their groups handed over, their waves counted
 * down. Answers the definitions that got ready tasks, each as often as it did, and the batches with more to admit.
 */
export function endTasks(
  model: Model,
  endings: readonly Ending[],
  { leaving = [], areHeld = false }: Others = {},
): Opened {
  const ended = endings.map((ending) => {
    const task = taskOf(model.state, ending.taskId);
    archive(model, task, { ...ending, wasHeld: areHeld });
    freeDedupeKey(model, task);
    model.state.tasks.delete(task.taskId);
    return { task, outcome: ending.outcome };
  });
  if (areHeld) return { woken: [], opening: [] };
  const handed = handOver(model, [...ended.map(({ task }) => task), ...leaving]);
  const { woken, opening } = endInWaves(model, ended);
  return { woken: [...handed, ...woken], opening };
}

function archive(model: Model, task: TaskRow, ending: Ending & { wasHeld: boolean }): void {
  const { retainDoneMs, retainDeadMs } = definitionOf(model.state, task).settings;
  // Retention 0: a done task leaves no trace; a dead or cancelled one always does.
  if (ending.outcome === "done" && retainDoneMs === 0) {
    model.state.attempts = model.state.attempts.filter((row) => row.taskId !== task.taskId);
    return;
  }
  model.state.archive.set(task.taskId, {
    // A done task is never redriven.
    task: ending.outcome === "done" ? { ...task, groupId: null } : task,
    outcome: ending.outcome,
    finishedAtMs: model.nowMs,
    purgeAfterMs: model.nowMs + (ending.outcome === "dead" ? retainDeadMs : retainDoneMs),
    executionId: ending.executionId,
    fence: ending.fence,
    durationMs: ending.durationMs,
    result: ending.result,
    wasHeld: ending.wasHeld,
  });
}

/** A key with a window outlives its task; so does one that another task has taken since. */
function freeDedupeKey(model: Model, task: TaskRow): void {
  if (task.dedupeKey === null) return;
  const id = dedupeId(task.definitionId, task.dedupeKey);
  const row = model.state.dedupe.get(id);
  if (row?.taskId === task.taskId && row.expiresAtMs === null) model.state.dedupe.delete(id);
}
