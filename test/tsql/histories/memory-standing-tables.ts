import type { Rate } from "../../../shared/core/rate";
import type { MemoryState, WaveRow } from "../../../shared/testing/memory-store/state";
import { unfinishedIn } from "../../../shared/testing/memory-store/waves";
import type { StoreRow, StoreTables } from "./store-tables";

/*
 * The memory store's rows beside tasks, under the names of the SQL core's tables and columns.
 */

const batchStates = { draft: 0, running: 1, halted: 2, done: 3, cancelled: 4 } as const;
const failurePolicies = { halt: 1, continue: 2, cancel: 3 } as const;
const waveStates = { blocked: 0, opening: 1, open: 2, done: 3 } as const;
const missedPolicies = { skip: 1, once: 2, all: 3 } as const;

/** What SQL writes where nothing has happened yet. */
const longAgoMs = Date.UTC(2000, 0, 1);

/** Batches with their waves, limits, schedules and watermarks. */
export function standingTables(state: MemoryState): StoreTables {
  const definitions = [...state.definitions.values()];
  const sharedLimits = [...state.sharedLimits.values()];
  return {
    batch: batches(state),
    wave: [...state.waves.values()].map(wave),
    waveShard: [...state.waves.values()]
      .map((row) => ({ waveId: row.waveId, remaining: unfinishedIn(state, row) }))
      .filter(({ remaining }) => remaining > 0),
    waveBlocked: state.waveBlocked.map(({ definitionId, ...row }) => {
      return { ...row, taskDefinitionId: definitionId };
    }),
    sharedLimit: sharedLimits.map(({ sharedLimitId, name, executionTokens, ...row }) => ({
      sharedLimitId,
      name,
      executionTokens,
      concurrencyLimit: row.codeLimit ?? -1,
      concurrencyLimitOverride: row.operatorLimit === "code" ? null : (row.operatorLimit ?? -1),
    })),
    sharedTokenDemand: sharedLimits.map((row) => ({
      sharedLimitId: row.sharedLimitId,
      deniedAt: new Date(Math.max(row.deniedAtMs, longAgoMs)),
      taskDefinitionId: row.deniedDefinitionId,
      givenAt: new Date(Math.max(row.givenAtMs, longAgoMs)),
    })),
    taskDefinitionSharedLimit: definitions.flatMap((row) =>
      row.sharedLimitIds.map((sharedLimitId) => ({
        taskDefinitionId: row.definitionId,
        sharedLimitId,
      })),
    ),
    rateBucket: rateBuckets(state),
    tokenDemand: definitions.map(({ definitionId, deniedAtMs }) => ({
      taskDefinitionId: definitionId,
      deniedAt: new Date(Math.max(deniedAtMs, longAgoMs)),
    })),
    tokenGift: definitions.map(({ definitionId, givenAtMs }) => ({
      taskDefinitionId: definitionId,
      givenAt: new Date(Math.max(givenAtMs, longAgoMs)),
    })),
    endedEarly: endedEarly(state),
    ...schedules(state),
    blockWatermark: state.watermarks.map(({ definitionId, name, value, version, changedAtMs }) => ({
      taskDefinitionId: definitionId,
      name,
      watermarkValue: value ?? "null",
      version,
      changedAt: new Date(changedAtMs),
    })),
  };
}

function batches(state: MemoryState): StoreRow[] {
  return [...state.batches.values()].map((row) => ({
    batchId: row.batchId,
    operationId: row.operationId,
    name: row.name,
    state: batchStates[row.state],
    failurePolicy: failurePolicies[row.failurePolicy],
    createdAt: new Date(row.createdAtMs),
    startedAt: instant(row.startedAtMs),
    finishedAt: instant(row.endedAtMs),
  }));
}

function wave(row: WaveRow): StoreRow {
  return {
    waveId: row.waveId,
    batchId: row.batchId,
    ordinal: row.ordinal,
    state: waveStates[row.state],
    isSealed: row.isSealed,
    total: row.admitted,
    deadCount: row.dead,
    openedAt: instant(row.openedAtMs),
    finishedAt: instant(row.endedAtMs),
  };
}

function rateBuckets(state: MemoryState): StoreRow[] {
  return [...state.definitions.values()].flatMap((row) => {
    if (row.nextFreeAtUs === null) return [];
    const { settings, operatorRate } = row;
    const override = operatorRate === "code" ? undefined : operatorRate;
    const none: Rate = { count: 0, periodMs: 0, burst: 0 };
    const code = settings.rate ?? none;
    // An operator's "none" stands in one column.
    const operator = override === null ? { count: -1, periodMs: null, burst: null } : override;
    return [
      {
        taskDefinitionId: row.definitionId,
        rateCount: code.count,
        ratePeriodMs: code.periodMs,
        rateBurst: code.burst,
        rateCountOverride: operator?.count ?? null,
        ratePeriodMsOverride: operator?.periodMs ?? null,
        rateBurstOverride: operator?.burst ?? null,
        nextFreeAt: new Date(Math.floor(row.nextFreeAtUs / 1_000)),
      },
    ];
  });
}

/** Those that a redrive must tell from others. */
function endedEarly(state: MemoryState): StoreRow[] {
  return [...state.archive.values()]
    .filter(({ task, wasBlocked }) => wasBlocked || task.pendingGroup !== null)
    .map(({ task, wasBlocked }) => ({
      taskId: task.taskId,
      pendingGroupKey: task.pendingGroup?.key ?? null,
      pendingGroupIsGlobal: task.pendingGroup?.isGlobal ?? null,
      wasBlocked,
    }));
}

function schedules(state: MemoryState): StoreTables {
  const rows = [...state.schedules.values()];
  return {
    schedule: rows.map((row) => ({
      scheduleId: row.scheduleId,
      taskDefinitionId: row.definitionId,
      name: row.name,
      kind: row.kind,
      cron: row.cron,
      timeZone: row.timeZone,
      missedPolicy: missedPolicies[row.missed],
      nextRunAt: instant(row.nextRunAtMs),
      lastRunAt: instant(row.lastRunAtMs),
      paused: row.isPaused,
      payload: row.payload,
    })),
    scheduleGroup: rows.flatMap(({ scheduleId, group: groupKey }) =>
      groupKey === null ? [] : [{ scheduleId, groupKey }],
    ),
  };
}

function instant(atMs: number | null): Date | null {
  return atMs === null ? null : new Date(atMs);
}
