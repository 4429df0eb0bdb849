import { describe, expect } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import { define, done, enqueue, only, startWorker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { LogEntry, StoreSetup, TestStore } from "../support/store-setup";

/** Each attempt of a database full of them has its own entry in the execution log, and no facts of another. */
export function describeLog(setup: StoreSetup): void {
  describe("the execution log of several definitions and workers", () => {
    describeEntries(setup);
  });
}

/** An entry in one line: task, kind, payload, worker, outcome, error, duration, from start to end. */
function lineOf({ taskId, kind, payload, worker, outcome, error, ...times }: LogEntry): string {
  const { durationMs, spanMs } = times;
  return [taskId, kind, payload, worker, outcome, error, durationMs, spanMs].map(String).join(" ");
}

async function linesOf(opened: TestStore, name: string): Promise<string[]> {
  return (await opened.readLog(name)).map(lineOf);
}

/** Tasks with these kinds, each with a payload that tells its kind. */
async function enqueueKinds(
  { store }: TestStore,
  name: string,
  kinds: readonly string[],
): Promise<TaskId[]> {
  return enqueue(
    store,
    name,
    kinds.map((kind) => ({ kind, payload: `["${kind}"]` })),
  );
}

/** `one`: every end of an attempt. */
async function fillOne(opened: TestStore): Promise<string[]> {
  const { store } = opened;
  await define(store, { limit: 10, prefetchMax: 0 }, "one");
  const [a = "", b = "", c = "", d = "", e = "", f = ""] = await enqueueKinds(opened, "one", [
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
  ]);
  const first = await startWorker(store, "one", { want: 4, worker: "host-1" });
  const [ta, tb, tc] = await first.claim(4);
  const second = await startWorker(store, "one", { want: 2, worker: "host-2" });
  const [te, tf] = await second.claim(2);
  if (!ta || !tb || !tc || !te || !tf) throw new Error("Six tasks expected");
  await opened.advance(1_000);
  await first.work({ done: [done(ta, { durationMs: 900 })] });
  await first.fail([tb], { as: "dead", error: "broken", durationMs: 800 });
  await first.fail([tc], { as: "cancelled", error: null, durationMs: null });
  await second.fail([te], { error: "again", durationMs: 700, retryInMs: 0 });
  await second.fail([tf], { as: "continued", error: null, durationMs: 600, retryInMs: 60_000 });
  const third = await startWorker(store, "one", { worker: "host-3" });
  await opened.advance(500);
  await third.work({ done: [done(await third.claimOne(), { durationMs: 0 })] });
  return [
    `${a} a ["a"] host-1 done null 900 900`,
    `${b} b ["b"] host-1 failed broken 800 800`,
    `${c} c ["c"] host-1 cancelled null null 1000`,
    `${d} d ["d"] host-1 running null null null`,
    `${e} e ["e"] host-2 failed again 700 700`,
    `${e} e ["e"] host-3 done null 0 0`,
    `${f} f ["f"] host-2 continued null 600 600`,
  ];
}

/** `two`: a running and a prefetched claim. */
async function fillTwo(opened: TestStore): Promise<string[]> {
  const { store } = opened;
  await define(store, { limit: 1, prefetchMax: 1 }, "two");
  const [x = "", y = ""] = await enqueueKinds(opened, "two", ["x", "y", "z"]);
  await (await startWorker(store, "two", { worker: "host-4" })).claim(2);
  return [
    `${x} x ["x"] host-4 running null null null`,
    `${y} y ["y"] host-4 prefetched null null null`,
  ];
}

/** `three`: a lost attempt of a task that is ready again. */
async function fillThree(opened: TestStore): Promise<string[]> {
  const { store } = opened;
  await define(store, { limit: 1, leaseMs: 10_000 }, "three");
  const [v = ""] = await enqueueKinds(opened, "three", ["v"]);
  await (await startWorker(store, "three", { worker: "host-5" })).claimOne();
  await opened.advance(10_001);
  await store.reclaimExpired({ max: 10 });
  return [`${v} v ["v"] host-5 lost the worker lost its lease null 10001`];
}

function describeEntries(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "execution log")(
    "the tasks that were claimed first run, of claims of several calls, as many as there are tokens",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 3, prefetchMax: 2 });
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name, { want: 2 });
      await worker.claim(1);
      await worker.claim(1);
      await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
      const outcomes = (await opened.readLog(name)).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(["running", "prefetched"]);
    },
  );

  testWith(setup, "execution log")(
    "a prefetched claim stays one while its execution gets more tokens",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 3, prefetchMax: 2 });
      await enqueue(store, name, 2);
      const worker = await startWorker(store, name, { want: 1 });
      await worker.claim(2);
      await store.acquireTokens({ executionId: worker.executionId, want: 2 });
      const outcomes = (await opened.readLog(name)).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(["running", "prefetched"]);
    },
  );

  testWith(
    setup,
    "execution log",
    "exact clock",
  )(
    "the execution log has one entry per attempt, with its own task's and worker's facts (S3.5)",
    async () => {
      const opened = open();
      const three = await fillThree(opened);
      const one = await fillOne(opened);
      const two = await fillTwo(opened);
      expect(await linesOf(opened, "three")).toEqual(three);
      expect(await linesOf(opened, "one")).toEqual(one);
      expect(await linesOf(opened, "two")).toEqual(two);
    },
  );

  for (const end of ["running", "done", "failed"] as const) {
    testWith(setup, "execution log")(
      `the log of two definitions with a worker each has an entry of each (${end})`,
      async () => {
        const opened = open();
        const { store } = opened;
        for (const name of ["one", "two"]) {
          await define(store, {}, name);
          await enqueue(store, name, [{ kind: name }]);
          const worker = await startWorker(store, name, { worker: `host-${name}` });
          const task = await worker.claimOne();
          if (end === "done") await worker.complete([task]);
          if (end === "failed") await worker.fail([task], { as: "dead" });
        }
        for (const name of ["one", "two"]) {
          const log = await opened.readLog(name);
          expect(log.map(({ kind, worker, outcome }) => [kind, worker, outcome])).toEqual([
            [name, `host-${name}`, end],
          ]);
        }
      },
    );
  }

  testWith(setup, "execution log")(
    "a done task whose worker told no duration has no start; one that failed has its claim's",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10, prefetchMax: 0 });
      await enqueueKinds(opened, name, ["a", "b"]);
      const worker = await startWorker(store, name, { want: 2, worker: "host" });
      const [first, second] = await worker.claim(2);
      if (!first || !second) throw new Error("Two tasks expected");
      const { executionId } = worker;
      await store.completeTask({ executionId, ...done(first), durationMs: null });
      await worker.fail([second], { as: "dead", durationMs: null });
      const log = await opened.readLog(name);
      const told = log.map(({ kind, outcome, durationMs, spanMs }) => [
        ...[kind, outcome, durationMs],
        spanMs === null,
      ]);
      expect(told).toEqual([
        ["a", "done", null, true],
        ["b", "failed", null, false],
      ]);
    },
  );

  testWith(
    setup,
    "execution log",
    "row removal",
  )("the log keeps the tasks of an execution whose row is gone, without its worker", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10, prefetchMax: 0 });
    await enqueueKinds(opened, name, ["a", "b"]);
    const worker = await startWorker(store, name, { want: 2 });
    const [first, second] = await worker.claim(2);
    if (!first || !second) throw new Error("Two tasks expected");
    await worker.work({ done: [done(first)] });
    await worker.fail([second], { as: "dead" });
    await worker.finish();
    await opened.removeExecution(worker.executionId);
    const log = await opened.readLog(name);
    expect(log.map(({ kind, worker: who, outcome }) => [kind, who, outcome])).toEqual([
      ["a", null, "done"],
      ["b", null, "failed"],
    ]);
    const { tasks } = await store.listTasks({ name, state: "done", max: 1 });
    expect(only(tasks).worker).toBeNull();
  });
}
