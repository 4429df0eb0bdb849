import { compareTexts } from "../../core/text";
import type { TaskId } from "../../core/ids";
import { addReady, addWaiting, comparePlaces, taskOf } from "./rows";
import type { DefinitionRow, GroupName, GroupRow, Memory, MemoryState, TaskRow } from "./state";

/**
 * Groups: a grouped task is ready or claimed only while it holds a slot; the claim knows nothing of
 * groups.
 */

/** The group of that name, if it was made. */
export function findGroup(
  state: MemoryState,
  definition: DefinitionRow,
  name: GroupName,
): GroupRow | undefined {
  const scope = scopeOf(definition, name);
  return [...state.groups.values()].find((row) => row.scope === scope && row.key === name.key);
}

/** Makes the groups that tasks are meant for and that don't exist yet. */
export function makeGroups(
  memory: Memory,
  definition: DefinitionRow,
  tasks: readonly TaskRow[],
): void {
  const names = tasks
    .flatMap((task) => task.pendingGroup ?? [])
    .sort((a, b) => Number(b.isGlobal) - Number(a.isGlobal) || compareTexts(a.key, b.key));
  for (const name of names) {
    if (findGroup(memory.state, definition, name) === undefined)
      makeGroup(memory, definition, name);
  }
}

/** Makes a group with the definition's settings as they are now. */
export function makeGroup(memory: Memory, definition: DefinitionRow, name: GroupName): GroupRow {
  const group: GroupRow = {
    groupId: memory.sequences.next("group"),
    scope: scopeOf(definition, name),
    key: name.key,
    slots: definition.settings.groupSlots,
    isPaused: false,
    strict: definition.settings.groupStrict,
    isKept: false,
  };
  memory.state.groups.set(group.groupId, group);
  return group;
}

/** Gives a task the group that it is meant for, if that exists. */
export function joinGroup(state: MemoryState, definition: DefinitionRow, task: TaskRow): void {
  if (task.pendingGroup === null) return;
  const group = findGroup(state, definition, task.pendingGroup);
  if (group === undefined) return;
  task.groupId = group.groupId;
  task.pendingGroup = null;
}

/** Outside a group a task has its key only: the group needn't be kept for it. */
export function leaveGroup(state: MemoryState, task: TaskRow): void {
  const group = task.groupId === null ? undefined : state.groups.get(task.groupId);
  if (group === undefined) return;
  task.pendingGroup = { key: group.key, isGlobal: group.scope === 0 };
  task.groupId = null;
}

/** Groups of which some of the tasks are members. */
export function groupsOf(state: MemoryState, tasks: readonly TaskRow[]): GroupRow[] {
  return [...state.groups.values()].filter((group) =>
    tasks.some((task) => task.groupId === group.groupId),
  );
}

function scopeOf(definition: DefinitionRow, name: GroupName): number {
  return name.isGlobal ? 0 : definition.definitionId;
}

/** Does the task hold a slot of its group? */
export function hasSlot(state: MemoryState, task: TaskRow): boolean {
  return state.groupSlots.some((row) => row.groupId === task.groupId && row.taskId === task.taskId);
}

/**
 * Admits those of the tasks that are members of the group, in the order of claims: as many as there
 * are free slots become ready, the rest waits. No task overtakes: while one waits, there is no
 * free slot for others. Answers how many became ready.
 */
export function admit(state: MemoryState, group: GroupRow, tasks: readonly TaskRow[]): number {
  const isOpen = !state.groupWaiting.some((row) => row.groupId === group.groupId);
  const free = isOpen ? freeSlots(state, group) : [];
  const ordered = tasks.filter((task) => task.groupId === group.groupId).sort(comparePlaces);
  for (const [index, task] of ordered.entries()) {
    const slot = free[index];
    if (slot === undefined) {
      addWaiting(state, task, group.groupId);
    } else {
      takeSlot(state, group, { slot, taskId: task.taskId });
      addReady(state, task);
    }
  }
  return Math.min(free.length, ordered.length);
}

/**
 * Tasks that leave their groups give their slots to the next waiting ones, in order; those without
 * a group are passed over. Answers the definitions that got ready tasks.
 */
export function handOver(memory: Memory, leaving: readonly TaskRow[]): number[] {
  const groupIds = [...new Set(leaving.map((task) => task.groupId))].filter((id) => id !== null);
  return groupIds
    .sort((a, b) => a - b)
    .flatMap((groupId) => {
      const group = memory.state.groups.get(groupId);
      if (group === undefined) return [];
      const ids = leaving.filter((task) => task.groupId === groupId).map((task) => task.taskId);
      memory.state.groupSlots = memory.state.groupSlots.filter(
        (row) => row.groupId !== groupId || !ids.includes(row.taskId),
      );
      return fillSlots(memory.state, group);
    });
}

/** Hands free slots to those who wait, in order. Answers the definitions that got ready tasks. */
export function fillSlots(state: MemoryState, group: GroupRow): number[] {
  const free = freeSlots(state, group);
  const next = state.groupWaiting
    .filter((row) => row.groupId === group.groupId)
    .slice(0, free.length);
  state.groupWaiting = state.groupWaiting.filter((row) => !next.includes(row));
  for (const [index, { taskId }] of next.entries()) {
    takeSlot(state, group, { slot: free[index] ?? 0, taskId });
    addReady(state, taskOf(state, taskId));
  }
  return [...new Set(next.map((row) => row.definitionId))];
}

/**
 * Numbers of the slots that may be filled, lowest first: none while the group is paused or holds
 * more than its slots.
 */
function freeSlots(state: MemoryState, group: GroupRow): number[] {
  if (group.isPaused) return [];
  const used = state.groupSlots
    .filter((row) => row.groupId === group.groupId)
    .map((row) => row.slot);
  return Array.from({ length: group.slots }, (_, index) => index + 1)
    .filter((slot) => !used.includes(slot))
    .slice(0, Math.max(group.slots - used.length, 0));
}

function takeSlot(
  state: MemoryState,
  group: GroupRow,
  { slot, taskId }: { slot: number; taskId: TaskId },
): void {
  state.groupSlots.push({ groupId: group.groupId, slot, taskId });
  state.groupSlots.sort((a, b) => a.groupId - b.groupId || a.slot - b.slot);
}
