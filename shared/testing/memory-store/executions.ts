import { asExecutionNumber, asFence, executionIdOf, executionNumber } from "../../core/ids";
import { isCallsDefinition } from "../../core/calls-definition";
import { limits } from "../../core/limits";
import type { TaskId } from "../../core/ids";
import type { Beat, HeartbeatAnswer, StartExecutionInput } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { characters, expectRange, conflict, invalidArgument, isWithin, left } from "./arguments";
import { tellOpened } from "./waves";
import type { Opened } from "./waves";
import { endTasks } from "./endings";
import {
  addReady,
  compareNumbers,
  definitionOf,
  findDefinition,
  findExecution,
  hasReady,
  readyOf,
  taskOf,
} from "./rows";
import { permitsOf, usePermits } from "./rates";
import { dueOf, nextDueMs } from "./schedule";
import type { DefinitionRow, ExecutionRow, Memory } from "./state";
import { hasOpenDemand } from "./spread";
import { noTotals } from "./execution-totals";
import { waitingBeside } from "./shared-tokens";
import { deniedGrant, settleTokens, startDenial, overLimitOf } from "./tokens";

/** start_execution: opens an execution with its first tokens. No token: no execution. */
export const startExecution: Implementation<"startExecution"> = (memory, input) => {
  expectRange("want", input.want, [1, limits.tokensMax]);
  if (!isWithin(characters(input.worker), 1, limits.nameLengthMax)) {
    throw invalidArgument(`worker: expected 1..200 characters (${left(input.worker, 220)})`);
  }
  const definition = findDefinition(memory.state, input.name);
  if (definition === undefined) return { ...nothingStarted, status: "unknown" };
  if (isOutdated(definition, input)) return { ...nothingStarted, status: "outdated" };
  const { leaseMs, prefetchMax } = definition.settings;
  const answer = { ...nothingStarted, leaseMs, prefetchMax };

  const earlier = [...memory.state.executions.values()].find(
    (row) => row.operationId === input.operationId,
  );
  if (earlier !== undefined) return { ...answer, ...repeatedStart(memory, definition, earlier) };
  const ready = countReady(memory, definition, input);
  if (input.needsReady && ready === 0) {
    return { ...answer, status: "none", nextDueMs: nextDueMs(memory, definition) };
  }
  const denied = startDenial(memory, definition, input.worker);
  if (denied !== null) return { ...answer, ...denied, ready };

  const execution = openExecution(memory, definition, input);
  const want = input.needsReady ? Math.min(input.want, ready) : input.want;
  const settled = settleTokens(memory, definition, { execution, want });
  if (settled.own === 0) {
    // All free tokens were given for others.
    memory.state.executions.delete(execution.executionId);
    return {
      ...answer,
      ...deniedGrant(memory, definition, input.worker),
      tokenFence: asFence(String(definition.tokenFence)),
      ready,
      deadHolders: settled.dead,
    };
  }
  const refused = input.needsReady ? null : startOnRate(memory, definition);
  if (refused !== null) {
    settleTokens(memory, definition, { execution, keep: 0 });
    memory.state.executions.delete(execution.executionId);
    return { ...answer, ...refused, ready, deadHolders: settled.dead };
  }
  return {
    ...answer,
    status: "started",
    executionId: executionIdOf(execution.executionId, execution.operationId),
    tokens: settled.own,
    tokenFence: asFence(String(definition.tokenFence)),
    ready,
    deadHolders: settled.dead,
  };
};

/** A grant that is a start itself takes a permit of the rate; null: it got one, or there is no rate. */
function startOnRate(
  memory: Memory,
  definition: DefinitionRow,
): { status: "limited"; retryInMs: number | null } | null {
  const permits = permitsOf(memory, definition, 1);
  if (permits === null) return null;
  usePermits(definition, permits, permits.allowed);
  return permits.allowed === 0 ? { status: "limited", retryInMs: permits.retryInMs } : null;
}

const nothingStarted = {
  executionId: null,
  leaseMs: null,
  tokens: 0,
  tokenFence: null,
  prefetchMax: null,
  ready: 0,
  retryInMs: null,
  nextDueMs: null,
  deadHolders: 0,
  demand: null,
} as const;

/**
 * Does the asking code know settings that the definition lacks? An older build's are never missed.
 */
function isOutdated(definition: DefinitionRow, input: StartExecutionInput): boolean {
  if (input.settingsHash === null) return false;
  if (definition.build !== input.build) return definition.build < input.build;
  return definition.settingsHash !== input.settingsHash;
}

/** The first answer, with the lease renewed from now, as it says. */
function repeatedStart(memory: Memory, definition: DefinitionRow, earlier: ExecutionRow) {
  if (earlier.definitionId !== definition.definitionId) {
    throw conflict(
      `operation_id: belongs to an execution of another definition (${earlier.operationId})`,
    );
  }
  if (earlier.state !== "live") return { status: "limited" as const };
  earlier.leaseUntilMs = Math.max(earlier.leaseUntilMs, memory.nowMs + definition.settings.leaseMs);
  if (earlier.tokenCount === 0) return { status: "limited" as const };
  return {
    status: "started" as const,
    executionId: executionIdOf(earlier.executionId, earlier.operationId),
    tokens: earlier.tokenCount,
    tokenFence: asFence(String(definition.tokenFence)),
    ready: 1,
  };
}

/** Tasks to claim, counted up to `want`; for workers those that are due count, too. */
function countReady(memory: Memory, definition: DefinitionRow, input: StartExecutionInput): number {
  const ready = readyOf(memory.state, definition).length;
  const due = input.needsReady ? dueOf(memory, definition).length : 0;
  return Math.min(ready + due, input.want);
}

function openExecution(
  memory: Memory,
  definition: DefinitionRow,
  input: StartExecutionInput,
): ExecutionRow {
  const execution: ExecutionRow = {
    executionId: asExecutionNumber(String(memory.sequences.next("execution"))),
    operationId: input.operationId,
    definitionId: definition.definitionId,
    state: "live",
    startedAtMs: memory.nowMs,
    leaseUntilMs: memory.nowMs + definition.settings.leaseMs,
    endedAtMs: null,
    worker: input.worker,
    build: input.build,
    tokenCount: 0,
    tokensAtMs: memory.nowMs,
    totals: { ...noTotals },
    lastCall: { callNumber: 0, fence: null, refused: [] },
    isSolo: false,
    claims: [],
  };
  memory.state.executions.set(execution.executionId, execution);
  return execution;
}

/**
 * heartbeat: renews leases. State decides, not the lease: no other execution took what an unclaimed late
 * one holds.
 */
export const heartbeat: Implementation<"heartbeat"> = (memory, input) => {
  if (!isWithin(input.executions.length, 1, 1_000)) {
    throw invalidArgument("executions: expected a JSON array of 1..1000 entries");
  }
  const beats = [...input.executions].sort((a, b) =>
    compareNumbers(executionNumber(a.executionId), executionNumber(b.executionId)),
  );
  return { executions: beats.map((beat) => answerBeat(memory, beat)) };
};

function answerBeat(memory: Memory, beat: Beat): HeartbeatAnswer["executions"][number] {
  const { executionId } = beat;
  const execution = findExecution(memory.state, executionId);
  if (execution?.state !== "live") {
    const status = execution?.state === "ended" ? "ended" : "fenced";
    const nothing = { cancel: [], overLimit: 0, releaseRequested: false, isPaused: false };
    return { executionId, status, leaseMs: null, tokens: null, claims: null, ...nothing };
  }
  const definition = definitionOf(memory.state, execution);
  const { leaseMs } = definition.settings;
  execution.leaseUntilMs = Math.max(execution.leaseUntilMs, memory.nowMs + leaseMs);
  reportStarted(execution, beat.started);
  const kept = isCallsDefinition(definition.name) ? 0 : 1;
  const overLimit = overLimitOf(memory.state, definition);
  const isWanted = execution.tokenCount > kept && hasOpenDemand(memory, definition);
  return {
    executionId,
    status: "renewed",
    leaseMs,
    tokens: execution.tokenCount,
    claims: execution.claims.length,
    cancel: execution.claims
      .map((claim) => claim.taskId)
      .filter((taskId) => taskOf(memory.state, taskId).isCancelRequested)
      .sort(compareNumbers),
    overLimit,
    releaseRequested: overLimit === 0 && isWanted,
    isPaused: definition.isPaused,
  };
}

/** Prefetched claims that were started are prefetched no more: if they get lost, that counts. */
export function reportStarted(execution: ExecutionRow, started: readonly TaskId[]): void {
  for (const claim of execution.claims) {
    if (started.includes(claim.taskId)) claim.isPrefetched = false;
  }
}

/** finish_execution: ends an execution: its tokens go back, and the tasks that it still holds are ready again, uncounted. */
export const finishExecution: Implementation<"finishExecution"> = (memory, input) => {
  const execution = findExecution(memory.state, input.executionId);
  if (execution?.state !== "live") {
    return {
      status: execution?.state === "ended" ? "ended" : "fenced",
      givenBack: 0,
      tokensFreed: 0,
      ready: false,
      nextDueMs: null,
      woken: [],
      opening: [],
    };
  }
  const definition = definitionOf(memory.state, execution);
  const { freed } = settleTokens(memory, definition, { execution, keep: 0 });
  execution.state = "ended";
  execution.endedAtMs = memory.nowMs;
  const givenBack = execution.claims.length;
  const { woken, opening } = giveBack(memory, execution);
  const beside = waitingBeside(memory.state, definition, freed);
  return {
    status: "ended",
    givenBack,
    tokensFreed: freed,
    ready: hasReady(memory.state, definition),
    nextDueMs: nextDueMs(memory, definition),
    ...tellOpened(memory.state, { woken: [...woken, ...beside], opening }, definition),
  };
};

/** Claims go back to ready; those with a cancel request end. */
function giveBack(memory: Memory, execution: ExecutionRow): Opened {
  const claims = execution.claims;
  execution.claims = [];
  const isCancelled = (taskId: TaskId): boolean => taskOf(memory.state, taskId).isCancelRequested;
  const cancelled = claims.filter((claim) => isCancelled(claim.taskId));
  for (const claim of claims) {
    if (!cancelled.includes(claim)) addReady(memory.state, taskOf(memory.state, claim.taskId));
  }
  const { executionId } = execution;
  return endTasks(
    memory,
    cancelled.map(({ taskId, fence }) => ({ taskId, fence, executionId, outcome: "cancelled" })),
  );
}
