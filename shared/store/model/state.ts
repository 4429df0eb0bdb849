import type { ExecutionId, Fence, OperationId, TaskId } from "../../core/ids";
import type { Random } from "../../ports/random";
import type {
  DefinitionSettings,
  EnqueueTasksAnswer,
  Limit,
  SetLimitAnswer,
} from "../../ports/task-store";

/**
 * The model's rows: the tables of the SQL core as plain objects, maps by primary key and lists in
 * key order. What SQL needs for locks, plans and storage has no place here. Operations are
 * synchronous functions of a `Model` and their input: nothing comes between, so each is atomic. One
 * that throws has changed nothing: it tests first.
 */

/** What every operation works on. */
export interface Model {
  readonly state: ModelState;
  readonly sequences: Sequences;
  /** The database's clock, epoch milliseconds: one reading per operation. */
  readonly nowMs: number;
  readonly random: Random;
}

/** Everything the store knows: plain data, so that `structuredClone` copies it. */
export interface ModelState {
  definitions: Map<number, DefinitionRow>;
  executions: Map<ExecutionId, ExecutionRow>;
  /** Unfinished tasks. Where one stands is not a field of it but the list that it is in. */
  tasks: Map<TaskId, TaskRow>;
  /** By definition, then by place. */
  ready: ReadyRow[];
  /** By definition, instant and id. */
  scheduled: ScheduledRow[];
  groups: Map<number, GroupRow>;
  /** By group and slot. */
  groupSlots: GroupSlotRow[];
  /** By group, then by place. */
  groupWaiting: GroupWaitingRow[];
  /** By `dedupeId`. */
  dedupe: Map<string, DedupeRow>;
  /** In the order in which they ended. */
  attempts: AttemptRow[];
  /** Finished tasks. */
  archive: Map<TaskId, ArchiveRow>;
  operations: Map<OperationId, OperationRow>;
  settingAudit: SettingAuditRow[];
}

/** task_definition: what is limited. */
export interface DefinitionRow {
  readonly definitionId: number;
  readonly name: string;
  /** The token string of seed 000; empty while there is no limit. */
  executionTokens: string;
  /** Grows with every grant. */
  tokenFence: number;
  /** What the code says. */
  settings: DefinitionSettings;
  /** What an operator says; "code": nothing, the code's limit holds. */
  operatorLimit: Limit | "code";
  isPaused: boolean;
  /** Of the code that registered last. */
  build: number;
  settingsHash: string;
}

/**
 * task_execution: one worker's stay. dead: declared so, but what it claimed isn't taken back yet.
 */
export interface ExecutionRow {
  readonly executionId: ExecutionId;
  readonly operationId: OperationId;
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
  /** The last `work` call that did something, so that its answer can be given again. */
  lastCall: { callNumber: number; fence: Fence | null; refused: TaskId[] };
  /** Runs a task that was lost twice, alone. */
  isSolo: boolean;
  /** In claim order. */
  claims: ClaimRow[];
}

/** A task held by an execution. */
export interface ClaimRow {
  readonly taskId: TaskId;
  readonly fence: Fence;
  readonly claimedAtMs: number;
  /** Not reported as started yet. */
  isSpare: boolean;
}

/** A place in the order of claims: priority, rank, id; lower first (P4). */
export interface Place {
  readonly priority: number;
  readonly rank: string;
  readonly taskId: TaskId;
}

/** task: an unfinished task. */
export interface TaskRow extends Place {
  readonly definitionId: number;
  readonly kind: string;
  readonly createdAtMs: number;
  groupId: number | null;
  /** Enqueued inside a user's transaction before the group existed: promotion makes it. */
  pendingGroup: GroupName | null;
  readonly dedupeKey: string | null;
  /** Of the code that enqueued it. */
  readonly build: number;
  readonly traceParent: string | null;
  failedCount: number;
  lostCount: number;
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
  readonly slots: number;
  readonly isPaused: boolean;
  /** Its order holds over retries, too. */
  readonly isStrict: boolean;
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
export interface GroupWaitingRow extends Place {
  readonly groupId: number;
  readonly definitionId: number;
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
  readonly executionId: ExecutionId;
  readonly claimedAtMs: number;
  readonly finishedAtMs: number;
  readonly durationMs: number | null;
  readonly outcome: "failed" | "cancelled" | "lost" | "continued";
  readonly error: string | null;
}

/** archive: a finished task. */
export interface ArchiveRow {
  readonly task: TaskRow;
  readonly outcome: "done" | "dead" | "cancelled";
  readonly finishedAtMs: number;
  readonly purgeAfterMs: number;
  /** Of the last attempt. */
  readonly executionId: ExecutionId;
  readonly fence: Fence;
  readonly durationMs: number | null;
  readonly result: string | null;
}

/** operation: the answer of a call, for its repeats (P6). */
export type OperationRow =
  | { readonly name: "enqueue_tasks"; readonly answer: EnqueueTasksAnswer }
  | { readonly name: "set_limit"; readonly answer: SetLimitAnswer };

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

/** A store without rows. */
export function emptyState(): ModelState {
  return {
    definitions: new Map(),
    executions: new Map(),
    tasks: new Map(),
    ready: [],
    scheduled: [],
    groups: new Map(),
    groupSlots: [],
    groupWaiting: [],
    dedupe: new Map(),
    attempts: [],
    archive: new Map(),
    operations: new Map(),
    settingAudit: [],
  };
}

/** What has numbers of its own. */
export type SequenceName = "definition" | "execution" | "task" | "group" | "fence";

/**
 * Gives numbers that grow: 1, 2, 3, .. per name. They aren't part of the state: what is undone
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
