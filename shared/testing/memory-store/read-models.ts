import { compareTexts } from "../../core/text";
import { readTokens } from "./invariants";
import type { TaskId } from "../../core/ids";
import type {
  DefinitionStatus,
  ExecutionStatus,
  ListExecutionsInput,
  SweepAnswer,
  SweptDefinition,
  TaskListEntry,
  TaskStore,
} from "../../ports/task-store";
import { batchesToPump } from "./batches";
import { codeRateOf, permitInMs, rateOf } from "./rates";
import { expectRange, invalidArgument, left } from "./arguments";
import { nextInstants } from "./cron-schedules";
import { isPurgeable } from "./purge";
import { expiredExecutions } from "./reclaim";
import {
  compareNumbers,
  definitionNamed,
  definitionOf,
  hasReady,
  limitOf,
  readyOf,
  taskOf,
} from "./rows";
import { dueOf, nextDueMs } from "./schedule";
import type { ArchiveRow, DefinitionRow, ExecutionRow, Memory } from "./state";
import { describeShared, sharedFree } from "./shared-tokens";
import { liveTokens } from "./tokens";

/** What `listTasks` is asked. */
type ListTasksInput = Parameters<TaskStore["listTasks"]>[0];

/** Counts stop here, so that reading costs the same for any number of waiting tasks. */
const countMax = 10_000;

/** sweep: lists due work; changes nothing. */
export function sweep(memory: Memory, input: { max: number }): SweepAnswer {
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
}

function sweepDefinition(memory: Memory, definition: DefinitionRow): SweptDefinition {
  const limit = limitOf(definition);
  // One damaged row must not stop the safety net.
  const live = readTokens(definition) !== null ? liveTokens(memory, definition).count : Infinity;
  return {
    name: definition.name,
    ready: Math.min(readyOf(memory.state, definition).length, 1_000),
    free: Math.min(
      limit === null ? 1_000 : Math.max(limit - live, 0),
      sharedFree(memory, definition),
    ),
    due: dueOf(memory, definition).length > 0,
    paused: definition.isPaused,
  };
}

function byName(memory: Memory): DefinitionRow[] {
  return [...memory.state.definitions.values()].sort((a, b) => compareTexts(a.name, b.name));
}

/** list_definitions: definitions with their limits, their executions and the tasks that wait. */
export function listDefinitions(
  memory: Memory,
  input: { name?: string },
): { definitions: DefinitionStatus[] } {
  const definitions = byName(memory)
    .filter((row) => input.name === undefined || row.name === input.name)
    .map((row) => describeDefinition(memory, row));
  return { definitions };
}

function describeDefinition(memory: Memory, definition: DefinitionRow): DefinitionStatus {
  const { state } = memory;
  const { settings } = definition;
  const isOwn = (row: { definitionId: number }): boolean =>
    row.definitionId === definition.definitionId;
  const open = [...state.executions.values()].filter((row) => isOwn(row) && isOpen(row));
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
    held: open.reduce((sum, row) => sum + row.tokenCount, 0),
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

/** Live, or dead and not yet reclaimed. */
export function isOpen(execution: ExecutionRow): boolean {
  return execution.state === "live" || execution.state === "dead";
}

/** list_executions: who works, with how many tokens; newest first. */
export function listExecutions(
  memory: Memory,
  input: ListExecutionsInput,
): { executions: ExecutionStatus[] } {
  expectRange("max", input.max, [1, 1_000]);
  const executions = [...memory.state.executions.values()]
    .filter((row) => !input.isOpen || isOpen(row))
    .map((row) => ({ row, definition: definitionOf(memory.state, row) }))
    .filter(({ definition }) => input.name === undefined || definition.name === input.name)
    .sort((a, b) => compareNumbers(b.row.executionId, a.row.executionId))
    .slice(0, input.max)
    .map(({ row, definition }) => ({
      execution: row.executionId,
      definition: definition.name,
      state: row.state,
      worker: row.worker,
      startedAt: iso(row.startedAtMs),
      endedAt: row.endedAtMs === null ? null : iso(row.endedAtMs),
      leaseLeftMs: row.state === "live" ? Math.floor(row.leaseUntilMs - memory.nowMs) : null,
      tokens: row.tokenCount,
      claimed: row.claims.length,
      running: countStanding(memory, row, "running"),
      prefetched: countStanding(memory, row, "prefetched"),
    }));
  return { executions };
}

/** An instant as the read models show it. */
export function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

const listableStates = ["ready", "scheduled", "waiting", "claimed", "done", "dead", "cancelled"];

/**
 * list_tasks: unfinished ones in the order in which they will be taken, finished ones newest first.
 */
export function listTasks(memory: Memory, input: ListTasksInput): { tasks: TaskListEntry[] } {
  expectRange("max", input.max, [1, 1_000]);
  if (!listableStates.includes(input.state)) {
    throw invalidArgument(
      `state: expected ready, scheduled, waiting, claimed, done, dead or cancelled (${left(input.state, 220)})`,
    );
  }
  const definition = definitionNamed(memory.state, input.name);
  const { state } = input;
  const tasks =
    state === "done" || state === "dead" || state === "cancelled"
      ? listFinished(memory, definition, state)
      : listUnfinished(memory, definition, state);
  return { tasks: tasks.slice(0, input.max) };
}

function listFinished(
  memory: Memory,
  definition: DefinitionRow,
  outcome: ArchiveRow["outcome"],
): TaskListEntry[] {
  return [...memory.state.archive.values()]
    .filter((row) => row.task.definitionId === definition.definitionId && row.outcome === outcome)
    .sort((a, b) => b.finishedAtMs - a.finishedAtMs || compareNumbers(b.task.taskId, a.task.taskId))
    .map((row) => ({
      task: row.task.taskId,
      kind: row.task.kind,
      priority: row.task.priority,
      state: outcome,
      createdAt: iso(row.task.createdAtMs),
      finishedAt: iso(row.finishedAtMs),
      failedCount: row.task.failedCount,
      lostCount: row.task.lostCount,
      error: row.task.lastError,
      worker: workerOf(memory, row),
    }));
}

/** The worker of an attempt; null: there was none, or its execution is gone. */
export function workerOf(memory: Memory, row: Pick<ArchiveRow, "executionId">): string | null {
  if (row.executionId === null) return null;
  return memory.state.executions.get(row.executionId)?.worker ?? null;
}

function listUnfinished(
  memory: Memory,
  definition: DefinitionRow,
  place: "ready" | "scheduled" | "waiting" | "claimed",
): TaskListEntry[] {
  return rowsIn(memory, place)
    .filter((row) => row.definitionId === definition.definitionId)
    .map((row) => {
      const task = taskOf(memory.state, row.taskId);
      return {
        task: task.taskId,
        kind: task.kind,
        priority: task.priority,
        state: row.state,
        createdAt: iso(task.createdAtMs),
        dueAt: row.runAtMs === undefined ? null : iso(row.runAtMs),
        claimedAt: row.claimedAtMs === undefined ? null : iso(row.claimedAtMs),
        failedCount: task.failedCount,
        lostCount: task.lostCount,
        error: task.lastError,
        worker: row.worker ?? null,
      };
    });
}

/** In the order of a list. */
const standings = ["running", "prefetched", "lost"] as const;

interface ListedRow {
  definitionId: number;
  taskId: ArchiveRow["task"]["taskId"];
  runAtMs?: number;
  worker?: string;
  claimedAtMs?: number;
  state: TaskListEntry["state"];
}

function rowsIn(memory: Memory, place: "ready" | "scheduled" | "waiting" | "claimed"): ListedRow[] {
  const { state } = memory;
  if (place === "ready") return state.ready.map((row) => ({ ...row, state: place }));
  if (place === "scheduled") return state.scheduled.map((row) => ({ ...row, state: place }));
  if (place === "waiting") return state.groupWaiting.map((row) => ({ ...row, state: place }));
  const claimed = [...state.executions.values()].filter(isOpen).flatMap((execution) =>
    execution.claims
      .map(({ taskId, claimedAtMs }) => ({
        definitionId: execution.definitionId,
        taskId,
        worker: execution.worker,
        claimedAtMs,
        state: standingOf(memory, execution, taskId),
      }))
      .sort((a, b) => compareNumbers(a.taskId, b.taskId)),
  );
  return standings.flatMap((standing) => claimed.filter((row) => row.state === standing));
}
