import { limits } from "../../core/limits";
import type { TaskId, WaveId } from "../../core/ids";
import { keyOf } from "../../core/payload-key";
import { traceParentForm } from "../../core/trace-parent";
import type { PayloadKey } from "../../core/payload-key";
import type { EnqueueTasksAnswer, EnqueueTasksInput, NewTask } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { invalidArgument, isWithin, left, tooLarge, wordProblem } from "./arguments";
import { auditCall } from "./audit";
import { waveRefusal } from "./batches";
import { newTask } from "./new-task";
import { placesOf } from "./places";
import { applyKinds } from "./kinds";
import { takeKey } from "./dedupe-keys";
import { firstAnswer, keepAnswer } from "./kept-answers";
import { admit, findGroup, groupsOf, joinGroup, makeGroups } from "./groups";
import { addBlocked, addReady, addScheduled, definitionNamed, definitionOf } from "./rows";
import { dueOf } from "./schedule";
import type { DefinitionRow, GroupName, Memory, MemoryState, TaskRow } from "./state";

/**
 * enqueue_tasks. `joinsTransaction`: other work of the caller may follow before its commit; then
 * grouped tasks enter the schedule as due now, so that no group stays locked for as long as the
 * caller likes.
 */
export const enqueueTasks: Implementation<"enqueueTasks"> = (memory, given, joinsTransaction) => {
  expectSize(given.tasks);
  const definition = definitionNamed(memory.state, given.name);
  const { operationId } = given;
  const call = { operationId, name: "enqueue_tasks", target: String(definition.definitionId) };
  const earlier = firstAnswer<EnqueueTasksAnswer>(memory, call);
  if (earlier !== undefined) return earlier;
  const refusal = given.waveId === undefined ? null : waveRefusal(memory.state, given.waveId);
  if (refusal !== null)
    return { status: refusal, taskIds: [], outcomes: [], ready: false, nextDueMs: null };
  expectEntries(given);
  const input = { ...given, tasks: applyKinds(definition, given) };

  const entries = input.tasks.map((task) => toEntry(memory, definition, { task, input }));
  const first = takeDedupeKeys(memory, entries);
  const fresh = entries.filter((entry) => !first.has(entry));
  const opened =
    input.waveId === undefined
      ? place(memory, definition, { entries: fresh, joinsTransaction })
      : hold(memory, fresh, input.waveId);
  const replaced = replacePayloads(memory, { entries, first, input, joinsTransaction });
  const outcomeOf = (entry: Entry) =>
    replaced.has(entry) ? "replaced" : first.has(entry) ? "duplicate" : "enqueued";
  auditEnqueue(memory, given, { changed: [...fresh, ...replaced], first });
  const nextMs = fresh.reduce(
    (least, { runAtMs }) => Math.min(least, runAtMs ?? Infinity),
    Infinity,
  );
  return keepAnswer(memory, call, {
    status: "enqueued",
    taskIds: entries.map((entry) => first.get(entry) ?? entry.task.taskId),
    outcomes: entries.map((entry) => outcomeOf(entry)),
    ready: opened > 0,
    nextDueMs: nextMs === Infinity ? null : Math.ceil(nextMs - memory.nowMs),
  });
};

/** Who added tasks, where an operator did. `changed`: new ones, and those that got another payload. */
function auditEnqueue(
  memory: Memory,
  { changedBy, reason }: EnqueueTasksInput,
  { changed, first }: { changed: readonly Entry[]; first: ReadonlyMap<Entry, TaskId> },
): void {
  if (changedBy === undefined || changed.length === 0) return;
  const tasks = changed.map((entry) => ({
    taskId: first.get(entry) ?? entry.task.taskId,
    definitionId: entry.task.definitionId,
  }));
  const why = reason === undefined ? {} : { reason };
  auditCall(memory, "enqueue_tasks", { changedBy, ...why, tasks });
}

/** A task to be, with what decides where it goes. */
interface Entry {
  readonly task: TaskRow;
  /** null: at once. */
  runAtMs: number | null;
  readonly dedupeMs: number | null;
}

function toEntry(
  memory: Memory,
  definition: DefinitionRow,
  { task, input }: { task: NewTask; input: EnqueueTasksInput },
): Entry {
  const givenMs = task.runAt?.getTime() ?? memory.nowMs + (task.runInMs ?? 0);
  const runAtMs = givenMs > memory.nowMs ? givenMs : null;
  return {
    task: newTask(memory, {
      definitionId: definition.definitionId,
      kind: task.kind ?? definition.name,
      priority: task.priority ?? 100,
      dueAtMs: runAtMs,
      pendingGroup:
        task.group == null ? null : { key: task.group, isGlobal: task.groupScope === "global" },
      waveId: input.waveId ?? null,
      dedupeKey: task.dedupeKey ?? null,
      build: input.build,
      traceParent: task.traceParent ?? null,
      payload: task.payload,
    }),
    runAtMs,
    dedupeMs: task.dedupeMs ?? null,
  };
}

/**
 * Takes the keys of the entries, the first entry of each; answers the duplicates, with the first
 * task's id.
 */
function takeDedupeKeys(memory: Memory, entries: readonly Entry[]): Map<Entry, TaskId> {
  const duplicates = new Map<Entry, TaskId>();
  for (const entry of entries) {
    const { definitionId, taskId, dedupeKey } = entry.task;
    if (dedupeKey === null) continue;
    const expiresAtMs = entry.dedupeMs === null ? null : memory.nowMs + entry.dedupeMs;
    const holder = takeKey(memory, { definitionId, dedupeKey, taskId, expiresAtMs });
    if (holder !== null) duplicates.set(entry, holder);
  }
  return duplicates;
}

/**
 * Other payloads for earlier tasks that haven't been started; answers the entries that did it. Of several entries with one key
 * the first decides. Inside a user's transaction those that wait for their group or wave are left alone.
 */
function replacePayloads(
  memory: Memory,
  call: {
    entries: readonly Entry[];
    first: ReadonlyMap<Entry, TaskId>;
    input: EnqueueTasksInput;
    joinsTransaction: boolean;
  },
): Set<Entry> {
  const { entries, first, input, joinsTransaction } = call;
  const places = placesOf(memory.state);
  const fresh = entries.filter((entry) => !first.has(entry));
  const seen = new Set(fresh.map((entry) => entry.task.taskId));
  const replaced = new Set<Entry>();
  for (const [index, entry] of entries.entries()) {
    const taskId = first.get(entry);
    if (taskId === undefined || seen.has(taskId)) continue;
    seen.add(taskId);
    const task = memory.state.tasks.get(taskId);
    if (input.tasks[index]?.onDuplicate !== "replace" || task === undefined) continue;
    const place = places.get(taskId);
    const isFree = joinsTransaction
      ? place === "ready" || place === "scheduled"
      : place !== "claimed";
    if (!isFree || !isUntouched(task) || task.kind !== entry.task.kind) continue;
    const { payload, traceParent } = entry.task;
    const path = definitionOf(memory.state, task).kinds.get(task.kind)?.groupBy ?? null;
    if (path !== null && !isSameKey(keyOf(task.payload, path), keyOf(payload, path))) continue;
    memory.state.tasks.set(taskId, { ...task, payload, traceParent, build: input.build });
    replaced.add(entry);
  }
  return replaced;
}

/** A task stays in its group: one whose group is in its payload keeps a payload of that group. */
function isSameKey(before: PayloadKey, after: PayloadKey): boolean {
  return "key" in before && "key" in after && before.key === after.key;
}

function isUntouched(task: TaskRow): boolean {
  const { failedCount, lostCount, continuedCount, isCancelRequested } = task;
  return failedCount + lostCount + continuedCount === 0 && !isCancelRequested;
}

/** Each new task into its container; answers how many may be claimed at once. */
function place(
  memory: Memory,
  definition: DefinitionRow,
  { entries, joinsTransaction }: { entries: readonly Entry[]; joinsTransaction: boolean },
): number {
  const { state } = memory;
  // Inside a user's transaction groups are left to promotion: one that is locked would keep others waiting.
  // A strict group's task doesn't overtake one that is due and not promoted yet: it is due now, too.
  const hasDue = dueOf(memory, definition).length > 0;
  for (const entry of entries) {
    const { pendingGroup } = entry.task;
    if (pendingGroup === null) continue;
    const passesSchedule =
      joinsTransaction || (hasDue && strict(memory.state, definition, pendingGroup));
    if (passesSchedule) entry.runAtMs ??= memory.nowMs;
  }
  const atOnce = entries.filter((entry) => entry.runAtMs === null).map((entry) => entry.task);
  makeGroups(memory, definition, atOnce);
  for (const { task, runAtMs } of entries) {
    state.tasks.set(task.taskId, task);
    if (runAtMs === null) joinGroup(state, definition, task);
    else addScheduled(state, task, runAtMs);
  }
  const plain = atOnce.filter((task) => task.groupId === null);
  for (const task of plain) addReady(state, task);
  const admitted = groupsOf(state, atOnce).map((group) => admit(state, group, atOnce));
  return admitted.reduce((sum, count) => sum + count, plain.length);
}

/** Does a group keep its order over everything? One that isn't made yet will be as its definition says. */
function strict(state: MemoryState, definition: DefinitionRow, group: GroupName): boolean {
  return findGroup(state, definition, group)?.strict ?? definition.settings.groupStrict;
}

/** Until their wave opens; then grouped ones pass through the schedule, where their groups are joined. */
function hold(memory: Memory, entries: readonly Entry[], waveId: WaveId): number {
  for (const { task } of entries) {
    memory.state.tasks.set(task.taskId, task);
    addBlocked(memory.state, task, waveId);
  }
  return 0;
}

/** Throws with the first problem that the databases find in the tasks of a call without looking at their rows. */
export function expectTasks(input: EnqueueTasksInput): void {
  expectSize(input.tasks);
  expectEntries(input);
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
function expectEntries({ tasks, waveId }: EnqueueTasksInput): void {
  for (const [index, task] of tasks.entries()) {
    const problem = problemOf(task, waveId !== undefined);
    if (problem !== null) throw invalidArgument(`tasks[${String(index)}].${problem}`);
  }
}

function problemOf(
  { groupScope = "definition", runInMs, runAt, traceParent, onDuplicate = "keep" }: NewTask,
  isBlocked: boolean,
): string | null {
  const scopeProblem = wordProblem(groupScope, ["definition", "global"]);
  if (scopeProblem !== null) return `groupScope: ${scopeProblem}`;
  if (runInMs !== undefined && runAt !== undefined) {
    return "runAt: expected either runAt or runInMs, not both";
  }
  const duplicateProblem = wordProblem(onDuplicate, ["keep", "replace"]);
  if (duplicateProblem !== null) return `onDuplicate: ${duplicateProblem}`;
  if (isBlocked && (runInMs !== undefined || runAt !== undefined)) {
    return "runAt: expected none for a task of a wave";
  }
  if (traceParent !== undefined && !traceParentForm.test(traceParent)) {
    return `trace: expected a W3C traceparent (${left(traceParent, 100)})`;
  }
  return null;
}
