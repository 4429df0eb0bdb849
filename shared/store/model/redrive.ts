import type { TaskId } from "../../core/ids";
import type { RedriveTasksAnswer, RedriveTasksInput } from "../../ports/task-store";
import { expectRange, invalidArgument, left } from "./arguments";
import { admit, groupsOf } from "./groups";
import { addReady, compareNumbers, dedupeId, definitionNamed, definitionNames } from "./rows";
import type { ArchiveRow, Model, TaskRow } from "./state";

type Outcome = RedriveTasksAnswer["results"][number]["outcome"];

/**
 * redrive_tasks: dead or cancelled tasks become tasks again, with the same ids. Nothing is ever
 * locked here, so no task is `busy`.
 */
export function redriveTasks(model: Model, input: RedriveTasksInput): RedriveTasksAnswer {
  const ids = "taskIds" in input ? [...new Set(input.taskIds)] : findEnded(model, input);
  const { state } = model;
  const outcomes = new Map<TaskId, Outcome>();
  // In the order of ids, so that the first of several tasks with one key gets it.
  for (const id of [...ids].sort(compareNumbers)) outcomes.set(id, outcomeOf(model, id));
  const tasks = [...outcomes].flatMap(([id, outcome]) => {
    const row = state.archive.get(id);
    return row === undefined || outcome !== "redriven" ? [] : [revive(row)];
  });
  for (const task of tasks) {
    state.archive.delete(task.taskId);
    state.tasks.set(task.taskId, task);
    if (task.groupId === null) addReady(state, task);
  }
  for (const group of groupsOf(state, tasks)) admit(state, group, tasks);
  const ready = new Set(state.ready.map((row) => row.taskId));
  const woken = tasks.filter((task) => ready.has(task.taskId)).map((task) => task.definitionId);
  return {
    results: ids.map((taskId) => ({ taskId, outcome: outcomes.get(taskId) ?? "unknown" })),
    woken: definitionNames(state, woken),
  };
}

/** The oldest so many that ended so. */
function findEnded(
  model: Model,
  input: Exclude<RedriveTasksInput, { taskIds: readonly TaskId[] }>,
): TaskId[] {
  expectRange("most", input.most, [1, 1_000]);
  if (!["dead", "cancelled"].includes(input.outcome)) {
    throw invalidArgument(`outcome: expected dead or cancelled (${left(input.outcome, 220)})`);
  }
  const { definitionId } = definitionNamed(model.state, input.name);
  return [...model.state.archive.values()]
    .filter(({ task, outcome }) => task.definitionId === definitionId && outcome === input.outcome)
    .filter(({ task }) => input.kind === undefined || task.kind === input.kind)
    .sort((a, b) => a.finishedAtMs - b.finishedAtMs || compareNumbers(a.task.taskId, b.task.taskId))
    .slice(0, input.most)
    .map(({ task }) => task.taskId);
}

/** What becomes of a task; one that is redriven has its key then. */
function outcomeOf(model: Model, taskId: TaskId): Outcome {
  if (model.state.tasks.has(taskId)) return "unfinished";
  const row = model.state.archive.get(taskId);
  if (row === undefined) return "unknown";
  if (row.outcome === "done") return "done";
  const { definitionId, dedupeKey } = row.task;
  if (dedupeKey === null) return "redriven";
  const id = dedupeId(definitionId, dedupeKey);
  const holder = model.state.dedupe.get(id);
  const isFree =
    holder === undefined || (holder.expiresAtMs !== null && holder.expiresAtMs < model.nowMs);
  if (isFree) model.state.dedupe.set(id, { definitionId, dedupeKey, taskId, expiresAtMs: null });
  else if (holder.taskId !== taskId) return "duplicate";
  return "redriven";
}

/** The task as it was enqueued; what failed last is still told. */
function revive({ task }: ArchiveRow): TaskRow {
  return {
    ...task,
    // Its wave may be over: it comes back on its own.
    waveId: null,
    failedCount: 0,
    lostCount: 0,
    continuedCount: 0,
    isCancelRequested: false,
    checkpoint: null,
    traceParent: null,
    progress: { done: null, total: null, text: null },
  };
}
