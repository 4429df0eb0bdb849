import { describe, expect, test } from "@jest/globals";
import type { BatchId, TaskId } from "../../shared/core/ids";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  failure,
  idsOf,
  startWorker,
  stateOf,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { batchStatus, filled, hold, makeBatch, start, waveStates } from "./batch-builders";
import type { TestBatch } from "./batch-builders";

/** Many tasks of many waves that end, or come back, in one call. */
export function describeWaves(setup: StoreSetup): void {
  describe("tasks of several waves that end in one call", () => {
    describeEnds(setup);
  });
  describe("tasks of several waves that come back in one call", () => {
    describeReturns(setup);
  });
  describe("a wave's counter", () => {
    describeDamage(setup);
  });
}

/** Of each wave: tasks that are admitted and unfinished, and dead ones. */
async function countsOf(store: TaskStore, batchId: BatchId): Promise<string[]> {
  const { waves } = await batchStatus(store, batchId);
  return waves.map(({ state, unfinished, dead }) => `${state} ${unfinished} left ${dead} dead`);
}

/** Claims this many and gives them by their ids. */
async function claimAll(worker: Worker, want: number): Promise<(id: TaskId) => ClaimedTask> {
  const claimed = await worker.claim(want);
  expect(claimed).toHaveLength(want);
  return (id) => {
    const found = claimed.find(({ taskId }) => taskId === id);
    if (found === undefined) throw new Error(`${id} wasn't claimed`);
    return found;
  };
}

function describeEnds(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each wave counts its own dead ones, and each batch goes on by its own policy", async () => {
    const { store } = open();
    const name = await define(store, { limit: 20 });
    const batches: (TestBatch & { tasks: TaskId[][] })[] = [];
    for (const failurePolicy of ["halt", "continue", "cancel", "halt", "halt"] as const) {
      batches.push(await filled(store, name, { counts: [3, 1], failurePolicy }));
    }
    for (const batch of batches) await start(store, batch);
    const worker = await startWorker(store, name, { want: 15 });
    const claimed = await claimAll(worker, 15);
    const [halts, goesOn, ends, lives, stops] = batches.map(({ tasks }) =>
      at(tasks, 0).map(claimed),
    );
    if (!halts || !goesOn || !ends || !lives || !stops) throw new Error("five are expected");
    const plan = [
      ...[...halts.slice(0, 2), ...goesOn, at(ends, 0)].map((one) => failure(one, { as: "dead" })),
      ...ends.slice(1).map((one) => failure(one, { as: "cancelled" })),
      failure(at(lives, 0), { as: "cancelled" }),
      ...stops.map((one) => failure(one, { as: "dead" })),
    ];
    const { executionId } = worker;
    const answer = await store.failTasks({ executionId, failures: plan });
    const told = batches.map(({ batchId }) => batchId);
    // The caller that ends them works for the definition that got ready ones: no other is to be woken.
    expect(answer).toMatchObject({ woken: [], opening: [told[2]] });
    const seen = async () =>
      Promise.all(
        told.map(async (batchId) => [
          (await batchStatus(store, batchId)).state,
          ...(await countsOf(store, batchId)),
        ]),
      );
    expect(await seen()).toEqual([
      ["running", "open 1 left 2 dead", "blocked 0 left 0 dead"],
      ["running", "done 0 left 3 dead", "open 1 left 0 dead"],
      ["cancelled", "done 0 left 1 dead", "cancelled 0 left 0 dead"],
      ["running", "open 2 left 0 dead", "blocked 0 left 0 dead"],
      ["halted", "done 0 left 3 dead", "blocked 0 left 0 dead"],
    ]);
    await worker.complete([at(halts, 2), ...lives.slice(1)]);
    expect((await seen()).filter((_, index) => index % 3 === 0)).toEqual([
      ["halted", "done 0 left 2 dead", "blocked 0 left 0 dead"],
      ["running", "done 0 left 0 dead", "open 1 left 0 dead"],
    ]);
  });

  test("the call that ends them is told of every batch that has more to admit, and of each definition once", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const others = [await define(store, {}), await define(store, {})];
    const batches = [
      await makeBatch(store, 2),
      await makeBatch(store, 2),
      await makeBatch(store, 2),
    ];
    const counts = [
      [201, 0],
      [1, 1],
      [0, 201],
    ];
    for (const [index, { waveIds }] of batches.entries()) {
      await hold(store, { name, waveId: at(waveIds, 0) }, 1);
      for (const [place, count] of at(counts, index).entries()) {
        const other = { name: at(others, place), waveId: at(waveIds, 1) };
        if (count > 0) await hold(store, other, count);
      }
    }
    for (const batch of batches) await start(store, batch);
    const worker = await startWorker(store, name, { want: 4 });
    const answer = await worker.complete(await worker.claim(4));
    expect([...answer.woken].sort()).toEqual([...others].sort());
    const opening = [at(batches, 0).batchId, at(batches, 2).batchId];
    expect([...answer.opening].sort()).toEqual([...opening].sort());
  });

  test("a wave whose counters run empty one after the other ends with the last of them", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    const batch = await makeBatch(store, 2);
    const [first, second] = batch.waveIds;
    // Counters stand for 512 ids each: between these tasks are others.
    const one = await hold(store, { name, waveId: first }, 2);
    await enqueue(store, await define(store), 600);
    const two = await hold(store, { name, waveId: first }, 2);
    await hold(store, { name, waveId: second }, 1);
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 4 });
    const claimed = await claimAll(worker, 4);
    const [a, b, c, d] = [...one.taskIds, ...two.taskIds].map(claimed);
    if (!a || !b || !c || !d) throw new Error("four tasks are expected");
    await worker.complete([a, c]);
    await worker.fail([d], { as: "dead" });
    expect(await countsOf(store, batch.batchId)).toEqual([
      "open 1 left 1 dead",
      "blocked 0 left 0 dead",
    ]);
    const { results } = await store.redriveTasks({ taskIds: [d.taskId] });
    expect(results).toMatchObject([{ outcome: "redriven" }]);
    await worker.complete([b]);
    expect(await countsOf(store, batch.batchId)).toEqual([
      "open 1 left 0 dead",
      "blocked 0 left 0 dead",
    ]);
    await worker.complete(await worker.claim(1));
    expect(await waveStates(store, batch.batchId)).toEqual(["done", "open"]);
  });
}

function describeReturns(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each wave takes back its own: dead ones, cancelled ones, and those it never counted", async () => {
    const { store } = open();
    const name = await define(store, { limit: 20 });
    const early = await filled(store, name, { counts: [4] });
    const later = await filled(store, name, { counts: [4] });
    const mine = at(early.tasks, 0);
    const theirs = at(later.tasks, 0);
    const uncounted = [at(mine, 3), at(theirs, 2), at(theirs, 3)];
    await store.cancelTasks({ taskIds: uncounted });
    // The one that began later has the lower id: counters are taken in the order of their waves.
    await start(store, later);
    await start(store, early);
    const worker = await startWorker(store, name, { want: 5 });
    const claimed = await claimAll(worker, 5);
    const { executionId } = worker;
    const dies = [at(mine, 0), at(mine, 1), at(theirs, 0)].map((id) =>
      failure(claimed(id), { as: "dead" }),
    );
    await store.failTasks({ executionId, failures: dies });
    const counts = async () =>
      Promise.all(
        [early, later].map(async ({ batchId }) => {
          const { admitted, unfinished, dead } = at((await batchStatus(store, batchId)).waves, 0);
          return { admitted, unfinished, dead };
        }),
      );
    expect(await counts()).toEqual([
      { admitted: 3, unfinished: 1, dead: 2 },
      { admitted: 2, unfinished: 1, dead: 1 },
    ]);
    const back = [...uncounted, ...dies.map(({ taskId }) => taskId)];
    const { results, woken } = await store.redriveTasks({ taskIds: back });
    expect(results.map(({ outcome }) => outcome)).toEqual(back.map(() => "redriven"));
    expect(woken).toEqual([name]);
    expect(await counts()).toEqual([
      { admitted: 4, unfinished: 4, dead: 0 },
      { admitted: 4, unfinished: 4, dead: 0 },
    ]);
    const rest = [at(mine, 2), at(theirs, 1)].map((id) => done(claimed(id)));
    await worker.work({ done: rest });
    await worker.complete(await worker.claim(6));
    expect([
      await waveStates(store, early.batchId),
      await waveStates(store, later.batchId),
    ]).toEqual([["done"], ["done"]]);
  });

  test("one of a wave that has ended comes back beside one of the next wave, which is open", async () => {
    const { store } = open();
    const name = await define(store, { limit: 20 });
    const batch = await filled(store, name, { counts: [2, 2], failurePolicy: "continue" });
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 2 });
    const dead: TaskId[] = [];
    for (const count of [2, 1]) {
      const claimed = await worker.claim(count);
      await worker.fail(claimed, { as: "dead" });
      dead.push(...idsOf(claimed));
    }
    const counts = () => countsOf(store, batch.batchId);
    expect(await counts()).toEqual(["done 0 left 2 dead", "open 1 left 1 dead"]);
    const { results } = await store.redriveTasks({ taskIds: dead });
    expect(results.map(({ outcome }) => outcome)).toEqual(dead.map(() => "redriven"));
    expect(await counts()).toEqual(["done 0 left 2 dead", "open 2 left 0 dead"]);
    expect(await Promise.all(dead.map((id) => stateOf(store, id)))).toEqual(
      dead.map(() => "ready"),
    );
    for (let rounds = 0; rounds < 2; rounds += 1) await worker.complete(await worker.claim(2));
    expect((await batchStatus(store, batch.batchId)).state).toBe("done");
  });

  testWith(
    setup,
    "row locks",
    "raw sql",
  )("a task whose wave is ended just now comes back on its own, the others to theirs", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 20 });
    const ending = await makeBatch(store, 2, { failurePolicy: "continue" });
    const [first, second] = ending.waveIds;
    // Counters stand for 512 ids each: the last one's isn't that of those that died.
    const early = await hold(store, { name, waveId: first }, 2);
    await enqueue(store, await define(store), 600);
    const late = await hold(store, { name, waveId: first }, 1);
    await hold(store, { name, waveId: second }, 1);
    const stays = await filled(store, name, { counts: [3], failurePolicy: "continue" });
    await start(store, ending);
    await start(store, stays);
    const worker = await startWorker(store, name, { want: 6 });
    const claimed = await claimAll(worker, 6);
    const [one, two, last] = [...early.taskIds, ...late.taskIds].map(claimed);
    const [other, more] = at(stays.tasks, 0).map(claimed);
    if (!one || !two || !last || !other || !more) throw new Error("six tasks are expected");
    const dead = [one, two, other, more];
    await worker.fail(dead, { as: "dead" });
    const { executionId } = worker;
    const { redriving } = await store.transaction(async (within) => {
      await store.completeTask({ executionId, ...done(last) }, within);
      const begun = store.redriveTasks({ taskIds: idsOf(dead) });
      // Time to come to the rows that this transaction has; a later call is answered the same.
      for (let looks = 0; looks < 20; looks += 1) await opened.now();
      return { redriving: begun };
    });
    const { results } = await redriving;
    expect(results.map(({ outcome }) => outcome)).toEqual(dead.map(() => "redriven"));
    expect(await countsOf(store, ending.batchId)).toEqual([
      "done 0 left 2 dead",
      "open 1 left 0 dead",
    ]);
    expect(await countsOf(store, stays.batchId)).toEqual(["open 3 left 0 dead"]);
    const states = await Promise.all(dead.map(({ taskId }) => stateOf(store, taskId)));
    expect(states).toEqual(dead.map(() => "ready"));
  });
}

function describeDamage(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "raw sql")(
    "a wave's counter that is gone is a named error, and nothing ends or comes back",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 4 });
      const batch = await filled(store, name, { counts: [2, 1] });
      await start(store, batch);
      const worker = await startWorker(store, name, { want: 2 });
      const [dies, ends] = await worker.claim(2);
      if (dies === undefined || ends === undefined) throw new Error("two tasks are expected");
      await worker.fail([dies], { as: "dead" });
      opened.expectDamage();
      await opened.raw(
        setup.dialect === "mssql"
          ? "DELETE FROM Taskgate.WaveShard WHERE Shard < 16"
          : "delete from taskgate.wave_shard where shard < 16",
      );
      const gone = { code: "TASKGATE_STORE_CONTRACT", field: "wave_id" } as const;
      const value = `gone (${at(batch.waveIds, 0)})`;
      await expectError(worker.complete([ends]), { ...gone, value });
      await expectError(store.redriveTasks({ taskIds: [dies.taskId] }), { ...gone, value });
      expect(await stateOf(store, ends.taskId)).toBe("claimed");
      expect(await stateOf(store, dies.taskId)).toBe("dead");
    },
  );
}
