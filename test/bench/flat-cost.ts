import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { define, done, operationId, startWorker } from "../support/builders";
import type { Worker } from "../support/builders";
import { quantile, timed } from "./measurement";
import type { BenchScenario, Measurement, Scale } from "./measurement";

/*
 * What a claim costs must not depend on how much waits, how much of it is blocked, and how much has gone through the tables
 * (P10). Each figure is a ratio of medians of the same call in the same run.
 */

const batch = 10;
const calls = 300;

/** `work` calls that complete ten tasks and claim ten; the median in milliseconds. */
async function claimCost(worker: Worker, most = calls): Promise<number> {
  const times: number[] = [];
  let held = await worker.claim(batch);
  for (let call = 0; call < most && held.length > 0; call += 1) {
    const startedMs = performance.now();
    const answer = await worker.complete(held, batch);
    times.push(performance.now() - startedMs);
    held = answer.claimed;
  }
  await worker.complete(held);
  return quantile(times, 0.5);
}

interface Filling {
  readonly name: string;
  readonly count: number;
  readonly toTask?: (index: number) => Partial<NewTask>;
}

async function fill(
  store: TaskStore,
  { name, count, toTask = () => ({}) }: Filling,
): Promise<void> {
  const piece = 10_000;
  for (let from = 0; from < count; from += piece) {
    const tasks = Array.from({ length: Math.min(piece, count - from) }, (_, index) => ({
      payload: null,
      ...toTask(from + index),
    }));
    await store.enqueueTasks({ name, build: 1, operationId: operationId(), tasks });
  }
}

const atOnce = { limit: batch, spareMax: 0 };

async function withStore(
  url: string,
  body: (store: TaskStore) => Promise<Measurement[]>,
): Promise<Measurement[]> {
  const store = openStore({ url, connectionsMax: 4, random: realRandom, sleep });
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

const ratio = (scenario: string, value: number): Measurement => ({
  scenario,
  unit: "ratio",
  value,
  isLessBetter: true,
  goal: 1.2,
});

/** A definition that has all its tokens, over and over, for `claimCost`. */
async function measure(store: TaskStore, about: Omit<Filling, "name">): Promise<number> {
  const name = await define(store, atOnce, `cost-${String(about.count)}-${operationId()}`);
  await fill(store, { ...about, name });
  const worker = await startWorker(store, name, { want: batch });
  await claimCost(worker, 30);
  const cost = await claimCost(worker);
  await worker.finish();
  return cost;
}

const backlogs: BenchScenario = (url, scale) =>
  withStore(url, async (store) => {
    const base = await measure(store, { count: 2 * batch * calls });
    const middle = await measure(store, { count: scale.backlog / 10 });
    const large = await measure(store, { count: scale.backlog });
    const again = await measure(store, { count: 2 * batch * calls });
    const least = Math.min(base, again);
    return [
      ratio(`claim with ${tasks(scale.backlog / 10)} ready, to one with few`, middle / least),
      ratio(`claim with ${tasks(scale.backlog)} ready, to one with few`, large / least),
    ];
  });

/** 99 of 100 tasks wait for one of a hundred full groups. */
const blocked: BenchScenario = (url, scale) =>
  withStore(url, async (store) => {
    const count = Math.max(scale.backlog / 10, 100 * batch * calls);
    const base = await measure(store, { count: 2 * batch * calls });
    const name = await define(store, atOnce, "blocked");
    const toTask = (index: number): Partial<NewTask> =>
      index % 100 === 0 ? {} : { group: `g${String(index % 97)}`, priority: 1 };
    await fill(store, { name, count, toTask });
    const worker = await startWorker(store, name, { want: batch });
    const full = await claimCost(worker, Math.min(calls, Math.floor(count / 100 / batch) - 2));
    await worker.finish();
    return [ratio(`claim with 99 of 100 of ${tasks(count)} blocked by groups`, full / base)];
  });

/** A hot table: as many tasks as that have come and gone. */
const worn: BenchScenario = (url, scale) =>
  withStore(url, async (store) => {
    const fresh = await measure(store, { count: 2 * batch * calls });
    const name = await define(store, { limit: 1_000, spareMax: 0, retainDoneMs: 0 }, "worn");
    for (let gone = 0; gone < 2 * scale.backlog; gone += 20_000) {
      await fill(store, { name, count: 20_000 });
      const worker = await startWorker(store, name, { want: 1_000 });
      for (let held = await worker.claim(1_000); held.length > 0;)
        held = (await worker.work({ done: held.map((task) => done(task)), want: 1_000 })).claimed;
      await worker.finish();
    }
    const after = await measure(store, { count: 2 * batch * calls });
    return [ratio(`claim after ${tasks(2 * scale.backlog)} have come and gone`, after / fresh)];
  });

/** No call is long, however large the wave. */
const largeWave: BenchScenario = (url, scale: Scale) =>
  withStore(url, async (store) => {
    const count = scale.backlog / 10;
    const name = await define(store, { limit: null, spareMax: 0 }, "wave");
    const made = await store.createBatch({
      operationId: operationId(),
      name: "large",
      failurePolicy: "halt",
      waves: 1,
    });
    const [waveId] = made.waveIds;
    if (waveId === undefined) throw new Error("a wave expected");
    const piece = 10_000;
    for (let from = 0; from < count; from += piece) {
      const entries = Array.from({ length: Math.min(piece, count - from) }, () => ({
        payload: null,
      }));
      const operation = { operationId: operationId(), waveId };
      await store.enqueueTasks({ name, build: 1, tasks: entries, ...operation });
    }
    const times: number[] = [];
    const { batchId } = made;
    times.push(await timed(() => store.startBatch({ batchId, seal: true })));
    for (;;) {
      const startedMs = performance.now();
      const { more } = await store.pumpBatch({ batchId, most: 500 });
      times.push(performance.now() - startedMs);
      if (!more) break;
    }
    const worker = await startWorker(store, name, { want: 100 });
    let held = await worker.claim(100);
    while (held.length > 0) {
      const startedMs = performance.now();
      held = (await worker.complete(held, 100)).claimed;
      times.push(performance.now() - startedMs);
    }
    await worker.finish();
    return [
      {
        scenario: `longest call in 99 of 100, wave of ${tasks(count)} opened and worked off`,
        unit: "ms",
        value: quantile(times, 0.99),
        isLessBetter: true,
        goal: 50,
      },
    ];
  });

function tasks(count: number): string {
  return `${count.toLocaleString("en-US")} tasks`;
}

/** In order. */
export const flatCosts: readonly BenchScenario[] = [backlogs, blocked, worn, largeWave];
