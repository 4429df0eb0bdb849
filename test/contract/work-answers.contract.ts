import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import type { ClaimedTask } from "../../shared/ports/task-store";
import {
  at,
  define,
  done,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  only,
  setLimit,
  startWorker,
  stateOf,
  statusOf,
  tryStart,
} from "../support/builders";
import { useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** What `work` tells and keeps from call to call. */
export function describeWorkAnswers(setup: StoreSetup): void {
  describe("work tells", () => {
    describeTold(setup);
  });
  describe("work repeated with its call number", () => {
    describeRepeats(setup);
  });
  describe("work with claims reported as started", () => {
    describeStarted(setup);
  });
  describe("a task that was lost twice and is held", () => {
    describeSolo(setup);
  });
}

const prefetchedOf = (tasks: readonly ClaimedTask[]) => tasks.map((task) => task.isPrefetched);
const unknown = asTaskId("999999999");

function describeTold(setup: StoreSetup): void {
  const open = useStore(setup);

  test("work tells how many tokens are free below the limit, and at limit 0 everything that is held", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 3 });
    expect((await worker.work({ want: 1 })).freeTokens).toBe(2);
    await setLimit(store, name, 3);
    expect(await worker.work({ want: 1 })).toMatchObject({ overLimit: 0, freeTokens: 0 });
    await setLimit(store, name, 0);
    expect(await worker.work({ want: 1 })).toMatchObject({ overLimit: 3, freeTokens: 0 });
  });

  test("work tells an ended and a fenced execution also when nothing is ready, with nothing of earlier calls", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 5, leaseMs: 10_000 });
    const empty = {
      claimed: [],
      refused: [],
      leaseMs: null,
      overLimit: 0,
      releaseRequested: false,
      freeTokens: 0,
      nextDueMs: null,
      retryInMs: null,
    };
    const stranger = { taskId: unknown, fence: (await claimedOf(opened, name)).fence };
    const over = await startWorker(store, name);
    const wrong = { ...stranger, durationMs: 1, result: null };
    expect((await over.work({ done: [wrong] })).refused).toEqual([unknown]);
    await over.finish();
    await setLimit(store, name, 0);
    expect(await over.again({ want: 1 })).toMatchObject({ ...empty, status: "ended" });
    expect(await over.work({ want: 1 })).toMatchObject({ ...empty, status: "ended" });
    await setLimit(store, name, 5);
    const dead = await startWorker(store, name);
    expect((await dead.work({ done: [wrong] })).refused).toEqual([unknown]);
    await opened.advance(10_001);
    await store.reclaimExpired({ max: 10 });
    expect(await dead.work({ want: 1 })).toMatchObject({ ...empty, status: "fenced" });
  });

  test("work tells refused completions in the order in which they were told, and only in that call", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 3 });
    const claimed = await worker.claim(3);
    const wrong = [9, 7, 8].map((id) => ({
      ...done(at(claimed, 0)),
      taskId: asTaskId(`99999990${String(id)}`),
    }));
    const first = await worker.work({ done: [at(wrong, 0), at(wrong, 1), at(wrong, 2)] });
    expect(first.refused).toEqual(wrong.map((task) => task.taskId));
    expect((await worker.work({ started: [at(claimed, 0).taskId] })).refused).toEqual([]);
    expect((await worker.again()).refused).toEqual([]);
  });

  test("work tells every definition whose groups' tasks got ready, of several", async () => {
    const { store } = open();
    const mine = await define(store, { limit: 5 });
    const others = [await define(store), await define(store)];
    const groups = ["a", "b"].map((group) => ({ group, groupScope: "global" as const }));
    await enqueue(store, mine, groups);
    for (const [index, name] of others.entries()) await enqueue(store, name, [at(groups, index)]);
    const worker = await startWorker(store, mine, { want: 2 });
    const { woken } = await worker.complete(await worker.claim(2));
    expect([...woken].sort()).toEqual([...others].sort());
  });

  test("work tells the place of the last of several claims, not of the first", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await enqueue(store, name, [{ priority: 1 }, { priority: 2 }, { priority: 3 }]);
    const worker = await startWorker(store, name, { want: 3 });
    const answer = await worker.work({ want: 3 });
    const taskId = at(answer.claimed, 2).taskId;
    expect(answer.last).toEqual({ priority: 3, rank: "0", taskId });
  });
}

/** A claimed task of an execution that lives. */
async function claimedOf({ store }: TestStore, name: string): Promise<ClaimedTask> {
  await enqueueOne(store, name);
  const worker = await startWorker(store, name);
  return worker.claimOne();
}

function describeRepeats(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a repeat of work counts the started claims of that call only", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3, prefetchMax: 1 });
    await enqueue(store, name, 6);
    const worker = await startWorker(store, name, { want: 3 });
    await worker.claim(2);
    const second = await worker.work({ want: 3 });
    expect(prefetchedOf(second.claimed)).toEqual([false, true, true]);
    expect((await worker.again({ want: 3 })).claimed).toEqual(second.claimed);
  });

  test("a repeat of work renews the lease", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    await worker.claim(1);
    await opened.advance(7_000);
    expect((await worker.again({ want: 1 })).status).toBe("again");
    await opened.advance(7_000);
    expect(await tryStart(store, name)).toBe("limited");
  });
}

function describeStarted(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a claim reported as started is kept also when nothing is ready", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, prefetchMax: 2 });
    const ids = await enqueue(store, name, 2);
    const worker = await startWorker(store, name);
    await worker.claim(2);
    expect(await worker.work({ started: [at(ids, 1)], want: 1 })).toMatchObject({
      status: "none",
      claimed: [],
    });
    expect((await factsOf(store, at(ids, 1))).claim?.isPrefetched).toBe(false);
  });

  test("claims are reported as started beside completions with results", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, prefetchMax: 2 });
    const ids = await enqueue(store, name, 3);
    const worker = await startWorker(store, name);
    const [first] = await worker.claim(3);
    if (first === undefined) throw new Error("nothing claimed");
    const completed = [done(first, { result: '{"rows":7}' })];
    await worker.work({ done: completed, started: [at(ids, 1)] });
    expect((await factsOf(store, at(ids, 0))).result).toBe('{"rows":7}');
    expect((await factsOf(store, at(ids, 1))).claim?.isPrefetched).toBe(false);
    expect((await factsOf(store, at(ids, 2))).claim?.isPrefetched).toBe(true);
  });

  test("the claims that are reported as started take tokens before the next claims of the same call", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3, prefetchMax: 1 });
    const ids = await enqueue(store, name, 11);
    const worker = await startWorker(store, name, { want: 3 });
    const claimed = await worker.claim(6);
    const answer = await worker.work({
      done: claimed.slice(0, 3).map((task) => done(task)),
      started: [at(ids, 3)],
      want: 3,
    });
    expect(prefetchedOf(answer.claimed)).toEqual([false, false, true]);
    // It takes one token, however often it is reported.
    const next = await worker.work({
      done: answer.claimed.slice(0, 2).map((task) => done(task)),
      started: [at(ids, 3)],
      want: 3,
    });
    expect(prefetchedOf(next.claimed)).toEqual([false, false]);
  });

  test("a claim that is reported as started and as done in one call takes no token", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, prefetchMax: 1 });
    await enqueue(store, name, 6);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(3);
    expect(prefetchedOf(claimed)).toEqual([false, false, true]);
    const answer = await worker.work({
      done: claimed.map((task) => done(task)),
      started: [at(claimed, 2).taskId],
      want: 2,
    });
    expect(prefetchedOf(answer.claimed)).toEqual([false, false]);
  });
}

const leaseMs = 10_000;

/** A task that was lost twice, ready again. */
async function poisonOf(opened: TestStore, name: string) {
  const taskId = await enqueueOne(opened.store, name);
  for (let round = 0; round < 2; round += 1) {
    const worker = await startWorker(opened.store, name);
    await worker.claimOne();
    await opened.advance(leaseMs + 1);
    await opened.store.reclaimExpired({ max: 10 });
  }
  return taskId;
}

function describeSolo(setup: StoreSetup): void {
  const open = useStore(setup);
  const settings = { limit: 10, leaseMs, lostMax: 9, prefetchMax: 1 };

  test("a held task that was lost twice runs alone also when nothing else was ready when it was claimed", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await poisonOf(opened, name);
    const worker = await startWorker(store, name, { want: 3 });
    expect(idsOf(await worker.claim(3))).toEqual([poison]);
    await enqueue(store, name, 2);
    expect(await worker.claim(3)).toEqual([]);
    expect((await statusOf(store, name)).ready).toBe(2);
  });

  test("a held task that was lost twice runs alone while calls of its execution name tasks that aren't its own", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await poisonOf(opened, name);
    const worker = await startWorker(store, name, { want: 3 });
    const task = await worker.claimOne();
    expect(task.taskId).toBe(poison);
    await enqueue(store, name, 2);
    const wrong = { ...done(task), taskId: unknown };
    expect((await worker.work({ done: [wrong], want: 3 })).claimed).toEqual([]);
    expect(await worker.claim(3)).toEqual([]);
    await worker.fail([{ ...task, taskId: unknown }]);
    expect(await worker.claim(3)).toEqual([]);
    await store.completeTask({ executionId: worker.executionId, ...wrong });
    expect(await worker.claim(3)).toEqual([]);
  });

  test("a task that was lost twice isn't claimed beside others that are held, and stays first for the next", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await poisonOf(opened, name);
    const urgent = await enqueueOne(store, name, { priority: 1 });
    const worker = await startWorker(store, name, { want: 3 });
    expect(idsOf(await worker.claim(1))).toEqual([urgent]);
    const later = await enqueueOne(store, name);
    expect(await worker.work({ want: 3 })).toMatchObject({ status: "none", claimed: [] });
    const second = await startWorker(store, name, { want: 3 });
    expect(idsOf(await second.claim(3))).toEqual([poison]);
    expect(await second.claim(3)).toEqual([]);
    expect(await stateOf(store, later)).toBe("ready");
  });

  test("a held task that was lost twice comes back alone when its execution ends", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await poisonOf(opened, name);
    const first = await startWorker(store, name, { want: 3 });
    await first.claim(3);
    await first.finish();
    await enqueue(store, name, 2);
    const second = await startWorker(store, name, { want: 3 });
    expect(idsOf(await second.claim(3))).toEqual([poison]);
    expect(await second.claim(3)).toEqual([]);
  });

  test("two of them run alone, one in each execution; the end of one frees its own only", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poisons = await enqueue(store, name, 2);
    for (let round = 0; round < 2; round += 1) {
      for (const worker of [await startWorker(store, name), await startWorker(store, name)]) {
        await worker.claimOne();
      }
      await opened.advance(leaseMs + 1);
      await store.reclaimExpired({ max: 10 });
    }
    const first = await startWorker(store, name, { want: 3 });
    const second = await startWorker(store, name, { want: 3 });
    const held = [only(await first.claim(3)), only(await second.claim(3))];
    expect(idsOf(held).sort()).toEqual([...poisons].sort());
    const others = await enqueue(store, name, 2);
    await store.completeTask({ executionId: first.executionId, ...done(at(held, 0)) });
    expect(await second.claim(3)).toEqual([]);
    expect(idsOf(await first.claim(3))).toEqual(others);
  });
}
