import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  only,
  registration,
  startWorker,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { filled, start } from "./batch-builders";
import { defineDue, fire } from "./schedule-builders";
import { inDialect } from "./two-dialects";

const hourMs = 3_600_000;
/** A real clock goes on while a test runs. */
const testMs = 60_000;

/** Since when a ready task may start, which is what its age is counted from. */
export function describeDueTasks(setup: StoreSetup): void {
  describe("a ready task is due", () => {
    const open = useStore(setup);

    test("a ready task is due since its enqueue", async () => {
      const opened = open();
      const name = await define(opened.store);
      const task = await enqueueOne(opened.store, name, {});
      await opened.advance(hourMs);
      await expectDue(opened, { name, task, afterMs: 0, ageMs: hourMs });
    });

    test.each([
      { what: "alone", entry: {} },
      { what: "in a group", entry: { group: "ada" } },
      { what: "with a key", entry: { dedupeKey: "k" } },
      { what: "with a key and a group", entry: { dedupeKey: "k", group: "ada" } },
    ])(
      "a ready task is due since the end of the delay that it was enqueued with, $what",
      async ({ entry }) => {
        const opened = open();
        const name = await define(opened.store);
        const task = await enqueueOne(opened.store, name, { ...entry, runInMs: hourMs });
        await becomeDue(opened, name);
        await expectDue(opened, { name, task, afterMs: hourMs, ageMs: 0 });
      },
    );

    test("a ready task is due since its enqueue where the instant that it was enqueued for had passed", async () => {
      const opened = open();
      const name = await define(opened.store);
      const runAt = new Date((await opened.now()).getTime() - hourMs);
      const task = await enqueueOne(opened.store, name, { runAt });
      await expectDue(opened, { name, task, afterMs: 0, ageMs: 0 });
    });

    test("a ready task is due since its enqueue where a group let it in later", async () => {
      const opened = open();
      const name = await define(opened.store, { groupSlots: 1 });
      const [first, second] = await enqueue(opened.store, name, [{ group: "a" }, { group: "a" }]);
      const worker = await startWorker(opened.store, name);
      const claimed = await worker.claimOne();
      expect(claimed.taskId).toBe(first);
      await opened.advance(hourMs);
      const later = await startWorker(opened.store, name);
      await opened.store.reclaimExpired({ max: 10 });
      await later.complete([await later.claimOne()]);
      await expectDue(opened, { name, task: second, afterMs: 0, ageMs: hourMs });
    });

    test("a ready task is due since the instant that it was rescheduled to", async () => {
      const opened = open();
      const name = await define(opened.store);
      const tasks = await enqueue(opened.store, name, [{}, { runInMs: 1_000 }, { group: "ada" }]);
      await opened.store.rescheduleTasks({ taskIds: tasks, to: { runInMs: hourMs } });
      await becomeDue(opened, name);
      for (const task of tasks) await expectListed(opened.store, { name, task, afterMs: hourMs });
    });

    test("a ready task is due since its enqueue where it was redriven", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const task = await enqueueOne(store, name, {});
      const worker = await startWorker(store, name);
      await worker.fail([await worker.claimOne()], { as: "dead" });
      await opened.advance(hourMs);
      await store.redriveTasks({ taskIds: [task] });
      await expectDue(opened, { name, task, afterMs: 0, ageMs: hourMs });
    });

    test.each(["failed", "continued"] as const)(
      "a ready task is due since the end of a delay of its own, where it comes back %s",
      async (as) => {
        const opened = open();
        const name = await define(opened.store);
        const task = await enqueueOne(opened.store, name, {});
        const worker = await startWorker(opened.store, name);
        await worker.fail([await worker.claimOne()], { as, retryInMs: hourMs });
        await becomeDue(opened, name);
        await expectDue(opened, { name, task, afterMs: hourMs, ageMs: 0 });
      },
    );

    test("a ready task is due since its enqueue where it failed and came back after a back-off", async () => {
      const opened = open();
      const name = await define(opened.store);
      const task = await enqueueOne(opened.store, name, {});
      const worker = await startWorker(opened.store, name);
      await worker.fail([await worker.claimOne()], { as: "failed", retryInMs: null });
      await becomeDue(opened, name);
      await expectDue(opened, { name, task, afterMs: 0, ageMs: hourMs });
    });

    test("a ready task is due since its wave was opened", async () => {
      const opened = open();
      const name = await define(opened.store);
      const batch = await filled(opened.store, name, { counts: [1] });
      await opened.advance(hourMs);
      await start(opened.store, batch);
      while ((await opened.store.pumpBatch({ batchId: batch.batchId, max: 100 })).more);
      const task = at(at(batch.tasks, 0), 0);
      await expectDue(opened, { name, task, afterMs: hourMs, ageMs: 0 });
    });

    test("a ready task is due since the end of its kind's delay, which the code gives, of a schedule's tasks too", async () => {
      const opened = open();
      const { name } = await defineDue(opened.store, -1);
      const kinds = [{ ...noRules, kind: "a kind", runInMs: hourMs }];
      await opened.store.registerDefinition(registration({ name, settingsHash: "2", kinds }));
      const { taskIds } = await fire(opened.store, name);
      await becomeDue(opened, name);
      await expectDue(opened, { name, task: only(taskIds), afterMs: hourMs, ageMs: 0 });
    });

    test("a ready task is found behind one of its priority that has just become due", async () => {
      const opened = open();
      const name = await define(opened.store);
      await enqueueOne(opened.store, name, { runInMs: hourMs });
      const plain = await enqueueOne(opened.store, name, {});
      await becomeDue(opened, name);
      const { oldestReady } = await opened.store.readPace({ name, max: 1 });
      expect(oldestReady?.taskId).toBe(plain);
    });

    test.each([
      { count: 99, isFound: true },
      { count: 100, isFound: false },
    ])(
      "a ready task is looked for among the first 100 of its priority: behind $count",
      async (given) => {
        const opened = open();
        const name = await define(opened.store);
        const later = Array.from({ length: given.count }, () => ({ runInMs: hourMs }));
        const [first] = await enqueue(opened.store, name, later);
        const plain = await enqueueOne(opened.store, name, {});
        await opened.advance(hourMs);
        await opened.store.promoteScheduled({ name, max: 100 });
        const { oldestReady } = await opened.store.readPace({ name, max: 1 });
        expect(oldestReady?.taskId).toBe(given.isFound ? plain : first);
      },
    );

    test.each([
      { count: 19, isFound: true },
      { count: 20, isFound: false },
    ])("a ready task is looked for in 20 priorities: behind $count", async (given) => {
      const opened = open();
      const name = await define(opened.store);
      const oldest = await enqueueOne(opened.store, name, { priority: 32_767 });
      await opened.advance(hourMs);
      const urgent = Array.from({ length: given.count }, (_, priority) => ({ priority }));
      const [first] = await enqueue(opened.store, name, urgent);
      const { oldestReady } = await opened.store.readPace({ name, max: 1 });
      expect(oldestReady?.taskId).toBe(given.isFound ? oldest : first);
    });

    test("the ready task that is due for longest is told, not the one that was enqueued first", async () => {
      const opened = open();
      const name = await define(opened.store);
      await enqueueOne(opened.store, name, { priority: 1, runInMs: hourMs });
      await opened.advance(hourMs / 2);
      const plain = await enqueueOne(opened.store, name, { priority: 2 });
      await opened.advance(hourMs / 2);
      await opened.store.promoteScheduled({ name, max: 10 });
      const { oldestReady } = await opened.store.readPace({ name, max: 1 });
      expect(oldestReady?.taskId).toBe(plain);
    });

    testWith(
      setup,
      "raw sql",
      "exact clock",
    )(
      "the next due task behind an instant is the first one there, due in 0 ms where it became due while the call ran",
      async () => {
        const opened = open();
        const name = await define(opened.store);
        await enqueue(opened.store, name, [{ runInMs: hourMs }, { runInMs: 2 * hourMs }]);
        await opened.advance(hourMs + testMs / 2);
        const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
        const call = { mssql: "Taskgate._NextDueFrom", postgres: "taskgate._next_due_from" };
        const behind = `${call[dialect]}(task_definition_id`;
        const sql = `SELECT ${behind}, {minuteAgo}) AS first, ${behind}, run_at) AS second FROM taskgate.scheduled ORDER BY run_at`;
        const rows = await opened.raw(inDialect(dialect, sql, new Map()));
        expect(rows.flatMap((row) => Object.values(row)).map((ms) => ms && Number(ms))).toEqual([
          0,
          hourMs - testMs / 2,
          0,
          null,
        ]);
      },
    );
  });
}

const noRules = {
  groupBy: null,
  isGroupComputed: false,
  dedupeBy: null,
  dedupeMs: null,
  priority: null,
};

async function becomeDue(opened: TestStore, name: string): Promise<void> {
  await opened.advance(hourMs);
  await opened.store.promoteScheduled({ name, max: 10 });
}

/** In the pace, in the list and in what is counted per minute. */
async function expectDue(
  opened: TestStore,
  expected: { name: string; task: TaskId | undefined; afterMs: number; ageMs: number },
): Promise<void> {
  const { store } = opened;
  const { name, task, afterMs, ageMs } = expected;
  const { oldestReady } = await store.readPace({ name, max: 1 });
  expect(oldestReady?.taskId).toBe(task);
  expectNear(
    Date.parse(oldestReady?.dueAt ?? "") - Date.parse(oldestReady?.createdAt ?? ""),
    afterMs,
  );
  await expectListed(store, { name, task, afterMs });
  while ((await store.rollUpStatistics({ max: 1_000 })).more);
  const { periods } = await store.readStatistics({ name, grain: 1, max: 60 });
  expectNear(periods.at(-1)?.nextAgeMs ?? Number.NaN, ageMs);
}

async function expectListed(
  store: TaskStore,
  { name, task, afterMs }: { name: string; task: TaskId | undefined; afterMs: number },
): Promise<void> {
  const { tasks } = await store.listTasks({ name, state: "ready", max: 10 });
  const listed = tasks.find((entry) => entry.task === task);
  expectNear(Date.parse(listed?.dueAt ?? "") - Date.parse(listed?.createdAt ?? ""), afterMs);
}

function expectNear(ms: number, expectedMs: number): void {
  expect(ms).toBeGreaterThanOrEqual(expectedMs);
  expect(ms).toBeLessThan(expectedMs + testMs);
}
