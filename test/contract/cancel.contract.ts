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
  factsOf,
  idsOf,
  only,
  operationId,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { inDialect } from "./two-dialects";

/** An operator's cancel: waiting tasks end, running ones are asked to. */
export function describeCancel(setup: StoreSetup): void {
  describe("a cancel of tasks that wait", () => {
    describeWaiting(setup);
  });
  describe("a cancel of tasks that run", () => {
    describeRunning(setup);
  });
  describe("a cancel's answer", () => {
    describeAnswer(setup);
  });
  describe("a cancel of tasks in several places", () => {
    describeOutcomes(setup);
  });
  describe("a reschedule of tasks in several places", () => {
    describeReschedule(setup);
  });
  describe("a task that becomes ready while an operator's call waits for its group", () => {
    describeHandedOver(setup);
  });
}

function cancel(store: TaskStore, ...taskIds: readonly TaskId[]): Promise<CancelTasksAnswer> {
  return store.cancelTasks({ taskIds });
}

function outcomes(answer: CancelTasksAnswer): string[] {
  return answer.results.map(({ outcome, state }) => state ?? outcome);
}

function describeWaiting(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a ready task ends, and is never claimed", async () => {
    const { store } = open();
    const name = await define(store);
    const [first, second] = await enqueue(store, name, 2);
    const answer = await cancel(store, first ?? asTaskId("0"));
    expect(answer).toEqual({
      results: [{ taskId: first, outcome: "cancelled", state: null }],
      woken: [],
      opening: [],
    });
    const worker = await startWorker(store, name, { want: 4 });
    expect(idsOf(await worker.claim(4))).toEqual([second]);
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, claimed: 1 });
  });

  test("a scheduled task ends, also one that waits for its retry", async () => {
    const { store } = open();
    const name = await define(store);
    const later = await enqueueOne(store, name, { runInMs: 60_000 });
    const other = await enqueueOne(store, name, { runInMs: 60_000 });
    const failing = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 60_000 });
    expect(outcomes(await cancel(store, later, failing))).toEqual(["cancelled", "cancelled"]);
    expect(await stateOf(store, other)).toBe("scheduled");
    expect(await factsOf(store, failing)).toMatchObject({ state: "cancelled", failedCount: 1 });
    expect((await factsOf(store, failing)).attempts).toHaveLength(1);
  });

  test("tasks of several definitions and places end in one call", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    const ids = [
      await enqueueOne(store, one),
      await enqueueOne(store, two, { runInMs: 1_000 }),
      await enqueueOne(store, two, { priority: 7 }),
      ...(await enqueue(store, one, [{ group: "g" }, { group: "g" }])),
    ];
    expect(new Set(outcomes(await cancel(store, ...ids)))).toEqual(new Set(["cancelled"]));
    for (const name of [one, two]) {
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, scheduled: 0, waiting: 0 });
    }
  });

  test("a waiting task leaves its group's line; the others keep their order", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await enqueue(
      store,
      name,
      Array.from({ length: 4 }, () => ({ group: "g" })),
    );
    expect(await cancel(store, at(ids, 1))).toEqual({
      results: [{ taskId: at(ids, 1), outcome: "cancelled", state: null }],
      woken: [],
      opening: [],
    });
    const worker = await startWorker(store, name);
    const first = await worker.claimOne();
    const next = await worker.complete([first], 1);
    expect([first.taskId, ...idsOf(next.claimed)]).toEqual([at(ids, 0), at(ids, 2)]);
  });

  test("a ready task of a group hands its slot over, and the answer names who got work", async () => {
    const { store } = open();
    const one = await define(store);
    const two = await define(store);
    const shared = { group: "g", groupScope: "global" } as const;
    const first = await enqueueOne(store, one, shared);
    const second = await enqueueOne(store, two, shared);
    expect(await stateOf(store, second)).toBe("waiting");
    expect((await cancel(store, first)).woken).toEqual([two]);
    expect(await stateOf(store, second)).toBe("ready");
  });

  test("a whole group is cancelled in one call: no task is handed a slot", async () => {
    const { store } = open();
    const name = await define(store, { groupSlots: 2 });
    const ids = await enqueue(
      store,
      name,
      Array.from({ length: 5 }, () => ({ group: "g" })),
    );
    const answer = await cancel(store, ...ids);
    expect(new Set(outcomes(answer))).toEqual(new Set(["cancelled"]));
    expect(answer.woken).toEqual([]);
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0 });
  });

  test("a strict group's retry gives the slot that it kept", async () => {
    const { store } = open();
    const name = await define(store, { groupStrict: true });
    const [first, second] = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 60_000 });
    expect(await worker.claim(1)).toEqual([]);
    expect(await cancel(store, first ?? asTaskId("0"))).toMatchObject({ woken: [name] });
    expect(idsOf(await worker.claim(1))).toEqual([second]);
  });

  test("a waiting task whose group isn't made yet ends at once, and comes back into it", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = [
      { payload: null, group: "new", dedupeKey: "k" },
      { payload: null, group: "new" },
    ];
    const { taskIds } = await store.transaction((transaction) =>
      store.enqueueTasks({ name, build: 1, operationId: null, tasks }, transaction),
    );
    expect(outcomes(await cancel(store, ...taskIds))).toEqual(["cancelled", "cancelled"]);
    expect(await statusOf(store, name)).toMatchObject({ scheduled: 0, cancelled: 2 });
    expect((await store.listGroups({ name, max: 10 })).groups).toEqual([]);
    const again = await enqueueOne(store, name, { dedupeKey: "k" });
    expect(taskIds).not.toContain(again);
    await cancel(store, again);
    await store.redriveTasks({ taskIds });
    const worker = await startWorker(store, name, { want: 4 });
    const claimed = await worker.claimOne();
    expect(claimed).toMatchObject({ isCancelRequested: false, isGrouped: true });
    expect(await worker.claim(1)).toEqual([]);
    await worker.complete([claimed]);
    expect(await worker.claim(1)).toHaveLength(1);
  });

  test("the dedupe key is free again; one with a window stays taken", async () => {
    const { store } = open();
    const name = await define(store);
    const free = await enqueueOne(store, name, { dedupeKey: "k" });
    const kept = await enqueueOne(store, name, { dedupeKey: "w", dedupeMs: 60_000 });
    await cancel(store, free, kept);
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).not.toBe(free);
    expect(await enqueueOne(store, name, { dedupeKey: "w" })).toBe(kept);
  });

  test("the reason is the ended task's error; without one the last error stays", async () => {
    const { store } = open();
    const name = await define(store);
    const failing = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 60_000, error: "it broke" });
    const plain = await enqueueOne(store, name);
    await store.cancelTasks({ taskIds: [plain], reason: "not needed any more" });
    await cancel(store, failing);
    expect((await factsOf(store, plain)).error).toBe("not needed any more");
    expect((await factsOf(store, failing)).error).toBe("it broke");
  });

  testWith(setup, "execution log")("a task that never ran leaves no line in the log", async () => {
    const opened = open();
    const name = await define(opened.store);
    await cancel(opened.store, await enqueueOne(opened.store, name));
    expect(await opened.readLog(name)).toEqual([]);
  });

  test("a cancel of a waiting task leaves a trace also where done tasks leave none", async () => {
    const { store } = open();
    const name = await define(store, { retainDoneMs: 0 });
    const id = await enqueueOne(store, name);
    await cancel(store, id);
    expect(await stateOf(store, id)).toBe("cancelled");
  });
}

function describeRunning(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the worker of a running task hears of the cancel, and the task ends when it fails", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const claimed = await worker.claimOne();
    expect((await worker.beat()).cancel).toEqual([]);
    expect(outcomes(await cancel(store, id))).toEqual(["requested"]);
    expect(await stateOf(store, id)).toBe("claimed");
    expect((await worker.beat()).cancel).toEqual([id]);
    expect(only((await worker.fail([claimed])).results).outcome).toBe("cancelled");
    expect(await stateOf(store, id)).toBe("cancelled");
  });

  test("a task that ends well all the same is done", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const claimed = await worker.claimOne();
    await cancel(store, id);
    await worker.complete([claimed]);
    expect(outcomes(await cancel(store, id))).toEqual(["done"]);
  });

  test("a running task with a cancel request ends when it is given back; so does one of a dead worker", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const ids = await enqueue(store, name, 2);
    const one = await startWorker(store, name);
    await one.claimOne();
    const two = await startWorker(store, name);
    await two.claimOne();
    expect(outcomes(await cancel(store, ...ids))).toEqual(["requested", "requested"]);
    await one.finish();
    expect(await stateOf(store, at(ids, 0))).toBe("cancelled");
    await opened.advance(60_001);
    await store.reclaimExpired({ max: 10 });
    expect(await stateOf(store, at(ids, 1))).toBe("cancelled");
  });

  test("a repeat asks again; a reason doesn't touch running tasks", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name, { group: "g", dedupeKey: "k" });
    const worker = await startWorker(store, name);
    await worker.claimOne();
    for (let time = 0; time < 2; time += 1) {
      const answer = await store.cancelTasks({ taskIds: [id], reason: "enough" });
      expect(outcomes(answer)).toEqual(["requested"]);
    }
    expect(await factsOf(store, id)).toMatchObject({ isCancelRequested: true, error: null });
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(id);
  });
}

function describeAnswer(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a cancel tells tasks that are gone with their state, each task once, in the order of the call", async () => {
    const { store } = open();
    const name = await define(store, { retryAttempts: 1 });
    const [done, dead, ready] = await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 1 });
    await worker.complete([await worker.claimOne()]);
    await worker.fail([await worker.claimOne()]);
    const unknown = asTaskId("999999999");
    const ids = [unknown, ready, done, dead, ready].flatMap((id) => id ?? []);
    const answer = await cancel(store, ...ids);
    expect(answer.results).toEqual([
      { taskId: unknown, outcome: "gone", state: "unknown" },
      { taskId: ready, outcome: "cancelled", state: null },
      { taskId: done, outcome: "gone", state: "done" },
      { taskId: dead, outcome: "gone", state: "dead" },
    ]);
    expect(outcomes(await cancel(store, ...ids))).toEqual(["unknown", "cancelled", "done", "dead"]);
  });

  test("1,000 tasks are cancelled in one call; none, 1,001 and what isn't an id are refused", async () => {
    const { store } = open();
    const name = await define(store);
    const ids = await enqueue(store, name, 1_000);
    const refused = { code: "TASKGATE_ARG_INVALID", field: "task_ids" } as const;
    await expectError(cancel(store), refused);
    await expectError(cancel(store, ...ids, asTaskId("1")), refused);
    for (const text of ["x", "", "9223372036854775808", "-1"]) {
      await expectError(cancel(store, asTaskId(text)), refused);
    }
    expect(new Set(outcomes(await cancel(store, ...ids)))).toEqual(new Set(["cancelled"]));
    expect((await statusOf(store, name)).ready).toBe(0);
  });

  testWith(
    setup,
    "raw sql",
    "row locks",
    "exact clock",
  )("a task whose key is another one's by now doesn't wait for that key", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const older = await enqueueOne(store, name, { dedupeKey: "k", dedupeMs: 1_000 });
    await opened.advance(1_001);
    const newer = await enqueueOne(store, name, { dedupeKey: "k" });
    expect(newer).not.toBe(older);
    const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
    const lockKeys = inDialect(dialect, "UPDATE taskgate.dedupe SET task_id = task_id", new Map());
    const answer = await opened.asOwner(async (transaction) => {
      await transaction.query(lockKeys);
      return cancel(store, older);
    });
    expect(outcomes(answer)).toEqual(["cancelled"]);
    expect(outcomes(await cancel(store, newer))).toEqual(["cancelled"]);
  });

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("a locked ready task is skipped; its request waits for the holder", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const id = await enqueueOne(store, name);
    const table = setup.dialect === "mssql" ? "Taskgate.Task" : "taskgate.task";
    const ready = setup.dialect === "mssql" ? "Taskgate.Ready" : "taskgate.ready";
    const [taskId, isSolo, kind] =
      setup.dialect === "mssql" ? ["TaskId", "IsSolo", "Kind"] : ["task_id", "is_solo", "kind"];
    const hold = (...statements: string[]) =>
      opened.asOwner(async (transaction) => {
        for (const statement of statements) await transaction.query(statement);
        return cancel(store, id);
      });
    const lockReady = `update ${ready} set ${isSolo} = ${isSolo} where ${taskId} = ${id}`;
    const lockTask = `update ${table} set ${kind} = ${kind} where ${taskId} = ${id}`;
    expect(outcomes(await hold(lockReady, lockTask))).toEqual(["busy"]);
    expect(outcomes(await hold(lockReady))).toEqual(["requested"]);
    const worker = await startWorker(store, name);
    expect((await worker.claimOne()).isCancelRequested).toBe(true);
    expect(await opened.raw(`select ${taskId} from ${ready}`)).toEqual([]);
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
    blocked: at(taskIds, 0),
    blockedToo: at(taskIds, 1),
    waiting: await enqueueOne(store, name, { group: "g" }),
    ready: await enqueueOne(store, name),
    soon: await enqueueOne(store, name, { runInMs: 1_000 }),
    later: await enqueueOne(store, name, { runInMs: 2_000 }),
  };
}

function describeOutcomes(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a cancel tells what became of each task, and the others stay where they are", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = await everywhere(store, name);
    const { running, blocked, waiting, ready, later } = tasks;
    const unknown = asTaskId("999999999");
    const answer = await store.cancelTasks({
      taskIds: [later, unknown, running, blocked, waiting, ready],
    });
    expect(told(answer)).toEqual([
      "cancelled",
      "unknown",
      "requested",
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
    for (const id of [later, blocked, waiting, ready]) {
      expect(await stateOf(store, id)).toBe("cancelled");
    }
    expect(await stateOf(store, tasks.soon)).toBe("scheduled");
    expect(await stateOf(store, tasks.blockedToo)).toBe("blocked");
    expect(await stateOf(store, running)).toBe("claimed");
  });

  test("cancelled tasks are kept as long as done tasks are", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retainDoneMs: 5_000, retainDeadMs: 1_000 });
    const { ready, later } = await everywhere(store, name);
    await store.cancelTasks({ taskIds: [ready, later] });
    await opened.advance(4_000);
    await store.purge({ max: 10 });
    expect(await stateOf(store, ready)).toBe("cancelled");
    await opened.advance(1_001);
    await store.purge({ max: 10 });
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

  test("a cancel of tasks of several groups hands over what each group got back", async () => {
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

  test("a reschedule moves each task, or tells why it doesn't, and the others stay where they are", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const tasks = await everywhere(store, name);
    const { running, blocked, waiting, ready, later } = tasks;
    const unknown = asTaskId("999999999");
    const answer = await store.rescheduleTasks({
      taskIds: [later, unknown, running, blocked, waiting, ready],
      to: { runInMs: 60_000 },
    });
    expect(answer.results.map(({ outcome, state }) => state ?? outcome)).toEqual([
      "rescheduled",
      "unknown",
      "running",
      "blocked",
      "rescheduled",
      "rescheduled",
    ]);
    const dueIn = async (id: TaskId) => (await store.explainTask({ taskId: id })).facts?.dueInMs;
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0, scheduled: 4 });
    await opened.advance(1_001);
    await store.promoteScheduled({ name, max: 10 });
    expect(await stateOf(store, tasks.soon)).toBe("ready");
    expect(await statusOf(store, name)).toMatchObject({ scheduled: 3 });
    expect(await dueIn(tasks.soon)).toBeFalsy();
    expect([await stateOf(store, blocked), await stateOf(store, running)]).toEqual([
      "blocked",
      "claimed",
    ]);
  });

  testWith(setup, "exact clock")(
    "a task put into the past doesn't come before tasks due now",
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
      await store.promoteScheduled({ name, max: 1 });
      expect(await stateOf(store, first ?? asTaskId("0"))).toBe("ready");
      expect(await stateOf(store, second ?? asTaskId("0"))).toBe("scheduled");
    },
  );

  test("a reschedule of tasks of several groups hands over the slots of those that left each group", async () => {
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

/** Calls made meanwhile have been sent, and wait if they have to. */
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
    "a task that becomes ready meanwhile is cancelled all the same, with those that still wait",
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

  testWith(setup, "row locks")(
    "a task that becomes ready meanwhile is put off all the same, with those that still wait",
    async () => {
      const opened = open();
      const { store } = opened;
      const { ids, name, answer } = await askMeanwhile(opened, (taskIds) =>
        store.rescheduleTasks({ taskIds, to: { runInMs: 60_000 } }),
      );
      expect(answer.results.map(({ outcome }) => outcome)).toEqual(ids.map(() => "rescheduled"));
      expect(await statusOf(store, name)).toMatchObject({ ready: 0, waiting: 0, scheduled: 3 });
    },
  );
}
