import { describe, expect, test } from "@jest/globals";
import { durationBucket } from "../../shared/core/duration-buckets";
import type { Grain } from "../../shared/ports/task-store";
import { at, define, done, enqueue, only, startWorker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { periodsOf, rollUp, sumOf } from "./statistic-periods";
import { inDialect } from "./two-dialects";

const minuteMs = 60_000;

/** What executions count, and what the sweep makes of it. */
export function describeStatistics(setup: StoreSetup): void {
  describe("roll_up_statistics", () => {
    const open = useStore(setup);

    test("roll_up_statistics makes no period where nothing was counted", async () => {
      const { store } = open();
      const name = await define(store);
      await rollUp(store);
      expect(await periodsOf(store, name)).toEqual([]);
    });

    test("the claims, ends and failures of an execution are added to its definition's minute", async () => {
      const { store } = open();
      const name = await define(store, { limit: 8, retryAttempts: 2 });
      await enqueue(store, name, 6);
      const worker = await startWorker(store, name, { want: 5 });
      const tasks = await worker.claim(5);
      await worker.work({
        done: [done(at(tasks, 0), { durationMs: 40 }), done(at(tasks, 1), { durationMs: 2 })],
      });
      await worker.fail([at(tasks, 2)], { as: "failed" });
      await worker.fail([at(tasks, 3)], { as: "dead" });
      await worker.fail([at(tasks, 4)], { as: "cancelled" });
      await rollUp(store);
      const period = only(await periodsOf(store, name));
      expect(period).toMatchObject({
        definition: name,
        claimed: 5,
        done: 2,
        failed: 2,
        dead: 1,
        lost: 0,
        ranMs: 42,
        limit: 8,
        ready: 1,
      });
      expect(period.ran).toEqual([
        [durationBucket(2), 1],
        [durationBucket(40), 1],
      ]);
      expect(period.waited.reduce((sum, [, tasks]) => sum + tasks, 0)).toBe(2);
    });

    test("a count is added once, and an open execution goes on counting", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await enqueue(store, name, 3);
      const worker = await startWorker(store, name, { want: 1 });
      await worker.complete([await worker.claimOne()]);
      await rollUp(store);
      await rollUp(store);
      await worker.complete([await worker.claimOne()]);
      await opened.advance(minuteMs);
      await rollUp(store);
      await worker.complete([await worker.claimOne()]);
      await worker.finish();
      await opened.advance(2 * minuteMs);
      await rollUp(store);
      await rollUp(store);
      const periods = await periodsOf(store, name);
      expect(periods.map((period) => period.done)).toEqual([1, 2]);
      expect(periods.map((period) => period.claimed)).toEqual([1, 2]);
    });

    test("an execution that has ended counts at the minute of its end", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, 1);
      const endedAt = await opened.now();
      const worker = await startWorker(store, name);
      await worker.complete([await worker.claimOne()]);
      await worker.finish();
      await opened.advance(5 * minuteMs);
      await rollUp(store);
      const { at: begin } = only(await periodsOf(store, name));
      const sinceMs = endedAt.getTime() - Date.parse(begin);
      expect(sinceMs).toBeGreaterThanOrEqual(0);
      expect(sinceMs).toBeLessThan(minuteMs + 1_000);
    });

    test("a minute, its ten minutes and its hour have the same counts", async () => {
      const { store } = open();
      const name = await define(store, { limit: 8 });
      await enqueue(store, name, 4);
      const worker = await startWorker(store, name, { want: 3 });
      await worker.complete(await worker.claim(3));
      await rollUp(store);
      const [minute, ten, hour] = await Promise.all([
        periodsOf(store, name, 1),
        periodsOf(store, name, 10),
        periodsOf(store, name, 60),
      ]);
      const { claimed, done: ended, heldMs, ran, waited } = only(minute);
      const counts = { claimed, done: ended, heldMs, ran, waited };
      expect(counts).toMatchObject({ claimed: 3, done: 3 });
      expect(only(ten)).toMatchObject(counts);
      expect(only(hour)).toMatchObject(counts);
      expect(Date.parse(only(ten).at) % (10 * minuteMs)).toBe(0);
      expect(Date.parse(only(hour).at) % (60 * minuteMs)).toBe(0);
    });

    test("tokens count for as long as they are held, also while no task runs", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      const worker = await startWorker(store, name, { want: 3 });
      await opened.advance(10_000);
      await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
      await opened.advance(10_000);
      await rollUp(store);
      await opened.advance(10_000);
      await worker.finish();
      await opened.advance(minuteMs);
      await rollUp(store);
      const heldMs = sumOf(await periodsOf(store, name), "heldMs");
      expect(heldMs).toBeGreaterThanOrEqual(50_000);
      expect(heldMs).toBeLessThan(51_000);
    });

    test("the tasks of a dead worker count as lost, those that were lost too often as dead", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8, lostMax: 0, leaseMs: 10_000 });
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name, { want: 2 });
      await worker.claim(2);
      await opened.advance(11_000);
      await store.reclaimExpired({ max: 10 });
      await rollUp(store);
      const periods = await periodsOf(store, name);
      expect(sumOf(periods, "lost")).toBe(2);
      expect(sumOf(periods, "dead")).toBe(2);
      const heldMs = sumOf(periods, "heldMs");
      expect(heldMs).toBeGreaterThanOrEqual(22_000);
    });

    testWith(setup, "cancel requests")(
      "a task that is cancelled as its worker is lost counts as lost, not as dead",
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { limit: 8, lostMax: 0, leaseMs: 10_000 });
        const ids = await enqueue(store, name, 2);
        const worker = await startWorker(store, name, { want: 2 });
        await worker.claim(2);
        await opened.requestCancel(at(ids, 0));
        await opened.advance(11_000);
        await store.reclaimExpired({ max: 10 });
        await rollUp(store);
        const periods = await periodsOf(store, name);
        expect(sumOf(periods, "lost")).toBe(2);
        expect(sumOf(periods, "dead")).toBe(1);
      },
    );

    test("a completion in the user's own transaction counts", async () => {
      const { store } = open();
      const name = await define(store);
      await enqueue(store, name, 1);
      const { executionId, ...worker } = await startWorker(store, name).then((opened) => ({
        executionId: opened.executionId,
        claim: () => opened.claimOne(),
      }));
      const { taskId, fence } = await worker.claim();
      await store.completeTask({ executionId, taskId, fence, durationMs: 12, result: null });
      await rollUp(store);
      expect(only(await periodsOf(store, name))).toMatchObject({ done: 1, ranMs: 12, claimed: 1 });
    });

    test("a refused completion doesn't count", async () => {
      const { store } = open();
      const name = await define(store);
      await enqueue(store, name, 1);
      const worker = await startWorker(store, name);
      const task = await worker.claimOne();
      await worker.work({ done: [done(task, { durationMs: 3 })] });
      await worker.work({ done: [done(task, { durationMs: 3 })] });
      await rollUp(store);
      expect(only(await periodsOf(store, name))).toMatchObject({ done: 1, ranMs: 3 });
    });

    test("tasks that wait are seen: how many, and how old the next one is", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, 3);
      await opened.advance(30_000);
      await rollUp(store);
      const period = at(await periodsOf(store, name), -1);
      expect(period).toMatchObject({ ready: 3, claimed: 0, done: 0 });
      expect(period.nextAgeMs).toBeGreaterThanOrEqual(30_000);
      expect(period.nextAgeMs).toBeLessThan(31_000);
    });

    test("durations are a sample of fifty, weighted so that all are counted", async () => {
      const { store } = open();
      const name = await define(store, { limit: 100, prefetchMax: 0 });
      await enqueue(store, name, 100);
      const worker = await startWorker(store, name, { want: 100 });
      const tasks = await worker.claim(100);
      await worker.work({ done: tasks.map((task) => done(task, { durationMs: 6 })) });
      await rollUp(store);
      const { ran, done: count } = only(await periodsOf(store, name));
      expect(count).toBe(100);
      expect(ran).toEqual([[durationBucket(6), 100]]);
    });

    testWith(setup, "raw sql")(
      "the weight of a sample has room for a billion tasks, as after a long time without a sweep",
      async () => {
        const opened = open();
        const { store } = opened;
        const { dialect } = setup;
        if (dialect === "memory") throw new Error("The memory store takes no SQL");
        const name = await define(store);
        await enqueue(store, name, 1);
        const worker = await startWorker(store, name);
        await worker.work({ done: [done(await worker.claimOne(), { durationMs: 6 })] });
        const count = 1_500_000_000;
        const sql = "UPDATE taskgate.task_execution SET done_count = {count}";
        await opened.raw(inDialect(dialect, sql, new Map([["count", String(count)]])));
        await rollUp(store);
        const period = only(await periodsOf(store, name));
        expect(period.done).toBe(count);
        expect(period.ran).toEqual([[durationBucket(6), count]]);
      },
    );

    test("durations and waits stand in their own period, the shortest first", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name, { want: 3 });
      await worker.work({ done: [done(await worker.claimOne(), { durationMs: 5 })] });
      await rollUp(store);
      await opened.advance(2 * minuteMs);
      await enqueue(store, name, 1);
      const [early, late] = await worker.claim(2);
      if (early === undefined || late === undefined) throw new Error("There are no two tasks");
      const ends = [done(early, { durationMs: 5_000 }), done(late, { durationMs: 70 })];
      await worker.work({ done: ends });
      await rollUp(store);
      const ended = (await periodsOf(store, name)).filter((period) => period.done > 0);
      expect(ended.map(({ ran }) => ran)).toEqual([
        [[durationBucket(5), 1]],
        [
          [durationBucket(70), 1],
          [durationBucket(5_000), 1],
        ],
      ]);
      const [[first], [short, long]] = ended.map(({ waited }) =>
        waited.map(([bucket]) => bucket),
      ) as [number[], number[]];
      expect(first).toBeLessThan(durationBucket(minuteMs));
      expect(short).toBeLessThan(durationBucket(minuteMs));
      expect(long).toBeGreaterThanOrEqual(durationBucket(2 * minuteMs));
    });

    test("periods that are too old are deleted, slice by slice: minutes after three hours, hours later", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, 3);
      for (let minute = 0; minute < 3; minute += 1) {
        await rollUp(store);
        await opened.advance(minuteMs);
      }
      await opened.advance(182 * minuteMs);
      const answer = await store.rollUpStatistics({ max: 2 });
      expect(answer).toMatchObject({ status: "rolled", deleted: 2, more: true });
      const rest = await store.rollUpStatistics({ max: 2 });
      expect(rest).toMatchObject({ deleted: 1, more: false });
      const { periods } = await store.readStatistics({ name, grain: 1, max: 720 });
      expect(periods).toHaveLength(1);
      expect((await periodsOf(store, name, 60)).length).toBeGreaterThanOrEqual(2);
    });

    test("more executions than a call looks at are counted by the next ones", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await enqueue(store, name, 5);
      for (let n = 0; n < 5; n += 1) {
        const worker = await startWorker(store, name);
        await worker.complete([await worker.claimOne()]);
        await worker.finish();
      }
      await opened.advance(minuteMs);
      const answers = [];
      for (let more = true; more; more = at(answers, -1).more)
        answers.push(await store.rollUpStatistics({ max: 2 }));
      expect(answers.map(({ executions }) => executions)).toEqual([2, 2, 1]);
      expect(only(await periodsOf(store, name)).done).toBe(5);
    });

    test.each([0, 1_001])("max %p is refused", async (max) => {
      const { store } = open();
      await expectError(store.rollUpStatistics({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    });
  });

  describe("read_statistics", () => {
    const open = useStore(setup);

    test("all definitions are read by name, then by time", async () => {
      const opened = open();
      const { store } = opened;
      const second = await define(store, {}, "statistics-b");
      const first = await define(store, {}, "statistics-a");
      for (const name of [second, first]) await enqueue(store, name, 1);
      await rollUp(store);
      await opened.advance(10 * minuteMs);
      await rollUp(store);
      const { periods, now, countedAt } = await store.readStatistics({
        name: null,
        grain: 10,
        max: 12,
      });
      expect(periods.map(({ definition }) => definition)).toEqual([first, first, second, second]);
      expect(at(periods, 0).at < at(periods, 1).at).toBe(true);
      expect(now.getTime() - countedAt.getTime()).toBeLessThan(1_000);
    });

    test("read_statistics reads only so many periods back, the current one included", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, 1);
      for (let minute = 0; minute < 3; minute += 1) {
        if (minute > 0) await opened.advance(minuteMs);
        await rollUp(store);
      }
      const { periods } = await store.readStatistics({ name, grain: 1, max: 2 });
      expect(periods).toHaveLength(2);
    });

    test.each([
      [{ grain: 2 as Grain }, "grain", 2],
      [{ max: 0 }, "max", 0],
      [{ max: 721 }, "max", 721],
      [{ name: null, max: 13 }, "max", 13],
    ])("%j is refused", async (changes, field, value) => {
      const { store } = open();
      const name = await define(store);
      await expectError(store.readStatistics({ name, grain: 1, max: 1, ...changes }), {
        code: "TASKGATE_ARG_INVALID",
        field,
        value,
      });
    });

    test("an unknown definition is refused by its name", async () => {
      const { store } = open();
      await expectError(store.readStatistics({ name: "none", grain: 1, max: 1 }), {
        code: "TASKGATE_ARG_UNKNOWN",
        field: "name",
        value: "none",
      });
    });
  });
}
