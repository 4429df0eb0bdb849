import { describe, expect, test } from "@jest/globals";
import type { EnqueueTasksInput, NewTask } from "../../shared/ports/task-store";
import { at, define, enqueue, operationId, statusOf } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Keys, operation ids and bad entries in numbers: many in one call, and used twice. */
export function describeEnqueueKeys(setup: StoreSetup): void {
  describe("an enqueue with many keys", () => {
    describeMany(setup);
  });
  describe("an operation id of another operation", () => {
    describeOperations(setup);
  });
  describe("an enqueue with several bad tasks", () => {
    describeBad(setup);
  });
}

function input(name: string, tasks: readonly Partial<NewTask>[]): EnqueueTasksInput {
  return {
    name,
    build: 1,
    operationId: null,
    tasks: tasks.map((task) => ({ payload: null, ...task })),
  };
}

function describeMany(setup: StoreSetup): void {
  const open = useStore(setup);

  test("1,001 keys whose windows are over are taken again, each by its new task", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const keys = Array.from({ length: 1_001 }, (_, index) => `k${String(index)}`);
    const old = await enqueue(
      store,
      name,
      keys.map((dedupeKey) => ({ dedupeKey, dedupeMs: 1_000 })),
    );
    await opened.advance(1_001);
    const tasks = keys.map((dedupeKey) => ({ dedupeKey }));
    const fresh = await store.enqueueTasks(input(name, tasks));
    expect(new Set(fresh.outcomes)).toEqual(new Set(["enqueued"]));
    expect(new Set([...old, ...fresh.taskIds]).size).toBe(2_002);
    const again = await store.enqueueTasks(input(name, tasks));
    expect(new Set(again.outcomes)).toEqual(new Set(["duplicate"]));
    expect(again.taskIds).toEqual(fresh.taskIds);
  });

  test("1,001 tasks of which one has a key are all there", async () => {
    const { store } = open();
    const name = await define(store);
    const plain = Array.from({ length: 1_000 }, () => ({}));
    expect(new Set(await enqueue(store, name, [...plain, { dedupeKey: "k" }])).size).toBe(1_001);
    expect((await statusOf(store, name)).ready).toBe(1_001);
  });

  testWith(setup, "row locks")(
    "a user's transaction that holds 2,000 keys keeps no other key waiting",
    async () => {
      const { store } = open();
      const [name, other] = [await define(store), await define(store)];
      const keys = (count: number, prefix: string): Partial<NewTask>[] =>
        Array.from({ length: count }, (_, n) => ({ dedupeKey: `${prefix}${String(n)}` }));
      await store.transaction(async (transaction) => {
        await store.enqueueTasks(input(name, keys(2_000, "mine ")), transaction);
        // A call that had to wait would wait for this transaction, and give up.
        const same = await store.enqueueTasks(input(name, keys(100, "yours ")));
        const others = await store.enqueueTasks(input(other, keys(100, "mine ")));
        expect(new Set([...same.outcomes, ...others.outcomes])).toEqual(new Set(["enqueued"]));
      });
      const again = await store.enqueueTasks(input(name, keys(1, "mine ")));
      expect(again.outcomes).toEqual(["duplicate"]);
    },
  );

  testWith(setup, "exact clock")(
    "a key is held exactly at the end of its window, however often it is asked for",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, [{ dedupeKey: "k", dedupeMs: 10_000 }]);
      await opened.advance(10_000);
      for (let ask = 0; ask < 3; ask += 1) {
        const { outcomes } = await store.enqueueTasks(input(name, [{ dedupeKey: "k" }]));
        expect(outcomes).toEqual(["duplicate"]);
      }
    },
  );
}

function describeOperations(setup: StoreSetup): void {
  const open = useStore(setup);

  test("an operation id of another operation is refused, naming it, and nothing is enqueued", async () => {
    const { store } = open();
    const name = await define(store);
    const id = operationId();
    await store.setLimit({ name, limit: 2, operationId: id, changedBy: "an operator" });
    await expectError(store.enqueueTasks({ ...input(name, [{}]), operationId: id }), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "operationId",
      value: id,
    });
    expect((await statusOf(store, name)).ready).toBe(0);
  });

  test("an operation id of another operation is refused in a transaction, too, of which nothing is left", async () => {
    const { store } = open();
    const name = await define(store);
    const id = operationId();
    await store.setLimit({ name, limit: 2, operationId: id, changedBy: "an operator" });
    const call = store.transaction(async (transaction) => {
      await store.enqueueTasks(input(name, [{}]), transaction);
      await store.enqueueTasks({ ...input(name, [{}]), operationId: id }, transaction);
    });
    await expectError(call, { code: "TASKGATE_ARG_CONFLICT", field: "operationId" });
    expect((await statusOf(store, name)).ready).toBe(0);
  });
}

function describeBad(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the first one is named", async () => {
    const { store } = open();
    const name = await define(store);
    const bad: Partial<NewTask>[] = [{ kind: "" }, { priority: 40_000 }, { group: " g" }];
    for (const order of [
      [0, 1, 2],
      [2, 0, 1],
      [1, 2, 0],
    ]) {
      const tasks = [{}, ...order.map((index) => at(bad, index)), {}];
      const field = at(["kind", "priority", "group"], at(order, 0));
      await expectError(enqueue(store, name, tasks), {
        code: "TASKGATE_ARG_INVALID",
        field: `tasks.1..${field}`,
      });
    }
    expect((await statusOf(store, name)).ready).toBe(0);
  });
}
