import { compareNumbers } from "./rows";
import type { BatchRow, Memory } from "./state";
import { wavesOf } from "./waves";

/** Batches that one call looks at, oldest first. */
const batchesMax = 1_000;
/** The same of a sweep, which only wants to know. */
const batchesGlimpsed = 100;

/** What became of batches that ended long ago. */
interface PurgedBatches {
  readonly batches: number;
  readonly waves: number;
  /** Waves filled their share. */
  readonly isFull: boolean;
}

/**
 * Deletes them with their waves, at most so many waves, the oldest first. A batch with more waves loses them call by call; from
 * the first on its operation id is unused, so that a repeat isn't told of some of its waves.
 */
export function purgeBatches(
  memory: Memory,
  { max, endedBeforeMs }: { max: number; endedBeforeMs: number },
): PurgedBatches {
  const { state } = memory;
  const due = endedBatches(memory, { endedBeforeMs, lookAt: batchesMax }).slice(0, max);
  const found = due.flatMap((batch) => wavesOf(state, batch));
  const gone = found.slice(0, max);
  for (const { waveId } of gone) state.waves.delete(waveId);
  const touched = due.filter((batch) => gone.some((wave) => wave.batchId === batch.batchId));
  const whole = touched.filter((batch) => wavesOf(state, batch).length === 0);
  for (const { batchId } of whole) state.batches.delete(batchId);
  for (const batch of touched) batch.operationId = memory.random.uuid();
  return { batches: whole.length, waves: gone.length, isFull: found.length >= max };
}

/** Is there one? Of batches only the oldest are looked at. */
export function hasEndedBatches(memory: Memory, endedBeforeMs: number): boolean {
  return endedBatches(memory, { endedBeforeMs, lookAt: batchesGlimpsed }).length > 0;
}

function endedBatches(
  { state }: Memory,
  { endedBeforeMs, lookAt }: { endedBeforeMs: number; lookAt: number },
): BatchRow[] {
  return [...state.batches.values()]
    .sort((a, b) => compareNumbers(a.batchId, b.batchId))
    .slice(0, lookAt)
    .filter((row) => row.endedAtMs !== null && row.endedAtMs < endedBeforeMs);
}
