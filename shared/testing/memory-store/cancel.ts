import type { TaskId } from "../../core/ids";
import type { CancelTasksAnswer } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { auditCall } from "./audit";
import { endTasks } from "./endings";
import type { Ending } from "./endings";
import type { MemoryState } from "./state";
import { tellOpened } from "./waves";

type Result = CancelTasksAnswer["results"][number];

/**
 * cancel_tasks: ends waiting tasks, requests the end of running tasks. Nothing is ever locked
 * here, so no task is `busy`.
 */
export const cancelTasks: Implementation<"cancelTasks"> = (memory, input) => {
  const ids = [...new Set(input.taskIds)];
  const asked = claimedIds(memory.state);
  const ending = ids.filter((id) => memory.state.tasks.has(id) && !asked.has(id));
  const blocked = new Set(memory.state.waveBlocked.map((row) => row.taskId));
  const results = ids.map((id) => outcomeOf(memory.state, id, asked));
  leaveContainers(memory.state, new Set(ending));
  const changed = ids
    .flatMap((id) => memory.state.tasks.get(id) ?? [])
    .filter(({ taskId, isCancelRequested }) => !asked.has(taskId) || !isCancelRequested);
  if (changed.length > 0) auditCall(memory, "cancel_tasks", { ...input, tasks: changed });
  for (const taskId of ids) {
    const task = memory.state.tasks.get(taskId);
    if (task === undefined) continue;
    if (asked.has(taskId)) task.isCancelRequested = true;
    else task.lastError = input.reason ?? task.lastError;
  }
  endTasks(memory, ending.filter((id) => blocked.has(id)).map(cancelled), { areBlocked: true });
  const opened = endTasks(memory, ending.filter((id) => !blocked.has(id)).map(cancelled));
  return { results, ...tellOpened(memory.state, opened) };
};

/** No attempt ends it. */
function cancelled(taskId: TaskId): Ending {
  return { taskId, outcome: "cancelled" };
}

function outcomeOf(state: MemoryState, taskId: TaskId, asked: ReadonlySet<TaskId>): Result {
  if (asked.has(taskId)) return { taskId, outcome: "requested", state: null };
  if (state.tasks.has(taskId)) return { taskId, outcome: "cancelled", state: null };
  return { taskId, outcome: "gone", state: state.archive.get(taskId)?.outcome ?? "unknown" };
}

/** Tasks that some execution holds. */
export function claimedIds(state: MemoryState): Set<TaskId> {
  const claims = [...state.executions.values()].flatMap((row) => row.claims);
  return new Set(claims.map((claim) => claim.taskId));
}

/** Takes unclaimed tasks from wherever they wait. */
export function leaveContainers(state: MemoryState, ids: ReadonlySet<TaskId>): void {
  const stays = (row: { readonly taskId: TaskId }): boolean => !ids.has(row.taskId);
  state.ready = state.ready.filter(stays);
  state.scheduled = state.scheduled.filter(stays);
  state.groupWaiting = state.groupWaiting.filter(stays);
  state.waveBlocked = state.waveBlocked.filter(stays);
}
