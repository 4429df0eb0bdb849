import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../shared/core/ids";
import { at, define, enqueue, factsOf, idsOf, startWorker, tryStart } from "../support/builders";
import type { Worker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** One heartbeat for several executions: each with its own lease, claims and cancel requests. */
export function describeHeartbeats(setup: StoreSetup): void {
  describe("heartbeat of several executions", () => {
    describeSeveral(setup);
  });
}

function describeSeveral(setup: StoreSetup): void {
  const open = useStore(setup);

  const beat = (workers: readonly Worker[], started: readonly (readonly TaskId[])[] = []) =>
    at(workers, 0).store.heartbeat({
      executions: workers.map(({ executionId }, index) => ({
        executionId,
        started: started[index] ?? [],
      })),
    });

  test("each is renewed for as long as its own definition says", async () => {
    const opened = open();
    const { store } = opened;
    const long = await define(store, { limit: 1, leaseMs: 40_000 });
    const short = await define(store, { limit: 1, leaseMs: 10_000 });
    const workers = [await startWorker(store, short), await startWorker(store, long)];
    await opened.advance(5_000);
    await beat(workers);
    await opened.advance(20_000);
    expect(await tryStart(store, long)).toBe("limited");
    expect(await tryStart(store, short)).toBe("started");
  });

  test("answers come by execution, whatever the order of the call", async () => {
    const { store } = open();
    const name = await define(store);
    const workers: Worker[] = [];
    for (let count = 0; count < 3; count += 1) workers.push(await startWorker(store, name));
    const ids = workers.map((worker) => worker.executionId);
    const { executions } = await beat([at(workers, 2), at(workers, 0), at(workers, 1)]);
    expect(executions.map((entry) => entry.executionId)).toEqual(ids);
  });

  test("a claim that another execution calls started stays spare", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, spareMax: 2 });
    await enqueue(store, name, 6);
    const workers = [await startWorker(store, name), await startWorker(store, name)];
    const spare: TaskId[][] = [];
    for (const worker of workers) spare.push(idsOf(await worker.claim(3)).slice(1));
    const [mine, theirs] = [at(spare, 0), at(spare, 1)];
    await beat(workers, [[at(mine, 0), at(theirs, 0)], [at(theirs, 1)]]);
    const isSpare = async (taskId: TaskId) => (await factsOf(store, taskId)).claim?.isSpare;
    expect(await isSpare(at(mine, 0))).toBe(false);
    expect(await isSpare(at(mine, 1))).toBe(true);
    expect(await isSpare(at(theirs, 0))).toBe(true);
    expect(await isSpare(at(theirs, 1))).toBe(false);
  });

  test("a dead one's claims stay as they were, whatever it says beside a living one", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 2, spareMax: 1, leaseMs: 10_000 });
    await enqueue(store, name, 4);
    const late = await startWorker(store, name);
    const lateSpare = at(await late.claim(2), 1).taskId;
    const live = await startWorker(store, name);
    const liveSpare = at(await live.claim(2), 1).taskId;
    await opened.advance(6_000);
    await live.beat();
    await opened.advance(6_000);
    expect(await tryStart(store, name)).toBe("started");
    const { executions } = await beat([late, live], [[lateSpare], [liveSpare]]);
    expect(executions.map((entry) => entry.status)).toEqual(["fenced", "renewed"]);
    expect(await store.reclaimExpired({ most: 10 })).toMatchObject({ tasksBack: 2, tasksLost: 1 });
    expect((await factsOf(store, liveSpare)).claim?.isSpare).toBe(false);
  });

  testWith(setup, "cancel requests")(
    "each hears which of its own tasks are to be cancelled, by id",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store, { limit: 10 });
      const ids = await enqueue(store, name, 5);
      const first = await startWorker(store, name, { want: 3 });
      await first.claim(3);
      const second = await startWorker(store, name, { want: 2 });
      await second.claim(1);
      const third = await startWorker(store, name);
      await third.claim(1);
      for (const index of [2, 3, 0]) await opened.requestCancel(at(ids, index));
      const { executions } = await beat([first, second, third]);
      expect(executions.map((entry) => entry.cancel)).toEqual([
        [at(ids, 0), at(ids, 2)],
        [at(ids, 3)],
        [],
      ]);
    },
  );
}
