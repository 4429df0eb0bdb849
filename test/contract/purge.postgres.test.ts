import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  operationId,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { useContention } from "../support/use-contention";
import { within } from "../support/gate";

/** Purges beside other calls, on real locks: the holder of a row keeps it, and no other call is waited for. */
const scene = useContention();

const monthMs = 31 * 86_400_000;

/** Two rows of each kind whose retention is over: dead letters, executions, answers, keys. */
async function setUpOld(store: TaskStore) {
  const name = await define(store, { limit: 5 });
  const ids = [];
  for (const dedupeKey of ["k", "l"]) {
    const tasks = [{ payload: null, dedupeKey, dedupeMs: 1_000 }];
    const added = await store.enqueueTasks({ name, build: 1, operationId: operationId(), tasks });
    ids.push(at(added.taskIds, 0));
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "dead" });
    await worker.finish();
  }
  await scene.advance(monthMs);
  return { name, ids };
}

const all = { tasks: 2, executions: 2, operations: 2, keys: 2 };

describe("a purge", () => {
  test.each([
    ["archive", { ...all, tasks: 1 }],
    ["task_execution", { ...all, executions: 1 }],
    ["operation", { ...all, operations: 1 }],
    ["dedupe", { ...all, keys: 1 }],
  ])("a purge leaves locked rows of %s, and returns at once", async (table, expected) => {
    const store = scene.openStore(2);
    await setUpOld(store);
    const gate = await scene.connect();
    await gate.query("begin");
    await gate.query(`select 1 from taskgate.${table} limit 1 for update`);
    expect(await within(500, store.purge({ max: 10 }))).toMatchObject(expected);
    await gate.query("rollback");
    expect(await store.purge({ max: 10 })).toMatchObject({ purged: 1 });
  });

  test("a purge keeps no claim, completion, start or plain enqueue waiting", async () => {
    const store = scene.openStore(3);
    const { name } = await setUpOld(store);
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await gate.query("select * from taskgate.purge(10)");
    const claimed = await within(500, worker.claim(2));
    await within(500, worker.complete(claimed));
    await within(500, enqueue(store, name, [{ group: "g" }, { dedupeKey: "m" }]));
    await within(500, startWorker(store, name));
    await within(500, store.sweep({ max: 10 }));
    await gate.query("commit");
    expect(await statusOf(store, name)).toMatchObject({ done: 2, dead: 0 });
  });

  test("an enqueue of a key that goes waits for its end, and takes it", async () => {
    const store = scene.openStore(2);
    const { name } = await setUpOld(store);
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await gate.query("select * from taskgate.purge(10)");
    const late = enqueueOne(store, name, { dedupeKey: "k", dedupeMs: 1_000 });
    await scene.untilWaiting(1);
    await gate.query("commit");
    expect(await stateOf(store, await late)).toBe("ready");
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(await late);
  });

  test("a redrive of what goes says busy, and afterwards that it is unknown", async () => {
    const store = scene.openStore(2);
    const { ids } = await setUpOld(store);
    const gate = await scene.connect("worker");
    await gate.query("begin");
    await gate.query("select * from taskgate.purge(10)");
    const outcomes = async () =>
      (await within(500, store.redriveTasks({ taskIds: ids }))).results.map((one) => one.outcome);
    expect(await outcomes()).toEqual(["busy", "busy"]);
    await gate.query("commit");
    expect(await outcomes()).toEqual(["unknown", "unknown"]);
  });

  test("a purge under load deletes only what it may, and no other call fails", async () => {
    const stores = Array.from({ length: 3 }, () => scene.openStore(2));
    const purger = scene.openStore(2);
    const name = await define(purger, { limit: 30, retainDoneMs: 1, retainDeadMs: monthMs });
    const dead: string[] = [];
    const work = { isOver: false };
    const purging = (async () => {
      let tasks = 0;
      while (!work.isOver) tasks += (await purger.purge({ max: 50 })).tasks;
      return tasks;
    })();
    const counts = await Promise.all(
      stores.map(async (store, index) => {
        const worker = await startWorker(store, name, { want: 10 });
        let done = 0;
        for (let round = 0; round < 30; round += 1) {
          const dedupeKey = String(round % 5);
          await enqueue(store, name, [{}, {}, { group: dedupeKey }, { dedupeKey, dedupeMs: 5 }]);
          const [first, ...rest] = await worker.claim(5);
          if (first === undefined) continue;
          if (round % 10 === index) {
            dead.push(first.taskId);
            await worker.fail([first], { as: "dead" });
          } else rest.push(first);
          await worker.complete(rest);
          done += rest.length;
        }
        await worker.finish();
        return done;
      }),
    );
    work.isOver = true;
    await purging;
    await scene.advance(60_000);
    const { tasks } = await purger.purge({ max: 1_000 });
    const { done, dead: kept } = await statusOf(purger, name);
    expect({ done, kept }).toEqual({ done: 0, kept: dead.length });
    expect((await purging) + tasks).toBe(counts.reduce((sum, count) => sum + count, 0));
    expect(await scene.countDeadlocks()).toBe(0);
  });
});
