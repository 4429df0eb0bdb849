import { setTimeout as wait } from "node:timers/promises";
import { asTaskId } from "../core/ids";
import type { BatchId } from "../core/ids";
import type {
  BatchChange,
  BatchStatus,
  CancelBatchAnswer,
  ListBatchesInput,
  PumpBatchAnswer,
} from "../ports/task-store";
import { hintAll } from "./admin-tools";
import type { Actor, AdminTools } from "./admin-tools";
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

/** Calls about batches. */
export function batchCalls(tools: AdminTools) {
  return {
    /** Batches and how far they are, newest first. */
    batches: (request: Omit<ListBatchesInput, "batchId">) => listBatches(tools, request),
    /** One batch. Throws InvalidArgumentError (unknown). */
    batch: (batchId: BatchId) => getBatch(tools, batchId),
    /** Lets a halted batch go on with its next wave. */
    resumeBatch: (request: BatchChange & Actor) => resumeBatch(tools, request),
    /** Ends a batch: no further wave opens, its tasks end or are asked to. */
    cancelBatch: (request: BatchChange & Actor) => cancelBatch(tools, request),
  };
}

/** Slices of one call; the sweep does the rest. */
const slicesMax = 200;
const sliceMax = 500;
/** How often, and how long apart, a cancel looks whether another call's pump is over. */
const looksMax = 20;
const lookMs = 100;

/** Newest first. */
export async function listBatches(
  { store }: AdminTools,
  request: ListBatchesInput,
): Promise<BatchReport[]> {
  const { batches } = await store.listBatches(request);
  return batches.map(describeBatch);
}

/** Throws InvalidArgumentError (unknown). */
async function getBatch(tools: AdminTools, batchId: BatchId): Promise<BatchReport> {
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
async function resumeBatch(tools: AdminTools, request: BatchChange) {
  const { batchId } = request;
  await getBatch(tools, batchId);
  const { status, woken, opening } = await tools.store.resumeBatch(request);
  await hintAll(tools.wakeUp, woken);
  if (opening.length > 0) await pump(tools, batchId);
  return { batch: batchId, status };
}

/** No further wave opens; blocked tasks end, admitted ones are ended or asked to end: `tasks` counts these. */
export async function cancelBatch(tools: AdminTools, request: BatchChange) {
  const { store } = tools;
  const { batchId } = request;
  await getBatch(tools, batchId);
  const first = await store.cancelBatch(request);
  let tasks = await endAdmitted(tools, request, first);
  // A pump that began before the cancel may admit one slice more. It is listed once that pump has committed.
  for (let looks = 0, isBusy = true; isBusy && looks < looksMax; looks += 1) {
    if (looks > 0) await wait(lookMs);
    isBusy = (await pump(tools, batchId)) === "busy";
    tasks += await endAdmitted(tools, request, await store.cancelBatch(request));
  }
  return { batch: batchId, status: first.status, tasks };
}

/** Ends tasks of a cancelled batch until none is listed; returns how many it was told of. */
async function endAdmitted(
  { store, wakeUp }: AdminTools,
  request: BatchChange,
  listed: CancelBatchAnswer,
): Promise<number> {
  const { batchId: _batch, ...actor } = request;
  let count = 0;
  for (let answer = listed, calls = 0; answer.tasks.length > 0 && calls < slicesMax; calls += 1) {
    const taskIds = answer.tasks.map(asTaskId);
    const { woken } = await store.cancelTasks({
      ...actor,
      taskIds,
      reason: "its batch was cancelled",
    });
    await hintAll(wakeUp, woken);
    count += taskIds.length;
    answer = await store.cancelBatch(request);
  }
  return count;
}

async function pump(
  { store, wakeUp }: AdminTools,
  batchId: BatchId,
): Promise<PumpBatchAnswer["status"]> {
  for (let slices = 1; ; slices += 1) {
    const answer = await store.pumpBatch({ batchId, max: sliceMax });
    await hintAll(wakeUp, answer.woken);
    if (!answer.more || answer.status === "busy" || slices === slicesMax) return answer.status;
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
