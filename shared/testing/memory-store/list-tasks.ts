import { payloadHas } from "../../core/payload-key";
import { limits } from "../../core/limits";
import type { TaskId } from "../../core/ids";
import { isEndState, listableStates } from "../../core/listable-states";
import type { ListTasksInput, TaskFilter, TaskListEntry } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange, expectWord, invalidArgument, left } from "./arguments";
import { iso, isoOrNull } from "./instants";
import { describeTask, standingOf, workerOf } from "./read-models";
import { newestEnded } from "./archive-rows";
import { isOpen } from "./execution-rows";
import { dedupeId } from "./dedupe-keys";
import { compareNumbers, definitionNamed, dueSince, taskOf } from "./rows";
import type { ArchiveRow, DefinitionRow, Memory, TaskRow } from "./state";

/** A task where it stands in the list of its state. */
interface Listed {
  readonly task: TaskRow;
  readonly entry: TaskListEntry;
  /** Numbers that order the list, ascending; the last one is the task's id. */
  readonly place: readonly bigint[];
  readonly endedAtMs: number | null;
}

/**
 * list_tasks: unfinished ones in the order in which they will be taken, ended ones newest first. A page begins behind a place
 * of that order; with a filter it ends where so many tasks were looked at.
 */
export const listTasks: Implementation<"listTasks"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  expectWord("state", input.state, listableStates);
  const lookMax = input.lookMax ?? limits.lookMax;
  expectRange("look_max", lookMax, [1, limits.lookMax]);
  if ((input.path === undefined) !== (input.value === undefined))
    throw invalidArgument(`value: expected it together with path (${input.value ?? "<NULL>"})`);
  const definition = definitionNamed(memory.state, input.name);
  const after = input.after === undefined ? null : readPlace(input);
  const all = entriesOf(memory, definition, input).filter(
    ({ place }) => after === null || comparePlaces(place, after) > 0,
  );
  const within = all.slice(0, isSearch(input) ? lookMax : input.max);
  const looked = input.path === undefined ? within : withinBytes(within);
  const hits = looked
    .map((row, at) => ({ row, at }))
    .filter(({ row }) => isWanted(memory, { definition, row, input }))
    .slice(0, input.max);
  const last = hits.at(-1);
  const lookedAt = hits.length === input.max && last !== undefined ? last.at + 1 : looked.length;
  const stop = all[lookedAt] === undefined ? undefined : all[lookedAt - 1];
  return {
    tasks: hits.map(({ row }) => row.entry),
    lookedAt,
    next: stop === undefined ? null : JSON.stringify(stop.place.map(String)),
    lastTask: stop?.task.taskId ?? null,
    lastAt: stop?.entry.endedAt ?? (input.state === "scheduled" ? stop?.entry.dueAt : null) ?? null,
  };
};

/** None behind the first 4 MiB of payloads. */
function withinBytes(rows: readonly Listed[]): readonly Listed[] {
  let bytesBefore = 0;
  const end = rows.findIndex(({ task }) => {
    const isBeyond = bytesBefore >= limits.searchedBytesMax;
    bytesBefore += Buffer.byteLength(task.payload ?? "");
    return isBeyond;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

function readPlace({ after = "", state }: ListTasksInput): bigint[] {
  const length = state === "waiting" ? 4 : state === "ready" || state === "claimed" ? 3 : 2;
  try {
    const steps: unknown = JSON.parse(after);
    if (Array.isArray(steps) && steps.length === length)
      return steps.map((step) => BigInt(String(step)));
  } catch {
    // Said below.
  }
  throw invalidArgument(
    `after: expected \`next\` of the page before, as it is (${left(after, 220)})`,
  );
}

function comparePlaces(a: readonly bigint[], b: readonly bigint[]): number {
  const at = a.findIndex((step, index) => step !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0n) < (b[at] ?? 0n) ? -1 : 1;
}

function isSearch(input: TaskFilter): boolean {
  const { key, keyPrefix, groupKey, batchId, path } = input;
  const { createdSince, createdBefore, endedSince, endedBefore } = input;
  const times = [createdSince, createdBefore, endedSince, endedBefore];
  return [key, keyPrefix, groupKey, batchId, path, ...times].some((given) => given !== undefined);
}

/** All of a state in its order, or of those that a key, a group or a time says by themselves. */
function entriesOf(memory: Memory, definition: DefinitionRow, input: ListTasksInput): Listed[] {
  const { state, key, groupKey, endedSince, endedBefore } = input;
  const isBetween = ({ endedAtMs }: Listed): boolean =>
    isWithin(endedAtMs ?? 0, endedSince, endedBefore);
  if (isEndState(state)) {
    // A done task names no group.
    if (state === "done" && groupKey !== undefined) return [];
    return listEnded(memory, definition, state).filter(isBetween);
  }
  if (endedSince !== undefined || endedBefore !== undefined) return [];
  const all = listUnfinished(memory, definition, state);
  if (state === "claimed") return all;
  if (key !== undefined) {
    const holder = memory.state.dedupe.get(dedupeId(definition.definitionId, key));
    const isHolder = all.filter(({ task }) => task.taskId === holder?.taskId);
    return isHolder.filter((row) => isWanted(memory, { definition, row, input }));
  }
  if (state !== "waiting" || groupKey === undefined) return all;
  const groups = groupsOf(memory, definition, groupKey);
  const ids = groups.map((id) => BigInt(id)).sort((a, b) => Number(a - b));
  const [first = 0n, last = first] = [ids[0], ids.at(-1)];
  return all.filter(({ place: [group = 0n] }) => ids.length > 0 && group >= first && group <= last);
}

/** The definition's own group of a key, and the one of all definitions. */
function groupsOf({ state }: Memory, definition: DefinitionRow, key: string): number[] {
  return [...state.groups.values()]
    .filter((row) => row.key === key && [0, definition.definitionId].includes(row.scope))
    .map((row) => row.groupId);
}

function isWithin(atMs: number, since: Date | undefined, before: Date | undefined): boolean {
  return (
    (since === undefined || atMs >= since.getTime()) &&
    (before === undefined || atMs < before.getTime())
  );
}

function isWanted(
  memory: Memory,
  { definition, row, input }: { definition: DefinitionRow; row: Listed; input: TaskFilter },
): boolean {
  const { task } = row;
  const { key, keyPrefix, groupKey, batchId, path, value = "" } = input;
  return (
    isWithin(task.createdAtMs, input.createdSince, input.createdBefore) &&
    (key === undefined || task.dedupeKey === key) &&
    (keyPrefix === undefined || task.dedupeKey?.startsWith(keyPrefix) === true) &&
    (groupKey === undefined ||
      groupsOf(memory, definition, groupKey).includes(task.groupId ?? 0) ||
      task.pendingGroup?.key === groupKey) &&
    (batchId === undefined ||
      (task.waveId !== null && memory.state.waves.get(task.waveId)?.batchId === batchId)) &&
    (path === undefined || payloadHas(task.payload, path, value))
  );
}

function listEnded(
  memory: Memory,
  definition: DefinitionRow,
  outcome: ArchiveRow["outcome"],
): Listed[] {
  return newestEnded(memory.state, definition.definitionId, outcome).map((row) => ({
    task: row.task,
    place: [-BigInt(Math.round(row.endedAtMs * 1_000)), -BigInt(row.task.taskId)],
    endedAtMs: row.endedAtMs,
    entry: {
      ...describeTask(row.task),
      error: row.task.lastError,
      state: outcome,
      endedAt: iso(row.endedAtMs),
      worker: workerOf(memory, row),
    },
  }));
}

function listUnfinished(
  memory: Memory,
  definition: DefinitionRow,
  place: "ready" | "scheduled" | "waiting" | "claimed",
): Listed[] {
  return rowsIn(memory, place)
    .filter((row) => row.definitionId === definition.definitionId)
    .map((row) => {
      const task = taskOf(memory.state, row.taskId);
      const dueAt = place === "ready" ? dueSince(memory.state, task) : (row.runAtMs ?? null);
      return {
        task,
        place: [...row.before.map((step) => BigInt(step)), BigInt(row.taskId)],
        endedAtMs: null,
        entry: {
          ...describeTask(task),
          error: task.lastError,
          state: row.state,
          dueAt: isoOrNull(dueAt),
          claimedAt: isoOrNull(row.claimedAtMs ?? null),
          worker: row.worker ?? null,
        },
      };
    });
}

/** In the order of a list. */
const standings = ["running", "prefetched", "lost"] as const;

interface ListedRow {
  definitionId: number;
  taskId: TaskId;
  runAtMs?: number;
  worker?: string;
  claimedAtMs?: number;
  state: TaskListEntry["state"];
  /** What orders the list before the task's id does. */
  before: readonly (number | string)[];
}

function rowsIn(memory: Memory, place: "ready" | "scheduled" | "waiting" | "claimed"): ListedRow[] {
  const { state } = memory;
  if (place === "ready")
    return state.ready.map((row) => ({ ...row, state: place, before: [row.priority, row.rank] }));
  if (place === "scheduled")
    return state.scheduled.map((row) => ({
      ...row,
      state: place,
      before: [Math.round(row.runAtMs * 1_000)],
    }));
  if (place === "waiting")
    return state.groupWaiting.map((row) => ({
      ...row,
      state: place,
      before: [row.groupId, row.priority, row.rank],
    }));
  const claimed = [...state.executions.values()].filter(isOpen).flatMap((execution) =>
    execution.claims
      .map(({ taskId, claimedAtMs }) => ({
        definitionId: execution.definitionId,
        taskId,
        executionId: execution.executionId,
        worker: execution.worker,
        claimedAtMs,
        state: standingOf(memory, execution, taskId),
      }))
      .sort((a, b) => compareNumbers(a.taskId, b.taskId)),
  );
  return standings.flatMap((standing, at) =>
    claimed
      .filter((row) => row.state === standing)
      .map((row) => ({ ...row, before: [at, row.executionId] })),
  );
}
