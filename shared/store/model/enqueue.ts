import { asTaskId } from "../../core/ids";
import { limits } from "../../core/limits";
import type { TaskId } from "../../core/ids";
import type { EnqueueTasksAnswer, EnqueueTasksInput, NewTask } from "../../ports/task-store";
import { characters, invalidArgument, isWithin, left, tooLarge } from "./arguments";
import { admit, groupsOf, joinGroup, makeGroups } from "./groups";
import {
  addReady,
  addScheduled,
  dedupeId,
  definitionNamed,
  earlierOperation,
  usedElsewhere,
} from "./rows";
import type { DefinitionRow, Model, TaskRow } from "./state";

/**
 * enqueue_tasks. `joinsTransaction`: other work of the caller may follow before its commit; then
 * grouped tasks enter the schedule as due now, so that no group stays locked for as long as the
 * caller likes (design 10.16).
 */
export function enqueueTasks(
  model: Model,
  input: EnqueueTasksInput,
  joinsTransaction: boolean,
): EnqueueTasksAnswer {
  expectSize(input.tasks);
  const definition = definitionNamed(model.state, input.name);
  const earlier = earlierOperation(model.state, input.operationId);
  if (earlier?.name === "enqueue_tasks") return earlier.answer;
  if (earlier !== undefined) throw usedElsewhere(input.operationId);
  expectEntries(input.tasks);

  const entries = input.tasks.map((task) => toEntry(model, definition, { task, input }));
  const first = takeDedupeKeys(model, definition, entries);
  const fresh = entries.filter((entry) => !first.has(entry));
  const opened = place(model, definition, { entries: fresh, joinsTransaction });
  const runAts = fresh.flatMap((entry) => entry.runAtMs ?? []);
  const answer: EnqueueTasksAnswer = {
    taskIds: entries.map((entry) => first.get(entry) ?? entry.task.taskId),
    outcomes: entries.map((entry) => (first.has(entry) ? "duplicate" : "enqueued")),
    ready: opened > 0,
    nextDueMs: runAts.length === 0 ? null : Math.ceil(earliest(runAts) - model.nowMs),
  };
  if (input.operationId !== null) {
    model.state.operations.set(input.operationId, { name: "enqueue_tasks", answer });
  }
  return answer;
}

/** A task to be, with what decides where it goes. */
interface Entry {
  readonly task: TaskRow;
  /** null: at once. */
  runAtMs: number | null;
  readonly dedupeMs: number | null;
}

function toEntry(
  model: Model,
  definition: DefinitionRow,
  { task, input }: { task: NewTask; input: EnqueueTasksInput },
): Entry {
  const runAtMs = task.runAt?.getTime() ?? model.nowMs + (task.runInMs ?? 0);
  return {
    task: {
      taskId: asTaskId(String(model.sequences.next("task"))),
      definitionId: definition.definitionId,
      kind: task.kind ?? definition.name,
      priority: task.priority ?? 100,
      rank: "0",
      createdAtMs: model.nowMs,
      groupId: null,
      pendingGroup:
        task.group === undefined
          ? null
          : { key: task.group, isGlobal: task.groupScope === "global" },
      dedupeKey: task.dedupeKey ?? null,
      build: input.build,
      traceParent: task.traceParent ?? null,
      failedCount: 0,
      lostCount: 0,
      continuedCount: 0,
      isCancelRequested: false,
      payload: task.payload,
      checkpoint: null,
      lastError: null,
      progress: { done: null, total: null, text: null },
    },
    runAtMs: runAtMs > model.nowMs ? runAtMs : null,
    dedupeMs: task.dedupeMs ?? null,
  };
}

/**
 * Takes the keys of the entries, the first entry of each; answers the duplicates, with the first
 * task's id.
 */
function takeDedupeKeys(
  model: Model,
  definition: DefinitionRow,
  entries: readonly Entry[],
): Map<Entry, TaskId> {
  const duplicates = new Map<Entry, TaskId>();
  for (const entry of entries) {
    const { taskId, dedupeKey } = entry.task;
    if (dedupeKey === null) continue;
    const id = dedupeId(definition.definitionId, dedupeKey);
    const holder = model.state.dedupe.get(id);
    const isFree =
      holder === undefined || (holder.expiresAtMs !== null && holder.expiresAtMs < model.nowMs);
    if (!isFree) {
      duplicates.set(entry, holder.taskId);
      continue;
    }
    const expiresAtMs = entry.dedupeMs === null ? null : model.nowMs + entry.dedupeMs;
    const { definitionId } = definition;
    model.state.dedupe.set(id, { definitionId, dedupeKey, taskId, expiresAtMs });
  }
  return duplicates;
}

/** Each new task into its container; answers how many may be claimed at once. */
function place(
  model: Model,
  definition: DefinitionRow,
  { entries, joinsTransaction }: { entries: readonly Entry[]; joinsTransaction: boolean },
): number {
  const { state } = model;
  const tasks = entries.map((entry) => entry.task);
  // Inside a user's transaction a missing group is left to promotion: a new key would keep others
  // waiting.
  if (!joinsTransaction) makeGroups(model, definition, tasks);
  const atOnce: TaskRow[] = [];
  for (const entry of entries) {
    const { task } = entry;
    state.tasks.set(task.taskId, task);
    if (joinsTransaction && task.pendingGroup !== null) entry.runAtMs ??= model.nowMs;
    joinGroup(state, definition, task);
    if (entry.runAtMs === null) atOnce.push(task);
    else addScheduled(state, task, entry.runAtMs);
  }
  const plain = atOnce.filter((task) => task.groupId === null);
  for (const task of plain) addReady(state, task);
  const admitted = groupsOf(state, atOnce).map((group) => admit(state, group, atOnce));
  return admitted.reduce((sum, count) => sum + count, plain.length);
}

function earliest(instantsMs: readonly number[]): number {
  return instantsMs.reduce((least, instantMs) => Math.min(least, instantMs), Infinity);
}

/** The size is that of the JSON text in which the tasks travel. */
function expectSize(tasks: readonly NewTask[]): void {
  const entries = tasks.map(({ traceParent, ...task }) => ({ ...task, trace: traceParent }));
  const bytes = Buffer.byteLength(JSON.stringify(entries));
  if (bytes > limits.enqueueBytesMax) {
    throw tooLarge(`tasks: expected at most 8388608 bytes (${String(bytes)})`);
  }
  if (!isWithin(tasks.length, 1, limits.enqueueTasksMax)) {
    throw tooLarge(`tasks: expected 1..10000 entries (${String(tasks.length)})`);
  }
}

/** Throws with the first problem that `checkNewTasks` leaves to the databases. */
function expectEntries(tasks: readonly NewTask[]): void {
  for (const [index, task] of tasks.entries()) {
    const problem = problemOf(task);
    if (problem !== null) throw invalidArgument(`tasks[${String(index)}].${problem}`);
  }
}

const groupScopes: readonly string[] = ["definition", "global"];

function problemOf({ groupScope, runInMs, runAt, traceParent }: NewTask): string | null {
  if (groupScope !== undefined && !groupScopes.includes(groupScope)) {
    return `groupScope: expected definition or global (${left(groupScope, 220)})`;
  }
  if (runInMs !== undefined && runAt !== undefined) {
    return "runAt: expected either runAt or runInMs, not both";
  }
  if (traceParent !== undefined && characters(traceParent) > 55) {
    return `trace: expected at most 55 characters (${left(traceParent, 100)})`;
  }
  return null;
}
