import { asFence, executionNumber } from "../../core/ids";
import { limits } from "../../core/limits";
import type { Fence, TaskId } from "../../core/ids";
import type { JsonPayload } from "../../core/json";
import type { ClaimedTask, DoneTask, WorkAnswer, WorkInput } from "../../ports/task-store";
import { nothingClaimed } from "../../store/operations/nothing-claimed";
import type { Implementation } from "./implementation";
import { conflict, expectRange, invalidArgument, isWithin, left } from "./arguments";
import { tellOpened } from "./waves";
import type { Opened } from "./waves";
import { endTasks } from "./endings";
import { reportStarted } from "./executions";
import { comparePlaces, definitionOf, findExecution, hasReady, readyOf, taskOf } from "./rows";
import { permitsOf, usePermits } from "./rates";
import { dueOf, nextDueMs, promoteDue } from "./schedule";
import type { ClaimRow, DefinitionRow, ExecutionRow, Memory, TaskRow } from "./state";
import { couldGive } from "./spread";
import { freeForAll, overLimitOf } from "./tokens";

/** work: the hot path: completes some tasks and claims some. */
export const work: Implementation<"work"> = (memory, input) => {
  expectRange("want", input.want, [0, limits.claimMax]);
  if (!isWithin(input.callNumber, 1, Infinity)) {
    throw invalidArgument(`call_number: expected 1 or more (${String(input.callNumber)})`);
  }
  const execution = findExecution(memory.state, input.executionId);
  if (execution?.state !== "live") {
    return { ...nothingClaimed, status: execution?.state === "ended" ? "ended" : "fenced" };
  }
  const definition = definitionOf(memory.state, execution);
  const { leaseMs } = definition.settings;
  const idle = answerIdle(memory, execution, input);
  if (idle !== null) return idle;
  const answer = { ...nothingClaimed, leaseMs, ...tokensFor(memory, definition, execution) };

  const { lastCall } = execution;
  if (input.callNumber < lastCall.callNumber) {
    throw conflict(`call_number: older than the last one (${String(input.callNumber)})`);
  }
  if (input.callNumber === lastCall.callNumber) {
    execution.leaseUntilMs = Math.max(execution.leaseUntilMs, memory.nowMs + leaseMs);
    const claimed = claimedAgain(memory, execution);
    const last = lastPlace(memory, claimed);
    return { ...answer, status: "again", claimed, last, refused: lastCall.refused };
  }

  // What the completions below schedule for now, such as grouped tasks of a wave, is the next call's.
  const isDue = isSomeDue(memory, definition, input);
  const { refused, ...opened } = completeDone(memory, execution, input.done);
  reportStarted(execution, input.started);
  const { status, claimed, due, retryInMs } = claimWanted(memory, execution, { ...input, isDue });
  const fence = claimed.at(-1)?.fence ?? null;
  execution.lastCall = { callNumber: input.callNumber, fence, refused };
  execution.totals.claimed += claimed.length;
  execution.leaseUntilMs = Math.max(execution.leaseUntilMs, memory.nowMs + leaseMs);
  return {
    ...answer,
    status,
    claimed,
    last: lastPlace(memory, claimed),
    refused,
    nextDueMs: due,
    retryInMs,
    ...tellOpened(memory.state, opened, definition),
  };
};

function tokensFor(
  memory: Memory,
  definition: DefinitionRow,
  execution: ExecutionRow,
): Pick<WorkAnswer, "overLimit" | "releaseRequested" | "freeTokens"> {
  const overLimit = overLimitOf(memory.state, definition);
  const releaseRequested = overLimit === 0 && couldGive(memory, definition, execution.worker);
  const isKnown = overLimit === 0 && !releaseRequested;
  return { overLimit, releaseRequested, freeTokens: isKnown ? freeForAll(memory, definition) : 0 };
}

/**
 * An empty call that finds nothing writes nothing, not even its call number; the heartbeat renews
 * the lease.
 */
function answerIdle(memory: Memory, execution: ExecutionRow, input: WorkInput): WorkAnswer | null {
  const isEmpty = input.want > 0 && input.done.length === 0 && input.started.length === 0;
  if (!isEmpty || input.callNumber <= execution.lastCall.callNumber) return null;
  const definition = definitionOf(memory.state, execution);
  const isDue = isSomeDue(memory, definition, input);
  if ((hasReady(memory.state, definition) || isDue) && !definition.isPaused) return null;
  return {
    ...nothingClaimed,
    status: definition.isPaused ? "paused" : "none",
    overLimit: overLimitOf(memory.state, definition),
    nextDueMs: nextLookMs(memory, definition, isDue),
  };
}

/** Behind a place only those of the last two seconds: a call without one saw the rest, at most a second ago. */
function isSomeDue(memory: Memory, definition: DefinitionRow, input: WorkInput): boolean {
  const sinceMs = input.after === undefined ? undefined : memory.nowMs - 2_000;
  return dueOf(memory, definition, sinceMs).length > 0;
}

/** When nothing was found due, nothing before now is looked at. */
function nextLookMs(memory: Memory, definition: DefinitionRow, isDue: boolean): number | null {
  return nextDueMs(memory, definition, isDue ? undefined : memory.nowMs);
}

/**
 * The claims of the last call that are still held. The first so many count as started, as in the
 * first answer.
 */
function claimedAgain(memory: Memory, execution: ExecutionRow): ClaimedTask[] {
  const claims = execution.claims.filter((claim) => claim.fence === execution.lastCall.fence);
  const started = claims.filter((claim) => !claim.isPrefetched).length;
  return claims.map((claim, index) =>
    describeClaim(memory, execution, { ...claim, isPrefetched: index >= started }),
  );
}

/** Completed tasks that are still held leave; a task that another execution holds now is refused. */
function completeDone(
  memory: Memory,
  execution: ExecutionRow,
  done: readonly DoneTask[],
): Opened & { refused: TaskId[] } {
  const taskIds = done.map((task) => task.taskId);
  if (new Set(taskIds).size < taskIds.length) {
    const shown = left(taskIds.join(","), 200);
    throw invalidArgument(`done_task_ids: expected each task once (${shown})`);
  }
  const accepted = done.filter((task) => isHeld(execution, task));
  dropClaims(
    execution,
    accepted.map((task) => task.taskId),
  );
  for (const { durationMs } of accepted) countDone(execution, durationMs);
  const { executionId } = execution;
  const opened = endTasks(
    memory,
    accepted.map((task) => ({ ...task, executionId, outcome: "done" })),
  );
  const refused = done.filter((task) => !accepted.includes(task)).map((task) => task.taskId);
  return { refused, ...opened };
}

/** Does the execution hold the task under that fence? */
export function isHeld(
  execution: ExecutionRow,
  { taskId, fence }: { taskId: TaskId; fence: Fence },
): boolean {
  return execution.claims.some((claim) => claim.taskId === taskId && claim.fence === fence);
}

function countDone({ totals }: ExecutionRow, durationMs: number | null): void {
  totals.done += 1;
  totals.ranMs += durationMs ?? 0;
}

/** Takes tasks out of an execution's claims. */
export function dropClaims(execution: ExecutionRow, taskIds: readonly TaskId[]): void {
  execution.claims = execution.claims.filter((claim) => !taskIds.includes(claim.taskId));
  if (execution.claims.length === 0) execution.isSolo = false;
}

/** Claims as many as wanted, as the tokens and their prefetched claims allow. */
function claimWanted(
  memory: Memory,
  execution: ExecutionRow,
  input: WorkInput & { readonly isDue: boolean },
): Pick<WorkAnswer, "status" | "claimed" | "retryInMs"> & { due: number | null } {
  const definition = definitionOf(memory.state, execution);
  const claimsMax = execution.tokenCount * (1 + definition.settings.prefetchMax);
  const room = claimsMax - execution.claims.length;
  const nothing = { claimed: [], due: null, retryInMs: null };
  if (input.want === 0) return { ...nothing, status: "done" };
  if (definition.isPaused) return { ...nothing, status: "paused" };
  if (room <= 0) return { ...nothing, status: "limited" };
  if (execution.isSolo) return { ...nothing, status: "none" };

  const max = Math.min(input.want, room);
  const promoted = input.isDue ? promoteDue(memory, definition, Math.max(2 * max, 256)) : 0;
  const due = promoted >= 128 ? nextLookMs(memory, definition, true) : null;
  const permits = permitsOf(memory, definition, max);
  const want = permits?.allowed ?? max;
  if (permits !== null && want === 0) {
    usePermits(definition, permits, 0);
    return { ...nothing, status: "limited", due, retryInMs: permits.retryInMs };
  }
  const tasks = takeReady(memory, execution, { want, after: input.after });
  const claimed = addClaims(memory, execution, tasks);
  if (permits !== null) usePermits(definition, permits, claimed.length);
  return {
    status: claimed.length > 0 ? "claimed" : "none",
    claimed,
    retryInMs: claimed.length === want ? (permits?.retryInMs ?? null) : null,
    due: claimed.length < want ? nextLookMs(memory, definition, input.isDue) : due,
  };
}

/** Takes the first ready tasks, at or after a place if one is given. */
function takeReady(
  memory: Memory,
  execution: ExecutionRow,
  { want, after }: { want: number; after: WorkInput["after"] },
): TaskRow[] {
  const definition = definitionOf(memory.state, execution);
  const first = readyOf(memory.state, definition)
    .filter((row) => after === undefined || comparePlaces(row, after) >= 0)
    .slice(0, want)
    .map((row) => taskOf(memory.state, row.taskId));
  const taken = keepSolo(execution, first);
  const takenIds = new Set(taken.map((task) => task.taskId));
  memory.state.ready = memory.state.ready.filter((row) => !takenIds.has(row.taskId));
  return taken;
}

/**
 * A task that was lost twice runs alone, so that it can't take its neighbours along a third time:
 * tasks before the first such task are kept, or only it when it comes first and
 * the execution holds nothing else.
 */
function keepSolo(execution: ExecutionRow, tasks: readonly TaskRow[]): TaskRow[] {
  const solo = tasks.findIndex((task) => task.lostCount >= 2);
  if (solo === -1) return [...tasks];
  const isIdle = execution.claims.length === 0;
  execution.isSolo = isIdle && solo === 0;
  return tasks.slice(0, execution.isSolo ? 1 : solo);
}

/**
 * The first claims take the tokens that are free; the rest is prefetched until it is reported as
 * started.
 */
function addClaims(
  memory: Memory,
  execution: ExecutionRow,
  tasks: readonly TaskRow[],
): ClaimedTask[] {
  if (tasks.length === 0) return [];
  const fence = asFence(String(memory.sequences.next("fence")));
  const running = execution.claims.filter((claim) => !claim.isPrefetched).length;
  const claims = tasks.map(({ taskId }, index) => ({
    taskId,
    fence,
    claimedAtMs: memory.nowMs,
    isPrefetched: index >= execution.tokenCount - running,
  }));
  execution.claims.push(...claims);
  return claims.map((claim) => describeClaim(memory, execution, claim));
}

function describeClaim(memory: Memory, execution: ExecutionRow, claim: ClaimRow): ClaimedTask {
  const task = taskOf(memory.state, claim.taskId);
  return {
    taskId: claim.taskId,
    fence: claim.fence,
    kind: task.kind,
    attempt: task.failedCount + task.lostCount + 1,
    payload: task.payload === null ? null : (JSON.parse(task.payload) as JsonPayload),
    checkpoint: task.checkpoint,
    traceParent: task.traceParent,
    isGrouped: task.groupId !== null,
    isCancelRequested: task.isCancelRequested,
    isFromNewerBuild: task.build > execution.build,
    isInWave: task.waveId !== null,
    isSuspect: task.lostCount >= 2,
    isPrefetched: claim.isPrefetched,
  };
}

function lastPlace(memory: Memory, claimed: readonly ClaimedTask[]): WorkAnswer["last"] {
  const last = claimed.at(-1);
  if (last === undefined) return null;
  const { priority, rank, taskId } = taskOf(memory.state, last.taskId);
  return { priority, rank, taskId };
}

/** complete_task: the fenced completion of one task, inside the user's own transaction. */
export const completeTask: Implementation<"completeTask"> = (memory, input) => {
  const { archive, executions } = memory.state;
  const execution = findExecution(memory.state, input.executionId);
  const executionId = executionNumber(input.executionId);
  if (execution?.state !== "live" || !isHeld(execution, input)) {
    const ended = archive.get(input.taskId);
    const isSame =
      ended?.outcome === "done" &&
      ended.fence === input.fence &&
      ended.executionId === executionId &&
      executions.get(executionId) === execution;
    return { status: isSame ? "again" : "fenced", woken: [], opening: [] };
  }
  dropClaims(execution, [input.taskId]);
  countDone(execution, input.durationMs);
  const opened = endTasks(memory, [{ ...input, executionId, outcome: "done" }]);
  const definition = definitionOf(memory.state, execution);
  return { status: "done", ...tellOpened(memory.state, opened, definition) };
};

/** report_progress: how far a running task is; the last report wins. */
export const reportProgress: Implementation<"reportProgress"> = (memory, input) => {
  const { done, total, text } = input;
  if ((done ?? 0) < 0 || (total ?? 0) < 0) {
    throw invalidArgument(`done: expected 0 or more (${shown(done)} of ${shown(total)})`);
  }
  const execution = findExecution(memory.state, input.executionId);
  if (execution?.state !== "live" || !isHeld(execution, input)) {
    return { status: "fenced", isCancelRequested: false };
  }
  const task = taskOf(memory.state, input.taskId);
  task.progress = {
    done,
    total,
    text: text === null ? null : left(text, limits.progressTextLengthMax),
  };
  return { status: "done", isCancelRequested: task.isCancelRequested };
};

/** A value in a message, as PostgreSQL writes it. */
function shown(value: number | null): string {
  return value === null ? "<NULL>" : String(value);
}
