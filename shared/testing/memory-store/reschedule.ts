import type { TaskId } from "../../core/ids";
import type { RescheduleTasksAnswer } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { auditCall } from "./audit";
import { leaveContainers, placesOf } from "./places";
import type { PlaceName } from "./places";
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
  const places = placesOf(state);
  const results = ids.map((id) => outcomeOf(state, id, places.get(id)));
  const tasks = results.flatMap(({ taskId, outcome }) =>
    outcome === "rescheduled" ? [taskOf(state, taskId)] : [],
  );
  leaveContainers(state, tasks);
  for (const task of tasks) {
    task.dueAtMs = runAtMs;
    addScheduled(state, task, runAtMs);
  }
  if (tasks.length > 0) auditCall(memory, "reschedule_tasks", { ...input, tasks });
  // A strict group's slot stays with its task, so that no other task overtakes it.
  const leaving = tasks.filter(
    ({ taskId, groupId }) =>
      places.get(taskId) !== "scheduled" &&
      groupId !== null &&
      state.groups.get(groupId)?.strict === false,
  );
  const woken = handOver(memory, leaving);
  for (const task of tasks) if (!hasSlot(state, task)) leaveGroup(state, task);
  const definitionIds = tasks.map((task) => task.definitionId);
  return {
    results,
    nextDueMs: tasks.length === 0 ? null : Math.ceil(runAtMs - nowMs),
    definitions: definitionNames(state, definitionIds),
    woken: definitionNames(state, woken),
  };
};

function outcomeOf(state: MemoryState, taskId: TaskId, place: PlaceName | undefined): Result {
  if (place === "wave_blocked") return { taskId, outcome: "blocked", state: null };
  if (place === "claimed") return { taskId, outcome: "running", state: null };
  if (state.tasks.has(taskId)) return { taskId, outcome: "rescheduled", state: null };
  return { taskId, outcome: "gone", state: state.archive.get(taskId)?.outcome ?? "unknown" };
}
