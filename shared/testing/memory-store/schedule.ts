import type { Implementation } from "./implementation";
import { expectRange } from "./arguments";
import { admit, groupsOf, hasSlot, joinGroup, makeGroups } from "./groups";
import { addReady, definitionNamed, hasReady, taskOf } from "./rows";
import type { DefinitionRow, Memory, ScheduledRow, TaskRow } from "./state";

/** Scheduled tasks of a definition that are due, in the order of their instants: those that became due behind one. */
export function dueOf(
  memory: Memory,
  definition: DefinitionRow,
  sinceMs = Number.NEGATIVE_INFINITY,
): ScheduledRow[] {
  return memory.state.scheduled.filter(
    ({ definitionId, runAtMs }) =>
      definitionId === definition.definitionId && runAtMs <= memory.nowMs && runAtMs > sinceMs,
  );
}

/**
 * Milliseconds until the definition's next scheduled task, 0 when it is due; null: none is
 * scheduled. Behind an instant, if one is given.
 */
export function nextDueMs(
  memory: Memory,
  definition: DefinitionRow,
  fromMs = Number.NEGATIVE_INFINITY,
): number | null {
  const next = memory.state.scheduled.find(
    (row) => row.definitionId === definition.definitionId && row.runAtMs > fromMs,
  );
  return next === undefined ? null : Math.max(Math.ceil(next.runAtMs - memory.nowMs), 0);
}

/**
 * promote_scheduled: makes due tasks of a definition claimable: ready, or waiting for their group.
 */
export const promoteScheduled: Implementation<"promoteScheduled"> = (memory, input) => {
  expectRange("max", input.max, [1, 10_000]);
  const definition = definitionNamed(memory.state, input.name);
  const promoted = promoteDue(memory, definition, input.max);
  return {
    status: promoted > 0 ? "promoted" : "none",
    promoted,
    nextDueMs: nextDueMs(memory, definition),
    ready: hasReady(memory.state, definition),
  };
};

/**
 * Moves at most `max` due tasks to where they may be claimed; answers how many left the schedule.
 */
export function promoteDue(memory: Memory, definition: DefinitionRow, max: number): number {
  const due = dueOf(memory, definition).slice(0, max);
  memory.state.scheduled = memory.state.scheduled.filter((row) => !due.includes(row));
  const tasks = due.map((row) => taskOf(memory.state, row.taskId));
  // Groups that a user's transaction left to be made.
  makeGroups(memory, definition, tasks);
  for (const task of tasks) joinGroup(memory.state, definition, task);

  // A strict group's retry still has its slot.
  const isFree = (task: TaskRow): boolean => task.groupId === null || hasSlot(memory.state, task);
  const free = tasks.filter(isFree);
  const gated = tasks.filter((task) => !isFree(task));
  for (const task of free) addReady(memory.state, task);
  for (const group of groupsOf(memory.state, gated)) admit(memory.state, group, gated);
  return due.length;
}
