import { executionNumber } from "../../../shared/core/ids";
import type { TaskId } from "../../../shared/core/ids";
import type { WorkAnswer, WorkInput } from "../../../shared/ports/task-store";
import { comparePlaces, compareNumbers, readyOf } from "../../../shared/testing/memory-store/rows";
import type { StatementCall } from "../database";
import type { Check, Run, World } from "../watch";

/** A fast drain may pass over rows that became ready so short ago. */
const hiddenMostMs = 1_000;

/** Order: the lowest by priority, rank and id are claimed first; in a strict group the order is exact, over retries, too. */
export function checkOrder(world: World): Check {
  const readySinceMs = new Map<TaskId, number>();
  return {
    after: (call, answer) => {
      if (call.operation === "work")
        checkClaims(world, { call, answer: answer as WorkAnswer }, readySinceMs);
      const ready = new Set(world.database.rows.ready.map((row) => row.taskId));
      for (const taskId of readySinceMs.keys()) if (!ready.has(taskId)) readySinceMs.delete(taskId);
      for (const taskId of ready)
        if (!readySinceMs.has(taskId)) readySinceMs.set(taskId, world.time.nowMs);
    },
    begin: (run) => {
      checkStrictGroup(world, run);
    },
  };
}

function checkClaims(
  world: World,
  { call, answer }: { call: StatementCall; answer: WorkAnswer },
  readySinceMs: ReadonlyMap<TaskId, number>,
): void {
  const { last } = answer;
  const { after, executionId } = call.input as WorkInput;
  const { executions, definitions } = world.database.rows;
  const execution = executions.get(executionNumber(executionId));
  const definition = definitions.get(execution?.definitionId ?? -1);
  if (last === null || answer.status === "again" || definition === undefined) return;
  // By a clock that stood still while its machine did, the hint is younger than it is.
  if (call.host?.wasSuspended === true) return;
  for (const row of readyOf(world.database.rows, definition)) {
    if (comparePlaces(row, last) >= 0) return;
    const sinceMs = readySinceMs.get(row.taskId) ?? world.time.nowMs;
    const isHidden = after !== undefined && comparePlaces(row, after) < 0;
    if (isHidden && call.sentMs - sinceMs <= hiddenMostMs) continue;
    world.violate(
      "order",
      `task ${last.taskId} of ${definition.name} was claimed before task ${row.taskId}, which has been ready for ${String(Math.round(world.time.nowMs - sinceMs))} ms`,
    );
    return;
  }
}

function checkStrictGroup(world: World, run: Run): void {
  if (world.isSettingBack || (world.losesCommits && run.executionId === null)) return;
  const { tasks, groups } = world.database.rows;
  const task = tasks.get(run.taskId);
  const group = groups.get(task?.groupId ?? -1);
  if (task === undefined || group?.strict !== true) return;
  for (const other of tasks.values()) {
    const isEarlier =
      other.groupId === task.groupId &&
      other.priority === task.priority &&
      compareNumbers(other.taskId, task.taskId) < 0;
    if (isEarlier)
      world.violate(
        "order",
        `task ${task.taskId} of the strict group ${group.key} began before task ${other.taskId} had ended`,
      );
  }
}
