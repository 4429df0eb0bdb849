import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import { seededRandom } from "../../shared/testing/seeded-random";
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
  testSeed,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Groups: at most so many of a key's tasks are ready or claimed at a time, in order (source text 001). */
export function describeGroups(setup: StoreSetup): void {
  describe("a group", () => {
    describeExclusion(setup);
  });
  describe("a group's order", () => {
    describeOrder(setup);
  });
  describe("a group's hand-over", () => {
    describeHandOver(setup);
  });
  describe("a global group", () => {
    describeGlobal(setup);
  });
}

/** Tasks of one group. */
function grouped(count: number, group = "g", changes: Partial<NewTask> = {}): Partial<NewTask>[] {
  return Array.from({ length: count }, () => ({ group, ...changes }));
}

async function statesOf(store: TaskStore, ids: readonly TaskId[]): Promise<string[]> {
  const states: string[] = [];
  for (const id of ids) states.push(await stateOf(store, id));
  return states;
}

/** Twelve tasks as in source text 001: 1, 5, 9 in group 1, 3, 7, 11 in group 3, the even ones alone. */
function seedTasks(): Partial<NewTask>[] {
  return Array.from({ length: 12 }, (_, index) => {
    const number = index + 1;
    if (number % 4 === 1) return { group: "1" };
    return number % 4 === 3 ? { group: "3" } : {};
  });
}

function describeExclusion(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a claim with groups and N = 6 takes 1,2,3,4,6,8 of the source text's data, then 10,12, then the rest as groups are freed (S1.5, S1.9)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 12, prefetchMax: 0 });
    const ids = await enqueue(store, name, seedTasks());
    const numbers = (tasks: { taskId: TaskId }[]) => idsOf(tasks).map((id) => ids.indexOf(id) + 1);
    const first = await startWorker(store, name, { want: 6 });
    const second = await startWorker(store, name, { want: 6 });
    const batch = await first.claim(6);
    expect(numbers(batch)).toEqual([1, 2, 3, 4, 6, 8]);
    expect(numbers(await second.claim(6))).toEqual([10, 12]);
    expect(await second.claim(6)).toEqual([]);
    const next = await first.complete(batch, 6);
    expect(numbers(next.claimed)).toEqual([5, 7]);
    expect(numbers((await first.complete(next.claimed, 6)).claimed)).toEqual([9, 11]);
  });

  for (const slots of [1, 3]) {
    test(`a group of ${String(slots)} slots has as many tasks ready or claimed, and the rest waits (S1.3)`, async () => {
      const { store } = open();
      const name = await define(store, { limit: 20, groupSlots: slots });
      const ids = await enqueue(store, name, grouped(5));
      expect(await statusOf(store, name)).toMatchObject({ ready: slots, waiting: 5 - slots });
      const worker = await startWorker(store, name, { want: 20 });
      const claimed = await worker.claim(20);
      expect(idsOf(claimed)).toEqual(ids.slice(0, slots));
      const next = await worker.complete(claimed.slice(0, 1), 20);
      expect(idsOf(next.claimed)).toEqual([at(ids, slots)]);
      expect(await statusOf(store, name)).toMatchObject({ claimed: slots, waiting: 4 - slots });
    });
  }

  test("groups of different keys don't exclude each other; keys are compared exactly", async () => {
    const { store } = open();
    const name = await define(store, { limit: 20 });
    await enqueue(
      store,
      name,
      ["a", "A", "\u00e4", "a ".trim() + "b", "\u{1f680}"].map((group) => ({ group })),
    );
    expect(await statusOf(store, name)).toMatchObject({ ready: 5, waiting: 0 });
  });

  test("the same key under two definitions is two groups", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    await enqueueOne(store, one, { group: "g" });
    await enqueueOne(store, two, { group: "g" });
    expect((await statusOf(store, one)).ready).toBe(1);
    expect((await statusOf(store, two)).ready).toBe(1);
  });

  test("1,000 tasks that wait in one group don't keep others from being claimed (S1.9)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    await enqueue(store, name, grouped(1_000));
    const free = await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 10 });
    expect(idsOf(await worker.claim(10)).slice(1)).toEqual(free);
    expect((await statusOf(store, name)).waiting).toBe(999);
  });

  test("a group never exceeds its slots, with any agents, batches, failures and ends (random walk) (S1.3, S1.8)", async () => {
    const { store } = open();
    const slots = 2;
    const name = await define(store, {
      limit: 1_000,
      groupSlots: slots,
      retryAttempts: 3,
      prefetchMax: 2,
    });
    const seed = testSeed();
    const random = seededRandom(seed);
    const pick = (below: number): number => Math.floor(random() * below);
    const groupOf = new Map<TaskId, string>();
    for (let call = 0; call < 6; call += 1) {
      const tasks = Array.from({ length: 10 }, () => ({
        group: `g${String(pick(4))}`,
        priority: pick(3),
      }));
      for (const [index, id] of (await enqueue(store, name, tasks)).entries())
        groupOf.set(id, at(tasks, index).group);
    }
    const running = new Map<string, number>();
    let ended = 0;
    for (let round = 0; round < 300 && ended < 60; round += 1) {
      const worker = await startWorker(store, name, { want: 1 + pick(3) });
      const tasks = await worker.claim(1 + pick(8));
      for (const task of tasks) {
        const group = groupOf.get(task.taskId) ?? "";
        running.set(group, (running.get(group) ?? 0) + 1);
      }
      expect({ seed, max: Math.max(0, ...running.values()) <= slots }).toEqual({
        seed,
        max: true,
      });
      const completed = tasks.filter(() => random() < 0.6);
      ended += completed.length;
      await worker.complete(completed);
      const failed = tasks.filter((task) => !completed.includes(task) && random() < 0.5);
      if (failed.length > 0) {
        const { results } = await worker.fail(failed, { retryInMs: 0 });
        ended += results.filter((result) => result.outcome === "dead").length;
      }
      await worker.finish();
      running.clear();
    }
    expect({ seed, ended }).toEqual({ seed, ended: 60 });
  });

  test("a group's key takes 200 characters; none, 201 and blanks at the ends are refused", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueueOne(store, name, { group: "g".repeat(200) });
    for (const group of ["", "g".repeat(201), " g", "g "]) {
      await expectError(enqueue(store, name, [{}, { group }]), {
        code: "TASKGATE_ARG_INVALID",
        field: "tasks[1].group".replace(/[[\]]/g, "."),
        value: group,
      });
    }
    expect((await statusOf(store, name)).ready).toBe(1);
  });
}

function describeOrder(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a group's tasks are ready by priority, then by id (S1.4)", async () => {
    const { store } = open();
    const name = await define(store);
    const [first, second] = await enqueue(store, name, grouped(2));
    const urgent = await enqueueOne(store, name, { group: "g", priority: 1 });
    const worker = await startWorker(store, name);
    const order: TaskId[] = [];
    let tasks = await worker.claim(5);
    while (tasks.length > 0) {
      order.push(...idsOf(tasks));
      tasks = (await worker.complete(tasks, 5)).claimed;
    }
    expect(order).toEqual([first, urgent, second]);
  });

  test("a call's own tasks are ordered by priority before their input order (S1.4)", async () => {
    const { store } = open();
    const name = await define(store);
    const [slow, fast] = await enqueue(store, name, [
      { group: "g", priority: 5 },
      { group: "g", priority: 1 },
    ]);
    expect(
      await statesOf(
        store,
        [slow, fast].flatMap((id) => id ?? []),
      ),
    ).toEqual(["waiting", "ready"]);
  });

  test("no task overtakes: a later enqueue waits behind those that wait", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10, groupSlots: 2 });
    const ids = await enqueue(store, name, grouped(4));
    const worker = await startWorker(store, name, { want: 10 });
    const claimed = await worker.claim(10);
    const late = await enqueueOne(store, name, { group: "g" });
    await worker.complete(claimed.slice(0, 1));
    expect(await statesOf(store, [...ids, late])).toEqual([
      "done",
      "claimed",
      "ready",
      "waiting",
      "waiting",
    ]);
  });

  test("a strict group keeps its order over failures, and waits for the retry", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupStrict: true, limit: 10 });
    const ids = await enqueue(store, name, grouped(2));
    const worker = await startWorker(store, name, { want: 10 });
    await worker.fail([await worker.claimOne()], { retryInMs: 5_000 });
    expect(await statesOf(store, ids)).toEqual(["scheduled", "waiting"]);
    expect(await worker.claim(5)).toEqual([]);
    await opened.advance(5_000);
    const again = await worker.claim(5);
    expect(idsOf(again)).toEqual([at(ids, 0)]);
    expect(idsOf((await worker.complete(again, 5)).claimed)).toEqual([at(ids, 1)]);
  });

  test("a strict group keeps its order over a continuation, a give-back and a reclaim, too", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupStrict: true, limit: 10, leaseMs: 10_000 });
    const ids = await enqueue(store, name, grouped(2));
    const first = await startWorker(store, name);
    await first.fail([await first.claimOne()], { as: "continued", checkpoint: "[1]" });
    expect(await statesOf(store, ids)).toEqual(["scheduled", "waiting"]);
    expect(idsOf(await first.claim(5))).toEqual([at(ids, 0)]);
    await first.finish();
    expect(await statesOf(store, ids)).toEqual(["ready", "waiting"]);
    const second = await startWorker(store, name);
    await second.claimOne();
    await opened.advance(10_001);
    await store.reclaimExpired({ max: 10 });
    expect(await statesOf(store, ids)).toEqual(["ready", "waiting"]);
  });

  test("a dead letter ends the wait of a strict group", async () => {
    const { store } = open();
    const name = await define(store, { groupStrict: true });
    const ids = await enqueue(store, name, grouped(2));
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "dead" });
    expect(await statesOf(store, ids)).toEqual(["dead", "ready"]);
  });

  test("a failed task of a group that isn't strict leaves its slot to the next and queues again when due, by its old id", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10 });
    const ids = await enqueue(store, name, grouped(3));
    const worker = await startWorker(store, name, { want: 10 });
    await worker.fail([await worker.claimOne()], { retryInMs: 5_000 });
    expect(await statesOf(store, ids)).toEqual(["scheduled", "ready", "waiting"]);
    const second = await worker.claim(5);
    await opened.advance(5_000);
    await store.promoteScheduled({ name, max: 10 });
    expect(await statesOf(store, ids)).toEqual(["waiting", "claimed", "waiting"]);
    expect(idsOf((await worker.complete(second, 5)).claimed)).toEqual([at(ids, 0)]);
  });
}

function describeHandOver(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const end of ["done", "dead", "cancelled"] as const) {
    test(`a task that ends ${end} makes the next of its group ready in the same call (S1.4)`, async () => {
      const { store } = open();
      const name = await define(store);
      const ids = await enqueue(store, name, grouped(3));
      const worker = await startWorker(store, name);
      const task = await worker.claimOne();
      if (end === "done") await worker.complete([task]);
      else await worker.fail([task], { as: end });
      expect(await statesOf(store, ids)).toEqual([end, "ready", "waiting"]);
    });
  }

  test("a completion of several groups' tasks at once hands each over", async () => {
    const { store } = open();
    const name = await define(store, { limit: 50 });
    const keys = ["c", "a", "e", "b", "d"];
    const ids = await enqueue(
      store,
      name,
      [...keys, ...keys].map((group) => ({ group })),
    );
    const worker = await startWorker(store, name, { want: 10 });
    const claimed = await worker.claim(10);
    expect(idsOf(claimed)).toEqual(ids.slice(0, 5));
    const answer = await worker.complete([...claimed].reverse(), 10);
    expect(idsOf(answer.claimed)).toEqual(ids.slice(5));
  });

  test("three slots freed in one call admit three", async () => {
    const { store } = open();
    const name = await define(store, { limit: 20, groupSlots: 3 });
    const ids = await enqueue(store, name, grouped(7));
    const worker = await startWorker(store, name, { want: 20 });
    const first = await worker.claim(20);
    const second = await worker.complete(first, 20);
    expect(idsOf(second.claimed)).toEqual(ids.slice(3, 6));
    expect(idsOf((await worker.complete(second.claimed, 20)).claimed)).toEqual(ids.slice(6));
  });

  testWith(setup, "raw sql")(
    "a group that is paused, or has more tasks than slots, hands no task a slot",
    async () => {
      const opened = open();
      const { store } = opened;
      const isMssql = setup.dialect === "mssql";
      const change = (text: string) =>
        opened.raw(`UPDATE ${isMssql ? "Taskgate.TaskGroup" : "taskgate.task_group"} SET ${text}`);
      const name = await define(store, { limit: 10, groupSlots: 3 });
      await enqueue(
        store,
        name,
        Array.from({ length: 6 }, () => ({ group: "g" })),
      );
      const worker = await startWorker(store, name, { want: 10 });
      const [first, second, third] = await worker.claim(3);
      if (first === undefined || second === undefined || third === undefined)
        throw new Error("none");
      await change("Slots = 1");
      expect((await worker.complete([first], 5)).claimed).toEqual([]);
      expect((await worker.complete([second], 5)).claimed).toEqual([]);
      await change(`Slots = 3, Paused = ${isMssql ? "1" : "true"}`);
      expect((await worker.complete([third], 5)).claimed).toEqual([]);
      expect((await statusOf(store, name)).waiting).toBe(3);
      await change(`Paused = ${isMssql ? "0" : "false"}`);
      await enqueue(store, name, [{ group: "g" }]);
      opened.expectDamage();
    },
  );

  testWith(setup, "raw sql")(
    "a group that is gone: a named error, and the task stays claimed",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      await enqueue(store, name, [{ group: "g" }]);
      const worker = await startWorker(store, name);
      const task = await worker.claimOne();
      opened.expectDamage();
      await opened.raw(
        setup.dialect === "mssql"
          ? "DELETE FROM Taskgate.TaskGroup"
          : "delete from taskgate.task_group",
      );
      await expectError(worker.complete([task]), { code: "TASKGATE_STORE_CONTRACT" });
      expect((await statusOf(store, name)).claimed).toBe(1);
    },
  );

  test("explain tells the group's slots, its holders and the tasks ahead", async () => {
    const { store } = open();
    const name = await define(store, { groupSlots: 2, groupStrict: true });
    const ids = await enqueue(store, name, grouped(5, "customer-7"));
    expect((await factsOf(store, at(ids, 4))).group).toEqual({
      key: "customer-7",
      slots: 2,
      used: 2,
      paused: false,
      strict: true,
      isGlobal: false,
      ahead: 2,
      holders: ids.slice(0, 2),
    });
  });

  testWith(setup, "cancel requests")(
    "a give-back that ends a cancelled task hands over",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const ids = await enqueue(store, name, grouped(2));
      const worker = await startWorker(store, name);
      await worker.claimOne();
      await opened.requestCancel(at(ids, 0));
      expect(await worker.finish()).toMatchObject({ status: "ended", ready: true });
      expect(await statesOf(store, ids)).toEqual(["cancelled", "ready"]);
    },
  );
}

function describeGlobal(setup: StoreSetup): void {
  const open = useStore(setup);
  const shared = { group: "partner", groupScope: "global" } as const;

  test("tasks of different definitions exclude each other; the other's name is told for a hint", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    const mine = await enqueueOne(store, one, shared);
    const theirs = await enqueueOne(store, two, shared);
    expect(await statesOf(store, [mine, theirs])).toEqual(["ready", "waiting"]);
    expect((await factsOf(store, theirs)).group).toMatchObject({ isGlobal: true, holders: [mine] });
    const worker = await startWorker(store, one);
    const answer = await worker.complete([await worker.claimOne()]);
    expect(answer.woken).toEqual([two]);
    expect(await stateOf(store, theirs)).toBe("ready");
  });

  test("a failure, a dead letter and a completion in a transaction tell it, too", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    const worker = await startWorker(store, one);
    const finishers = [
      async () => (await worker.fail([await worker.claimOne()], { retryInMs: 60_000 })).woken,
      async () => (await worker.fail([await worker.claimOne()], { as: "dead" })).woken,
      async () => {
        const { taskId, fence } = await worker.claimOne();
        const { executionId } = worker;
        const input = { executionId, taskId, fence, durationMs: 1, result: null };
        return (await store.completeTask(input)).woken;
      },
    ];
    for (const [index, finish] of finishers.entries()) {
      const group = { group: `key-${String(index)}`, groupScope: "global" } as const;
      await enqueueOne(store, one, group);
      await enqueueOne(store, two, group);
      expect(await finish()).toEqual([two]);
    }
    expect((await statusOf(store, two)).ready).toBe(3);
  });

  test("a global group's hand-over isn't told to its own definition", async () => {
    const { store } = open();
    const one = await define(store);
    await enqueue(store, one, [shared, shared]);
    const worker = await startWorker(store, one);
    expect((await worker.complete([await worker.claimOne()])).woken).toEqual([]);
  });

  test("a global group's order holds over definitions: by priority, then by id", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    await enqueueOne(store, one, shared);
    const second = await enqueueOne(store, two, shared);
    const third = await enqueueOne(store, one, shared);
    const urgent = await enqueueOne(store, two, { ...shared, priority: 1 });
    const first = await startWorker(store, one);
    expect((await first.complete([await first.claimOne()])).woken).toEqual([two]);
    const other = await startWorker(store, two);
    expect(idsOf(await other.claim(5))).toEqual([urgent]);
    await other.complete((await other.again()).claimed);
    expect(await statesOf(store, [second, third])).toEqual(["ready", "waiting"]);
  });

  test("the key of the definition's scope and the global one are two groups", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, [{ group: "k" }, { group: "k", groupScope: "global" }]);
    expect((await statusOf(store, name)).ready).toBe(2);
  });
}
