import type { TaskId } from "../../core/ids";
import type { RedriveTasksAnswer, RedriveTasksInput } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { auditCall } from "./audit";
import { expectRange, expectWord } from "./arguments";
import { takeKey } from "./dedupe-keys";
import { admit, groupsOf, leaveGroup } from "./groups";
import { untouched } from "./new-task";
import { newestEnded } from "./archive-rows";
import {
  addBlocked,
  addReady,
  addScheduled,
  compareNumbers,
  definitionNamed,
  definitionNames,
} from "./rows";
import type { ArchiveRow, Memory, TaskRow, WaveRow } from "./state";
import { batchOf, isBlocked, isOpen, wavesOf } from "./waves";

type Outcome = RedriveTasksAnswer["results"][number]["outcome"];

/**
 * redrive_tasks: dead or cancelled tasks become tasks again, with the same ids. Nothing is ever
 * locked here, so no task is `busy`.
 */
export const redriveTasks: Implementation<"redriveTasks"> = (memory, input) => {
  const ids = "taskIds" in input ? [...new Set(input.taskIds)] : findEnded(memory, input);
  const { state } = memory;
  const outcomes = new Map<TaskId, Outcome>();
  // In the order of ids, so that the first of several tasks with one key gets it.
  for (const id of [...ids].sort(compareNumbers)) outcomes.set(id, outcomeOf(memory, id));
  const tasks = [...outcomes].flatMap(([id, outcome]) => {
    const row = state.archive.get(id);
    return row === undefined || outcome !== "redriven" ? [] : [revive(memory, row)];
  });
  for (const task of tasks) {
    state.archive.delete(task.taskId);
    state.tasks.set(task.taskId, task);
    enter(memory, task);
  }
  if (tasks.length > 0) auditCall(memory, "redrive_tasks", { ...input, tasks });
  const admitted = tasks.filter((task) => !isBlocked(state, task));
  for (const group of groupsOf(state, admitted)) admit(state, group, admitted);
  const due = new Set([...state.ready, ...state.scheduled].map((row) => row.taskId));
  const woken = tasks.filter((task) => due.has(task.taskId)).map((task) => task.definitionId);
  return {
    results: ids.map((taskId) => ({ taskId, outcome: outcomes.get(taskId) ?? "unknown" })),
    woken: definitionNames(state, woken),
  };
};

/** The oldest so many that ended so. */
function findEnded(
  memory: Memory,
  input: Exclude<RedriveTasksInput, { taskIds: readonly TaskId[] }>,
): TaskId[] {
  expectRange("max", input.max, [1, 1_000]);
  expectWord("outcome", input.outcome, ["dead", "cancelled"]);
  const { definitionId } = definitionNamed(memory.state, input.name);
  return newestEnded(memory.state, definitionId, input.outcome)
    .filter(({ task }) => input.kind === undefined || task.kind === input.kind)
    .reverse()
    .slice(0, input.max)
    .map(({ task }) => task.taskId);
}

/** What becomes of a task; one that is redriven has its key then. */
function outcomeOf(memory: Memory, taskId: TaskId): Outcome {
  if (memory.state.tasks.has(taskId)) return "unfinished";
  const row = memory.state.archive.get(taskId);
  if (row === undefined) return "unknown";
  if (row.outcome === "done") return "done";
  const { definitionId, dedupeKey } = row.task;
  if (dedupeKey === null) return "redriven";
  const holder = takeKey(memory, { definitionId, dedupeKey, taskId, expiresAtMs: null });
  return holder === null || holder === taskId ? "redriven" : "duplicate";
}

/** Into its container; grouped ones come in with their group. */
function enter(memory: Memory, task: TaskRow): void {
  const wave = task.waveId === null ? undefined : memory.state.waves.get(task.waveId);
  if (wave?.state === "blocked") {
    leaveGroup(memory.state, task);
    addBlocked(memory.state, task, wave.waveId);
  }
  // Promotion makes the group.
  else if (task.pendingGroup !== null) addScheduled(memory.state, task, memory.nowMs);
  else if (task.groupId === null) addReady(memory.state, task);
}

/**
 * The wave in which a task counts again: null when its batch was cancelled before it opened, or when it has ended. The one
 * behind which its batch has halted is open again.
 */
function rejoin(memory: Memory, { task, outcome, wasBlocked }: ArchiveRow): WaveRow | null {
  const wave = task.waveId === null ? undefined : memory.state.waves.get(task.waveId);
  if (wave === undefined) return null;
  if (wave.state === "blocked") {
    return batchOf(memory.state, wave.batchId).state === "cancelled" ? null : wave;
  }
  if (standsBehind(memory, wave)) {
    wave.state = "open";
    wave.endedAtMs = null;
  }
  if (!isOpen(wave)) return null;
  if (outcome === "dead") wave.dead -= 1;
  if (wasBlocked) wave.admitted += 1;
  return wave;
}

/** Has the wave ended, and its batch halted behind it? */
function standsBehind({ state }: Memory, wave: WaveRow): boolean {
  const batch = batchOf(state, wave.batchId);
  if (wave.state !== "done" || batch.state !== "halted") return false;
  return wavesOf(state, batch).every(
    (row) => row.ordinal <= wave.ordinal || row.state === "blocked",
  );
}

/** The task as it was enqueued; what failed last is still told. */
function revive(memory: Memory, row: ArchiveRow): TaskRow {
  return {
    ...row.task,
    ...untouched,
    dueAtMs: null,
    waveId: rejoin(memory, row)?.waveId ?? null,
  };
}
