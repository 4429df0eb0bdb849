import { describe, expect, test } from "@jest/globals";
import { durationBucket } from "../../shared/core/duration-buckets";
import type { StatisticPeriod } from "../../shared/ports/task-store";
import { at, define, done, enqueue, only, setLimit, startWorker } from "../support/builders";
import type { Worker } from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { periodsOf, ranOf, rollUp, sumOf } from "./statistic-periods";

const minuteMs = 60_000;
/** Executions that began within it are looked at again by the next round. */
const settledAfterMs = 11_000;

/** So many tasks end well, each after this time. */
async function complete(worker: Worker, count: number, durationMs: number): Promise<void> {
  const tasks = await worker.claim(count);
  expect(tasks).toHaveLength(count);
  await worker.work({ done: tasks.map((task) => done(task, { durationMs })) });
}

/** Which executions, tasks and periods a round of the statistics looks at. */
export function describeStatisticRounds(setup: StoreSetup): void {
  describe("a round of the statistics", () => {
    const open = useStore(setup);

    test("a round of the statistics counts several definitions apart, with their limits, ready tasks and durations", async () => {
      const { store } = open();
      const small = await define(store, { limit: 4 }, "rounds-a");
      const large = await define(store, { limit: 9 }, "rounds-b");
      await enqueue(store, small, 3);
      await enqueue(store, large, 7);
      const first = await startWorker(store, small, { want: 2 });
      const second = await startWorker(store, large, { want: 4 });
      await complete(first, 2, 3);
      await complete(second, 1, 5_000);
      await second.fail(await second.claim(1), { as: "dead" });
      await rollUp(store);
      expect(only(await periodsOf(store, small))).toMatchObject({
        done: 2,
        dead: 0,
        limit: 4,
        ready: 1,
        ranMs: 6,
        ran: [[durationBucket(3), 2]],
      });
      expect(only(await periodsOf(store, large))).toMatchObject({
        done: 1,
        dead: 1,
        limit: 9,
        ready: 5,
        ranMs: 5_000,
        ran: [[durationBucket(5_000), 1]],
      });
    });

    test("a round of the statistics adds to what earlier rounds of its minute counted, and keeps the greatest backlog and age", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8, lostMax: 0, leaseMs: 10_000 });
      await enqueue(store, name, 5);
      const lost = await startWorker(store, name, { want: 1 });
      await lost.claim(1);
      await opened.advance(settledAfterMs);
      await store.reclaimExpired({ max: 10 });
      const worker = await startWorker(store, name, { want: 4 });
      await complete(worker, 1, 5);
      await worker.fail(await worker.claim(1), { as: "failed" });
      await rollUp(store);
      const before = await periodsOf(store, name);
      await complete(worker, 1, 7);
      await worker.fail(await worker.claim(1), { as: "dead" });
      await rollUp(store);
      const after = await periodsOf(store, name);
      const sums = (periods: readonly StatisticPeriod[]): Record<string, number> => ({
        claimed: sumOf(periods, "claimed"),
        done: sumOf(periods, "done"),
        failed: sumOf(periods, "failed"),
        dead: sumOf(periods, "dead"),
        lost: sumOf(periods, "lost"),
        ranMs: sumOf(periods, "ranMs"),
      });
      expect(sums(before)).toEqual({ claimed: 3, done: 1, failed: 1, dead: 1, lost: 1, ranMs: 5 });
      expect(sums(after)).toEqual({ claimed: 5, done: 2, failed: 2, dead: 2, lost: 1, ranMs: 12 });
      expect(sumOf(after, "heldMs")).toBeGreaterThanOrEqual(sumOf(before, "heldMs"));
      const most = (periods: readonly StatisticPeriod[]): [number, number] => [
        Math.max(...periods.map(({ ready }) => ready)),
        Math.max(...periods.map(({ nextAgeMs }) => nextAgeMs)),
      ];
      expect(most(after)).toEqual(most(before));
      expect(most(after)[0]).toBe(2);
    });

    test("a round of the statistics remembers of an open execution all that it has counted", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8, retryAttempts: 5 });
      await enqueue(store, name, 4);
      const worker = await startWorker(store, name, { want: 2 });
      await complete(worker, 1, 9);
      await worker.fail(await worker.claim(1), { as: "failed" });
      await worker.fail(await worker.claim(1), { as: "dead" });
      await rollUp(store);
      const counted = await periodsOf(store, name);
      for (let round = 0; round < 3; round += 1) {
        await opened.advance(settledAfterMs);
        await rollUp(store);
      }
      const periods = await periodsOf(store, name);
      for (const member of ["claimed", "done", "failed", "dead", "lost", "ranMs"] as const)
        expect([member, sumOf(periods, member)]).toEqual([member, sumOf(counted, member)]);
      // Two tokens were held over the three rounds.
      const heldMs = sumOf(periods, "heldMs") - sumOf(counted, "heldMs");
      expect(heldMs).toBeGreaterThanOrEqual(3 * 2 * settledAfterMs);
      expect(heldMs).toBeLessThan(3 * 2 * settledAfterMs + 2_000);
    });

    test("a round of the statistics counts what each round adds to an open execution once, whatever it is", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8, retryAttempts: 5, lostMax: 0, leaseMs: 2_000 });
      await enqueue(store, name, 6);
      const lost = await startWorker(store, name, { want: 1 });
      await lost.claim(1);
      await rollUp(store);
      await opened.advance(2_100);
      await store.reclaimExpired({ max: 10 });
      const worker = await startWorker(store, name, { want: 2 });
      await complete(worker, 1, 9);
      await rollUp(store);
      await complete(worker, 1, 30);
      await worker.fail(await worker.claim(1), { as: "failed" });
      await worker.fail(await worker.claim(1), { as: "dead" });
      for (let round = 0; round < 3; round += 1) await rollUp(store);
      const periods = await periodsOf(store, name);
      // What dies has failed, too.
      const counts = { claimed: 5, done: 2, failed: 2, dead: 2, lost: 1, ranMs: 39 };
      for (const member of ["claimed", "done", "failed", "dead", "lost", "ranMs"] as const)
        expect([member, sumOf(periods, member)]).toEqual([member, counts[member]]);
    });

    test("a round of the statistics counts an execution that has ended once, and an older open one as long as it goes on", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await enqueue(store, name, 3);
      const older = await startWorker(store, name, { want: 1 });
      await complete(older, 1, 5);
      const younger = await startWorker(store, name, { want: 1 });
      await complete(younger, 1, 5);
      await younger.finish();
      for (let round = 0; round < 3; round += 1) {
        await opened.advance(settledAfterMs);
        await rollUp(store);
        expect(sumOf(await periodsOf(store, name), "done")).toBe(2);
      }
      await complete(older, 1, 5);
      for (let round = 0; round < 2; round += 1) {
        await rollUp(store);
        expect(sumOf(await periodsOf(store, name), "done")).toBe(3);
      }
    });

    test("a round of the statistics goes on with an open execution that it knows when a younger one has ended", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await enqueue(store, name, 2);
      const older = await startWorker(store, name, { want: 1 });
      await complete(older, 1, 5);
      await rollUp(store);
      await (await startWorker(store, name, { want: 1 })).finish();
      await opened.advance(settledAfterMs);
      await rollUp(store);
      await complete(older, 1, 5);
      await rollUp(store);
      expect(sumOf(await periodsOf(store, name), "done")).toBe(2);
    });

    test("a period has the limit, the greatest age and the most tasks that wait of all rounds in it", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await enqueue(store, name, 3);
      await rollUp(store);
      await setLimit(store, name, 5);
      await enqueue(store, name, 1);
      await opened.advance(5_000);
      await rollUp(store);
      // By chance the minute may have ended between the rounds.
      const last = at(await periodsOf(store, name), -1);
      expect(last).toMatchObject({ limit: 5, ready: 4 });
      expect(last.nextAgeMs).toBeGreaterThanOrEqual(5_000);
    });

    test("a round of the statistics counts an execution that began and ended a moment ago once, however many rounds look at it", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await enqueue(store, name, 1);
      const worker = await startWorker(store, name);
      await complete(worker, 1, 5);
      await worker.finish();
      await rollUp(store);
      await rollUp(store);
      expect(sumOf(await periodsOf(store, name), "done")).toBe(1);
      for (let round = 0; round < 3; round += 1) {
        await opened.advance(settledAfterMs);
        await rollUp(store);
        expect(sumOf(await periodsOf(store, name), "done")).toBe(1);
      }
    });

    test("a round of the statistics says that there is more only where executions behind those are left that have settled", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      const start = async (): Promise<void> => {
        await (await startWorker(store, name)).finish();
      };
      await start();
      await start();
      const fresh = await store.rollUpStatistics({ max: 2 });
      expect(fresh).toMatchObject({ executions: 2, more: false });
      await opened.advance(settledAfterMs);
      await start();
      expect(await store.rollUpStatistics({ max: 2 })).toMatchObject({ executions: 2, more: true });
      expect(await store.rollUpStatistics({ max: 2 })).toMatchObject({
        executions: 1,
        more: false,
      });
    });

    test("a round of the statistics counts at most a thousand ready tasks", async () => {
      const { store } = open();
      const name = await define(store);
      await enqueue(store, name, 1_003);
      await rollUp(store);
      expect(only(await periodsOf(store, name)).ready).toBe(1_000);
    });

    test("a round of the statistics tells the age of the task that comes next, which isn't the oldest", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, [{ priority: 200 }]);
      await opened.advance(20_000);
      await enqueue(store, name, [{ priority: 50 }]);
      await opened.advance(5_000);
      await enqueue(store, name, [{ priority: 50 }]);
      await rollUp(store);
      const { nextAgeMs } = at(await periodsOf(store, name), -1);
      expect(nextAgeMs).toBeGreaterThanOrEqual(5_000);
      expect(nextAgeMs).toBeLessThan(7_000);
    });

    test("a round of the statistics samples the fifty newest of the tasks that ended well since the last one", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 100, prefetchMax: 0 });
      await enqueue(store, name, 114);
      const worker = await startWorker(store, name, { want: 100 });
      await complete(worker, 1, 1_000_000);
      await rollUp(store);
      await opened.advance(10);
      await complete(worker, 60, 5);
      await opened.advance(1_000);
      await complete(worker, 50, 700);
      await worker.fail(await worker.claim(1), { as: "dead" });
      await rollUp(store);
      await opened.advance(10);
      await complete(worker, 2, 90_000);
      await rollUp(store);
      expect(await ranOf(store, name)).toEqual([
        [durationBucket(700), 110],
        [durationBucket(90_000), 2],
        [durationBucket(1_000_000), 1],
      ]);
    });

    test("a round of the statistics deletes the oldest periods first, with their durations and no others", async () => {
      const opened = open();
      const { store } = opened;
      const other = await define(store, { limit: 8 }, "rounds-c");
      const name = await define(store, { limit: 8 }, "rounds-d");
      for (const definition of [other, name]) {
        await enqueue(store, definition, 4);
        const worker = await startWorker(store, definition, { want: 1 });
        for (let minute = 0; minute < 2; minute += 1) {
          await complete(worker, 1, 5);
          await rollUp(store);
          await opened.advance(minuteMs);
        }
        await worker.finish();
      }
      await opened.advance(178 * minuteMs);
      const last = await startWorker(store, name, { want: 1 });
      await complete(last, 1, 40);
      const before = await store.readStatistics({ name: other, grain: 1, max: 720 });
      await store.rollUpStatistics({ max: 1 });
      const after = await store.readStatistics({ name: other, grain: 1, max: 720 });
      expect(after.periods.slice(0, -1)).toEqual(before.periods.slice(1));
      await rollUp(store);
      const rest = await store.readStatistics({ name, grain: 1, max: 720 });
      expect(rest.periods.every(({ ran, done: count }) => count === 0 || ran.length > 0)).toBe(
        true,
      );
      expect(sumOf(rest.periods, "done")).toBeGreaterThanOrEqual(1);
      const hours = await store.readStatistics({ name, grain: 60, max: 24 });
      expect(hours.periods.flatMap(({ ran }) => ran).reduce((sum, [, n]) => sum + n, 0)).toBe(3);
    });
  });
}
