import { describe, expect, test } from "@jest/globals";
import { asExecutionId } from "../../shared/core/ids";
import type { ClaimedTask, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  failure,
  only,
  registration,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { jsonOfBytes } from "./completion.contract";

/** How tasks end, one beside the other: each by its own settings, and told by the right one only. */
export function describeEnds(setup: StoreSetup): void {
  describe("the rows that are kept of ended tasks", () => {
    describeKept(setup);
  });
  describe("a completion told again", () => {
    describeAgain(setup);
  });
  describe("failures of several tasks", () => {
    describeFailures(setup);
  });
  describe("reclaim_expired, who and what", () => {
    describeReclaim(setup);
  });
  describe("the end of a grouped task", () => {
    describeGroups(setup);
  });
}

const leaseMs = 10_000;

function describeKept(setup: StoreSetup): void {
  const open = useStore(setup);

  test("done tasks alone lose their payloads with keepPayload false, by both ways of completing", async () => {
    const { store } = open();
    const payload = '{"a":1}';
    for (const keepPayload of [false, true]) {
      const name = await define(store, { limit: 10, keepPayload });
      const ids = await enqueue(
        store,
        name,
        Array.from({ length: 6 }, () => ({ payload })),
      );
      const worker = await startWorker(store, name, { want: 10 });
      const [first, second, third, fourth, fifth, sixth] = await worker.claim(6);
      if (!first || !second || !third || !fourth || !fifth || !sixth)
        throw new Error("six tasks expected");
      await worker.complete([first, second]);
      await worker.complete([third]);
      await store.completeTask({ executionId: worker.executionId, ...done(fourth) });
      await worker.fail([fifth], { as: "dead" });
      await worker.fail([sixth], { as: "cancelled" });
      const left = await Promise.all(
        ids.map(async (taskId) => (await factsOf(store, taskId)).payload),
      );
      const gone = keepPayload ? payload : null;
      expect(left).toEqual([gone, gone, gone, gone, payload, payload]);
    }
  });

  test("done tasks and their attempts leave no trace with retainDoneMs 0; dead and cancelled ones do", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5, retainDoneMs: 0 });
    const ids = await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 5 });
    await worker.fail(await worker.claim(4), { retryInMs: 0 });
    const [first, second, third, fourth] = await worker.claim(4);
    if (!first || !second || !third || !fourth) throw new Error("four tasks expected");
    await worker.complete([first]);
    await store.completeTask({ executionId: worker.executionId, ...done(second) });
    await worker.fail([third], { as: "dead" });
    await worker.fail([fourth], { as: "cancelled" });
    for (const taskId of ids.slice(0, 2)) {
      expect((await store.explainTask({ taskId })).status).toBe("unknown");
    }
    const outcomes = async (index: number) =>
      (await factsOf(store, at(ids, index))).attempts.map((entry) => entry.outcome);
    expect(await stateOf(store, at(ids, 2))).toBe("dead");
    expect(await outcomes(2)).toEqual(["failed", "failed"]);
    expect(await stateOf(store, at(ids, 3))).toBe("cancelled");
    expect(await outcomes(3)).toEqual(["cancelled", "failed"]);
    expect(await statusOf(store, name)).toMatchObject({ done: 0, dead: 1, cancelled: 1 });
  });

  testWith(setup, "raw sql")(
    "no attempt is left without its task with retainDoneMs 0",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 5, prefetchMax: 0, retainDoneMs: 0 });
      const worker = await startWorker(store, name, { want: 5 });
      const [, keyed] = await enqueue(store, name, [{}, { dedupeKey: "k" }]);
      await worker.fail(await worker.claim(2), { retryInMs: 0 });
      await enqueue(store, name, [{ group: "g" }, {}, {}, { group: "g" }]);
      const [first, second, third, ...others] = await worker.claim(5);
      if (!first || !second || !third) throw new Error("three tasks expected");
      expect(second.taskId).toBe(keyed);
      // Beside others that never failed, and alone.
      await worker.complete([first, second, ...others]);
      await worker.complete([third]);
      const [last] = await worker.claim(5);
      expect(last).toMatchObject({ attempt: 1 });
      if (last) await worker.complete([last]);
      expect((await enqueue(store, name, [{ dedupeKey: "k" }]))[0]).not.toBe(keyed);
      const rows = await opened.raw(
        setup.dialect === "mssql"
          ? "SELECT a.TaskId FROM Taskgate.Attempt AS a;"
          : "select task_id from taskgate.attempt",
      );
      expect(rows).toEqual([]);
    },
  );

  testWith(setup, "raw sql")(
    "tasks that end in one reclaim are kept as long as their own definitions say",
    async () => {
      const opened = open();
      const { store } = opened;
      const times = [1_000, 90_000_000, 172_800_001];
      for (const retainDeadMs of times) {
        const name = await define(store, { leaseMs, lostMax: 0, retainDeadMs });
        await enqueue(store, name, 1);
        await (await startWorker(store, name)).claimOne();
      }
      await opened.advance(leaseMs + 1);
      expect(await store.reclaimExpired({ max: 10 })).toMatchObject({ tasksDead: 3 });
      const rows = await opened.raw(
        setup.dialect === "mssql"
          ? "SELECT DATEDIFF_BIG(MILLISECOND, a.FinishedAt, a.PurgeAfter) AS kept FROM Taskgate.Archive AS a ORDER BY a.TaskId;"
          : "select round(extract(epoch from purge_after - finished_at) * 1000) as kept from taskgate.archived order by task_id",
      );
      expect(rows.map(({ kept }) => Number(kept))).toEqual(times);
    },
  );

  test("complete_task takes a result of 65,536 bytes", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const result = jsonOfBytes(65_536, "a");
    const { executionId } = worker;
    await store.completeTask({ executionId, ...done(task), result });
    expect((await factsOf(store, task.taskId)).result).toBe(result);
  });
}

function describeAgain(setup: StoreSetup): void {
  const open = useStore(setup);

  /** A task that one execution failed, claimed again and ended. */
  async function twice(store: TaskStore, end: "done" | "dead") {
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const early = await worker.claimOne();
    await worker.fail([early], { retryInMs: 0 });
    const late = await worker.claimOne();
    if (end === "dead") await worker.fail([late], { as: "dead" });
    else await worker.complete([late]);
    const complete = async ({ executionId }: typeof worker, task: ClaimedTask) =>
      (await store.completeTask({ executionId, ...done(task) })).status;
    return { worker, stranger: await startWorker(store, name), early, late, complete };
  }

  test("a repeated completion is `again` for the claim under which its task ended, and fenced for an earlier one", async () => {
    const { store } = open();
    const { worker, early, late, complete } = await twice(store, "done");
    expect(await complete(worker, early)).toBe("fenced");
    expect(await complete(worker, late)).toBe("again");
  });

  test("a repeated completion is fenced for another execution", async () => {
    const { store } = open();
    const { stranger, late, complete } = await twice(store, "done");
    expect(await complete(stranger, late)).toBe("fenced");
  });

  test("a repeated completion is fenced when the claim ended dead", async () => {
    const { store } = open();
    const { worker, late, complete } = await twice(store, "dead");
    expect(await complete(worker, late)).toBe("fenced");
  });
}

function describeFailures(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
  ]) {
    test(`each failed task ends by its own history, group and cancel request (order ${order.join(", ")})`, async () => {
      const { store } = open();
      const name = await define(store, { limit: 5, retryAttempts: 2 });
      const ids = await enqueue(store, name, [{}, { group: "g" }, {}]);
      const waiting = await enqueueOne(store, name, { group: "g" });
      const worker = await startWorker(store, name, { want: 5 });
      const claimed = await worker.claim(3);
      await worker.fail([at(claimed, 0)], { retryInMs: 0 });
      const again = only(await worker.claim(1));
      const tasks = [again, at(claimed, 1), at(claimed, 2)];
      const { results } = await worker.fail(
        order.map((index) => at(tasks, index)),
        { retryInMs: 1_000 },
      );
      const told = new Map(results.map((entry) => [entry.taskId, entry.outcome]));
      expect(ids.map((taskId) => told.get(taskId))).toEqual(["dead", "retry", "retry"]);
      expect(await stateOf(store, waiting)).toBe("ready");
    });
  }

  test("the lowest task of several bad ones is named, then the first", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const [low, high] = await worker.claim(2);
    if (!low || !high) throw new Error("two tasks expected");
    const { executionId } = worker;
    const bad = (task: ClaimedTask, retryInMs: number) => failure(task, { retryInMs });
    for (const { failures, value } of [
      { failures: [bad(high, -1), bad(low, -2)], value: -2 },
      { failures: [bad(low, -2), bad(high, -1)], value: -2 },
      { failures: [bad(low, -3), bad(low, -4)], value: -3 },
    ]) {
      const expected = { code: "TASKGATE_ARG_INVALID", field: "retryInMs", value } as const;
      await expectError(store.failTasks({ executionId, failures }), expected);
    }
    expect((await statusOf(store, name)).claimed).toBe(2);
  });

  test("a claim that was lost is fenced for every execution, not told before", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, leaseMs });
    await enqueue(store, name, 1);
    const lost = await (await startWorker(store, name)).claimOne();
    await opened.advance(leaseMs + 1);
    await store.reclaimExpired({ max: 10 });
    const other = await startWorker(store, name);
    expect(only((await other.fail([lost])).results).outcome).toBe("fenced");
    const nobody = { executionId: asExecutionId("999999999"), failures: [failure(lost)] };
    expect(await store.failTasks(nobody)).toMatchObject({ status: "fenced", results: [] });
  });
}

function describeReclaim(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the living don't count into how many are taken; of the dead the oldest comes first", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, leaseMs });
    await enqueue(store, name, 2);
    const live = await startWorker(store, name);
    const first = await startWorker(store, name);
    const second = await startWorker(store, name);
    const tasks = [await first.claimOne(), await second.claimOne()];
    await opened.advance(leaseMs - 1_000);
    await live.beat();
    await opened.advance(1_001);
    expect(await store.reclaimExpired({ max: 1 })).toMatchObject({ executions: 1, more: true });
    expect(await stateOf(store, at(tasks, 0).taskId)).toBe("ready");
    expect(await stateOf(store, at(tasks, 1).taskId)).toBe("claimed");
    expect(await store.reclaimExpired({ max: 2 })).toMatchObject({ executions: 1, more: false });
    expect((await live.beat()).status).toBe("renewed");
  });

  test("the task tells why it was lost, the execution when it ended", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, leaseMs });
    const ids = await enqueue(store, name, 2);
    const worker = await startWorker(store, name);
    await worker.fail([await worker.claimOne()], { retryInMs: 60_000, error: "it broke" });
    await worker.claimOne();
    await opened.advance(leaseMs + 1);
    await store.reclaimExpired({ max: 10 });
    expect((await factsOf(store, at(ids, 1))).error).toBe("the worker lost its lease");
    expect((await factsOf(store, at(ids, 0))).error).toBe("it broke");
    const { executions } = await store.listExecutions({ name, isOpen: false, max: 10 });
    expect(only(executions)).toMatchObject({ state: "reclaimed", tokens: 0, claimed: 0 });
    expect(only(executions).endedAt).not.toBeNull();
  });

  test("an execution that ended by itself tells when", async () => {
    const { store } = open();
    const name = await define(store);
    await (await startWorker(store, name)).finish();
    const { executions } = await store.listExecutions({ name, isOpen: false, max: 10 });
    expect(only(executions)).toMatchObject({ state: "ended", tokens: 0 });
    expect(only(executions).endedAt).not.toBeNull();
  });

  test("a definition that claims without an execution needs no hint of reclaim_expired", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs });
    await startWorker(store, name);
    await opened.advance(leaseMs + 1);
    expect(await store.reclaimExpired({ max: 10 })).toMatchObject({
      status: "reclaimed",
      executions: 1,
      definitions: [],
    });
  });

  test("a prefetched claim comes back uncounted, though its task was lost more often than is allowed now", async () => {
    const opened = open();
    const { store } = opened;
    const first = registration({ settings: { limit: 1, leaseMs, lostMax: 3, prefetchMax: 1 } });
    await store.registerDefinition(first);
    const { name } = first;
    const taskId = await enqueueOne(store, name);
    await (await startWorker(store, name)).claimOne();
    await opened.advance(leaseMs + 1);
    await store.reclaimExpired({ max: 10 });
    const settings = { ...first.settings, lostMax: 0 };
    await store.registerDefinition({ ...first, build: 2, settingsHash: "hash-2", settings });
    const urgent = await enqueueOne(store, name, { priority: 1 });
    const worker = await startWorker(store, name, { settingsHash: null });
    expect((await worker.claim(2)).map((task) => task.isPrefetched)).toEqual([false, true]);
    await opened.advance(leaseMs + 1);
    expect(await store.reclaimExpired({ max: 10 })).toMatchObject({
      tasksBack: 1,
      tasksLost: 1,
      tasksDead: 1,
    });
    expect(await stateOf(store, urgent)).toBe("dead");
    expect(await factsOf(store, taskId)).toMatchObject({ state: "ready", lostCount: 1 });
  });

  test("a dead task of a global group lets in the next, whose definition is told, too", async () => {
    const opened = open();
    const { store } = opened;
    const group = { group: "partner", groupScope: "global" } as const;
    const mine = await define(store, { leaseMs, lostMax: 0 });
    const other = await define(store);
    await enqueueOne(store, mine, group);
    const next = await enqueueOne(store, other, group);
    await (await startWorker(store, mine)).claimOne();
    await opened.advance(leaseMs + 1);
    const { definitions } = await store.reclaimExpired({ max: 10 });
    expect([...definitions].sort()).toEqual([mine, other].sort());
    expect(await stateOf(store, next)).toBe("ready");
  });
}

function describeGroups(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the end of a grouped task frees its own slot, in any place, for the next", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10, groupSlots: 3 });
    const ids = await enqueue(
      store,
      name,
      Array.from({ length: 6 }, () => ({ group: "g" })),
    );
    const worker = await startWorker(store, name, { want: 10 });
    const claimed = await worker.claim(3);
    await worker.complete([at(claimed, 1)]);
    const holders = async () => (await factsOf(store, at(ids, 0))).group?.holders;
    expect([...((await holders()) ?? [])].sort()).toEqual(
      [0, 2, 3].map((index) => at(ids, index)).sort(),
    );
    await worker.complete([at(claimed, 2)]);
    expect(await stateOf(store, at(ids, 4))).toBe("ready");
    expect(await stateOf(store, at(ids, 5))).toBe("waiting");
  });

  testWith(setup, "cancel requests")(
    "the end of a grouped task by a give-back tells the other definition that got a ready task",
    async () => {
      const opened = open();
      const { store } = opened;
      const group = { group: "partner", groupScope: "global" } as const;
      const mine = await define(store);
      const other = await define(store);
      const cancelled = await enqueueOne(store, mine, group);
      await enqueueOne(store, other, group);
      const worker = await startWorker(store, mine);
      await worker.claimOne();
      await opened.requestCancel(cancelled);
      expect((await worker.finish()).woken).toEqual([other]);
    },
  );
}
