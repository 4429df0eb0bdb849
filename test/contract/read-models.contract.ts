import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import type { ListableState } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  only,
  setLimit,
  startWorker,
  statusOf,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** What people and the sweep read. */
export function describeReadModels(setup: StoreSetup): void {
  describe("sweep", () => {
    describeSweep(setup);
  });
  describe("list_definitions", () => {
    describeDefinitions(setup);
  });
  describe("list_executions", () => {
    describeExecutions(setup);
  });
  describe("list_tasks", () => {
    describeTasks(setup);
  });
  describe("explain_task", () => {
    describeExplain(setup);
  });
}

const isoInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function describeSweep(setup: StoreSetup): void {
  const open = useStore(setup);

  test("sweep tells nothing when there is nothing to do", async () => {
    const { store } = open();
    await define(store);
    expect(await store.sweep({ max: 10 })).toEqual({
      opening: [],
      schedules: [],
      expired: 0,
      definitions: [],
      nextDueMs: null,
      isPurgeable: false,
    });
  });

  test("sweep tells definitions with ready or due tasks, by name, with their free tokens", async () => {
    const opened = open();
    const { store } = opened;
    const names = ["c", "a", "b", "d"].map((suffix) => `sweep-${suffix}`);
    const [limited = "", unlimited = "", paused = "", idle = ""] = names;
    await define(store, { limit: 3 }, limited);
    await define(store, { limit: null }, unlimited);
    await define(store, {}, paused);
    await define(store, {}, idle);
    await enqueue(store, limited, 5);
    await startWorker(store, limited, { want: 2 });
    await enqueue(store, unlimited, [{ runInMs: 1_000 }]);
    await enqueue(store, paused, 1);
    await store.pauseDefinition({ name: paused, changedBy: "an operator" });
    await enqueue(store, idle, [{ runInMs: 60_000 }]);
    await opened.advance(1_000);
    const answer = await store.sweep({ max: 10 });
    expect(answer.definitions).toEqual([
      { name: unlimited, ready: 0, free: 1_000, crowdedOut: false, due: true, paused: false },
      { name: paused, ready: 1, free: 4, crowdedOut: false, due: false, paused: true },
      { name: limited, ready: 5, free: 1, crowdedOut: false, due: false, paused: false },
    ]);
    expect(answer).toMatchObject({ expired: 0, nextDueMs: 0 });
    expect((await store.sweep({ max: 2 })).definitions).toHaveLength(2);
  });

  testWith(setup, "exact clock")(
    "sweep tells the next due instant over all definitions, and changes nothing",
    async () => {
      const { store } = open();
      const one = await define(store);
      const two = await define(store);
      await enqueue(store, one, [{ runInMs: 9_000 }]);
      await enqueue(store, two, [{ runInMs: 4_000 }]);
      expect((await store.sweep({ max: 1 })).nextDueMs).toBe(4_000);
      expect((await statusOf(store, two)).scheduled).toBe(1);
    },
  );

  test("tokens of the dead are free, tokens above the limit aren't", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 3, leaseMs: 10_000 });
    await enqueue(store, name, 1);
    await startWorker(store, name, { want: 3 });
    const free = async () => only((await store.sweep({ max: 10 })).definitions).free;
    expect(await free()).toBe(0);
    await setLimit(store, name, 1);
    expect(await free()).toBe(0);
    await setLimit(store, name, 3);
    await opened.advance(10_001);
    expect(await free()).toBe(3);
  });

  test("sweep takes a max of 1 to 1000 and refuses 0 and 1001, naming field and value", async () => {
    const { store } = open();
    for (const max of [0, -1, 1_001]) {
      await expectError(store.sweep({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
    expect((await store.sweep({ max: 1_000 })).definitions).toEqual([]);
  });
}

function describeDefinitions(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_definitions answers all definitions by name, one for its name, none for an unknown name", async () => {
    const { store } = open();
    for (const name of ["b", "a", "c"]) await define(store, {}, name);
    const all = await store.listDefinitions({});
    expect(all.definitions.map((entry) => entry.name)).toEqual(["a", "b", "c"]);
    expect((await store.listDefinitions({ name: "b" })).definitions).toHaveLength(1);
    expect((await store.listDefinitions({ name: "nobody" })).definitions).toEqual([]);
  });

  testWith(setup, "exact clock")("list_definitions counts tasks by state", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10, prefetchMax: 0 });
    await enqueue(store, name, 5);
    const worker = await startWorker(store, name, { want: 10 });
    const tasks = await worker.claim(5);
    await worker.complete(tasks.slice(0, 1));
    await worker.fail(tasks.slice(1, 2), { as: "dead" });
    await worker.fail(tasks.slice(2, 3), { as: "cancelled" });
    await enqueue(store, name, [{}, {}, {}, { runInMs: 5_000 }, { group: "g" }, { group: "g" }]);
    expect(await statusOf(store, name)).toMatchObject({
      ready: 4,
      scheduled: 1,
      waiting: 1,
      claimed: 2,
      done: 1,
      dead: 1,
      cancelled: 1,
      held: 10,
      executions: 1,
      nextDueMs: 5_000,
    });
  });

  test("list_definitions stops its counts at 10,000", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 10_000);
    await enqueue(store, name, 5);
    expect((await statusOf(store, name)).ready).toBe(10_000);
  });
}

function describeExecutions(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_executions lists the newest first, of one definition or of all, at most so many, with what each holds", async () => {
    const { store } = open();
    const one = await define(store, { limit: 3, prefetchMax: 1, leaseMs: 30_000 });
    const two = await define(store);
    await enqueue(store, one, 6);
    const worker = await startWorker(store, one, { want: 3, worker: "host-1" });
    await worker.claim(5);
    await startWorker(store, two, { worker: "host-2" });
    const all = await store.listExecutions({ isOpen: true, max: 10 });
    expect(all.executions.map((entry) => entry.worker)).toEqual(["host-2", "host-1"]);
    const entry = only(
      (await store.listExecutions({ name: one, isOpen: true, max: 10 })).executions,
    );
    expect(entry).toMatchObject({
      execution: worker.number,
      definition: one,
      state: "live",
      endedAt: null,
      tokens: 3,
      claimed: 5,
      running: 3,
      prefetched: 2,
    });
    expect(entry.startedAt).toMatch(isoInstant);
    expect(entry.leaseLeftMs).toBeLessThanOrEqual(30_000);
    expect((await store.listExecutions({ isOpen: true, max: 1 })).executions).toHaveLength(1);
  });

  test("an ended one is only in the long list, without a lease", async () => {
    const { store } = open();
    const name = await define(store);
    const worker = await startWorker(store, name);
    await worker.finish();
    expect((await store.listExecutions({ name, isOpen: true, max: 10 })).executions).toEqual([]);
    const entry = only((await store.listExecutions({ name, isOpen: false, max: 10 })).executions);
    expect(entry).toMatchObject({ state: "ended", leaseLeftMs: null, tokens: 0, claimed: 0 });
    expect(entry.endedAt).toMatch(isoInstant);
  });

  test("a lease that is over shows a negative rest", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs: 10_000 });
    await startWorker(store, name);
    await opened.advance(12_000);
    const entry = only((await store.listExecutions({ name, isOpen: true, max: 10 })).executions);
    expect(entry.state).toBe("live");
    expect(entry.leaseLeftMs).toBeLessThanOrEqual(-2_000);
  });

  test("list_executions refuses a max of 0 and 1001, naming field and value", async () => {
    const { store } = open();
    for (const max of [0, 1_001]) {
      await expectError(store.listExecutions({ isOpen: true, max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
  });
}

function describeTasks(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each state lists its own tasks, in the order in which they will be taken", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10, prefetchMax: 0 });
    const ended = await enqueue(store, name, 3);
    const claimed = await enqueueOne(store, name);
    const worker = await startWorker(store, name, { want: 4, worker: "host-1" });
    const tasks = await worker.claim(4);
    await worker.complete(tasks.slice(0, 1));
    await worker.fail(tasks.slice(1, 2), { as: "dead", error: "no" });
    await worker.fail(tasks.slice(2, 3), { as: "cancelled" });
    const ready = await enqueue(store, name, [{}, { priority: 1 }]);
    const later = await enqueue(store, name, [{ runInMs: 9_000 }, { runInMs: 4_000 }]);
    const grouped = await enqueue(store, name, [
      { group: "g" },
      { group: "g" },
      { group: "g", priority: 1 },
    ]);
    const expected: Record<ListableState, (string | undefined)[]> = {
      ready: [ready[1], grouped[2], ready[0]],
      scheduled: [later[1], later[0]],
      waiting: [grouped[0], grouped[1]],
      claimed: [claimed],
      done: [ended[0]],
      dead: [ended[1]],
      cancelled: [ended[2]],
    };
    for (const state of Object.keys(expected) as ListableState[]) {
      const { tasks: listed } = await store.listTasks({ name, state, max: 10 });
      expect({ state, tasks: listed.map((task) => task.task) }).toEqual({
        state,
        tasks: expected[state],
      });
      const shown = state === "claimed" ? "running" : state;
      expect(listed.every((task) => task.state === shown && isoInstant.test(task.createdAt))).toBe(
        true,
      );
    }
    const dead = only((await store.listTasks({ name, state: "dead", max: 10 })).tasks);
    expect(dead).toMatchObject({
      kind: name,
      priority: 100,
      failedCount: 1,
      lostCount: 0,
      error: "no",
      worker: "host-1",
    });
    const running = only((await store.listTasks({ name, state: "claimed", max: 10 })).tasks);
    expect(running.worker).toBe("host-1");
  });

  test("list_tasks lists finished tasks newest first, at most so many", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5 });
    const ids = await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 4 });
    for (const task of await worker.claim(4)) {
      await worker.complete([task]);
      await opened.advance(1_000);
    }
    const { tasks } = await store.listTasks({ name, state: "done", max: 3 });
    expect(tasks.map((task) => task.task)).toEqual([ids[3], ids[2], ids[1]]);
    expect(at(tasks, 0).endedAt).toMatch(isoInstant);
    const ready = await enqueue(store, name, 3);
    const listed = await store.listTasks({ name, state: "ready", max: 2 });
    expect(listed.tasks.map((task) => task.task)).toEqual(ready.slice(0, 2));
  });

  test("a scheduled one tells when it is due", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const runAt = new Date((await opened.now()).getTime() + 60_000);
    await enqueueOne(store, name, { runAt });
    const task = only((await store.listTasks({ name, state: "scheduled", max: 10 })).tasks);
    expect(task.dueAt).toBe(runAt.toISOString());
  });

  test("list_tasks refuses a bad number and an unknown definition, naming them", async () => {
    const { store } = open();
    const name = await define(store);
    for (const max of [0, 1_001]) {
      await expectError(store.listTasks({ name, state: "ready", max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
    await expectError(store.listTasks({ name: "nobody", state: "ready", max: 1 }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
      value: "nobody",
    });
  });
}

function describeExplain(setup: StoreSetup): void {
  const open = useStore(setup);

  test(`explain_task answers "unknown" for a task that isn't there`, async () => {
    const { store } = open();
    expect(await store.explainTask({ taskId: asTaskId("999999999") })).toEqual({
      status: "unknown",
      facts: null,
    });
  });

  testWith(setup, "exact clock")(
    "explain_task tells of a ready task how many are ahead, the limit and its holders",
    async () => {
      const { store } = open();
      const name = await define(store, { limit: 2, leaseMs: 30_000, retryAttempts: 7, lostMax: 2 });
      await enqueue(store, name, 2);
      const taskId = await enqueueOne(store, name, { payload: '{"n":1}' });
      await enqueue(store, name, 2);
      await enqueueOne(store, name, { priority: 1 });
      const worker = await startWorker(store, name, { worker: "host-1" });
      await setLimit(store, name, 1);
      const facts = await factsOf(store, taskId);
      expect(facts).toMatchObject({
        task: taskId,
        definition: name,
        kind: name,
        state: "ready",
        readyAhead: 3,
        payload: '{"n":1}',
        retryAttempts: 7,
        lostMax: 2,
        limit: 1,
        limitSource: "operator",
        held: 1,
        paused: false,
        isCancelRequested: false,
        continuedCount: 0,
        progress: null,
        attempts: [],
      });
      expect(facts.createdAt).toMatch(isoInstant);
      expect(facts.holders).toEqual([
        { execution: worker.number, worker: "host-1", tokens: 1, leaseLeftMs: 30_000 },
      ]);
    },
  );

  testWith(setup, "exact clock")(
    "explain_task tells of a claimed task its worker, since when, under which fence and for how long",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 1, leaseMs: 30_000 });
      const taskId = await enqueueOne(store, name);
      const worker = await startWorker(store, name, { worker: "host-1" });
      const { fence } = await worker.claimOne();
      const claimedAt = (await opened.now()).getTime();
      await opened.advance(10_000);
      const facts = await factsOf(store, taskId);
      expect(facts.claim).toMatchObject({
        execution: worker.number,
        worker: "host-1",
        fence,
        isPrefetched: false,
        standing: "running",
      });
      expect(Math.abs(Date.parse(facts.claim?.claimedAt ?? "") - claimedAt)).toBeLessThan(1_000);
      expect(facts.claim?.leaseLeftMs).toBeLessThanOrEqual(20_000);
    },
  );

  test("no limit is null", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    expect((await factsOf(store, await enqueueOne(store, name))).limit).toBeNull();
  });

  testWith(setup, "exact clock")(
    "explain_task tells that a task is paused, scheduled or waiting",
    async () => {
      const { store } = open();
      const name = await define(store);
      await store.pauseDefinition({ name, changedBy: "an operator" });
      const [later, holder, waiting] = await enqueue(store, name, [
        { runInMs: 5_000 },
        { group: "g" },
        { group: "g" },
      ]);
      if (!later || !holder || !waiting) throw new Error("three tasks expected");
      expect(await factsOf(store, later)).toMatchObject({
        state: "scheduled",
        dueInMs: 5_000,
        paused: true,
      });
      expect(await factsOf(store, waiting)).toMatchObject({
        state: "waiting",
        group: { key: "g", ahead: 0, holders: [holder] },
      });
    },
  );

  test("explain_task tells a done task's result, duration, worker, instants and earlier attempts, newest first", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const taskId = await enqueueOne(store, name, { dedupeKey: "k" });
    const worker = await startWorker(store, name, { worker: "host-1" });
    for (const error of ["first", "second"]) {
      await worker.fail([await worker.claimOne()], { retryInMs: 0, error });
      await opened.advance(1_000);
    }
    const task = await worker.claimOne();
    await worker.work({ done: [done(task, { durationMs: 42, result: '{"ok":true}' })] });
    const facts = await factsOf(store, taskId);
    expect(facts).toMatchObject({
      state: "done",
      result: '{"ok":true}',
      durationMs: 42,
      worker: "host-1",
      failedCount: 2,
      dedupeKey: "k",
    });
    expect(facts.endedAt).toMatch(isoInstant);
    expect(facts.attempts.map((entry) => entry.error)).toEqual(["second", "first"]);
  });

  test("explain_task tells the newest 50 attempts", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { retryAttempts: 1_000 });
    const taskId = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    for (let attempt = 1; attempt <= 53; attempt += 1) {
      await worker.fail([await worker.claimOne()], { retryInMs: 0, error: String(attempt) });
      await opened.advance(1);
    }
    const { attempts } = await factsOf(store, taskId);
    expect(attempts.map((entry) => entry.error)).toEqual(
      Array.from({ length: 50 }, (_, index) => String(53 - index)),
    );
  });
}
