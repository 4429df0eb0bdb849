/** Timer triggers of the local Functions host; schedules as Azure's NCRONTAB parser reads them. */
import { describe, expect, test } from "@jest/globals";
import { setup, useHosts } from "./fixtures/host-setup";
import { parseSchedule } from "../../shared/local/functions-host/timer-listener";

useHosts();

function nextRuns(schedule: string, from: string, count = 2): string[] {
  return parseSchedule(schedule)
    .nextRuns(count, new Date(from))
    .map((run) => run.toISOString());
}

describe("a schedule", () => {
  test("a schedule has six fields, in UTC", () => {
    expect(nextRuns("*/30 * * * * *", "2026-03-29T00:59:10Z")).toEqual([
      "2026-03-29T00:59:30.000Z",
      "2026-03-29T01:00:00.000Z",
    ]);
  });

  test("a schedule may have five fields, without seconds", () => {
    expect(nextRuns("30 9 * JUL *", "2026-01-01T00:00:00Z", 1)).toEqual([
      "2026-07-01T09:30:00.000Z",
    ]);
  });

  test("a schedule wants both day fields to match", () => {
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

describe("timers", () => {
  test("a timer runs on its schedule and at the start if it says so", async () => {
    const { host } = await setup({ env: { APP_TIMERS: "1", TICK_SCHEDULE: "* * * * * *" } });
    const [startup] = await host.events("startup");
    expect(startup["timer"]).toMatchObject({
      isPastDue: false,
      schedule: { adjustForDST: true },
      scheduleStatus: { next: expect.stringMatching(/^\d{4}-01-01T00:00:00.000Z$/) },
    });
    const ticks = await host.events("tick", 3);
    expect(new Set(ticks.map(({ atMs }) => Math.floor(Number(atMs) / 1_000))).size).toBe(3);
    for (const { timer } of ticks) {
      // Below one minute there is no monitor and so no status, as on Azure.
      expect(timer).toEqual({
        isPastDue: false,
        schedule: { adjustForDST: true },
        scheduleStatus: null,
      });
    }
  });

  test("a run that takes longer than the schedule is not overlapped", async () => {
    const env = { APP_TIMERS: "1", TICK_SCHEDULE: "* * * * * *", TICK_GATE: "tick" };
    const { host, send } = await setup({ env });
    await host.events("tick");
    // The proof that time has passed: a message hidden for two ticks.
    await send({ taskId: "t" }, 2);
    await host.events("worked");
    expect(host.eventNames("tick")).toHaveLength(1);
    host.send({ kind: "open", gate: "tick" });
    await host.events("tick", 2);
  });
});
