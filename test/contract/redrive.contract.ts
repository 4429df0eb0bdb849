import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import type { BatchId, TaskId } from "../../shared/core/ids";
import type {
  NewTask,
  RedriveTasksAnswer,
  TaskStore,
  WaveStatus,
} from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  operationId,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** Dead letters and cancelled tasks become tasks again. */
export function describeRedrive(setup: StoreSetup): void {
  describe("a redrive by ids", () => {
    describeByIds(setup);
  });
  describe("a redrive of groups and keys", () => {
    describeGates(setup);
  });
  describe("a redrive by filter", () => {
    describeByFilter(setup);
  });
  describe("the order of a redrivenOutcomes by filter", () => {
    describeOrder(setup);
  });
  describe("a redrivenOutcomes of tasks with equal keys", () => {
    describeKeys(setup);
  });
  describe("a redrivenOutcomes of tasks of several groups", () => {
    describeGroups(setup);
  });
  describe("a redrivenOutcomes of tasks of several waves", () => {
    describeWaves(setup);
  });
}

function redrive(store: TaskStore, ...taskIds: readonly TaskId[]): Promise<RedriveTasksAnswer> {
  return store.redriveTasks({ taskIds });
}

function outcomes(answer: RedriveTasksAnswer): string[] {
  return answer.results.map(({ outcome }) => outcome);
}

/** Enqueues tasks that end as dead letters, one after the other. */
async function dead(
  store: TaskStore,
  name: string,
  tasks: readonly Partial<NewTask>[],
): Promise<TaskId[]> {
  const ids: TaskId[] = [];
  const worker = await startWorker(store, name);
  for (const task of tasks) {
    ids.push(await enqueueOne(store, name, task));
    await worker.fail([await worker.claimOne()], { as: "dead", error: "no use" });
  }
  await worker.finish();
  return ids;
}

function describeByIds(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a dead letter is ready again with its id, counters at 0, its attempts and error kept", async () => {
    const { store } = open();
    const name = await define(store);
    const [id] = await dead(store, name, [{ payload: '{"n":1}', kind: "k", priority: 7 }]);
    const answer = await redrive(store, id ?? asTaskId("0"));
    expect(answer).toEqual({ results: [{ taskId: id, outcome: "redriven" }], woken: [name] });
    const facts = await factsOf(store, id ?? asTaskId("0"));
    expect(facts).toMatchObject({
      state: "ready",
      kind: "k",
      priority: 7,
      failedCount: 0,
      lostCount: 0,
      isCancelRequested: false,
      error: "no use",
    });
    expect(facts.attempts).toHaveLength(1);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, dead: 0 });
    const worker = await startWorker(store, name);
    const claimed = await worker.claimOne();
    expect(claimed).toMatchObject({ taskId: id, attempt: 1, payload: { n: 1 } });
    await worker.complete([claimed]);
    expect(await stateOf(store, claimed.taskId)).toBe("done");
  });

  test("a redriven task may die again, and be redriven again", async () => {
    const { store } = open();
    const name = await define(store, { retryAttempts: 1 });
    const id = at(await dead(store, name, [{}]), 0);
    for (let time = 2; time <= 3; time += 1) {
      await redrive(store, id);
      const worker = await startWorker(store, name);
      await worker.fail([await worker.claimOne()]);
      await worker.finish();
      expect(await stateOf(store, id)).toBe("dead");
      expect((await factsOf(store, id)).attempts).toHaveLength(time);
    }
  });

  test("tasks of a redrive that end well together keep their error, beside others that had none", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await dead(store, name, [{}, {}]);
    const others = await enqueue(store, name, [{}, {}, {}]);
    await redrive(store, ...ids);
    const worker = await startWorker(store, name, { want: 5 });
    await worker.complete(await worker.claim(5));
    const { tasks } = await store.listTasks({ name, state: "done", max: 10 });
    const errors = Object.fromEntries(tasks.map(({ task, error }) => [task, error]));
    expect(errors).toEqual({
      ...Object.fromEntries(ids.map((id) => [id, "no use"])),
      ...Object.fromEntries(others.map((id) => [id, null])),
    });
  });

  test("a cancelled task runs after all, and isn't cancelled any more", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name, { runInMs: 60_000 });
    await store.cancelTasks({ taskIds: [id] });
    expect(outcomes(await redrive(store, id))).toEqual(["redriven"]);
    const worker = await startWorker(store, name);
    expect(await worker.claimOne()).toMatchObject({ taskId: id, isCancelRequested: false });
  });

  test("a task that isn't dead or cancelled stays as it is, told in the order of the call, and a repeat tells the same", async () => {
    const { store } = open();
    const name = await define(store);
    const [first] = await dead(store, name, [{}]);
    const done = await enqueueOne(store, name);
    const worker = await startWorker(store, name, { want: 2 });
    await worker.complete([await worker.claimOne()]);
    const running = await enqueueOne(store, name);
    await worker.claimOne();
    const unknown = asTaskId("999999999");
    const ids = [running, unknown, done, first, running].flatMap((id) => id ?? []);
    const answer = await redrive(store, ...ids);
    expect(idsOf(answer.results)).toEqual([running, unknown, done, first]);
    expect(outcomes(answer)).toEqual(["unfinished", "unknown", "done", "redriven"]);
    expect(outcomes(await redrive(store, ...ids))).toEqual([
      "unfinished",
      "unknown",
      "done",
      "unfinished",
    ]);
  });

  test("tasks of several definitions go back to theirs", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    const ids = [...(await dead(store, one, [{}])), ...(await dead(store, two, [{}, {}]))];
    expect((await redrive(store, ...ids)).woken).toEqual([one, two].sort());
    expect((await statusOf(store, one)).ready).toBe(1);
    expect((await statusOf(store, two)).ready).toBe(2);
  });
}

function describeGates(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a group's tasks come in as slots are free, in their order; the rest waits", async () => {
    const { store } = open();
    const name = await define(store, { groupSlots: 2 });
    const ids = await dead(
      store,
      name,
      [100, 100, 50, 100].map((priority) => ({ group: "g", priority })),
    );
    await redrive(store, ...ids);
    expect(await statusOf(store, name)).toMatchObject({ ready: 2, waiting: 2 });
    const worker = await startWorker(store, name, { want: 4 });
    const claimed = await worker.claim(4);
    expect(idsOf(claimed)).toEqual([at(ids, 2), at(ids, 0)]);
    const next = await worker.complete(claimed, 4);
    expect(idsOf(next.claimed)).toEqual([at(ids, 1), at(ids, 3)]);
  });

  test("a redriven task waits behind others of its group, and no definition is woken", async () => {
    const { store } = open();
    const name = await define(store);
    const [id] = await dead(store, name, [{ group: "g" }]);
    await enqueue(store, name, [{ group: "g" }]);
    expect((await redrive(store, id ?? asTaskId("0"))).woken).toEqual([]);
    expect(await stateOf(store, id ?? asTaskId("0"))).toBe("waiting");
  });

  test("a task that a redrive leaves where it is takes no slot of the others", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await dead(store, name, [{ group: "g", dedupeKey: "k" }, { group: "g" }]);
    await enqueueOne(store, name, { dedupeKey: "k" });
    expect(outcomes(await redrive(store, ...ids))).toEqual(["duplicate", "redriven"]);
    expect(await stateOf(store, at(ids, 1))).toBe("ready");
  });

  test("a redrive takes a task's key again; a task whose key another one has stays where it is", async () => {
    const { store } = open();
    const name = await define(store);
    const [free, taken] = await dead(store, name, [{ dedupeKey: "a" }, { dedupeKey: "b" }]);
    await enqueueOne(store, name, { dedupeKey: "b" });
    const ids = [free, taken].flatMap((id) => id ?? []);
    expect(outcomes(await redrive(store, ...ids))).toEqual(["redriven", "duplicate"]);
    expect(await enqueueOne(store, name, { dedupeKey: "a" })).toBe(free);
    expect(await stateOf(store, at(ids, 1))).toBe("dead");
  });

  test("the oldest of several dead tasks with one key comes back", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await dead(
      store,
      name,
      Array.from({ length: 3 }, () => ({ dedupeKey: "k" })),
    );
    expect(outcomes(await redrive(store, ...[...ids].reverse()))).toEqual([
      "duplicate",
      "duplicate",
      "redriven",
    ]);
  });

  test("a key that is its own for a while longer is no hindrance; one that is over is taken", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const [id] = await dead(store, name, [{ dedupeKey: "k", dedupeMs: 60_000 }]);
    const task = id ?? asTaskId("0");
    expect(outcomes(await redrive(store, task))).toEqual(["redriven"]);
    await store.cancelTasks({ taskIds: [task] });
    await opened.advance(60_001);
    expect(outcomes(await redrive(store, task))).toEqual(["redriven"]);
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(task);
  });
}

function describeByFilter(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the oldest dead letters of a definition, as many as asked for; then the next", async () => {
    const { store } = open();
    const name = await define(store);
    const other = await define(store);
    const ids = await dead(store, name, [{}, {}, {}]);
    await dead(store, other, [{}]);
    const first = await store.redriveTasks({ name, outcome: "dead", max: 2 });
    expect(idsOf(first.results)).toEqual(ids.slice(0, 2));
    expect(outcomes(first)).toEqual(["redriven", "redriven"]);
    const second = await store.redriveTasks({ name, outcome: "dead", max: 2 });
    expect(idsOf(second.results)).toEqual(ids.slice(2));
    expect(await store.redriveTasks({ name, outcome: "dead", max: 2 })).toEqual({
      results: [],
      woken: [],
    });
    expect((await statusOf(store, other)).dead).toBe(1);
  });

  test("a redrive by filter takes only cancelled tasks, and only one kind", async () => {
    const { store } = open();
    const name = await define(store);
    const [a, b] = await dead(store, name, [{ kind: "a" }, { kind: "b" }]);
    const cancelled = await enqueueOne(store, name, { kind: "a" });
    await store.cancelTasks({ taskIds: [cancelled] });
    const one = await store.redriveTasks({ name, kind: "b", outcome: "dead", max: 10 });
    expect(idsOf(one.results)).toEqual([b]);
    const two = await store.redriveTasks({ name, outcome: "cancelled", max: 10 });
    expect(idsOf(two.results)).toEqual([cancelled]);
    expect(await stateOf(store, a ?? asTaskId("0"))).toBe("dead");
  });

  test("an unknown definition and numbers out of range are refused", async () => {
    const { store } = open();
    const name = await define(store);
    await expectError(store.redriveTasks({ name: "nobody", outcome: "dead", max: 1 }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
    });
    for (const max of [0, 1_001]) {
      await expectError(store.redriveTasks({ name, outcome: "dead", max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
      });
    }
    await expectError(redrive(store), { code: "TASKGATE_ARG_INVALID", field: "task_ids" });
    await expectError(store.redriveTasks({ name, outcome: "done" as "dead", max: 1 }), {
      code: "TASKGATE_ARG_INVALID",
      field: "outcome",
    });
  });
}

async function redrivenOutcomes(
  store: TaskStore,
  ...taskIds: readonly TaskId[]
): Promise<string[]> {
  return outcomes(await store.redriveTasks({ taskIds }));
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
    "the task that ended first comes first, with any ids; kind: %s",
    async (kind) => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const tasks = Array.from({ length: 4 }, () => ({ kind: "a" }));
      const ids = await dieInOrder(opened, name, { tasks, order: [2, 3, 1, 0], apartMs: 10 });
      const found = async () => {
        const filter = { name, outcome: "dead", max: 2 } as const;
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
      `a redrive takes the lower id first of tasks that ended at one instant; kind: ${kind ?? "any"}`,
      async () => {
        const opened = open();
        const name = await define(opened.store);
        const tasks = Array.from({ length: 4 }, () => ({ kind: "a" }));
        const ids = await dieInOrder(opened, name, { tasks, order: [2, 3, 1, 0], apartMs: 0 });
        const filter = { name, outcome: "dead", max: 3 } as const;
        const asked = kind === undefined ? filter : { ...filter, kind };
        expect(idsOf((await opened.store.redriveTasks(asked)).results)).toEqual(ids.slice(0, 3));
      },
    );
  }

  test("a redrive of a kind brings back only this definition's dead tasks; capitals are another kind", async () => {
    const { store } = open();
    const [name, other] = [await define(store), await define(store)];
    const wanted = await die(store, name, { kind: "a" });
    await die(store, other, { kind: "a" });
    await store.cancelTasks({ taskIds: [await enqueueOne(store, name, { kind: "a" })] });
    const filter = { name, outcome: "dead", max: 10 } as const;
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
    expect(await redrivenOutcomes(store, ...ids)).toEqual(["duplicate", "redriven"]);
  });

  test("a done task is told as done, and takes no key, free or taken", async () => {
    const { store } = open();
    const name = await define(store);
    const done = await end(store, name, { dedupeKey: "k" });
    expect(await redrivenOutcomes(store, done)).toEqual(["done"]);
    const dead = await die(store, name, { dedupeKey: "k" });
    expect(await redrivenOutcomes(store, done, dead)).toEqual(["done", "redriven"]);
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(dead);
  });

  test("a duplicate wakes no definition", async () => {
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
      expect(await redrivenOutcomes(store, dead)).toEqual(["duplicate"]);
      expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(holder);
      await opened.advance(1);
      expect(await redrivenOutcomes(store, dead)).toEqual(["redriven"]);
      expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(dead);
    },
  );

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("a redrive tells a task with a locked row as busy, and brings the others back", async () => {
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
      return redrivenOutcomes(store, ...ids);
    });
    expect(told).toEqual(["busy", "redriven"]);
    expect(await redrivenOutcomes(store, ...ids)).toEqual(["redriven", "unfinished"]);
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
    expect(await redrivenOutcomes(store, ...ids)).toEqual(ids.map(() => "redriven"));
    const states = await Promise.all(ids.map((id) => stateOf(store, id)));
    expect(states).toEqual(["waiting", "waiting", "ready", "waiting", "ready", "ready"]);
  });

  test("a redrive gives each task a slot of its own group that no other task has", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5, groupSlots: 2 });
    for (const group of ["g", "h", "h"]) await enqueueOne(store, name, { group });
    const worker = await startWorker(store, name, { want: 2 });
    const dead = await worker.claim(2);
    await worker.fail(dead, { as: "dead" });
    // Now the second slot of g is free, and the first one of h.
    await enqueueOne(store, name, { group: "g" });
    expect(await redrivenOutcomes(store, ...idsOf(dead))).toEqual(["redriven", "redriven"]);
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

  test("a redriven task that is held in its wave takes no slot of its group", async () => {
    const { store } = open();
    const name = await define(store);
    const dead = await die(store, name, { group: "g" });
    const { blocked } = await blockedAndOpen(store, name, { group: "g", priority: 0 });
    await store.cancelTasks({ taskIds: [blocked] });
    expect(await redrivenOutcomes(store, blocked, dead)).toEqual(["redriven", "redriven"]);
    expect([await stateOf(store, blocked), await stateOf(store, dead)]).toEqual([
      "blocked",
      "ready",
    ]);
  });
}

interface Two {
  readonly batchId: BatchId;
  /** In the first wave, which isn't open. */
  readonly blocked: TaskId;
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
async function blockedAndOpen(
  store: TaskStore,
  name: string,
  task: Partial<NewTask> = {},
): Promise<Two> {
  const { batchId, taskIds } = await batchOf(store, name, [task]);
  return { batchId, blocked: at(taskIds, 0) };
}

async function waveOf(store: TaskStore, batchId: BatchId): Promise<WaveStatus> {
  const { batches } = await store.listBatches({ batchId, max: 1 });
  return at(at(batches, 0).waves, 0);
}

function describeWaves(setup: StoreSetup): void {
  const open = useStore(setup);

  test("tasks of a blocked wave, of an open one and of none come back, each to its place", async () => {
    const { store } = open();
    const name = await define(store);
    const early = await blockedAndOpen(store, name);
    const later = await startedWave(store, name);
    const alone = await die(store, name);
    await store.cancelTasks({ taskIds: [early.blocked, later.tasks[1]] });
    expect(await redrivenOutcomes(store, alone, later.tasks[1], early.blocked)).toEqual([
      "redriven",
      "redriven",
      "redriven",
    ]);
    const states = [early.blocked, later.tasks[1], alone].map((id) => stateOf(store, id));
    expect(await Promise.all(states)).toEqual(["blocked", "ready", "ready"]);
    expect(await waveOf(store, early.batchId)).toMatchObject({ blocked: 1, admitted: 0 });
    expect(await waveOf(store, later.batchId)).toMatchObject({ unfinished: 2, admitted: 2 });
  });

  test("a task that is done isn't counted again with those that come back", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, tasks } = await startedWave(store, name, 3);
    const worker = await startWorker(store, name, { want: 2 });
    const [first, second] = await worker.claim(2);
    if (first === undefined || second === undefined) throw new Error("two tasks are expected");
    await worker.complete([first]);
    await worker.fail([second], { as: "dead", error: "no use" });
    expect(await redrivenOutcomes(store, first.taskId, second.taskId)).toEqual([
      "done",
      "redriven",
    ]);
    expect(await waveOf(store, batchId)).toMatchObject({ unfinished: 2, dead: 0, admitted: 3 });
    expect(await stateOf(store, at(tasks, 2))).toBe("ready");
  });

  test("a duplicate of a blocked wave stays away, and comes back as what it was", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, blocked } = await blockedAndOpen(store, name, { dedupeKey: "k" });
    await store.cancelTasks({ taskIds: [blocked] });
    const holder = await enqueueOne(store, name, { dedupeKey: "k" });
    expect(await redrivenOutcomes(store, blocked)).toEqual(["duplicate"]);
    expect(await waveOf(store, batchId)).toMatchObject({ blocked: 0 });
    expect(await stateOf(store, blocked)).toBe("cancelled");
    await store.cancelTasks({ taskIds: [holder] });
    expect(await redrivenOutcomes(store, blocked)).toEqual(["redriven"]);
    expect(await stateOf(store, blocked)).toBe("blocked");
    await store.startBatch({ batchId, seal: true });
    expect(await waveOf(store, batchId)).toMatchObject({ unfinished: 1, admitted: 1 });
  });

  test("a duplicate whose group isn't made yet stays away as well", async () => {
    const { store } = open();
    const name = await define(store);
    const { batchId, blocked } = await blockedAndOpen(store, name, {
      dedupeKey: "k",
      group: "new",
    });
    await store.cancelBatch({ batchId });
    await store.pumpBatch({ batchId, max: 10 });
    const holder = await enqueueOne(store, name, { dedupeKey: "k" });
    expect(await redrivenOutcomes(store, blocked)).toEqual(["duplicate"]);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 0, waiting: 0 });
    await store.cancelTasks({ taskIds: [holder] });
    expect(await redrivenOutcomes(store, blocked)).toEqual(["redriven"]);
    const worker = await startWorker(store, name);
    expect(await worker.claimOne()).toMatchObject({ taskId: blocked, isGrouped: true });
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
