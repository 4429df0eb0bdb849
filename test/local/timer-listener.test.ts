/** Schedules as Azure's NCRONTAB parser understands them. */
import { describe, expect, test } from "@jest/globals";
import { parseSchedule } from "../../shared/local/functions-host/timer-listener";

function nextRuns(schedule: string, from: string, count = 2): string[] {
  return parseSchedule(schedule)
    .nextRuns(count, new Date(from))
    .map((run) => run.toISOString());
}

describe("a schedule", () => {
  test("has six fields, in UTC", () => {
    expect(nextRuns("*/30 * * * * *", "2026-03-29T00:59:10Z")).toEqual([
      "2026-03-29T00:59:30.000Z",
      "2026-03-29T01:00:00.000Z",
    ]);
  });

  test("may have five fields, without seconds", () => {
    expect(nextRuns("30 9 * JUL *", "2026-01-01T00:00:00Z", 1)).toEqual([
      "2026-07-01T09:30:00.000Z",
    ]);
  });

  test("wants both day fields to match", () => {
    // Friday the 13th; cron dialects that take either would answer Friday the 2nd of January.
    expect(nextRuns("0 0 0 13 * FRI", "2026-01-01T00:00:00Z", 2)).toEqual([
      "2026-02-13T00:00:00.000Z",
      "2026-03-13T00:00:00.000Z",
    ]);
  });

  test.each(["0 0 0 L * *", "0 0 0 15W * *", "0 0 0 * * 7", "0 0 0 * * 5#2", "0 0 0 ? * MON"])(
    "%s is refused, because Azure refuses it",
    (schedule) => {
      expect(() => parseSchedule(schedule)).toThrow("not NCRONTAB");
    },
  );

  test.each(["00:00:30", "", "* * *"])("%j is refused: not six fields", (schedule) => {
    expect(() => parseSchedule(schedule)).toThrow("not a cron expression of six fields");
  });
});
