import { describe, expect, test } from "@jest/globals";
import { asExecutionId } from "../../shared/core/ids";
import {
  define,
  enqueue,
  enqueueOne,
  factsOf,
  operationId,
  registration,
  setLimit,
  startInput,
  startWorker,
  stateOf,
  statusOf,
  tryStart,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** An execution: its start with the first tokens, and its end. */
export function describeExecutions(setup: StoreSetup): void {
  describe("start_execution", () => {
    describeStart(setup);
  });
  describe("start_execution by build and settings", () => {
    describeBuilds(setup);
  });
  describe("finish_execution", () => {
    describeFinish(setup);
  });
}

function describeStart(setup: StoreSetup): void {
  const open = useStore(setup);

  test("start_execution tells tokens, lease, prefetched bound and how many tasks are ready", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4, leaseMs: 30_000, prefetchMax: 2 });
    await enqueue(store, name, 3);
    const answer = await store.startExecution(startInput(name, { want: 2, needsReady: true }));
    expect(answer).toMatchObject({
      status: "started",
      leaseMs: 30_000,
      tokens: 2,
      prefetchMax: 2,
      ready: 2,
      deadHolders: 0,
    });
    expect(answer.executionId).toMatch(/^[0-9]+\/[0-9a-f-]{36}$/);
    expect(answer.tokenFence).toMatch(/^[0-9]+$/);
  });

  test("start_execution without ready or due tasks tells when the next one is due", async () => {
    const { store } = open();
    const name = await define(store);
    const input = () => startInput(name, { needsReady: true });
    expect(await store.startExecution(input())).toMatchObject({
      status: "none",
      executionId: null,
      tokens: 0,
      nextDueMs: null,
    });
    await enqueue(store, name, [{ runInMs: 5_000 }]);
    const later = await store.startExecution(input());
    expect(later.status).toBe("none");
    expect(later.nextDueMs).toBeGreaterThan(4_000);
    expect(later.nextDueMs).toBeLessThanOrEqual(5_000);
    expect((await statusOf(store, name)).held).toBe(0);
  });

  test("a due task counts as ready", async () => {
    const opened = open();
    const name = await define(opened.store);
    await enqueue(opened.store, name, [{ runInMs: 5_000 }]);
    await opened.advance(5_000);
    const input = startInput(name, { needsReady: true, want: 3 });
    expect(await opened.store.startExecution(input)).toMatchObject({
      status: "started",
      ready: 1,
      tokens: 1,
    });
  });

  test("needsReady asks for no more tokens than tasks wait; withTokens asks for all", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    await enqueue(store, name, 2);
    const needing = await store.startExecution(startInput(name, { want: 5, needsReady: true }));
    expect(needing).toMatchObject({ status: "started", tokens: 2, ready: 2 });
    const free = await store.startExecution(startInput(name, { want: 5, needsReady: false }));
    expect(free).toMatchObject({ status: "started", tokens: 5 });
  });

  test("a partial grant is a start", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    await startWorker(store, name, { want: 3 });
    expect(await store.startExecution(startInput(name, { want: 3 }))).toMatchObject({
      status: "started",
      tokens: 1,
    });
  });

  test("start_execution makes no execution where it is limited, and tells the longest wait that makes sense", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 60_000 });
    await startWorker(store, name);
    await opened.advance(20_000);
    const answer = await store.startExecution(startInput(name));
    expect(answer).toMatchObject({ status: "limited", executionId: null, tokens: 0 });
    expect(answer.retryInMs).toBeGreaterThan(39_000);
    expect(answer.retryInMs).toBeLessThanOrEqual(40_001);
    const all = await store.listExecutions({ name, isOpen: false, max: 10 });
    expect(all.executions).toHaveLength(1);
  });

  test("start_execution with limit 0 starts nothing, and no wait makes sense (S0.6)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 0 });
    await enqueue(store, name, 1);
    expect(await store.startExecution(startInput(name, { needsReady: true }))).toMatchObject({
      status: "limited",
      retryInMs: null,
      tokens: 0,
    });
  });

  test("start_execution starts nothing while the definition is paused", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    await store.pauseDefinition({ name, changedBy: "an operator" });
    expect(await tryStart(store, name, { needsReady: true })).toBe("paused");
    expect(await tryStart(store, name)).toBe("paused");
  });

  test(`start_execution answers "unknown" for a name that isn't registered`, async () => {
    const { store } = open();
    expect(await store.startExecution(startInput("nobody"))).toMatchObject({
      status: "unknown",
      executionId: null,
    });
  });

  test("a repeat of an operation id answers the same execution and grants nothing more", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const input = startInput(name, { want: 2 });
    const first = await store.startExecution(input);
    const second = await store.startExecution(input);
    expect(second).toMatchObject({
      status: "started",
      executionId: first.executionId,
      tokens: 2,
      leaseMs: first.leaseMs,
      tokenFence: first.tokenFence,
      prefetchMax: first.prefetchMax,
    });
    expect(await statusOf(store, name)).toMatchObject({ held: 2, executions: 1 });
  });

  test("ten starts with one operation id at once make one execution", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const input = startInput(name, { want: 2 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => store.startExecution(input)),
    );
    expect(new Set(answers.map((answer) => answer.executionId)).size).toBe(1);
    expect(answers.every((answer) => answer.status === "started" && answer.tokens === 2)).toBe(
      true,
    );
    expect(await statusOf(store, name)).toMatchObject({ held: 2, executions: 1 });
  });

  test("a repeat after the end revives nothing", async () => {
    const { store } = open();
    const name = await define(store);
    const input = startInput(name);
    const first = await store.startExecution(input);
    if (first.executionId === null) throw new Error("not started");
    await store.finishExecution({ executionId: first.executionId });
    expect(await store.startExecution(input)).toMatchObject({
      status: "limited",
      executionId: null,
      tokens: 0,
      tokenFence: null,
    });
    expect(await statusOf(store, name)).toMatchObject({ held: 0, executions: 0 });
  });

  test("an operation id of another definition's execution is refused; nothing is granted", async () => {
    const { store } = open();
    const name = await define(store);
    const other = await define(store);
    const input = startInput(name);
    await store.startExecution(input);
    await expectError(store.startExecution({ ...input, name: other }), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "operationId",
      value: input.operationId,
    });
    expect(await statusOf(store, other)).toMatchObject({ held: 0, executions: 0 });
  });

  test("a denied start may be repeated with its operation id once tokens are free", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1 });
    const holder = await startWorker(store, name);
    const input = startInput(name);
    expect((await store.startExecution(input)).status).toBe("limited");
    await holder.finish();
    expect((await store.startExecution(input)).status).toBe("started");
  });

  test("start_execution takes wishes of 1 to 1000; 0 and 1001 are refused, naming field and value", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1_000 });
    expect(await store.startExecution(startInput(name, { want: 1_000 }))).toMatchObject({
      tokens: 1_000,
    });
    for (const want of [0, 1_001, -1]) {
      await expectError(store.startExecution(startInput(name, { want })), {
        code: "TASKGATE_ARG_INVALID",
        field: "want",
        value: want,
      });
    }
  });

  test("start_execution takes a worker of 200 characters and refuses none and 201, naming field and value", async () => {
    const { store } = open();
    const name = await define(store);
    const longest = "w".repeat(200);
    await startWorker(store, name, { worker: longest });
    const { executions } = await store.listExecutions({ name, isOpen: true, max: 1 });
    expect(executions[0]?.worker).toBe(longest);
    for (const worker of ["", "w".repeat(201)]) {
      await expectError(store.startExecution(startInput(name, { worker })), {
        code: "TASKGATE_ARG_INVALID",
        field: "worker",
        value: worker,
      });
    }
  });

  test("the lease begins with the start", async () => {
    const opened = open();
    const name = await define(opened.store, { leaseMs: 10_000 });
    await startWorker(opened.store, name);
    await opened.advance(4_000);
    const { executions } = await opened.store.listExecutions({ name, isOpen: true, max: 1 });
    expect(executions[0]?.leaseLeftMs).toBeLessThanOrEqual(6_000);
    expect(executions[0]?.leaseLeftMs).toBeGreaterThan(5_000);
  });
}

function describeBuilds(setup: StoreSetup): void {
  const open = useStore(setup);

  test("start_execution tells a newer code, or other settings at the same build, as outdated", async () => {
    const { store } = open();
    const input = registration({ build: 5 });
    await store.registerDefinition(input);
    expect(await tryStart(store, input.name, { build: 6 })).toBe("outdated");
    expect(await tryStart(store, input.name, { build: 5, settingsHash: "other" })).toBe("outdated");
    expect((await statusOf(store, input.name)).held).toBe(0);
  });

  test("an older build starts with the newer settings; the same build and hash start", async () => {
    const { store } = open();
    const input = registration({ build: 5 });
    await store.registerDefinition(input);
    expect(await tryStart(store, input.name, { build: 4, settingsHash: "older" })).toBe("started");
    expect(await tryStart(store, input.name, { build: 5 })).toBe("started");
  });

  test("start_execution without a hash compares nothing", async () => {
    const { store } = open();
    const input = registration({ build: 5 });
    await store.registerDefinition(input);
    expect(await tryStart(store, input.name, { build: 9, settingsHash: null })).toBe("started");
  });
}

function describeFinish(setup: StoreSetup): void {
  const open = useStore(setup);

  test("finish_execution gives tokens and claims back, uncounted, and tells that tasks wait", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4, prefetchMax: 1 });
    const ids = await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 2 });
    expect(await worker.claim(4)).toHaveLength(4);
    expect(await worker.finish()).toEqual({
      opening: [],
      status: "ended",
      givenBack: 4,
      tokensFreed: 2,
      ready: true,
      nextDueMs: null,
      woken: [],
    });
    for (const taskId of ids) {
      const facts = await factsOf(store, taskId);
      expect(facts).toMatchObject({ state: "ready", failedCount: 0, lostCount: 0, attempts: [] });
    }
    const next = await startWorker(store, name, { want: 4 });
    expect((await next.claim(4)).map((task) => task.attempt)).toEqual([1, 1, 1, 1]);
  });

  test("a repeat is `ended` with zeros", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    await worker.claim(1);
    await worker.finish();
    expect(await worker.finish()).toMatchObject({ status: "ended", givenBack: 0, tokensFreed: 0 });
    expect(await statusOf(store, name)).toMatchObject({ held: 0, executions: 0, ready: 1 });
  });

  test("an unknown execution hears `fenced`", async () => {
    const { store } = open();
    const executionId = asExecutionId("999999999");
    expect(await store.finishExecution({ executionId })).toMatchObject({
      status: "fenced",
      givenBack: 0,
      tokensFreed: 0,
    });
  });

  test("finish_execution tells when the next scheduled task is due", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, [{ runInMs: 7_000 }]);
    const worker = await startWorker(store, name);
    const answer = await worker.finish();
    expect(answer.ready).toBe(false);
    expect(answer.nextDueMs).toBeGreaterThan(6_000);
    expect(answer.nextDueMs).toBeLessThanOrEqual(7_000);
  });

  test("finish_execution without a limit gives back the counted tokens", async () => {
    const { store } = open();
    const name = await define(store, { limit: null });
    const worker = await startWorker(store, name, { want: 3 });
    expect((await statusOf(store, name)).held).toBe(3);
    expect((await worker.finish()).tokensFreed).toBe(3);
    expect((await statusOf(store, name)).held).toBe(0);
    await setLimit(store, name, 1);
    expect(await tryStart(store, name)).toBe("started");
  });

  testWith(setup, "cancel requests")(
    "a task whose cancel was requested meanwhile ends cancelled, the others go back",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const cancelled = await enqueueOne(store, name);
      const kept = await enqueueOne(store, name);
      const worker = await startWorker(store, name, { want: 2 });
      await worker.claim(2);
      await opened.requestCancel(cancelled);
      await worker.finish();
      expect(await stateOf(store, cancelled)).toBe("cancelled");
      expect(await stateOf(store, kept)).toBe("ready");
    },
  );

  test("list_executions shows live, ended, dead and reclaimed ones, newest first", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, leaseMs: 10_000 });
    const first = await startWorker(store, name, { worker: "first" });
    await first.finish();
    await startWorker(store, name, { worker: "second" });
    await startWorker(store, name, { worker: "third" });
    await opened.advance(10_001);
    await startWorker(store, name, { worker: "fourth" });
    const listed = await store.listExecutions({ name, isOpen: false, max: 10 });
    const states = listed.executions.map((entry) => `${entry.worker} ${entry.state}`);
    expect(states[0]).toBe("fourth live");
    expect(states.at(-1)).toBe("first ended");
    expect(states.filter((state) => state.endsWith("dead"))).not.toHaveLength(0);
    await store.reclaimExpired({ max: 10 });
    const after = await store.listExecutions({ name, isOpen: false, max: 10 });
    expect(after.executions.map((entry) => entry.state)).toEqual([
      "live",
      "reclaimed",
      "reclaimed",
      "ended",
    ]);
    const openOnes = await store.listExecutions({ name, isOpen: true, max: 10 });
    expect(openOnes.executions.map((entry) => entry.worker)).toEqual(["fourth"]);
  });

  test("an operation id names one start only: another id is another execution", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2 });
    const first = await startWorker(store, name, { operationId: operationId() });
    const second = await startWorker(store, name, { operationId: operationId() });
    expect(first.executionId).not.toBe(second.executionId);
  });
}
