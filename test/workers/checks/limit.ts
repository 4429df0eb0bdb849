import { executionNumber } from "../../../shared/core/ids";
import type { ExecutionId, ExecutionNumber } from "../../../shared/core/ids";
import type {
  AcquireTokensAnswer,
  StartExecutionAnswer,
  StartExecutionInput,
} from "../../../shared/ports/task-store";
import { findDefinition } from "../../../shared/testing/memory-store/rows";
import type { DefinitionRow } from "../../../shared/testing/memory-store/state";
import type { StatementCall } from "../database";
import { boundsOf, holdersOf } from "../bounds";
import { isLeaseLive } from "../watch";
import type { Check, Run, World } from "../watch";

/**
 * Limit: as many handlers under live leases as the greatest limit since the oldest was granted its token; no grant above
 * the limit; no token without its handler's end; who lost its lease has been told in time.
 */
export function checkLimit(world: World): Check {
  const countLive = (definition: string): Run[] =>
    [...world.runs].filter(
      (run) => run.definition === definition && isLeaseLive(world, run.executionId),
    );
  let tokensBefore = "";
  return {
    before: (call) => {
      tokensBefore = isAsk(call) ? tokensOf(world, call) : "";
    },
    begin: (run) => {
      if (world.isSettingBack) return;
      const live = countLive(run.definition);
      const rows = world.database.rows.executions;
      const sinceMs = Math.min(
        ...live.map(({ executionId }) =>
          executionId === null ? 0 : (rows.get(executionId)?.startedAtMs ?? 0),
        ),
      );
      const limit = world.greatestLimit(run.definition, sinceMs);
      if (limit !== null && live.length > limit)
        world.violate(
          "limit",
          `${String(live.length)} tasks of ${run.definition} run at a time, the limit was at most ${String(limit)}: ${live.map(describeRun).join(", ")}`,
        );
    },
    after: (call, answer) => {
      // A repeat is given the first answer again: nothing is granted.
      const isGrant = isAsk(call) && tokensOf(world, call) !== tokensBefore;
      if (isGrant) checkGrant(world, call, answer as StartExecutionAnswer | AcquireTokensAnswer);
      checkTokensOfRuns(world);
      checkTold(world);
    },
  };
}

function isAsk(call: StatementCall): boolean {
  return call.operation === "startExecution" || call.operation === "acquireTokens";
}

/** Every grant was within the limit. */
function checkGrant(
  world: World,
  call: StatementCall,
  answer: StartExecutionAnswer | AcquireTokensAnswer,
): void {
  const granted = "granted" in answer ? answer.granted : answer.tokens;
  const definition = definitionAsked(world, call);
  if (granted === 0 || definition === undefined) return;
  for (const bound of boundsOf(world, definition)) {
    const held = holdersOf(bound).length;
    if (held > bound.limit)
      world.violate(
        "limit",
        `${String(held)} tokens of ${bound.row.name} are held after a grant, the limit is ${String(bound.limit)}`,
      );
  }
}

/** The strings of all limits that the call asks. */
function tokensOf(world: World, call: StatementCall): string {
  const definition = definitionAsked(world, call);
  if (definition === undefined) return "";
  return boundsOf(world, definition)
    .map(({ row }) => row.executionTokens)
    .join("\n");
}

function definitionAsked(world: World, call: StatementCall): DefinitionRow | undefined {
  const { rows } = world.database;
  if (call.operation === "startExecution")
    return findDefinition(rows, (call.input as StartExecutionInput).name);
  const { executionId } = call.input as { executionId: ExecutionId };
  return rows.definitions.get(
    rows.executions.get(executionNumber(executionId))?.definitionId ?? -1,
  );
}

function checkTokensOfRuns(world: World): void {
  const rows = world.database.rows.executions;
  const counts = new Map<ExecutionNumber, number>();
  for (const { executionId } of world.runs)
    if (executionId !== null) counts.set(executionId, (counts.get(executionId) ?? 0) + 1);
  for (const [executionId, count] of counts) {
    const row = rows.get(executionId);
    if (row === undefined || row.state === "dead" || row.state === "reclaimed") continue;
    // A host that stands still hears of a lost token when it goes on; its lease bounds the time until then.
    if (world.wasSetBack && !isLeaseLive(world, executionId)) continue;
    if (row.tokenCount < count && !world.isSettingBack)
      world.violate(
        "limit",
        `execution ${executionId} of ${row.worker} runs ${String(count)} handlers on ${String(row.tokenCount)} tokens`,
      );
  }
}

/** A handler whose lease is over has been told, unless its process stands still. */
function checkTold(world: World): void {
  for (const run of world.runs) {
    if (run.host.isFrozen || run.host.wasSuspended || run.signal.aborted) continue;
    if (run.forgottenMs !== null) {
      checkForgotten(world, run, run.forgottenMs);
      continue;
    }
    if (world.isSettingBack) continue;
    if (run.executionId === null || isLeaseLive(world, run.executionId)) continue;
    if (world.database.rows.executions.get(run.executionId)?.state === "ended") continue;
    world.violate("limit", `nobody told ${describeRun(run)} that its lease is over`);
  }
}

/** A handler whose execution the database has forgotten is told within the lease that its worker trusts. */
function checkForgotten(world: World, run: Run, sinceMs: number): void {
  const definition = findDefinition(world.database.rows, run.definition);
  const leaseMs = definition?.settings.leaseMs ?? Number.POSITIVE_INFINITY;
  if (world.time.nowMs - sinceMs <= leaseMs) return;
  world.violate("limit", `nobody told ${describeRun(run)} that the database has forgotten it`);
}

function describeRun(run: Run): string {
  return `task ${run.taskId} on ${run.host.name} (execution ${String(run.executionId)})`;
}
