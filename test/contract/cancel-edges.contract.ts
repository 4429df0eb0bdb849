import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import type { TaskId } from "../../shared/core/ids";
import type { CancelTasksAnswer, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  operationId,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** A cancel and a reschedule of several tasks at once, each in a place of its own. */
export function describeCancelEdges(setup: StoreSetup): void {
  describe("a cancel of tasks in several places", () => {
    describeCancel(setup);
  });
  describe("a reschedule of tasks in several places", () => {
    describeReschedule(setup);
  });
  describe("a task that becomes ready while an operator's call waits for its group", () => {
    describeHandedOver(setup);
  });
}

function told(answer: CancelTasksAnswer): string[] {
  return answer.results.map(({ outcome, state }) => state ?? outcome);
}

/** A task in a wave that isn't open, and one in the group of a task that runs. */
async function everywhere(store: TaskStore, name: string) {
  const { waveIds } = await store.createBatch({
    operationId: operationId(),
    name: "a batch",
    failurePolicy: "halt",
    waves: 1,
  });
  const running = await enqueueOne(store, name, { group: "g", priority: 0 });
  const worker = await startWorker(store, name);
  const claim = await worker.claimOne();
  const { taskIds } = await store.enqueueTasks({
    name,
    build: 1,
    operationId: null,
    waveId: at(waveIds, 0),
    tasks: [{ payload: null }, { payload: null }],
  });
  return {
    worker,
    claim,
    running,
    held: at(taskIds, 0),
    heldToo: at(taskIds, 1),
    waiting: await enqueueOne(store, name, { group: "g" }),
    ready: await enqueueOne(store, name),
    soon: await enqueueOne(store, name, { runInMs: 1_000 }),
    later: await enqueueOne(store, name, { runInMs: 2_000 }),
  };
}

function describeCancel(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each is told what became of it, and the others stay where they are", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = await everywhere(store, name);
    const { running, held, waiting, ready, later } = tasks;
    const unknown = asTaskId("999999999");
    const answer = await store.cancelTasks({
      taskIds: [later, unknown, running, held, waiting, ready],
    });
    expect(told(answer)).toEqual([
      "cancelled",
      "unknown",
      "requested",
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
    for (const id of [later, held, waiting, ready]) {
      expect(await stateOf(store, id)).toBe("cancelled");
    }
    expect(await stateOf(store, tasks.soon)).toBe("scheduled");
    expect(await stateOf(store, tasks.heldToo)).toBe("held");
    expect(await stateOf(store, running)).toBe("claimed");
  });

  test("they are kept as long as done tasks are", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retainDoneMs: 5_000, retainDeadMs: 1_000 });
    const { ready, later } = await everywhere(store, name);
    await store.cancelTasks({ taskIds: [ready, later] });
    await opened.advance(4_000);
    await store.purge({ most: 10 });
    expect(await stateOf(store, ready)).toBe("cancelled");
    await opened.advance(1_001);
    await store.purge({ most: 10 });
    const { status } = await store.explainTask({ taskId: ready });
    expect(status).toBe("unknown");
  });

  test("the key of a running task stays its own, another task's key stays taken", async () => {
    const { store } = open();
    const name = await define(store);
    const key = { dedupeKey: "k" };
    const first = await enqueueOne(store, name, { ...key, group: "g", priority: 0 });
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { as: "dead", error: "no use" });
    const second = await enqueueOne(store, name, key);
    expect(told(await store.cancelTasks({ taskIds: [first] }))).toEqual(["dead"]);
    expect(await enqueueOne(store, name, key)).toBe(second);
    const third = await enqueueOne(store, name, { dedupeKey: "l", group: "g", priority: 0 });
    const waits = await enqueueOne(store, name, { dedupeKey: "m", group: "g" });
    await worker.claimOne();
    expect(told(await store.cancelTasks({ taskIds: [third, waits] }))).toEqual([
      "requested",
      "cancelled",
    ]);
    expect(await enqueueOne(store, name, { dedupeKey: "l" })).toBe(third);
    expect(await enqueueOne(store, name, { dedupeKey: "m" })).not.toBe(waits);
  });

  test("of several groups each hands over what it got back", async () => {
    const { store } = open();
    const [one, two] = [await define(store), await define(store)];
    const [a, b, c] = await enqueue(store, one, [{ group: "g" }, { group: "g" }, { group: "h" }]);
    const [d, e] = await enqueue(store, two, [{ group: "g" }, { group: "g" }]);
    const ids = [a, b, c, d, e].flatMap((id) => id ?? []);
    expect(
      (await store.cancelTasks({ taskIds: [at(ids, 0), at(ids, 2), at(ids, 4)] })).woken,
    ).toEqual([one]);
    const states = await Promise.all(ids.map((id) => stateOf(store, id)));
    expect(states).toEqual(["cancelled", "ready", "cancelled", "ready", "cancelled"]);
  });
}

function describeReschedule(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each is moved, or told why it isn't, and the others stay where they are", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const tasks = await everywhere(store, name);
    const { running, held, waiting, ready, later } = tasks;
    const unknown = asTaskId("999999999");
    const answer = await store.rescheduleTasks({
      taskIds: [later, unknown, running, held, waiting, ready],
      to: { runInMs: 60_000 },
    });
    expect(answer.results.map(({ outcome, state }) => state ?? outcome)).toEqual([
      "rescheduled",
      "unknown",
      "running",
      "held",
      "rescheduled",
      "rescheduled",
    ]);
    const dueIn = async (id: TaskId) => (await store.explainTask({ taskId: id })).facts?.dueInMs;
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0, scheduled: 4 });
    await opened.advance(1_001);
    await store.promoteScheduled({ name, most: 10 });
    expect(await stateOf(store, tasks.soon)).toBe("ready");
    expect(await statusOf(store, name)).toMatchObject({ scheduled: 3 });
    expect(await dueIn(tasks.soon)).toBeFalsy();
    expect([await stateOf(store, held), await stateOf(store, running)]).toEqual([
      "held",
      "claimed",
    ]);
  });

  testWith(setup, "exact clock")(
    "what was put into the past doesn't come before what is due now",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const [first, second] = await enqueue(store, name, [
        { runInMs: 60_000 },
        { runInMs: 60_000 },
      ]);
      const now = await opened.now();
      await store.rescheduleTasks({ taskIds: [first ?? asTaskId("0")], to: { runInMs: 0 } });
      const past = { runAt: new Date(now.getTime() - 60_000) };
      await store.rescheduleTasks({ taskIds: [second ?? asTaskId("0")], to: past });
      await store.promoteScheduled({ name, most: 1 });
      expect(await stateOf(store, first ?? asTaskId("0"))).toBe("ready");
      expect(await stateOf(store, second ?? asTaskId("0"))).toBe("scheduled");
    },
  );

  test("of several groups each hands over the slots of those that left it", async () => {
    const { store } = open();
    const [one, two] = [await define(store), await define(store)];
    const [a, b, c] = await enqueue(store, one, [{ group: "g" }, { group: "g" }, { group: "h" }]);
    const [d, e] = await enqueue(store, two, [{ group: "g" }, { group: "g" }]);
    const ids = [a, b, c, d, e].flatMap((id) => id ?? []);
    const moved = [at(ids, 0), at(ids, 2), at(ids, 4)];
    const answer = await store.rescheduleTasks({ taskIds: moved, to: { runInMs: 60_000 } });
    expect(answer.woken).toEqual([one]);
    expect(answer.definitions).toEqual([one, two].sort());
    const states = await Promise.all(ids.map((id) => stateOf(store, id)));
    expect(states).toEqual(["scheduled", "ready", "scheduled", "ready", "scheduled"]);
  });
}

/** What is asked for meanwhile has been sent, and waits if it has to. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function describeHandedOver(setup: StoreSetup): void {
  const open = useStore(setup);

  /** Ends the first task of a group in a transaction; before it commits the operator asks about the others. */
  async function askMeanwhile<Answer>(
    opened: TestStore,
    ask: (ids: readonly TaskId[]) => Promise<Answer>,
  ): Promise<{ ids: readonly TaskId[]; name: string; answer: Answer }> {
    const { store } = opened;
    const name = await define(store);
    const ids = await enqueue(store, name, [
      { group: "g", priority: 0 },
      { group: "g" },
      { group: "g" },
      {},
    ]);
    const worker = await startWorker(store, name);
    const claim = await worker.claimOne();
    const { executionId } = worker;
    const asked = await store.transaction(async (transaction) => {
      await store.completeTask({ executionId, ...done(claim) }, transaction);
      const answer = ask(ids.slice(1));
      await someTurns();
      return { answer };
    });
    return { ids: ids.slice(1), name, answer: await asked.answer };
  }

  testWith(setup, "row locks")(
    "is cancelled all the same, with those that still wait",
    async () => {
      const opened = open();
      const { store } = opened;
      const { ids, name, answer } = await askMeanwhile(opened, (taskIds) =>
        store.cancelTasks({ taskIds }),
      );
      expect(told(answer)).toEqual(["cancelled", "cancelled", "cancelled"]);
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0 });
      for (const id of ids) expect(await stateOf(store, id)).toBe("cancelled");
    },
  );

  testWith(setup, "row locks")("is put off all the same, with those that still wait", async () => {
    const opened = open();
    const { store } = opened;
    const { ids, name, answer } = await askMeanwhile(opened, (taskIds) =>
      store.rescheduleTasks({ taskIds, to: { runInMs: 60_000 } }),
    );
    expect(answer.results.map(({ outcome }) => outcome)).toEqual(ids.map(() => "rescheduled"));
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0, scheduled: 3 });
  });
}
