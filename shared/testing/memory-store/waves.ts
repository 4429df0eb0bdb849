import type { BatchId } from "../../core/ids";
import type { OpenedWaves } from "../../ports/task-store";
import { unknownArgument } from "./arguments";
import { addReady, addScheduled, definitionNames, taskOf } from "./rows";
import type {
  BatchRow,
  DefinitionRow,
  Memory,
  MemoryState,
  TaskEnd,
  TaskRow,
  WaveBlockedRow,
  WaveRow,
} from "./state";

/** Tasks that are admitted by the call that opens a wave. */
const firstSlice = 200;

/** Counts ended tasks in their waves: the call that ends the last task of a wave opens the next. */
export function endInWaves(
  memory: Memory,
  ended: readonly { task: TaskRow; outcome: TaskEnd["outcome"] }[],
): Opened {
  for (const { task, outcome } of ended) {
    const wave = task.waveId === null ? undefined : memory.state.waves.get(task.waveId);
    if (wave !== undefined && outcome === "dead") wave.dead += 1;
  }
  const ids = new Set(ended.flatMap(({ task }) => task.waveId ?? []));
  const waves = [...ids].flatMap((id) => memory.state.waves.get(id) ?? []);
  const opened = waves
    .sort((a, b) => Number(a.batchId) - Number(b.batchId) || a.ordinal - b.ordinal)
    .map((wave) => closeIfOver(memory, wave) ?? nothingOpened);
  return {
    woken: opened.flatMap(({ woken }) => woken),
    opening: opened.flatMap(({ opening }) => opening),
  };
}

/** Definitions that got ready tasks, each as often as it did, and batches with more tasks to admit. */
export interface Opened {
  readonly woken: readonly number[];
  readonly opening: readonly BatchId[];
}

/** No definition was woken. */
export const nothingOpened: Opened = { woken: [], opening: [] };

/** The same for an answer: the names of the definitions, without `except`. */
export function tellOpened(
  state: MemoryState,
  { woken, opening }: Opened,
  except?: DefinitionRow,
): OpenedWaves {
  return { woken: definitionNames(state, woken, except), opening: [...opening] };
}

/** What the end of a wave leads to; null: it isn't over yet. */
export function closeIfOver(memory: Memory, wave: WaveRow): Opened | null {
  if (wave.state !== "open" || unfinishedIn(memory.state, wave) > 0) return null;
  wave.state = "done";
  wave.endedAtMs = memory.nowMs;
  const batch = batchOf(memory.state, wave.batchId);
  if (batch.state === "running" && wave.dead > 0 && batch.failurePolicy !== "continue") {
    batch.state = batch.failurePolicy === "halt" ? "halted" : "cancelled";
  }
  return batch.state === "halted" ? nothingOpened : openNextWave(memory, batch);
}

/** Opens the next wave that has tasks; empty ones before it are done; after the last the batch is. */
export function openNextWave(memory: Memory, batch: BatchRow): Opened {
  for (const wave of wavesOf(memory.state, batch)) {
    if (wave.state !== "blocked") continue;
    // A wave of a cancelled batch has never opened: its tasks are cancelled.
    wave.openedAtMs = batch.state === "cancelled" ? null : memory.nowMs;
    if (!memory.state.waveBlocked.some((row) => row.waveId === wave.waveId)) {
      wave.state = "done";
      wave.endedAtMs = memory.nowMs;
      continue;
    }
    wave.state = "opening";
    if (batch.state === "cancelled") return { woken: [], opening: [batch.batchId] };
    const rows = takeBlocked(memory.state, wave, firstSlice);
    const isOver = !memory.state.waveBlocked.some((row) => row.waveId === wave.waveId);
    return { woken: admit(memory, rows), opening: isOver ? [] : [batch.batchId] };
  }
  if (batch.state === "running") batch.state = "done";
  batch.endedAtMs = memory.nowMs;
  return nothingOpened;
}

/** Takes the first blocked tasks of a wave, and marks it as open when none is left. */
export function takeBlocked(state: MemoryState, wave: WaveRow, max: number): WaveBlockedRow[] {
  const rows = state.waveBlocked.filter((row) => row.waveId === wave.waveId).slice(0, max);
  state.waveBlocked = state.waveBlocked.filter((row) => !rows.includes(row));
  wave.admitted += rows.length;
  if (!state.waveBlocked.some((row) => row.waveId === wave.waveId)) wave.state = "open";
  return rows;
}

/** Lets tasks in that were held; answers their definitions. */
export function admit(memory: Memory, rows: readonly WaveBlockedRow[]): number[] {
  const { state } = memory;
  for (const { taskId } of rows) {
    const task = taskOf(state, taskId);
    if (task.groupId === null && task.pendingGroup === null) addReady(state, task);
    else addScheduled(state, task, memory.nowMs);
  }
  return rows.map((row) => row.definitionId);
}

/** Some of its tasks are admitted, or soon will be. */
export function isOpen(wave: WaveRow): boolean {
  return wave.state === "opening" || wave.state === "open";
}

/** Does a task wait for its wave? */
export function isBlocked(state: MemoryState, task: TaskRow): boolean {
  return state.waveBlocked.some((row) => row.taskId === task.taskId);
}

/** Admitted tasks of a wave that haven't ended. */
export function unfinishedIn(state: MemoryState, wave: WaveRow): number {
  return [...state.tasks.values()].filter(
    (task) => task.waveId === wave.waveId && !isBlocked(state, task),
  ).length;
}

/** The batch of that id. Throws InvalidArgumentError (404). */
export function batchOf(state: MemoryState, batchId: BatchId): BatchRow {
  const batch = state.batches.get(batchId);
  if (batch === undefined) throw unknownArgument(`batch_id: unknown (${batchId})`);
  return batch;
}

/** In order. */
export function wavesOf(state: MemoryState, batch: BatchRow): WaveRow[] {
  return [...state.waves.values()].filter((wave) => wave.batchId === batch.batchId);
}
