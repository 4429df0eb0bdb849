import type { BatchId, ExecutionId, Fence, OperationId, TaskId, WaveId } from "../core/ids";
import type { JsonArray, JsonObject } from "../core/json";
import type { Rate } from "../core/rate";
import type { BatchStore } from "./batches";
import type { ScheduleStore } from "./schedules";
import type { WatermarkStore } from "./watermarks";
import type {
  DefinitionStatus,
  Limit,
  RegisterDefinitionAnswer,
  RegisterDefinitionInput,
  SetLimitAnswer,
  SetLimitInput,
  SharedLimitStatus,
} from "./definitions";
import type {
  CancelTasksAnswer,
  CancelTasksInput,
  GroupStatus,
  ListGroupsInput,
  ListSharedLimitsInput,
  RedriveTasksAnswer,
  RedriveTasksInput,
  RescheduleTasksAnswer,
  RescheduleTasksInput,
  SetGroupAnswer,
  SetGroupInput,
  SetRateAnswer,
  SetRateInput,
  SetSharedLimitAnswer,
  SetSharedLimitInput,
  SharedLimitReading,
} from "./operator-calls";
import type { StoreDialect, StoreTransaction, TransactionBounds } from "./store-transaction";
import type { PurgeAnswer, SweepAnswer } from "./upkeep";

export type * from "./definitions";
export type * from "./operator-calls";
export type * from "./store-transaction";
export type * from "./upkeep";

/**
 * The seam to the database: one method per atomic operation, each one procedure call, one transaction, one round trip.
 * Expected outcomes are values; misuse, bad input and a failing database throw. Private: SQL users read docs/reference/sql.md.
 */
export interface TaskStore extends BatchStore, ScheduleStore, WatermarkStore {
  /** Which adapter this is; the banner and the tests name it. */
  readonly dialect: StoreDialect;
  /** Writes the code's settings of a definition. Idempotent by name, build and hash. */
  registerDefinition(input: RegisterDefinitionInput): Promise<RegisterDefinitionAnswer>;
  /** Sets or clears the operator's limit. Idempotent by operation id. */
  setLimit(input: SetLimitInput): Promise<SetLimitAnswer>;
  /** Sets or clears the operator's rate; acts at the next claim. Idempotent by value. */
  setRate(input: SetRateInput): Promise<SetRateAnswer>;
  /** Sets or clears the operator's limit that several definitions share. Idempotent by operation id. */
  setSharedLimit(input: SetSharedLimitInput): Promise<SetSharedLimitAnswer>;
  /** Nothing new is claimed or started until resumed. Idempotent by value. */
  pauseDefinition(input: OperatorInput): Promise<PauseAnswer>;
  /** Takes a pause away. Idempotent by value. */
  resumeDefinition(input: OperatorInput): Promise<PauseAnswer>;
  /** Opens a worker's stay with its first tokens, or says why not. Idempotent by operation id. */
  startExecution(input: StartExecutionInput): Promise<StartExecutionAnswer>;
  /** Makes an execution hold up to `want` tokens. Idempotent: what is held counts. */
  acquireTokens(input: { executionId: ExecutionId; want: number }): Promise<AcquireTokensAnswer>;
  /** Gives tokens back until the execution holds at most `keep`. Idempotent. */
  releaseTokens(input: { executionId: ExecutionId; keep: number }): Promise<ReleaseTokensAnswer>;
  /**
   * Gives idle tokens back, down to the `keep` in use: as many as are held above the limit; where none are, a part of what
   * this execution holds more than others, if somebody was denied lately. Idempotent.
   */
  releaseSurplus(input: { executionId: ExecutionId; keep: number }): Promise<ReleaseSurplusAnswer>;
  /** The hot path: completes some tasks and claims some. A repeat with the same call number gets the first answer. */
  work(input: WorkInput): Promise<WorkAnswer>;
  /** Fenced completion; with `within`, inside the user's own transaction, last before its commit. */
  completeTask(input: CompleteTaskInput, within?: StoreTransaction): Promise<CompleteTaskAnswer>;
  /** Tasks that did not end well. Idempotent by task and fence. */
  failTasks(input: {
    executionId: ExecutionId;
    failures: readonly Failure[];
  }): Promise<FailTasksAnswer>;
  /** Renews the leases of all executions of one process. */
  heartbeat(input: { executions: readonly Beat[] }): Promise<HeartbeatAnswer>;
  /** Tells people how far a running task is. */
  reportProgress(input: ReportProgressInput): Promise<ReportProgressAnswer>;
  /** Ends a stay: tokens back, unfinished claims back to ready, uncounted. Idempotent. */
  finishExecution(input: { executionId: ExecutionId }): Promise<FinishExecutionAnswer>;
  /** Takes back what dead executions held. */
  reclaimExpired(input: { most: number }): Promise<ReclaimExpiredAnswer>;
  /** Adds tasks; with `within`, inside the user's own transaction. Idempotent by operation id and by dedupe keys. */
  enqueueTasks(input: EnqueueTasksInput, within?: StoreTransaction): Promise<EnqueueTasksAnswer>;
  /** Makes due tasks claimable. */
  promoteScheduled(input: { name: string; most: number }): Promise<PromoteScheduledAnswer>;
  /** An operator's cancel: ends what waits, asks for the end of what runs. Idempotent by nature. */
  cancelTasks(input: CancelTasksInput): Promise<CancelTasksAnswer>;
  /** Dead or cancelled tasks become tasks again, with the same ids. Idempotent by nature. */
  redriveTasks(input: RedriveTasksInput): Promise<RedriveTasksAnswer>;
  /** Another instant for scheduled tasks; ready and waiting ones are scheduled. */
  rescheduleTasks(input: RescheduleTasksInput): Promise<RescheduleTasksAnswer>;
  /** An operator's settings of a group, which is made if it is missing; acts at once. Idempotent by value. */
  setGroup(input: SetGroupInput): Promise<SetGroupAnswer>;
  /** One read that tells what is due; changes nothing. */
  sweep(input: { most: number }): Promise<SweepAnswer>;
  /** Deletes what nobody needs any more, at most so many rows of each kind. Idempotent by nature. */
  purge(input: { most: number }): Promise<PurgeAnswer>;
  /** What is limited to what, who runs, what waits. */
  listDefinitions(input: { name?: string }): Promise<{ definitions: DefinitionStatus[] }>;
  /** Who works, with how many tokens. */
  listExecutions(input: ListExecutionsInput): Promise<{ executions: ExecutionStatus[] }>;
  /** Tasks of one definition in one state. */
  listTasks(input: {
    name: string;
    state: ListableState;
    most: number;
  }): Promise<{ tasks: TaskListEntry[] }>;
  /** Groups with their slots and who waits: first those for which somebody waits, both by definition and key, global ones first. */
  listGroups(input: ListGroupsInput): Promise<{ groups: GroupStatus[] }>;
  /** Limits that definitions share, with who holds how much, by name. */
  listSharedLimits(input: ListSharedLimitsInput): Promise<{ sharedLimits: SharedLimitReading[] }>;
  /** Where a task stands and everything that decides when it runs. */
  explainTask(input: { taskId: TaskId }): Promise<ExplainTaskAnswer>;
  /** Everything of P1 to P4 that SQL can see. */
  checkInvariants(): Promise<{ status: "sound" | "broken"; findings: InvariantFinding[] }>;
  /**
   * Runs the user's writes in one transaction on one connection: committed when `body` returns, rolled back when it throws.
   * Nothing is repeated: a broken connection throws `StoreUncertainError` when the commit had been sent.
   * On PostgreSQL the server ends a transaction that waits for its client for longer than `idleMs`, 30,000 at most and by default.
   */
  transaction<Result>(
    body: (transaction: StoreTransaction) => Promise<Result>,
    bounds?: TransactionBounds,
  ): Promise<Result>;
  /** Ends all connections; waits for calls in flight, at most 5 s. */
  close(): Promise<void>;
}

export interface OperatorInput {
  name: string;
  changedBy: string;
  reason?: string;
}

export interface PauseAnswer {
  status: "paused" | "resumed" | "exists";
  ready: boolean;
}

export interface StartExecutionInput {
  name: string;
  operationId: OperationId;
  worker: string;
  build: number;
  /** null: don't compare settings. */
  settingsHash: string | null;
  want: number;
  /**
   * true for workers: `none` when nothing is ready or due. false for `withTokens`: the grant is the start itself and takes a
   * permit of the rate.
   */
  needsReady: boolean;
}

export interface StartExecutionAnswer {
  status: "started" | "limited" | "paused" | "none" | "unknown" | "outdated";
  executionId: ExecutionId | null;
  leaseMs: number | null;
  tokens: number;
  tokenFence: Fence | null;
  spareMax: number | null;
  /** Counted up to `want`. */
  ready: number;
  /** When limited: the longest wait that makes sense without a hint, or until the rate lets another start. */
  retryInMs: number | null;
  nextDueMs: number | null;
  /** More than 0: call `reclaimExpired`. */
  deadHolders: number;
  /**
   * When limited. noted: holders are asked to give a token, so look again soon. others: what is free was given for others,
   * and this worker holds some: hand the hint on.
   */
  demand: "noted" | "others" | null;
}

export interface AcquireTokensAnswer {
  status: "granted" | "limited" | "paused" | "fenced";
  tokens: number;
  granted: number;
  tokenFence: Fence | null;
  retryInMs: number | null;
  deadHolders: number;
  /** When nothing was granted. noted: holders are asked to give a token, so look again soon. */
  demand: "noted" | null;
}

export interface ReleaseTokensAnswer {
  status: "released" | "fenced";
  tokens: number;
  freed: number;
  ready: boolean;
}

export interface ReleaseSurplusAnswer {
  status: "released" | "fenced";
  tokens: number;
  freed: number;
  surplus: number;
  /** Of the freed ones for somebody who was denied: leave a hint. */
  given: number;
  /** Other definitions that share a limit, of which somebody was denied that finds some now: leave each a hint. */
  woken: string[];
}

export interface DoneTask {
  taskId: TaskId;
  fence: Fence;
  /** Measured by the worker's monotonic clock. */
  durationMs: number;
  /** JSON text of an object or array, at most 64 KiB, or null. */
  result: string | null;
}

export interface WorkInput {
  executionId: ExecutionId;
  /** 1, 2, 3, ... per execution; the same again for a repeat. */
  callNumber: number;
  /** In claim order where possible: faster. */
  done: readonly DoneTask[];
  /** Spare claims that were started since the last report. */
  started: readonly TaskId[];
  /** 0..1000 */
  want: number;
  /** Look only at or after this place first; drop it after an empty answer and once a second (P4). */
  after?: ClaimPlace;
}

/** A place in the order of claims: priority, rank, task id. */
export interface ClaimPlace {
  priority: number;
  rank: string;
  taskId: TaskId;
}

export interface ClaimedTask {
  taskId: TaskId;
  fence: Fence;
  kind: string;
  /** 1 for the first try; counts failures and losses. */
  attempt: number;
  payload: JsonObject | JsonArray | null;
  /** JSON text that a previous, uncounted part left; null: none. */
  checkpoint: string | null;
  /** W3C traceparent of the enqueue. */
  traceParent: string | null;
  isGrouped: boolean;
  isCancelRequested: boolean;
  /** Enqueued by a newer build than this execution's. */
  isFromNewerBuild: boolean;
  /** It counts in a wave that is open. False without one, and when it was redriven after its wave had ended. */
  isInWave: boolean;
  /** Lost twice: it may be what ended its processes, and runs without neighbours. */
  isSuspect: boolean;
  /** Doesn't count as started until it is reported. */
  isSpare: boolean;
}

export interface WorkAnswer {
  /** `busy`: a group was locked too long, nothing happened: repeat with the same call number. */
  status:
    "claimed" | "none" | "limited" | "done" | "paused" | "again" | "fenced" | "ended" | "busy";
  /** In claim order. */
  claimed: ClaimedTask[];
  /** The place of the last one. */
  last: ClaimPlace | null;
  /** Completions that changed nothing: lost to another holder. */
  refused: TaskId[];
  leaseMs: number | null;
  /**
   * Tokens held by all above the limit; 1 also where others were denied and this execution could give: `releaseSurplus`.
   * Below 0: so many are free for anybody who works: `acquireTokens`.
   */
  surplus: number;
  nextDueMs: number | null;
  /** The rate let fewer be claimed than wanted: until it lets another one; null: it didn't. */
  retryInMs: number | null;
  /** Other definitions that got ready tasks: leave them hints. */
  woken: string[];
  /** Batches with more tasks to admit: call `pumpBatch`. */
  opening: BatchId[];
}

export interface CompleteTaskInput {
  executionId: ExecutionId;
  taskId: TaskId;
  fence: Fence;
  durationMs: number | null;
  result: string | null;
  /**
   * With `within`, and only in the store's own transaction: the completion and its commit, or the rollback when it is
   * `fenced`, travel as one message, so that no client can vanish or freeze between them. The transaction is over then.
   */
  endsTransaction?: boolean;
}

export interface CompleteTaskAnswer {
  /** `fenced`: roll back. */
  status: "done" | "again" | "fenced";
  woken: string[];
  /** Batches with more tasks to admit: call `pumpBatch` after the commit. */
  opening: BatchId[];
}

export interface Failure {
  taskId: TaskId;
  fence: Fence;
  /** failed: counted, retried, then dead. dead: gave up. continued: comes back uncounted. */
  as: "failed" | "dead" | "cancelled" | "continued";
  error: string | null;
  /** null: the definition's back-off (continued: at once, with a share: 5 s, doubled up to 5 min). At most 30 days. */
  retryInMs: number | null;
  /**
   * Of `continued`: what this return takes of the 1,000 that a task has, 1..1,000; left out: 1 when the checkpoint is the one
   * before or none, and a new one starts the count anew at 1. With more than 1,000 the task is dead.
   */
  share?: number;
  durationMs: number | null;
  /** JSON text for the next part, or null: keep what there is. */
  checkpoint: string | null;
}

export interface FailTasksAnswer {
  status: "done" | "fenced";
  results: {
    taskId: TaskId;
    outcome: "retry" | "dead" | "cancelled" | "continued" | "again" | "fenced";
    retryInMs: number | null;
  }[];
  woken: string[];
  opening: BatchId[];
  nextDueMs: number | null;
}

export interface Beat {
  executionId: ExecutionId;
  /** Spare claims that were started since the last report. */
  started: readonly TaskId[];
}

export interface HeartbeatAnswer {
  executions: {
    executionId: ExecutionId;
    /** busy: its own `work` is renewing it just now. */
    status: "renewed" | "fenced" | "ended" | "busy";
    leaseMs: number | null;
    cancel: TaskId[];
    surplus: number;
    isPaused: boolean;
  }[];
}

export interface ReportProgressInput {
  executionId: ExecutionId;
  taskId: TaskId;
  fence: Fence;
  done: number | null;
  total: number | null;
  text: string | null;
}

export interface ReportProgressAnswer {
  status: "done" | "fenced";
  isCancelRequested: boolean;
}

export interface FinishExecutionAnswer {
  status: "ended" | "fenced";
  givenBack: number;
  tokensFreed: number;
  /** Tasks wait: a hint is due. */
  ready: boolean;
  nextDueMs: number | null;
  woken: string[];
  opening: BatchId[];
}

export interface ReclaimExpiredAnswer {
  status: "reclaimed" | "none";
  executions: number;
  tasksBack: number;
  tasksLost: number;
  tasksDead: number;
  /** Definitions with ready tasks again: leave them hints. */
  definitions: string[];
  more: boolean;
  opening: BatchId[];
}

export interface NewTask {
  /** JSON text of an object or array, at most 64 KiB, stored as given; null: none. */
  payload: string | null;
  /** Default: the definition's name. */
  kind?: string;
  /** Lower first; -32,768..32,767, default 100. */
  priority?: number;
  /**
   * null: none, said so. Left out: what the kind's rule says; where the rule is a function, only its code can tell, and the
   * call is refused.
   */
  group?: string | null;
  groupScope?: "definition" | "global";
  /** 0..100 years; not together with `runAt`. */
  runInMs?: number;
  runAt?: Date;
  dedupeKey?: string;
  /** The key is held this long; default: until the task ends. */
  dedupeMs?: number;
  /** replace: of a first task that nobody has begun the payload becomes this one; default keep. */
  onDuplicate?: "keep" | "replace";
  traceParent?: string;
}

export interface EnqueueTasksInput {
  name: string;
  build: number;
  /** 1..10,000 tasks, at most 8 MiB. */
  tasks: readonly NewTask[];
  operationId: OperationId | null;
  /** They are held until this wave of a batch opens; then none has `runAt` or `runInMs`. */
  waveId?: WaveId;
}

export interface EnqueueTasksAnswer {
  /** Nothing was written when the wave takes no tasks: it is sealed and will be opened, or late: it was opened, or its batch was cancelled. */
  status: "enqueued" | "sealed" | "late";
  /** In input order; of a duplicate: the first task's. */
  taskIds: TaskId[];
  /** In input order. */
  outcomes: ("enqueued" | "duplicate" | "replaced")[];
  /** Some may be claimed at once: a hint is due. */
  ready: boolean;
  nextDueMs: number | null;
}

export interface PromoteScheduledAnswer {
  status: "promoted" | "none";
  promoted: number;
  nextDueMs: number | null;
  ready: boolean;
}

export interface ListExecutionsInput {
  name?: string;
  isOpen: boolean;
  most: number;
}

export interface ExecutionStatus {
  execution: ExecutionId;
  definition: string;
  state: "live" | "ended" | "dead" | "reclaimed";
  worker: string;
  startedAt: string;
  endedAt: string | null;
  leaseLeftMs: number | null;
  tokens: number;
  claimed: number;
  /** Of the claimed: those that count as started, at most `tokens`. 0 once the lease is over. */
  running: number;
  /** Of the claimed: those that wait for a token of this execution. 0 once the lease is over. */
  prefetched: number;
}

/** States that `listTasks` can list. */
export type ListableState =
  "ready" | "scheduled" | "waiting" | "claimed" | "done" | "dead" | "cancelled";

/** How a claimed task stands. lost: the lease of its worker is over, it comes back. */
export type Standing = "running" | "prefetched" | "lost";

export interface TaskListEntry {
  task: TaskId;
  kind: string;
  priority: number;
  /** Of a claimed task: how it stands. */
  state: Exclude<ListableState, "claimed"> | Standing;
  createdAt: string;
  dueAt?: string | null;
  claimedAt?: string | null;
  finishedAt?: string | null;
  failedCount: number;
  lostCount: number;
  error: string | null;
  worker: string | null;
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
  state: ListableState | "held";
  priority: number;
  createdAt: string;
  failedCount: number;
  lostCount: number;
  lastError: string | null;
  dedupeKey: string | null;
  payload: string | null;
  attempts: TaskAttempt[];
  maxAttempts?: number;
  maxLost?: number;
  continuedCount?: number;
  cancelRequested?: boolean;
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
    isStrict: boolean;
    isGlobal: boolean;
    ahead: number;
    holders: string[];
  };
  claim?: {
    execution: string;
    worker: string;
    fence: string;
    claimedAt: string;
    leaseLeftMs: number;
    /** The worker hasn't told its start. */
    isSpare: boolean;
    standing: Standing;
  };
  finishedAt?: string;
  worker?: string | null;
  durationMs?: number | null;
  result?: string | null;
}

export interface TaskAttempt {
  fence: string;
  worker: string | null;
  claimedAt: string;
  finishedAt: string;
  durationMs: number | null;
  outcome: "failed" | "cancelled" | "lost" | "continued";
  error: string | null;
}

export interface InvariantFinding {
  rule: string;
  key: string;
  detail: string;
}
