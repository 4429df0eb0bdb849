import type { BatchId, OperationId, WaveId } from "../core/ids";

/**
 * Batches: ordered waves of tasks (seed 004). The tasks of a wave are held until every task of the waves before has ended.
 * Whoever ends the last of them opens the next wave: nobody polls.
 */
export interface BatchStore {
  /** Makes a batch of empty waves; fill them with `enqueueTasks({ waveId })`. Idempotent by operation id. */
  createBatch(input: CreateBatchInput): Promise<CreateBatchAnswer>;
  /** Opens the first wave that has tasks. Idempotent by state. */
  startBatch(input: { batchId: BatchId; seal: boolean }): Promise<StartBatchAnswer>;
  /** Goes on opening a wave, at most `most` (1..1000) tasks a call: for who was told `opening`. */
  pumpBatch(input: { batchId: BatchId; most: number }): Promise<PumpBatchAnswer>;
  /** A halted batch goes on with its next wave. Idempotent by state. */
  resumeBatch(input: { batchId: BatchId }): Promise<ResumeBatchAnswer>;
  /** No further wave opens; held tasks end cancelled by `pumpBatch`. Idempotent by state. */
  cancelBatch(input: { batchId: BatchId }): Promise<CancelBatchAnswer>;
  /** How far batches are, newest first. */
  listBatches(input: ListBatchesInput): Promise<{ batches: BatchStatus[] }>;
}

/**
 * What a dead task means once its wave has ended. halt: the next wave isn't opened until `resumeBatch`; continue: it counts
 * as ended; cancel: the waves after it end cancelled.
 */
export type FailurePolicy = "halt" | "continue" | "cancel";

export interface CreateBatchInput {
  operationId: OperationId;
  /** For people; 1..200 characters, need not be unique. */
  name: string;
  failurePolicy: FailurePolicy;
  /** 1..1000; waves without tasks are passed over. */
  waves: number;
}

export interface CreateBatchAnswer {
  status: "created";
  batchId: BatchId;
  /** In order. */
  waveIds: WaveId[];
}

/** Of calls that may open a wave. */
export interface OpenedWaves {
  /** Definitions that got ready tasks: leave them hints. */
  woken: string[];
  /** Batches that have more tasks to admit: call `pumpBatch`. */
  opening: BatchId[];
}

export interface StartBatchAnswer extends OpenedWaves {
  /** busy: somebody is adding tasks to the first wave, ask again; ended: it was cancelled. */
  status: "started" | "again" | "busy" | "ended";
}

export interface PumpBatchAnswer {
  /** busy: somebody else does it just now. */
  status: "pumped" | "busy" | "done";
  moved: number;
  more: boolean;
  woken: string[];
}

export interface ResumeBatchAnswer extends OpenedWaves {
  /** draft: `startBatch` starts it; ended: it was cancelled. */
  status: "resumed" | "again" | "draft" | "ended";
}

export interface CancelBatchAnswer {
  status: "cancelled" | "again" | "done";
  /** Admitted tasks that haven't ended, at most 1000: `cancelTasks` ends them. */
  tasks: string[];
  opening: BatchId[];
}

export interface ListBatchesInput {
  /** Only this one. */
  batchId?: BatchId;
  /** Only older ones. */
  before?: BatchId;
  /** 1..100 */
  most: number;
}

export interface BatchStatus {
  batch: BatchId;
  name: string;
  state: "draft" | "running" | "halted" | "done" | "cancelled";
  failurePolicy: FailurePolicy;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  /** Since its start, by the database's clock; null: it doesn't run. */
  runningMs: number | null;
  waves: WaveStatus[];
}

export interface WaveStatus {
  wave: WaveId;
  /** From 1. */
  ordinal: number;
  state: "held" | "opening" | "open" | "done";
  /** Takes no tasks any more. */
  sealed: boolean;
  /** Not admitted yet; counted up to 100,000. */
  held: number;
  admitted: number;
  /** Of those admitted. */
  unfinished: number;
  dead: number;
  openedAt: string | null;
  finishedAt: string | null;
}
