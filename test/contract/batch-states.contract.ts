import { describe, expect, test } from "@jest/globals";
import type { BatchId, TaskId, WaveId } from "../../shared/core/ids";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  idsOf,
  operationId,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { batchStatus, filled, hold, makeBatch, start, waveStates } from "./batch-builders";
import { inDialect } from "./two-dialects";

/** What operators do with batches in every state, and what they are told of it. */
export function describeBatchStates(setup: StoreSetup): void {
  describe("create_batch at its limits", () => {
    describeLimits(setup);
  });
  describe("a wave to which another call adds tasks just now", () => {
    describeBusy(setup);
  });
  describe("pump_batch in every state of a batch", () => {
    describePump(setup);
  });
  describe("cancel_batch in every state of a batch", () => {
    describeCancel(setup);
  });
  describe("what list_batches tells", () => {
    describeList(setup);
  });
  describe("pump_batch at its edges", () => {
    describeSlices(setup);
  });
}

function describeLimits(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a name of 200 characters and 1000 waves are taken, one more isn't", async () => {
    const { store } = open();
    await expectError(makeBatch(store, 1, { name: "n".repeat(201) }), {
      code: "TASKGATE_ARG_INVALID",
      field: "name",
    });
    const { batchId, waveIds } = await makeBatch(store, 1_000, { name: "n".repeat(200) });
    expect(waveIds).toEqual([...new Set(waveIds)].sort((a, b) => Number(a) - Number(b)));
    const { name, waves } = await batchStatus(store, batchId);
    expect(name).toBe("n".repeat(200));
    expect(waves.map(({ wave }) => wave)).toEqual(waveIds);
    expect(waves.map(({ ordinal }) => ordinal)).toEqual(waveIds.map((_, index) => index + 1));
  });

  test("a batch takes no tasks for the waves of another one", async () => {
    const { store } = open();
    const name = await define(store);
    const one = await filled(store, name, { counts: [1, 1], failurePolicy: "continue" });
    const two = await makeBatch(store, 2, { failurePolicy: "cancel" });
    await start(store, one);
    expect(await waveStates(store, two.batchId)).toEqual(["blocked", "blocked"]);
    const sealed = async ({ batchId }: { batchId: BatchId }) =>
      (await batchStatus(store, batchId)).waves.map((wave) => wave.sealed);
    expect([await sealed(one), await sealed(two)]).toEqual([
      [true, true],
      [false, false],
    ]);
    expect((await hold(store, { name, waveId: at(two.waveIds, 1) }, 1)).status).toBe("enqueued");
    const { batches } = await store.listBatches({ max: 2 });
    expect(batches.map(({ failurePolicy }) => failurePolicy)).toEqual(["cancel", "continue"]);
  });
}

function describeBusy(setup: StoreSetup): void {
  const open = useStore(setup);

  /** Does `meanwhile` while a transaction that has added a task to a wave is open; it ends as asked. */
  async function whileAdding(
    { store }: TestStore,
    { isKept, ...where }: Omit<Parameters<typeof hold>[1], "within"> & { isKept: boolean },
    meanwhile: () => Promise<void>,
  ): Promise<void> {
    const undone = new Error("undone");
    const adding = store.transaction(async (within) => {
      await hold(store, { ...where, within }, 1);
      await meanwhile();
      if (!isKept) throw undone;
    });
    await adding.catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  }

  for (const [there, isKept] of [
    [0, true],
    [0, false],
    [1, false],
  ] as const) {
    testWith(
      setup,
      "row locks",
      "raw sql",
    )(
      `a wave is neither opened nor passed over until the added tasks are there, kept: ${String(isKept)}, tasks before: ${String(there)}`,
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store);
        const { batchId, waveIds } = await makeBatch(store, 3);
        const where = { name, waveId: at(waveIds, 1) };
        if (there > 0) await hold(store, where, there);
        await whileAdding(opened, { ...where, isKept }, async () => {
          const answer = await store.startBatch({ batchId, seal: true });
          expect(answer).toEqual({ status: "started", woken: [], opening: [batchId] });
          expect(await waveStates(store, batchId)).toEqual(["done", "blocked", "blocked"]);
          expect((await store.sweep({ max: 10 })).opening).toEqual([batchId]);
          const asked = await store.pumpBatch({ batchId, max: 1 });
          expect(asked).toEqual({ status: "busy", moved: 0, more: true, woken: [] });
        });
        const isFilled = there > 0 || isKept;
        expect(await store.pumpBatch({ batchId, max: 1 })).toMatchObject({
          status: "pumped",
          more: false,
          woken: isFilled ? [name] : [],
        });
        expect(await waveStates(store, batchId)).toEqual(
          isFilled ? ["done", "open", "blocked"] : ["done", "done", "done"],
        );
        expect((await batchStatus(store, batchId)).state).toBe(isFilled ? "running" : "done");
      },
    );
  }

  testWith(
    setup,
    "row locks",
    "raw sql",
  )("the first wave of a draft takes tasks, and the batch isn't started", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const { batchId, waveIds } = await makeBatch(store, 2);
    await whileAdding(opened, { name, waveId: at(waveIds, 0), isKept: true }, async () => {
      const answer = await store.startBatch({ batchId, seal: true });
      expect(answer).toEqual({ status: "busy", woken: [], opening: [] });
    });
    expect(await batchStatus(store, batchId)).toMatchObject({
      state: "draft",
      startedAt: null,
      waves: [
        { sealed: false, blocked: 1 },
        { sealed: false, blocked: 0 },
      ],
    });
    expect((await store.startBatch({ batchId, seal: true })).status).toBe("started");
  });

  testWith(
    setup,
    "row locks",
    "raw sql",
  )("the tasks that another call adds to a cancelled batch end with the rest", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const { batchId, waveIds } = await makeBatch(store, 1);
    await whileAdding(opened, { name, waveId: at(waveIds, 0), isKept: true }, async () => {
      const answer = await store.cancelBatch({ batchId });
      expect(answer).toEqual({ status: "cancelled", tasks: [], opening: [batchId] });
    });
    expect((await batchStatus(store, batchId)).endedAt).toBeNull();
    const opens = await store.pumpBatch({ batchId, max: 10 });
    expect(opens).toMatchObject({ status: "pumped", moved: 0, more: true, woken: [] });
    const ends = await store.pumpBatch({ batchId, max: 10 });
    expect(ends).toEqual({ status: "pumped", moved: 1, more: false, woken: [] });
    expect((await batchStatus(store, batchId)).endedAt).not.toBeNull();
  });
}

function describePump(setup: StoreSetup): void {
  const open = useStore(setup);
  const idle = { status: "done", moved: 0, more: false, woken: [] };

  test("pump_batch does nothing for a draft, an open wave, a halted batch and one that is over", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1, 1] });
    const { batchId } = batch;
    const asked = async () => {
      const before = await batchStatus(store, batchId);
      expect(await store.pumpBatch({ batchId, max: 10 })).toEqual(idle);
      expect(await batchStatus(store, batchId)).toEqual(before);
      return before.state;
    };
    expect(await asked()).toBe("draft");
    await start(store, batch);
    expect(await asked()).toBe("running");
    const worker = await startWorker(store, name);
    await worker.fail(await worker.claim(1), { as: "dead" });
    expect(await asked()).toBe("halted");
    expect((await store.resumeBatch({ batchId })).status).toBe("resumed");
    await worker.complete(await worker.claim(1));
    expect(await asked()).toBe("done");
    expect((await store.resumeBatch({ batchId })).status).toBe("again");
  });

  test("pump_batch closes a wave whose last tasks were cancelled by hand, and opens the next", async () => {
    const { store } = open();
    const name = await define(store, { limit: 300, prefetchMax: 0 });
    const other = await define(store);
    const batch = await filled(store, name, { counts: [201, 0] });
    await hold(store, { name: other, waveId: at(batch.waveIds, 1) }, 1);
    await start(store, batch);
    const { batchId } = batch;
    const worker = await startWorker(store, name, { want: 300 });
    await worker.complete(await worker.claim(300));
    await store.cancelTasks({ taskIds: at(batch.tasks, 0).slice(200) });
    expect(await waveStates(store, batchId)).toEqual(["opening", "blocked"]);
    expect(await store.pumpBatch({ batchId, max: 10 })).toEqual({
      status: "pumped",
      moved: 0,
      more: false,
      woken: [other],
    });
    expect(await waveStates(store, batchId)).toEqual(["done", "open"]);
  });

  test("pump_batch ends one wave's tasks of a cancelled batch, and tells when the next has some", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, tasks } = await filled(store, name, { counts: [2, 0, 1] });
    await store.cancelBatch({ batchId });
    const pump = () => store.pumpBatch({ batchId, max: 1 });
    const pumped = { status: "pumped", woken: [] };
    expect(await pump()).toEqual({ ...pumped, moved: 1, more: true });
    const left = async () => (await batchStatus(store, batchId)).waves.map((wave) => wave.blocked);
    expect(await left()).toEqual([1, 0, 1]);
    expect(await pump()).toEqual({ ...pumped, moved: 1, more: true });
    expect(await left()).toEqual([0, 0, 1]);
    expect((await batchStatus(store, batchId)).endedAt).toBeNull();
    expect(await pump()).toEqual({ ...pumped, moved: 1, more: false });
    expect(await pump()).toEqual(idle);
    expect(await batchStatus(store, batchId)).toMatchObject({
      state: "cancelled",
      waves: [{ admitted: 2, unfinished: 0, dead: 0 }, { admitted: 0 }, { admitted: 1 }],
    });
    // None has opened: no task of them has run.
    const never = { state: "cancelled", openedAt: null };
    expect((await batchStatus(store, batchId)).waves).toMatchObject([never, never, never]);
    const states = await Promise.all(tasks.flat().map((id) => stateOf(store, id)));
    expect(states).toEqual(["cancelled", "cancelled", "cancelled"]);
  });
}

function describeCancel(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("cancel_batch leaves a batch that is over as it is", async () => {
    const opened = open();
    const { store } = opened;
    const { batchId } = await makeBatch(store, 2);
    const answer = await store.cancelBatch({ batchId });
    expect(answer).toEqual({ status: "cancelled", tasks: [], opening: [] });
    const before = await batchStatus(store, batchId);
    expect(before).toMatchObject({ state: "cancelled", startedAt: null });
    expect(before.endedAt).toBe(before.createdAt);
    await opened.advance(5);
    expect(await store.cancelBatch({ batchId })).toEqual({ ...answer, status: "again" });
    expect(await batchStatus(store, batchId)).toEqual(before);
    const done = await makeBatch(store, 1);
    await start(store, done);
    await store.cancelBatch({ batchId: done.batchId });
    expect((await batchStatus(store, done.batchId)).state).toBe("done");
  });

  test("a task that is asked to stop already isn't named again", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [3] });
    await start(store, batch);
    const worker = await startWorker(store, name);
    const { taskId } = await worker.claimOne();
    await store.cancelTasks({ taskIds: [taskId] });
    const others = at(batch.tasks, 0).filter((id) => id !== taskId);
    const { batchId } = batch;
    for (const status of ["cancelled", "again"] as const) {
      expect(await store.cancelBatch({ batchId })).toEqual({ status, tasks: others, opening: [] });
    }
  });

  test("cancel_batch names the lowest ids of more than 1000 admitted tasks, for any priorities", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, waveIds } = await makeBatch(store, 1);
    const taskIds: TaskId[] = [];
    for (const [count, priority] of [
      [501, 9],
      [500, 1],
    ] as const) {
      const tasks = Array.from({ length: count }, () => ({ priority }));
      taskIds.push(...(await hold(store, { name, waveId: at(waveIds, 0) }, tasks)).taskIds);
    }
    await store.startBatch({ batchId, seal: true });
    expect((await store.pumpBatch({ batchId, max: 1_000 })).moved).toBe(801);
    const answer = await store.cancelBatch({ batchId });
    expect(answer).toEqual({ status: "cancelled", tasks: taskIds.slice(0, 1_000), opening: [] });
  });

  test("cancel_batch of a halted batch tells the tasks that are to be ended", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1, 1] });
    await start(store, batch);
    const worker = await startWorker(store, name);
    await worker.fail(await worker.claim(1), { as: "dead" });
    const { batchId } = batch;
    const answer = await store.cancelBatch({ batchId });
    expect(answer).toEqual({ status: "cancelled", tasks: [], opening: [batchId] });
    expect(await waveStates(store, batchId)).toEqual(["done", "cancelled"]);
    expect(await store.cancelBatch({ batchId })).toEqual({ ...answer, status: "again" });
    await store.pumpBatch({ batchId, max: 10 });
    expect(await waveStates(store, batchId)).toEqual(["done", "cancelled"]);
  });

  test("a batch that is cancelled stays cancelled, whether its last task dies or not", async () => {
    const { store } = open();
    const name = await define(store);
    for (const as of ["dead", "cancelled"] as const) {
      const batch = await filled(store, name, { counts: [1, 0] });
      await start(store, batch);
      const worker = await startWorker(store, name);
      const claimed = await worker.claim(1);
      await store.cancelBatch({ batchId: batch.batchId });
      await worker.fail(claimed, { as });
      const { state, endedAt, waves } = await batchStatus(store, batch.batchId);
      expect([state, ...waves.map((wave) => wave.state)]).toEqual([
        "cancelled",
        "done",
        "cancelled",
      ]);
      expect(endedAt).not.toBeNull();
      await worker.finish();
    }
  });
}

function describeList(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_batches lists one batch, or those before one; both together find it only if it is before", async () => {
    const { store } = open();
    const ids: BatchId[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await makeBatch(store, 2)).batchId);
    const listed = async (batchId: BatchId, before: BatchId) =>
      (await store.listBatches({ batchId, before, max: 1 })).batches.map(({ batch }) => batch);
    expect(await listed(at(ids, 1), at(ids, 2))).toEqual([at(ids, 1)]);
    expect(await listed(at(ids, 1), at(ids, 1))).toEqual([]);
    expect(await listed(at(ids, 1), at(ids, 0))).toEqual([]);
  });

  testWith(setup, "exact clock")(
    "list_batches tells when each wave was opened and ended, and the batch started and ended",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const begin = (await opened.now()).getTime();
      const after = (ms: number) => new Date(begin + ms).toISOString();
      const title = 'a "b" \\ / \n c';
      const batch = await filled(store, name, { counts: [0, 1, 0, 1], name: title });
      await opened.advance(10);
      await start(store, batch);
      const { batchId } = batch;
      const worker = await startWorker(store, name);
      for (const ms of [20, 30]) {
        await opened.advance(10);
        const claimed = await worker.claim(1);
        expect(idsOf(claimed)).toEqual(at(batch.tasks, ms / 10 - 1 === 1 ? 1 : 3));
        await worker.complete(claimed);
      }
      const over = { state: "done", sealed: true, blocked: 0, unfinished: 0, dead: 0 };
      expect(await batchStatus(store, batchId)).toEqual({
        batch: batchId,
        name: title,
        state: "done",
        failurePolicy: "halt",
        createdAt: after(0),
        startedAt: after(10),
        endedAt: after(30),
        runningMs: null,
        waves: [
          { ...over, admitted: 0, openedAt: after(10), endedAt: after(10) },
          { ...over, admitted: 1, openedAt: after(10), endedAt: after(20) },
          { ...over, admitted: 0, openedAt: after(20), endedAt: after(20) },
          { ...over, admitted: 1, openedAt: after(20), endedAt: after(30) },
        ].map((wave, index) => ({ wave: at(batch.waveIds, index), ordinal: index + 1, ...wave })),
      });
    },
  );
}

interface Wave {
  readonly name: string;
  readonly waveId: WaveId;
}

async function holdIn(
  store: TaskStore,
  { name, waveId }: Wave,
  list: readonly Partial<NewTask>[],
): Promise<TaskId[]> {
  const tasks = list.map((task) => ({ payload: null, ...task }));
  return (await store.enqueueTasks({ name, build: 1, operationId: null, waveId, tasks })).taskIds;
}

async function create(store: TaskStore, waves: number) {
  const input = { operationId: operationId(), name: "a batch", failurePolicy: "halt" } as const;
  return store.createBatch({ ...input, waves });
}

async function waveOf(store: TaskStore, batchId: BatchId) {
  return at(at((await store.listBatches({ batchId, max: 1 })).batches, 0).waves, 0);
}

function describeSlices(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(
    setup,
    "row locks",
    "raw sql",
  )("a pump beside a call that opens the wave is told so, and moves nothing", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const { batchId, waveIds } = await create(store, 1);
    const waveId = at(waveIds, 0);
    const ids = await holdIn(store, { name, waveId }, [
      {},
      { priority: 1 },
      { priority: 50, group: "g" },
      { priority: 50 },
    ]);
    await store.cancelBatch({ batchId });
    await opened.asOwner(async (transaction) => {
      const sql = `UPDATE taskgate.wave_shard SET remaining = remaining WHERE wave_id = ${waveId} AND shard = 17`;
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      await transaction.query(inDialect(dialect, sql, new Map()));
      const busy = { status: "busy", moved: 0, more: true, woken: [] };
      expect(await store.pumpBatch({ batchId, max: 1 })).toMatchObject(busy);
    });
    // In the order in which they would have been let in.
    for (const place of [1, 2, 3, 0]) {
      const slice = { status: "pumped", moved: 1, more: place !== 0, woken: [] };
      expect(await stateOf(store, at(ids, place))).toBe("blocked");
      expect(await store.pumpBatch({ batchId, max: 1 })).toMatchObject(slice);
      expect(await stateOf(store, at(ids, place))).toBe("cancelled");
    }
    expect(await waveOf(store, batchId)).toMatchObject({ state: "cancelled", unfinished: 0 });
  });

  test("tasks of groups and others are let in, each counted once, and the last end closes the wave", async () => {
    const opened = open();
    const { store } = opened;
    const names = [await define(store, { limit: 10 }), await define(store, { limit: 10 })];
    const { batchId, waveIds } = await create(store, 1);
    const waveId = at(waveIds, 0);
    for (const name of names)
      await holdIn(store, { name, waveId }, [{}, { group: "g" }, {}, { group: "g" }]);
    const { woken } = await store.startBatch({ batchId, seal: true });
    expect([...woken].sort()).toEqual([...names].sort());
    expect(await waveOf(store, batchId)).toMatchObject({ state: "open", admitted: 8, blocked: 0 });
    for (const name of names) {
      expect(await statusOf(store, name)).toMatchObject({ ready: 2, scheduled: 2 });
      await store.promoteScheduled({ name, max: 10 });
      expect(await statusOf(store, name)).toMatchObject({ ready: 3, waiting: 1 });
      const worker = await startWorker(store, name, { want: 4 });
      let claimed = await worker.claim(4);
      while (claimed.length > 0) {
        expect(await waveOf(store, batchId)).toMatchObject({ state: "open" });
        claimed = (await worker.complete(claimed, 4)).claimed;
      }
    }
    expect(await waveOf(store, batchId)).toMatchObject({ state: "done", unfinished: 0 });
  });
}
