import { asTaskId } from "../../core/ids";
import type { MissedPolicy } from "../../core/cron";
import { limits } from "../../core/limits";
import { checkInteger, checkKey, cleanText } from "../../core/text";
import { checkInstant, checkInt, checkJsonContainer, checkName } from "./checks";
import { columns, int, intOrNull, json, oneOf, text } from "./columns";
import { operationsOf } from "./operation";
import { cleanOperator } from "./operator";
import type { OperatorInput } from "./operator";

/* ---- Schedules: tasks at the instants of a cron expression ---- */

/**
 * Tasks at the instants of a cron expression. The expression is computed outside the database (core/cron.ts), and the next
 * instant stands in it. A process that finds it due by the database's clock moves it on and enqueues in one transaction:
 * one task per instant, for any number of workers.
 */
export interface ScheduleOperations {
  /** Writes what the code says of a definition's schedules, all of them. Idempotent by value. */
  setSchedules(input: SetSchedulesInput): Promise<SetSchedulesAnswer>;
  /** An operator pauses a schedule or lets it go on. Idempotent by value. */
  setSchedulePaused(input: SetSchedulePausedInput): Promise<SetSchedulePausedAnswer>;
  /** Enqueues the due tasks of a schedule. Idempotent by schedule and instant. */
  fireSchedule(input: FireScheduleInput): Promise<FireScheduleAnswer>;
  /** Schedules with their next instants, by definition as registered, then name. */
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

const set = columns({
  status: oneOf("set", "exists", "outdated"),
  /** Created, changed or removed. */
  changed: int,
  /** Until the definition's next instant. */
  nextDueMs: intOrNull,
});
/** Answer of `setSchedules`. */
export type SetSchedulesAnswer = ReturnType<typeof set>;

export interface SetSchedulePausedInput extends OperatorInput {
  schedule: string;
  paused: boolean;
  /** Where it goes on when it is resumed and its next instant has passed; null: never. */
  nextRunAt: Date | null;
  /** The pause is part of a stop of everything: `listStopped` tells so. Default: it is the operator's own. */
  isStop?: boolean;
  /** Only if it is so now, else the answer is a conflict; left out: either. */
  expectedPaused?: boolean;
}

const paused = columns({
  /** conflict: it isn't as expected; nothing was written. */
  status: oneOf("paused", "resumed", "exists", "conflict"),
  /** null while paused. */
  nextDueMs: intOrNull,
});
/** Answer of `setSchedulePaused`. */
export type SetSchedulePausedAnswer = ReturnType<typeof paused>;

export interface FireScheduleInput {
  scheduleId: number;
  /** The next instant as the caller saw it. */
  expectedRunAt: Date;
  /** 0..100 due instants, ascending: a task for each. */
  runAts: readonly Date[];
  /** The first one after those; null: never. */
  nextRunAt: Date | null;
}

const fired = columns({
  /** stale: fired, changed or removed since, or another call fires it now. early: not due by the database's clock. */
  status: oneOf("fired", "stale", "early", "paused"),
  /** In order of the instants. */
  taskIds: (row, column) => json<string[]>(row, column).map(asTaskId),
  nextDueMs: intOrNull,
});
/** Answer of `fireSchedule`. */
export type FireScheduleAnswer = ReturnType<typeof fired>;

export interface ListSchedulesInput {
  /** Left out: all definitions'. */
  name?: string;
  /** 1..1000 */
  max: number;
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

const operation = operationsOf<ScheduleOperations>();

/** Procedure `set_schedules`. */
export const setSchedules = operation("setSchedules", {
  right: "worker",
  parameters: { name: "text", build: "bigint", schedules: "json", changedBy: "text" },
  check: (input) => {
    checkSchedules(input);
    return { ...input, changedBy: cleanText(input.changedBy, limits.nameLengthMax) };
  },
  decode: set,
});

/** Procedure `set_schedule_paused`. */
export const setSchedulePaused = operation("setSchedulePaused", {
  right: "operator",
  parameters: {
    name: "text",
    schedule: "text",
    paused: "boolean",
    nextRunAt: "instant",
    changedBy: "text",
    reason: "text",
    isStop: "boolean",
    expectedPaused: "boolean",
  },
  check: (input) => {
    checkKey("schedule", input.schedule);
    checkInstant("next_run_at", input.nextRunAt);
    return cleanOperator(input);
  },
  bind: ({ isStop = false }) => ({ isStop }),
  decode: paused,
});

/** Procedure `fire_schedule`. */
export const fireSchedule = operation("fireSchedule", {
  right: "worker",
  parameters: {
    scheduleId: "int",
    expectedRunAt: "instant",
    runAts: "json",
    nextRunAt: "instant",
  },
  // Instants that are some; their order is SQL's.
  check: (input) => {
    checkInt("schedule_id", input.scheduleId);
    checkInstant("expected_run_at", input.expectedRunAt);
    checkInstant("next_run_at", input.nextRunAt);
    for (const runAt of input.runAts) checkInstant("run_ats", runAt);
    return input;
  },
  decode: fired,
});

/** Procedure `list_schedules`. */
export const listSchedules = operation("listSchedules", {
  right: "worker",
  parameters: { name: "text", max: "int" },
  decode: (row) => ({
    now: new Date(text(row, "nowAt")),
    schedules: json<ScheduleStatus[]>(row, "schedules"),
  }),
});

/** A definition's schedules: names, numbers, instants, and payloads that are the text of a JSON object. */
function checkSchedules(input: SetSchedulesInput): void {
  checkName(input.name);
  checkInteger("build", input.build, { min: 0, max: Number.MAX_SAFE_INTEGER });
  input.schedules.forEach((schedule, index) => {
    const at = `schedules[${String(index)}]`;
    checkKey(`${at}.name`, schedule.name);
    checkKey(`${at}.kind`, schedule.kind);
    checkKey(`${at}.cron`, schedule.cron);
    checkKey(`${at}.timeZone`, schedule.timeZone);
    if (schedule.group !== null) checkKey(`${at}.group`, schedule.group);
    if (schedule.payload !== null) checkJsonContainer(`${at}.payload`, schedule.payload);
    checkInstant(`${at}.nextRunAt`, schedule.nextRunAt);
  });
}
