import { expect } from "@jest/globals";
import { sleep } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { defineTask } from "../../../shared/worker/define/define-task";
import { at, operationId, statusOf } from "../../support/builders";
import { changedStore, without } from "../../support/planted-setup";
import { openWorkerBench } from "../../unit/worker/worker-bench";
import type { Scene } from "../scene";
import type { Stage, StoreChange } from "../stage";
import { tellingOneTokenMore } from "./workers";
import type { TaskKind } from "../../../shared/worker/define/task-kind";
import { taskRequest } from "../../../shared/worker/define/task-ref";

/** The times of the source texts are divided by this; a promised "at once" is not. */
const scale = 80;
/** A second, as the texts' "at once" is read. */
const promptMs = 1_000;
/** What a trial may take beyond its handlers' times on a busy machine. */
const slackMs = 3_000;

/** What a handler saw, in the order of its starts. */
interface Entry {
  readonly part: number;
  readonly beganMs: number;
  endedMs: number;
}

/** A kind whose handlers last as long as the payload says, by the texts' clock; its log is kept outside the store. */
function timedKind(
  log: Entry[],
  options: { name: string; limit: number; perWorker: number; prefetchMax: number },
): TaskKind<{ part: number; seconds: number }> {
  const { name, limit, perWorker, prefetchMax } = options;
  return defineTask<{ part: number; seconds: number }>({
    name,
    limit,
    prefetch: prefetchMax,
    concurrencyPerWorker: perWorker,
    run: async ({ part, seconds }) => {
      const entry = { part, beganMs: performance.now(), endedMs: Infinity };
      log.push(entry);
      await sleep((seconds * 1_000) / scale);
      entry.endedMs = performance.now();
    },
  });
}

/** The most that ran at the same time. */
const mostAtOnce = (log: readonly Entry[]): number =>
  Math.max(
    ...log.map(
      ({ beganMs }) => log.filter((e) => e.beganMs <= beganMs && beganMs < e.endedMs).length,
    ),
  );

const spanMs = (log: readonly Entry[]): number =>
  Math.max(...log.map(({ endedMs }) => endedMs)) - at(log, 0).beganMs;

// ---- ten tasks, two workers

async function showPairs(stage: Stage): Promise<void> {
  const seconds = 10;
  const logs: [Entry[], Entry[]] = [[], []];
  const workers = logs.map((log) => {
    const kind = timedKind(log, { name: "pairs", limit: 2, perWorker: 1, prefetchMax: 0 });
    return { kind, bench: openWorkerBench([kind], { store: stage.openStore(3) }) };
  });
  const { kind, bench } = at(workers, 0);
  await bench.client.enqueueAll(
    Array.from({ length: 10 }, (_, part) => taskRequest(kind, { part, seconds })),
  );
  const working = Promise.all(workers.map((worker) => worker.bench.work("pairs")));
  let midway = await statusOf(stage.plain, "pairs");
  const endMs = performance.now() + slackMs;
  while (midway.done < 4 && performance.now() < endMs) {
    await sleep(20);
    midway = await statusOf(stage.plain, "pairs");
    expect(midway.claimed).toBeLessThanOrEqual(2);
    expect(midway.claimed + midway.ready + midway.done).toBe(10);
  }
  await working;
  const log = logs.flat().toSorted((a, b) => a.beganMs - b.beganMs);
  expect(log.map(({ part }) => part).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 10 }, (_, part) => part),
  );
  expect({ atOnce: mostAtOnce(log), workers: logs.filter((own) => own.length > 0).length }).toEqual(
    { atOnce: 2, workers: 2 },
  );
  const idealMs = (5 * seconds * 1_000) / scale;
  expect(spanMs(log)).toBeGreaterThanOrEqual(idealMs - 10);
  expect(spanMs(log)).toBeLessThan(idealMs + slackMs);
}

/** Only the first worker that asks is granted anything. */
const servingOneWorker = (): StoreChange => {
  let isTaken = false;
  return (store) =>
    changedStore(store, {
      startExecution: (input) => {
        const name = isTaken && input.want > 0 ? `${input.name} of nobody` : input.name;
        isTaken = true;
        return store
          .startExecution({ ...input, name })
          .then((answer) =>
            name === input.name ? answer : { ...answer, status: "none" as const },
          );
      },
    });
};

// ---- waves

/** The texts' data: how many tasks of each order, and how long they last. */
const orders = [
  { tasks: 4, seconds: 10.1 },
  { tasks: 2, seconds: 9.2 },
  { tasks: 1, seconds: 8.3 },
  { tasks: 2, seconds: 7.4 },
  { tasks: 1, seconds: 6.5 },
];
/** By readers, 1 to 5. */
const readerSeconds = [88.4, 51.6, 51.6, 41.5, 41.5];

async function runOrders(stage: Stage, readers: number, max = orders.length): Promise<Entry[]> {
  const own = orders.slice(0, max);
  const count = own.reduce((sum, { tasks }) => sum + tasks, 0);
  const log: Entry[] = [];
  const name = `scheduler-${String(readers)}`;
  const kind = timedKind(log, { name, limit: readers, perWorker: readers, prefetchMax: 1 });
  const bench = openWorkerBench([kind], { store: stage.openStore(4) });
  const batch = await bench.client.batches.create({ name, waves: own.length });
  await bench.client.enqueueAll(
    own.flatMap(({ tasks, seconds }, part) =>
      Array.from({ length: tasks }, () =>
        taskRequest(kind, { part, seconds }, { wave: batch.wave(part + 1) }),
      ),
    ),
  );
  await bench.client.batches.start(batch.batchId);
  const endMs = performance.now() + 10_000;
  while ((await statusOf(stage.plain, name)).done < count && performance.now() < endMs)
    await bench.work(name, { maxMs: 10_000 });
  return log;
}

function expectOrder(log: readonly Entry[], max = orders.length): void {
  const parts = orders.slice(0, max).flatMap(({ tasks }, part) => Array<number>(tasks).fill(part));
  expect(log.map(({ part }) => part)).toEqual(parts);
  for (const { part, beganMs } of log) {
    const lower = log.filter((entry) => entry.part < part).map(({ endedMs }) => endedMs);
    expect(beganMs).toBeGreaterThanOrEqual(Math.max(0, ...lower));
  }
}

async function showOrders(stage: Stage): Promise<void> {
  const logs = await Promise.all([1, 2, 3, 4, 5].map((readers) => runOrders(stage, readers)));
  for (const [index, log] of logs.entries()) {
    expectOrder(log);
    const readers = index + 1;
    expect({ readers, atOnce: mostAtOnce(log) }).toEqual({
      readers,
      atOnce: Math.min(readers, 4),
    });
    const idealMs = (at(readerSeconds, index) * 1_000) / scale;
    expect(spanMs(log)).toBeGreaterThanOrEqual(idealMs - 10);
    expect(spanMs(log)).toBeLessThan(idealMs + slackMs);
  }
}

async function showPromptOpening(stage: Stage): Promise<void> {
  const max = 2;
  const log = await runOrders(stage, 4, max);
  expectOrder(log, max);
  for (let part = 1; part < max; part += 1) {
    const lower = log.filter((entry) => entry.part < part).map(({ endedMs }) => endedMs);
    const began = Math.min(
      ...log.filter((entry) => entry.part === part).map(({ beganMs }) => beganMs),
    );
    const gapMs = began - Math.max(...lower);
    expect({ part, gapMs, isPrompt: gapMs < promptMs }).toMatchObject({ isPrompt: true });
  }
}

/** The end of a task is written late. */
const writingLate = (): StoreChange => (store) =>
  changedStore(store, {
    work: async (input) => {
      if (input.done.length > 0) await sleep(1.1 * promptMs);
      return store.work(input);
    },
  });

/** Tasks don't wait for their wave. */
const forgettingWaves = (): StoreChange => (store) =>
  changedStore(store, {
    enqueueTasks: (input, within) =>
      store.enqueueTasks({ ...without(input, "waveId"), tasks: input.tasks.toReversed() }, within),
  });

// ---- senders

async function showSenders(stage: Stage): Promise<void> {
  const senders = [1, 2, 3].map(() => stage.openStore(1));
  const input = {
    operationId: operationId(),
    name: "sent",
    failurePolicy: "halt",
    waves: 2,
  } as const;
  const made = await Promise.all(senders.map((store) => store.createBatch(input)));
  expect(new Set(made.map(({ batchId }) => batchId)).size).toBe(1);
  const { batchId, waveIds } = at(made, 0);
  const ran: string[] = [];
  const kind = defineTask<{ of: string }>({
    name: "sent",
    limit: 1,
    run: async ({ of }) => void ran.push(of),
  });
  const bench = openWorkerBench([kind], { store: stage.openStore(3) });
  const send = async (store: TaskStore, sender: number, wave: number): Promise<void> => {
    const waveId = at(waveIds, wave);
    for (const part of [0, 1, 2]) {
      await store.enqueueTasks({
        name: "sent",
        build: 1,
        operationId: operationId(),
        waveId,
        tasks: [{ payload: JSON.stringify({ of: [wave, sender, part].join(".") }) }],
      });
    }
  };
  // A stay without work registers the definition.
  await bench.work("sent");
  // Wave by wave, so that no task of a later one is older than one of an earlier one (a fast drain looks for those a
  // second later); within a wave all send at once.
  for (const wave of waveIds.keys())
    await Promise.all(senders.map((store, sender) => send(store, sender, wave)));
  await bench.client.batches.start(batchId);
  for (let n = 0; n < 10 && ran.length < 18; n += 1) await bench.work("sent", { concurrency: 1 });
  expect(ran.map((entry) => entry[0])).toEqual([
    ...Array<string>(9).fill("0"),
    ...Array<string>(9).fill("1"),
  ]);
  for (const sender of ["0", "1", "2"])
    expect(ran.filter((entry) => entry[2] === sender)).toEqual(
      ["0", "1"].flatMap((wave) => ["0", "1", "2"].map((part) => `${wave}.${sender}.${part}`)),
    );
}

/** Every call is one of its own: no two senders mean the same batch. */
const forgettingOperations = (): StoreChange => (store) =>
  changedStore(store, {
    createBatch: (input) => store.createBatch({ ...input, operationId: operationId() }),
  });

/** The trials that the source texts print, with their times scaled. */
export const trialScenes: readonly Scene[] = [
  {
    numbers: "S3.6",
    title:
      "ten tasks run in five rounds of pairs on two workers: each task once, both workers used",
    play: showPairs,
    faults: [
      {
        numbers: "S3.6",
        what: "only one worker is ever granted a token",
        change: servingOneWorker,
        found: /atOnce/,
      },
    ],
  },
  {
    numbers: "S4.3",
    title: "the next order begins within a second after the last end of the one before",
    play: showPromptOpening,
    faults: [
      {
        numbers: "S4.3",
        what: "ends are written a second late",
        change: writingLate,
        found: /isPrompt/,
      },
    ],
  },
  {
    numbers: "S4.4, S4.5",
    title:
      "five schedulers at once with 1 to 5 readers get ten entries each, order by order, never above the readers, in time",
    play: showOrders,
    faults: [
      {
        numbers: "S4.4",
        what: "tasks don't wait for their order",
        change: forgettingWaves,
        found: /Array \[|toBeGreaterThanOrEqual/,
      },
      {
        numbers: "S4.5",
        what: "a worker is told of one token more than it was granted",
        change: tellingOneTokenMore,
        found: /atOnce/,
      },
    ],
  },
  {
    numbers: "S4.10",
    title:
      "first senders at once make one batch, and what each of them adds keeps its order within the waves",
    play: showSenders,
    faults: [
      {
        numbers: "S4.10",
        what: "every sender makes a batch of its own",
        change: forgettingOperations,
        found: /toBe/,
      },
    ],
  },
];
