import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import type { TaskId } from "../../shared/core/ids";
import type { CancelTasksAnswer, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  only,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** An operator's cancel: what waits ends, what runs is asked to. */
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

  test("a whole group is cancelled in one call: nobody is handed a slot", async () => {
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

  test("one whose group isn't made yet ends at once, and comes back into it", async () => {
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
    expect((await store.listGroups({ name, most: 10 })).groups).toEqual([]);
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
    expect((await factsOf(store, plain)).lastError).toBe("not needed any more");
    expect((await factsOf(store, failing)).lastError).toBe("it broke");
  });

  testWith(setup, "execution log")("a task that never ran leaves no line in the log", async () => {
    const opened = open();
    const name = await define(opened.store);
    await cancel(opened.store, await enqueueOne(opened.store, name));
    expect(await opened.readLog(name)).toEqual([]);
  });

  test("it leaves a trace also where done tasks leave none", async () => {
    const { store } = open();
    const name = await define(store, { retainDoneMs: 0 });
    const id = await enqueueOne(store, name);
    await cancel(store, id);
    expect(await stateOf(store, id)).toBe("cancelled");
  });
}

function describeRunning(setup: StoreSetup): void {
  const open = useStore(setup);

  test("it is asked for: the worker hears of it, and the task ends when it fails", async () => {
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

  test("given back, the task ends; so does one that a dead worker had", async () => {
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
    await store.reclaimExpired({ most: 10 });
    expect(await stateOf(store, at(ids, 1))).toBe("cancelled");
  });

  test("a repeat asks again; a reason doesn't touch what runs", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name, { group: "g", dedupeKey: "k" });
    const worker = await startWorker(store, name);
    await worker.claimOne();
    for (let time = 0; time < 2; time += 1) {
      const answer = await store.cancelTasks({ taskIds: [id], reason: "enough" });
      expect(outcomes(answer)).toEqual(["requested"]);
    }
    expect(await factsOf(store, id)).toMatchObject({ cancelRequested: true, lastError: null });
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).toBe(id);
  });
}

function describeAnswer(setup: StoreSetup): void {
  const open = useStore(setup);

  test("gone tasks are told with their state, each task once, in the order of the call", async () => {
    const { store } = open();
    const name = await define(store, { maxAttempts: 1 });
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
  )(
    "a ready task that somebody holds is skipped; its request waits for whoever holds it",
    async () => {
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
    },
  );
}
