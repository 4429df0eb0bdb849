import type { TaskId } from "../../core/ids";
import type { CancelTasksAnswer } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { auditCall } from "./audit";
import { endTasks } from "./endings";
import type { Ending } from "./endings";
import { leaveContainers, placesOf } from "./places";
import type { PlaceName } from "./places";
import type { MemoryState } from "./state";
import { tellOpened } from "./waves";

type Result = CancelTasksAnswer["results"][number];

/**
 * cancel_tasks: ends waiting tasks, requests the end of running tasks. Nothing is ever locked
 * here, so no task is `busy`.
 */
export const cancelTasks: Implementation<"cancelTasks"> = (memory, input) => {
  const { state } = memory;
  const ids = [...new Set(input.taskIds)];
  const places = placesOf(state);
  const results = ids.map((id) => outcomeOf(state, id, places.get(id)));
  const tasks = ids.flatMap((id) => state.tasks.get(id) ?? []);
  const running = tasks.filter(({ taskId }) => places.get(taskId) === "claimed");
  const ending = tasks.filter((task) => !running.includes(task));
  leaveContainers(state, ending);
  const changed = tasks.filter((task) => !running.includes(task) || !task.isCancelRequested);
  if (changed.length > 0) auditCall(memory, "cancel_tasks", { ...input, tasks: changed });
  for (const task of running) task.isCancelRequested = true;
  for (const task of ending) task.lastError = input.reason ?? task.lastError;
  const endingIn = (areBlocked: boolean): Ending[] =>
    ending
      .filter(({ taskId }) => (places.get(taskId) === "wave_blocked") === areBlocked)
      .map(({ taskId }) => ({ taskId, outcome: "cancelled" }));
  endTasks(memory, endingIn(true), { areBlocked: true });
  return { results, ...tellOpened(state, endTasks(memory, endingIn(false))) };
};

function outcomeOf(state: MemoryState, taskId: TaskId, place: PlaceName | undefined): Result {
  if (place === "claimed") return { taskId, outcome: "requested", state: null };
  if (state.tasks.has(taskId)) return { taskId, outcome: "cancelled", state: null };
  return { taskId, outcome: "gone", state: state.archive.get(taskId)?.outcome ?? "unknown" };
}
