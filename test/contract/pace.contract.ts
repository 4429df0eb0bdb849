import { describe, expect, test } from "@jest/globals";
import { at, define, enqueue, enqueueOne, startWorker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

const none = { oldestReady: null, ended: 0, overMs: null, kinds: [] };

/** How fast tasks of a definition end, how long they run, and how old the oldest ready one is. */
export function describePace(setup: StoreSetup): void {
  describe("read_pace", () => {
    const open = useStore(setup);

    test("a definition without tasks has no pace", async () => {
      const { store } = open();
      const name = await define(store);
      expect(await store.readPace({ name, max: 1_000 })).toMatchObject(none);
    });

    test("the oldest ready task is found behind more urgent ones", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const oldest = await enqueueOne(store, name, { priority: 900 });
      await opened.advance(2_000);
      await enqueue(store, name, [{ priority: 1 }, { priority: 1 }, { priority: 900 }]);
      const { oldestReady } = await store.readPace({ name, max: 10 });
      expect(oldestReady?.taskId).toBe(oldest);
      expect(oldestReady?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    });

    test("the oldest ready task is found at the last priority that there is", async () => {
      const { store } = open();
      const name = await define(store);
      const task = await enqueueOne(store, name, { priority: 32_767 });
      expect((await store.readPace({ name, max: 10 })).oldestReady?.taskId).toBe(task);
    });

    test("scheduled and claimed tasks aren't the oldest ready one", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueueOne(store, name, { priority: 1 });
      await enqueueOne(store, name, { runInMs: 60_000 });
      const ready = await enqueueOne(store, name, { priority: 2 });
      const worker = await startWorker(store, name);
      await worker.claimOne();
      expect((await store.readPace({ name, max: 10 })).oldestReady?.taskId).toBe(ready);
    });

    test("tasks that ended within the last hour are counted, over the time since the first of them", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, 4);
      const worker = await startWorker(store, name);
      await worker.complete([await worker.claimOne()]);
      await opened.advance(60_000 * 61);
      const second = await startWorker(store, name);
      await second.complete([await second.claimOne()]);
      await opened.advance(5_000);
      await second.complete([await second.claimOne()]);
      const pace = await store.readPace({ name, max: 10 });
      expect(pace.ended).toBe(2);
      expect(pace.overMs).toBeGreaterThanOrEqual(5_000);
      expect(pace.overMs).toBeLessThan(3_600_000);
    });

    testWith(setup, "exact clock")(
      "a task counts until an hour after its end, and no longer",
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store);
        await enqueueOne(store, name);
        const worker = await startWorker(store, name);
        await worker.complete([await worker.claimOne()]);
        await opened.advance(3_599_999);
        expect(await store.readPace({ name, max: 10 })).toMatchObject({ ended: 1 });
        await opened.advance(1);
        expect(await store.readPace({ name, max: 10 })).toMatchObject({ ended: 0 });
      },
    );

    test("durations are told by kind: of half and of 99 in 100", async () => {
      const { store } = open();
      const name = await define(store, { limit: 200, prefetchMax: 0 });
      await enqueue(store, name, [
        ...Array.from({ length: 100 }, () => ({ kind: "a" })),
        { kind: "b" },
      ]);
      const worker = await startWorker(store, name, { want: 101 });
      const { claimed } = await worker.work({ want: 101 });
      await worker.work({
        done: claimed.map(({ taskId, fence, kind }, index) => ({
          taskId,
          fence,
          durationMs: kind === "a" ? index + 1 : 7,
          result: null,
        })),
        want: 0,
      });
      const { kinds, ended } = await store.readPace({ name, max: 1_000 });
      expect(ended).toBe(101);
      expect(kinds).toEqual([
        { kind: "a", ended: 100, p50Ms: 50, p99Ms: 99 },
        { kind: "b", ended: 1, p50Ms: 7, p99Ms: 7 },
      ]);
    });

    test("the newest ended tasks are looked at, as many as were asked for", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, [{ kind: "old" }, { kind: "new" }, { kind: "new" }]);
      const worker = await startWorker(store, name);
      await worker.complete([await worker.claimOne()]);
      await opened.advance(1_000);
      await worker.complete([await worker.claimOne()]);
      await worker.complete([await worker.claimOne()]);
      const { kinds, ended } = await store.readPace({ name, max: 2 });
      expect(ended).toBe(2);
      expect(kinds).toMatchObject([{ kind: "new", ended: 2 }]);
    });

    test("the newest are those that ended last, whatever the order of their ids", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 2 });
      await enqueue(store, name, [{ kind: "first" }, { kind: "second" }]);
      const worker = await startWorker(store, name, { want: 2 });
      const claimed = await worker.claim(2);
      await worker.complete([at(claimed, 1)]);
      await opened.advance(1_000);
      await worker.complete([at(claimed, 0)]);
      const { kinds } = await store.readPace({ name, max: 1 });
      expect(kinds).toMatchObject([{ kind: "first" }]);
    });

    test("the greater id of tasks that ended at the same instant is the newer one", async () => {
      const { store } = open();
      const name = await define(store, { limit: 2 });
      await enqueue(store, name, [{ kind: "first" }, { kind: "second" }]);
      const worker = await startWorker(store, name, { want: 2 });
      await worker.complete(await worker.claim(2));
      const { kinds } = await store.readPace({ name, max: 1 });
      expect(kinds).toMatchObject([{ kind: "second" }]);
    });

    test("durations count by length, and a task without one has ended and has none", async () => {
      const { store } = open();
      const name = await define(store, { limit: 6 });
      await enqueue(store, name, 6);
      const worker = await startWorker(store, name, { want: 6 });
      const claimed = await worker.claim(6);
      const durations = [40, null, 30, 10, null, 20];
      for (const [index, { taskId, fence }] of claimed.entries())
        await store.completeTask({
          ...{ executionId: worker.executionId, taskId, fence, result: null },
          durationMs: durations[index] ?? null,
        });
      const { kinds } = await store.readPace({ name, max: 10 });
      expect(kinds).toEqual([{ kind: name, ended: 6, p50Ms: 20, p99Ms: 40 }]);
    });

    test("dead and cancelled tasks, and those of other definitions, don't count", async () => {
      const { store } = open();
      const name = await define(store);
      const other = await define(store);
      await enqueue(store, name, 2);
      await enqueue(store, other, 1);
      const worker = await startWorker(store, name);
      await worker.fail([await worker.claimOne()], { as: "dead", error: "no use" });
      await worker.fail([await worker.claimOne()], { as: "cancelled", error: "not wanted" });
      const neighbour = await startWorker(store, other);
      await neighbour.complete([await neighbour.claimOne()]);
      expect(await store.readPace({ name, max: 10 })).toMatchObject(none);
    });

    test.each([0, 1_001])("max %p is refused", async (max) => {
      const { store } = open();
      const name = await define(store);
      await expectError(store.readPace({ name, max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    });

    test("read_pace with two faults tells the number's", async () => {
      const { store } = open();
      await expectError(store.readPace({ name: "nobody's", max: 0 }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: 0,
      });
    });

    test("an unknown definition is refused by its name", async () => {
      const { store } = open();
      await expectError(store.readPace({ name: "nobody's", max: 1 }), {
        code: "TASKGATE_ARG_UNKNOWN",
        field: "name",
        value: "nobody's",
      });
    });
  });
}
