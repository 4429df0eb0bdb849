import type { AuditAction } from "../../core/audit-actions";
import type { BatchId, ExecutionNumber, Fence, TaskId, WaveId } from "../../core/ids";
import type { Rate } from "../../core/rate";
import type { Random } from "../../ports/random";
import type { BatchStatus, FailurePolicy, Grain, WaveState } from "../../ports/task-store";
import type { AppAddress, DefinitionSettings, KindRules, Limit } from "../../ports/task-store";
import type { ClaimPlace, NewSchedule, StatisticPeriod } from "../../ports/task-store";

/**
 * The store's rows: the tables of the SQL core as plain objects, maps by primary key and lists in
 * key order. What SQL needs for locks, plans and storage has no place here. Operations are
 * synchronous functions of a `Memory` and their input: nothing comes between, so each is atomic. One
 * that throws has changed nothing: it tests first.
 */

/** What every operation works on. */
export interface Memory {
  readonly state: MemoryState;
  readonly sequences: Sequences;
  /** The database's clock, epoch milliseconds: one reading per operation. */
  readonly nowMs: number;
  readonly random: Random;
}

/** Everything the store knows: plain data, so that `structuredClone` copies it. */
export type MemoryState = ReturnType<typeof emptyState>;

/** task_definition: a name with its limit and settings. */
export interface DefinitionRow {
  readonly definitionId: number;
  readonly name: string;
  /** The token string; empty while there is no limit. */
  executionTokens: string;
  /** Grows with every grant. */
  tokenFence: number;
  /** What the code says. */
  settings: DefinitionSettings;
  /** What an operator says; "code": nothing, the code's limit holds. */
  operatorLimit: Limit | "code";
  /** What an operator says of the rate; null: none; "code": nothing, the code's rate holds. */
  operatorRate: Rate | null | "code";
  /** The one instant of the rate, epoch microseconds; null: nothing was said of a rate. */
  nextFreeAtUs: number | null;
  /** The last turn given to an execution that the rate denied; microseconds, null: none was. */
  turnAtUs: number | null;
  /** What it draws from besides, ascending. */
  sharedLimitIds: number[];
  /** token_demand: the last denial, epoch milliseconds; -Infinity: never. */
  deniedAtMs: number;
  /** token_gift: a holder gave tokens for a denied execution. */
  givenAtMs: number;
  isPaused: boolean;
  /** Of the code that registered last. */
  build: number;
  settingsHash: string;
  /** task_kind: what the code says of kinds that it says something of. */
  readonly kinds: Map<string, KindRules>;
}

/** app: where its hints go. */
export interface AppRow {
  readonly name: string;
  address: AppAddress | null;
  registeredAtMs: number;
}

/** shared_limit: a limit that several definitions draw from. */
export interface SharedLimitRow {
  readonly sharedLimitId: number;
  readonly name: string;
  /** As a definition's; holds as many tokens per execution as its definition does. */
  executionTokens: string;
  codeLimit: Limit;
  operatorLimit: Limit | "code";
  /** shared_token_demand: the last denial, its definition, and when a holder gave tokens for it. */
  deniedAtMs: number;
  deniedDefinitionId: number | null;
  givenAtMs: number;
}

/**
 * task_execution: an execution. dead: declared so, but what it claimed isn't taken back yet.
 */
export interface ExecutionRow {
  readonly executionId: ExecutionNumber;
  readonly operationId: string;
  readonly definitionId: number;
  state: "live" | "ended" | "dead" | "reclaimed";
  readonly startedAtMs: number;
  leaseUntilMs: number;
  endedAtMs: number | null;
  readonly worker: string;
  /** Of the code that runs here. */
  readonly build: number;
  /** Tokens granted; the definition's string says the same while there is a limit. */
  tokenCount: number;
  /** Since when it is that many. */
  tokensAtMs: number;
  totals: ExecutionTotals;
  /** The last `work` call that did something, so that its answer can be given again. */
  lastCall: { callNumber: number; fence: Fence | null; refused: TaskId[] };
  /** Runs a task that was lost twice, alone. */
  isSolo: boolean;
  /** In claim order. */
  claims: ClaimRow[];
}

/** Totals of an execution; `heldMs` until `tokensAtMs`. */
export type ExecutionTotals = Pick<
  StatisticPeriod,
  "claimed" | "done" | "failed" | "dead" | "lost" | "ranMs" | "heldMs"
>;

/** statistic, with its rows of statistic_time: a definition's counts of a period. */
export interface StatisticRow extends Omit<
  StatisticPeriod,
  "definition" | "at" | "ran" | "waited"
> {
  readonly definitionId: number;
  readonly grain: Grain;
  readonly atMs: number;
  /** Tasks by bucket. */
  readonly times: { readonly ran: Map<number, number>; readonly waited: Map<number, number> };
}

/** A task held by an execution. */
export interface ClaimRow {
  readonly taskId: TaskId;
  readonly fence: Fence;
  readonly claimedAtMs: number;
  /** Not reported as started yet. */
  isPrefetched: boolean;
}

/** A place in the order of claims: priority, rank, id; lower first. */
export type Place = Readonly<ClaimPlace>;

/** task: an unfinished task. */
export interface TaskRow extends Place {
  readonly definitionId: number;
  readonly kind: string;
  readonly createdAtMs: number;
  /** Of a delay or a reschedule that is later than its enqueue; a redriven task has none. */
  dueAtMs: number | null;
  /** Only while it holds a slot of the group, or waits for one. */
  groupId: number | null;
  /** While it neither holds a slot nor waits for one: promotion finds the group, or makes it. */
  pendingGroup: GroupName | null;
  readonly waveId: WaveId | null;
  readonly dedupeKey: string | null;
  /** Of the code that enqueued it. */
  readonly build: number;
  readonly traceParent: string | null;
  failedCount: number;
  lostCount: number;
  /** What uncounted returns have taken of `limits.returnSharesMax` since a checkpoint last differed; 0: it never came back so. */
  continuedCount: number;
  isCancelRequested: boolean;
  readonly payload: string | null;
  checkpoint: string | null;
  lastError: string | null;
  progress: { done: number | null; total: number | null; text: string | null };
}

/** A group as an enqueue names it. */
export interface GroupName {
  readonly key: string;
  readonly isGlobal: boolean;
}

/** ready: may be claimed. */
export interface ReadyRow extends Place {
  readonly definitionId: number;
}

/** scheduled: comes back at an instant. */
export interface ScheduledRow {
  readonly definitionId: number;
  readonly runAtMs: number;
  readonly taskId: TaskId;
}

/** task_group: tasks of which only so many are ready or claimed at a time. */
export interface GroupRow {
  readonly groupId: number;
  /** 0: the group excludes tasks of all definitions. */
  readonly scope: number;
  readonly key: string;
  slots: number;
  isPaused: boolean;
  /** Its order holds over retries, too. */
  strict: boolean;
  /** group_kept: an operator has set it, so it stays. */
  isKept: boolean;
}

/**
 * group_slot: held while the task is ready or claimed; in a strict group also while it waits for
 * its retry.
 */
export interface GroupSlotRow {
  readonly groupId: number;
  readonly slot: number;
  readonly taskId: TaskId;
}

/** group_waiting: its group is full. */
export interface GroupWaitingRow extends ReadyRow {
  readonly groupId: number;
}

/** batch: ordered waves. */
export interface BatchRow {
  readonly batchId: BatchId;
  /** Of its creation; another one once a purge has begun with its waves. */
  operationId: string;
  readonly name: string;
  state: BatchStatus["state"];
  readonly failurePolicy: FailurePolicy;
  readonly createdAtMs: number;
  startedAtMs: number | null;
  endedAtMs: number | null;
}

/** wave: a stage of a batch. */
export interface WaveRow {
  readonly waveId: WaveId;
  readonly batchId: BatchId;
  readonly ordinal: number;
  state: WaveState;
  isSealed: boolean;
  admitted: number;
  dead: number;
  openedAtMs: number | null;
  endedAtMs: number | null;
}

/** wave_blocked: its wave isn't open, or hasn't let it in yet. */
export interface WaveBlockedRow extends ReadyRow {
  readonly waveId: WaveId;
}

/** dedupe: a key and the first task that used it. */
export interface DedupeRow {
  readonly definitionId: number;
  readonly dedupeKey: string;
  readonly taskId: TaskId;
  /** null: for as long as the task is unfinished. */
  readonly expiresAtMs: number | null;
}

/** attempt: a try that didn't end well. */
export interface AttemptRow {
  readonly taskId: TaskId;
  readonly fence: Fence;
  readonly executionId: ExecutionNumber;
  readonly claimedAtMs: number;
  readonly endedAtMs: number;
  readonly durationMs: number | null;
  readonly outcome: "failed" | "cancelled" | "lost" | "continued";
  readonly error: string | null;
}

/** How a task ended. */
export interface TaskEnd {
  readonly outcome: "done" | "dead" | "cancelled";
  /** Of the attempt that ended it; null: none did, an operator cancelled it while it waited. */
  readonly executionId: ExecutionNumber | null;
  readonly fence: Fence | null;
  readonly durationMs: number | null;
  readonly result: string | null;
}

/** archive: a task that has ended. */
export interface ArchiveRow extends TaskEnd {
  readonly task: TaskRow;
  readonly endedAtMs: number;
  readonly purgeAfterMs: number;
  /** It was cancelled before its wave counted it. */
  readonly wasBlocked: boolean;
}

/** operation: the answer of a call, for its repeats. */
export interface OperationRow {
  readonly name: string;
  /** What the call changed, as the SQL dialects write it. */
  readonly target: string;
  readonly doneAtMs: number;
  readonly answer: unknown;
}

/** schedule and schedule_group: tasks at the instants of a cron expression. */
export interface ScheduleRow extends Omit<NewSchedule, "nextRunAt"> {
  readonly scheduleId: number;
  readonly definitionId: number;
  nextRunAtMs: number | null;
  lastRunAtMs: number | null;
  isPaused: boolean;
}

/** stop, stopped_definition and stopped_schedule: when, by whom and why everything was stopped. */
export interface StopRow {
  readonly stoppedAtMs: number;
  readonly stoppedBy: string;
  readonly reason: string | null;
}

/** block_watermark: how far a definition's blocks have been made. */
export interface WatermarkRow {
  readonly definitionId: number;
  readonly name: string;
  /** null: an operator took it away; the version goes on. */
  readonly value: string | null;
  /** Grows with every change. */
  readonly version: number;
  readonly changedAtMs: number;
}

/** setting_audit: who changed what. */
export interface SettingAuditRow {
  readonly definitionId: number;
  readonly setting: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly source: "code" | "operator";
  readonly changedBy: string;
  readonly reason: string | null;
  readonly changedAtMs: number;
}

/** call_audit: who changed tasks and batches. */
export interface CallAuditRow {
  readonly callAuditId: number;
  readonly isEnqueue: boolean;
  readonly action: AuditAction;
  /** 0: several, or none. */
  readonly definitionId: number;
  readonly batchId: BatchId | null;
  readonly taskIds: readonly TaskId[];
  readonly changedBy: string;
  readonly reason: string | null;
  readonly changedAtMs: number;
}

/** A store without rows. */
export function emptyState() {
  return {
    definitions: new Map<number, DefinitionRow>(),
    /** By name. */
    apps: new Map<string, AppRow>(),
    /** definition_owner: the app of each definition that has one, by the definition's name. */
    definitionOwners: new Map<string, string>(),
    sharedLimits: new Map<number, SharedLimitRow>(),
    executions: new Map<ExecutionNumber, ExecutionRow>(),
    /** execution_counted: counted totals of executions that may go on. */
    executionsCounted: new Map<ExecutionNumber, ExecutionTotals>(),
    /** statistic and statistic_time, in the order of their making. */
    statistics: [] as StatisticRow[],
    /** statistic_round: how far executions are counted, and since when. */
    statisticRound: { lastExecutionId: "0", endedAtMs: Date.UTC(2000, 0, 1) },
    /** Unfinished tasks. Where one stands is not a field of it but the list that it is in. */
    tasks: new Map<TaskId, TaskRow>(),
    /** By definition, then by place. */
    ready: [] as ReadyRow[],
    /** By definition, instant and id. */
    scheduled: [] as ScheduledRow[],
    groups: new Map<number, GroupRow>(),
    /** group_round: how far a purge has looked through them, and when it was through last. */
    groupRound: { lastGroupId: 0, endedAtMs: Date.UTC(2000, 0, 1) },
    /** By group and slot. */
    groupSlots: [] as GroupSlotRow[],
    /** By group, then by place. */
    groupWaiting: [] as GroupWaitingRow[],
    batches: new Map<BatchId, BatchRow>(),
    /** In the order of creation: by batch, then by ordinal. */
    waves: new Map<WaveId, WaveRow>(),
    /** By wave, then by place. */
    waveBlocked: [] as WaveBlockedRow[],
    /** By `dedupeId`. */
    dedupe: new Map<string, DedupeRow>(),
    /** In the order in which they ended. */
    attempts: [] as AttemptRow[],
    /** Ended tasks. */
    archive: new Map<TaskId, ArchiveRow>(),
    operations: new Map<string, OperationRow>(),
    /** By id, in the order of creation. */
    schedules: new Map<number, ScheduleRow>(),
    /** null: no stop of everything is on. */
    stop: null as StopRow | null,
    /** By definition. */
    stoppedDefinitions: new Map<number, StopRow>(),
    /** By schedule. */
    stoppedSchedules: new Map<number, StopRow>(),
    watermarks: [] as WatermarkRow[],
    settingAudit: [] as SettingAuditRow[],
    callAudit: [] as CallAuditRow[],
  };
}

/** The kinds of rows that have numbers of their own. */
export type SequenceName =
  | "definition"
  | "shared limit"
  | "execution"
  | "task"
  | "group"
  | "fence"
  | "batch"
  | "wave"
  | "schedule"
  | "call";

/**
 * Gives numbers that grow: 1, 2, 3, .. per name. They aren't part of the state: an undone call
 * leaves a gap, as in SQL.
 */
export interface Sequences {
  next(name: SequenceName): number;
}

/** Sequences that begin at 1. */
export function createSequences(): Sequences {
  const last = new Map<SequenceName, number>();
  return {
    next(name) {
      const value = (last.get(name) ?? 0) + 1;
      last.set(name, value);
      return value;
    },
  };
}
