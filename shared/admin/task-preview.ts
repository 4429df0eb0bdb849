import type { TaskId } from "../core/ids";
import { isEndState } from "../core/listable-states";
import type { ListableState, TaskStore } from "../ports/task-store";
import type { CancelResult, RedriveResult, RescheduleResult, TaskResults } from "./task-actions";

/**
 * What a cancel, redrive or reschedule would do, told from where the tasks stand at this instant. It changes nothing and leaves
 * no entry in the audit. The call itself may answer otherwise: tasks move on meanwhile, and only it sees whether another task
 * holds a dedupe key.
 */

/** Ids of one preview: each is a read of its own. */
export const previewIdsMax = 100;
/** Reads at the same time. */
const readsMax = 4;

/** moving: on its way between two states. */
type State = ListableState | "blocked" | "moving" | "unknown";
type EndedState = "done" | "dead" | "cancelled" | "unknown";

/** A preview of `cancelTasks`. */
export async function previewCancel(
  store: TaskStore,
  taskIds: readonly TaskId[],
): Promise<TaskResults<CancelResult>> {
  return previewEach(store, taskIds, (task, state): CancelResult => {
    if (isEnded(state)) return { task, outcome: "gone", state };
    if (state === "moving") return { task, outcome: "busy", state: null };
    return { task, outcome: state === "claimed" ? "requested" : "cancelled", state: null };
  });
}

/** A preview of `redriveTasks` by ids. */
export async function previewRedrive(
  store: TaskStore,
  taskIds: readonly TaskId[],
): Promise<TaskResults<RedriveResult>> {
  return previewEach(store, taskIds, (task, state): RedriveResult => {
    if (state === "dead" || state === "cancelled") return { task, outcome: "redriven" };
    if (state === "done" || state === "unknown") return { task, outcome: state };
    return { task, outcome: state === "moving" ? "busy" : "unfinished" };
  });
}

/** A preview of `rescheduleTasks`. */
export async function previewReschedule(
  store: TaskStore,
  taskIds: readonly TaskId[],
): Promise<TaskResults<RescheduleResult>> {
  return previewEach(store, taskIds, (task, state): RescheduleResult => {
    if (isEnded(state)) return { task, outcome: "gone", state };
    if (state === "moving") return { task, outcome: "busy", state: null };
    if (state === "blocked") return { task, outcome: state, state: null };
    return { task, outcome: state === "claimed" ? "running" : "rescheduled", state: null };
  });
}

function isEnded(state: State): state is EndedState {
  return isEndState(state) || state === "unknown";
}

/** Each task once, in input order. */
async function previewEach<Result>(
  store: TaskStore,
  taskIds: readonly TaskId[],
  tell: (task: TaskId, state: State) => Result,
): Promise<TaskResults<Result>> {
  const ids = [...new Set(taskIds)];
  const states = new Map<TaskId, State>();
  const waiting = [...ids];
  const read = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const { status, facts } = await store.explainTask({ taskId: id });
      states.set(id, status === "found" && facts !== null ? facts.state : stateOf(status));
    }
  };
  await Promise.all(Array.from({ length: readsMax }, read));
  return { tasks: ids.map((id) => tell(id, states.get(id) ?? "unknown")) };
}

const stateOf = (status: "found" | "moving" | "unknown"): State =>
  status === "unknown" ? "unknown" : "moving";
