import { asBatchId, asWaveId } from "../../core/ids";
import type { BatchId, WaveId } from "../../core/ids";
import { checkName } from "./checks";
import { batchIds, bool, columns, int, json, names, oneOf, status, text } from "./columns";
import { withAnswerWords } from "./answer-words";
import { opened } from "./opened";
import { operationsOf } from "./operation";
import { cleanActor } from "./operator";
import type { ActorInput } from "./operator";

/* ---- Batches: ordered waves of tasks ---- */

/**
 * Ordered waves of tasks. The tasks of a wave are blocked until every task of the waves before has ended. The call that ends
 * the last of these tasks opens the next wave: no process polls.
 */
export interface BatchOperations {
  /** Makes a batch of empty waves; fill them with `enqueueTasks({ waveId })`. Idempotent by operation id. */
  createBatch(input: CreateBatchInput): Promise<CreateBatchAnswer>;
  /** Opens the first wave that has tasks. Idempotent by state. */
  startBatch(input: { batchId: BatchId; seal: boolean }): Promise<StartBatchAnswer>;
  /** Goes on opening a wave, at most `max` (1..1000) tasks a call: the next call after an answer with `opening`. */
  pumpBatch(input: { batchId: BatchId; max: number }): Promise<PumpBatchAnswer>;
  /** A halted batch goes on with its next wave. Idempotent by state. */
  resumeBatch(input: BatchChange): Promise<ResumeBatchAnswer>;
  /** No further wave opens; blocked tasks end cancelled by `pumpBatch`. Idempotent by state. */
  cancelBatch(input: BatchChange): Promise<CancelBatchAnswer>;
  /** How far batches are, newest first. */
  listBatches(input: ListBatchesInput): Promise<{ batches: BatchStatus[] }>;
}

/**
 * What a dead task means once its wave has ended. halt: the next wave isn't opened until `resumeBatch`; continue: it counts
 * as ended; cancel: the waves after it end cancelled.
 */
export type FailurePolicy = "halt" | "continue" | "cancel";

export interface CreateBatchInput {
  /** A UUID made at random for this call and kept for its repeats. */
  operationId: string;
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

const started = columns({
  /** busy: another call adds tasks to the first wave, ask again; ended: it was cancelled. */
  status: oneOf("started", "again", "busy", "ended"),
  ...opened,
});
/** Answer of `startBatch`. */
export type StartBatchAnswer = ReturnType<typeof started>;

const pumped = columns({
  /** busy: another call does it just now. */
  status: oneOf("pumped", "busy", "done"),
  moved: int,
  more: bool,
  woken: names,
});
/** Answer of `pumpBatch`. */
export type PumpBatchAnswer = ReturnType<typeof pumped>;

/** What an operator changes about a batch. */
export interface BatchChange extends ActorInput {
  batchId: BatchId;
}

const resumed = columns({
  /** draft: `startBatch` starts it; ended: it was cancelled. */
  status: oneOf("resumed", "again", "draft", "ended"),
  ...opened,
});
/** Answer of `resumeBatch`. */
export type ResumeBatchAnswer = ReturnType<typeof resumed>;

const cancelled = columns({
  status: oneOf("cancelled", "again", "done"),
  /** Admitted tasks that haven't ended, at most 1000: `cancelTasks` ends them. */
  tasks: names,
  opening: batchIds,
});
/** Answer of `cancelBatch`. */
export type CancelBatchAnswer = ReturnType<typeof cancelled>;

export interface ListBatchesInput {
  /** Only this one. */
  batchId?: BatchId;
  /** Only older ones. */
  before?: BatchId;
  /** 1..100 */
  max: number;
}

export interface BatchStatus {
  batch: BatchId;
  name: string;
  state: "draft" | "running" | "halted" | "done" | "cancelled";
  failurePolicy: FailurePolicy;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
  /** Since its start, by the database's clock; null: it doesn't run. */
  runningMs: number | null;
  waves: WaveStatus[];
}

/** As the store keeps it. */
export type WaveState = "blocked" | "opening" | "open" | "done";

export interface WaveStatus {
  wave: WaveId;
  /** From 1. */
  ordinal: number;
  /** `cancelled`: with its batch, before it opened. */
  state: WaveState | "cancelled";
  /** Takes no tasks any more. */
  sealed: boolean;
  /** Not admitted yet; counted up to 100,000. */
  blocked: number;
  admitted: number;
  /** Of those admitted. */
  unfinished: number;
  dead: number;
  /** null: not yet, or never. */
  openedAt: string | null;
  endedAt: string | null;
}

const operation = operationsOf<BatchOperations>();

/** Procedure `create_batch`. */
export const createBatch = operation("createBatch", {
  right: "worker",
  parameters: { operationId: "uuid", name: "text", failurePolicy: "text", waves: "int" },
  check: (input) => {
    checkName(input.name);
    return input;
  },
  decode: (row) => ({
    status: status(row, ["created"]),
    batchId: asBatchId(text(row, "batch")),
    waveIds: json<string[]>(row, "waves").map(asWaveId),
  }),
});

/** Procedure `start_batch`. */
export const startBatch = operation("startBatch", {
  right: "worker",
  parameters: { batchId: "bigint", seal: "boolean" },
  decode: started,
});

/** Procedure `pump_batch`. */
export const pumpBatch = operation("pumpBatch", {
  right: "worker",
  parameters: { batchId: "bigint", max: "int" },
  decode: pumped,
});

const batchChange = {
  parameters: { batchId: "bigint", changedBy: "text", reason: "text" },
  check: (input: BatchChange) => ({ ...input, ...cleanActor(input) }),
} as const;

/** Procedure `resume_batch`. */
export const resumeBatch = operation("resumeBatch", {
  right: "operator",
  ...batchChange,
  decode: resumed,
});

/** Procedure `cancel_batch`. */
export const cancelBatch = operation("cancelBatch", {
  right: "operator",
  ...batchChange,
  decode: cancelled,
});

/** Procedure `list_batches`. */
export const listBatches = operation("listBatches", {
  right: "worker",
  parameters: { batchId: "bigint", before: "bigint", max: "int" },
  decode: (row) => ({ batches: json<StoredBatch[]>(row, "batches").map(batchOf) }),
});

/** As the procedure writes it. */
interface StoredBatch {
  readonly waves: readonly object[];
}

function batchOf(stored: StoredBatch): BatchStatus {
  return {
    ...withAnswerWords<BatchStatus>(stored),
    waves: stored.waves.map((wave) => withAnswerWords<WaveStatus>(wave)),
  };
}
