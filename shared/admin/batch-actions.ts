import { asTaskId } from "../core/ids";
import type { BatchId } from "../core/ids";
import type {
  BatchChange,
  BatchStatus,
  CancelBatchAnswer,
  ListBatchesInput,
  ResumeBatchAnswer,
} from "../ports/task-store";
import { hintAll } from "./admin-tools";
import type { AdminTools } from "./admin-tools";
import { invalidInput, showValue } from "./read-result";

/** What operators see and do of batches. */

/** A batch, and how far it is. */
export interface BatchReport extends BatchStatus {
  /** Tasks over all waves; counts of blocked tasks stop at 100,000 per wave. */
  readonly tasks: number;
  /** Of them, those that have ended. */
  readonly ended: number;
  readonly dead: number;
  /** Milliseconds, by the pace so far; null: it doesn't run, or nothing has ended yet. */
  readonly estimatedLeftMs: number | null;
}

/** What a resume did. */
export interface ResumedBatch {
  readonly batch: BatchId;
  readonly status: ResumeBatchAnswer["status"];
}

/** What a cancel did. */
export interface CancelledBatch {
  readonly batch: BatchId;
  readonly status: CancelBatchAnswer["status"];
  /** Admitted tasks that were ended or asked to end. */
  readonly tasks: number;
}

/** Slices of one call; the sweep does the rest. */
const slicesMax = 200;
const sliceMax = 500;

/** Newest first. */
export async function listBatches(
  { store }: AdminTools,
  request: ListBatchesInput,
): Promise<BatchReport[]> {
  const { batches } = await store.listBatches(request);
  return batches.map(describeBatch);
}

/** Throws InvalidArgumentError (unknown). */
export async function getBatch(tools: AdminTools, batchId: BatchId): Promise<BatchReport> {
  const [batch] = await listBatches(tools, { batchId, max: 1 });
  if (batch !== undefined) return batch;
  const expected =
    "the id of a batch that exists; a batch is removed some time after its end, with its tasks";
  throw invalidInput(
    [{ field: "batch", value: showValue(batchId), expected }],
    "TASKGATE_ARG_UNKNOWN",
  );
}

/** A halted batch goes on with its next wave. */
export async function resumeBatch(tools: AdminTools, request: BatchChange): Promise<ResumedBatch> {
  const { batchId } = request;
  await getBatch(tools, batchId);
  const { status, woken, opening } = await tools.store.resumeBatch(request);
  await hintAll(tools.wakeUp, woken);
  if (opening.length > 0) await pump(tools, batchId);
  return { batch: batchId, status };
}

/** No further wave opens; blocked tasks end, admitted ones are ended or asked to end. */
export async function cancelBatch(
  tools: AdminTools,
  request: BatchChange,
): Promise<CancelledBatch> {
  const { store } = tools;
  const { batchId, ...actor } = request;
  await getBatch(tools, batchId);
  const first = await store.cancelBatch(request);
  let count = 0;
  for (let answer = first, calls = 0; answer.tasks.length > 0 && calls < slicesMax; calls += 1) {
    const taskIds = answer.tasks.map(asTaskId);
    const { woken } = await store.cancelTasks({
      ...actor,
      taskIds,
      reason: "its batch was cancelled",
    });
    await hintAll(tools.wakeUp, woken);
    count += taskIds.length;
    answer = await store.cancelBatch(request);
  }
  await pump(tools, batchId);
  return { batch: batchId, status: first.status, tasks: count };
}

async function pump({ store, wakeUp }: AdminTools, batchId: BatchId): Promise<void> {
  for (let slices = 0; slices < slicesMax; slices += 1) {
    const answer = await store.pumpBatch({ batchId, max: sliceMax });
    await hintAll(wakeUp, answer.woken);
    if (!answer.more || answer.status === "busy") return;
  }
}

/** Pure. */
export function describeBatch(batch: BatchStatus): BatchReport {
  const sum = (part: (wave: BatchStatus["waves"][number]) => number): number =>
    batch.waves.reduce((total, wave) => total + part(wave), 0);
  const tasks = sum((wave) => wave.blocked + wave.admitted);
  const ended = sum((wave) => wave.admitted - wave.unfinished);
  return {
    ...batch,
    tasks,
    ended,
    dead: sum((wave) => wave.dead),
    estimatedLeftMs:
      batch.runningMs === null || ended === 0
        ? null
        : Math.round((batch.runningMs * (tasks - ended)) / ended),
  };
}
