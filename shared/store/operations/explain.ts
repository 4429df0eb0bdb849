import type { BatchId, TaskId } from "../../core/ids";
import type { Rate } from "../../core/rate";
import type { BatchStatus, WaveState } from "./batches";
import { json, status } from "./columns";
import { withAnswerWords } from "./answer-words";
import { limitOf, sharedLimitsOf } from "./limit";
import type { Limit, SharedLimitRow, SharedLimitStatus } from "./limit";
import { operationsOf } from "./operation";
import type { ListableState, Standing } from "./task-list";

/* ---- Explain: why a task runs, or doesn't ---- */

/** One task with everything that decides when it runs. */
export interface ExplainOperations {
  /** Where a task stands and everything that decides when it runs. */
  explainTask(input: { taskId: TaskId }): Promise<ExplainTaskAnswer>;
}

export interface ExplainTaskAnswer {
  /** moving: between two containers at this instant, ask again. */
  status: "found" | "moving" | "unknown";
  facts: TaskFacts | null;
}

/** Everything `explain_task` knows; core/explain.ts turns it into sentences. */
export interface TaskFacts {
  task: TaskId;
  definition: string;
  kind: string;
  state: ListableState | "blocked";
  priority: number;
  createdAt: string;
  failedCount: number;
  lostCount: number;
  /** Of the last attempt that failed, or the reason of its cancel. */
  error: string | null;
  dedupeKey: string | null;
  /** The W3C traceparent that it was enqueued with; null: none, or it ended before migration 0011. */
  traceParent: string | null;
  payload: string | null;
  attempts: TaskAttempt[];
  retryAttempts?: number;
  lostMax?: number;
  continuedCount?: number;
  isCancelRequested?: boolean;
  progress?: { done: number | null; total: number | null; text: string | null } | null;
  limit?: Limit;
  limitSource?: "code" | "operator";
  held?: number;
  sharedLimits?: SharedLimitStatus[];
  /** In force; null: none. */
  rate?: Rate | null;
  /** Until the rate lets another task start; 0: now. */
  rateInMs?: number | null;
  paused?: boolean;
  holders?: { execution: string; worker: string; tokens: number; leaseLeftMs: number }[];
  dueInMs?: number;
  readyAhead?: number;
  group?: {
    key: string;
    slots: number;
    used: number;
    paused: boolean;
    strict: boolean;
    isGlobal: boolean;
    ahead: number;
    holders: string[];
  };
  /** Of a blocked task: the wave that holds it back; null: it was opened, and its batch purged, since the task was read. */
  wave?: {
    batch: BatchId;
    /** Of the batch. */
    name: string;
    batchState: BatchStatus["state"];
    ordinal: number;
    state: WaveState;
  } | null;
  claim?: {
    execution: string;
    worker: string;
    fence: string;
    claimedAt: string;
    leaseLeftMs: number;
    /** The worker hasn't told its start. */
    isPrefetched: boolean;
    standing: Standing;
  };
  endedAt?: string;
  worker?: string | null;
  durationMs?: number | null;
  result?: string | null;
}

export interface TaskAttempt {
  fence: string;
  worker: string | null;
  claimedAt: string;
  endedAt: string;
  durationMs: number | null;
  outcome: "failed" | "cancelled" | "lost" | "continued";
  error: string | null;
}

const operation = operationsOf<ExplainOperations>();

/** Procedure `explain_task`. */
export const explainTask = operation("explainTask", {
  right: "worker",
  parameters: { taskId: "bigint" },
  decode: (row) => {
    const facts = row["facts"] == null ? null : factsOf(json<StoredFacts>(row, "facts"));
    const read =
      facts?.limit === undefined
        ? facts
        : {
            ...facts,
            limit: limitOf(facts.limit),
            sharedLimits: sharedLimitsOf(facts.sharedLimits ?? []),
          };
    return { status: status(row, ["found", "moving", "unknown"]), facts: read };
  },
});

type FactsRow = TaskFacts & { limit?: number; sharedLimits?: SharedLimitRow[] };

/** As the procedure writes them. */
interface StoredFacts {
  readonly attempts: readonly object[];
}

function factsOf(stored: StoredFacts): FactsRow {
  return {
    ...withAnswerWords<FactsRow>(stored),
    attempts: stored.attempts.map((attempt) => withAnswerWords<TaskAttempt>(attempt)),
  };
}
