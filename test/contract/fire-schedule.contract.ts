import { describe, expect, test } from "@jest/globals";
import { factsOf, registration, startWorker, stateOf } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { defineDue, fire, minuteMs, minutesAfter, setAll, theOne } from "./schedule-builders";

/** Due instants become tasks, each exactly once. */
export function describeFireSchedule(setup: StoreSetup): void {
  describe("fire_schedule", () => {
    describeFire(setup);
  });
  describe("fire_schedule's answer", () => {
    describeFireAnswer(setup);
  });
}

function describeFire(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a due instant becomes one task that carries it; the next one stands", async () => {
    const { store } = open();
    const { name, dueAt } = await defineDue(store, -1, { payload: '{"a":1}' });
    const answer = await fire(store, name);
    expect(answer).toMatchObject({ status: "fired", taskIds: [expect.any(String)] });
    const [taskId = ""] = answer.taskIds;
    const facts = await factsOf(store, taskId as (typeof answer.taskIds)[number]);
    expect(facts).toMatchObject({
      definition: name,
      kind: "a kind",
      state: "ready",
      priority: 100,
    });
    expect(facts.payload).toBe(`{"a":1,"scheduledFor":"${dueAt.toISOString()}"}`);
    expect(await theOne(store, name)).toMatchObject({
      runAt: minutesAfter(dueAt, 60).toISOString(),
      lastRunAt: dueAt.toISOString(),
    });
  });

  test("a schedule without a payload, or with an empty one, makes a payload of the instant alone", async () => {
    const { store } = open();
    for (const payload of [null, "{}", "{ }"]) {
      const { name, dueAt } = await defineDue(store, -1, { payload });
      await fire(store, name);
      const worker = await startWorker(store, name);
      const [task] = await worker.claim(1);
      expect(task?.payload).toEqual({ scheduledFor: dueAt.toISOString() });
      expect(task).toMatchObject({ kind: "a kind", attempt: 1, isFromNewerBuild: false });
    }
  });

  test("a second call with the same instant changes nothing", async () => {
    const { store } = open();
    const { name, dueAt } = await defineDue(store, -1);
    const { id } = await theOne(store, name);
    const input = {
      scheduleId: id,
      expectedRunAt: dueAt,
      runAts: [dueAt],
      nextRunAt: minutesAfter(dueAt, 60),
    };
    expect(await store.fireSchedule(input)).toMatchObject({ status: "fired" });
    expect(await store.fireSchedule(input)).toMatchObject({ status: "stale", taskIds: [] });
    expect((await store.sweep({ max: 10 })).definitions).toMatchObject([{ name, ready: 1 }]);
  });

  test("several missed instants become as many tasks, in order; none is possible, too", async () => {
    const { store } = open();
    const { name, dueAt } = await defineDue(store, -30);
    const answer = await fire(store, name, { minutes: [0, 10, 20], next: 30 });
    expect(answer.taskIds).toHaveLength(3);
    const worker = await startWorker(store, name, { want: 4 });
    const claimed = await worker.claim(4);
    expect(claimed.map((task) => task.taskId)).toEqual(answer.taskIds);
    expect(claimed.map((task) => task.payload)).toEqual(
      [0, 10, 20].map((minutes) => ({ scheduledFor: minutesAfter(dueAt, minutes).toISOString() })),
    );
    expect(await theOne(store, name)).toMatchObject({
      runAt: minutesAfter(dueAt, 30).toISOString(),
      lastRunAt: minutesAfter(dueAt, 20).toISOString(),
    });
    const none = await fire(store, name, { minutes: [], next: 60 });
    expect(none).toMatchObject({ status: "fired", taskIds: [] });
    expect((await theOne(store, name)).lastRunAt).toBe(minutesAfter(dueAt, 20).toISOString());
  });

  test("a schedule whose last instant was fired is never due again", async () => {
    const { store } = open();
    const { name } = await defineDue(store, -1);
    expect(await fire(store, name, { next: null })).toMatchObject({
      status: "fired",
      nextDueMs: null,
    });
    expect(await theOne(store, name)).toMatchObject({ runAt: null, inMs: null });
    expect((await store.sweep({ max: 10 })).schedules).toEqual([]);
  });

  test("tasks of a group go through its gate", async () => {
    const { store } = open();
    const { name } = await defineDue(store, -30, { group: "g" });
    const { taskIds } = await fire(store, name, { minutes: [0, 10], next: 20 });
    const [first, second] = taskIds;
    if (first === undefined || second === undefined) throw new Error("Expected two tasks");
    expect(await stateOf(store, first)).toBe("scheduled");
    await store.promoteScheduled({ name, max: 10 });
    expect(await stateOf(store, first)).toBe("ready");
    expect(await stateOf(store, second)).toBe("waiting");
    expect((await factsOf(store, second)).group).toMatchObject({ key: "g", isGlobal: false });
  });

  test("a task that a schedule enqueued is of the definition's build", async () => {
    const { store } = open();
    const { name } = await defineDue(store, -1);
    await store.registerDefinition(registration({ name, build: 7, settingsHash: "7" }));
    await fire(store, name);
    const worker = await startWorker(store, name, { build: 6, settingsHash: null });
    expect(await worker.claim(1)).toMatchObject([{ isFromNewerBuild: true }]);
  });
}

function describeFireAnswer(setup: StoreSetup): void {
  const open = useStore(setup);

  test("fire_schedule fires no early, paused, changed or removed schedule", async () => {
    const { store } = open();
    const early = await defineDue(store, 1);
    expect(await fire(store, early.name, { minutes: [] })).toMatchObject({ status: "early" });
    const { name } = await defineDue(store, -1);
    const seen = await theOne(store, name);
    const pause = { name, schedule: "nightly", nextRunAt: null, changedBy: "me" };
    await store.setSchedulePaused({ ...pause, paused: true });
    expect(await fire(store, name)).toEqual({ status: "paused", taskIds: [], nextDueMs: null });
    await setAll(store, name, []);
    const gone = {
      scheduleId: seen.id,
      expectedRunAt: new Date(seen.runAt ?? 0),
      runAts: [],
      nextRunAt: null,
    };
    expect(await store.fireSchedule(gone)).toEqual({
      status: "stale",
      taskIds: [],
      nextDueMs: null,
    });
    expect((await store.sweep({ max: 10 })).definitions).toEqual([]);
  });

  testWith(setup, "exact clock")(
    "a schedule is due at its very millisecond; nextDueMs tells",
    async () => {
      const opened = open();
      const { store } = opened;
      const { name } = await defineDue(store, 1);
      await opened.advance(minuteMs - 1);
      expect(await fire(store, name)).toEqual({ status: "early", taskIds: [], nextDueMs: 1 });
      await opened.advance(1);
      expect(await fire(store, name)).toMatchObject({ status: "fired", nextDueMs: 60 * minuteMs });
      const seen = await theOne(store, name);
      const stale = {
        scheduleId: seen.id,
        expectedRunAt: await opened.now(),
        runAts: [],
        nextRunAt: null,
      };
      expect(await store.fireSchedule(stale)).toMatchObject({
        status: "stale",
        nextDueMs: 60 * minuteMs,
      });
      await opened.advance(90 * minuteMs);
      expect(await fire(store, name, { next: 10 })).toMatchObject({
        status: "fired",
        nextDueMs: 0,
      });
    },
  );

  test("instants that aren't due, out of order or not after the others are refused", async () => {
    const { store } = open();
    const { name } = await defineDue(store, -10);
    const bad: { minutes?: number[]; next?: number }[] = [
      { minutes: [-1] },
      { minutes: [0, 0] },
      { minutes: [5, 3] },
      { minutes: [20] },
    ];
    for (const input of bad) {
      await expectError(fire(store, name, input), {
        code: "TASKGATE_ARG_INVALID",
        field: "runAts",
      });
    }
    for (const input of [{ next: 0 }, { next: -1 }, { minutes: [0, 5], next: 5 }]) {
      await expectError(fire(store, name, input), {
        code: "TASKGATE_ARG_INVALID",
        field: "nextRunAt",
      });
    }
    const many = Array.from({ length: 101 }, (_, n) => n / 1_000);
    await expectError(fire(store, name, { minutes: many }), {
      code: "TASKGATE_ARG_INVALID",
      field: "runAts",
    });
    expect(await fire(store, name, { minutes: many.slice(1) })).toMatchObject({ status: "fired" });
  });
}
