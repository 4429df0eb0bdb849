import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import { compareTexts } from "../../shared/core/text";
import type { TaskStore } from "../../shared/ports/task-store";
import { at, define, enqueue, failure, startWorker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Tasks that die of these errors, one after the other. */
async function die(store: TaskStore, name: string, errors: readonly string[]): Promise<TaskId[]> {
  const ids = await enqueue(store, name, errors.length);
  const worker = await startWorker(store, name);
  for (const error of errors) {
    await worker.fail([await worker.claimOne()], { as: "dead", error });
  }
  await worker.finish();
  return ids;
}

/** Dead tasks are put together by definition, kind and error. */
export function describeFailureList(setup: StoreSetup): void {
  describe("list_failures", () => {
    const open = useStore(setup);

    test("no task is dead: nothing is listed", async () => {
      const { store } = open();
      const name = await define(store);
      await enqueue(store, name, 1);
      const nothing = { lookedAt: 0, isWhole: true, failures: [] };
      expect(await store.listFailures({ max: 100 })).toEqual(nothing);
      expect(await store.listFailures({ name, max: 100 })).toEqual(nothing);
    });

    test("equal errors of one kind are one entry, most first, with their ids newest first", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const [first] = await die(store, name, ["refused"]);
      await opened.advance(1_000);
      const [other] = await die(store, name, ["time-out"]);
      await opened.advance(1_000);
      const [second] = await die(store, name, ["refused"]);
      const { failures, ...rest } = await store.listFailures({ name, max: 100 });
      expect(rest).toEqual({ lookedAt: 3, isWhole: true });
      expect(failures).toMatchObject([
        { definition: name, error: "refused", count: 2, taskIds: [second, first] },
        { definition: name, error: "time-out", count: 1, taskIds: [other] },
      ]);
      const [refused, timeOut] = failures;
      const ms = Date.parse(refused?.lastAt ?? "") - Date.parse(refused?.firstAt ?? "");
      expect(ms).toBeGreaterThanOrEqual(2_000);
      expect(timeOut?.firstAt).toBe(timeOut?.lastAt);
    });

    test("kinds, capitals and definitions are told apart", async () => {
      const { store } = open();
      const name = await define(store);
      const other = await define(store);
      await die(store, name, ["refused", "Refused"]);
      await enqueue(store, name, [{ kind: "another kind" }]);
      const worker = await startWorker(store, name);
      await worker.fail([await worker.claimOne()], { as: "dead", error: "refused" });
      await die(store, other, ["refused"]);
      const { failures, lookedAt } = await store.listFailures({ max: 100 });
      expect(lookedAt).toBe(4);
      expect(failures).toHaveLength(4);
      expect(failures.every(({ count }) => count === 1)).toBe(true);
      expect((await store.listFailures({ name: other, max: 100 })).failures).toHaveLength(1);
    });

    test("300 characters of an error count, and none of the blanks at its end", async () => {
      const { store } = open();
      const name = await define(store);
      const long = "e".repeat(300);
      await die(store, name, [`${long} of task 1`, `${long} of task 2`, "refused  ", "refused"]);
      const { failures } = await store.listFailures({ name, max: 100 });
      expect(failures.map(({ error, count }) => ({ error, count }))).toEqual(
        expect.arrayContaining([
          { error: long, count: 2 },
          { error: "refused", count: 2 },
        ]),
      );
      expect(failures).toHaveLength(2);
    });

    test("texts come back as they were: quotes, lines, signs of other scripts", async () => {
      const { store } = open();
      const name = await define(store);
      const error = 'Expected "x",\n\tgot \\ 你好 😀';
      await die(store, name, [error]);
      const { failures } = await store.listFailures({ name, max: 100 });
      expect(failures).toMatchObject([{ error, count: 1 }]);
    });

    test("list_failures leaves out done and cancelled tasks", async () => {
      const { store } = open();
      const name = await define(store);
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name);
      const claimed = await worker.claimOne();
      await worker.complete([claimed]);
      await worker.fail([await worker.claimOne()], { as: "cancelled", error: "not wanted" });
      expect((await store.listFailures({ max: 100 })).lookedAt).toBe(0);
    });

    test("a redriven task isn't a failure any more", async () => {
      const { store } = open();
      const name = await define(store);
      const taskIds = await die(store, name, ["refused"]);
      await store.redriveTasks({ taskIds });
      expect((await store.listFailures({ name, max: 100 })).failures).toEqual([]);
    });

    test("the newest dead tasks are looked at, and the answer says when there are others", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await die(store, name, ["old"]);
      await opened.advance(1_000);
      await die(store, name, ["new", "new"]);
      expect(await store.listFailures({ name, max: 2 })).toMatchObject({
        lookedAt: 2,
        isWhole: false,
        failures: [{ error: "new", count: 2 }],
      });
      expect(await store.listFailures({ name, max: 3 })).toMatchObject({
        lookedAt: 3,
        isWhole: true,
      });
    });

    test("list_failures of all definitions looks at 10 dead tasks of each at least", async () => {
      const { store } = open();
      const many = await define(store);
      const few = await define(store);
      await die(
        store,
        many,
        Array.from({ length: 11 }, () => "refused"),
      );
      await die(store, few, ["time-out"]);
      expect(await store.listFailures({ max: 1 })).toMatchObject({
        lookedAt: 11,
        isWhole: false,
        failures: [
          { definition: many, count: 10 },
          { definition: few, count: 1 },
        ],
      });
      expect(await store.listFailures({ max: 100 })).toMatchObject({
        lookedAt: 12,
        isWhole: true,
      });
    });

    test("entries of as many tasks come by their last end, the later first, and of one instant by their ids", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 9 });
      const ids = await enqueue(store, name, 9);
      const worker = await startWorker(store, name, { want: 9 });
      const claimed = await worker.claim(9);
      await worker.fail(claimed.slice(6), { as: "dead", error: "three" });
      await opened.advance(1_000);
      await worker.fail(claimed.slice(4, 6), { as: "dead", error: "early" });
      await opened.advance(1_000);
      const errors = ["outer", "inner", "inner", "outer"];
      await store.failTasks({
        executionId: worker.executionId,
        failures: errors.map((error, n) => failure(at(claimed, n), { as: "dead", error })),
      });
      const late = [
        { error: "outer", ids: [ids[3], ids[0]].join() },
        { error: "inner", ids: [ids[2], ids[1]].join() },
      ].sort((a, b) => compareTexts(a.ids, b.ids));
      const expected = ["three", ...late.map(({ error }) => error), "early"];
      for (const asked of [{ name }, {}]) {
        const { failures } = await store.listFailures({ ...asked, max: 100 });
        expect(failures.map(({ error }) => error)).toEqual(expected);
      }
    });

    test("tasks of an entry come by their end, the later first, and of one instant the greatest id", async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 4 });
      const [a, b, c, d] = await enqueue(store, name, 4);
      const worker = await startWorker(store, name, { want: 4 });
      const claimed = await worker.claim(4);
      await worker.fail(claimed.slice(2), { as: "dead", error: "refused" });
      await opened.advance(1_000);
      await worker.fail(claimed.slice(0, 2), { as: "dead", error: "refused" });
      const newestFirst = [b, a, d, c];
      for (const max of [1, 2, 3, 4])
        expect(await store.listFailures({ name, max })).toMatchObject({
          isWhole: max === 4,
          failures: [{ count: max, taskIds: newestFirst.slice(0, max) }],
        });
    });

    test("list_failures of all definitions shares the number among those with dead tasks, without what else has ended", async () => {
      const { store } = open();
      const names = [await define(store, { limit: 15 }), await define(store, { limit: 15 })];
      for (const name of [...names, await define(store), await define(store)]) {
        await enqueue(store, name, 16);
        const worker = await startWorker(store, name, { want: 15 });
        await worker.complete(await worker.claim(1));
        const claimed = await worker.claim(15);
        if (names.includes(name)) await worker.fail(claimed, { as: "dead", error: "refused" });
        else await worker.fail(claimed, { as: "cancelled" });
        await worker.finish();
      }
      const looked = async (max: number): Promise<[number, boolean]> => {
        const { lookedAt, isWhole } = await store.listFailures({ max });
        return [lookedAt, isWhole];
      };
      expect(await looked(24)).toEqual([24, false]);
      expect(await looked(30)).toEqual([30, true]);
      expect(await store.listFailures({ name: names[0] ?? "", max: 12 })).toMatchObject({
        lookedAt: 12,
        isWhole: false,
      });
    });

    test.each([0, 5_001])("max %p is refused", async (max) => {
      const { store } = open();
      await expectError(store.listFailures({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    });

    test("list_failures with two faults tells the number's", async () => {
      const { store } = open();
      await expectError(store.listFailures({ name: "none", max: 0 }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: 0,
      });
    });

    test("an unknown definition is refused by its name", async () => {
      const { store } = open();
      await expectError(store.listFailures({ name: "nobody's", max: 1 }), {
        code: "TASKGATE_ARG_UNKNOWN",
        field: "name",
        value: "nobody's",
      });
    });
  });
}
