import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
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
import { useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** What becomes of due tasks that come together: in which order, in which group, how many at a time. */
export function describePromotion(setup: StoreSetup): void {
  describe("promote_scheduled, several due tasks", () => {
    describeOrder(setup);
  });
  describe("promote_scheduled, due tasks of groups", () => {
    describeGroups(setup);
  });
  describe("promote_scheduled, groups that a transaction left to be made", () => {
    describePending(setup);
  });
  describe("a scheduled task that was lost twice", () => {
    describeSolo(setup);
  });
}

async function statesOf(store: TaskStore, ids: readonly TaskId[]): Promise<string[]> {
  const states: string[] = [];
  for (const id of ids) states.push(await stateOf(store, id));
  return states;
}

/** Enqueues in a transaction of its own: grouped tasks are due now. */
async function enqueueJoined(
  store: TaskStore,
  name: string,
  tasks: readonly Partial<NewTask>[],
): Promise<TaskId[]> {
  const input = {
    name,
    build: 1,
    operationId: null,
    tasks: tasks.map((task) => ({ payload: null, ...task })),
  };
  const answer = await store.transaction((transaction) => store.enqueueTasks(input, transaction));
  return answer.taskIds;
}

function describeOrder(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the earliest instant first, whatever the order of the enqueues; of one instant the lowest id", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const late = await enqueueOne(store, name, { runInMs: 9_000 });
    const [early, twin] = await enqueue(store, name, [{ runInMs: 3_000 }, { runInMs: 3_000 }]);
    const middle = await enqueueOne(store, name, { runInMs: 6_000 });
    await opened.advance(9_000);
    const order = [early, twin, middle, late].flatMap((id) => id ?? []);
    for (const [index, id] of order.entries()) {
      expect(await statesOf(store, order.slice(index))).not.toContain("ready");
      expect((await store.promoteScheduled({ name, most: 1 })).promoted).toBe(1);
      expect(await stateOf(store, id)).toBe("ready");
    }
  });

  test("others' due tasks stay theirs", async () => {
    const opened = open();
    const { store } = opened;
    const mine = await define(store);
    const other = await define(store);
    await enqueue(store, mine, [{ runInMs: 1_000 }]);
    await enqueue(store, other, [{ runInMs: 1_000 }]);
    await opened.advance(1_000);
    expect(await store.promoteScheduled({ name: mine, most: 10 })).toMatchObject({ promoted: 1 });
    expect(await statusOf(store, other)).toMatchObject({ ready: 0, scheduled: 1 });
  });
}

function describeGroups(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the group's slots go by priority, then by id", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupSlots: 2 });
    const ids = await enqueue(store, name, [
      { group: "g", runInMs: 1_000 },
      { group: "g", runInMs: 1_000 },
      { group: "g", runInMs: 1_000, priority: 1 },
    ]);
    await opened.advance(1_000);
    await store.promoteScheduled({ name, most: 10 });
    expect(await statesOf(store, ids)).toEqual(["ready", "waiting", "ready"]);
    expect((await factsOf(store, at(ids, 0))).group?.holders).toEqual([at(ids, 2), at(ids, 0)]);
  });

  for (const order of [
    ["a", "b"],
    ["b", "a"],
  ]) {
    test(`a slot that is taken is passed over, in one group and not in the other (${order.join(", ")})`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { groupSlots: 2 });
      const entries = [...order, ...order].map((group) => ({ group, runInMs: 1_000 }));
      const first = await enqueueOne(store, name, { group: "a" });
      const ids = await enqueue(store, name, entries);
      await opened.advance(1_000);
      await store.promoteScheduled({ name, most: 10 });
      const expected = ["ready", ...order.map(() => "ready")];
      expect(await statesOf(store, [first, ...ids.slice(0, 2)])).toEqual(expected);
      const waiting = order.map((group) => (group === "a" ? "waiting" : "ready"));
      expect(await statesOf(store, ids.slice(2))).toEqual(waiting);
    });
  }

  test("each group has its own number of slots", async () => {
    const opened = open();
    const { store } = opened;
    const wide = await define(store, { groupSlots: 3 });
    const narrow = await define(store);
    const partner = { group: "partner", groupScope: "global", runInMs: 1_000 } as const;
    await enqueue(store, wide, [{ ...partner, runInMs: 500 }]);
    await opened.advance(500);
    await store.promoteScheduled({ name: wide, most: 10 });
    const own = { group: "own", runInMs: 1_000 };
    const ids = await enqueue(store, narrow, [partner, own, partner, own, partner, {}]);
    await opened.advance(1_000);
    await store.promoteScheduled({ name: narrow, most: 10 });
    expect(await statesOf(store, ids)).toEqual([
      "ready",
      "ready",
      "ready",
      "waiting",
      "waiting",
      "ready",
    ]);
  });
}

function describePending(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each key and each scope is a group of its own, beside tasks without one", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const plain = await enqueueOne(store, name, { runInMs: 1_000 });
    const keys = ["a", "b"];
    const ids = await enqueueJoined(store, name, [
      ...keys.map((group) => ({ group })),
      ...keys.map((group) => ({ group, groupScope: "global" as const })),
      ...keys.map((group) => ({ group })),
    ]);
    await opened.advance(1_000);
    expect(await store.promoteScheduled({ name, most: 10 })).toMatchObject({ promoted: 7 });
    expect(await stateOf(store, plain)).toBe("ready");
    expect(await statesOf(store, ids)).toEqual([
      ...Array.from({ length: 4 }, () => "ready"),
      "waiting",
      "waiting",
    ]);
    const facts = await factsOf(store, at(ids, 2));
    expect(facts.group).toMatchObject({ key: "a", isGlobal: true, holders: [at(ids, 2)] });
  });

  test("1,001 of them and more tasks in one call; what is left stays due", async () => {
    const { store } = open();
    const name = await define(store);
    const groups = Array.from({ length: 1_001 }, (_, index) => ({ group: `g${String(index)}` }));
    const ids = await enqueueJoined(store, name, [...groups, { group: "g0" }, { group: "g0" }]);
    let promoted = 0;
    for (let call = 0; call < 2 && promoted < 1_003; call += 1) {
      promoted += (await store.promoteScheduled({ name, most: 10_000 })).promoted;
      expect((await store.checkInvariants()).findings).toEqual([]);
    }
    expect(promoted).toBe(1_003);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1_001, waiting: 2, scheduled: 0 });
    for (const index of [0, 999, 1_000]) {
      const { group } = await factsOf(store, at(ids, index));
      expect(group).toMatchObject({ key: `g${String(index)}`, holders: [at(ids, index)] });
    }
  });

  test("1,001 known groups in one call", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const keys = Array.from({ length: 1_001 }, (_, index) => `g${String(index)}`);
    await enqueue(
      store,
      name,
      keys.map((group) => ({ group })),
    );
    await enqueue(
      store,
      name,
      [...keys, "g0"].map((group) => ({ group, runInMs: 1_000 })),
    );
    await opened.advance(1_000);
    expect((await store.promoteScheduled({ name, most: 10_000 })).promoted).toBe(1_002);
    expect(await statusOf(store, name)).toMatchObject({
      ready: 1_001,
      waiting: 1_002,
      scheduled: 0,
    });
  });
}

const leaseMs = 10_000;

/** Lets the first ready task be lost twice. */
async function loseTwice(opened: TestStore, name: string): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const worker = await startWorker(opened.store, name);
    await worker.claimOne();
    await opened.advance(leaseMs + 1);
    await opened.store.reclaimExpired({ most: 10 });
  }
}

function describeSolo(setup: StoreSetup): void {
  const open = useStore(setup);
  const settings = { limit: 10, leaseMs, maxLost: 9, spareMax: 1 };

  test("is claimed alone when it is due again", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await enqueueOne(store, name);
    await loseTwice(opened, name);
    const others = await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 3 });
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    await opened.advance(1_000);
    await store.promoteScheduled({ name, most: 10 });
    expect(idsOf(await worker.claim(3))).toEqual([poison]);
    expect(await worker.claim(3)).toEqual([]);
    const other = await startWorker(store, name, { want: 3 });
    expect(idsOf(await other.claim(3))).toEqual(others);
  });

  test("is claimed alone when its group lets it in", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await enqueueOne(store, name, { group: "g" });
    await loseTwice(opened, name);
    const next = await enqueueOne(store, name, { group: "g" });
    const worker = await startWorker(store, name, { want: 3 });
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    const others = await enqueue(store, name, 2);
    const held = await worker.claim(1);
    expect(idsOf(held)).toEqual([next]);
    await opened.advance(1_000);
    await store.promoteScheduled({ name, most: 10 });
    expect(await stateOf(store, poison)).toBe("waiting");
    await worker.complete(held);
    expect(idsOf(await worker.claim(3))).toEqual([poison]);
    expect(await worker.claim(3)).toEqual([]);
    const other = await startWorker(store, name, { want: 3 });
    expect(idsOf(await other.claim(3))).toEqual(others);
  });
}
