import { createHash } from "node:crypto";
import type { Random } from "../../../shared/ports/random";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import type { ArchiveRow, MemoryState, TaskRow } from "../../../shared/testing/memory-store/state";
import { standingTables } from "./memory-standing-tables";
import type { HistoryStore } from "./side";
import type { StoreRow, StoreTables } from "./store-tables";

/** The store in memory. */
export function openModelStore(): HistoryStore {
  let nowMs = Date.UTC(2026, 10, 21, 10, 20, 30, 123);
  const memory = new MemoryTaskStore({ clock: { now: () => nowMs }, random: countedRandom() });
  return {
    title: "the memory store",
    isWhole: false,
    connections: [memory],
    now: () => Promise.resolve(nowMs),
    advance: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
    requestCancel: (taskId) => {
      if (memory.inspect().state.tasks.has(taskId)) memory.requestCancel(taskId);
      return Promise.resolve();
    },
    readTables: () => Promise.resolve(toTables(memory.inspect().state)),
  };
}

/** The same on each run. Histories leave nothing that is answered to chance. */
function countedRandom(): Random {
  let count = 0;
  return {
    fraction: () => 0.5,
    uuid: () => {
      count += 1;
      const hex = createHash("sha256").update(String(count)).digest("hex");
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    },
  };
}

const executionStates = { live: 1, ended: 2, dead: 3, reclaimed: 4 } as const;
const archiveOutcomes = { done: 10, dead: 11, cancelled: 12 } as const;
const attemptOutcomes = { failed: 11, cancelled: 12, lost: 13, continued: 14 } as const;

/** The memory store's rows under the names of the SQL core's tables and columns. */
function toTables(state: MemoryState): StoreTables {
  return {
    taskDefinition: definitions(state),
    settingAudit: state.settingAudit.map(({ definitionId, changedAtMs, ...row }) => ({
      ...row,
      taskDefinitionId: definitionId,
      changedAt: new Date(changedAtMs),
    })),
    callAudit: state.callAudit.map(({ definitionId, changedAtMs, taskIds, ...row }) => ({
      ...row,
      taskDefinitionId: definitionId,
      taskIds: taskIds.length === 0 ? null : JSON.stringify(taskIds),
      taskCount: taskIds.length,
      changedAt: new Date(changedAtMs),
    })),
    taskExecution: executions(state),
    claim: claims(state),
    task: [...state.tasks.values()].map(unfinished),
    ready: state.ready.map(renamed),
    scheduled: state.scheduled.map(({ runAtMs, ...row }) => {
      return { ...renamed(row), runAt: new Date(runAtMs) };
    }),
    taskGroup: [...state.groups.values()].map(
      ({ groupId, scope, key, slots, isPaused, strict }) => ({
        groupId,
        taskDefinitionId: scope,
        groupKey: key,
        slots,
        paused: isPaused,
        strict,
      }),
    ),
    groupKept: [...state.groups.values()]
      .filter(({ isKept }) => isKept)
      .map(({ groupId }) => ({ groupId })),
    statisticRound: [
      {
        roundId: 1,
        lastExecutionId: state.statisticRound.lastExecutionId,
        endedAt: new Date(state.statisticRound.endedAtMs),
      },
    ],
    stop: [
      {
        stopId: 1,
        stoppedAt: state.stop === null ? null : new Date(state.stop.stoppedAtMs),
        stoppedBy: state.stop?.stoppedBy ?? null,
        reason: state.stop?.reason ?? null,
      },
    ],
    groupRound: [
      {
        roundId: 1,
        lastGroupId: state.groupRound.lastGroupId,
        endedAt: new Date(state.groupRound.endedAtMs),
      },
    ],
    groupSlot: state.groupSlots.map((row) => ({ ...row })),
    groupWaiting: state.groupWaiting.map(renamed),
    dedupe: [...state.dedupe.values()].map(({ expiresAtMs, ...row }) => ({
      ...renamed(row),
      expiresAt: instant(expiresAtMs),
    })),
    attempt: state.attempts.map(({ executionId, claimedAtMs, endedAtMs, outcome, ...row }) => ({
      ...row,
      taskExecutionId: executionId,
      claimedAt: new Date(claimedAtMs),
      finishedAt: new Date(endedAtMs),
      outcome: attemptOutcomes[outcome],
    })),
    archive: [...state.archive.values()].map(archived),
    operation: [...state.operations].map(([operationId, { name, doneAtMs }]) => {
      return { operationId, name, doneAt: new Date(doneAtMs) };
    }),
    ...standingTables(state),
  };
}

function definitions(state: MemoryState): StoreRow[] {
  return [...state.definitions.values()].map(({ settings, ...row }) => {
    const { limit, ...others } = settings;
    // Those are rows of tables of their own.
    delete others.rate;
    delete others.sharedLimits;
    return {
      ...others,
      taskDefinitionId: row.definitionId,
      name: row.name,
      executionTokens: row.executionTokens,
      tokenFence: row.tokenFence,
      concurrencyLimit: limit ?? -1,
      concurrencyLimitOverride: row.operatorLimit === "code" ? null : (row.operatorLimit ?? -1),
      paused: row.isPaused,
      build: row.build,
      settingsHash: row.settingsHash,
    };
  });
}

function executions(state: MemoryState): StoreRow[] {
  return [...state.executions.values()].map((row) => ({
    taskExecutionId: row.executionId,
    operationId: row.operationId,
    taskDefinitionId: row.definitionId,
    state: executionStates[row.state],
    startedAt: new Date(row.startedAtMs),
    leaseUntil: new Date(row.leaseUntilMs),
    endedAt: instant(row.endedAtMs),
    worker: row.worker,
    build: row.build,
    tokenCount: row.tokenCount,
    callNumber: row.lastCall.callNumber,
    callFence: row.lastCall.fence,
    callRefused: row.lastCall.refused.length === 0 ? null : row.lastCall.refused.join(","),
    isSolo: row.isSolo,
    claimedCount: row.totals.claimed,
    doneCount: row.totals.done,
    failedCount: row.totals.failed,
    deadCount: row.totals.dead,
    lostCount: row.totals.lost,
    ranMs: row.totals.ranMs,
    heldMs: row.totals.heldMs,
    tokensAt: new Date(row.tokensAtMs),
  }));
}

function claims(state: MemoryState): StoreRow[] {
  return [...state.executions.values()].flatMap((row) =>
    row.claims.map(({ taskId, fence, claimedAtMs, isPrefetched }, index) => ({
      taskExecutionId: row.executionId,
      position: index + 1,
      taskId,
      fence,
      claimedAt: new Date(claimedAtMs),
      isPrefetched,
    })),
  );
}

function unfinished(task: TaskRow): StoreRow {
  const { definitionId, createdAtMs, dueAtMs, pendingGroup, isCancelRequested, progress, ...row } =
    task;
  return {
    ...row,
    taskDefinitionId: definitionId,
    createdAt: new Date(createdAtMs),
    dueAt: instant(dueAtMs),
    pendingGroupKey: pendingGroup?.key ?? null,
    pendingGroupIsGlobal: pendingGroup?.isGlobal ?? null,
    cancelRequested: isCancelRequested,
    progressDone: progress.done,
    progressTotal: progress.total,
    progressText: progress.text,
  };
}

function archived(row: ArchiveRow): StoreRow {
  const { task } = row;
  return {
    taskId: task.taskId,
    taskDefinitionId: task.definitionId,
    kind: task.kind,
    priority: task.priority,
    rank: task.rank,
    createdAt: new Date(task.createdAtMs),
    finishedAt: new Date(row.endedAtMs),
    purgeAfter: new Date(row.purgeAfterMs),
    taskExecutionId: row.executionId,
    fence: row.fence,
    durationMs: row.durationMs,
    groupId: task.groupId,
    waveId: task.waveId,
    dedupeKey: task.dedupeKey,
    build: task.build,
    outcome: archiveOutcomes[row.outcome],
    failedCount: task.failedCount,
    lostCount: task.lostCount,
    error: task.lastError,
    result: row.result,
    payload: task.payload,
  };
}

/** A definition's number is called so in SQL. */
function renamed<Row extends { readonly definitionId: number }>(row: Row): StoreRow {
  const { definitionId, ...rest } = row;
  return { ...rest, taskDefinitionId: definitionId };
}

function instant(atMs: number | null): Date | null {
  return atMs === null ? null : new Date(atMs);
}
