import type { BatchId, TaskId, WaveId } from "../../shared/core/ids";
import type { BatchStatus, CreateBatchInput } from "../../shared/ports/task-store";
import type {
  EnqueueTasksAnswer,
  NewTask,
  StoreTransaction,
  TaskStore,
} from "../../shared/ports/task-store";
import { operationId } from "../support/builders";

/* Batches as tests make them: of so many waves, with so many tasks in each. */

export interface TestBatch {
  batchId: BatchId;
  waveIds: WaveId[];
}

/** An empty one; a dead task halts it unless said. */
export async function makeBatch(
  store: TaskStore,
  waves: number,
  changes: Partial<CreateBatchInput> = {},
): Promise<TestBatch> {
  const input = {
    operationId: operationId(),
    name: "nightly",
    failurePolicy: "halt",
    waves,
  } as const;
  return store.createBatch({ ...input, ...changes });
}

/** Adds tasks of that definition to a wave, in the user's own transaction where there is one. */
export async function hold(
  store: TaskStore,
  { name, waveId, within }: { name: string; waveId: WaveId | undefined; within?: StoreTransaction },
  tasks: number | readonly Partial<NewTask>[],
): Promise<EnqueueTasksAnswer> {
  if (waveId === undefined) throw new Error("There is no such wave");
  const list = typeof tasks === "number" ? Array.from({ length: tasks }, () => ({})) : tasks;
  const input = {
    name,
    build: 1,
    operationId: operationId(),
    waveId,
    tasks: list.map((task) => ({ payload: null, ...task })),
  };
  return store.enqueueTasks(input, within);
}

/** A batch with so many tasks of one definition in each wave. */
export async function filled(
  store: TaskStore,
  name: string,
  { counts, ...changes }: Partial<CreateBatchInput> & { counts: readonly number[] },
): Promise<TestBatch & { tasks: TaskId[][] }> {
  const batch = await makeBatch(store, counts.length, changes);
  const tasks: TaskId[][] = [];
  for (const [index, count] of counts.entries()) {
    tasks.push(
      count === 0 ? [] : (await hold(store, { name, waveId: batch.waveIds[index] }, count)).taskIds,
    );
  }
  return { ...batch, tasks };
}

/** The batch as people see it. */
export async function batchStatus(store: TaskStore, batchId: BatchId): Promise<BatchStatus> {
  const { batches } = await store.listBatches({ batchId, max: 1 });
  if (batches[0] === undefined) throw new Error(`There is no batch ${batchId}`);
  return batches[0];
}

/** The states of its waves, in order. */
export async function waveStates(store: TaskStore, batchId: BatchId): Promise<string[]> {
  return (await batchStatus(store, batchId)).waves.map((wave) => wave.state);
}

/** Seals and starts it. */
export const start = (store: TaskStore, { batchId }: TestBatch) =>
  store.startBatch({ batchId, seal: true });
