import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import type { TaskId } from "../../shared/core/ids";
import type { NewTask, RedriveTasksAnswer, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

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
      cancelRequested: false,
      lastError: "no use",
    });
    expect(facts.attempts).toHaveLength(1);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, dead: 0 });
    const worker = await startWorker(store, name);
    const claimed = await worker.claimOne();
    expect(claimed).toMatchObject({ taskId: id, attempt: 1, payload: { n: 1 } });
    await worker.complete([claimed]);
    expect(await stateOf(store, claimed.taskId)).toBe("done");
  });

  test("it may die again, and be redriven again", async () => {
    const { store } = open();
    const name = await define(store, { maxAttempts: 1 });
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

  test("a cancelled task runs after all, and isn't cancelled any more", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name, { runInMs: 60_000 });
    await store.cancelTasks({ taskIds: [id] });
    expect(outcomes(await redrive(store, id))).toEqual(["redriven"]);
    const worker = await startWorker(store, name);
    expect(await worker.claimOne()).toMatchObject({ taskId: id, isCancelRequested: false });
  });

  test("what isn't dead or cancelled stays as it is, told in the order of the call; so does a repeat", async () => {
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

  test("behind others it waits, and nobody is woken", async () => {
    const { store } = open();
    const name = await define(store);
    const [id] = await dead(store, name, [{ group: "g" }]);
    await enqueue(store, name, [{ group: "g" }]);
    expect((await redrive(store, id ?? asTaskId("0"))).woken).toEqual([]);
    expect(await stateOf(store, id ?? asTaskId("0"))).toBe("waiting");
  });

  test("one that stays where it is takes no slot of the others", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await dead(store, name, [{ group: "g", dedupeKey: "k" }, { group: "g" }]);
    await enqueueOne(store, name, { dedupeKey: "k" });
    expect(outcomes(await redrive(store, ...ids))).toEqual(["duplicate", "redriven"]);
    expect(await stateOf(store, at(ids, 1))).toBe("ready");
  });

  test("its key is taken again; where another task has it, it stays where it is", async () => {
    const { store } = open();
    const name = await define(store);
    const [free, taken] = await dead(store, name, [{ dedupeKey: "a" }, { dedupeKey: "b" }]);
    await enqueueOne(store, name, { dedupeKey: "b" });
    const ids = [free, taken].flatMap((id) => id ?? []);
    expect(outcomes(await redrive(store, ...ids))).toEqual(["redriven", "duplicate"]);
    expect(await enqueueOne(store, name, { dedupeKey: "a" })).toBe(free);
    expect(await stateOf(store, at(ids, 1))).toBe("dead");
  });

  test("of several tasks with one key the oldest comes back", async () => {
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
    const first = await store.redriveTasks({ name, outcome: "dead", most: 2 });
    expect(idsOf(first.results)).toEqual(ids.slice(0, 2));
    expect(outcomes(first)).toEqual(["redriven", "redriven"]);
    const second = await store.redriveTasks({ name, outcome: "dead", most: 2 });
    expect(idsOf(second.results)).toEqual(ids.slice(2));
    expect(await store.redriveTasks({ name, outcome: "dead", most: 2 })).toEqual({
      results: [],
      woken: [],
    });
    expect((await statusOf(store, other)).dead).toBe(1);
  });

  test("only cancelled ones, only one kind", async () => {
    const { store } = open();
    const name = await define(store);
    const [a, b] = await dead(store, name, [{ kind: "a" }, { kind: "b" }]);
    const cancelled = await enqueueOne(store, name, { kind: "a" });
    await store.cancelTasks({ taskIds: [cancelled] });
    const one = await store.redriveTasks({ name, kind: "b", outcome: "dead", most: 10 });
    expect(idsOf(one.results)).toEqual([b]);
    const two = await store.redriveTasks({ name, outcome: "cancelled", most: 10 });
    expect(idsOf(two.results)).toEqual([cancelled]);
    expect(await stateOf(store, a ?? asTaskId("0"))).toBe("dead");
  });

  test("an unknown definition and numbers out of range are refused", async () => {
    const { store } = open();
    const name = await define(store);
    await expectError(store.redriveTasks({ name: "nobody", outcome: "dead", most: 1 }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
    });
    for (const most of [0, 1_001]) {
      await expectError(store.redriveTasks({ name, outcome: "dead", most }), {
        code: "TASKGATE_ARG_INVALID",
        field: "most",
      });
    }
    await expectError(redrive(store), { code: "TASKGATE_ARG_INVALID", field: "task_ids" });
    await expectError(store.redriveTasks({ name, outcome: "done" as "dead", most: 1 }), {
      code: "TASKGATE_ARG_INVALID",
      field: "outcome",
    });
  });
}
