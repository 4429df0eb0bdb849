import type { TaskId } from "../../core/ids";
import type { ExplainTaskAnswer, TaskAttempt, TaskFacts } from "../../ports/task-store";
import { findGroup } from "./groups";
import { isOpen, iso, standingOf, workerOf } from "./read-models";
import { compareNumbers, comparePlaces, definitionOf, limitOf, readyOf } from "./rows";
import { permitInMs, rateOf } from "./rates";
import { describeShared } from "./shared-tokens";
import type { ArchiveRow, ClaimRow, DefinitionRow, ExecutionRow, Model, TaskRow } from "./state";

/** Counts of those ahead stop here. */
const aheadMax = 1_000;

/** explain_task: where a task stands and everything that decides when it runs. */
export function explainTask(model: Model, input: { taskId: TaskId }): ExplainTaskAnswer {
  const ended = model.state.archive.get(input.taskId);
  if (ended !== undefined) return { status: "found", facts: finishedFacts(model, ended) };
  const task = model.state.tasks.get(input.taskId);
  if (task === undefined) return { status: "unknown", facts: null };
  const standing = standingFacts(model, task);
  if (standing === null) return { status: "moving", facts: null };
  return { status: "found", facts: { ...unfinishedFacts(model, task), ...standing } };
}

/** Newest first, at most 50. */
function attemptsOf(model: Model, taskId: TaskId): TaskAttempt[] {
  return model.state.attempts
    .filter((row) => row.taskId === taskId)
    .sort((a, b) => b.finishedAtMs - a.finishedAtMs || compareNumbers(b.fence, a.fence))
    .slice(0, 50)
    .map((row) => ({
      fence: row.fence,
      worker: workerOf(model, row),
      claimedAt: iso(row.claimedAtMs),
      finishedAt: iso(row.finishedAtMs),
      durationMs: row.durationMs,
      outcome: row.outcome,
      error: row.error,
    }));
}

/** What is told of every task. */
function commonFacts(model: Model, task: TaskRow) {
  return {
    task: task.taskId,
    definition: definitionOf(model.state, task).name,
    kind: task.kind,
    priority: task.priority,
    createdAt: iso(task.createdAtMs),
    failedCount: task.failedCount,
    lostCount: task.lostCount,
    lastError: task.lastError,
    dedupeKey: task.dedupeKey,
    payload: task.payload,
    attempts: attemptsOf(model, task.taskId),
  };
}

function finishedFacts(model: Model, row: ArchiveRow): TaskFacts {
  return {
    ...commonFacts(model, row.task),
    state: row.outcome,
    finishedAt: iso(row.finishedAtMs),
    worker: workerOf(model, row),
    durationMs: row.durationMs,
    result: row.result,
  };
}

function unfinishedFacts(model: Model, task: TaskRow) {
  const definition = definitionOf(model.state, task);
  const { done, text } = task.progress;
  const open = openExecutions(model, definition);
  const group = groupFacts(model, task);
  return {
    ...commonFacts(model, task),
    maxAttempts: definition.settings.maxAttempts,
    maxLost: definition.settings.maxLost,
    continuedCount: task.continuedCount,
    cancelRequested: task.isCancelRequested,
    progress: done === null && text === null ? null : { ...task.progress },
    limit: limitOf(definition),
    limitSource: definition.operatorLimit === "code" ? ("code" as const) : ("operator" as const),
    paused: definition.isPaused,
    held: open.reduce((sum, row) => sum + row.tokenCount, 0),
    holders: open
      .filter((row) => row.tokenCount > 0)
      .map((row) => ({
        execution: row.executionId,
        worker: row.worker,
        tokens: row.tokenCount,
        leaseLeftMs: leaseLeftMs(model, row),
      })),
    sharedLimits: describeShared(model.state, definition),
    rate: rateOf(definition),
    rateInMs: permitInMs(model, definition),
    ...(group === undefined ? {} : { group }),
  };
}

function openExecutions(model: Model, definition: DefinitionRow): ExecutionRow[] {
  return [...model.state.executions.values()]
    .filter((row) => row.definitionId === definition.definitionId && isOpen(row))
    .sort((a, b) => compareNumbers(a.executionId, b.executionId));
}

function leaseLeftMs(model: Model, execution: ExecutionRow): number {
  return Math.floor(execution.leaseUntilMs - model.nowMs);
}

type StandingFacts = Pick<TaskFacts, "state" | "claim" | "readyAhead" | "dueInMs">;

/** The state, with the facts that belong to it; null: the task stands nowhere. */
function standingFacts(model: Model, task: TaskRow): StandingFacts | null {
  const { state } = model;
  const isSame = (row: { taskId: TaskId }): boolean => row.taskId === task.taskId;
  const holder = openExecutions(model, definitionOf(state, task)).find((row) =>
    row.claims.some(isSame),
  );
  const claim = holder?.claims.find(isSame);
  if (holder !== undefined && claim !== undefined) {
    return { state: "claimed", ...claimFacts(model, holder, claim) };
  }
  if (state.ready.some(isSame)) {
    const ready = readyOf(state, definitionOf(state, task));
    const readyAhead = Math.min(ready.findIndex(isSame), aheadMax);
    return { state: "ready", readyAhead };
  }
  if (state.groupWaiting.some(isSame)) return { state: "waiting" };
  if (state.waveHeld.some(isSame)) return { state: "held" };
  const scheduled = state.scheduled.find(isSame);
  if (scheduled === undefined) return null;
  const dueInMs = Math.ceil(scheduled.runAtMs - model.nowMs);
  return { state: "scheduled", dueInMs };
}

function claimFacts(model: Model, holder: ExecutionRow, claim: ClaimRow): Pick<TaskFacts, "claim"> {
  return {
    claim: {
      execution: holder.executionId,
      worker: holder.worker,
      fence: claim.fence,
      claimedAt: iso(claim.claimedAtMs),
      leaseLeftMs: leaseLeftMs(model, holder),
      isSpare: claim.isSpare,
      standing: standingOf(model, holder, claim.taskId),
    },
  };
}

function groupFacts({ state }: Model, task: TaskRow): TaskFacts["group"] {
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
    isStrict: group.isStrict,
    isGlobal: group.scope === 0,
    ahead: Math.min(ahead.length, aheadMax),
    holders: holders.map((row) => row.taskId),
  };
}
