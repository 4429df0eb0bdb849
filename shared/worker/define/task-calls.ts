import type { TaskId } from "../../core/ids";
import type { JsonPayload } from "../../core/json";
import type { ListableState } from "../../core/listable-states";
import type {
  CancelTasksAnswer,
  RedriveTasksAnswer,
  RescheduleTasksAnswer,
} from "../../ports/task-store";

/** Where a task stands at this instant. */
export interface TaskStatus {
  readonly taskId: TaskId;
  readonly definition: string;
  readonly kind: string;
  /** blocked: its wave isn't open. claimed: a worker has it. */
  readonly state: ListableState | "blocked";
  /** What the handler has told by `ctx.progress`; null: nothing, or the task isn't claimed. */
  readonly progress: {
    readonly done: number | null;
    readonly total: number | null;
    readonly text: string | null;
  } | null;
  /** Of a task that is done; `waitFor` has it with its type. */
  readonly result: JsonPayload | null;
  /** Of the last attempt that failed, or the reason of its cancel. */
  readonly error: string | null;
  /** Attempts that failed, those since the last redrive. */
  readonly failedCount: number;
  /** Its cancel was asked for, and its handler has heard it, or will. */
  readonly isCancelRequested: boolean;
  readonly createdAt: Date;
  /** null: it hasn't ended. */
  readonly endedAt: Date | null;
}

/** What became of one task that was to be cancelled. */
export type CancelledTask = CancelTasksAnswer["results"][number];
/** What became of one task that was to be redriven. */
export type RedrivenTask = RedriveTasksAnswer["results"][number];
/** What became of one task that was to be rescheduled. */
export type RescheduledTask = RescheduleTasksAnswer["results"][number];

/**
 * Tasks that exist. The right to add tasks is enough to `read` one. The others need the role `taskgate_operator` (`TaskgateOperator` on SQL
 * Server) as well, and throw StoreForbiddenError without it; the audit names the caller. Each may be called again: a task that
 * is where it was to go is told so.
 */
export interface TaskCalls {
  /**
   * Where a task stands: one read, which locks nothing. null: there is no such task, or none any more; one that has ended is kept as
   * long as `retain` of its queue says. Throws InvalidArgumentError for a text that is no id.
   */
  read(taskId: string): Promise<TaskStatus | null>;
  /**
   * Ends waiting tasks and asks running ones to end: their `ctx.signal` is aborted with the next heartbeat. 1..1000 ids; each task is
   * told once, in this order. `reason` becomes the error of the tasks that end here; at most 400 characters.
   */
  cancel(
    taskIds: string | readonly string[],
    options?: { reason?: string },
  ): Promise<CancelledTask[]>;
  /** Runs dead or cancelled tasks again, with the same ids and attempts from 0. As `cancel` else. */
  redrive(
    taskIds: string | readonly string[],
    options?: { reason?: string },
  ): Promise<RedrivenTask[]>;
  /**
   * Another instant for tasks that wait: exactly one of `runInMs`, 0..100 years from now by the database's clock, and `runAt`. As
   * `cancel` else.
   */
  reschedule(
    taskIds: string | readonly string[],
    options: { runInMs?: number; runAt?: Date; reason?: string },
  ): Promise<RescheduledTask[]>;
}
