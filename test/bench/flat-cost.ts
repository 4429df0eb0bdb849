import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { NewTask, TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { define, done, operationId, startWorker } from "../support/builders";
import type { Worker } from "../support/builders";
import { quantile, timed } from "./measurement";
import type { BenchScenario, Measurement, Scale } from "./measurement";

/*
 * What a claim costs must not depend on how much waits, how much of it is blocked, and how much has gone through the tables.
 * Each figure is a ratio of medians of the same call, made in turn in the same run.
 */

const batch = 10;
const calls = 300;

/** What a definition has to do: over and over, ten tasks completed and ten claimed. */
class ClaimLoop {
  readonly times: number[] = [];
  #held: Awaited<ReturnType<Worker["claim"]>> = [];

  constructor(private readonly worker: Worker) {}

  /** The first calls warm up. */
  async begin(): Promise<void> {
    this.#held = await this.worker.claim(batch);
    for (let call = 0; call < 30; call += 1) await this.turn();
    this.times.length = 0;
  }

  async turn(): Promise<void> {
    const startedMs = performance.now();
    const answer = await this.worker.complete(this.#held, batch);
    this.times.push(performance.now() - startedMs);
    this.#held = answer.claimed;
    if (this.#held.length < batch) throw new Error("expected tasks to last for all calls");
  }

  async end(): Promise<void> {
    await this.worker.complete(this.#held);
    await this.worker.finish();
  }
}

/** Call by call in turn, so that other load of the computer slows both. */
async function compareClaims(one: Worker, other: Worker): Promise<number> {
  const loops = [new ClaimLoop(one), new ClaimLoop(other)];
  for (const loop of loops) await loop.begin();
  for (let call = 0; call < calls; call += 1) for (const loop of loops) await loop.turn();
  for (const loop of loops) await loop.end();
  const [first = Number.NaN, second = Number.NaN] = loops.map(({ times }) => quantile(times, 0.5));
  return first / second;
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

const atOnce = { limit: batch, prefetchMax: 0 };

async function withStore<Result>(
  url: string,
  body: (store: TaskStore) => Promise<Result>,
): Promise<Result> {
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

/** A worker that has all tokens of a new definition with such tasks. */
async function openWorker(store: TaskStore, about: Omit<Filling, "name">): Promise<Worker> {
  const name = await define(store, atOnce, `cost-${operationId()}`);
  await fill(store, { ...about, name });
  return await startWorker(store, name, { want: batch });
}

/** As many tasks as the calls take. */
const few = { count: batch * (calls + 40) };

const backlogs: BenchScenario = (url, scale) =>
  withStore(url, async (store) => {
    const measured: Measurement[] = [];
    for (const count of [scale.backlog / 10, scale.backlog]) {
      const large = await openWorker(store, { count });
      const value = await compareClaims(large, await openWorker(store, few));
      measured.push(ratio(`claim with ${tasks(count)} ready, to one with few`, value));
    }
    return measured;
  });

/** 99 of 100 tasks wait for one of a hundred full groups. */
const blocked: BenchScenario = (url, scale) =>
  withStore(url, async (store) => {
    const count = Math.max(scale.backlog / 10, 100 * few.count);
    const toTask = (index: number): Partial<NewTask> =>
      index % 100 === 0 ? {} : { group: `g${String(index % 97)}`, priority: 101 };
    const full = await openWorker(store, { count, toTask });
    const value = await compareClaims(full, await openWorker(store, few));
    return [ratio(`claim with 99 of 100 of ${tasks(count)} blocked by groups`, value)];
  });

/** A hot table, through which as many tasks as that have gone, against one of a new database. */
const worn: BenchScenario = (url, scale, openOther) =>
  withStore(url, async (store) => {
    const name = await define(store, { limit: 1_000, prefetchMax: 0, retainDoneMs: 0 }, "worn");
    for (let gone = 0; gone < 2 * scale.backlog; gone += 20_000) {
      await fill(store, { name, count: 20_000 });
      const worker = await startWorker(store, name, { want: 1_000 });
      for (let held = await worker.claim(1_000); held.length > 0;)
        held = (await worker.work({ done: held.map((task) => done(task)), want: 1_000 })).claimed;
      await worker.finish();
    }
    const value = await withStore(await openOther(), async (other) =>
      compareClaims(await openWorker(store, few), await openWorker(other, few)),
    );
    return [ratio(`claim after ${tasks(2 * scale.backlog)} have come and gone`, value)];
  });

/** No call is long, however large the wave. */
const largeWave: BenchScenario = (url, scale: Scale) =>
  withStore(url, async (store) => {
    const count = scale.backlog / 10;
    const name = await define(store, { limit: null, prefetchMax: 0 }, "wave");
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
      const { more } = await store.pumpBatch({ batchId, max: 500 });
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
