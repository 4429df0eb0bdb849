import { createRequire } from "node:module";
import type * as Croner from "croner";
import type { InvalidArgumentError } from "./errors";
import { messageOf } from "./foreign-value";
import { limits } from "./limits";
import { refusedField } from "./refused-field";
import { cleanText } from "./text";

/*
 * Instants of cron expressions in time zones. Daylight saving (docs/guides/schedules.md): an expression whose minute and
 * hour are plain (no `*`, no step) means times of the day: one that is left out comes at the first instant after the gap,
 * one that comes twice is taken once, the first time. Any other means intervals: they go on by real time.
 */

/** The policy for instants that weren't fired in time. */
export type MissedPolicy = "skip" | "once" | "all";

/** An expression with the zone that it is read in. */
export interface CronInZone {
  /** Five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  readonly cron: string;
  /** IANA name, like Europe/Berlin. */
  readonly timeZone: string;
}

/** What a due schedule is to do. */
export interface DueRuns {
  /** A task for each, ascending. */
  readonly runAts: Date[];
  /** The first one after those; null: never. */
  readonly nextRunAt: Date | null;
}

const form = /^(@(hourly|daily|weekly|monthly|yearly)|\S+( \S+){4})$/;
const minuteMs = 60_000;

/** Throws InvalidArgumentError naming field, value and the expected form, also when there is no next instant. */
export function checkCron(field: string, { cron, timeZone }: CronInZone): void {
  checkTimeZone(`${field}.timeZone`, timeZone);
  if (!form.test(cron) || cron.length > limits.nameLengthMax) {
    throw refused(
      `${field}.cron`,
      cron,
      `five fields with one blank between them${cron.split(" ").length === 6 ? ": it counts in minutes, without a field for seconds" : ""}`,
    );
  }
  let next: Date | null;
  try {
    next = nextRun({ cron, timeZone }, new Date("2026-01-01T00:00:00Z"));
  } catch (error) {
    throw refused(`${field}.cron`, cron, `a cron expression: ${reasonOf(error)}`);
  }
  if (next === null) throw refused(`${field}.cron`, cron, "an expression that some instant fits");
}

/** The library counts days and months from 0 in what it says of them. */
function reasonOf(error: unknown): string {
  return messageOf(error)
    .replace(/^CronPattern: /, "")
    .replace(/(?<=^Invalid value for (?:day|month): )-?\d+/, (said) => String(Number(said) + 1));
}

function checkTimeZone(field: string, timeZone: string): void {
  const expected = "the IANA name of a time zone, like `Europe/Berlin` or `UTC`";
  // Newer engines take offsets, too; those know no daylight saving and mean a fixed zone by mistake.
  if (!/^[A-Za-z]/.test(timeZone) || timeZone.length > limits.timeZoneLengthMax) {
    throw refused(field, timeZone, expected);
  }
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    throw refused(field, timeZone, expected);
  }
}

function refused(field: string, value: string, expected: string): InvalidArgumentError {
  return refusedField(field, `${expected} (${cleanText(value, 100)})`);
}

/** The first instant after the given one; null: none. Throws for what `checkCron` refuses. */
export function nextRun(schedule: CronInZone, after: Date): Date | null {
  return parse(schedule).nextRun(after);
}

/**
 * What to do about a schedule whose next instant `dueAt` has come, by the database's clock `now`.
 * all: every instant until now, at most 100; the rest is due still. once: the last of them. skip: the last of them, if it
 * isn't later than `limits.scheduleGraceMs`.
 */
export function dueRuns(
  schedule: CronInZone & { readonly missed: MissedPolicy },
  { dueAt, now }: { dueAt: Date; now: Date },
): DueRuns {
  const expression = parse(schedule);
  if (schedule.missed === "all") {
    const later = expression.nextRuns(limits.scheduleRunsMax, dueAt);
    const runAts = [dueAt, ...later].filter((at) => at <= now).slice(0, limits.scheduleRunsMax);
    return { runAts, nextRunAt: expression.nextRun(runAts.at(-1) ?? dueAt) };
  }
  // Instants are whole minutes; the library looks before the one it is given.
  const end = new Date(Math.floor(now.getTime() / minuteMs + 1) * minuteMs);
  const [last] = expression.previousRuns(1, end);
  const runAt = last === undefined || last < dueAt ? dueAt : last;
  const isMissed = now.getTime() - runAt.getTime() > limits.scheduleGraceMs;
  return {
    runAts: schedule.missed === "skip" && isMissed ? [] : [runAt],
    nextRunAt: expression.nextRun(runAt),
  };
}

/**
 * The first instant after `after` of a timer's schedule: NCRONTAB with six fields, in UTC, as Azure Functions reads it; null:
 * never. Throws an Error for a text that is none.
 */
export function nextTimerRun(schedule: string, after: Date): Date | null {
  const { Cron } = createRequire(__filename)("croner") as typeof Croner;
  const options = { mode: "6-part", domAndDow: true, timezone: "UTC", paused: true } as const;
  return new Cron(schedule, options).nextRun(after);
}

/** The library is loaded for the first expression: most processes never read one. */
function parse({ cron, timeZone }: CronInZone): Croner.Cron {
  const { Cron } = createRequire(__filename)("croner") as typeof Croner;
  return new Cron(cron, { timezone: timeZone, mode: "5-part", fixedTimeRule: "no-wildcard" });
}
