import type { TaskId } from "../../core/ids";
import type { Implementation } from "./implementation";
import { expectRange } from "./arguments";
import { outdatedCalls, outdatedEntries } from "./purge-audit";
import { hasEndedBatches, purgeBatches } from "./purge-batches";
import { executionsOf } from "./execution-rows";
import { compareNumbers } from "./rows";
import type { ArchiveRow, DedupeRow, ExecutionRow, Memory, OperationRow } from "./state";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Executions that one call looks at, oldest first. */
const executionsMax = 1_000;
/** The same of a sweep, which only wants to know. */
const executionsGlimpsed = 10;
/** Attempts that one call deletes. */
const attemptsMax = 10_000;

/** purge: deletes rows whose retention is over, one slice of each kind. */
export const purge: Implementation<"purge"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const { state } = memory;
  // First: what goes below lets go of its group in the next round.
  const groups = purgeGroups(memory, input.max);
  const due = {
    tasks: endedTasks(memory),
    executions: endedExecutions(memory, executionsMax),
    operations: oldOperations(memory),
    keys: oldKeys(memory),
    auditEntries: outdatedEntries(memory),
    auditCalls: outdatedCalls(memory, false),
    auditEnqueues: outdatedCalls(memory, true),
  };
  const slice = <Row>(rows: readonly Row[]): Row[] => rows.slice(0, input.max);
  const tasks = slice(due.tasks).map((row) => row.task.taskId);
  const { attempts, left } = purgeAttempts(memory, tasks);
  const gone = tasks.filter((taskId) => !left.has(taskId));
  for (const taskId of gone) state.archive.delete(taskId);
  const executions = slice(due.executions);
  for (const { executionId } of executions) state.executions.delete(executionId);
  const operations = slice(due.operations);
  for (const [operationId] of operations) state.operations.delete(operationId);
  const keys = slice(due.keys);
  for (const [id] of keys) state.dedupe.delete(id);
  const entries = new Set(slice(due.auditEntries));
  state.settingAudit = state.settingAudit.filter((row) => !entries.has(row));
  const calls = new Set([...slice(due.auditCalls), ...slice(due.auditEnqueues)]);
  state.callAudit = state.callAudit.filter((row) => !calls.has(row));
  const auditEntries = entries.size + calls.size;
  const { batches, waves, isFull } = purgeBatches(memory, {
    max: input.max,
    endedBeforeMs: keptSinceMs(memory),
  });
  const others = executions.length + operations.length + keys.length + auditEntries;
  const purged = gone.length + others + groups.purged + batches;
  return {
    status: purged + attempts + waves > 0 ? "purged" : "none",
    purged,
    tasks: gone.length,
    executions: executions.length,
    operations: operations.length,
    keys: keys.length,
    groups: groups.purged,
    batches,
    auditEntries,
    more:
      groups.more ||
      left.size > 0 ||
      isFull ||
      Object.values(due).some((rows) => rows.length >= input.max),
  };
};

/** A round through all groups has begun, or the last one ended an hour ago. */
function areGroupsDue({ state, nowMs }: Memory): boolean {
  const { lastGroupId, endedAtMs } = state.groupRound;
  return state.groups.size > 0 && (lastGroupId > 0 || endedAtMs < nowMs - hourMs);
}

/** Removes the unused groups among the next so many. */
function purgeGroups({ state, nowMs }: Memory, max: number): { purged: number; more: boolean } {
  const seen = [...state.groups.values()]
    .filter(({ groupId }) => groupId > state.groupRound.lastGroupId)
    .sort((a, b) => a.groupId - b.groupId)
    .slice(0, max);
  const needed = new Set([
    ...[...state.groupSlots, ...state.groupWaiting].map((row) => row.groupId),
    ...[...state.archive.values()].map((row) => row.task.groupId),
  ]);
  const idle = seen.filter((row) => !row.isKept && !row.isPaused && !needed.has(row.groupId));
  for (const { groupId } of idle) state.groups.delete(groupId);
  if (seen.length === 0 && state.groupRound.lastGroupId === 0) return { purged: 0, more: false };
  const isOver = seen.length < max;
  state.groupRound = isOver
    ? { lastGroupId: 0, endedAtMs: nowMs }
    : { ...state.groupRound, lastGroupId: seen.at(-1)?.groupId ?? 0 };
  return { purged: idle.length, more: !isOver && idle.length > 0 };
}

/** Is there anything to purge? Of executions and batches only the oldest are looked at. */
export function isPurgeable(memory: Memory): boolean {
  return (
    endedTasks(memory).length > 0 ||
    oldOperations(memory).length > 0 ||
    oldKeys(memory).length > 0 ||
    endedExecutions(memory, executionsGlimpsed).length > 0 ||
    hasEndedBatches(memory, keptSinceMs(memory)) ||
    areGroupsDue(memory)
  );
}

/** Their retention is over; the longest over first. */
function endedTasks(memory: Memory): ArchiveRow[] {
  return [...memory.state.archive.values()]
    .filter((row) => row.purgeAfterMs < memory.nowMs)
    .sort(
      (a, b) => a.purgeAfterMs - b.purgeAfterMs || compareNumbers(a.task.taskId, b.task.taskId),
    );
}

/** Ended tasks name their workers and waves as long as a definition keeps them; late repeats have a day. */
function keptSinceMs({ state, nowMs }: Memory): number {
  const kept = [...state.definitions.values()].flatMap(({ settings }) => [
    settings.retainDoneMs,
    settings.retainDeadMs,
  ]);
  return nowMs - Math.max(dayMs, ...kept);
}

function endedExecutions(memory: Memory, max: number): ExecutionRow[] {
  const endedBeforeMs = keptSinceMs(memory);
  return executionsOf(memory.state)
    .slice(0, max)
    .filter((row) => row.state === "ended" || row.state === "reclaimed")
    .filter((row) => row.endedAtMs !== null && row.endedAtMs < endedBeforeMs);
}

function oldOperations({ state, nowMs }: Memory): [string, OperationRow][] {
  return [...state.operations]
    .filter(([, row]) => row.doneAtMs < nowMs - dayMs)
    .sort(([, a], [, b]) => a.doneAtMs - b.doneAtMs);
}

function oldKeys({ state, nowMs }: Memory): [string, DedupeRow][] {
  return [...state.dedupe]
    .filter(([, row]) => row.expiresAtMs !== null && row.expiresAtMs < nowMs)
    .sort(([, a], [, b]) => (a.expiresAtMs ?? 0) - (b.expiresAtMs ?? 0));
}

/** A task with more of them loses them call by call. Answers how many went, and the tasks that still have some. */
function purgeAttempts(
  memory: Memory,
  tasks: readonly TaskId[],
): { attempts: number; left: Set<TaskId> } {
  const { state } = memory;
  const mine = new Set(tasks);
  const due = state.attempts
    .filter((row) => mine.has(row.taskId))
    .sort((a, b) => compareNumbers(a.taskId, b.taskId) || compareNumbers(a.fence, b.fence));
  const gone = new Set(due.slice(0, attemptsMax));
  state.attempts = state.attempts.filter((row) => !gone.has(row));
  return {
    attempts: gone.size,
    left: new Set(due.slice(attemptsMax).map((row) => row.taskId)),
  };
}
