import type { TaskId } from "../../core/ids";
import type { CancelTasksAnswer } from "../../ports/task-store";
import { endTasks } from "./endings";
import type { Ending } from "./endings";
import { definitionNames } from "./rows";
import type { Model, ModelState } from "./state";

type Result = CancelTasksAnswer["results"][number];

/**
 * cancel_tasks: ends what waits anywhere, asks for the end of what runs. Nothing is ever locked
 * here, so no task is `busy`.
 */
export function cancelTasks(
  model: Model,
  input: { taskIds: readonly TaskId[]; reason: string | null },
): CancelTasksAnswer {
  const ids = [...new Set(input.taskIds)];
  const asked = claimedIds(model.state);
  const ending = ids.filter((id) => model.state.tasks.has(id) && !asked.has(id));
  const held = new Set(model.state.waveHeld.map((row) => row.taskId));
  const results = ids.map((id) => outcomeOf(model.state, id, asked));
  leaveContainers(model.state, new Set(ending));
  for (const taskId of ids) {
    const task = model.state.tasks.get(taskId);
    if (task === undefined) continue;
    if (asked.has(taskId)) task.isCancelRequested = true;
    else task.lastError = input.reason ?? task.lastError;
  }
  endTasks(model, ending.filter((id) => held.has(id)).map(cancelled), { areHeld: true });
  const { woken, opening } = endTasks(model, ending.filter((id) => !held.has(id)).map(cancelled));
  return { results, woken: definitionNames(model.state, woken), opening: [...opening] };
}

/** No attempt ends it. */
function cancelled(taskId: TaskId): Ending {
  return {
    taskId,
    fence: null,
    executionId: null,
    outcome: "cancelled",
    durationMs: null,
    result: null,
  };
}

function outcomeOf(state: ModelState, taskId: TaskId, asked: ReadonlySet<TaskId>): Result {
  if (asked.has(taskId)) return { taskId, outcome: "requested", state: null };
  if (state.tasks.has(taskId)) return { taskId, outcome: "cancelled", state: null };
  return { taskId, outcome: "gone", state: state.archive.get(taskId)?.outcome ?? "unknown" };
}

/** Tasks that some execution holds. */
export function claimedIds(state: ModelState): Set<TaskId> {
  const claims = [...state.executions.values()].flatMap((row) => row.claims);
  return new Set(claims.map((claim) => claim.taskId));
}

/** Takes unclaimed tasks from wherever they wait. */
export function leaveContainers(state: ModelState, ids: ReadonlySet<TaskId>): void {
  const stays = (row: { readonly taskId: TaskId }): boolean => !ids.has(row.taskId);
  state.ready = state.ready.filter(stays);
  state.scheduled = state.scheduled.filter(stays);
  state.groupWaiting = state.groupWaiting.filter(stays);
  state.waveHeld = state.waveHeld.filter(stays);
}
