import { describe, expect, test } from "@jest/globals";
import type { BatchId, TaskId, WaveId } from "../../shared/core/ids";
import type { WaveStatus } from "../../shared/ports/task-store";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueueOne,
  factsOf,
  idsOf,
  operationId,
  startWorker,
  stateOf,
} from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { redriven } from "./redriven";

/** A redriven task belongs where it did: to its wave, as long as that hasn't ended, and to its group, made or not. */
export function describeRedriveWaves(setup: StoreSetup): void {
  describe("a redrive of tasks of waves", () => {
    describeWaves(setup);
  });
  describe("a redrive of tasks whose group wasn't made yet", () => {
    describePending(setup);
  });
}

interface Filled {
  readonly batchId: BatchId;
  readonly waveIds: readonly WaveId[];
  readonly tasks: readonly (readonly TaskId[])[];
}

/** A batch with these tasks in each wave; not started. A dead task halts it unless said. */
async function fill(
  store: TaskStore,
  of: string | { readonly name: string; readonly failurePolicy: "continue" },
  waves: readonly (readonly Partial<NewTask>[])[],
): Promise<Filled> {
  const { name, failurePolicy } =
    typeof of === "string" ? { name: of, failurePolicy: "halt" as const } : of;
  const batch = await store.createBatch({
    operationId: operationId(),
    name: "a batch",
    failurePolicy,
    waves: waves.length,
  });
  const tasks: TaskId[][] = [];
  for (const [index, list] of waves.entries()) {
    const { taskIds } = await store.enqueueTasks({
      name,
      build: 1,
      operationId: null,
      waveId: at(batch.waveIds, index),
      tasks: list.map((task) => ({ payload: null, ...task })),
    });
    tasks.push(taskIds);
  }
  return { batchId: batch.batchId, waveIds: batch.waveIds, tasks };
}

function start(store: TaskStore, { batchId }: Filled): Promise<unknown> {
  return store.startBatch({ batchId, seal: true });
}

async function waveOf(store: TaskStore, { batchId }: Filled, index: number): Promise<WaveStatus> {
  const { batches } = await store.listBatches({ batchId, max: 1 });
  return at(at(batches, 0).waves, index);
}

function describeWaves(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a claim tells whether its task counts in a wave: not any more when that had ended before the redrive", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const batch = await fill(store, { name, failurePolicy: "continue" }, [[{}, {}], [{}]]);
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 3 });
    const [dies, ends] = await worker.claim(2);
    if (dies === undefined || ends === undefined) throw new Error("Two tasks were expected");
    expect([dies.isInWave, ends.isInWave]).toEqual([true, true]);
    await worker.fail([dies], { as: "dead" });
    await redriven(store, dies.taskId);
    const again = await worker.claimOne();
    expect(again).toMatchObject({ taskId: dies.taskId, isInWave: true });
    await worker.fail([again], { as: "dead" });
    await worker.complete([ends]);
    expect(await waveOf(store, batch, 0)).toMatchObject({ state: "done" });
    await redriven(store, dies.taskId);
    expect(await worker.claimOne()).toMatchObject({ taskId: dies.taskId, isInWave: false });
    const late = { name, build: 1, operationId: null, tasks: [{ payload: null }] };
    expect((await store.enqueueTasks({ ...late, waveId: at(batch.waveIds, 0) })).status).toBe(
      "late",
    );
  });

  test("a dead task counts again in its wave, which waits for it and isn't halted", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await fill(store, name, [[{}, {}], [{}]]);
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 2 });
    const [dies, ends] = await worker.claim(2);
    if (dies === undefined || ends === undefined) throw new Error("two tasks are expected");
    await worker.fail([dies], { as: "dead", error: "no use" });
    expect(await waveOf(store, batch, 0)).toMatchObject({ unfinished: 1, dead: 1, admitted: 2 });

    await redriven(store, dies.taskId);
    expect(await waveOf(store, batch, 0)).toMatchObject({ unfinished: 2, dead: 0, admitted: 2 });
    await worker.complete([ends]);
    expect(await waveOf(store, batch, 1)).toMatchObject({ state: "blocked" });
    await worker.complete([await worker.claimOne()]);
    expect(await waveOf(store, batch, 0)).toMatchObject({ state: "done", dead: 0 });
    expect(idsOf([await worker.claimOne()])).toEqual(batch.tasks[1]);
  });

  test("tasks of all its counters may come back at once", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    // Counters stand for 512 ids each: these tasks use three of them.
    const batch = await fill(store, name, [Array.from({ length: 1_100 }, () => ({})), [{}]]);
    await start(store, batch);
    await store.pumpBatch({ batchId: batch.batchId, max: 1_000 });
    const [last, ...others] = [...at(batch.tasks, 0)].reverse();
    if (last === undefined) throw new Error("tasks are expected");
    const gone = others.slice(-1_000);
    await store.cancelTasks({ taskIds: gone });
    await redriven(store, ...gone);
    expect(await waveOf(store, batch, 0)).toMatchObject({ unfinished: 1_100, admitted: 1_100 });
    await store.cancelTasks({ taskIds: others.slice(0, 99) });
    await store.cancelTasks({ taskIds: gone });
    expect(await waveOf(store, batch, 1)).toMatchObject({ state: "blocked" });
    await store.cancelTasks({ taskIds: [last] });
    expect(await waveOf(store, batch, 1)).toMatchObject({ state: "open" });
  });

  test("a redriven task comes back on its own when its wave has ended and the next one is open", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await fill(store, { name, failurePolicy: "continue" }, [[{}], [{}]]);
    await start(store, batch);
    const worker = await startWorker(store, name);
    const claimed = await worker.claimOne();
    await worker.fail([claimed], { as: "dead", error: "no use" });
    const before = await waveOf(store, batch, 0);
    expect(before).toMatchObject({ state: "done", dead: 1 });
    expect(await redriven(store, claimed.taskId)).toEqual([name]);
    expect(await waveOf(store, batch, 0)).toEqual(before);
    await worker.complete([await worker.claimOne()]);
    expect(await waveOf(store, batch, 1)).toMatchObject({ state: "open", unfinished: 1 });
    expect(idsOf([await worker.claimOne()])).toEqual(batch.tasks[1]);
  });

  test.each([true, false])(
    "a task that was cancelled while its wave was held is held again, sealed: %s",
    async (isStarted) => {
      const { store } = open();
      const name = await define(store);
      const batch = await fill(store, name, [[{}], [{}, {}]]);
      const id = at(at(batch.tasks, 1), 0);
      if (isStarted) await start(store, batch);
      await store.cancelTasks({ taskIds: [id] });
      expect(await waveOf(store, batch, 1)).toMatchObject({ blocked: 1 });
      expect(await redriven(store, id)).toEqual([]);
      expect(await stateOf(store, id)).toBe("blocked");
      expect(await waveOf(store, batch, 1)).toMatchObject({ blocked: 2, admitted: 0 });
      if (!isStarted) await start(store, batch);
      const worker = await startWorker(store, name, { want: 2 });
      await worker.complete([await worker.claimOne()]);
      expect(await waveOf(store, batch, 1)).toMatchObject({ state: "open", admitted: 2 });
      expect(idsOf(await worker.claim(2))).toEqual(batch.tasks[1]);
    },
  );

  test("a task that was cancelled before its wave counted it counts when it comes back to the open wave", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await fill(store, name, [[{}, {}]]);
    const id = at(at(batch.tasks, 0), 0);
    await store.cancelTasks({ taskIds: [id] });
    await start(store, batch);
    expect(await waveOf(store, batch, 0)).toMatchObject({ unfinished: 1, admitted: 1 });
    await redriven(store, id);
    expect(await waveOf(store, batch, 0)).toMatchObject({ unfinished: 2, admitted: 2 });
    await store.cancelTasks({ taskIds: [id] });
    await redriven(store, id);
    expect(await waveOf(store, batch, 0)).toMatchObject({ unfinished: 2, admitted: 2 });
  });

  test("a task that a cancelled batch's wave has ended and counted isn't counted once more", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await fill(store, name, [[{}], [{}, { group: "g" }, {}]]);
    await start(store, batch);
    await store.cancelBatch({ batchId: batch.batchId });
    await store.cancelTasks({ taskIds: at(batch.tasks, 0) });
    await store.pumpBatch({ batchId: batch.batchId, max: 2 });
    const [plain, grouped] = at(batch.tasks, 1);
    if (plain === undefined || grouped === undefined) throw new Error("two tasks are expected");
    expect(await waveOf(store, batch, 1)).toMatchObject({ admitted: 2, unfinished: 0, blocked: 1 });
    await redriven(store, plain, grouped);
    expect(await waveOf(store, batch, 1)).toMatchObject({ admitted: 2, unfinished: 2, blocked: 1 });
    await store.pumpBatch({ batchId: batch.batchId, max: 2 });
    expect(await waveOf(store, batch, 1)).toMatchObject({ unfinished: 2, admitted: 3 });
    expect(await waveOf(store, batch, 1)).toMatchObject({ endedAt: null });
    await store.cancelTasks({ taskIds: [plain, grouped] });
    expect(await waveOf(store, batch, 1)).toMatchObject({ unfinished: 0, admitted: 3 });
    expect((await waveOf(store, batch, 1)).endedAt).not.toBeNull();
  });

  test("a task whose batch was cancelled before its wave opened comes back on its own", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await fill(store, name, [[{}], [{}]]);
    await start(store, batch);
    const id = at(at(batch.tasks, 1), 0);
    await store.cancelTasks({ taskIds: [id] });
    await store.cancelBatch({ batchId: batch.batchId });
    expect(await redriven(store, id)).toEqual([name]);
    expect(await stateOf(store, id)).toBe("ready");
  });
}

function describePending(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a cancelled task of a wave comes back into its group", async () => {
    const { store } = open();
    const name = await define(store, { groupSlots: 1 });
    const batch = await fill(store, name, [[{ group: "g" }, { group: "g" }]]);
    const [first, second] = [at(at(batch.tasks, 0), 0), at(at(batch.tasks, 0), 1)];
    await store.cancelTasks({ taskIds: [first] });
    await redriven(store, first);
    await start(store, batch);
    const worker = await startWorker(store, name, { want: 2 });
    expect(idsOf(await worker.claim(2))).toEqual([first]);
    expect(await stateOf(store, second)).toBe("waiting");
    expect((await factsOf(store, first)).group).toMatchObject({ key: "g" });
  });

  test.each([false, true])(
    "a cancelled batch's tasks come back without a group, too, one at a time, global: %s",
    async (isGlobal) => {
      const { store } = open();
      const name = await define(store, { groupSlots: 1 });
      const other = await define(store);
      const group = `g of ${name}`;
      const scope = isGlobal ? ({ groupScope: "global" } as const) : {};
      const member = { group, ...scope };
      const batch = await fill(store, name, [[member, member]]);
      await store.cancelBatch({ batchId: batch.batchId });
      await store.pumpBatch({ batchId: batch.batchId, max: 10 });
      const [first, second] = [at(at(batch.tasks, 0), 0), at(at(batch.tasks, 0), 1)];
      expect(await stateOf(store, first)).toBe("cancelled");
      expect(await redriven(store, first, second)).toEqual([name]);
      const worker = await startWorker(store, name, { want: 2 });
      expect(idsOf(await worker.claim(2))).toEqual([first]);
      const late = await enqueueOne(store, isGlobal ? other : name, member);
      expect([await stateOf(store, second), await stateOf(store, late)]).toEqual([
        "waiting",
        "waiting",
      ]);
    },
  );

  test("the purge of a task whose group wasn't made yet leaves nothing of it", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retainDoneMs: 1_000 });
    const batch = await fill(store, name, [[{ group: "g" }]]);
    const taskIds = at(batch.tasks, 0);
    await store.cancelTasks({ taskIds });
    await opened.advance(1_001);
    expect(await store.purge({ max: 10 })).toMatchObject({ tasks: 1 });
    expect((await store.redriveTasks({ taskIds })).results).toMatchObject([{ outcome: "unknown" }]);
    if (setup.dialect === "memory") return;
    const table = setup.dialect === "mssql" ? "Taskgate.EndedEarly" : "taskgate.ended_early";
    const rows = await opened.raw(`SELECT COUNT(*) AS n FROM ${table}`);
    expect(Number(rows[0]?.["n"])).toBe(0);
  });
}
