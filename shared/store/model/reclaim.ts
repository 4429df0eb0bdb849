import type { ReclaimExpiredAnswer } from "../../ports/task-store";
import { expectRange } from "./arguments";
import { endTasks } from "./endings";
import type { Ending } from "./endings";
import { addReady, compareNumbers, definitionNames, definitionOf, taskOf } from "./rows";
import type { ClaimRow, ExecutionRow, Model } from "./state";

/** Recorded of every task that was started under a lease that ended. */
const lostError = "the worker lost its lease";

/** Executions to reclaim: past their lease, strictly, or declared dead by an asker (P7). */
export function expiredExecutions(model: Model): ExecutionRow[] {
  return [...model.state.executions.values()]
    .filter(
      (row) => row.state === "dead" || (row.state === "live" && row.leaseUntilMs < model.nowMs),
    )
    .sort((a, b) => compareNumbers(a.executionId, b.executionId));
}

/**
 * reclaim_expired: takes back what dead executions held. What they had started counts as lost; a
 * task lost more often than maxLost ends dead; the rest is ready again. Tokens stay where they are:
 * the next asker finds the dead holder.
 */
export function reclaimExpired(model: Model, input: { most: number }): ReclaimExpiredAnswer {
  expectRange("most", input.most, [1, 1_000]);
  const executions = expiredExecutions(model).slice(0, input.most);
  const endings: Ending[] = [];
  const woken: number[] = [];
  let claimed = 0;
  let lost = 0;
  for (const execution of executions) {
    const claims = close(model, execution);
    if (claims.length > 0) woken.push(execution.definitionId);
    const started = claims.filter((claim) => !claim.isSpare);
    for (const claim of started) recordLoss(model, execution, claim);
    for (const claim of claims) {
      if (isOver(model, claim)) endings.push(endLost(model, execution, claim));
      else addReady(model.state, taskOf(model.state, claim.taskId));
    }
    claimed += claims.length;
    lost += started.length;
  }
  const { woken: opened, opening } = endTasks(model, endings);
  woken.push(...opened);
  return {
    status: executions.length > 0 ? "reclaimed" : "none",
    executions: executions.length,
    tasksBack: claimed - endings.length,
    tasksLost: lost,
    tasksDead: endings.length,
    definitions: definitionNames(model.state, woken),
    more: executions.length === input.most,
    opening: [...opening],
  };
}

/** Ends a dead execution; answers what it had claimed. */
function close(model: Model, execution: ExecutionRow): ClaimRow[] {
  const claims = execution.claims;
  execution.state = "reclaimed";
  execution.endedAtMs ??= model.nowMs;
  execution.tokenCount = 0;
  execution.claims = [];
  return claims;
}

function recordLoss(model: Model, execution: ExecutionRow, claim: ClaimRow): void {
  const task = taskOf(model.state, claim.taskId);
  task.lostCount += 1;
  task.lastError = lostError;
  model.state.attempts.push({
    taskId: claim.taskId,
    fence: claim.fence,
    executionId: execution.executionId,
    claimedAtMs: claim.claimedAtMs,
    finishedAtMs: model.nowMs,
    durationMs: null,
    outcome: "lost",
    error: lostError,
  });
}

/** Does a task end here: on request, or because it was lost too often just now? */
function isOver(model: Model, claim: ClaimRow): boolean {
  const task = taskOf(model.state, claim.taskId);
  const { maxLost } = definitionOf(model.state, task).settings;
  return task.isCancelRequested || (task.lostCount > maxLost && !claim.isSpare);
}

function endLost(model: Model, execution: ExecutionRow, { taskId, fence }: ClaimRow): Ending {
  return {
    taskId,
    fence,
    executionId: execution.executionId,
    outcome: taskOf(model.state, taskId).isCancelRequested ? "cancelled" : "dead",
    durationMs: null,
    result: null,
  };
}
