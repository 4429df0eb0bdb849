import type { Implementation } from "./implementation";
import { expectRange } from "./arguments";
import { endTasks } from "./endings";
import type { Ending } from "./endings";
import { executionsOf } from "./execution-rows";
import { addReady, definitionNames, definitionOf, taskOf } from "./rows";
import { setTokenCount } from "./execution-totals";
import type { ClaimRow, ExecutionRow, Memory } from "./state";

/** Recorded of every task that was started under a lease that ended. */
const lostError = "the worker lost its lease";

/** Executions to reclaim: past their lease, strictly, or declared dead by an asker. */
export function expiredExecutions(memory: Memory): ExecutionRow[] {
  return executionsOf(memory.state).filter(
    (row) => row.state === "dead" || (row.state === "live" && row.leaseUntilMs < memory.nowMs),
  );
}

/**
 * reclaim_expired: takes back what dead executions held. What they had started counts as lost; a
 * task lost more often than lostMax ends dead; the rest is ready again. Tokens stay where they are:
 * the next asker finds the dead holder.
 */
export const reclaimExpired: Implementation<"reclaimExpired"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const executions = expiredExecutions(memory).slice(0, input.max);
  const endings: Ending[] = [];
  const woken: number[] = [];
  let claimed = 0;
  let lost = 0;
  for (const execution of executions) {
    const claims = close(memory, execution);
    if (claims.length > 0) woken.push(execution.definitionId);
    const started = claims.filter((claim) => !claim.isPrefetched);
    for (const claim of started) recordLoss(memory, execution, claim);
    for (const claim of claims) {
      if (isOver(memory, claim)) {
        const ending = endLost(memory, execution, claim);
        if (ending.outcome === "dead") execution.totals.dead += 1;
        endings.push(ending);
      } else addReady(memory.state, taskOf(memory.state, claim.taskId));
    }
    claimed += claims.length;
    lost += started.length;
    execution.totals.lost += started.length;
  }
  const { woken: opened, opening } = endTasks(memory, endings);
  woken.push(...opened);
  return {
    status: executions.length > 0 ? "reclaimed" : "none",
    executions: executions.length,
    tasksBack: claimed - endings.length,
    tasksLost: lost,
    tasksDead: endings.filter(({ outcome }) => outcome === "dead").length,
    definitions: definitionNames(memory.state, woken),
    more: executions.length === input.max,
    opening: [...opening],
  };
};

/** Ends a dead execution; answers what it had claimed. */
function close(memory: Memory, execution: ExecutionRow): ClaimRow[] {
  const claims = execution.claims;
  execution.state = "reclaimed";
  execution.endedAtMs ??= memory.nowMs;
  setTokenCount(memory, execution, 0);
  execution.claims = [];
  return claims;
}

function recordLoss(memory: Memory, execution: ExecutionRow, claim: ClaimRow): void {
  const task = taskOf(memory.state, claim.taskId);
  task.lostCount += 1;
  task.lastError = lostError;
  memory.state.attempts.push({
    taskId: claim.taskId,
    fence: claim.fence,
    executionId: execution.executionId,
    claimedAtMs: claim.claimedAtMs,
    endedAtMs: memory.nowMs,
    durationMs: null,
    outcome: "lost",
    error: lostError,
  });
}

/** Does a task end here: on request, or because it was lost too often just now? */
function isOver(memory: Memory, claim: ClaimRow): boolean {
  const task = taskOf(memory.state, claim.taskId);
  const { lostMax } = definitionOf(memory.state, task).settings;
  return task.isCancelRequested || (task.lostCount > lostMax && !claim.isPrefetched);
}

function endLost(memory: Memory, execution: ExecutionRow, { taskId, fence }: ClaimRow): Ending {
  return {
    taskId,
    fence,
    executionId: execution.executionId,
    outcome: taskOf(memory.state, taskId).isCancelRequested ? "cancelled" : "dead",
  };
}
