import { describe, expect, test } from "@jest/globals";
import { readStatistics, readSummaries } from "../../../shared/admin/statistics-report";
import { durationBucket } from "../../../shared/core/duration-buckets";
import { realRandom } from "../../../shared/platform/real-clock";
import type { StatisticPeriod, TaskStore } from "../../../shared/ports/task-store";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { overriding } from "../worker/worker-bench";

const countedAt = new Date("2026-11-22T03:12:30.000Z");

function period(changes: Partial<StatisticPeriod>): StatisticPeriod {
  return {
    definition: "mail",
    at: "2026-11-22T03:10:00.000Z",
    claimed: 0,
    done: 0,
    failed: 0,
    dead: 0,
    lost: 0,
    ranMs: 0,
    heldMs: 0,
    limit: 4,
    ready: 0,
    nextAgeMs: 0,
    ran: [],
    waited: [],
    ...changes,
  };
}

function storeOf(periods: StatisticPeriod[]): { store: TaskStore; asked: unknown[] } {
  const asked: unknown[] = [];
  const clock = { now: () => countedAt.getTime() };
  const store = overriding(new MemoryTaskStore({ clock, random: realRandom }), {
    readStatistics: async (input) => {
      asked.push(input);
      return { now: countedAt, countedAt, periods };
    },
  });
  return { store, asked };
}

describe("statistics of a definition", () => {
  test.each([
    ["hour", { grain: 1, max: 60 }, 60_000],
    ["day", { grain: 10, max: 144 }, 600_000],
    ["week", { grain: 60, max: 168 }, 3_600_000],
  ] as const)("a window of %s reads %j", async (window, input, periodMs) => {
    const { store, asked } = storeOf([]);
    const report = await readStatistics({ store }, { definition: "mail", window });
    expect(asked).toEqual([{ name: "mail", ...input }]);
    expect(report).toMatchObject({ periodMs, periodCount: input.max, periods: [] });
    expect(report.total).toMatchObject({ done: 0, perMinute: 0, tokenUse: null, nextAgeMs: 0 });
  });

  test("counts of all periods are added up, and durations told of all together", async () => {
    const { store } = storeOf([
      period({ done: 30, ranMs: 30_000, heldMs: 60_000, ran: [[durationBucket(20), 30]] }),
      period({
        at: "2026-11-22T03:11:00.000Z",
        done: 90,
        failed: 2,
        dead: 1,
        ranMs: 60_000,
        heldMs: 60_000,
        nextAgeMs: 900,
        ran: [[durationBucket(300), 90]],
      }),
    ]);
    const { total } = await readStatistics({ store }, { definition: "mail", window: "hour" });
    expect(total).toMatchObject({ done: 120, failed: 2, dead: 1, perMinute: 2, nextAgeMs: 900 });
    expect(total.tokenUse).toBeCloseTo(0.75);
    expect(total.ran.p50Ms).toBeGreaterThanOrEqual(300);
    expect(total.waited).toEqual({ p50Ms: null, p95Ms: null, p99Ms: null });
  });

  test("held tokens are an average over the time that was counted, also of the current period", async () => {
    const { store } = storeOf([
      period({ heldMs: 120_000 }),
      period({ at: "2026-11-22T03:12:00.000Z", heldMs: 90_000, limit: -1 }),
    ]);
    const { periods } = await readStatistics({ store }, { definition: "mail", window: "hour" });
    expect(periods.map(({ held, limit }) => ({ held, limit }))).toEqual([
      { held: 2, limit: 4 },
      { held: 3, limit: null },
    ]);
  });
});

describe("the last two hours of all definitions", () => {
  test("each definition has a number per ten minutes of the last two hours, the current ones last", async () => {
    const { store } = storeOf([
      period({ at: "2026-11-22T03:10:00.000Z", done: 5, failed: 1, lost: 2 }),
      period({ at: "2026-11-22T01:20:00.000Z", done: 7 }),
      period({ at: "2026-11-22T01:10:00.000Z", done: 9 }),
    ]);
    expect(await readSummaries({ store })).toEqual([
      {
        definition: "mail",
        done: [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5],
        failed: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3],
      },
    ]);
  });
});
