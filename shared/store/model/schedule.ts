import type { PromoteScheduledAnswer } from "../../ports/task-store";
import { expectRange } from "./arguments";
import { admit, groupsOf, hasSlot, joinGroup, makeGroups } from "./groups";
import { addReady, definitionNamed, hasReady, taskOf } from "./rows";
import type { DefinitionRow, Model, ScheduledRow, TaskRow } from "./state";

/** Scheduled tasks of a definition that are due, in the order of their instants. */
export function dueOf(model: Model, definition: DefinitionRow): ScheduledRow[] {
  return model.state.scheduled.filter(
    (row) => row.definitionId === definition.definitionId && row.runAtMs <= model.nowMs,
  );
}

/**
 * Milliseconds until the definition's next scheduled task, 0 when it is due; null: none is
 * scheduled.
 */
export function nextDueMs(model: Model, definition: DefinitionRow): number | null {
  const next = model.state.scheduled.find((row) => row.definitionId === definition.definitionId);
  return next === undefined ? null : Math.max(Math.ceil(next.runAtMs - model.nowMs), 0);
}

/**
 * promote_scheduled: makes due tasks of a definition claimable: ready, or waiting for their group.
 */
export function promoteScheduled(
  model: Model,
  input: { name: string; most: number },
): PromoteScheduledAnswer {
  expectRange("most", input.most, [1, 10_000]);
  const definition = definitionNamed(model.state, input.name);
  const promoted = promoteDue(model, definition, input.most);
  return {
    status: promoted > 0 ? "promoted" : "none",
    promoted,
    nextDueMs: nextDueMs(model, definition),
    ready: hasReady(model.state, definition),
  };
}

/**
 * Moves at most `most` due tasks to where they may be claimed; answers how many left the schedule.
 */
export function promoteDue(model: Model, definition: DefinitionRow, most: number): number {
  const due = dueOf(model, definition).slice(0, most);
  model.state.scheduled = model.state.scheduled.filter((row) => !due.includes(row));
  const tasks = due.map((row) => taskOf(model.state, row.taskId));
  // Groups that a user's transaction left to be made.
  makeGroups(model, definition, tasks);
  for (const task of tasks) joinGroup(model.state, definition, task);

  // A strict group's retry still has its slot.
  const isFree = (task: TaskRow): boolean => task.groupId === null || hasSlot(model.state, task);
  const free = tasks.filter(isFree);
  const gated = tasks.filter((task) => !isFree(task));
  for (const task of free) addReady(model.state, task);
  for (const group of groupsOf(model.state, gated)) admit(model.state, group, gated);
  return due.length;
}
