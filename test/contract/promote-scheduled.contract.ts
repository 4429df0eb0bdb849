import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import type { ClaimPlace, NewTask, TaskStore } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  factsOf,
  idsOf,
  startWorker,
  stateOf,
  statusOf,
} from "../support/builders";
import type { Worker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** What becomes of due tasks that come together: in which order, in which group, how many at a time. */
export function describePromoteScheduled(setup: StoreSetup): void {
  describe("promote_scheduled, several due tasks", () => {
    describeOrder(setup);
  });
  describe("promote_scheduled, due tasks of groups", () => {
    describeGroups(setup);
  });
  describe("promote_scheduled, groups that a transaction left to be made", () => {
    describePending(setup);
  });
  describe("a scheduled task that was lost twice", () => {
    describeSolo(setup);
  });
  describe("a promotion while another transaction has locked a group", () => {
    describeLocked(setup);
  });
  describe("keys that a transaction locks without a row of theirs", () => {
    describeKept(setup);
  });
  describe("a scheduled task", () => {
    describeDue(setup);
  });
  describe("promote_scheduled", () => {
    describePromote(setup);
  });
  describe("work and tasks that are due", () => {
    describeWork(setup);
  });
}

function describeWork(setup: StoreSetup): void {
  const open = useStore(setup);

  /** A worker that has claimed the first of two ready tasks; a third is due in a second. */
  async function claimOne(): Promise<{
    opened: TestStore;
    ids: TaskId[];
    worker: Worker;
    after: ClaimPlace;
  }> {
    const opened = open();
    const name = await define(opened.store, { limit: 10 });
    const ids = await enqueue(opened.store, name, [{}, {}, { runInMs: 1_000 }]);
    const worker = await startWorker(opened.store, name, { want: 10 });
    const { last } = await worker.work({ want: 1 });
    if (last === null) throw new Error("no place");
    return { opened, ids, worker, after: last };
  }

  test("work with the scan hint claims a task that became due within the last two seconds", async () => {
    const { opened, ids, worker, after } = await claimOne();
    await opened.advance(1_500);
    const answer = await worker.work({ want: 9, after });
    expect(idsOf(answer.claimed)).toEqual(ids.slice(1));
    expect(answer.nextDueMs).toBeNull();
  });

  test("work with the scan hint leaves a task that became due earlier to a call without it", async () => {
    const { opened, ids, worker, after } = await claimOne();
    await opened.advance(9_000);
    const hinted = await worker.work({ want: 9, after });
    expect(idsOf(hinted.claimed)).toEqual([ids[1]]);
    expect(hinted.nextDueMs).toBeNull();
    expect(await worker.work({ want: 9, after })).toMatchObject({
      status: "none",
      nextDueMs: null,
    });
    expect(idsOf(await worker.claim(9))).toEqual([ids[2]]);
  });

  testWith(setup, "exact clock")(
    "work with the scan hint looks two seconds back, to the millisecond",
    async () => {
      const early = await claimOne();
      await early.opened.advance(2_999);
      const { ids, worker, after } = early;
      expect(idsOf((await worker.work({ want: 9, after })).claimed)).toEqual(ids.slice(1));
      const late = await claimOne();
      await late.opened.advance(3_000);
      const answer = await late.worker.work({ want: 9, after: late.after });
      expect(idsOf(answer.claimed)).toEqual([late.ids[1]]);
    },
  );

  test("work that may claim nothing tells of no scheduled task: nothing is wanted, there is no room, or the definition is paused", async () => {
    const { store } = open();
    const name = await define(store, { limit: 1, prefetchMax: 1 });
    await enqueue(store, name, [{}, {}, {}, { runInMs: 60_000 }]);
    const worker = await startWorker(store, name);
    const [first, second] = await worker.claim(2);
    if (first === undefined || second === undefined) throw new Error("nothing was claimed");
    const started = [second.taskId];
    const limited = await worker.work({ want: 1, started });
    expect(limited).toMatchObject({ status: "limited", nextDueMs: null });
    expect(await worker.complete([first])).toMatchObject({ status: "done", nextDueMs: null });
    await store.pauseDefinition({ name, changedBy: "an operator" });
    const paused = await worker.complete([second], 1);
    expect(paused).toMatchObject({ status: "paused", nextDueMs: null });
  });

  test("work that makes some of many due tasks ready tells that others are due, also when it claims all that it wants", async () => {
    const opened = open();
    const name = await define(opened.store, { limit: 10 });
    await enqueue(
      opened.store,
      name,
      Array.from({ length: 257 }, () => ({ runInMs: 1_000 })),
    );
    const worker = await startWorker(opened.store, name, { want: 10 });
    await opened.advance(9_000);
    expect(await worker.work({ want: 1 })).toMatchObject({ status: "claimed", nextDueMs: 0 });
    expect(await worker.work({ want: 1 })).toMatchObject({ status: "claimed", nextDueMs: null });
  });
}

async function statesOf(store: TaskStore, ids: readonly TaskId[]): Promise<string[]> {
  const states: string[] = [];
  for (const id of ids) states.push(await stateOf(store, id));
  return states;
}

/** Enqueues in a transaction of its own: grouped tasks are due now. */
async function enqueueJoined(
  store: TaskStore,
  name: string,
  tasks: readonly Partial<NewTask>[],
): Promise<TaskId[]> {
  const input = {
    name,
    build: 1,
    operationId: null,
    tasks: tasks.map((task) => ({ payload: null, ...task })),
  };
  const answer = await store.transaction((transaction) => store.enqueueTasks(input, transaction));
  return answer.taskIds;
}

function describeOrder(setup: StoreSetup): void {
  const open = useStore(setup);

  test("promote_scheduled takes the earliest instant first, in any order of the enqueues; of one instant the lowest id", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const late = await enqueueOne(store, name, { runInMs: 9_000 });
    const [early, twin] = await enqueue(store, name, [{ runInMs: 3_000 }, { runInMs: 3_000 }]);
    const middle = await enqueueOne(store, name, { runInMs: 6_000 });
    await opened.advance(9_000);
    const order = [early, twin, middle, late].flatMap((id) => id ?? []);
    for (const [index, id] of order.entries()) {
      expect(await statesOf(store, order.slice(index))).not.toContain("ready");
      expect((await store.promoteScheduled({ name, max: 1 })).promoted).toBe(1);
      expect(await stateOf(store, id)).toBe("ready");
    }
  });

  test("the due tasks of others stay theirs", async () => {
    const opened = open();
    const { store } = opened;
    const mine = await define(store);
    const other = await define(store);
    await enqueue(store, mine, [{ runInMs: 1_000 }]);
    await enqueue(store, other, [{ runInMs: 1_000 }]);
    await opened.advance(1_000);
    expect(await store.promoteScheduled({ name: mine, max: 10 })).toMatchObject({ promoted: 1 });
    expect(await statusOf(store, other)).toMatchObject({ ready: 0, scheduled: 1 });
  });
}

function describeGroups(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the group's slots go by priority, then by id", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { groupSlots: 2 });
    const ids = await enqueue(store, name, [
      { group: "g", runInMs: 1_000 },
      { group: "g", runInMs: 1_000 },
      { group: "g", runInMs: 1_000, priority: 1 },
    ]);
    await opened.advance(1_000);
    await store.promoteScheduled({ name, max: 10 });
    expect(await statesOf(store, ids)).toEqual(["ready", "waiting", "ready"]);
    expect((await factsOf(store, at(ids, 0))).group?.holders).toEqual([at(ids, 2), at(ids, 0)]);
  });

  for (const order of [
    ["a", "b"],
    ["b", "a"],
  ]) {
    test(`a slot that is taken is passed over, in one group and not in the other (${order.join(", ")})`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { groupSlots: 2 });
      const entries = [...order, ...order].map((group) => ({ group, runInMs: 1_000 }));
      const first = await enqueueOne(store, name, { group: "a" });
      const ids = await enqueue(store, name, entries);
      await opened.advance(1_000);
      await store.promoteScheduled({ name, max: 10 });
      const expected = ["ready", ...order.map(() => "ready")];
      expect(await statesOf(store, [first, ...ids.slice(0, 2)])).toEqual(expected);
      const waiting = order.map((group) => (group === "a" ? "waiting" : "ready"));
      expect(await statesOf(store, ids.slice(2))).toEqual(waiting);
    });
  }

  test("each group has its own number of slots", async () => {
    const opened = open();
    const { store } = opened;
    const wide = await define(store, { groupSlots: 3 });
    const narrow = await define(store);
    const partner = { group: "partner", groupScope: "global", runInMs: 1_000 } as const;
    await enqueue(store, wide, [{ ...partner, runInMs: 500 }]);
    await opened.advance(500);
    await store.promoteScheduled({ name: wide, max: 10 });
    const own = { group: "own", runInMs: 1_000 };
    const ids = await enqueue(store, narrow, [partner, own, partner, own, partner, {}]);
    await opened.advance(1_000);
    await store.promoteScheduled({ name: narrow, max: 10 });
    expect(await statesOf(store, ids)).toEqual([
      "ready",
      "ready",
      "ready",
      "waiting",
      "waiting",
      "ready",
    ]);
  });
}

function describePending(setup: StoreSetup): void {
  const open = useStore(setup);

  test("each key and each scope is a group of its own, beside tasks without one", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const plain = await enqueueOne(store, name, { runInMs: 1_000 });
    const keys = ["a", "b"];
    const ids = await enqueueJoined(store, name, [
      ...keys.map((group) => ({ group })),
      ...keys.map((group) => ({ group, groupScope: "global" as const })),
      ...keys.map((group) => ({ group })),
    ]);
    await opened.advance(1_000);
    expect(await store.promoteScheduled({ name, max: 10 })).toMatchObject({ promoted: 7 });
    expect(await stateOf(store, plain)).toBe("ready");
    expect(await statesOf(store, ids)).toEqual([
      ...Array.from({ length: 4 }, () => "ready"),
      "waiting",
      "waiting",
    ]);
    const facts = await factsOf(store, at(ids, 2));
    expect(facts.group).toMatchObject({ key: "a", isGlobal: true, holders: [at(ids, 2)] });
  });

  test("promote_scheduled makes 1,001 groups and more tasks in one call, and the rest stays due", async () => {
    const { store } = open();
    const name = await define(store);
    const groups = Array.from({ length: 1_001 }, (_, index) => ({ group: `g${String(index)}` }));
    const ids = await enqueueJoined(store, name, [...groups, { group: "g0" }, { group: "g0" }]);
    let promoted = 0;
    for (let call = 0; call < 2 && promoted < 1_003; call += 1) {
      promoted += (await store.promoteScheduled({ name, max: 10_000 })).promoted;
      expect((await store.checkInvariants()).findings).toEqual([]);
    }
    expect(promoted).toBe(1_003);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1_001, waiting: 2, scheduled: 0 });
    for (const index of [0, 999, 1_000]) {
      const { group } = await factsOf(store, at(ids, index));
      expect(group).toMatchObject({ key: `g${String(index)}`, holders: [at(ids, index)] });
    }
  });

  test("promote_scheduled takes 1,001 known groups in one call", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const keys = Array.from({ length: 1_001 }, (_, index) => `g${String(index)}`);
    await enqueue(
      store,
      name,
      keys.map((group) => ({ group })),
    );
    await enqueue(
      store,
      name,
      [...keys, "g0"].map((group) => ({ group, runInMs: 1_000 })),
    );
    await opened.advance(1_000);
    expect((await store.promoteScheduled({ name, max: 10_000 })).promoted).toBe(1_002);
    expect(await statusOf(store, name)).toMatchObject({
      ready: 1_001,
      waiting: 1_002,
      scheduled: 0,
    });
  });
}

const leaseMs = 10_000;

/** Lets the first ready task be lost twice. */
async function loseTwice(opened: TestStore, name: string): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const worker = await startWorker(opened.store, name);
    await worker.claimOne();
    await opened.advance(leaseMs + 1);
    await opened.store.reclaimExpired({ max: 10 });
  }
}

function describeSolo(setup: StoreSetup): void {
  const open = useStore(setup);
  const settings = { limit: 10, leaseMs, lostMax: 9, prefetchMax: 1 };

  test("a scheduled task that was lost twice is claimed alone when it is due again", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await enqueueOne(store, name);
    await loseTwice(opened, name);
    const others = await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 3 });
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    await opened.advance(1_000);
    await store.promoteScheduled({ name, max: 10 });
    expect(idsOf(await worker.claim(3))).toEqual([poison]);
    expect(await worker.claim(3)).toEqual([]);
    const other = await startWorker(store, name, { want: 3 });
    expect(idsOf(await other.claim(3))).toEqual(others);
  });

  test("a scheduled task that was lost twice is claimed alone when its group lets it in", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, settings);
    const poison = await enqueueOne(store, name, { group: "g" });
    await loseTwice(opened, name);
    const next = await enqueueOne(store, name, { group: "g" });
    const worker = await startWorker(store, name, { want: 3 });
    await worker.fail([await worker.claimOne()], { retryInMs: 1_000 });
    const others = await enqueue(store, name, 2);
    const held = await worker.claim(1);
    expect(idsOf(held)).toEqual([next]);
    await opened.advance(1_000);
    await store.promoteScheduled({ name, max: 10 });
    expect(await stateOf(store, poison)).toBe("waiting");
    await worker.complete(held);
    expect(idsOf(await worker.claim(3))).toEqual([poison]);
    expect(await worker.claim(3)).toEqual([]);
    const other = await startWorker(store, name, { want: 3 });
    expect(idsOf(await other.claim(3))).toEqual(others);
  });
}

/** A user's transaction keeps the lock of the group `new`, which isn't made yet. */
const keepNew = {
  postgres:
    "select pg_advisory_xact_lock(43, taskgate._group_latch(d.task_definition_id, 'new')) from taskgate.task_definition d",
  mssql: `DECLARE @r int, @n nvarchar(255) = (SELECT Taskgate._KeyLock(N'group', d.TaskDefinitionId, N'new') FROM Taskgate.TaskDefinition AS d);
    EXEC @r = sys.sp_getapplock @Resource = @n, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 0;`,
};
/** A row while a session waits for such a lock. */
const waiting = {
  postgres:
    "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'",
  mssql: "SELECT 1 AS one FROM sys.dm_tran_locks AS l WHERE l.request_status = N'WAIT';",
};

function describeKept(setup: StoreSetup): void {
  const open = useStore(setup);
  const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";

  testWith(
    setup,
    "raw sql",
    "row locks",
  )("a group that another call may be making is left for the next promotion", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const tasks = [{ group: "new" }, { group: "other" }, {}];
    const ids = await enqueue(
      store,
      name,
      tasks.map((task) => ({ ...task, runInMs: 1_000 })),
    );
    await opened.advance(1_001);
    const waits: unknown[] = [];
    const promoting = await opened.asOwner(async (transaction) => {
      await transaction.query(keepNew[dialect]);
      let isOver = false;
      const answer = store.promoteScheduled({ name, max: 10 }).finally(() => {
        isOver = true;
      });
      const hasEnded = (): boolean => isOver;
      while (!hasEnded() && waits.length === 0) waits.push(...(await opened.raw(waiting[dialect])));
      return [answer];
    });
    const [answer] = await Promise.all(promoting);
    expect(waits).toEqual([]);
    expect(answer).toMatchObject({ promoted: 2 });
    const states = () => Promise.all(ids.map((id) => stateOf(store, id)));
    expect(await states()).toEqual(["scheduled", "ready", "ready"]);
    expect((await store.promoteScheduled({ name, max: 10 })).promoted).toBe(1);
    expect(await states()).toEqual(["ready", "ready", "ready"]);
  });

  // PostgreSQL tells the table and the row by itself.
  if (setup.dialect !== "mssql") return;
  testWith(
    setup,
    "row locks",
    "sure calls",
  )("a call that waits for a key in vain is told for which one", async () => {
    const { store, plain } = open();
    const name = await define(store);
    const mine = [{ payload: null, dedupeKey: "order 7 is 100%" }];
    const input = { name, build: 1, operationId: null, tasks: mine };
    await store.transaction(async (transaction) => {
      await store.enqueueTasks(input, transaction);
      const call = plain.enqueueTasks(input);
      await expect(call).rejects.toThrow(/key: locked for longer than 2 s \(.*order 7 is 100%\)/);
    });
    expect((await plain.enqueueTasks(input)).outcomes).toEqual(["duplicate"]);
  });
}

function describeLocked(setup: StoreSetup): void {
  const open = useStore(setup);
  const lock =
    setup.dialect === "mssql"
      ? "UPDATE Taskgate.TaskGroup SET Slots = Slots WHERE GroupKey = N'g'"
      : "update taskgate.task_group set slots = slots where group_key = 'g'";

  testWith(
    setup,
    "raw sql",
    "row locks",
  )(
    "a promotion leaves a locked group's tasks scheduled, and moves the others; the next one moves them, too",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { groupSlots: 3 });
      // Both are there: these hold a slot each.
      await enqueue(store, name, [{ group: "g" }, { group: "h" }]);
      const ids = await enqueue(
        store,
        name,
        [{ group: "g" }, { group: "h" }, { group: "g" }, {}].map((task) => ({
          ...task,
          runInMs: 1_000,
        })),
      );
      await opened.advance(1_001);
      const promoted = await opened.asOwner(async (transaction) => {
        await transaction.query(lock);
        return (await store.promoteScheduled({ name, max: 10 })).promoted;
      });
      expect(promoted).toBe(2);
      const states = () => Promise.all(ids.map((id) => stateOf(store, id)));
      expect(await states()).toEqual(["scheduled", "ready", "scheduled", "ready"]);
      expect((await store.promoteScheduled({ name, max: 10 })).promoted).toBe(2);
      expect(await states()).toEqual(["ready", "ready", "ready", "ready"]);
    },
  );

  testWith(
    setup,
    "raw sql",
    "row locks",
  )(
    "a promotion leaves a locked strict group's retry scheduled as well, whose slot it keeps",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { groupStrict: true });
      const [strict, other] = await enqueue(store, name, [{ group: "g" }, { group: "h" }]);
      const worker = await startWorker(store, name, { want: 2 });
      await worker.fail(await worker.claim(2), { retryInMs: 1_000 });
      await opened.advance(1_001);
      const promoted = await opened.asOwner(async (transaction) => {
        await transaction.query(lock);
        return (await store.promoteScheduled({ name, max: 10 })).promoted;
      });
      expect(promoted).toBe(1);
      const ids = [strict, other].flatMap((id) => id ?? []);
      expect(await stateOf(store, at(ids, 0))).toBe("scheduled");
      expect(await statusOf(store, name)).toMatchObject({ ready: 1, scheduled: 1, waiting: 0 });
    },
  );
}

function describeDue(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a scheduled task waits for its instant and is claimed from then on", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const answer = await store.enqueueTasks({
      name,
      build: 1,
      operationId: null,
      tasks: [
        { payload: null, runInMs: 8_000 },
        { payload: null, runInMs: 5_000 },
      ],
    });
    expect(answer).toMatchObject({ ready: false, nextDueMs: 5_000 });
    expect(await statusOf(store, name)).toMatchObject({ ready: 0, scheduled: 2 });
    const worker = await startWorker(store, name, { want: 2 });
    expect(await worker.claim(2)).toEqual([]);
    await opened.advance(5_500);
    expect(idsOf(await worker.claim(2))).toEqual([at(answer.taskIds, 1)]);
    await opened.advance(3_000);
    expect(idsOf(await worker.claim(2))).toEqual([at(answer.taskIds, 0)]);
  });

  testWith(setup, "exact clock")(
    "a scheduled task isn't due one millisecond before its instant, and is exactly then",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const taskId = await enqueueOne(store, name, { runInMs: 5_000 });
      const worker = await startWorker(store, name);
      await opened.advance(4_999);
      const early = await worker.work({ want: 1 });
      expect(early).toMatchObject({ status: "none", nextDueMs: 1 });
      expect((await factsOf(store, taskId)).dueInMs).toBe(1);
      await opened.advance(1);
      expect(idsOf(await worker.claim(1))).toEqual([taskId]);
    },
  );

  test("a task is scheduled by instant as well as by delay; an instant that has passed is at once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    const now = (await opened.now()).getTime();
    const later = await enqueueOne(store, name, { runAt: new Date(now + 60_000) });
    const past = await enqueueOne(store, name, { runAt: new Date(now - 60_000) });
    const zero = await enqueueOne(store, name, { runInMs: 0 });
    expect(await stateOf(store, later)).toBe("scheduled");
    expect(await stateOf(store, past)).toBe("ready");
    expect(await stateOf(store, zero)).toBe("ready");
    const { dueInMs } = await factsOf(store, later);
    expect(dueInMs).toBeGreaterThan(58_000);
    expect(dueInMs).toBeLessThanOrEqual(60_000);
  });

  test("a jump of the clock makes all due, and they are claimed by priority and id", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10 });
    const ids = await enqueue(store, name, [
      { runInMs: 3_000 },
      { runInMs: 2_000, priority: 1 },
      { runInMs: 1_000 },
    ]);
    await opened.advance(86_400_000);
    const worker = await startWorker(store, name, { want: 5 });
    expect(idsOf(await worker.claim(5))).toEqual([at(ids, 1), at(ids, 0), at(ids, 2)]);
  });

  test("a due task goes behind ready ones of its priority that have lower ids, before later ones", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10 });
    const [first] = await enqueue(store, name, 1);
    const timed = await enqueueOne(store, name, { runInMs: 1_000 });
    const [last] = await enqueue(store, name, 1);
    await opened.advance(1_000);
    const worker = await startWorker(store, name, { want: 5 });
    expect(idsOf(await worker.claim(5))).toEqual([first, timed, last]);
  });

  test("a due task of a full group waits for its slot", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 10 });
    const holder = await enqueueOne(store, name, { group: "g" });
    const timed = await enqueueOne(store, name, { group: "g", runInMs: 1_000 });
    await opened.advance(1_000);
    const worker = await startWorker(store, name, { want: 5 });
    const claimed = await worker.claim(5);
    expect(idsOf(claimed)).toEqual([holder]);
    expect(await stateOf(store, timed)).toBe("waiting");
    expect(idsOf((await worker.complete(claimed, 5)).claimed)).toEqual([timed]);
  });

  testWith(setup, "exact clock")("a task may be scheduled 100 years ahead", async () => {
    const { store } = open();
    const name = await define(store);
    const taskId = await enqueueOne(store, name, { runInMs: 3_153_600_000_000 });
    expect((await factsOf(store, taskId)).dueInMs).toBe(3_153_600_000_000);
    expect((await statusOf(store, name)).nextDueMs).toBe(3_153_600_000_000);
  });
}

function describePromote(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")(
    'promote_scheduled answers "none" where nothing is due, with when the next task is',
    async () => {
      const { store } = open();
      const name = await define(store);
      expect(await store.promoteScheduled({ name, max: 10 })).toEqual({
        status: "none",
        promoted: 0,
        nextDueMs: null,
        ready: false,
      });
      await enqueueOne(store, name, { runInMs: 5_000 });
      expect(await store.promoteScheduled({ name, max: 10 })).toEqual({
        status: "none",
        promoted: 0,
        nextDueMs: 5_000,
        ready: false,
      });
    },
  );

  test("promote_scheduled promotes at most so many tasks, each once, and answers 0 until the next when more are due", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(
      store,
      name,
      Array.from({ length: 5 }, () => ({ runInMs: 1_000 })),
    );
    await opened.advance(1_000);
    expect(await store.promoteScheduled({ name, max: 3 })).toEqual({
      status: "promoted",
      promoted: 3,
      nextDueMs: 0,
      ready: true,
    });
    expect(await store.promoteScheduled({ name, max: 3 })).toMatchObject({
      status: "promoted",
      promoted: 2,
      nextDueMs: null,
    });
    expect((await store.promoteScheduled({ name, max: 3 })).status).toBe("none");
    expect(await statusOf(store, name)).toMatchObject({ ready: 5, scheduled: 0 });
  });

  test("eight promotions at once promote 2,000 due tasks, each once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store);
    await enqueue(
      store,
      name,
      Array.from({ length: 2_000 }, () => ({ runInMs: 1_000 })),
    );
    await opened.advance(1_000);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => store.promoteScheduled({ name, max: 2_000 })),
    );
    expect(answers.reduce((sum, answer) => sum + answer.promoted, 0)).toBe(2_000);
    expect(await statusOf(store, name)).toMatchObject({ ready: 2_000, scheduled: 0 });
  });

  test("promote_scheduled makes the groups that a transaction left to be made, and admits in order", async () => {
    const { store } = open();
    const name = await define(store);
    const tasks = Array.from({ length: 3 }, () => ({ payload: null, group: "new" }));
    const { taskIds } = await store.transaction((transaction) =>
      store.enqueueTasks({ name, build: 1, operationId: null, tasks }, transaction),
    );
    expect(await store.promoteScheduled({ name, max: 10 })).toMatchObject({
      promoted: 3,
      ready: true,
    });
    expect(await statusOf(store, name)).toMatchObject({ ready: 1, waiting: 2, scheduled: 0 });
    expect(await stateOf(store, at(taskIds, 0))).toBe("ready");
  });

  test("promote_scheduled refuses a bad number and an unknown definition, naming them", async () => {
    const { store } = open();
    const name = await define(store);
    for (const max of [0, -1, 10_001]) {
      await expectError(store.promoteScheduled({ name, max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
    expect((await store.promoteScheduled({ name, max: 10_000 })).status).toBe("none");
    await expectError(store.promoteScheduled({ name: "nobody", max: 1 }), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
      value: "nobody",
    });
    // Of two faults the number's is told.
    await expectError(store.promoteScheduled({ name: "nobody", max: 0 }), {
      code: "TASKGATE_ARG_INVALID",
      field: "max",
      value: 0,
    });
  });
}
