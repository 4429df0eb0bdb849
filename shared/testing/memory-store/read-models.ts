import { compareTexts } from "../../core/text";
import type { TaskId } from "../../core/ids";
import type { DefinitionStatus, SweptDefinition } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { batchesToPump } from "./batches";
import { codeRateOf, permitInMs, rateOf } from "./rates";
import { expectRange } from "./arguments";
import { nextInstants } from "./cron-schedules";
import { liveUse } from "./holders";
import { iso, isoOrNull } from "./instants";
import { isPurgeable } from "./purge";
import { expiredExecutions } from "./reclaim";
import { countTokens, executionsOf, isOpen } from "./execution-rows";
import { definitionOf, hasReady, limitOf, readyOf } from "./rows";
import { dueOf, nextDueMs } from "./schedule";
import type { ArchiveRow, DefinitionRow, ExecutionRow, Memory, TaskRow } from "./state";
import { describeShared, isCrowdedOut, sharedFree } from "./shared-tokens";
import { readTokens } from "./token-pool";

/** Counts stop here, so that reading costs the same for any number of waiting tasks. */
const countMax = 10_000;

/** sweep: lists due work; changes nothing. */
export const sweep: Implementation<"sweep"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const definitions = byName(memory);
  const dues = [
    ...definitions.flatMap((definition) => nextDueMs(memory, definition) ?? []),
    ...nextInstants(memory).map((schedule) => Math.max(schedule.inMs, 0)),
  ];
  return {
    expired: Math.min(expiredExecutions(memory).length, 1_000),
    definitions: definitions
      .filter((row) => hasReady(memory.state, row) || dueOf(memory, row).length > 0)
      .slice(0, input.max)
      .map((row) => sweepDefinition(memory, row)),
    nextDueMs: dues.length === 0 ? null : Math.min(...dues),
    opening: batchesToPump(memory.state).slice(0, input.max),
    isPurgeable: isPurgeable(memory),
    schedules: nextInstants(memory)
      .filter((schedule) => schedule.inMs <= 0)
      .slice(0, input.max),
  };
};

function sweepDefinition(memory: Memory, definition: DefinitionRow): SweptDefinition {
  const limit = limitOf(definition);
  // One damaged row must not stop the safety net.
  const tokens = readTokens(definition);
  const live = tokens === null ? Infinity : liveUse(memory, tokens).count;
  const ownFree = limit === null ? 1_000 : Math.max(limit - live, 0);
  return {
    name: definition.name,
    ready: Math.min(readyOf(memory.state, definition).length, 1_000),
    free: Math.min(ownFree, sharedFree(memory, definition)),
    crowdedOut: ownFree > 0 && isCrowdedOut(memory, definition),
    due: dueOf(memory, definition).length > 0,
    paused: definition.isPaused,
  };
}

function byName(memory: Memory): DefinitionRow[] {
  return [...memory.state.definitions.values()].sort((a, b) => compareTexts(a.name, b.name));
}

/** list_definitions: definitions with their limits, their executions and the tasks that wait. */
export const listDefinitions: Implementation<"listDefinitions"> = (memory, input) => {
  const definitions = byName(memory)
    .filter((row) => input.name === undefined || row.name === input.name)
    .map((row) => describeDefinition(memory, row));
  return { definitions };
};

function describeDefinition(memory: Memory, definition: DefinitionRow): DefinitionStatus {
  const { state } = memory;
  const { settings } = definition;
  const isOwn = (row: { definitionId: number }): boolean =>
    row.definitionId === definition.definitionId;
  const open = executionsOf(state, definition).filter(isOpen);
  const ended = [...state.archive.values()].filter((row) => isOwn(row.task));
  const count = (outcome: ArchiveRow["outcome"]): number =>
    capped(ended.filter((row) => row.outcome === outcome));
  return {
    name: definition.name,
    limit: limitOf(definition),
    limitSource: definition.operatorLimit === "code" ? "code" : "operator",
    codeLimit: settings.limit,
    rate: rateOf(definition),
    rateSource: definition.operatorRate === "code" ? "code" : "operator",
    codeRate: codeRateOf(definition),
    rateInMs: permitInMs(memory, definition),
    sharedLimits: describeShared(state, definition),
    paused: definition.isPaused,
    leaseMs: settings.leaseMs,
    retryAttempts: settings.retryAttempts,
    lostMax: settings.lostMax,
    prefetchMax: settings.prefetchMax,
    build: definition.build,
    tokenFence: String(definition.tokenFence),
    held: countTokens(open),
    executions: open.filter((row) => row.state === "live" && row.leaseUntilMs >= memory.nowMs)
      .length,
    ready: capped(state.ready.filter(isOwn)),
    scheduled: capped(state.scheduled.filter(isOwn)),
    waiting: capped(state.groupWaiting.filter(isOwn)),
    claimed: open.reduce((sum, row) => sum + row.claims.length, 0),
    running: open.reduce((sum, row) => sum + countStanding(memory, row, "running"), 0),
    prefetched: open.reduce((sum, row) => sum + countStanding(memory, row, "prefetched"), 0),
    done: count("done"),
    dead: count("dead"),
    cancelled: count("cancelled"),
    nextDueMs: nextDueMs(memory, definition),
  };
}

function capped(rows: readonly unknown[]): number {
  return Math.min(rows.length, countMax);
}

/**
 * The state of a claim. A task that counts as started runs, but never more than there are tokens: an end still to be told
 * keeps its place. Claims beyond that are fetched ahead. Once the lease is over all of them are lost.
 */
export function standingOf(
  memory: Memory,
  execution: ExecutionRow,
  taskId: TaskId,
): "running" | "prefetched" | "lost" {
  if (execution.state !== "live" || execution.leaseUntilMs < memory.nowMs) return "lost";
  const started = execution.claims.filter((claim) => !claim.isPrefetched);
  const place = started.findIndex((claim) => claim.taskId === taskId);
  return place !== -1 && place < execution.tokenCount ? "running" : "prefetched";
}

function countStanding(
  memory: Memory,
  execution: ExecutionRow,
  standing: "running" | "prefetched",
): number {
  const { claims } = execution;
  return claims.filter(({ taskId }) => standingOf(memory, execution, taskId) === standing).length;
}

/** list_executions: who works, with how many tokens; newest first. */
export const listExecutions: Implementation<"listExecutions"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const executions = executionsOf(memory.state)
    .reverse()
    .filter((row) => !input.isOpen || isOpen(row))
    .map((row) => ({ row, definition: definitionOf(memory.state, row) }))
    .filter(({ definition }) => input.name === undefined || definition.name === input.name)
    .slice(0, input.max)
    .map(({ row, definition }) => ({
      execution: row.executionId,
      definition: definition.name,
      state: row.state,
      worker: row.worker,
      startedAt: iso(row.startedAtMs),
      endedAt: isoOrNull(row.endedAtMs),
      leaseLeftMs: row.state === "live" ? Math.floor(row.leaseUntilMs - memory.nowMs) : null,
      tokens: row.tokenCount,
      claimed: row.claims.length,
      running: countStanding(memory, row, "running"),
      prefetched: countStanding(memory, row, "prefetched"),
    }));
  return { executions };
};

/** The worker of an attempt; null: there was none, or its execution is gone. */
export function workerOf(memory: Memory, row: Pick<ArchiveRow, "executionId">): string | null {
  if (row.executionId === null) return null;
  return memory.state.executions.get(row.executionId)?.worker ?? null;
}

/** What lists and explanations tell of every task. */
export function describeTask(task: TaskRow) {
  return {
    task: task.taskId,
    kind: task.kind,
    priority: task.priority,
    createdAt: iso(task.createdAtMs),
    failedCount: task.failedCount,
    lostCount: task.lostCount,
  };
}
