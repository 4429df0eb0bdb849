import { describe, expect, test } from "@jest/globals";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  only,
  operationId,
  setLimit,
  startWorker,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";
import { filled, start } from "./batch-builders";
import { inDialect } from "./two-dialects";

/** Everything that decides when a task runs, beside others that have nothing to do with it. */
export function describeExplain(setup: StoreSetup): void {
  describe("explain_task, what it counts", () => {
    describeCounts(setup);
  });
  describe("the trace of a task", () => {
    describeTraces(setup);
  });
  describe("explain_task of a claimed task", () => {
    describeClaims(setup);
  });
  describe("explain_task, earlier attempts", () => {
    describeAttempts(setup);
  });
  describe("explain_task of a task that stands nowhere", () => {
    describeMoving(setup);
  });
}

type Plant = (opened: TestStore, sql: string, values?: Record<string, string>) => Promise<void>;

/** Runs a statement in the words of both databases (two-dialects.ts). */
function planterFor({ dialect }: StoreSetup): Plant {
  const name = dialect === "mssql" ? "mssql" : "postgres";
  return async (opened, sql, values = {}) => {
    await opened.raw(inDialect(name, sql, new Map(Object.entries(values))));
  };
}

function describeCounts(setup: StoreSetup): void {
  const open = useStore(setup);
  const plant = planterFor(setup);

  test("explain_task counts all tasks of a better priority as ahead, and earlier ones of its own", async () => {
    const { store } = open();
    const [name, other] = [await define(store), await define(store)];
    await enqueue(store, other, 2);
    const tasks = [200, 100, 100, 1, 200, 50, 100].map((priority) => ({ priority }));
    const ids = await enqueue(store, name, tasks);
    const ahead: (number | undefined)[] = [];
    for (const id of ids) ahead.push((await factsOf(store, id)).readyAhead);
    expect(ahead).toEqual([5, 2, 3, 0, 6, 1, 4]);
  });

  testWith(setup, "raw sql")(
    "explain_task counts the tasks ahead by rank within a priority, then by id",
    async () => {
      const opened = open();
      const name = await define(opened.store);
      const ids = await enqueue(
        opened.store,
        name,
        [100, 100, 100, 1, 200].map((priority) => ({ priority })),
      );
      for (const [index, rank] of [5, 3, 3, 9, 0].entries()) {
        const values = { rank: String(rank), id: at(ids, index) };
        for (const table of ["ready", "task"]) {
          const sql = `UPDATE taskgate.${table} SET rank = {rank} WHERE task_id = {id}`;
          await plant(opened, sql, values);
        }
      }
      const ahead: (number | undefined)[] = [];
      for (const id of ids) ahead.push((await factsOf(opened.store, id)).readyAhead);
      expect(ahead).toEqual([3, 1, 2, 0, 4]);
    },
  );

  test("readyAhead and a group's ahead stop at 1000", async () => {
    const { store } = open();
    const name = await define(store);
    const ready = await enqueue(store, name, 1_002);
    const tasks = Array.from({ length: 1_003 }, () => ({ group: "g" }));
    const grouped = await enqueue(store, name, tasks);
    for (const [index, ahead] of [
      [999, 999],
      [1_000, 1_000],
      [1_001, 1_000],
    ] as const) {
      expect((await factsOf(store, at(ready, index))).readyAhead).toBe(ahead);
      // The first one has the slot.
      expect((await factsOf(store, at(grouped, index + 1))).group?.ahead).toBe(ahead);
    }
  });

  test("explain_task tells of the task's group: slots in their order, and the tasks that wait ahead of it", async () => {
    const { store } = open();
    const name = await define(store, { groupSlots: 2 });
    const other = await enqueue(store, name, [
      { group: "h" },
      { group: "h" },
      { group: "h", priority: 1 },
    ]);
    const holders = [
      await enqueueOne(store, name, { group: "g", priority: 200 }),
      await enqueueOne(store, name, { group: "g" }),
    ];
    const ids = await enqueue(
      store,
      name,
      [100, 200, 1, 100, 50].map((priority) => ({ group: "g", priority })),
    );
    const ahead: (number | undefined)[] = [];
    for (const id of ids) {
      const { group } = await factsOf(store, id);
      expect(group).toMatchObject({ key: "g", slots: 2, used: 2, paused: false, holders });
      ahead.push(group?.ahead);
    }
    expect(ahead).toEqual([2, 4, 0, 3, 1]);
    expect((await factsOf(store, at(other, 2))).group).toMatchObject({ key: "h", used: 2 });
  });

  testWith(setup, "raw sql")(
    "explain_task counts a group's tasks ahead by rank within a priority",
    async () => {
      const opened = open();
      const name = await define(opened.store);
      await enqueueOne(opened.store, name, { group: "g" });
      const tasks = [100, 100, 100, 1, 200].map((priority) => ({ group: "g", priority }));
      const ids = await enqueue(opened.store, name, tasks);
      for (const [index, rank] of [5, 3, 3, 9, 0].entries()) {
        const values = { rank: String(rank), id: at(ids, index) };
        for (const table of ["group_waiting", "task"]) {
          const sql = `UPDATE taskgate.${table} SET rank = {rank} WHERE task_id = {id}`;
          await plant(opened, sql, values);
        }
      }
      const ahead: (number | undefined)[] = [];
      for (const id of ids) ahead.push((await factsOf(opened.store, id)).group?.ahead);
      expect(ahead).toEqual([3, 1, 2, 0, 4]);
    },
  );

  testWith(setup, "exact clock")(
    "explain_task tells holders of tokens only, the oldest first, of its own definition",
    async () => {
      const { store } = open();
      const name = await define(store, { limit: null, leaseMs: 30_000 });
      await startWorker(store, await define(store), { want: 2, worker: "stranger" });
      const first = await startWorker(store, name, { want: 2, worker: "first" });
      const idle = await startWorker(store, name, { worker: "idle" });
      await store.releaseTokens({ executionId: idle.executionId, keep: 0 });
      const last = await startWorker(store, name, { want: 3, worker: "last" });
      const facts = await factsOf(store, await enqueueOne(store, name));
      const leaseLeftMs = 30_000;
      expect(facts.holders).toEqual([
        { execution: first.number, worker: "first", tokens: 2, leaseLeftMs },
        { execution: last.number, worker: "last", tokens: 3, leaseLeftMs },
      ]);
      expect(facts).toMatchObject({ held: 5, limit: null, limitSource: "code" });
      expect(facts.group).toBeUndefined();
    },
  );

  testWith(setup, "exact clock")("a task's dueInMs is its own, not its neighbours'", async () => {
    const { store } = open();
    const name = await define(store);
    const delays = [3_000, 1_000, 2_000];
    const ids = await enqueue(
      store,
      name,
      delays.map((runInMs) => ({ runInMs })),
    );
    for (const [index, id] of ids.entries()) {
      const facts = await factsOf(store, id);
      expect(facts).toMatchObject({ state: "scheduled", dueInMs: at(delays, index) });
    }
    await setLimit(store, name, 7);
    expect(await factsOf(store, at(ids, 0))).toMatchObject({ limit: 7, limitSource: "operator" });
  });

  test("explain_task counts no ready tasks for one that is held by a wave", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = { operationId: operationId(), name: "nightly", failurePolicy: "halt" } as const;
    const { waveIds } = await store.createBatch({ ...batch, waves: 1 });
    const tasks = [{ payload: null }];
    const input = { name, build: 1, operationId: operationId(), waveId: only(waveIds), tasks };
    const facts = await factsOf(store, only((await store.enqueueTasks(input)).taskIds));
    expect(facts.state).toBe("blocked");
    expect(facts.readyAhead).toBeUndefined();
  });

  test("explain_task tells the wave and the batch of a blocked task, and of no other", async () => {
    const { store } = open();
    const name = await define(store);
    const batch = await filled(store, name, { counts: [1, 201], name: 'night "ly"' });
    const [first, blocked] = [only(at(batch.tasks, 0)), at(at(batch.tasks, 1), 0)];
    const wave = { batch: batch.batchId, name: 'night "ly"', state: "blocked" };
    const draft = { ...wave, batchState: "draft" };
    expect((await factsOf(store, first)).wave).toEqual({ ...draft, ordinal: 1 });
    expect((await factsOf(store, blocked)).wave).toEqual({ ...draft, ordinal: 2 });
    await start(store, batch);
    expect((await factsOf(store, first)).wave).toBeUndefined();
    expect((await factsOf(store, blocked)).wave).toMatchObject({ batchState: "running" });
    const worker = await startWorker(store, name);
    await worker.fail(await worker.claim(1), { as: "dead" });
    expect((await factsOf(store, blocked)).wave).toMatchObject({ batchState: "halted" });
    await store.resumeBatch({ batchId: batch.batchId });
    const last = at(at(batch.tasks, 1), 200);
    const opening = { ...wave, batchState: "running", ordinal: 2, state: "opening" };
    expect((await factsOf(store, last)).wave).toEqual(opening);
    await store.cancelBatch({ batchId: batch.batchId });
    expect((await factsOf(store, last)).wave).toEqual({ ...opening, batchState: "cancelled" });
    await store.pumpBatch({ batchId: batch.batchId, max: 100 });
    expect((await factsOf(store, last)).wave).toBeUndefined();
  });

  test("explain_task tells a progress with a text and no number", async () => {
    const { store } = open();
    const name = await define(store);
    const id = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const { executionId } = worker;
    const { taskId, fence } = await worker.claimOne();
    const report = { executionId, taskId, fence, done: null, total: null };
    await store.reportProgress({ ...report, text: "reads" });
    expect((await factsOf(store, id)).progress).toEqual({ done: null, total: null, text: "reads" });
    await store.reportProgress({ ...report, done: 0, text: null });
    expect((await factsOf(store, id)).progress).toEqual({ done: 0, total: null, text: null });
    await store.reportProgress({ ...report, total: 0, text: "reads" });
    const last = { done: null, total: 0, text: "reads" };
    expect((await factsOf(store, id)).progress).toEqual(last);
    await expectError(store.reportProgress({ ...report, done: -1, text: "refused" }), {
      code: "TASKGATE_ARG_INVALID",
    });
    expect((await factsOf(store, id)).progress).toEqual(last);
  });
}

function describeTraces(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a task's trace is told in every state, and a redriven task keeps it", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10, prefetchMax: 0 });
    const traces = [0, 1, 2, 3, 4, 5].map((n) => `00-${String(n).repeat(32)}-00f067aa0ba902b7-01`);
    const none = null;
    const given = [at(traces, 0), none, at(traces, 1), at(traces, 2), at(traces, 3), none];
    const ids = await enqueue(
      store,
      name,
      given.map((trace) => (trace === null ? {} : { traceParent: trace })),
    );
    const told = async (): Promise<(string | null)[]> => {
      const facts = await Promise.all(ids.map((id) => factsOf(store, id)));
      return facts.map(({ traceParent }) => traceParent);
    };
    expect(await told()).toEqual(given);
    const worker = await startWorker(store, name, { want: 10 });
    const claimed = await worker.claim(6);
    expect(await told()).toEqual(given);
    // One alone, several together of which one has none, and others in another way.
    await worker.complete(claimed.slice(0, 1));
    await worker.complete(claimed.slice(1, 4));
    await worker.fail(claimed.slice(4, 6), { as: "dead" });
    expect(await told()).toEqual(given);
    await store.redriveTasks({ taskIds: ids.slice(4, 6) });
    expect(await told()).toEqual(given);
    await worker.finish();
  });
}

function describeClaims(setup: StoreSetup): void {
  const open = useStore(setup);

  test("explain_task tells of several claims and workers the task's own", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3, prefetchMax: 1 });
    const ids = await enqueue(store, name, 6);
    const first = await startWorker(store, name, { worker: "first" });
    const second = await startWorker(store, name, { want: 2, worker: "second" });
    const claimed = [
      ...(await first.claim(1)),
      ...(await second.claim(2)),
      ...(await first.claim(1)),
      ...(await second.claim(2)),
    ];
    expect(claimed.map(({ taskId }) => taskId)).toEqual(ids);
    const workers = ["first", "second", "second", "first", "second", "second"];
    for (const [index, { taskId, fence, isPrefetched }] of claimed.entries()) {
      const worker = at(workers, index);
      const { number } = worker === "first" ? first : second;
      expect((await factsOf(store, taskId)).claim).toMatchObject({
        execution: number,
        worker,
        fence,
        isPrefetched,
      });
    }
    expect(claimed.map(({ isPrefetched }) => isPrefetched)).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  testWith(setup, "exact clock")(
    "explain_task tells a dead worker's claim until it is taken back",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, leaseMs: 10_000 });
      const id = await enqueueOne(store, name);
      const dead = await startWorker(store, name, { worker: "dead" });
      await dead.claimOne();
      await opened.advance(10_001);
      await startWorker(store, name, { worker: "heir" });
      const facts = await factsOf(store, id);
      expect(facts).toMatchObject({ state: "claimed", held: 1 });
      expect(facts.claim).toMatchObject({ execution: dead.number, leaseLeftMs: -1 });
    },
  );
}

function describeAttempts(setup: StoreSetup): void {
  const open = useStore(setup);
  const plant = planterFor(setup);

  test("explain_task tells each attempt with its own worker, outcome and error; at the same instant the later fence first", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, retryAttempts: 10 });
    const [id, other] = await enqueue(store, name, 2);
    if (id === undefined || other === undefined) throw new Error("Two tasks expected");
    const hosts = [
      await startWorker(store, name, { worker: "host-1" }),
      await startWorker(store, name, { worker: "host-2" }),
    ];
    const ends = [
      { as: "failed", error: "one", retryInMs: 0, durationMs: 7 },
      { as: "continued", error: null, retryInMs: 0, durationMs: null },
      { as: "failed", error: "three", retryInMs: 0, durationMs: 9 },
      { as: "cancelled", error: "four", retryInMs: null, durationMs: 11 },
    ] as const;
    const fences: string[] = [];
    for (const [index, end] of ends.entries()) {
      const host = at(hosts, index % 2);
      const task = await host.claimOne();
      fences.unshift(task.fence);
      expect(task.taskId).toBe(id);
      await host.fail([task], end);
    }
    const { status } = await store.explainTask({ taskId: id });
    expect(status).toBe("found");
    const facts = await factsOf(store, id);
    expect(facts.state).toBe("cancelled");
    expect(
      facts.attempts.map(({ fence, worker, outcome, error, durationMs }) => {
        return [fence, worker, outcome, error, durationMs];
      }),
    ).toEqual([
      [fences[0], "host-2", "cancelled", "four", 11],
      [fences[1], "host-1", "failed", "three", 9],
      [fences[2], "host-2", "continued", null, null],
      [fences[3], "host-1", "failed", "one", 7],
    ]);
    expect((await factsOf(store, other)).attempts).toEqual([]);
  });

  testWith(setup, "raw sql")(
    "explain_task tells the newest 50 attempts by their end, then by fence",
    async () => {
      const opened = open();
      const { store } = opened;
      const id = await enqueueOne(store, await define(store));
      await plant(
        opened,
        `INSERT INTO taskgate.attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome)
       SELECT {id}, n, 1, {minuteAgo}, CASE WHEN n <= 30 THEN {now} ELSE {minuteAgo} END, 11 FROM {numbers} WHERE n <= 60`,
        { id },
      );
      const { attempts } = await factsOf(store, id);
      expect(attempts.map(({ fence }) => Number(fence))).toEqual([
        ...Array.from({ length: 30 }, (_, index) => 30 - index),
        ...Array.from({ length: 20 }, (_, index) => 60 - index),
      ]);
      expect(at(attempts, 0).worker).toBeNull();
    },
  );
}

function describeMoving(setup: StoreSetup): void {
  const open = useStore(setup);
  const plant = planterFor(setup);
  const nowhere = { status: "moving", facts: null };

  testWith(setup, "raw sql")("explain_task tells a task between two places as moving", async () => {
    const opened = open();
    const { store } = opened;
    const [taskId, other] = await enqueue(store, await define(store), 2);
    if (taskId === undefined || other === undefined) throw new Error("Two tasks expected");
    opened.expectDamage();
    await plant(opened, "DELETE FROM taskgate.ready WHERE task_id = {id}", { id: taskId });
    expect(await store.explainTask({ taskId })).toEqual(nowhere);
    expect((await factsOf(store, other)).state).toBe("ready");
  });

  testWith(setup, "raw sql")(
    "explain_task tells a task that an ended execution has claimed as moving",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const taskId = await enqueueOne(store, name);
      const worker = await startWorker(store, name);
      await worker.claimOne();
      opened.expectDamage();
      const sql = "UPDATE taskgate.task_execution SET state = 2 WHERE task_execution_id = {id}";
      await plant(opened, sql, { id: worker.number });
      expect(await store.explainTask({ taskId })).toEqual(nowhere);
    },
  );

  testWith(setup, "raw sql")(
    'explain_task answers "unknown" where only attempts are left',
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const taskId = await enqueueOne(store, name);
      const worker = await startWorker(store, name);
      await worker.fail([await worker.claimOne()], { as: "dead" });
      const sql = "DELETE FROM taskgate.archive WHERE task_id = {id}";
      await plant(opened, sql, { id: taskId });
      expect(await store.explainTask({ taskId })).toEqual({ status: "unknown", facts: null });
    },
  );

  testWith(setup, "raw sql")(
    "a due task that is ready already isn't promoted: a named error, nothing changed",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const taskId = await enqueueOne(store, name);
      opened.expectDamage();
      await plant(
        opened,
        `INSERT INTO taskgate.scheduled (task_definition_id, run_at, task_id)
         SELECT task_definition_id, {minuteAgo}, task_id FROM taskgate.ready WHERE task_id = {id}`,
        { id: taskId },
      );
      await expectError(store.promoteScheduled({ name, max: 10 }), {
        code: "TASKGATE_STORE_CONTRACT",
      });
      const { definitions } = await store.listDefinitions({ name });
      expect(definitions).toMatchObject([{ ready: 1, scheduled: 1 }]);
    },
  );
}
