import { describe, expect, test } from "@jest/globals";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Tasks that start later, and how they become claimable. */
export function describeSchedule(setup: StoreSetup): void {
  describe("a scheduled task", () => {
    describeDue(setup);
  });
  describe("promote_scheduled", () => {
    describePromote(setup);
  });
}

function describeDue(setup: StoreSetup): void {
  const open = useStore(setup);

  test("waits for its instant and is claimed from then on", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const answer = await store.enqueueTasks({
      name,
      build: 1,
      operationId: null,
      tasks: [
        { payload: null, runInMs: 8_000 },
        { payload: null, runInMs: 5_000 },
      ],
    });
    expect(answer).toMatchObject({ ready: false, nextDueMs: 5_000 });
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, scheduled: 2 });
    const worker = await startWorker(store, name, { want: 2 });
    expect(await worker.claim(2)).toEqual([]);
    await opened.advance(5_500);
    expect(idsOf(await worker.claim(2))).toEqual([at(answer.taskIds, 1)]);
    await opened.advance(3_000);
    expect(idsOf(await worker.claim(2))).toEqual([at(answer.taskIds, 0)]);
  });

  testWith(setup, "exact clock")(
    "Q3: one millisecond before it isn't due, exactly then it is",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const taskId = await enqueueOne(store, name, { runInMs: 5_000 });
      const worker = await startWorker(store, name);
      await opened.advance(4_999);
      const early = await worker.work({ want: 1 });
      expect(early).toMatchObject({ status: "none", nextDueMs: 1 });
      expect((await factsOf(store, taskId)).dueInMs).toBe(1);
      await opened.advance(1);
      expect(idsOf(await worker.claim(1))).toEqual([taskId]);
    },
  );

  test("by instant as well as by delay; an instant that has passed is at once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const now = (await opened.now()).getTime();
    const later = await enqueueOne(store, name, { runAt: new Date(now + 60_000) });
    const past = await enqueueOne(store, name, { runAt: new Date(now - 60_000) });
    const zero = await enqueueOne(store, name, { runInMs: 0 });
    expect(await stateOf(store, later)).toBe("scheduled");
    expect(await stateOf(store, past)).toBe("ready");
    expect(await stateOf(store, zero)).toBe("ready");
    const { dueInMs } = await factsOf(store, later);
    expect(dueInMs).toBeGreaterThan(58_000);
    expect(dueInMs).toBeLessThanOrEqual(60_000);
  });

  test("Q3: a jump of the clock makes all due, and they are claimed by priority and id", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10 });
    const ids = await enqueue(store, name, [
      { runInMs: 3_000 },
      { runInMs: 2_000, priority: 1 },
      { runInMs: 1_000 },
    ]);
    await opened.advance(86_400_000);
    const worker = await startWorker(store, name, { want: 5 });
    expect(idsOf(await worker.claim(5))).toEqual([at(ids, 1), at(ids, 0), at(ids, 2)]);
  });

  test("a due task goes behind ready ones of its priority that have lower ids, before later ones", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10 });
    const [first] = await enqueue(store, name, 1);
    const timed = await enqueueOne(store, name, { runInMs: 1_000 });
    const [last] = await enqueue(store, name, 1);
    await opened.advance(1_000);
    const worker = await startWorker(store, name, { want: 5 });
    expect(idsOf(await worker.claim(5))).toEqual([first, timed, last]);
  });

  test("a due task of a full group waits for its slot", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10 });
    const holder = await enqueueOne(store, name, { group: "g" });
    const timed = await enqueueOne(store, name, { group: "g", runInMs: 1_000 });
    await opened.advance(1_000);
    const worker = await startWorker(store, name, { want: 5 });
    const claimed = await worker.claim(5);
    expect(idsOf(claimed)).toEqual([holder]);
    expect(await stateOf(store, timed)).toBe("waiting");
    expect(idsOf((await worker.complete(claimed, 5)).claimed)).toEqual([timed]);
  });

  testWith(setup, "exact clock")("100 years ahead", async () => {
    const { store } = open();
    const name = await define(store);
    const taskId = await enqueueOne(store, name, { runInMs: 3_153_600_000_000 });
    expect((await factsOf(store, taskId)).dueInMs).toBe(3_153_600_000_000);
    expect((await statusOf(store, name)).nextDueMs).toBe(3_153_600_000_000);
  });
}

function describePromote(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("none: nothing is due, with when the next one is", async () => {
    const { store } = open();
    const name = await define(store);
    expect(await store.promoteScheduled({ name, most: 10 })).toEqual({
      status: "none",
      promoted: 0,
      nextDueMs: null,
      ready: false,
    });
    await enqueueOne(store, name, { runInMs: 5_000 });
    expect(await store.promoteScheduled({ name, most: 10 })).toEqual({
      status: "none",
      promoted: 0,
      nextDueMs: 5_000,
      ready: false,
    });
  });

  test("promoted: at most so many, 0 until the next when more are due; each once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(
      store,
      name,
      Array.from({ length: 5 }, () => ({ runInMs: 1_000 })),
    );
    await opened.advance(1_000);
    expect(await store.promoteScheduled({ name, most: 3 })).toEqual({
      status: "promoted",
      promoted: 3,
      nextDueMs: 0,
      ready: true,
    });
    expect(await store.promoteScheduled({ name, most: 3 })).toMatchObject({
      status: "promoted",
      promoted: 2,
      nextDueMs: null,
    });
    expect((await store.promoteScheduled({ name, most: 3 })).status).toBe("none");
    expect(await statusOf(store, name)).toMatchObject({ ready: 5, scheduled: 0 });
  });

  test("Q3: eight at once promote 2,000 due tasks, each once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(
      store,
      name,
      Array.from({ length: 2_000 }, () => ({ runInMs: 1_000 })),
    );
    await opened.advance(1_000);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => store.promoteScheduled({ name, most: 2_000 })),
    );
    expect(answers.reduce((sum, answer) => sum + answer.promoted, 0)).toBe(2_000);
    expect(await statusOf(store, name)).toMatchObject({ ready: 2_000, scheduled: 0 });
  });

  test("makes the groups that a transaction left to be made, and admits in order", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = Array.from({ length: 3 }, () => ({ payload: null, group: "new" }));
    const { taskIds } = await store.transaction((transaction) =>
      store.enqueueTasks({ name, build: 1, operationId: null, tasks }, transaction),
    );
    expect(await store.promoteScheduled({ name, most: 10 })).toMatchObject({
      promoted: 3,
      ready: true,
    });
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, waiting: 2, scheduled: 0 });
    expect(await stateOf(store, at(taskIds, 0))).toBe("ready");
  });

  test("refuses a bad number and an unknown definition, naming them", async () => {
    const { store } = open();
    const name = await define(store);
    for (const most of [0, -1, 10_001]) {
      await expectError(store.promoteScheduled({ name, most }), {
        code: "TASKGATE_ARG_INVALID",
        field: "most",
        value: most,
      });
    }
    expect((await store.promoteScheduled({ name, most: 10_000 })).status).toBe("none");
    await expectError(store.promoteScheduled({ name: "nobody", most: 1 }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
      value: "nobody",
    });
  });
}
