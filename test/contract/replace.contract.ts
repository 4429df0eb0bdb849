import { describe, expect, test } from "@jest/globals";
import type { EnqueueTasksAnswer, NewTask, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  operationId,
  startWorker,
  stateOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { hold, makeBatch } from "./batch-builders";

/** An enqueue that replaces the payload of the first task with its dedupe key. */
export function describeReplace(setup: StoreSetup): void {
  describe("onDuplicate: replace", () => {
    describePlaces(setup);
  });
  describe("onDuplicate: replace, of several", () => {
    describeSeveral(setup);
  });
}

const late = { payload: '{"n":2}', dedupeKey: "k", onDuplicate: "replace" } as const;

function call(
  store: TaskStore,
  name: string,
  tasks: Partial<NewTask>[] = [late],
): Promise<EnqueueTasksAnswer> {
  return store.enqueueTasks({
    name,
    build: 2,
    operationId: null,
    tasks: tasks.map((task) => ({ payload: null, ...task })),
  });
}

function describePlaces(setup: StoreSetup): void {
  const open = useStore(setup);
  const first = { payload: '{"n":1}', dedupeKey: "k" };

  test("a replace without a first task is an enqueue like any other", async () => {
    const { store } = open();
    const name = await define(store);
    expect(await call(store, name)).toMatchObject({ outcomes: ["enqueued"], ready: true });
  });

  test("a ready task carries the new payload, and all else stays", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name, { ...first, priority: 7 });
    expect(await call(store, name, [{ ...late, priority: 9, runInMs: 9_000 }])).toEqual({
      status: "enqueued",
      taskIds: [id],
      outcomes: ["replaced"],
      ready: false,
      nextDueMs: null,
    });
    expect(await factsOf(store, id)).toMatchObject({
      state: "ready",
      payload: '{"n":2}',
      priority: 7,
    });
    const worker = await startWorker(store, name);
    expect(await worker.claim(2)).toMatchObject([
      { taskId: id, payload: { n: 2 }, isFromNewerBuild: true },
    ]);
  });

  test("a replace changes scheduled and waiting tasks, too; null is a payload", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueueOne(store, name, { group: "g" });
    const waits = await enqueueOne(store, name, { ...first, group: "g" });
    const later = await enqueueOne(store, name, { ...first, dedupeKey: "l", runInMs: 60_000 });
    const answer = await call(store, name, [late, { ...late, dedupeKey: "l", payload: null }]);
    expect(answer).toMatchObject({
      taskIds: [waits, later],
      outcomes: ["replaced", "replaced"],
      nextDueMs: null,
    });
    expect(await factsOf(store, waits)).toMatchObject({ state: "waiting", payload: '{"n":2}' });
    expect(await factsOf(store, later)).toMatchObject({ state: "scheduled", payload: null });
  });

  test("a replace also changes tasks whose wave isn't open", async () => {
    const { store } = open();
    const name = await define(store);
    const { waveIds } = await store.createBatch({
      operationId: operationId(),
      name: "night",
      failurePolicy: "halt",
      waves: 1,
    });
    const [waveId] = waveIds;
    if (waveId === undefined) throw new Error("Expected a wave");
    const input = { name, build: 1, operationId: null, waveId };
    const { taskIds } = await store.enqueueTasks({ ...input, tasks: [first] });
    expect(await call(store, name)).toMatchObject({ taskIds, outcomes: ["replaced"] });
    const [id] = taskIds;
    if (id === undefined) throw new Error("Expected a task");
    expect(await factsOf(store, id)).toMatchObject({ state: "blocked", payload: '{"n":2}' });
  });

  test("a task that runs, has run or is over is left alone", async () => {
    const { store } = open();
    const name = await define(store, { retryBaseMs: 60_000 });
    const id = await enqueueOne(store, name, first);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const duplicate = { taskIds: [id], outcomes: ["duplicate"] };
    expect(await call(store, name)).toMatchObject(duplicate);
    await worker.fail([task], { as: "failed" });
    expect(await stateOf(store, id)).toBe("scheduled");
    expect(await call(store, name)).toMatchObject(duplicate);
    expect((await factsOf(store, id)).payload).toBe('{"n":1}');
    const windowed = await enqueueOne(store, name, { ...first, dedupeKey: "w", dedupeMs: 60_000 });
    await worker.complete([await worker.claimOne()]);
    expect(await call(store, name, [{ ...late, dedupeKey: "w" }])).toMatchObject({
      taskIds: [windowed],
      outcomes: ["duplicate"],
    });
  });

  test("a claim that was given back unbegun may be replaced; a continued one may not", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name, first);
    const worker = await startWorker(store, name);
    await worker.claimOne();
    await worker.finish();
    expect((await call(store, name)).outcomes).toEqual(["replaced"]);
    const second = await startWorker(store, name);
    await second.fail([await second.claimOne()], { as: "continued", checkpoint: "{}" });
    expect(await call(store, name)).toMatchObject({ taskIds: [id], outcomes: ["duplicate"] });
  });

  test("a task of another kind keeps its payload", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueueOne(store, name, { ...first, kind: "other" });
    expect((await call(store, name)).outcomes).toEqual(["duplicate"]);
    expect((await call(store, name, [{ ...late, kind: "Other" }])).outcomes).toEqual(["duplicate"]);
    expect((await call(store, name, [{ ...late, kind: "other" }])).outcomes).toEqual(["replaced"]);
  });

  test('the word "keep" keeps the first task; another word is refused', async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name, first);
    expect((await call(store, name, [{ ...late, onDuplicate: "keep" }])).outcomes).toEqual([
      "duplicate",
    ]);
    expect((await factsOf(store, id)).payload).toBe('{"n":1}');
    await expectError(call(store, name, [{}, { ...late, onDuplicate: "Replace" as "replace" }]), {
      code: "TASKGATE_ARG_INVALID",
      field: "onDuplicate",
      value: "Replace",
    });
  });
}

function describeSeveral(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the first of several entries with one key decides", async () => {
    const { store } = open();
    const name = await define(store);
    const first = await enqueueOne(store, name, { dedupeKey: "k" });
    const answer = await call(store, name, [
      { dedupeKey: "new", payload: "[1]" },
      { ...late, payload: "[2]" },
      { ...late, dedupeKey: "new", payload: "[3]" },
      { ...late, payload: "[4]" },
      {},
    ]);
    expect(answer.outcomes).toEqual(["enqueued", "replaced", "duplicate", "duplicate", "enqueued"]);
    expect((await factsOf(store, first)).payload).toBe("[2]");
    const [made] = answer.taskIds;
    if (made === undefined) throw new Error("Expected a task");
    expect((await factsOf(store, made)).payload).toBe("[1]");
  });

  test("a first entry that keeps isn't overruled by a later one", async () => {
    const { store } = open();
    const name = await define(store);
    const first = await enqueueOne(store, name, { dedupeKey: "k" });
    const answer = await call(store, name, [{ ...late, onDuplicate: "keep" }, late]);
    expect(answer.outcomes).toEqual(["duplicate", "duplicate"]);
    expect((await factsOf(store, first)).payload).toBeNull();
  });

  test("a replace of waiting, held and running tasks decides of each by itself", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    await enqueue(store, name, [{ group: "g" }, { group: "h" }, { dedupeKey: "runs" }]);
    await enqueue(store, name, [
      { group: "g", dedupeKey: "g" },
      { group: "h", dedupeKey: "h" },
    ]);
    const { waveIds } = await makeBatch(store, 1);
    await hold(store, { name, waveId: at(waveIds, 0) }, [{ dedupeKey: "held" }]);
    const worker = await startWorker(store, name, { want: 3 });
    await worker.claim(3);
    const outcomes = async (...keys: string[]): Promise<unknown> => {
      const tasks = keys.map((dedupeKey) => ({ ...late, dedupeKey }));
      return (await call(store, name, tasks)).outcomes;
    };
    expect(await outcomes("g", "runs")).toEqual(["replaced", "duplicate"]);
    expect(await outcomes("held", "runs")).toEqual(["replaced", "duplicate"]);
    expect(await outcomes("g", "h", "held")).toEqual(["replaced", "replaced", "replaced"]);
  });

  test("a task that was lost with its execution has been begun", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs: 10_000, lostMax: 5 });
    const id = await enqueueOne(store, name, { dedupeKey: "k" });
    await (await startWorker(store, name)).claimOne();
    await opened.advance(10_001);
    await store.reclaimExpired({ max: 10 });
    expect((await factsOf(store, id)).state).not.toBe("running");
    expect(await call(store, name)).toMatchObject({ taskIds: [id], outcomes: ["duplicate"] });
  });

  test("a repeat with the same operation id gets the first answer", async () => {
    const { store } = open();
    const name = await define(store);
    const first = await enqueueOne(store, name, { dedupeKey: "k" });
    const input = { name, build: 1, operationId: operationId(), tasks: [late] };
    const answer = await store.enqueueTasks(input);
    expect(answer.outcomes).toEqual(["replaced"]);
    await call(store, name, [{ ...late, payload: "[3]" }]);
    expect(await store.enqueueTasks(input)).toEqual(answer);
    expect((await factsOf(store, first)).payload).toBe("[3]");
  });

  test("ready and scheduled tasks are replaced inside a user's transaction, waiting ones aren't", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueueOne(store, name, { group: "g" });
    for (const task of [
      { dedupeKey: "r" },
      { dedupeKey: "s", runInMs: 60_000 },
      { dedupeKey: "w", group: "g" },
    ])
      await enqueueOne(store, name, task);
    const tasks = ["r", "s", "w"].map((dedupeKey) => ({ ...late, dedupeKey }));
    const answer = await store.transaction((within) =>
      store.enqueueTasks({ name, build: 1, operationId: null, tasks }, within),
    );
    expect(answer.outcomes).toEqual(["replaced", "replaced", "duplicate"]);
  });
}
