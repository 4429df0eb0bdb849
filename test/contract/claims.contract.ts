import { describe, expect, test } from "@jest/globals";
import { asExecutionId, asTaskId } from "../../shared/core/ids";
import type { TaskId } from "../../shared/core/ids";
import type { ClaimedTask } from "../../shared/ports/task-store";
import { seededRandom } from "../../shared/testing/seeded-random";
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
  statusOf,
  testSeed,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** The hot path's second half: which tasks a `work` call hands out. */
export function describeClaims(setup: StoreSetup): void {
  describe("work claims in order", () => {
    describeOrder(setup);
  });
  describe("work tells of a claimed task", () => {
    describeContent(setup);
  });
  describe("work claims no more than the tokens and their prefetched claims allow", () => {
    describeSpare(setup);
  });
  describe("work by call number", () => {
    describeCallNumbers(setup);
  });
  describe("work answers", () => {
    describeStatuses(setup);
  });
  describe("a task that was lost twice", () => {
    describeSolo(setup);
  });
}

function describeOrder(setup: StoreSetup): void {
  const open = useStore(setup);

  test("work without groups claims tasks 1 to 6, then 7 to 12, with N = 6 (S1.1, S1.5)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 12 });
    const ids = await enqueue(store, name, 12);
    const worker = await startWorker(store, name, { want: 12 });
    expect(idsOf(await worker.claim(6))).toEqual(ids.slice(0, 6));
    expect(idsOf(await worker.claim(6))).toEqual(ids.slice(6));
    expect(await worker.claim(6)).toEqual([]);
  });

  test("the claimed number differs per agent and per call: 0, 1 and the rest; a claim is smaller only when fewer tasks are there (S1.1)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 20 });
    const ids = await enqueue(store, name, 5);
    const first = await startWorker(store, name, { want: 10 });
    const second = await startWorker(store, name, { want: 10 });
    expect(await first.claim(0)).toEqual([]);
    expect(idsOf(await first.claim(1))).toEqual(ids.slice(0, 1));
    expect(idsOf(await second.claim(2))).toEqual(ids.slice(1, 3));
    expect(idsOf(await first.claim(10))).toEqual(ids.slice(3));
  });

  test("work with N = 1000 claims 1000 tasks in one call (S1.1)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1_000, prefetchMax: 0 });
    const ids = await enqueue(store, name, 1_001);
    const worker = await startWorker(store, name, { want: 1_000 });
    expect(idsOf(await worker.claim(1_000))).toEqual(ids.slice(0, 1_000));
    expect((await statusOf(store, name)).ready).toBe(1);
  });

  test("work claims by priority, then by id, in any order of the enqueues (S1.2, S2.3)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 100 });
    const seed = testSeed();
    const random = seededRandom(seed);
    const priorities = Array.from({ length: 40 }, () => Math.floor(random() * 5) - 2);
    const entries: { id: TaskId; priority: number }[] = [];
    for (const priority of priorities) {
      entries.push({ id: await enqueueOne(store, name, { priority }), priority });
    }
    const expected = entries
      .sort((a, b) => a.priority - b.priority || Number(BigInt(a.id) - BigInt(b.id)))
      .map((entry) => entry.id);
    const worker = await startWorker(store, name, { want: 100 });
    const claimed: TaskId[] = [];
    while (claimed.length < 40) {
      const batch = idsOf(await worker.claim(1 + Math.floor(random() * 7)));
      if (batch.length === 0) break;
      claimed.push(...batch);
    }
    expect({ seed, claimed }).toEqual({ seed, claimed: expected });
  });

  test("the lowest and the highest priority are in order; the default is 100", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const plain = await enqueueOne(store, name);
    const last = await enqueueOne(store, name, { priority: 32_767 });
    const first = await enqueueOne(store, name, { priority: -32_768 });
    const hundred = await enqueueOne(store, name, { priority: 100 });
    const worker = await startWorker(store, name, { want: 4 });
    expect(idsOf(await worker.claim(4))).toEqual([first, plain, hundred, last]);
  });

  test("one definition's tasks are never claimed for another", async () => {
    const { store } = open();
    const mine = await define(store);
    const other = await define(store);
    await enqueue(store, other, 3);
    const id = await enqueueOne(store, mine);
    const worker = await startWorker(store, mine, { want: 4 });
    expect(idsOf(await worker.claim(4))).toEqual([id]);
    expect((await statusOf(store, other)).ready).toBe(3);
  });

  test("the scan hint passes over older places; without it they come first", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const [first, second, third] = await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 10 });
    const answer = await worker.work({ want: 1 });
    expect(idsOf(answer.claimed)).toEqual([first]);
    expect(answer.last).toMatchObject({ priority: 100, taskId: first });
    const urgent = await enqueueOne(store, name, { priority: 1 });
    if (answer.last === null) throw new Error("no place");
    const hinted = await worker.work({ want: 1, after: answer.last });
    expect(idsOf(hinted.claimed)).toEqual([second]);
    expect(idsOf(await worker.claim(2))).toEqual([urgent, third]);
  });

  test("work from a place on claims the rest of its priority, then the later ones, and only so many", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const [first, second, third] = await enqueue(store, name, 3);
    const last = await enqueueOne(store, name, { priority: 102 });
    const later = await enqueue(store, name, [{ priority: 101 }, { priority: 101 }]);
    const before = await enqueueOne(store, name, { priority: 99 });
    const worker = await startWorker(store, name, { want: 10 });
    if (first === undefined) throw new Error("nothing enqueued");
    const place = { priority: 100, rank: "0", taskId: first };
    const one = await worker.work({ want: 4, after: place });
    expect(idsOf(one.claimed)).toEqual([first, second, third, later[0]]);
    if (one.last === null) throw new Error("no place");
    const two = await worker.work({ want: 4, after: one.last });
    expect(idsOf(two.claimed)).toEqual([later[1], last]);
    expect(two.last).toEqual({ priority: 102, rank: "0", taskId: last });
    expect(idsOf(await worker.claim(4))).toEqual([before]);
  });

  testWith(setup, "raw sql")(
    "ranks stand between priority and id, also behind a place",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      const ids = await enqueue(store, name, 6);
      for (const [index, rank] of [2, 0, 1, 1, 2, 0].entries()) {
        const id = at(ids, index);
        const [task, ready] =
          setup.dialect === "mssql"
            ? ["Taskgate.Task", "Taskgate.Ready"]
            : ["taskgate.task", "taskgate.ready"];
        const column = setup.dialect === "mssql" ? "TaskId" : "task_id";
        await opened.raw(`UPDATE ${task} SET Rank = ${String(rank)} WHERE ${column} = ${id}`);
        await opened.raw(`UPDATE ${ready} SET Rank = ${String(rank)} WHERE ${column} = ${id}`);
      }
      const later = await enqueueOne(store, name, { priority: 101 });
      const byRank = [1, 5, 2, 3, 0, 4].map((index) => at(ids, index));
      const worker = await startWorker(store, name, { want: 10 });
      const first = await worker.work({ want: 2 });
      expect(idsOf(first.claimed)).toEqual(byRank.slice(0, 2));
      const place = { priority: 100, rank: "1", taskId: at(ids, 3) };
      const hinted = await worker.work({ want: 2, after: place });
      expect(idsOf(hinted.claimed)).toEqual([at(ids, 3), at(ids, 0)]);
      const rest = await worker.work({ want: 9, after: place });
      expect(idsOf(rest.claimed)).toEqual([at(ids, 4), later]);
      expect(idsOf(await worker.claim(9))).toEqual([at(ids, 2)]);
    },
  );

  test("a retried task with an old id is claimed first", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const old = await enqueueOne(store, name);
    const worker = await startWorker(store, name, { want: 10 });
    const task = await worker.claimOne();
    const fresh = await enqueue(store, name, 2);
    await worker.fail([task], { retryInMs: 0 });
    expect(idsOf(await worker.claim(3))).toEqual([old, ...fresh]);
  });
}

function describeContent(setup: StoreSetup): void {
  const open = useStore(setup);

  test("work tells a claimed task's kind, payload, attempt and fence; all of one call carry one fence, which grows", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    await enqueue(store, name, [{ payload: '{"n":1}' }, { kind: "resize", payload: "[1,2]" }, {}]);
    const worker = await startWorker(store, name, { want: 4 });
    const [first, second] = await worker.claim(2);
    const [third] = await worker.claim(1);
    expect(first).toMatchObject({ kind: name, payload: { n: 1 }, attempt: 1, checkpoint: null });
    expect(second).toMatchObject({ kind: "resize", payload: [1, 2], fence: first?.fence });
    expect(third).toMatchObject({ payload: null, traceParent: null, isGrouped: false });
    expect(BigInt(third?.fence ?? "0")).toBeGreaterThan(BigInt(first?.fence ?? "0"));
    expect(first).toMatchObject({
      isCancelRequested: false,
      isFromNewerBuild: false,
      isPrefetched: false,
    });
  });

  const payloads = [
    "{}",
    "[]",
    '{"quotes":"\\"\\\\/","lines":"a\\nb\\tc"}',
    '{"emoji":"\\ud83d\\ude80 \u{1f680}","accents":"\u00e4\u00f6\u00fc\u00df","cjk":"\u6f22\u5b57"}',
    '[null,true,false,0,-1.5,1e10,"",{"a":[]}]',
    '{"zero":"\\u0000","lone":"\\ud800"}',
    '{ "spaces" : [ 1 , 2 ] }',
  ];
  test("payloads come back equal: empty ones, escapes, emoji, U+0000 and lone surrogates as escapes", async () => {
    const { store } = open();
    const name = await define(store, { limit: 100 });
    const ids = await enqueue(
      store,
      name,
      payloads.map((payload) => ({ payload })),
    );
    const worker = await startWorker(store, name, { want: 100 });
    const claimed = await worker.claim(100);
    expect(claimed.map((task) => task.payload)).toEqual(
      payloads.map((text) => JSON.parse(text) as unknown),
    );
    for (const [index, taskId] of ids.entries()) {
      expect((await factsOf(store, taskId)).payload).toBe(payloads[index]);
    }
  });

  test("the W3C traceparent of the enqueue, and whether the task is grouped", async () => {
    const { store } = open();
    const name = await define(store);
    const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await enqueue(store, name, [{ traceParent, group: "g" }, { payload: "{}" }]);
    const worker = await startWorker(store, name, { want: 2 });
    const [traced, plain] = await worker.claim(2);
    expect(traced).toMatchObject({ traceParent, isGrouped: true });
    expect(plain).toMatchObject({ traceParent: null, isGrouped: false });
  });

  test("work tells whether newer code than this execution's enqueued a claimed task", async () => {
    const { store } = open();
    const name = await define(store, { limit: 10 });
    const tasks = [{ payload: null }];
    for (const build of [3, 4, 5]) {
      await store.enqueueTasks({ name, build, tasks, operationId: null });
    }
    const worker = await startWorker(store, name, { want: 3, build: 4, settingsHash: null });
    const newer = (await worker.claim(3)).map((task) => task.isFromNewerBuild);
    expect(newer).toEqual([false, false, true]);
  });

  testWith(setup, "cancel requests")(
    "work tells that a claimed task's cancel was requested before",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const taskId = await enqueueOne(store, name);
      const worker = await startWorker(store, name);
      const task = await worker.claimOne();
      await worker.fail([task], { retryInMs: 0 });
      await opened.requestCancel(taskId);
      const [again] = await worker.claim(1);
      if (again !== undefined) expect(again.isCancelRequested).toBe(true);
      else expect((await factsOf(store, taskId)).state).toBe("cancelled");
    },
  );

  test("failures and losses count as attempts", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    await enqueue(store, name, 1);
    const first = await startWorker(store, name);
    await first.fail([await first.claimOne()], { retryInMs: 0 });
    expect((await first.claimOne()).attempt).toBe(2);
    await opened.advance(10_001);
    await store.reclaimExpired({ max: 10 });
    const second = await startWorker(store, name);
    expect((await second.claimOne()).attempt).toBe(3);
  });
}

function describeSpare(setup: StoreSetup): void {
  const open = useStore(setup);
  const prefetchedOf = (tasks: ClaimedTask[]) => tasks.map((task) => task.isPrefetched);

  for (const { tokens, prefetchMax } of [
    { tokens: 1, prefetchMax: 0 },
    { tokens: 3, prefetchMax: 0 },
    { tokens: 2, prefetchMax: 1 },
    { tokens: 2, prefetchMax: 3 },
  ]) {
    test(`${String(tokens)} tokens with prefetchMax ${String(prefetchMax)} hold the bound, and the first ${String(tokens)} claims count as started`, async () => {
      const { store } = open();
      const name = await define(store, { limit: 10, prefetchMax });
      const max = tokens * (1 + prefetchMax);
      await enqueue(store, name, max + 5);
      const worker = await startWorker(store, name, { want: tokens });
      const claimed = await worker.claim(1_000);
      expect(prefetchedOf(claimed)).toEqual(
        Array.from({ length: max }, (_, index) => index >= tokens),
      );
      expect(await worker.work({ want: 1 })).toMatchObject({ status: "limited", claimed: [] });
      const next = await worker.complete(claimed.slice(0, 1), 5);
      expect(next.claimed).toHaveLength(1);
      const entry = only((await store.listExecutions({ name, isOpen: true, max: 5 })).executions);
      expect(entry).toMatchObject({ tokens, claimed: max });
    });
  }

  test("a prefetched claim that is reported started makes the next claim prefetched", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, prefetchMax: 1 });
    await enqueue(store, name, 10);
    const worker = await startWorker(store, name, { want: 2 });
    const [one, two, three, four] = await worker.claim(4);
    if (!one || !two || !three || !four) throw new Error("four tasks expected");
    const answer = await worker.work({ done: [done(one)], started: [three.taskId], want: 1 });
    expect(prefetchedOf(answer.claimed)).toEqual([true]);
    const entry = only((await store.listExecutions({ name, isOpen: true, max: 5 })).executions);
    expect(entry).toMatchObject({ claimed: 4, running: 2, prefetched: 2 });
  });

  test("without the report, the place of a completed task is taken by the next claim", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, prefetchMax: 1 });
    await enqueue(store, name, 10);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(4);
    const answer = await worker.complete(claimed.slice(0, 2), 2);
    expect(prefetchedOf(answer.claimed)).toEqual([false, false]);
  });

  test("a heartbeat reports started claims as well", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, prefetchMax: 2 });
    const ids = await enqueue(store, name, 3);
    const worker = await startWorker(store, name);
    await worker.claim(3);
    await worker.beat([at(ids, 1)]);
    const entry = only((await store.listExecutions({ name, isOpen: true, max: 5 })).executions);
    expect(entry).toMatchObject({ claimed: 3, running: 1, prefetched: 2 });
    expect((await factsOf(store, at(ids, 1))).claim?.isPrefetched).toBe(false);
    expect((await factsOf(store, at(ids, 2))).claim?.isPrefetched).toBe(true);
  });

  test("more tokens allow more claims, fewer allow fewer", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3, prefetchMax: 0 });
    await enqueue(store, name, 10);
    const worker = await startWorker(store, name, { want: 1 });
    const { executionId } = worker;
    const first = await worker.claim(10);
    expect(first).toHaveLength(1);
    await store.acquireTokens({ executionId, want: 3 });
    const more = await worker.claim(10);
    expect(more).toHaveLength(2);
    await worker.complete([...first, ...more]);
    await store.releaseTokens({ executionId, keep: 2 });
    expect(await worker.claim(10)).toHaveLength(2);
  });
}

function describeCallNumbers(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a repeat gives the first answer: the same claims, nothing more", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3, prefetchMax: 1 });
    await enqueue(store, name, [{ payload: '{"n":1}', group: "g" }, {}, {}, {}, {}, {}, {}, {}]);
    const worker = await startWorker(store, name, { want: 3 });
    const first = await worker.work({ want: 5 });
    expect(first.status).toBe("claimed");
    const second = await worker.again({ want: 5 });
    expect(second).toMatchObject({ status: "again", refused: [], leaseMs: first.leaseMs });
    expect(second.claimed).toEqual(first.claimed);
    expect((await statusOf(store, name)).claimed).toBe(5);
  });

  test("a repeat tells the last place, too", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const first = await worker.work({ want: 2 });
    expect((await worker.again({ want: 2 })).last).toEqual(first.last);
  });

  test("a repeat completes nothing twice and tells the same refused ones", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 4 });
    const claimed = await worker.claim(3);
    const stranger = { ...done(at(claimed, 0)), taskId: asTaskId("999999999") };
    const call = { done: [done(at(claimed, 0)), stranger, done(at(claimed, 2))], want: 2 };
    const first = await worker.work(call);
    expect(first).toMatchObject({ status: "claimed", refused: [stranger.taskId] });
    const second = await worker.again(call);
    expect(second).toMatchObject({ status: "again", refused: [stranger.taskId] });
    expect(second.claimed).toEqual(first.claimed);
    expect(await statusOf(store, name)).toMatchObject({ done: 2, claimed: 2 });
  });

  test("a repeat of a call that only completed claims nothing", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    const claimed = await worker.claim(1);
    expect((await worker.complete(claimed)).status).toBe("done");
    expect(await worker.again({ want: 1 })).toMatchObject({ status: "again", claimed: [] });
    expect((await statusOf(store, name)).ready).toBe(1);
  });

  test("a number older than the last is refused, naming it, and changes nothing", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 3 });
    const [task] = await worker.claim(1);
    await worker.claim(1);
    if (task === undefined) throw new Error("nothing claimed");
    const { executionId } = worker;
    const older = { executionId, callNumber: 1, done: [done(task)], started: [], want: 1 };
    await expectError(store.work(older), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "callNumber",
      value: 1,
    });
    expect(await statusOf(store, name)).toMatchObject({ done: 0, claimed: 2, ready: 1 });
  });

  test("the call numbers begin with 1: 0 is refused and its completions aren't dropped in silence", async () => {
    const { store } = open();
    const name = await define(store);
    const worker = await startWorker(store, name);
    const { executionId } = worker;
    await expectError(store.work({ executionId, callNumber: 0, done: [], started: [], want: 0 }), {
      code: "TASKGATE_ARG_INVALID",
      field: "callNumber",
      value: 0,
    });
  });

  test("the call numbers may be left out", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 2);
    const { executionId } = await startWorker(store, name, { want: 2 });
    const call = { executionId, done: [], started: [], want: 1 };
    expect((await store.work({ ...call, callNumber: 1 })).claimed).toHaveLength(1);
    expect((await store.work({ ...call, callNumber: 7 })).claimed).toHaveLength(1);
  });
}

function describeStatuses(setup: StoreSetup): void {
  const open = useStore(setup);

  test('work answers "none" where nothing is ready, with when the next task is due', async () => {
    const { store } = open();
    const name = await define(store, { leaseMs: 30_000 });
    const worker = await startWorker(store, name);
    expect(await worker.work({ want: 1 })).toEqual({
      opening: [],
      status: "none",
      claimed: [],
      last: null,
      refused: [],
      leaseMs: null,
      overLimit: 0,
      releaseRequested: false,
      freeTokens: 0,
      nextDueMs: null,
      retryInMs: null,
      woken: [],
    });
    await enqueue(store, name, [{ runInMs: 9_000 }]);
    const answer = await worker.work({ want: 1 });
    expect(answer.nextDueMs).toBeGreaterThan(8_000);
    expect(answer.nextDueMs).toBeLessThanOrEqual(9_000);
  });

  testWith(setup, "write detection")(
    "an empty call that finds nothing writes nothing",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await enqueue(store, name, [{ runInMs: 9_000 }]);
      const worker = await startWorker(store, name);
      const before = await opened.readVersions();
      for (let call = 0; call < 3; call += 1) expect(await worker.claim(5)).toEqual([]);
      await store.pauseDefinition({ name, changedBy: "an operator" });
      const paused = await opened.readVersions();
      expect((await worker.work({ want: 1 })).status).toBe("paused");
      expect(await opened.readVersions()).toBe(paused);
      await store.resumeDefinition({ name, changedBy: "an operator" });
      expect(paused).not.toBe(before);
    },
  );

  testWith(setup, "write detection")("a start on a full limit writes nothing", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1 });
    await startWorker(store, name);
    const before = await opened.readVersions();
    for (let ask = 0; ask < 20; ask += 1) {
      await expect(startWorker(store, name)).rejects.toThrow("limited");
    }
    expect(await opened.readVersions()).toBe(before);
  });

  test("an empty call isn't counted: its number may be used again for a real one", async () => {
    const { store } = open();
    const name = await define(store);
    const worker = await startWorker(store, name);
    expect((await worker.work({ want: 1 })).status).toBe("none");
    const taskId = await enqueueOne(store, name);
    const answer = await worker.again({ want: 1 });
    if (answer.status === "again") expect(answer.claimed).toEqual([]);
    else expect(idsOf(answer.claimed)).toEqual([taskId]);
    expect(idsOf([...answer.claimed, ...(await worker.claim(1))])).toEqual([taskId]);
  });

  test("the answer's nextDueMs comes with every claim that got fewer than it wanted", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, [{}, {}, { runInMs: 9_000 }]);
    const worker = await startWorker(store, name, { want: 4 });
    expect((await worker.work({ want: 1 })).nextDueMs).toBeNull();
    expect((await worker.work({ want: 3 })).nextDueMs).toBeLessThanOrEqual(9_000);
  });

  test('work answers "done" where nothing was wanted', async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    const claimed = await worker.claim(1);
    expect(await worker.complete(claimed)).toMatchObject({ status: "done", refused: [] });
  });

  test("work without a token answers that it is limited", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const worker = await startWorker(store, name);
    await store.releaseTokens({ executionId: worker.executionId, keep: 0 });
    expect(await worker.work({ want: 1 })).toMatchObject({ status: "limited", claimed: [] });
    expect((await statusOf(store, name)).ready).toBe(1);
  });

  test("work of a paused definition takes completions and claims nothing", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const ids = await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 4 });
    const claimed = await worker.claim(2);
    await store.pauseDefinition({ name, changedBy: "an operator" });
    expect(await worker.complete(claimed, 5)).toMatchObject({ status: "paused", claimed: [] });
    expect(await statusOf(store, name)).toMatchObject({ done: 2, ready: 1, claimed: 0 });
    expect(await worker.work({ want: 1 })).toMatchObject({ status: "paused", claimed: [] });
    await store.resumeDefinition({ name, changedBy: "an operator" });
    expect(idsOf(await worker.claim(5))).toEqual(ids.slice(2));
  });

  test("work of an execution that isn't there or has finished answers so: fenced and ended", async () => {
    const { store } = open();
    const name = await define(store);
    await enqueue(store, name, 1);
    const executionId = asExecutionId("999999999");
    const call = { callNumber: 1, done: [], started: [], want: 1 };
    expect(await store.work({ ...call, executionId })).toMatchObject({
      status: "fenced",
      claimed: [],
    });
    const worker = await startWorker(store, name);
    await worker.finish();
    expect(await worker.work({ want: 1 })).toMatchObject({ status: "ended", claimed: [] });
    expect((await statusOf(store, name)).ready).toBe(1);
  });

  test("work tells the tokens held by all above the limit", async () => {
    const { store } = open();
    const name = await define(store, { limit: 6 });
    await enqueue(store, name, 3);
    const worker = await startWorker(store, name, { want: 2 });
    await startWorker(store, name, { want: 4 });
    expect((await worker.work({ want: 1 })).overLimit).toBe(0);
    await setLimit(store, name, 1);
    expect((await worker.work({ want: 1 })).overLimit).toBe(5);
    await setLimit(store, name, null);
    expect((await worker.work({ want: 1 })).overLimit).toBe(0);
  });

  test("work renews the lease", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    await enqueue(store, name, 5);
    const worker = await startWorker(store, name);
    for (let round = 0; round < 4; round += 1) {
      await opened.advance(8_000);
      const answer = await worker.work({ done: [], want: 1 });
      expect(answer.leaseMs).toBe(10_000);
    }
    expect((await store.sweep({ max: 10 })).expired).toBe(0);
  });

  test("the claimed number may be 0 to 1000: -1 and 1001 are refused, naming field and value", async () => {
    const { store } = open();
    const name = await define(store);
    const worker = await startWorker(store, name);
    for (const want of [-1, 1_001]) {
      await expectError(worker.work({ want }), {
        code: "TASKGATE_ARG_INVALID",
        field: "want",
        value: want,
      });
    }
    expect((await worker.work({ want: 1_000 })).status).toBe("none");
    expect((await worker.work({ want: 0 })).status).toBe("done");
  });
}

/** Lets the only ready task be lost `times` times. */
async function lose(opened: TestStore, name: string, times: number): Promise<void> {
  const { leaseMs } = await statusOf(opened.store, name);
  for (let round = 0; round < times; round += 1) {
    const worker = await startWorker(opened.store, name);
    await worker.claimOne();
    await opened.advance(leaseMs + 1);
    await opened.store.reclaimExpired({ max: 10 });
  }
}

function describeSolo(setup: StoreSetup): void {
  const open = useStore(setup);
  const settings = { limit: 10, leaseMs: 10_000, lostMax: 9, prefetchMax: 1 };

  test("a task that was lost twice is claimed alone, and nothing is claimed beside it until it ended", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await enqueueOne(store, name);
    await lose(opened, name, 2);
    const others = await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 3 });
    const claimed = await worker.claim(3);
    expect(idsOf(claimed)).toEqual([poison]);
    expect(claimed).toMatchObject([{ isSuspect: true }]);
    expect(await worker.work({ want: 3 })).toMatchObject({ claimed: [] });
    expect(idsOf((await worker.complete(claimed, 3)).claimed)).toEqual(others);
  });

  test("a task that was lost once is claimed together with others", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const task = await enqueueOne(store, name);
    await lose(opened, name, 1);
    const others = await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 3 });
    const claimed = await worker.claim(3);
    expect(idsOf(claimed)).toEqual([task, ...others]);
    for (const one of claimed) expect(one).toMatchObject({ isSuspect: false });
  });

  test("tasks before one that was lost twice are claimed without it, those after it wait for it", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await enqueueOne(store, name);
    await lose(opened, name, 2);
    const urgent = await enqueue(store, name, [{ priority: 1 }, { priority: 1 }]);
    const later = await enqueueOne(store, name);
    const worker = await startWorker(store, name, { want: 4 });
    const first = await worker.claim(4);
    expect(idsOf(first)).toEqual(urgent);
    expect(await worker.claim(4)).toEqual([]);
    const second = await worker.complete(first, 3);
    expect(idsOf(second.claimed)).toEqual([poison]);
    expect(idsOf((await worker.complete(second.claimed, 3)).claimed)).toEqual([later]);
  });

  test("the failure of a task that was lost twice lets the execution claim others again", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    await enqueueOne(store, name);
    await lose(opened, name, 2);
    const other = await enqueueOne(store, name);
    const worker = await startWorker(store, name, { want: 3 });
    await worker.fail(await worker.claim(1), { retryInMs: 60_000 });
    expect(idsOf(await worker.claim(3))).toEqual([other]);
  });

  test("the completion of a task that was lost twice by itself lets the execution claim others again", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    await enqueueOne(store, name);
    await lose(opened, name, 2);
    const other = await enqueueOne(store, name);
    const worker = await startWorker(store, name, { want: 3 });
    const { executionId } = worker;
    const task = only(await worker.claim(3));
    expect(await worker.claim(3)).toEqual([]);
    await store.completeTask({ executionId, ...done(task) });
    expect(idsOf(await worker.claim(3))).toEqual([other]);
  });

  testWith(setup, "raw sql")(
    "a marked task that was never lost is claimed together with others, and none is dropped",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, settings);
      const ids = await enqueue(store, name, 3);
      await opened.raw(
        setup.dialect === "mssql"
          ? `UPDATE Taskgate.Ready SET IsSolo = 1 WHERE TaskId = ${at(ids, 1)};`
          : `update taskgate.ready set is_solo = true where task_id = ${at(ids, 1)}`,
      );
      const worker = await startWorker(store, name, { want: 3 });
      expect(idsOf(await worker.claim(3))).toEqual(ids);
      expect(idsOf((await worker.work({ want: 3 })).claimed)).toEqual([]);
    },
  );

  test("another execution goes on with the others meanwhile", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await enqueueOne(store, name);
    await lose(opened, name, 2);
    const others = await enqueue(store, name, 2);
    const brave = await startWorker(store, name, { want: 3 });
    expect(idsOf(await brave.claim(3))).toEqual([poison]);
    const second = await startWorker(store, name, { want: 3 });
    expect(idsOf(await second.claim(3))).toEqual(others);
  });
}
