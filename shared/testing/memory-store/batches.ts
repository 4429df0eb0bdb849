import { limits } from "../../core/limits";
import { asBatchId, asWaveId } from "../../core/ids";
import type { BatchId, WaveId } from "../../core/ids";
import type * as port from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange, invalidArgument, unknownArgument, wordProblem } from "./arguments";
import { auditCall } from "./audit";
import { endTasks } from "./endings";
import { iso, isoOrNull } from "./instants";
import { compareNumbers, definitionNames } from "./rows";
import type { BatchRow, Memory, MemoryState, WaveBlockedRow } from "./state";
import {
  admit,
  batchOf,
  closeIfOver,
  isBlocked,
  isOpen,
  nothingOpened,
  openNextWave,
  takeBlocked,
  tellOpened,
  unfinishedIn,
  wavesOf,
} from "./waves";

/*
 * Batches of waves: the tasks of a wave are blocked until those of the waves before have ended. A wave is opened in
 * slices, so that no call is long: the first by the call that ends the wave before, the rest by `pump_batch`.
 */

/** create_batch */
export const createBatch: Implementation<"createBatch"> = (memory, input) => {
  const problem = wordProblem(input.failurePolicy, ["halt", "continue", "cancel"], 100);
  if (problem !== null) throw invalidArgument(`failure_policy: ${problem}`);
  expectRange("waves", input.waves, [1, limits.wavesMax]);
  const earlier = [...memory.state.batches.values()].find(
    (row) => row.operationId === input.operationId,
  );
  const batch = earlier ?? addBatch(memory, input);
  const waveIds = wavesOf(memory.state, batch).map(({ waveId }) => waveId);
  return { status: "created", batchId: batch.batchId, waveIds };
};

function addBatch(memory: Memory, input: port.CreateBatchInput): BatchRow {
  const batch: BatchRow = {
    batchId: asBatchId(String(memory.sequences.next("batch"))),
    operationId: input.operationId,
    name: input.name,
    state: "draft",
    failurePolicy: input.failurePolicy,
    createdAtMs: memory.nowMs,
    startedAtMs: null,
    endedAtMs: null,
  };
  memory.state.batches.set(batch.batchId, batch);
  for (let ordinal = 1; ordinal <= input.waves; ordinal += 1) {
    const waveId = asWaveId(String(memory.sequences.next("wave")));
    memory.state.waves.set(waveId, {
      waveId,
      batchId: batch.batchId,
      ordinal,
      state: "blocked",
      isSealed: false,
      admitted: 0,
      dead: 0,
      openedAtMs: null,
      endedAtMs: null,
    });
  }
  return batch;
}

/** start_batch */
export const startBatch: Implementation<"startBatch"> = (memory, input) => {
  const batch = batchOf(memory.state, input.batchId);
  if (batch.state !== "draft") {
    return { status: batch.state === "cancelled" ? "ended" : "again", woken: [], opening: [] };
  }
  if (input.seal) for (const wave of wavesOf(memory.state, batch)) wave.isSealed = true;
  batch.state = "running";
  batch.startedAtMs = memory.nowMs;
  return { status: "started", ...tellOpened(memory.state, openNextWave(memory, batch)) };
};

/** resume_batch */
export const resumeBatch: Implementation<"resumeBatch"> = (memory, input) => {
  const batch = batchOf(memory.state, input.batchId);
  if (batch.state !== "halted") {
    const status =
      batch.state === "draft" ? "draft" : batch.state === "cancelled" ? "ended" : "again";
    return { status, woken: [], opening: [] };
  }
  batch.state = "running";
  auditCall(memory, "resume_batch", input);
  // A redrive has opened its last wave again: it goes on when that has ended.
  const isOpenAgain = wavesOf(memory.state, batch).some(isOpen);
  const next = isOpenAgain ? nothingOpened : openNextWave(memory, batch);
  return { status: "resumed", ...tellOpened(memory.state, next) };
};

/** cancel_batch */
export const cancelBatch: Implementation<"cancelBatch"> = (memory, input) => {
  const { state } = memory;
  const batch = batchOf(state, input.batchId);
  if (batch.state === "done") return { status: "done", tasks: [], opening: [] };
  const status = batch.state === "cancelled" ? "again" : "cancelled";
  batch.state = "cancelled";
  if (status === "cancelled") auditCall(memory, "cancel_batch", input);
  const open = wavesOf(state, batch).filter(isOpen);
  const isOver = open.length === 0 && batch.endedAtMs !== null;
  const after = open.length === 0 && !isOver ? openNextWave(memory, batch) : nothingOpened;
  const isOpening = after.opening.length > 0 || open.some((wave) => wave.state === "opening");
  const tasks = [...state.tasks.values()].filter(
    (task) =>
      open.some((wave) => wave.waveId === task.waveId) &&
      !isBlocked(state, task) &&
      !task.isCancelRequested,
  );
  return {
    status,
    tasks: tasks
      .map(({ taskId }) => taskId)
      .sort(compareNumbers)
      .slice(0, 1_000),
    opening: isOpening ? [batch.batchId] : [],
  };
};

/** pump_batch */
export const pumpBatch: Implementation<"pumpBatch"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const batch = batchOf(memory.state, input.batchId);
  const wave = wavesOf(memory.state, batch).find((row) => row.state === "opening");
  if (wave === undefined) return { status: "done", moved: 0, more: false, woken: [] };
  const rows = takeBlocked(memory.state, wave, input.max);
  const admitted = batch.state === "cancelled" ? endBlocked(memory, rows) : admit(memory, rows);
  const after = closeIfOver(memory, wave);
  return {
    status: "pumped",
    moved: rows.length,
    more: after === null ? wave.state === "opening" : after.opening.length > 0,
    woken: definitionNames(memory.state, [...admitted, ...(after?.woken ?? [])]),
  };
};

/** list_batches */
export const listBatches: Implementation<"listBatches"> = (memory, input) => {
  expectRange("max", input.max, [1, 100]);
  const { batchId, before } = input;
  const batches = [...memory.state.batches.values()]
    .reverse()
    .filter((row) => batchId === undefined || row.batchId === batchId)
    .filter((row) => before === undefined || Number(row.batchId) < Number(before))
    .slice(0, input.max);
  return { batches: batches.map((row) => toStatus(memory, row)) };
};

/** Blocked tasks of a cancelled batch end; no definition is woken. */
function endBlocked(memory: Memory, rows: readonly WaveBlockedRow[]): number[] {
  const endings = rows.map(({ taskId }) => ({ taskId, outcome: "cancelled" as const }));
  endTasks(memory, endings, { areBlocked: true, areInTotal: true });
  return [];
}

/** Why a wave takes no tasks: it is sealed and will be opened, or it is too late; null: it takes some. Throws InvalidArgumentError (404). */
export function waveRefusal(state: MemoryState, waveId: WaveId): "sealed" | "late" | null {
  const wave = state.waves.get(waveId);
  if (wave === undefined) throw unknownArgument(`wave_id: unknown (${waveId})`);
  if (wave.state === "blocked" && wave.isSealed) return "sealed";
  const isCancelled = batchOf(state, wave.batchId).state === "cancelled";
  return wave.state === "blocked" && !isCancelled ? null : "late";
}

/** Batches with something to pump. */
export function batchesToPump(state: MemoryState): BatchId[] {
  return [...state.waves.values()]
    .filter((wave) => wave.state === "opening")
    .map((wave) => wave.batchId);
}

function toStatus({ state, nowMs }: Memory, batch: BatchRow): port.BatchStatus {
  return {
    batch: batch.batchId,
    name: batch.name,
    state: batch.state,
    failurePolicy: batch.failurePolicy,
    createdAt: iso(batch.createdAtMs),
    startedAt: isoOrNull(batch.startedAtMs),
    endedAt: isoOrNull(batch.endedAtMs),
    runningMs:
      batch.state === "running" && batch.startedAtMs !== null
        ? Math.floor(nowMs - batch.startedAtMs)
        : null,
    waves: wavesOf(state, batch).map((wave) => ({
      wave: wave.waveId,
      ordinal: wave.ordinal,
      state: batch.state === "cancelled" && wave.openedAtMs === null ? "cancelled" : wave.state,
      sealed: wave.isSealed,
      blocked: state.waveBlocked.filter((row) => row.waveId === wave.waveId).length,
      admitted: wave.admitted,
      unfinished: unfinishedIn(state, wave),
      dead: wave.dead,
      openedAt: isoOrNull(wave.openedAtMs),
      endedAt: isoOrNull(wave.endedAtMs),
    })),
  };
}
