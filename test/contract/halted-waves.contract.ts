import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { at, define, idsOf, startWorker, stateOf } from "../support/builders";
import type { Worker } from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { batchStatus, filled, hold, waveStates } from "./batch-builders";
import type { TestBatch } from "./batch-builders";
import { redriven } from "./redriven";

/** A batch that a dead task has halted: what is redriven of the wave before counts in it again, so that the next wave waits for it. */
export function describeHaltedWaves(setup: StoreSetup): void {
  describe("a redrive of tasks of a halted batch", () => {
    const open = useStore(setup);

    test("a redrive opens the wave again behind which the batch has halted, and the batch stands until it is resumed", async () => {
      const { store } = open();
      const { batch, worker, dead, name } = await halted(store, { counts: [2, 1], dead: 1 });
      expect(await redriven(store, ...dead)).toEqual([name]);
      const { state, waves } = await batchStatus(store, batch.batchId);
      expect(state).toBe("halted");
      expect(waves[0]).toMatchObject({ state: "open", unfinished: 1, admitted: 2, dead: 0 });
      expect(waves[0]).toMatchObject({ endedAt: null });
      expect(waves[1]).toMatchObject({ state: "blocked", blocked: 1 });
      const again = await worker.claimOne();
      expect(again).toMatchObject({ taskId: dead[0], isInWave: true });
      await worker.complete([again]);
      expect(await waveStates(store, batch.batchId)).toEqual(["done", "blocked"]);
      expect((await batchStatus(store, batch.batchId)).state).toBe("halted");
      expect(await store.resumeBatch({ batchId: batch.batchId })).toMatchObject({
        status: "resumed",
        woken: [name],
      });
      expect(idsOf([await worker.claimOne()])).toEqual(batch.tasks[1]);
    });

    test("a batch that is resumed before they have ended goes on with their end", async () => {
      const { store } = open();
      const { batch, worker, dead } = await halted(store, { counts: [2, 1], dead: 2 });
      await redriven(store, ...dead);
      const answer = await store.resumeBatch({ batchId: batch.batchId });
      expect(answer).toEqual({ status: "resumed", woken: [], opening: [] });
      const [first, second] = await worker.claim(2);
      if (first === undefined || second === undefined) throw new Error("two tasks are expected");
      await worker.complete([first]);
      expect(await waveStates(store, batch.batchId)).toEqual(["open", "blocked"]);
      await worker.complete([second]);
      expect(await waveStates(store, batch.batchId)).toEqual(["done", "open"]);
      await worker.complete([await worker.claimOne()]);
      expect((await batchStatus(store, batch.batchId)).state).toBe("done");
    });

    test.each(["is dead again", "is dead still"])(
      "a batch that is resumed before halts once more where a task of the wave %s",
      async (which) => {
        const { store } = open();
        const isStill = which === "is dead still";
        const { batch, worker, dead } = await halted(store, { counts: [2, 1], dead: 2 });
        await redriven(store, ...(isStill ? dead.slice(0, 1) : dead));
        await store.resumeBatch({ batchId: batch.batchId });
        const [first, ...others] = await worker.claim(2);
        if (first === undefined) throw new Error("a task is expected");
        await worker.complete(others);
        if (isStill) await worker.complete([first]);
        else await worker.fail([first], { as: "dead" });
        const { state, waves } = await batchStatus(store, batch.batchId);
        expect([state, waves[0]?.state, waves[0]?.dead]).toEqual(["halted", "done", 1]);
        await store.resumeBatch({ batchId: batch.batchId });
        expect(await waveStates(store, batch.batchId)).toEqual(["done", "open"]);
      },
    );

    test("redriven tasks may add tasks to the next wave, as before", async () => {
      const { store } = open();
      const { batch, worker, dead, name } = await halted(store, {
        counts: [1, 1],
        dead: 1,
        seal: false,
      });
      await redriven(store, ...dead);
      const { status } = await hold(store, { name, waveId: batch.waveIds[1] }, 1);
      expect(status).not.toBe("late");
      await store.resumeBatch({ batchId: batch.batchId });
      await worker.complete([await worker.claimOne()]);
      const { waves } = await batchStatus(store, batch.batchId);
      expect(waves[1]).toMatchObject({ state: "open", admitted: 2 });
    });

    test("a batch that is cancelled meanwhile names them, and its later waves end cancelled when they have ended", async () => {
      const { store } = open();
      const { batch, worker, dead } = await halted(store, { counts: [1, 1], dead: 1 });
      await redriven(store, ...dead);
      expect(await store.cancelBatch({ batchId: batch.batchId })).toMatchObject({
        status: "cancelled",
        tasks: dead,
      });
      await worker.complete([await worker.claimOne()]);
      await store.pumpBatch({ batchId: batch.batchId, max: 10 });
      expect(await stateOf(store, at(at(batch.tasks, 1), 0))).toBe("cancelled");
      expect((await batchStatus(store, batch.batchId)).endedAt).not.toBeNull();
    });

    test("a redrive brings tasks of an earlier wave back on their own, also in one call with those of the last", async () => {
      const { store } = open();
      const { batch, worker, dead } = await halted(store, { counts: [1, 1, 1], dead: 1 });
      await store.resumeBatch({ batchId: batch.batchId });
      const later = await worker.claimOne();
      await worker.fail([later], { as: "dead" });
      expect(await waveStates(store, batch.batchId)).toEqual(["done", "done", "blocked"]);
      await redriven(store, ...dead, later.taskId);
      expect(await waveStates(store, batch.batchId)).toEqual(["done", "open", "blocked"]);
      const claimed = await worker.claim(2);
      expect(claimed.map(({ isInWave }) => isInWave)).toEqual([false, true]);
      await worker.complete(claimed);
      await store.resumeBatch({ batchId: batch.batchId });
      expect(await waveStates(store, batch.batchId)).toEqual(["done", "done", "open"]);
    });

    test("a redrive of several batches' tasks in one call brings each back as their own batch has it", async () => {
      const { store } = open();
      const other = await halted(store, { counts: [1, 1], dead: 1 });
      await store.resumeBatch({ batchId: other.batch.batchId });
      const { batch, dead } = await halted(store, { counts: [1, 1], dead: 1 });
      const third = await halted(store, { counts: [1, 1, 1], dead: 1 });
      await store.resumeBatch({ batchId: third.batch.batchId });
      const later = await third.worker.claimOne();
      await third.worker.fail([later], { as: "dead" });
      // Cancelled while its wave was blocked, in a batch that was cancelled before the wave opened.
      const over = await filled(store, await define(store), { counts: [1, 1] });
      const early = at(over.tasks, 1);
      await store.startBatch({ batchId: over.batchId, seal: true });
      await store.cancelTasks({ taskIds: early });
      await store.cancelBatch({ batchId: over.batchId });
      await redriven(store, ...other.dead, ...dead, ...third.dead, ...early);
      expect(await stateOf(store, at(early, 0))).toBe("ready");
      expect(await waveStates(store, other.batch.batchId)).toEqual(["done", "open"]);
      expect(await waveStates(store, batch.batchId)).toEqual(["open", "blocked"]);
      expect(await waveStates(store, third.batch.batchId)).toEqual(["done", "done", "blocked"]);
    });

    test("a redrive brings tasks of the last wave back on their own once the batch is done, and counts them while it is halted", async () => {
      const { store } = open();
      const { batch, worker, dead } = await halted(store, { counts: [2], dead: 2 });
      const [first, second] = [dead.slice(0, 1), dead.slice(1)];
      await redriven(store, ...first);
      await worker.complete([await worker.claimOne()]);
      await store.resumeBatch({ batchId: batch.batchId });
      expect(await batchStatus(store, batch.batchId)).toMatchObject({ state: "done" });
      await redriven(store, ...second);
      expect(await waveStates(store, batch.batchId)).toEqual(["done"]);
      expect(await worker.claimOne()).toMatchObject({ taskId: second[0], isInWave: false });
    });

    test("several redrives at once bring their tasks back to one wave", async () => {
      const { store } = open();
      const { batch, worker, dead } = await halted(store, { counts: [8, 1], dead: 8 });
      await Promise.all(dead.map((taskId) => redriven(store, taskId)));
      expect((await batchStatus(store, batch.batchId)).waves[0]).toMatchObject({
        ...{ state: "open", unfinished: 8, dead: 0 },
      });
      await worker.complete(await worker.claim(8));
      expect(await waveStates(store, batch.batchId)).toEqual(["done", "blocked"]);
    });
  });
}

interface Halted {
  readonly name: string;
  readonly batch: TestBatch & { readonly tasks: TaskId[][] };
  readonly worker: Worker;
  readonly dead: TaskId[];
}

/** A batch with so many tasks in each wave that has halted behind its first, of which so many are dead. */
async function halted(
  store: TaskStore,
  { counts, dead, seal = true }: { counts: readonly number[]; dead: number; seal?: boolean },
): Promise<Halted> {
  const name = await define(store, { limit: 8 });
  const batch = await filled(store, name, { counts });
  await store.startBatch({ batchId: batch.batchId, seal });
  const worker = await startWorker(store, name, { want: 8 });
  const claimed = await worker.claim(8);
  await worker.complete(claimed.slice(dead));
  await worker.fail(claimed.slice(0, dead), { as: "dead" });
  expect((await batchStatus(store, batch.batchId)).state).toBe("halted");
  return { name, batch, worker, dead: idsOf(claimed.slice(0, dead)) };
}
