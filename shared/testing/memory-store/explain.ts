import type { TaskId } from "../../core/ids";
import type { TaskAttempt, TaskFacts } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { findGroup } from "./groups";
import { iso } from "./instants";
import { describeTask, standingOf, workerOf } from "./read-models";
import { countTokens, executionsOf, isOpen } from "./execution-rows";
import { compareNumbers, comparePlaces, definitionOf, limitOf, readyOf } from "./rows";
import { permitInMs, rateOf } from "./rates";
import { describeShared } from "./shared-tokens";
import type { ArchiveRow, ClaimRow, ExecutionRow, Memory, TaskRow } from "./state";
import { batchOf } from "./waves";

/** Counts of those ahead stop here. */
const aheadMax = 1_000;

/** explain_task: where a task stands and everything that decides when it runs. */
export const explainTask: Implementation<"explainTask"> = (memory, input) => {
  const ended = memory.state.archive.get(input.taskId);
  if (ended !== undefined) return { status: "found", facts: endedFacts(memory, ended) };
  const task = memory.state.tasks.get(input.taskId);
  if (task === undefined) return { status: "unknown", facts: null };
  const standing = standingFacts(memory, task);
  if (standing === null) return { status: "moving", facts: null };
  return { status: "found", facts: { ...unfinishedFacts(memory, task), ...standing } };
};

/** Newest first, at most 50. */
function attemptsOf(memory: Memory, taskId: TaskId): TaskAttempt[] {
  return memory.state.attempts
    .filter((row) => row.taskId === taskId)
    .sort((a, b) => b.endedAtMs - a.endedAtMs || compareNumbers(b.fence, a.fence))
    .slice(0, 50)
    .map((row) => ({
      fence: row.fence,
      worker: workerOf(memory, row),
      claimedAt: iso(row.claimedAtMs),
      endedAt: iso(row.endedAtMs),
      durationMs: row.durationMs,
      outcome: row.outcome,
      error: row.error,
    }));
}

/** The fields that are told of every task. */
function commonFacts(memory: Memory, task: TaskRow) {
  return {
    ...describeTask(task),
    definition: definitionOf(memory.state, task).name,
    error: task.lastError,
    dedupeKey: task.dedupeKey,
    traceParent: task.traceParent,
    payload: task.payload,
    attempts: attemptsOf(memory, task.taskId),
  };
}

function endedFacts(memory: Memory, row: ArchiveRow): TaskFacts {
  return {
    ...commonFacts(memory, row.task),
    state: row.outcome,
    endedAt: iso(row.endedAtMs),
    worker: workerOf(memory, row),
    durationMs: row.durationMs,
    result: row.result,
  };
}

function unfinishedFacts(memory: Memory, task: TaskRow) {
  const definition = definitionOf(memory.state, task);
  const { done, text } = task.progress;
  const open = executionsOf(memory.state, definition).filter(isOpen);
  const group = groupFacts(memory, task);
  return {
    ...commonFacts(memory, task),
    retryAttempts: definition.settings.retryAttempts,
    lostMax: definition.settings.lostMax,
    continuedCount: task.continuedCount,
    isCancelRequested: task.isCancelRequested,
    progress: done === null && text === null ? null : { ...task.progress },
    limit: limitOf(definition),
    limitSource: definition.operatorLimit === "code" ? ("code" as const) : ("operator" as const),
    paused: definition.isPaused,
    held: countTokens(open),
    holders: open
      .filter((row) => row.tokenCount > 0)
      .map((row) => ({
        execution: row.executionId,
        worker: row.worker,
        tokens: row.tokenCount,
        leaseLeftMs: leaseLeftMs(memory, row),
      })),
    sharedLimits: describeShared(memory.state, definition),
    rate: rateOf(definition),
    rateInMs: permitInMs(memory, definition),
    ...(group === undefined ? {} : { group }),
  };
}

function leaseLeftMs(memory: Memory, execution: ExecutionRow): number {
  return Math.floor(execution.leaseUntilMs - memory.nowMs);
}

type StandingFacts = Pick<TaskFacts, "state" | "claim" | "readyAhead" | "dueInMs" | "wave">;

/** The state, with the facts that belong to it; null: the task stands nowhere. */
function standingFacts(memory: Memory, task: TaskRow): StandingFacts | null {
  const { state } = memory;
  const isSame = (row: { taskId: TaskId }): boolean => row.taskId === task.taskId;
  const holder = executionsOf(state, definitionOf(state, task))
    .filter(isOpen)
    .find((row) => row.claims.some(isSame));
  const claim = holder?.claims.find(isSame);
  if (holder !== undefined && claim !== undefined) {
    return { state: "claimed", ...claimFacts(memory, holder, claim) };
  }
  if (state.ready.some(isSame)) {
    const ready = readyOf(state, definitionOf(state, task));
    const readyAhead = Math.min(ready.findIndex(isSame), aheadMax);
    return { state: "ready", readyAhead };
  }
  if (state.groupWaiting.some(isSame)) return { state: "waiting" };
  if (state.waveBlocked.some(isSame)) return { state: "blocked", ...waveFacts(memory, task) };
  const scheduled = state.scheduled.find(isSame);
  if (scheduled === undefined) return null;
  const dueInMs = Math.ceil(scheduled.runAtMs - memory.nowMs);
  return { state: "scheduled", dueInMs };
}

function waveFacts({ state }: Memory, task: TaskRow): Pick<TaskFacts, "wave"> {
  const wave = task.waveId === null ? undefined : state.waves.get(task.waveId);
  if (wave === undefined) return { wave: null };
  const { batchId, name, state: batchState } = batchOf(state, wave.batchId);
  return { wave: { batch: batchId, name, batchState, ordinal: wave.ordinal, state: wave.state } };
}

function claimFacts(
  memory: Memory,
  holder: ExecutionRow,
  claim: ClaimRow,
): Pick<TaskFacts, "claim"> {
  return {
    claim: {
      execution: holder.executionId,
      worker: holder.worker,
      fence: claim.fence,
      claimedAt: iso(claim.claimedAtMs),
      leaseLeftMs: leaseLeftMs(memory, holder),
      isPrefetched: claim.isPrefetched,
      standing: standingOf(memory, holder, claim.taskId),
    },
  };
}

function groupFacts({ state }: Memory, task: TaskRow): TaskFacts["group"] {
  // On its way into a group, which may be there already.
  const group =
    task.pendingGroup === null
      ? state.groups.get(task.groupId ?? 0)
      : findGroup(state, definitionOf(state, task), task.pendingGroup);
  if (group === undefined) return undefined;
  const holders = state.groupSlots.filter((row) => row.groupId === group.groupId);
  const ahead = state.groupWaiting.filter(
    (row) => row.groupId === group.groupId && comparePlaces(row, task) < 0,
  );
  return {
    key: group.key,
    slots: group.slots,
    used: holders.length,
    paused: group.isPaused,
    strict: group.strict,
    isGlobal: group.scope === 0,
    ahead: Math.min(ahead.length, aheadMax),
    holders: holders.map((row) => row.taskId),
  };
}
