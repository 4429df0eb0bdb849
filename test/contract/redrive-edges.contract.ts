import { describe, expect, test } from "@jest/globals";
import type { BatchId, TaskId } from "../../shared/core/ids";
import type { WaveStatus } from "../../shared/ports/batches";
import type { NewTask, RedriveTasksAnswer, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueueOne,
  idsOf,
  operationId,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** Redrives of several tasks at once, each of which has a reason of its own to come back, or to stay. */
export function describeRedriveEdges(setup: StoreSetup): void {
  describe("the order of a redrive by filter", () => {
    describeOrder(setup);
  });
  describe("a redrive of tasks with equal keys", () => {
    describeKeys(setup);
  });
  describe("a redrive of tasks of several groups", () => {
    describeGroups(setup);
  });
  describe("a redrive of tasks of several waves", () => {
    describeWaves(setup);
  });
}

async function redrive(store: TaskStore, ...taskIds: readonly TaskId[]): Promise<string[]> {
  return outcomes(await store.redriveTasks({ taskIds }));
}

function outcomes({ results }: RedriveTasksAnswer): string[] {
  return results.map(({ outcome }) => outcome);
}

/** Enqueues tasks and lets them die in this order of their places, some time apart. */
async function dieInOrder(
  opened: TestStore,
  name: string,
  {
    tasks,
    order,
    apartMs,
  }: { tasks: readonly Partial<NewTask>[]; order: readonly number[]; apartMs: number },
): Promise<TaskId[]> {
  const { store } = opened;
  const ids: TaskId[] = [];
  for (const task of tasks) ids.push(await enqueueOne(store, name, task));
  const worker = await startWorker(store, name, { want: tasks.length });
  const claimed = await worker.claim(tasks.length);
  for (const place of order) {
    const one = claimed.filter(({ taskId }) => taskId === at(ids, place));
    await worker.fail(one, { as: "dead", error: "no use" });
    await opened.advance(apartMs);
  }
  await worker.finish();
  return ids;
}

async function die(store: TaskStore, name: string, task: Partial<NewTask> = {}): Promise<TaskId> {
  const id = await enqueueOne(store, name, { priority: 0, ...task });
  const worker = await startWorker(store, name);
  await worker.fail([await worker.claimOne()], { as: "dead", error: "no use" });
  await worker.finish();
  return id;
}

async function end(store: TaskStore, name: string, task: Partial<NewTask> = {}): Promise<TaskId> {
  const id = await enqueueOne(store, name, { priority: 0, ...task });
  const worker = await startWorker(store, name);
  await worker.complete([await worker.claimOne()]);
  await worker.finish();
  return id;
}

function describeOrder(setup: StoreSetup): void {
  const open = useStore(setup);

  test.each([undefined, "a"])(
    "who ended first comes first, whatever the ids; kind: %s",
    async (kind) => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const tasks = Array.from({ length: 4 }, () => ({ kind: "a" }));
      const ids = await dieInOrder(opened, name, { tasks, order: [2, 3, 1, 0], apartMs: 10 });
      const found = async () => {
        const filter = { name, outcome: "dead", most: 2 } as const;
        return idsOf(
          (await store.redriveTasks(kind === undefined ? filter : { ...filter, kind })).results,
        );
      };
      expect(await found()).toEqual([at(ids, 2), at(ids, 3)]);
      expect(await found()).toEqual([at(ids, 1), at(ids, 0)]);
    },
  );

  for (const kind of [undefined, "a"]) {
    testWith(setup, "exact clock")(
      `of those that ended at one instant the lower id comes first; kind: ${kind ?? "any"}`,
      async () => {
        const opened = open();
        const name = await define(opened.store);
        const tasks = Array.from({ length: 4 }, () => ({ kind: "a" }));
        const ids = await dieInOrder(opened, name, { tasks, order: [2, 3, 1, 0], apartMs: 0 });
        const filter = { name, outcome: "dead", most: 3 } as const;
        const asked = kind === undefined ? filter : { ...filter, kind };
        expect(idsOf((await opened.store.redriveTasks(asked)).results)).toEqual(ids.slice(0, 3));
      },
    );
  }

  test("of a kind only this definition's dead ones come back; capitals are another kind", async () => {
    const { store } = open();
    const [name, other] = [await define(store), await define(store)];
    const wanted = await die(store, name, { kind: "a" });
    await die(store, other, { kind: "a" });
    await store.cancelTasks({ taskIds: [await enqueueOne(store, name, { kind: "a" })] });
    const filter = { name, outcome: "dead", most: 10 } as const;
    expect((await store.redriveTasks({ ...filter, kind: "A" })).results).toEqual([]);
    expect(idsOf((await store.redriveTasks({ ...filter, kind: "a" })).results)).toEqual([wanted]);
  });
}

function describeKeys(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a key is a definition's own: where another definition's task has an equal one, that doesn't matter", async () => {
    const { store } = open();
    const [one, two] = [await define(store), await define(store)];
    const ids = [
      await die(store, one, { dedupeKey: "k" }),
      await die(store, two, { dedupeKey: "k" }),
    ];
    await enqueueOne(store, one, { dedupeKey: "k" });
    expect(await redrive(store, ...ids)).toEqual(["duplicate", "redriven"]);
  });

  test("a done task is told as done, and takes no key, whoever has it", async () => {
    const { store } = open();
    const name = await define(store);
    const done = await end(store, name, { dedupeKey: "k" });
    expect(await redrive(store, done)).toEqual(["done"]);
    const dead = await die(store, name, { dedupeKey: "k" });
    expect(await redrive(store, done, dead)).toEqual(["done", "redriven"]);
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(dead);
  });

  test("a duplicate wakes nobody", async () => {
    const { store } = open();
    const [name, other] = [await define(store), await define(store)];
    const duplicate = await die(store, name, { dedupeKey: "k" });
    const free = await die(store, other);
    await enqueueOne(store, name, { dedupeKey: "k" });
    const answer = await store.redriveTasks({ taskIds: [duplicate, free] });
    expect(outcomes(answer)).toEqual(["duplicate", "redriven"]);
    expect(answer.woken).toEqual([other]);
  });

  testWith(setup, "exact clock")(
    "a key of another task holds to the end of its window, to the millisecond",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const dead = await die(store, name, { dedupeKey: "k" });
      const holder = await end(store, name, { dedupeKey: "k", dedupeMs: 60_000 });
      await opened.advance(60_000);
      expect(await redrive(store, dead)).toEqual(["duplicate"]);
      expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(holder);
      await opened.advance(1);
      expect(await redrive(store, dead)).toEqual(["redriven"]);
      expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(dead);
    },
  );

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("one whose row somebody holds is busy, the others come back", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const ids = [await die(store, name), await die(store, name)];
    const [table, taskId, kind] =
      setup.dialect === "mssql"
        ? ["Taskgate.Archive", "TaskId", "Kind"]
        : ["taskgate.archive", "task_id", "kind"];
    const told = await opened.asOwner(async (transaction) => {
      await transaction.query(
        `update ${table} set ${kind} = ${kind} where ${taskId} = ${at(ids, 0)}`,
      );
      return redrive(store, ...ids);
    });
    expect(told).toEqual(["busy", "redriven"]);
    expect(await redrive(store, ...ids)).toEqual(["redriven", "unfinished"]);
  });
}

function describeGroups(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each group gives what it has free: none, one, the first of two", async () => {
    const { store } = open();
    const name = await define(store, { groupSlots: 2, limit: 20 });
    const plan = { full: 2, half: 1, free: 0 };
    const ids: TaskId[] = [];
    for (const group of Object.keys(plan)) {
      for (let count = 0; count < 2; count += 1) ids.push(await die(store, name, { group }));
    }
    for (const [group, count] of Object.entries(plan)) {
      for (let one = 0; one < count; one += 1) await enqueueOne(store, name, { group });
    }
    expect(await redrive(store, ...ids)).toEqual(ids.map(() => "redriven"));
    const states = await Promise.all(ids.map((id) => stateOf(store, id)));
    expect(states).toEqual(["waiting", "waiting", "ready", "waiting", "ready", "ready"]);
  });

  test("each gets a slot of its own group that nobody else has", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5, groupSlots: 2 });
    for (const group of ["g", "h", "h"]) await enqueueOne(store, name, { group });
    const worker = await startWorker(store, name, { want: 2 });
    const dead = await worker.claim(2);
    await worker.fail(dead, { as: "dead" });
    // Now the second slot of g is free, and the first one of h.
    await enqueueOne(store, name, { group: "g" });
    expect(await redrive(store, ...idsOf(dead))).toEqual(["redriven", "redriven"]);
    expect(await statusOf(store, name)).toMatchObject({ ready: 4, waiting: 0 });
    const more = await enqueueOne(store, name, { group: "h" });
    expect(await stateOf(store, more)).toBe("waiting");
  });

  test("a paused group takes them in, and lets none run", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = [await die(store, name, { group: "g" }), await die(store, name, { group: "h" })];
    await store.setGroup({
      name,
      groupKey: "g",
      groupScope: "definition",
      paused: true,
      changedBy: "an operator",
    });
    const answer = await store.redriveTasks({ taskIds: ids });
    expect(outcomes(answer)).toEqual(["redriven", "redriven"]);
    expect(await Promise.all(ids.map((id) => stateOf(store, id)))).toEqual(["waiting", "ready"]);
    await store.setGroup({
      name,
      groupKey: "g",
      groupScope: "definition",
      paused: false,
      changedBy: "an operator",
    });
    expect(await stateOf(store, at(ids, 0))).toBe("ready");
  });

  test("one that is held in its wave takes no slot of its group", async () => {
    const { store } = open();
    const name = await define(store);
    const dead = await die(store, name, { group: "g" });
    const { held } = await heldAndOpen(store, name, { group: "g", priority: 0 });
    await store.cancelTasks({ taskIds: [held] });
    expect(await redrive(store, held, dead)).toEqual(["redriven", "redriven"]);
    expect([await stateOf(store, held), await stateOf(store, dead)]).toEqual(["held", "ready"]);
  });
}

interface Two {
  readonly batchId: BatchId;
  /** In the first wave, which isn't open. */
  readonly held: TaskId;
}

/** A batch of one wave that hasn't begun, with these tasks. */
async function batchOf(
  store: TaskStore,
  name: string,
  tasks: readonly Partial<NewTask>[],
): Promise<{ batchId: BatchId; taskIds: readonly TaskId[] }> {
  const { batchId, waveIds } = await store.createBatch({
    operationId: operationId(),
    name: "a batch",
    failurePolicy: "continue",
    waves: 1,
  });
  const { taskIds } = await store.enqueueTasks({
    name,
    build: 1,
    operationId: null,
    waveId: at(waveIds, 0),
    tasks: tasks.map((task) => ({ payload: null, ...task })),
  });
  return { batchId, taskIds };
}

/** A batch that hasn't begun, with one task. */
async function heldAndOpen(
  store: TaskStore,
  name: string,
  task: Partial<NewTask> = {},
): Promise<Two> {
  const { batchId, taskIds } = await batchOf(store, name, [task]);
  return { batchId, held: at(taskIds, 0) };
}

async function waveOf(store: TaskStore, batchId: BatchId): Promise<WaveStatus> {
  const { batches } = await store.listBatches({ batchId, most: 1 });
  return at(at(batches, 0).waves, 0);
}

function describeWaves(setup: StoreSetup): void {
  const open = useStore(setup);

  test("tasks of a held wave, of an open one and of none come back, each to its place", async () => {
    const { store } = open();
    const name = await define(store);
    const early = await heldAndOpen(store, name);
    const later = await startedWave(store, name);
    const alone = await die(store, name);
    await store.cancelTasks({ taskIds: [early.held, later.tasks[1]] });
    expect(await redrive(store, alone, later.tasks[1], early.held)).toEqual([
      "redriven",
      "redriven",
      "redriven",
    ]);
    const states = [early.held, later.tasks[1], alone].map((id) => stateOf(store, id));
    expect(await Promise.all(states)).toEqual(["held", "ready", "ready"]);
    expect(await waveOf(store, early.batchId)).toMatchObject({ held: 1, admitted: 0 });
    expect(await waveOf(store, later.batchId)).toMatchObject({ unfinished: 2, admitted: 2 });
  });

  test("one that is done isn't counted again with those that come back", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, tasks } = await startedWave(store, name, 3);
    const worker = await startWorker(store, name, { want: 2 });
    const [first, second] = await worker.claim(2);
    if (first === undefined || second === undefined) throw new Error("two tasks are expected");
    await worker.complete([first]);
    await worker.fail([second], { as: "dead", error: "no use" });
    expect(await redrive(store, first.taskId, second.taskId)).toEqual(["done", "redriven"]);
    expect(await waveOf(store, batchId)).toMatchObject({ unfinished: 2, dead: 0, admitted: 3 });
    expect(await stateOf(store, at(tasks, 2))).toBe("ready");
  });

  test("a duplicate of a held wave stays away, and comes back as what it was", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, held } = await heldAndOpen(store, name, { dedupeKey: "k" });
    await store.cancelTasks({ taskIds: [held] });
    const holder = await enqueueOne(store, name, { dedupeKey: "k" });
    expect(await redrive(store, held)).toEqual(["duplicate"]);
    expect(await waveOf(store, batchId)).toMatchObject({ held: 0 });
    expect(await stateOf(store, held)).toBe("cancelled");
    await store.cancelTasks({ taskIds: [holder] });
    expect(await redrive(store, held)).toEqual(["redriven"]);
    expect(await stateOf(store, held)).toBe("held");
    await store.startBatch({ batchId, seal: true });
    expect(await waveOf(store, batchId)).toMatchObject({ unfinished: 1, admitted: 1 });
  });

  test("a duplicate whose group isn't made yet stays away as well", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, held } = await heldAndOpen(store, name, { dedupeKey: "k", group: "new" });
    await store.cancelBatch({ batchId });
    await store.pumpBatch({ batchId, most: 10 });
    const holder = await enqueueOne(store, name, { dedupeKey: "k" });
    expect(await redrive(store, held)).toEqual(["duplicate"]);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 0, waiting: 0 });
    await store.cancelTasks({ taskIds: [holder] });
    expect(await redrive(store, held)).toEqual(["redriven"]);
    const worker = await startWorker(store, name);
    expect(await worker.claimOne()).toMatchObject({ taskId: held, isGrouped: true });
  });
}

/** A wave that is open. */
async function startedWave(
  store: TaskStore,
  name: string,
  count = 2,
): Promise<{ batchId: BatchId; tasks: [TaskId, TaskId, ...TaskId[]] }> {
  const tasks = Array.from({ length: count }, () => ({}));
  const { batchId, taskIds } = await batchOf(store, name, tasks);
  await store.startBatch({ batchId, seal: true });
  const [first, second, ...others] = taskIds;
  if (first === undefined || second === undefined) throw new Error("two tasks are expected");
  return { batchId, tasks: [first, second, ...others] };
}
