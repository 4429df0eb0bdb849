import { describe, expect, test } from "@jest/globals";
import { besideHolderMs, countPermits, intervalUs } from "../../../shared/core/rate";
import type { Rate } from "../../../shared/core/rate";
import { createSeededRandom } from "../../../shared/testing/seeded-random";

interface Crowd {
  readonly rate: Rate;
  readonly workers: number;
  /** Each call reaches the bucket up to so much later than it was due, ms. */
  readonly lateMs: number;
  /** A worker that got a permit asks again after this time, ms. */
  readonly taskMs: number;
  readonly seconds: number;
}

/** Workers that ask whenever they were told to, each for one task at a time. */
function play({ rate, workers, lateMs, taskMs, seconds }: Crowd): {
  calls: number;
  starts: number;
} {
  const random = createSeededRandom(7);
  const dueUs = Array.from({ length: workers }, () => Math.round(random.fraction() * 50_000));
  let bucket = { nextFreeAtUs: 0, turnAtUs: null as number | null };
  let calls = 0;
  let starts = 0;
  for (;;) {
    const nowUs = Math.min(...dueUs);
    if (nowUs > seconds * 1_000_000) return { calls, starts };
    const worker = dueUs.indexOf(nowUs);
    const permits = countPermits(rate, { ...bucket, nowUs }, 1);
    calls += 1;
    starts += permits.allowed;
    bucket = {
      nextFreeAtUs:
        permits.allowed === 1 ? permits.fromUs + permits.intervalUs : bucket.nextFreeAtUs,
      turnAtUs: permits.turnAtUs,
    };
    const pauseMs = permits.allowed === 1 ? taskMs : (permits.retryInMs ?? 0);
    dueUs[worker] = nowUs + Math.round((pauseMs + random.fraction() * lateMs) * 1_000) + 1;
  }
}

const tenPerSecond: Rate = { count: 10, periodMs: 1_000, burst: 1 };

test.each([
  { workers: 50, lateMs: 0, taskMs: 50 },
  { workers: 50, lateMs: 8, taskMs: 50 },
  { workers: 50, lateMs: 8, taskMs: 4_000 },
  { workers: 200, lateMs: 8, taskMs: 500 },
  { workers: 12, lateMs: 8, taskMs: 900 },
  { workers: 5, lateMs: 3, taskMs: 1 },
])(
  "a crowd of $workers, calls up to $lateMs ms late, tasks of $taskMs ms: the rate is used up by few calls",
  (crowd) => {
    const seconds = 60;
    const { calls, starts } = play({ rate: tenPerSecond, seconds, ...crowd });
    // Of a burst of one start nothing is saved up: each permit that is taken late moves those behind it.
    const ideal = (seconds * 1_000_000) / (intervalUs(tenPerSecond) + crowd.lateMs * 1_000);
    expect(starts).toBeGreaterThanOrEqual(0.95 * ideal);
    // A worker that waits for more than a second would give its tokens up, so that a crowd of 200 asks once a second each.
    expect(calls / seconds).toBeLessThanOrEqual(Math.max(100, 2 * crowd.workers));
  },
);

describe("a rate whose row another call holds", () => {
  const nowUs = 1_000_000_000;
  const at = (freeInMs: number, turnInMs: number | null) => ({
    nowUs,
    nextFreeAtUs: nowUs + freeInMs * 1_000,
    turnAtUs: turnInMs === null ? null : nowUs + turnInMs * 1_000,
  });
  const drawn = (rate: Rate, state: ReturnType<typeof at>) =>
    [0, 0.5, 0.999].map((fraction) => besideHolderMs(rate, state, fraction));

  test("a held rate sends a lone caller to the permit behind the next one", () => {
    expect(drawn(tenPerSecond, at(0, null))).toEqual([105, 155, 204]);
    expect(drawn(tenPerSecond, at(40, null))).toEqual([145, 195, 244]);
  });

  test("a held rate spreads callers over the turns of a crowd", () => {
    expect(drawn(tenPerSecond, at(40, 600))).toEqual([145, 425, 704]);
  });

  test("a held rate tells a second at most, unless the permit itself comes later", () => {
    expect(drawn(tenPerSecond, at(40, 1_500))).toEqual([145, 575, 1_000]);
    const slow: Rate = { count: 1, periodMs: 60_000, burst: 1 };
    expect(drawn(slow, at(20_000, null))).toEqual([20_000, 20_000, 20_000]);
    // The holder may leave the permit.
    expect(drawn(slow, at(0, null))).toEqual([505, 755, 1_000]);
  });

  test("a held rate with permits left lets a caller come again at once", () => {
    expect(drawn({ ...tenPerSecond, burst: 3 }, at(0, null))).toEqual([5, 13, 20]);
    const fast: Rate = { count: 1_000, periodMs: 1_000, burst: 100 };
    expect(drawn(fast, at(0, null))).toEqual([5, 13, 20]);
  });
});
