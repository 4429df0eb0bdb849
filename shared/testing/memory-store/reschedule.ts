import type { TaskId } from "../../core/ids";
import type { RescheduleTasksAnswer } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { auditCall } from "./audit";
import { claimedIds, leaveContainers } from "./cancel";
import { handOver, hasSlot, leaveGroup } from "./groups";
import { addScheduled, definitionNames, taskOf } from "./rows";
import type { MemoryState } from "./state";

type Result = RescheduleTasksAnswer["results"][number];

/**
 * reschedule_tasks: another instant for scheduled tasks; ready and waiting ones are scheduled.
 * Nothing is ever locked here, so no task is `busy`.
 */
export const rescheduleTasks: Implementation<"rescheduleTasks"> = (memory, input) => {
  const { state, nowMs } = memory;
  const { to } = input;
  const askedMs = "runAt" in to ? to.runAt.getTime() : nowMs + to.runInMs;
  const runAtMs = Math.max(askedMs, nowMs);
  const ids = [...new Set(input.taskIds)];
  const claimed = claimedIds(state);
  const blocked = new Set(state.waveBlocked.map((row) => row.taskId));
  const moving = ids.filter((id) => state.tasks.has(id) && !claimed.has(id) && !blocked.has(id));
  const scheduled = new Set(state.scheduled.map((row) => row.taskId));
  leaveContainers(state, new Set(moving));
  const tasks = moving.map((id) => taskOf(state, id));
  for (const task of tasks) {
    task.dueAtMs = runAtMs;
    addScheduled(state, task, runAtMs);
  }
  if (tasks.length > 0) auditCall(memory, "reschedule_tasks", { ...input, tasks });
  // A strict group's slot stays with its task, so that no other task overtakes it.
  const leaving = tasks.filter(
    ({ taskId, groupId }) =>
      !scheduled.has(taskId) && groupId !== null && state.groups.get(groupId)?.strict === false,
  );
  const woken = handOver(memory, leaving);
  for (const task of tasks) if (!hasSlot(state, task)) leaveGroup(state, task);
  const definitionIds = tasks.map((task) => task.definitionId);
  return {
    results: ids.map((id) => outcomeOf(state, id, { claimed, blocked })),
    nextDueMs: tasks.length === 0 ? null : Math.ceil(runAtMs - nowMs),
    definitions: definitionNames(state, definitionIds),
    woken: definitionNames(state, woken),
  };
};

function outcomeOf(
  state: MemoryState,
  taskId: TaskId,
  { claimed, blocked }: { claimed: ReadonlySet<TaskId>; blocked: ReadonlySet<TaskId> },
): Result {
  if (blocked.has(taskId)) return { taskId, outcome: "blocked", state: null };
  if (claimed.has(taskId)) return { taskId, outcome: "running", state: null };
  if (state.tasks.has(taskId)) return { taskId, outcome: "rescheduled", state: null };
  return { taskId, outcome: "gone", state: state.archive.get(taskId)?.outcome ?? "unknown" };
}
