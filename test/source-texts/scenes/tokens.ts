import { expect } from "@jest/globals";
import { sleep } from "../../../shared/platform/real-clock";
import type { StartExecutionAnswer } from "../../../shared/ports/task-store";
import {
  define,
  done,
  enqueue,
  enqueueOne,
  operationId,
  startInput,
  startWorker,
  statusOf,
} from "../../support/builders";
import { changedStore } from "../../support/planted-setup";
import type { Scene } from "../scene";
import type { Stage, StoreChange } from "../stage";

// ---- first come, first served

/** Gives the askers their turn; one that is kept back by something else than the row counts after a while, too. */
async function untilAsked(stage: Stage, count: number): Promise<void> {
  if (stage.dialect === "memory") return;
  const endMs = performance.now() + 300;
  while ((await stage.countWaiting()) < count && performance.now() < endMs) await sleep(2);
}

async function showArrivalOrder(stage: Stage): Promise<void> {
  const askers = Array.from({ length: 5 }, () => stage.openStore(1));
  for (let round = 0; round < 4; round += 1) {
    const name = await define(stage.plain, { limit: askers.length });
    const held = await stage.holdDefinition(name);
    const asked: Promise<StartExecutionAnswer>[] = [];
    for (const [index, store] of askers.entries()) {
      asked.push(store.startExecution(startInput(name)));
      await untilAsked(stage, index + 1);
    }
    await held.commit();
    const served = (await Promise.all(asked)).map(({ tokenFence }, index) => ({
      index,
      fence: Number(tokenFence),
    }));
    expect({
      round,
      order: served.toSorted((a, b) => a.fence - b.fence).map(({ index }) => index),
    }).toEqual({ round, order: [0, 1, 2, 3, 4] });
  }
}

/** The last asker is served first. */
const lastComeFirstServed = (): StoreChange => {
  const stack: (() => Promise<void>)[] = [];
  const serve = async (): Promise<void> => {
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) await next();
  };
  let timer: NodeJS.Timeout | undefined;
  return (store) =>
    changedStore(store, {
      startExecution: (input) =>
        new Promise((resolve, reject) => {
          stack.push(() => store.startExecution(input).then(resolve, reject));
          clearTimeout(timer);
          timer = setTimeout(() => void serve(), 500);
        }),
    });
};

// ---- all or nothing

async function showAllOrNothing(stage: Stage): Promise<void> {
  const store = stage.openStore(2);
  const name = await define(stage.plain, { limit: 1 });
  // A caller that dies in the middle of a transaction leaves nothing of it.
  const worker = await startWorker(store, name);
  const taskId = await enqueueOne(store, name);
  const task = await worker.claimOne();
  const tokens = await statusOf(stage.plain, name);
  const killed = store.transaction(async (transaction) => {
    const tasks = [{ payload: null }];
    await store.enqueueTasks({ name, build: 1, operationId: null, tasks }, transaction);
    await store.completeTask({ executionId: worker.executionId, ...done(task) }, transaction);
    throw new Error("killed before the commit");
  });
  await expect(killed).rejects.toThrow("killed before the commit");
  expect(await statusOf(stage.plain, name)).toEqual(tokens);
  expect(await worker.complete([task])).toMatchObject({ refused: [] });
  expect((await stage.plain.explainTask({ taskId })).facts?.state).toBe("done");
  await worker.finish();
  // A caller that dies behind the commit has started: its repeat gets the same execution, and its token is one.
  const input = { ...startInput(name), operationId: operationId() };
  const [first, again] = [await store.startExecution(input), await store.startExecution(input)];
  expect(again.executionId).toBe(first.executionId);
  expect(await statusOf(stage.plain, name)).toMatchObject({ held: 1, executions: 1 });
}

/** What a transaction did is kept when its body fails. */
const committingAlways = (): StoreChange => (store) =>
  changedStore(store, {
    transaction: async (body) => {
      let failure: unknown;
      const result = await store.transaction(async (transaction) => {
        try {
          return { value: await body(transaction) };
        } catch (error) {
          failure = error;
          return undefined;
        }
      });
      if (result === undefined) throw failure;
      return result.value;
    },
  });

// ---- what finished rows cost, in the model

/** How many entries of maps and lists are looked at while a call runs; the memory store's calls run at once. */
function countVisits(call: () => Promise<unknown>): number {
  let visits = 0;
  const maps = Map.prototype;
  const lists = Array.prototype;
  const { values, entries, forEach } = maps;
  const { filter, find, some, map, findIndex } = lists;
  const iterator = maps[Symbol.iterator];
  const count = <Args extends unknown[], Result>(
    method: (this: never, ...args: Args) => Result,
    sizeOf: (target: never) => number,
  ) =>
    function counted(this: never, ...args: Args): Result {
      visits += sizeOf(this);
      return method.apply(this, args);
    };
  const size = (target: { size: number }): number => target.size;
  const length = (target: { length: number }): number => target.length;
  try {
    Object.assign(maps, {
      values: count(values, size),
      entries: count(entries, size),
      forEach: count(forEach, size),
      [Symbol.iterator]: count(iterator, size),
    });
    Object.assign(lists, {
      filter: count(filter, length),
      find: count(find, length),
      some: count(some, length),
      map: count(map, length),
      findIndex: count(findIndex, length),
    });
    void call();
    return visits;
  } finally {
    Object.assign(maps, { values, entries, forEach, [Symbol.iterator]: iterator });
    Object.assign(lists, { filter, find, some, map, findIndex });
  }
}

async function showFlatCost(stage: Stage): Promise<void> {
  const store = stage.openStore(1);
  const name = await define(store, { limit: 10, prefetchMax: 0 });
  const worker = await startWorker(store, name, { want: 10 });
  const visitsOf = async (finished: number): Promise<number> => {
    for (let count = 0; count < finished; count += 10) {
      await enqueue(store, name, 10);
      await worker.complete(await worker.claim(10));
    }
    await enqueue(store, name, 10);
    let claimed: Promise<Awaited<ReturnType<typeof worker.claim>>> | undefined;
    const visits = countVisits(() => (claimed = worker.claim(5)));
    await worker.complete((await claimed) ?? []);
    await worker.complete(await worker.claim(10));
    return visits;
  };
  await visitsOf(10);
  const few = await visitsOf(10);
  expect(few).toBeGreaterThan(0);
  expect({ visits: await visitsOf(1_000) }).toEqual({ visits: few });
}

/** A claim looks at everything first. */
const lookingAtAll = (): StoreChange => (store) =>
  changedStore(store, {
    work: (input) => {
      void store.sweep({ max: 1 });
      void store.checkInvariants();
      return store.work(input);
    },
  });

/** Tokens on a locked row, and what a claim looks at. */
export const tokenScenes: readonly Scene[] = [
  {
    numbers: "S0.11",
    title: "askers are served in the order of their arrival",
    play: showArrivalOrder,
    faults: [
      {
        numbers: "S0.11",
        what: "who came last is served first",
        change: lastComeFirstServed,
        found: /order/,
      },
    ],
  },
  {
    numbers: "S0.19",
    title: "a caller that dies before its commit leaves nothing, one that dies behind it all",
    play: showAllOrNothing,
    faults: [
      {
        numbers: "S0.19",
        what: "a transaction is committed though its caller died",
        change: committingAlways,
        found: /toEqual/,
      },
    ],
  },
  {
    numbers: "S2.7",
    title: "a claim looks at as many rows after 1,000 tasks have finished as before",
    on: ["memory"],
    play: showFlatCost,
    faults: [
      {
        numbers: "S2.7",
        what: "a claim looks at all that there is",
        change: lookingAtAll,
        found: /visits/,
      },
    ],
  },
];
