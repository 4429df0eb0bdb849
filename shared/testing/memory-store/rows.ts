import { compareTexts } from "../../core/text";
import { AssertionError } from "../../core/errors";
import { executionNumber, executionStart } from "../../core/ids";
import type { ExecutionId, TaskId, WaveId } from "../../core/ids";
import type { Limit } from "../../ports/task-store";
import { unknownArgument } from "./arguments";
import type {
  DefinitionRow,
  ExecutionRow,
  MemoryState,
  Place,
  ReadyRow,
  TaskRow,
  WaveBlockedRow,
} from "./state";

/**
 * Small reads and writes of the state that several operations share: the order of each list is kept
 * here only.
 */

/** The execution that a call names; undefined: there is none, or the number is that of another start. */
export function findExecution(
  { executions }: MemoryState,
  id: ExecutionId,
): ExecutionRow | undefined {
  const row = executions.get(executionNumber(id));
  const start = executionStart(id);
  return start === null || row?.operationId === start ? row : undefined;
}

/** Compares ids and ranks, which are decimal texts: negative when `a` comes first. */
export function compareNumbers(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}

/** The order of claims: negative when `a` is claimed first. */
export function comparePlaces(a: Place, b: Place): number {
  return (
    a.priority - b.priority || compareNumbers(a.rank, b.rank) || compareNumbers(a.taskId, b.taskId)
  );
}

/** Puts a row where its list's order wants it. */
function insert<Row>(rows: Row[], row: Row, compare: (a: Row, b: Row) => number): void {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const other = rows[middle];
    if (other !== undefined && compare(other, row) < 0) low = middle + 1;
    else high = middle;
  }
  rows.splice(low, 0, row);
}

function readyRow({ definitionId, priority, rank, taskId }: TaskRow): ReadyRow {
  return { definitionId, priority, rank, taskId };
}

/** A task may be claimed now. */
export function addReady(state: MemoryState, task: TaskRow): void {
  const compare = (a: ReadyRow, b: ReadyRow) =>
    a.definitionId - b.definitionId || comparePlaces(a, b);
  insert(state.ready, readyRow(task), compare);
}

/** A task comes back at an instant. */
export function addScheduled(state: MemoryState, task: TaskRow, runAtMs: number): void {
  const { definitionId, taskId } = task;
  insert(
    state.scheduled,
    { definitionId, runAtMs, taskId },
    (a, b) =>
      a.definitionId - b.definitionId ||
      a.runAtMs - b.runAtMs ||
      compareNumbers(a.taskId, b.taskId),
  );
}

/** A task waits for a slot of its group. */
export function addWaiting(state: MemoryState, task: TaskRow, groupId: number): void {
  const row = { ...readyRow(task), groupId };
  insert(state.groupWaiting, row, (a, b) => a.groupId - b.groupId || comparePlaces(a, b));
}

/** A task waits for its wave. */
export function addBlocked(state: MemoryState, task: TaskRow, waveId: WaveId): void {
  const row = { ...readyRow(task), waveId };
  const compare = (a: WaveBlockedRow, b: WaveBlockedRow) =>
    compareNumbers(a.waveId, b.waveId) || comparePlaces(a, b);
  insert(state.waveBlocked, row, compare);
}

/** The definition of that name. Throws InvalidArgumentError (404). */
export function definitionNamed(state: MemoryState, name: string): DefinitionRow {
  const definition = findDefinition(state, name);
  if (definition === undefined) throw unknownArgument(`name: unknown definition (${name})`);
  return definition;
}

/** The definition of that name, if it was registered. */
export function findDefinition(state: MemoryState, name: string): DefinitionRow | undefined {
  return [...state.definitions.values()].find((definition) => definition.name === name);
}

/** The definition a row belongs to. */
export function definitionOf(
  state: MemoryState,
  row: { readonly definitionId: number },
): DefinitionRow {
  const definition = state.definitions.get(row.definitionId);
  if (definition === undefined) {
    throw new AssertionError(`The memory store has no definition ${String(row.definitionId)}`);
  }
  return definition;
}

/** An unfinished task that some row names. */
export function taskOf(state: MemoryState, taskId: TaskId): TaskRow {
  const task = state.tasks.get(taskId);
  if (task === undefined)
    throw new AssertionError(`The memory store has no unfinished task ${taskId}`);
  return task;
}

/** The limit in force: the operator's, else the code's; null: none. */
export function limitOf(definition: DefinitionRow): Limit {
  return definition.operatorLimit === "code" ? definition.settings.limit : definition.operatorLimit;
}

/** Ready tasks of a definition, in the order of claims. */
export function readyOf(state: MemoryState, definition: DefinitionRow): ReadyRow[] {
  return state.ready.filter((row) => row.definitionId === definition.definitionId);
}

/** Does a task of the definition wait to be claimed? */
export function hasReady(state: MemoryState, definition: DefinitionRow): boolean {
  return state.ready.some((row) => row.definitionId === definition.definitionId);
}

/** Names of definitions for hints: sorted, each once, without `except`. */
export function definitionNames(
  state: MemoryState,
  definitionIds: readonly number[],
  except?: DefinitionRow,
): string[] {
  return [...state.definitions.values()]
    .filter((row) => definitionIds.includes(row.definitionId) && row !== except)
    .map((row) => row.name)
    .sort(compareTexts);
}

/** Since when a task may start: since its enqueue, or its own later instant, or the opening of its wave. */
export function dueSince(state: MemoryState, task: TaskRow): number {
  const wave = task.waveId === null ? undefined : state.waves.get(task.waveId);
  return Math.max(task.dueAtMs ?? task.createdAtMs, wave?.openedAtMs ?? -Infinity);
}
