import type { TaskId } from "../core/ids";
import type { MissedPolicy } from "../core/cron";

/**
 * Schedules: tasks at the instants of a cron expression. The expression is computed outside the database (core/cron.ts);
 * the next instant stands in it, and whoever finds it due by the database's clock moves it on and enqueues in one
 * transaction: one task per instant, whatever the number of workers.
 */
export interface ScheduleStore {
  /** Writes what the code says of a definition's schedules, all of them. Idempotent by value. */
  setSchedules(input: SetSchedulesInput): Promise<SetSchedulesAnswer>;
  /** An operator pauses a schedule or lets it go on. Idempotent by value. */
  setSchedulePaused(input: SetSchedulePausedInput): Promise<SetSchedulePausedAnswer>;
  /** Enqueues what is due of a schedule. Idempotent by schedule and instant. */
  fireSchedule(input: FireScheduleInput): Promise<FireScheduleAnswer>;
  /** Schedules with their next instants, by definition and name. */
  listSchedules(input: ListSchedulesInput): Promise<ListSchedulesAnswer>;
}

export interface SetSchedulesInput {
  /** The definition. */
  name: string;
  /** An older one than the definition's changes nothing. */
  build: number;
  changedBy: string;
  /** 0..100; those that aren't named are removed. */
  schedules: readonly NewSchedule[];
}

export interface NewSchedule {
  /** 1..200 characters, each once per definition. */
  name: string;
  /** Of its tasks. */
  kind: string;
  /** 1..200 characters. */
  cron: string;
  /** IANA name, 1..100 characters. */
  timeZone: string;
  missed: MissedPolicy;
  /** JSON text of an object without blanks around it, at most 65,472 bytes; null: none. */
  payload: string | null;
  /** Group key of its tasks. */
  group: string | null;
  /** The first instant after `listSchedules`' `now`; it counts where the schedule is new or its expression changed. null: never. */
  nextRunAt: Date | null;
}

export interface SetSchedulesAnswer {
  status: "set" | "exists" | "outdated";
  /** Created, changed or removed. */
  changed: number;
  /** Until the definition's next instant. */
  nextDueMs: number | null;
}

export interface SetSchedulePausedInput {
  /** The definition. */
  name: string;
  schedule: string;
  paused: boolean;
  /** Where it goes on when it is resumed and its next instant has passed; null: never. */
  nextRunAt: Date | null;
  changedBy: string;
  reason?: string;
}

export interface SetSchedulePausedAnswer {
  status: "paused" | "resumed" | "exists";
  /** null while paused. */
  nextDueMs: number | null;
}

export interface FireScheduleInput {
  scheduleId: number;
  /** The next instant as the caller saw it. */
  expectedRunAt: Date;
  /** 0..100 due instants, ascending: a task for each. */
  runAts: readonly Date[];
  /** The first one after those; null: never. */
  nextRunAt: Date | null;
}

export interface FireScheduleAnswer {
  /** stale: fired, changed or removed since, or somebody is at it just now. early: not due by the database's clock. */
  status: "fired" | "stale" | "early" | "paused";
  /** In order of the instants. */
  taskIds: TaskId[];
  nextDueMs: number | null;
}

export interface ListSchedulesInput {
  /** Left out: all definitions'. */
  name?: string;
  /** 1..1000 */
  most: number;
}

export interface ListSchedulesAnswer {
  /** The database's clock: next instants are computed from it. */
  now: Date;
  schedules: ScheduleStatus[];
}

/** A schedule's next instant, and what the one after it is computed from. */
export interface ScheduledInstant {
  id: number;
  definition: string;
  name: string;
  cron: string;
  timeZone: string;
  missed: MissedPolicy;
  /** ISO-8601 UTC */
  runAt: string;
  /** Until then by the database's clock; negative: it is late. */
  inMs: number;
}

export interface ScheduleStatus extends Omit<ScheduledInstant, "runAt" | "inMs"> {
  kind: string;
  paused: boolean;
  /** null: never again. */
  runAt: string | null;
  inMs: number | null;
  /** The last instant that was fired. */
  lastRunAt: string | null;
  group: string | null;
  /** JSON text. */
  payload: string | null;
}
