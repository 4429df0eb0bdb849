import { describe, expect, test } from "@jest/globals";
import { durationBucket } from "../../shared/core/duration-buckets";
import { at, define, done, enqueue, only, startWorker } from "../support/builders";
import type { Worker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { periodsOf, ranOf, rollUp, sumOf } from "./statistic-periods";
import { inDialect } from "./two-dialects";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** So many tasks end well at one instant, in the order of their ids; a number for each: its duration. */
async function complete(worker: Worker, durations: readonly number[]): Promise<void> {
  const tasks = await worker.claim(durations.length);
  expect(tasks).toHaveLength(durations.length);
  await worker.work({
    done: tasks.map((task, place) => done(task, { durationMs: at(durations, place) })),
  });
}

/** Moves on to the next time at which so much of an hour has gone. */
async function advanceTo(opened: TestStore, intoHourMs: number): Promise<void> {
  const gone = (await opened.now()).getTime() % hourMs;
  await opened.advance((2 * hourMs + intoHourMs - gone) % hourMs);
}

/** A statement of the owner's, in the store's own dialect. */
function plant(opened: TestStore, { dialect }: StoreSetup, sql: string) {
  return opened.raw(inDialect(dialect === "mssql" ? "mssql" : "postgres", sql, new Map()));
}

/** What rounds of the statistics do where their periods, their samples or their turns meet. */
export function describeStatisticCorners(setup: StoreSetup): void {
  describe("the periods of a round of the statistics", () => {
    describePeriods(setup);
  });
  describe("the samples of a round of the statistics", () => {
    describeSamples(setup);
  });
  describe("a round of the statistics among others", () => {
    describeTurns(setup);
  });
}

function describePeriods(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the periods of the statistics aren't made for an execution without a token in which nothing was counted", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2 });
    const worker = await startWorker(store, name, { want: 1 });
    await store.releaseTokens({ executionId: worker.executionId, keep: 0 });
    await rollUp(store);
    const before = await periodsOf(store, name);
    for (let round = 0; round < 2; round += 1) {
      await opened.advance(minuteMs);
      await rollUp(store);
    }
    expect(await periodsOf(store, name)).toEqual(before);
  });

  test("the periods of the statistics go with their own durations: longer names that begin with theirs keep theirs", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2 });
    await enqueue(store, name, 1);
    await advanceTo(opened, 5_000);
    await complete(await startWorker(store, name), [40]);
    await rollUp(store);
    expect(await ranOf(store, name)).toEqual([[durationBucket(40), 1]]);
    await opened.advance(3 * hourMs + minuteMs);
    await rollUp(store);
    const minutes = await store.readStatistics({ name, grain: 1, max: 720 });
    expect(sumOf(minutes.periods, "done")).toBe(0);
    expect(await ranOf(store, name, 10)).toEqual([[durationBucket(40), 1]]);
    expect(await ranOf(store, name, 60)).toEqual([[durationBucket(40), 1]]);
  });

  testWith(setup, "raw sql")(
    "the periods of the statistics tell the age of the task that comes next by its rank",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const [older = ""] = await enqueue(store, name, 1);
      await opened.advance(20_000);
      await enqueue(store, name, 1);
      for (const table of ["task", "ready"])
        await plant(
          opened,
          setup,
          `UPDATE taskgate.${table} SET rank = 1 WHERE task_id = ${older}`,
        );
      await opened.advance(5_000);
      await rollUp(store);
      expect(at(await periodsOf(store, name), -1).nextAgeMs).toBeLessThan(7_000);
    },
  );

  test("the periods of a minute are made where longer names that begin with theirs are there already", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    await enqueue(store, name, 2);
    await advanceTo(opened, 5_000);
    const older = await startWorker(store, name);
    const younger = await startWorker(store, name);
    await complete(younger, [5]);
    await younger.finish();
    await opened.advance(5 * minuteMs);
    await complete(older, [5]);
    // The older one goes on, so it counts now; the younger one counts at the minute of its end.
    await store.rollUpStatistics({ max: 1 });
    await store.rollUpStatistics({ max: 1 });
    const periods = await periodsOf(store, name);
    expect(periods.map(({ done: count }) => count)).toEqual([1, 1]);
    const [first, second] = periods.map((period) => Date.parse(period.at));
    expect((second ?? 0) - (first ?? 0)).toBe(5 * minuteMs);
  });

  testWith(setup, "exact clock")(
    "the periods that a round removes are those older than is kept, to the millisecond",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 4 });
      await enqueue(store, name, 1);
      await advanceTo(opened, minuteMs);
      const worker = await startWorker(store, name);
      await complete(worker, [5]);
      await worker.finish();
      await rollUp(store);
      await opened.advance(3 * hourMs);
      expect(await store.rollUpStatistics({ max: 10 })).toMatchObject({ deleted: 0 });
      await opened.advance(1);
      expect(await store.rollUpStatistics({ max: 10 })).toMatchObject({ deleted: 1 });
    },
  );
}

function describeSamples(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the samples of tasks that ended at one instant are those with the highest ids", async () => {
    const { store } = open();
    const name = await define(store, { limit: 100, prefetchMax: 0 });
    await enqueue(store, name, 60);
    const worker = await startWorker(store, name, { want: 100 });
    const durations = Array.from({ length: 60 }, (_, place) => (place < 10 ? 90_000 : 5));
    await complete(worker, durations);
    await rollUp(store);
    expect(await ranOf(store, name)).toEqual([[durationBucket(5), 60]]);
  });

  test("the samples of a round are the last to end, not those with the highest ids", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 100, prefetchMax: 0 });
    await enqueue(store, name, 60);
    const worker = await startWorker(store, name, { want: 100 });
    const tasks = await worker.claim(60);
    const ends = (part: typeof tasks, durationMs: number) =>
      worker.work({ done: part.map((task) => done(task, { durationMs })) });
    await ends(tasks.slice(50), 90_000);
    await opened.advance(1_000);
    await ends(tasks.slice(0, 50), 5);
    await rollUp(store);
    expect(await ranOf(store, name)).toEqual([[durationBucket(5), 60]]);
  });

  test("the samples add to the same duration of the same minute, of running and of waiting apart", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 4 });
    await advanceTo(opened, 3 * minuteMs);
    const worker = await startWorker(store, name, { want: 1 });
    const waits = durationBucket(20_000);
    for (const ranMs of [20_000, 20_000, 5]) {
      await enqueue(store, name, 1);
      // It waited for as long as it didn't run.
      await opened.advance(ranMs === 5 ? 20_005 : 10);
      await complete(worker, [ranMs]);
      await rollUp(store);
    }
    const periods = await periodsOf(store, name, 60);
    expect(periods.flatMap(({ ran }) => ran)).toEqual([
      [durationBucket(5), 1],
      [waits, 2],
    ]);
    expect(periods.flatMap(({ waited }) => waited).filter(([bucket]) => bucket === waits)).toEqual([
      [waits, 1],
    ]);
  });

  test("the samples are none where the tasks that ended aren't counted yet", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    await enqueue(store, name, 2);
    const older = await startWorker(store, name);
    await older.claim(1);
    const younger = await startWorker(store, name);
    await complete(younger, [5]);
    await store.rollUpStatistics({ max: 1 });
    const period = only(await periodsOf(store, name));
    expect(period).toMatchObject({ claimed: 1, done: 0, ran: [] });
  });
}

function describeTurns(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a round of the statistics goes on behind the settled ones when it is full and others began a moment ago", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 8 });
    await enqueue(store, name, 1);
    await (await startWorker(store, name)).finish();
    await opened.advance(11_000);
    await (await startWorker(store, name)).finish();
    await complete(await startWorker(store, name), [5]);
    expect(await store.rollUpStatistics({ max: 2 })).toMatchObject({ executions: 2, more: false });
    expect(sumOf(await periodsOf(store, name), "done")).toBe(0);
    // The first one has settled; the second is looked at again, and the third for the first time.
    expect(await store.rollUpStatistics({ max: 2 })).toMatchObject({ executions: 2, more: false });
    expect(sumOf(await periodsOf(store, name), "done")).toBe(1);
  });

  testWith(setup, "exact clock")(
    "a round of the statistics looks again at executions of the last ten seconds",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await (await startWorker(store, name)).finish();
      await opened.advance(10_000);
      for (let round = 0; round < 2; round += 1)
        expect(await store.rollUpStatistics({ max: 10 })).toMatchObject({ executions: 1 });
      await opened.advance(1);
      expect(await store.rollUpStatistics({ max: 10 })).toMatchObject({ executions: 1 });
      expect(await store.rollUpStatistics({ max: 10 })).toMatchObject({ executions: 0 });
    },
  );

  testWith(setup, "raw sql")(
    "a round of the statistics forgets what was counted of an execution that is gone",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 8 });
      await startWorker(store, name);
      await opened.advance(11_000);
      await rollUp(store);
      const counted = "SELECT task_execution_id FROM taskgate.execution_counted";
      expect(await plant(opened, setup, counted)).toHaveLength(1);
      opened.expectDamage();
      await plant(opened, setup, "DELETE FROM taskgate.task_execution");
      await rollUp(store);
      expect(await plant(opened, setup, counted)).toHaveLength(0);
    },
  );

  testWith(
    setup,
    "row locks",
    "raw sql",
    "sure calls",
  )("a round of the statistics does nothing and says so while another one is at it", async () => {
    const opened = open();
    const { store } = opened;
    const { dialect } = setup;
    if (dialect === "memory") throw new Error("The memory store locks no rows");
    const name = await define(store, { limit: 8 });
    await enqueue(store, name, 1);
    await complete(await startWorker(store, name), [5]);
    const held = "UPDATE taskgate.statistic_round SET ended_at = ended_at";
    const busy = await opened.asOwner(async (transaction) => {
      await transaction.query(inDialect(dialect, held, new Map()));
      return store.rollUpStatistics({ max: 10 });
    });
    expect(busy).toEqual({ status: "busy", executions: 0, deleted: 0, more: false });
    expect(await periodsOf(store, name)).toEqual([]);
    expect(await store.rollUpStatistics({ max: 10 })).toMatchObject({ status: "rolled" });
  });
}
