import { describe, expect, test } from "@jest/globals";
import { checkCron, dueRuns, nextRun } from "../../../shared/core/cron";
import type { CronInZone, MissedPolicy } from "../../../shared/core/cron";
import { InvalidArgumentError } from "../../../shared/core/errors";

// Goal: instants through daylight saving are what the guide says. Method: every minute of the days around a change is
// turned into local time by Intl, which knows nothing of cron; what fits is compared with what the product computes.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Time of day and weekday, as the zone's clocks show it. */
interface LocalTime {
  readonly day: string;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

function localTimes(timeZone: string): (atMs: number) => LocalTime {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
  const known = new Map<number, LocalTime>();
  const read = (atMs: number): LocalTime => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
    const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? "";
    return {
      day: `${part("year")}-${part("month")}-${part("day")}`,
      weekday: ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].indexOf(part("weekday")),
      hour: Number(part("hour")),
      minute: Number(part("minute")),
    };
  };
  return (atMs) => {
    const time = known.get(atMs) ?? read(atMs);
    known.set(atMs, time);
    return time;
  };
}

const readers = new Map<string, (atMs: number) => LocalTime>();

/** One reader of each zone: formatting is slow. */
function localIn(timeZone: string): (atMs: number) => LocalTime {
  const reader = readers.get(timeZone) ?? localTimes(timeZone);
  readers.set(timeZone, reader);
  return reader;
}

/** Hours, minutes and weekdays that an expression names; null: any. */
interface Times {
  readonly minutes: readonly number[];
  readonly hours: readonly number[] | null;
  readonly weekdays?: readonly number[];
}

interface Example extends Times {
  readonly cron: string;
}

/** Those that name times of the day. */
const plain: readonly Example[] = [
  { cron: "30 2 * * *", minutes: [30], hours: [2] },
  { cron: "0 2 * * *", minutes: [0], hours: [2] },
  { cron: "0,45 1-3 * * *", minutes: [0, 45], hours: [1, 2, 3] },
  { cron: "59 23 * * *", minutes: [59], hours: [23] },
  { cron: "15 0,2 * * 0", minutes: [15], hours: [0, 2], weekdays: [0] },
];
/** Those that mean intervals. */
const steps: readonly Example[] = [
  { cron: "*/15 * * * *", minutes: [0, 15, 30, 45], hours: null },
  { cron: "0 * * * *", minutes: [0], hours: null },
  { cron: "20 * * * 0", minutes: [20], hours: null, weekdays: [0] },
];

/** Zones with a day around which to look: forward and back, an hour and half of one, at midnight, and none. */
const changes: readonly [timeZone: string, day: string][] = [
  ["Europe/Berlin", "2026-03-29"],
  ["Europe/Berlin", "2026-10-25"],
  ["America/New_York", "2026-03-08"],
  ["America/New_York", "2026-11-01"],
  ["Australia/Lord_Howe", "2026-04-05"],
  ["Australia/Lord_Howe", "2026-10-04"],
  ["America/Sao_Paulo", "2018-11-04"],
  ["Asia/Kolkata", "2026-03-29"],
  ["UTC", "2026-03-29"],
];

/** Every instant of the four days around that the expression means, by looking at each minute. */
function expectedRuns(times: Times, timeZone: string, fromMs: number): string[] {
  const localAt = localIn(timeZone);
  const found: number[] = [];
  const seen = new Set<string>();
  const isPlain = times.hours !== null;
  let before = localAt(fromMs - minuteMs);
  for (let atMs = fromMs; atMs < fromMs + 96 * hourMs; atMs += minuteMs) {
    const now = localAt(atMs);
    const fits = ({ hour, minute, weekday }: LocalTime): boolean =>
      times.minutes.includes(minute) &&
      (times.hours === null || times.hours.includes(hour)) &&
      (times.weekdays === undefined || times.weekdays.includes(weekday));
    const skipped = isPlain ? minutesBetween(before, now).filter(fits) : [];
    const key = JSON.stringify(now);
    const isRepeat = isPlain && seen.has(key);
    if ((fits(now) && !isRepeat) || skipped.length > 0) found.push(atMs);
    seen.add(key);
    before = now;
  }
  return found.map((atMs) => new Date(atMs).toISOString());
}

/** Local minutes that the clocks left out between two that follow each other. */
function minutesBetween(before: LocalTime, now: LocalTime): LocalTime[] {
  const minuteOf = ({ day, hour, minute }: LocalTime): number =>
    Date.parse(`${day}T00:00:00Z`) / minuteMs + hour * 60 + minute;
  const left: LocalTime[] = [];
  for (let minute = minuteOf(before) + 1; minute < minuteOf(now); minute += 1) {
    const at = new Date(minute * minuteMs);
    left.push({
      day: at.toISOString().slice(0, 10),
      weekday: at.getUTCDay(),
      hour: at.getUTCHours(),
      minute: at.getUTCMinutes(),
    });
  }
  return left;
}

/** The same span by the product: one instant after the other. */
function computedRuns(schedule: CronInZone, fromMs: number): string[] {
  const runs: string[] = [];
  let at = nextRun(schedule, new Date(fromMs - 1));
  while (at !== null && at.getTime() < fromMs + 96 * hourMs) {
    runs.push(at.toISOString());
    at = nextRun(schedule, at);
  }
  return runs;
}

describe.each(changes)("around a change of clocks: %s, %s", (timeZone, day) => {
  const fromMs = Date.parse(`${day}T00:00:00Z`) - 48 * hourMs;

  test.each([...plain, ...steps].map((example) => [example.cron, example] as const))(
    "the schedule %s runs as cron does around the change",
    (cron, example) => {
      expect(computedRuns({ cron, timeZone }, fromMs)).toEqual(
        expectedRuns(example, timeZone, fromMs),
      );
    },
  );

  test.each([...plain, ...steps])(
    "a search back finds the instants that a search ahead does: $cron",
    ({ cron }) => {
      const runs = computedRuns({ cron, timeZone }, fromMs).map((text) => new Date(text));
      const [first] = runs;
      if (first === undefined) throw new Error("Expected an instant");
      for (const [index, run] of runs.entries()) {
        if (runs.length > 20 && index % 9 > 0) continue;
        for (const lateMs of [0, 1, minuteMs - 1]) {
          const now = new Date(run.getTime() + lateMs);
          const due = dueRuns({ cron, timeZone, missed: "once" }, { dueAt: first, now });
          expect(due.runAts).toEqual([run]);
          const next = runs[index + 1];
          if (next !== undefined) expect(due.nextRunAt).toEqual(next);
        }
      }
    },
  );
});

describe("due instants", () => {
  const hourly = { cron: "0 * * * *", timeZone: "UTC" };
  const at = (text: string): Date => new Date(`2026-05-01T${text}Z`);
  const due = (missed: MissedPolicy, dueAt: string, now: string) =>
    dueRuns({ ...hourly, missed }, { dueAt: at(dueAt), now: at(now) });

  test.each(["skip", "once", "all"] as const)(
    "a schedule that is in time has the one instant (%s)",
    (missed) => {
      expect(due(missed, "08:00:00", "08:00:00")).toEqual({
        runAts: [at("08:00:00")],
        nextRunAt: at("09:00:00"),
      });
      expect(due(missed, "08:00:00", "08:05:00").runAts).toEqual([at("08:00:00")]);
    },
  );

  test("a schedule fires after an outage for none, the last, or all of the instants", () => {
    const nextRunAt = at("12:00:00");
    expect(due("skip", "08:00:00", "11:30:00")).toEqual({ runAts: [], nextRunAt });
    expect(due("skip", "08:00:00", "11:05:00")).toEqual({ runAts: [at("11:00:00")], nextRunAt });
    expect(due("skip", "08:00:00", "11:05:00.001")).toEqual({ runAts: [], nextRunAt });
    expect(due("once", "08:00:00", "11:30:00")).toEqual({ runAts: [at("11:00:00")], nextRunAt });
    expect(due("all", "08:00:00", "11:30:00")).toEqual({
      runAts: [8, 9, 10, 11].map((hour) => at(`${String(hour).padStart(2, "0")}:00:00`)),
      nextRunAt,
    });
  });

  test("due instants come at most 100 at a time; the rest is due still", () => {
    const minutely = { cron: "* * * * *", timeZone: "UTC", missed: "all" } as const;
    const { runAts, nextRunAt } = dueRuns(minutely, { dueAt: at("08:00:00"), now: at("12:00:00") });
    expect(runAts).toHaveLength(100);
    expect(runAts.at(-1)).toEqual(at("09:39:00"));
    expect(nextRunAt).toEqual(at("09:40:00"));
  });
});

describe("an expression or a zone that can't be used", () => {
  test.each([
    ["", "UTC", "schedule.cron: expected five fields with one blank between them ()"],
    ["* * * *", "UTC", "schedule.cron: expected five fields"],
    ["* * * * * *", "UTC", "without a field for seconds (* * * * * *)"],
    ["2026-01-01T00:00:00Z", "UTC", "schedule.cron: expected five fields"],
    ["@reboot", "UTC", "schedule.cron: expected five fields"],
    [
      "61 * * * *",
      "UTC",
      "schedule.cron: expected a cron expression: Invalid value for minute: 61",
    ],
    ["* * 0 * *", "UTC", "schedule.cron: expected a cron expression: Invalid value for day: 0"],
    ["* * * 13 *", "UTC", "schedule.cron: expected a cron expression: Invalid value for month: 13"],
    ["0 0 30 2 *", "UTC", "schedule.cron: expected an expression that some instant fits"],
    ["* * * * *", "Mars/Olympus", "schedule.timeZone: expected the IANA name of a time zone"],
    ["* * * * *", "+02:00", "schedule.timeZone: expected the IANA name of a time zone"],
    ["* * * * *", "", "schedule.timeZone: expected the IANA name of a time zone"],
  ])("the schedule %p in %p is refused", (cron, timeZone, message) => {
    expect(() => {
      checkCron("schedule", { cron, timeZone });
    }).toThrow(InvalidArgumentError);
    expect(() => {
      checkCron("schedule", { cron, timeZone });
    }).toThrow(message);
  });

  test("other schedules still fire beside one that can't be used", () => {
    for (const cron of ["@daily", "0 0 29 2 *", "*/5 8-17 * * MON-FRI", "0 12 L * *"])
      checkCron("schedule", { cron, timeZone: "America/New_York" });
  });
});
