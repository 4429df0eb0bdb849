import type { BatchId, OperationId, TaskId } from "../core/ids";
import type { Rate } from "../core/rate";
import type { Limit, SharedLimitStatus } from "./definitions";

/* What operators ask of tasks and groups, and what they are answered: inputs and answers of the store's methods of these names. */

export interface CancelTasksInput {
  /** 1..1000 */
  taskIds: readonly TaskId[];
  /** Kept as the error of the tasks that end here. */
  reason?: string;
}

export interface CancelTasksAnswer {
  /** Each task once, in input order. */
  results: {
    taskId: TaskId;
    /** requested: it runs or is on the move, and is asked to end. busy: locked at this moment, ask again. */
    outcome: "cancelled" | "requested" | "busy" | "gone";
    /** Of a task that is gone; null else. */
    state: "done" | "dead" | "cancelled" | "unknown" | null;
  }[];
  /** Definitions that got ready tasks. */
  woken: string[];
  /** Batches with more tasks to admit: call `pumpBatch`. */
  opening: BatchId[];
}

/** Some tasks, or the oldest ones of a definition that ended so. */
export type RedriveTasksInput =
  | { /** 1..1000 */ taskIds: readonly TaskId[] }
  | {
      name: string;
      kind?: string;
      outcome: "dead" | "cancelled";
      /** 1..1000 */
      most: number;
    };

export interface RedriveTasksAnswer {
  /** Each task once: ids in input order, found ones oldest first. */
  results: {
    taskId: TaskId;
    /** duplicate: another task holds its dedupe key, it stays. busy: locked at this moment. unfinished: it is a task already. */
    outcome: "redriven" | "duplicate" | "busy" | "unfinished" | "done" | "unknown";
  }[];
  /** Definitions that got ready tasks. */
  woken: string[];
}

export interface RescheduleTasksInput {
  /** 1..1000 */
  taskIds: readonly TaskId[];
  /** Milliseconds from now, or an instant; one that is past: due at once. */
  to: { runInMs: number } | { runAt: Date };
}

export interface RescheduleTasksAnswer {
  /** Each task once, in input order. */
  results: {
    taskId: TaskId;
    /** held: its wave isn't open. busy: on the move at this moment, ask again. */
    outcome: "rescheduled" | "running" | "held" | "busy" | "gone";
    /** Of a task that is gone; null else. */
    state: "done" | "dead" | "cancelled" | "unknown" | null;
  }[];
  /** Until the new instant; null: nothing was rescheduled. */
  nextDueMs: number | null;
  /** Those that got scheduled tasks. */
  definitions: string[];
  /** Those that got ready tasks by hand-over. */
  woken: string[];
}

export interface SetRateInput {
  name: string;
  changedBy: string;
  reason?: string;
  /** null: none, whatever the code says; "code": the code's rate again. */
  rate: Rate | null | "code";
}

export interface SetRateAnswer {
  status: "set" | "exists";
  /** In force; null: none. */
  oldRate: Rate | null;
  newRate: Rate | null;
  /** Tasks wait: a hint is due. */
  ready: boolean;
}

export interface SetSharedLimitInput {
  /** Of the shared limit; 1..200 characters. One that doesn't exist is made. */
  name: string;
  /** null: no limit; "code": the code's limit again. */
  limit: Limit | "code";
  operationId: OperationId;
  changedBy: string;
  reason?: string;
}

export interface SetSharedLimitAnswer {
  status: "set" | "created";
  /** undefined: it was made. */
  oldLimit: Limit | undefined;
  newLimit: Limit;
  /** Tokens held by all definitions together; of them above the new limit. */
  held: number;
  surplus: number;
  /** Definitions that draw from it and have ready tasks. */
  definitions: string[];
}

export interface ListSharedLimitsInput {
  /** Left out: all. */
  name?: string;
  /** 1..1000 */
  most: number;
}

/** A shared limit with those that draw from it. */
export interface SharedLimitReading extends SharedLimitStatus {
  codeLimit: Limit;
  /**
   * Those that draw from it, by name, and what each holds. `held` of the limit is more when an execution is no longer
   * kept that died with its tokens: the next asker frees them.
   */
  definitions: { name: string; held: number }[];
}

export interface SetGroupInput {
  /** The definition. */
  name: string;
  changedBy: string;
  reason?: string;
  /** 1..200 characters */
  groupKey: string;
  groupScope: "definition" | "global";
  /** 1..1000; left out: as it is, in a new group as the definition has it. */
  slots?: number;
  paused?: boolean;
  isStrict?: boolean;
}

export interface SetGroupAnswer {
  status: "created" | "set" | "exists";
  /** null in a new group. */
  old: GroupSettings | null;
  new: GroupSettings;
  /** Slots in use: maybe more than the new ones; nobody is stopped. */
  used: number;
  /** Counted up to 1,000. */
  waiting: number;
  /** Definitions that got ready tasks. */
  woken: string[];
}

export interface GroupSettings {
  slots: number;
  paused: boolean;
  strict: boolean;
}

export interface ListGroupsInput {
  /** Left out: all definitions' and the global ones. */
  name?: string;
  groupKey?: string;
  /** 1..1000 */
  most: number;
}

export interface GroupStatus extends GroupSettings {
  /** null: global. */
  definition: string | null;
  key: string;
  used: number;
  /** Counted up to 1,000. */
  waiting: number;
}
