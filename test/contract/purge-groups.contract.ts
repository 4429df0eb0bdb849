import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  registration,
  startWorker,
  stateOf,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { dayMs } from "./purge-scene";

/** An unused group goes: its key makes a new one. */
export function describePurgeGroups(setup: StoreSetup): void {
  describe("purge of groups", () => {
    describeWhich(setup);
  });
  describe("purge of groups, round by round", () => {
    describeRounds(setup);
  });
  describe("the life of a group whose row was removed", () => {
    describeAfterwards(setup);
  });
}

async function keysOf(store: TaskStore): Promise<string[]> {
  return (await store.listGroups({ max: 1_000 })).groups.map(({ key }) => key);
}

/** Tasks of these groups that have run well. */
async function runTasks(store: TaskStore, name: string, keys: readonly string[]): Promise<void> {
  await enqueue(
    store,
    name,
    keys.map((group) => ({ group })),
  );
  const worker = await startWorker(store, name);
  for (let left = keys.length; left > 0; left -= 1)
    await worker.complete([await worker.claimOne()]);
  await worker.finish();
}

async function purgeGroups(store: TaskStore, max = 10): Promise<number> {
  return (await store.purge({ max })).groups;
}

/** Sound, and purged so many groups. */
async function expectPurged(store: TaskStore, count: number): Promise<void> {
  expect(await purgeGroups(store)).toBe(count);
  expect((await store.checkInvariants()).findings).toEqual([]);
}

function describeWhich(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a group whose tasks are all done goes, also while they are kept", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await runTasks(store, name, ["a", "b", "a"]);
    expect(await store.purge({ max: 10 })).toMatchObject({
      status: "purged",
      purged: 2,
      groups: 2,
    });
    expect(await keysOf(store)).toEqual([]);
    expect((await store.checkInvariants()).findings).toEqual([]);
    expect(await store.purge({ max: 10 })).toMatchObject({ status: "none", purged: 0, groups: 0 });
  });

  test("a group with a ready, a running or a waiting task stays", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await enqueue(store, name, [{ group: "running" }, { group: "running" }, { group: "ready" }]);
    const worker = await startWorker(store, name);
    const running = await worker.claimOne();
    await expectPurged(store, 0);
    await worker.complete([running]);
    await expectPurged(store, 0);
    expect(await keysOf(store)).toEqual(["ready", "running"]);
  });

  test("a paused one, with tasks that wait, stays", async () => {
    const { store } = open();
    const name = await define(store);
    await store.setGroup({
      name,
      groupKey: "g",
      groupScope: "definition",
      paused: true,
      changedBy: "test",
    });
    const id = await enqueueOne(store, name, { group: "g" });
    await expectPurged(store, 0);
    expect(await stateOf(store, id)).toBe("waiting");
  });

  for (const changes of [{ slots: 3 }, { paused: true }, { strict: true }, {}])
    test(`a group that an operator has set (${JSON.stringify(changes)}) stays`, async () => {
      const { store } = open();
      const name = await define(store);
      await runTasks(store, name, ["set", "other"]);
      const scope = { groupScope: "definition", changedBy: "test" } as const;
      await store.setGroup({ name, groupKey: "set", ...scope, ...changes });
      await store.setGroup({ name, groupKey: "made", ...scope, ...changes });
      await expectPurged(store, 1);
      expect(await keysOf(store)).toEqual(["made", "set"]);
      // Also when the same is said again.
      await store.setGroup({ name, groupKey: "set", ...scope, ...changes });
      await expectPurged(store, 0);
    });

  for (const as of ["dead", "cancelled"] as const)
    test(`a group with a ${as} task stays until that is purged`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { retainDoneMs: dayMs, retainDeadMs: dayMs });
      await enqueueOne(store, name, { group: "g" });
      const worker = await startWorker(store, name);
      await worker.fail([await worker.claimOne()], { as });
      await worker.finish();
      await expectPurged(store, 0);
      await opened.advance(dayMs + 1_000);
      expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1, groups: 0 });
      await expectPurged(store, 1);
      expect(await keysOf(store)).toEqual([]);
    });

  test("a task that is scheduled for later needs none", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await runTasks(store, name, ["g"]);
    const id = await enqueueOne(store, name, { group: "g", runInMs: 60_000 });
    expect((await factsOf(store, id)).group).toMatchObject({ key: "g", used: 0 });
    await expectPurged(store, 1);
    expect((await factsOf(store, id)).group).toBeUndefined();
    expect(await stateOf(store, id)).toBe("scheduled");
  });

  test("a strict group's retry keeps it, with its slot", async () => {
    const { store } = open();
    const name = await define(store, { groupStrict: true });
    const id = await enqueueOne(store, name, { group: "g" });
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 60_000 });
    await expectPurged(store, 0);
    expect((await factsOf(store, id)).group).toMatchObject({ holders: [id] });
  });

  test("equal keys of two scopes are two groups", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await runTasks(store, name, ["g"]);
    await enqueue(store, name, [{ group: "g", groupScope: "global" }]);
    await expectPurged(store, 1);
    const { groups } = await store.listGroups({ max: 10 });
    expect(groups).toMatchObject([{ definition: null, key: "g", used: 1 }]);
  });
}

function describeRounds(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a purge of groups goes slice by slice, and tells of more while a full slice lost some", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await runTasks(store, name, ["a", "b", "c", "d", "e"]);
    expect(await store.purge({ max: 2 })).toMatchObject({ groups: 2, more: true });
    expect(await store.purge({ max: 2 })).toMatchObject({ groups: 2, more: true });
    expect(await store.purge({ max: 2 })).toMatchObject({ groups: 1, more: false });
    expect(await keysOf(store)).toEqual([]);
  });

  test("a full slice that lost none is no reason to call again, and the next call goes on behind it", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await enqueue(store, name, [{ group: "a" }, { group: "b" }]);
    await enqueue(store, name, [{ group: "c" }]);
    const worker = await startWorker(store, name, { want: 3 });
    const claimed = await worker.claim(3);
    await worker.complete([at(claimed, 2)]);
    expect(await store.purge({ max: 2 })).toMatchObject({
      status: "none",
      groups: 0,
      more: false,
    });
    expect(await store.purge({ max: 2 })).toMatchObject({ groups: 1, more: false });
    await worker.complete(claimed.slice(0, 2));
    // The round is over: the next one begins at the first.
    expect(await store.purge({ max: 2 })).toMatchObject({ groups: 2, more: true });
    expect(await store.purge({ max: 2 })).toMatchObject({ status: "none", more: false });
  });

  testWith(setup, "exact clock")("the sweep asks for a round an hour after the last", async () => {
    const opened = open();
    const { store } = opened;
    const isPurgeable = async () => (await store.sweep({ max: 10 })).isPurgeable;
    const name = await define(store, { limit: 5, retainDoneMs: 30 * dayMs });
    expect(await isPurgeable()).toBe(false);
    await enqueue(store, name, [{ group: "a" }, { group: "b" }]);
    expect(await isPurgeable()).toBe(true);
    await purgeGroups(store);
    expect(await isPurgeable()).toBe(false);
    await opened.advance(3_600_000);
    expect(await isPurgeable()).toBe(false);
    await opened.advance(1);
    expect(await isPurgeable()).toBe(true);
    // A round that has begun is finished.
    await purgeGroups(store, 1);
    await purgeGroups(store, 1);
    expect(await isPurgeable()).toBe(true);
    await purgeGroups(store, 1);
    expect(await isPurgeable()).toBe(false);
  });
}

function describeAfterwards(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the key of a removed group makes a new one, with what the definition says now", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await runTasks(store, name, ["g"]);
    await expectPurged(store, 1);
    const settings = { limit: 5, groupSlots: 2 };
    await store.registerDefinition(registration({ name, build: 2, settingsHash: "2", settings }));
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }, { group: "g" }]);
    expect((await factsOf(store, at(ids, 2))).group).toMatchObject({ slots: 2, used: 2, ahead: 0 });
    await expectPurged(store, 0);
  });

  test("a free group's retry finds it made anew", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    const id = await enqueueOne(store, name, { group: "g" });
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    await expectPurged(store, 1);
    const next = await enqueueOne(store, name, { group: "g" });
    await opened.advance(1_000);
    await store.promoteScheduled({ name, max: 10 });
    expect([await stateOf(store, next), await stateOf(store, id)]).toEqual(["ready", "waiting"]);
    expect((await factsOf(store, id)).group).toMatchObject({ holders: [next] });
    await expectPurged(store, 0);
  });

  test("a retry that is promoted first makes it; of a global group, too", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    const other = await define(store, { limit: 5 });
    const partner = { group: "g", groupScope: "global" } as const;
    const id = await enqueueOne(store, name, partner);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    await expectPurged(store, 1);
    await opened.advance(1_000);
    await store.promoteScheduled({ name, max: 10 });
    const next = await enqueueOne(store, other, partner);
    expect([await stateOf(store, id), await stateOf(store, next)]).toEqual(["ready", "waiting"]);
    await expectPurged(store, 0);
  });

  for (const strict of [false, true])
    test(`tasks rescheduled out of it, ready and waiting, come back (strict: ${String(strict)})`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5, groupStrict: strict });
      const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
      await store.rescheduleTasks({ taskIds: ids, to: { runInMs: 1_000 } });
      expect((await store.checkInvariants()).findings).toEqual([]);
      await expectPurged(store, strict ? 0 : 1);
      await opened.advance(1_000);
      await store.promoteScheduled({ name, max: 10 });
      expect([await stateOf(store, at(ids, 0)), await stateOf(store, at(ids, 1))]).toEqual([
        "ready",
        "waiting",
      ]);
      await expectPurged(store, 0);
    });

  test("a dead letter always finds its group; a task that is redriven into a blocked wave leaves it", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const id = await enqueueOne(store, name, { group: "g" });
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "dead" });
    await expectPurged(store, 0);
    await store.redriveTasks({ taskIds: [id] });
    await expectPurged(store, 0);
    expect((await factsOf(store, id)).group).toMatchObject({ key: "g", holders: [id] });
  });

  test("a cancelled retry comes back with its key", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    const id = await enqueueOne(store, name, { group: "g" });
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 60_000 });
    const { results } = await store.cancelTasks({ taskIds: [id] });
    expect(results).toMatchObject([{ outcome: "cancelled" }]);
    await expectPurged(store, 1);
    await store.redriveTasks({ taskIds: [id] });
    await store.promoteScheduled({ name, max: 10 });
    expect((await factsOf(store, id)).group).toMatchObject({ key: "g", holders: [id] });
    expect((await store.checkInvariants()).findings).toEqual([]);
  });

  test("tasks of a user's transaction find it removed, and make it", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await runTasks(store, name, ["g"]);
    const { taskIds, nextDueMs } = await store.transaction((transaction) =>
      store.enqueueTasks(
        { name, build: 1, operationId: null, tasks: [{ payload: null, group: "g" }] },
        transaction,
      ),
    );
    expect(nextDueMs).toBe(0);
    await expectPurged(store, 1);
    await store.promoteScheduled({ name, max: 10 });
    expect((await factsOf(store, at(taskIds, 0))).group).toMatchObject({ holders: taskIds });
  });
}
