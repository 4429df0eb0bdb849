import { jsonValue } from "../../core/json-members";
import { limits } from "../../core/limits";
import type { TaskId } from "../../core/ids";
import type { Random } from "../../ports/random";
import type { DefinitionSettings, FailTasksAnswer, Failure } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange, invalidArgument, isWithin, left, tooLarge, wordProblem } from "./arguments";
import { dropClaims, isHeld } from "./claims";
import { endTasks } from "./endings";
import type { Ending } from "./endings";
import { leaveGroup } from "./groups";
import { addScheduled, compareNumbers, definitionOf, findExecution, taskOf } from "./rows";
import type { ExecutionRow, Memory, TaskRow } from "./state";
import { tellOpened } from "./waves";

type Result = FailTasksAnswer["results"][number];

/**
 * fail_tasks: tasks that did not end well: retry later, end dead or cancelled, or go on later
 * uncounted.
 */
export const failTasks: Implementation<"failTasks"> = (memory, input) => {
  if (!isWithin(input.failures.length, 1, 1_000)) {
    throw invalidArgument("failures: expected a JSON array of 1..1000 entries");
  }
  const execution = findExecution(memory.state, input.executionId);
  if (execution?.state !== "live") {
    return { status: "fenced", results: [], woken: [], opening: [], nextDueMs: null };
  }
  const byTask = [...input.failures].sort((a, b) => compareNumbers(a.taskId, b.taskId));
  for (const failure of byTask) expectFailure(failure);

  const results: Result[] = [];
  const endings: Ending[] = [];
  const leaving: TaskRow[] = [];
  for (const failure of input.failures) {
    if (!isHeld(execution, failure)) {
      results.push(refuse(memory, failure));
      continue;
    }
    const outcome = recordAttempt(memory, execution, failure);
    dropClaims(execution, [failure.taskId]);
    if (failure.as === "failed" || failure.as === "dead") execution.totals.failed += 1;
    if (outcome === "dead") execution.totals.dead += 1;
    const retryInMs =
      outcome === "retry" || outcome === "continued"
        ? comeBack(memory, { ...failure, outcome, leaving })
        : null;
    if (outcome === "dead" || outcome === "cancelled") {
      endings.push({ ...failure, executionId: execution.executionId, outcome });
    }
    results.push({ taskId: failure.taskId, outcome, retryInMs });
  }
  const opened = endTasks(memory, endings, { leaving });
  for (const task of leaving) leaveGroup(memory.state, task);
  const retries = results.flatMap((result) => result.retryInMs ?? []);
  return {
    status: "done",
    results,
    ...tellOpened(memory.state, opened, definitionOf(memory.state, execution)),
    nextDueMs: retries.length === 0 ? null : Math.min(...retries),
  };
};

function expectFailure(failure: Failure): void {
  const ends = ["failed", "dead", "cancelled", "continued"];
  const problem = wordProblem(failure.as, ends, Infinity);
  if (problem !== null) throw invalidArgument(`failures.as: ${problem}`);
  if (failure.retryInMs !== null) {
    expectRange("failures.retryInMs", failure.retryInMs, [0, limits.retryInMsMax]);
  }
  if (failure.share !== undefined)
    expectRange("failures.share", failure.share, [1, limits.returnSharesMax]);
  if (failure.checkpoint !== null) expectCheckpoint(failure.checkpoint);
}

function expectCheckpoint(text: string): void {
  if (jsonValue(text) === undefined || !text.isWellFormed()) {
    throw invalidArgument(`failures.checkpoint: expected JSON text (${left(text, 100)})`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.payloadBytesMax) {
    throw tooLarge(`failures.checkpoint: expected at most 65536 bytes (${String(bytes)})`);
  }
}

/** Told before, or lost to another execution: then the attempt is recorded as lost. */
function refuse(memory: Memory, { taskId, fence }: Failure): Result {
  const isTold = memory.state.attempts.some(
    (row) => row.taskId === taskId && row.fence === fence && row.outcome !== "lost",
  );
  return { taskId, outcome: isTold ? "again" : "fenced", retryInMs: null };
}

/** Counts the failure on its task, keeps the attempt, and decides what becomes of the task. */
function recordAttempt(
  memory: Memory,
  execution: ExecutionRow,
  failure: Failure,
): "retry" | "dead" | "cancelled" | "continued" {
  const task = taskOf(memory.state, failure.taskId);
  const { retryAttempts } = definitionOf(memory.state, execution).settings;
  const isCounted = failure.as === "failed" || failure.as === "dead";
  if (isCounted) task.failedCount += 1;
  if (failure.as === "continued") {
    takeShare(task, failure);
    task.checkpoint = failure.checkpoint ?? task.checkpoint;
  }
  // A task that fails is late since it was due; an own delay is another instant.
  if (failure.retryInMs !== null) task.dueAtMs = memory.nowMs + failure.retryInMs;
  const outcome = decide(task, failure, retryAttempts);
  const isOver = failure.as === "continued" && outcome === "dead";
  const text = isOver ? `${cameBackTooOften}${failure.error ?? sameCheckpoint}` : failure.error;
  const error = text === null ? null : left(text, limits.errorLengthMax);
  task.lastError = error ?? task.lastError;
  const claim = execution.claims.find((row) => row.taskId === failure.taskId);
  memory.state.attempts.push({
    taskId: failure.taskId,
    fence: failure.fence,
    executionId: execution.executionId,
    claimedAtMs: claim?.claimedAtMs ?? memory.nowMs,
    endedAtMs: memory.nowMs,
    durationMs: failure.durationMs,
    outcome: isCounted || isOver ? "failed" : outcome === "cancelled" ? "cancelled" : "continued",
    error,
  });
  return outcome;
}

const cameBackTooOften = "came back uncounted too often, the last time: ";
const sameCheckpoint = "its checkpoint was the one before";

/** A return takes its share; a checkpoint that differs from the one before is progress, and starts anew. */
function takeShare(task: TaskRow, { share, checkpoint }: Failure): void {
  const isProgress = share === undefined && checkpoint !== null && checkpoint !== task.checkpoint;
  task.continuedCount = isProgress ? 1 : task.continuedCount + (share ?? 1);
}

/** A cancel request that arrived meanwhile wins over every way of going on. */
function decide(
  task: TaskRow,
  failure: Failure,
  retryAttempts: number,
): "retry" | "dead" | "cancelled" | "continued" {
  if (failure.as === "dead") return "dead";
  if (failure.as === "cancelled" || task.isCancelRequested) return "cancelled";
  if (failure.as === "continued")
    return task.continuedCount > limits.returnSharesMax ? "dead" : "continued";
  return task.failedCount >= retryAttempts ? "dead" : "retry";
}

/**
 * Schedules the next try. A strict group's task keeps its slot, so that no other task
 * overtakes it.
 */
function comeBack(
  memory: Memory,
  retry: {
    taskId: TaskId;
    outcome: "retry" | "continued";
    retryInMs: number | null;
    share?: number;
    leaving: TaskRow[];
  },
): number {
  const task = taskOf(memory.state, retry.taskId);
  const { settings } = definitionOf(memory.state, task);
  const backoff =
    retry.outcome === "retry"
      ? backoffMs(settings, task.failedCount, memory.random)
      : retry.share === undefined
        ? 0
        : backoffMs(returnPause, Math.floor(task.continuedCount / retry.share), memory.random);
  const delayMs = retry.retryInMs ?? backoff;
  addScheduled(memory.state, task, memory.nowMs + delayMs);
  const group = task.groupId === null ? undefined : memory.state.groups.get(task.groupId);
  if (group !== undefined && !group.strict) retry.leaving.push(task);
  return delayMs;
}

const returnPause = {
  retryBaseMs: limits.returnPauseMs.base,
  retryCapMs: limits.returnPauseMs.cap,
};

/**
 * Exponential back-off with equal jitter: min(cap, base * 2^(n-1)), half of it fixed and half
 * random.
 */
function backoffMs(
  settings: Pick<DefinitionSettings, "retryBaseMs" | "retryCapMs">,
  failedCount: number,
  random: Random,
): number {
  const doublings = Math.min(Math.max(failedCount - 1, 0), 30);
  const fullMs = Math.min(settings.retryCapMs, settings.retryBaseMs * 2 ** doublings);
  const fixedMs = Math.floor(fullMs / 2);
  return fixedMs + Math.floor(random.fraction() * (fullMs - fixedMs + 1));
}
