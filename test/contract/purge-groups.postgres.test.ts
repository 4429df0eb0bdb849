import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  startWorker,
  stateOf,
} from "../support/builders";
import { useContention } from "../support/use-contention";
import { within } from "../support/gate";

/** Groups that go beside other calls, on real locks: a call that needs one keeps it, or makes it again. */
const scene = useContention();

/** Group g is unused. */
async function setUpIdle(store: TaskStore): Promise<string> {
  const name = await define(store, { limit: 5 });
  await enqueueOne(store, name, { group: "g" });
  const worker = await startWorker(store, name);
  await worker.complete([await worker.claimOne()]);
  return name;
}

/** A purge that isn't committed yet. */
async function openPurge() {
  const gate = await scene.connect("worker");
  await gate.query("begin");
  const { rows } = await gate.query<{ groups: number }>("select * from taskgate.purge(10)");
  return { gate, groups: rows[0]?.groups };
}

describe("a purge of groups", () => {
  test("a purge of groups leaves a locked one, and returns at once", async () => {
    const store = scene.openStore(2);
    await setUpIdle(store);
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query("select 1 from taskgate.task_group for no key update");
    expect(await within(500, store.purge({ max: 10 }))).toMatchObject({ groups: 0 });
    await gate.query("rollback");
    expect(await store.purge({ max: 10 })).toMatchObject({ groups: 1 });
  });

  test("one of two purges at once looks at groups; the other returns at once", async () => {
    const store = scene.openStore(2);
    await setUpIdle(store);
    const { gate, groups } = await openPurge();
    expect(groups).toBe(1);
    expect(await within(500, store.purge({ max: 10 }))).toMatchObject({ groups: 0 });
    await gate.query("commit");
    expect((await store.listGroups({ max: 10 })).groups).toEqual([]);
  });

  test("an enqueue into one that goes waits for its end; its task is due then, and makes it", async () => {
    const store = scene.openStore(2);
    const name = await setUpIdle(store);
    const { gate } = await openPurge();
    const late = store.enqueueTasks({
      name,
      build: 1,
      operationId: null,
      tasks: [
        { payload: null, group: "g" },
        { payload: null, group: "h" },
      ],
    });
    await scene.untilWaiting(1);
    await gate.query("commit");
    const { taskIds, ready, nextDueMs } = await late;
    expect({ ready, nextDueMs }).toEqual({ ready: true, nextDueMs: 0 });
    expect([await stateOf(store, at(taskIds, 0)), await stateOf(store, at(taskIds, 1))]).toEqual([
      "scheduled",
      "ready",
    ]);
    expect((await store.checkInvariants()).findings).toEqual([]);
    await store.promoteScheduled({ name, max: 10 });
    expect((await factsOf(store, at(taskIds, 0))).group).toMatchObject({
      key: "g",
      holders: [at(taskIds, 0)],
    });
  });

  test("promotion passes over one that goes, and makes it with its next call", async () => {
    const store = scene.openStore(2);
    const name = await setUpIdle(store);
    const id = await enqueueOne(store, name, { group: "g", runInMs: 1 });
    await scene.advance(10);
    const { gate, groups } = await openPurge();
    expect(groups).toBe(1);
    const promote = () => within(500, store.promoteScheduled({ name, max: 10 }));
    expect(await promote()).toMatchObject({ promoted: 0 });
    await gate.query("commit");
    expect(await promote()).toMatchObject({ promoted: 1 });
    expect(await stateOf(store, id)).toBe("ready");
  });

  test("an operator's setting of one that goes waits for its end, and makes it", async () => {
    const store = scene.openStore(2);
    const name = await setUpIdle(store);
    const { gate } = await openPurge();
    const set = store.setGroup({
      name,
      groupKey: "g",
      groupScope: "definition",
      slots: 2,
      changedBy: "test",
    });
    await scene.untilWaiting(1);
    await gate.query("commit");
    expect(await set).toMatchObject({ status: "created", new: { slots: 2 } });
    expect(await store.purge({ max: 10 })).toMatchObject({ groups: 0 });
  });

  test("a purge of groups under load makes no other call fail, and loses nothing", async () => {
    const stores = Array.from({ length: 3 }, () => scene.openStore(2));
    const purger = scene.openStore(2);
    const name = await define(purger, { limit: 30, retainDoneMs: 0 });
    const work = { isOver: false };
    const purging = (async () => {
      let groups = 0;
      while (!work.isOver) groups += (await purger.purge({ max: 50 })).groups;
      return groups;
    })();
    const counts = await Promise.all(
      stores.map(async (store) => {
        const worker = await startWorker(store, name, { want: 10 });
        let done = 0;
        for (let round = 0; round < 40; round += 1) {
          await enqueue(store, name, [{ group: "a" }, { group: String(round % 3), runInMs: 0 }]);
          await store.promoteScheduled({ name, max: 10 });
          const [first, ...rest] = await worker.claim(5);
          if (first === undefined) continue;
          if (round % 4 === 0) await worker.fail([first], { as: "continued", retryInMs: 0 });
          else rest.push(first);
          await worker.complete(rest);
          done += rest.length;
        }
        await worker.finish();
        return done;
      }),
    );
    const last = await startWorker(purger, name, { want: 10 });
    let done = counts.reduce((sum, count) => sum + count, 0);
    for (let round = 0; round < 1_000 && done < 240; round += 1) {
      await purger.promoteScheduled({ name, max: 1_000 });
      const claimed = await last.claim(10);
      await last.complete(claimed);
      done += claimed.length;
    }
    work.isOver = true;
    expect(done).toBe(240);
    const groups = (await purging) + (await purger.purge({ max: 50 })).groups;
    expect(groups).toBeGreaterThan(3);
    expect((await purger.listGroups({ max: 10 })).groups).toEqual([]);
    expect((await purger.checkInvariants()).findings).toEqual([]);
    expect(await scene.countDeadlocks()).toBe(0);
  });
});
