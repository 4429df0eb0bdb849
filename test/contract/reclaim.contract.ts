import { describe, expect, test } from "@jest/globals";
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
  tryStart,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** Taking back what the dead held. */
export function describeReclaim(setup: StoreSetup): void {
  describe("reclaim_expired", () => {
    describeWhen(setup);
  });
  describe("a reclaimed task", () => {
    describeTasks(setup);
  });
}

const leaseMs = 10_000;

async function reclaim(opened: TestStore) {
  await opened.advance(leaseMs + 1);
  return opened.store.reclaimExpired({ max: 100 });
}

function describeWhen(setup: StoreSetup): void {
  const open = useStore(setup);

  test('reclaim_expired answers "none" where every execution is alive, ended or reclaimed', async () => {
    const { store } = open();
    const name = await define(store);
    await startWorker(store, name);
    const over = await startWorker(store, name);
    await over.finish();
    expect(await store.reclaimExpired({ max: 10 })).toEqual({
      opening: [],
      status: "none",
      executions: 0,
      tasksBack: 0,
      tasksLost: 0,
      tasksDead: 0,
      definitions: [],
      more: false,
    });
  });

  testWith(setup, "exact clock")(
    "an execution isn't reclaimed exactly at the end of its lease, but one millisecond later (S2.6)",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { leaseMs });
      await enqueue(store, name, 1);
      const worker = await startWorker(store, name);
      await worker.claimOne();
      await opened.advance(leaseMs);
      expect((await store.sweep({ max: 10 })).expired).toBe(0);
      expect((await store.reclaimExpired({ max: 10 })).status).toBe("none");
      await opened.advance(1);
      expect((await store.sweep({ max: 10 })).expired).toBe(1);
      expect((await store.reclaimExpired({ max: 10 })).status).toBe("reclaimed");
    },
  );

  test("reclaim_expired tells how many executions it reclaimed, and which definitions have ready tasks again", async () => {
    const opened = open();
    const { store } = opened;
    const one = await define(store, { leaseMs, limit: 4 });
    const two = await define(store, { leaseMs, limit: 4 });
    await enqueue(store, one, 3);
    await enqueue(store, two, 1);
    const first = await startWorker(store, one, { want: 3 });
    await first.claim(3);
    const second = await startWorker(store, two);
    await second.claim(1);
    expect(await reclaim(opened)).toEqual({
      opening: [],
      status: "reclaimed",
      executions: 2,
      tasksBack: 4,
      tasksLost: 4,
      tasksDead: 0,
      definitions: [one, two].sort(),
      more: false,
    });
    expect((await store.reclaimExpired({ max: 10 })).status).toBe("none");
    expect(await statusOf(store, one)).toMatchObject({ ready: 3, claimed: 0, executions: 0 });
  });

  test("reclaim_expired takes at most so many executions in a call; `more` asks for another", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 5 });
    for (let index = 0; index < 3; index += 1) await startWorker(store, name);
    await opened.advance(leaseMs + 1);
    expect(await store.reclaimExpired({ max: 2 })).toMatchObject({ executions: 2, more: true });
    expect(await store.reclaimExpired({ max: 2 })).toMatchObject({ executions: 1, more: false });
    expect((await store.reclaimExpired({ max: 2 })).status).toBe("none");
  });

  test("an execution that an asker declared dead is reclaimed as well, with any lease (S0.8, S2.6)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 1 });
    const taskId = await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    await worker.claimOne();
    await opened.advance(leaseMs + 1);
    await startWorker(store, name);
    expect(await stateOf(store, taskId)).toBe("claimed");
    expect(await store.reclaimExpired({ max: 10 })).toMatchObject({ executions: 1, tasksLost: 1 });
    expect(await stateOf(store, taskId)).toBe("ready");
  });

  test("the tokens of a reclaimed execution are free for the next asker (S0.7)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 2 });
    await startWorker(store, name, { want: 2 });
    expect(await tryStart(store, name)).toBe("limited");
    await reclaim(opened);
    expect(
      await store.acquireTokens({
        executionId: (await startWorker(store, name)).executionId,
        want: 2,
      }),
    ).toMatchObject({ tokens: 2 });
    expect(await tryStart(store, name)).toBe("limited");
  });

  test("reclaim_expired without a limit takes the dead out of the counter", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: null });
    await startWorker(store, name, { want: 7 });
    await reclaim(opened);
    expect(await statusOf(store, name)).toMatchObject({ held: 0, executions: 0 });
  });

  test("sweep tells how many there are to reclaim", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 3 });
    await startWorker(store, name);
    await startWorker(store, name);
    expect((await store.sweep({ max: 10 })).expired).toBe(0);
    await opened.advance(leaseMs + 1);
    expect((await store.sweep({ max: 10 })).expired).toBe(2);
    await store.reclaimExpired({ max: 10 });
    expect((await store.sweep({ max: 10 })).expired).toBe(0);
  });

  test("reclaim_expired takes a max of 1 to 1000 and refuses 0 and 1001, naming field and value", async () => {
    const { store } = open();
    for (const max of [0, -1, 1_001]) {
      await expectError(store.reclaimExpired({ max }), {
        code: "TASKGATE_ARG_INVALID",
        field: "max",
        value: max,
      });
    }
    expect((await store.reclaimExpired({ max: 1_000 })).status).toBe("none");
    expect((await store.reclaimExpired({ max: 1 })).status).toBe("none");
  });

  test("five reclaims at once take each execution back once", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 20 });
    await enqueue(store, name, 20);
    for (let index = 0; index < 10; index += 1) {
      const worker = await startWorker(store, name, { want: 2 });
      await worker.claim(2);
    }
    await opened.advance(leaseMs + 1);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => store.reclaimExpired({ max: 100 })),
    );
    expect(answers.reduce((sum, answer) => sum + answer.executions, 0)).toBe(10);
    expect(answers.reduce((sum, answer) => sum + answer.tasksBack, 0)).toBe(20);
    expect((await statusOf(store, name)).ready).toBe(20);
  });
}

function describeTasks(setup: StoreSetup): void {
  const open = useStore(setup);

  test("started tasks count as lost, and prefetched ones come back uncounted", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 2, prefetchMax: 1 });
    const ids = await enqueue(store, name, 4);
    const worker = await startWorker(store, name, { want: 2 });
    await worker.claim(4);
    await worker.beat([at(ids, 3)]);
    expect(await reclaim(opened)).toMatchObject({ tasksBack: 4, tasksLost: 3, tasksDead: 0 });
    const lost: number[] = [];
    for (const id of ids) {
      const facts = await factsOf(store, id);
      expect(facts).toMatchObject({ state: "ready", failedCount: 0 });
      expect(facts.attempts.map((entry) => entry.outcome)).toEqual(
        facts.lostCount === 1 ? ["lost"] : [],
      );
      lost.push(facts.lostCount);
    }
    expect(lost).toEqual([1, 1, 0, 1]);
  });

  test("a reclaimed task is first within its priority, because its id is old (S2.8)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 10 });
    const old = await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    await worker.claim(2);
    const urgent = await enqueueOne(store, name, { priority: 1 });
    const fresh = await enqueue(store, name, 3);
    await reclaim(opened);
    const next = await startWorker(store, name, { want: 10 });
    expect(idsOf(await next.claim(10))).toEqual([urgent, ...old, ...fresh]);
  });

  for (const lostMax of [0, 1, 3]) {
    test(`a task that is lost once more than lostMax ${String(lostMax)} is dead (S2.10)`, async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { leaseMs, lostMax, limit: 2 });
      const taskId = await enqueueOne(store, name);
      const outcomes: string[] = [];
      for (let round = 0; round <= lostMax; round += 1) {
        const worker = await startWorker(store, name);
        expect((await worker.claimOne()).attempt).toBe(round + 1);
        const answer = await reclaim(opened);
        expect(answer.tasksLost).toBe(1);
        expect(answer.tasksDead).toBe(round === lostMax ? 1 : 0);
        outcomes.push(await stateOf(store, taskId));
      }
      expect(outcomes).toEqual([...Array.from({ length: lostMax }, () => "ready"), "dead"]);
      expect(await factsOf(store, taskId)).toMatchObject({
        lostCount: lostMax + 1,
        failedCount: 0,
        worker: "worker-1",
      });
      expect((await statusOf(store, name)).dead).toBe(1);
    });
  }

  test("failures and losses are counted apart", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, retryAttempts: 2, lostMax: 1 });
    const taskId = await enqueueOne(store, name);
    const first = await startWorker(store, name);
    await first.fail([await first.claimOne()], { retryInMs: 0 });
    await first.claimOne();
    await reclaim(opened);
    expect(await factsOf(store, taskId)).toMatchObject({
      state: "ready",
      failedCount: 1,
      lostCount: 1,
    });
    const second = await startWorker(store, name);
    const task = await second.claimOne();
    expect(task.attempt).toBe(3);
    await second.fail([task]);
    expect(await stateOf(store, taskId)).toBe("dead");
  });

  test("the group's slots stay with reclaimed tasks that come back; a dead one hands its slot over (S1.10)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 5, lostMax: 1 });
    const ids = await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const first = await startWorker(store, name);
    await first.claimOne();
    expect(await reclaim(opened)).toMatchObject({ tasksBack: 1, tasksDead: 0 });
    expect(await stateOf(store, at(ids, 0))).toBe("ready");
    expect(await stateOf(store, at(ids, 1))).toBe("waiting");
    const second = await startWorker(store, name);
    await second.claimOne();
    expect(await reclaim(opened)).toMatchObject({
      tasksBack: 0,
      tasksDead: 1,
      definitions: [name],
    });
    expect(await stateOf(store, at(ids, 0))).toBe("dead");
    expect(await stateOf(store, at(ids, 1))).toBe("ready");
  });

  test("several dead executions with grouped tasks in one call hand over each group", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 10, lostMax: 0 });
    const keys = ["c", "a", "b"];
    const ids = await enqueue(
      store,
      name,
      [...keys, ...keys].map((group) => ({ group })),
    );
    for (let index = 0; index < 3; index += 1) {
      const worker = await startWorker(store, name);
      await worker.claimOne();
    }
    expect(await reclaim(opened)).toMatchObject({ executions: 3, tasksDead: 3 });
    const states: string[] = [];
    for (const id of ids) states.push(await stateOf(store, id));
    expect(states).toEqual(["dead", "dead", "dead", "ready", "ready", "ready"]);
  });

  test("a dead letter's dedupe key is free again", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, lostMax: 0 });
    const first = await enqueueOne(store, name, { dedupeKey: "k" });
    const worker = await startWorker(store, name);
    await worker.claimOne();
    await reclaim(opened);
    expect(await enqueueOne(store, name, { dedupeKey: "k" })).not.toBe(first);
  });

  testWith(setup, "cancel requests")(
    "a cancel that was requested meanwhile ends it cancelled, started or prefetched, and isn't counted as dead",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { leaseMs, limit: 1, prefetchMax: 2, lostMax: 0 });
      const ids = await enqueue(store, name, 4);
      const worker = await startWorker(store, name);
      await worker.claim(3);
      const other = await define(store, { leaseMs, lostMax: 0 });
      const deadId = await enqueueOne(store, other);
      await (await startWorker(store, other)).claimOne();
      await opened.requestCancel(at(ids, 0));
      await opened.requestCancel(at(ids, 1));
      expect(await reclaim(opened)).toMatchObject({ tasksBack: 1, tasksLost: 2, tasksDead: 1 });
      const states: string[] = [];
      for (const id of [...ids, deadId]) states.push(await stateOf(store, id));
      expect(states).toEqual(["cancelled", "cancelled", "ready", "ready", "dead"]);
    },
  );

  test("a task whose worker crashes after the claim comes back once and is done by the next (S2.11)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 1 });
    const taskId = await enqueueOne(store, name);
    const crashed = await startWorker(store, name);
    await crashed.claimOne();
    await reclaim(opened);
    const next = await startWorker(store, name);
    const task = await next.claimOne();
    expect(task).toMatchObject({ taskId, attempt: 2 });
    await next.complete([task]);
    expect(await statusOf(store, name)).toMatchObject({ done: 1, ready: 0, claimed: 0 });
  });

  test("a task with long honest work renews its claim and is never robbed (S2.10)", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { leaseMs, limit: 1 });
    await enqueueOne(store, name);
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    for (let beat = 0; beat < 10; beat += 1) {
      await opened.advance(leaseMs - 1_000);
      await worker.beat();
      expect((await store.reclaimExpired({ max: 10 })).status).toBe("none");
    }
    expect((await worker.complete([task])).refused).toEqual([]);
  });
}
