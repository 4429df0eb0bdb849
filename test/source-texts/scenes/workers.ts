import { expect } from "@jest/globals";
import { GiveUp } from "../../../shared/core/task-failure";
import { sleep } from "../../../shared/platform/real-clock";
import { at, factsOf, statusOf } from "../../support/builders";
import { changedStore } from "../../support/planted-setup";
import { openWorkerBench } from "../../unit/worker/worker-bench";
import { holdTransaction } from "../postgres-stage";
import type { Scene } from "../scene";
import type { Held, Stage, StoreChange } from "../stage";
import { defineTask } from "../../../shared/worker/define/define-task";
import { taskRequest } from "../../../shared/worker/define/task-ref";

/** Counts handlers at work, and the most that ever were. Each waits a while for the others, so a slow start hides no handler. */
class Crowd {
  max = 0;
  #now = 0;
  readonly #wanted: number;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  async during(ms: number): Promise<void> {
    this.#now += 1;
    this.max = Math.max(this.max, this.#now);
    for (let waited = 0; waited < 2_000 && this.max < this.#wanted; waited += ms) await sleep(ms);
    await sleep(ms);
    this.#now -= 1;
  }
}

/** A worker that is granted tokens is told of one more. */
export const tellingOneTokenMore = (): StoreChange => (store) =>
  changedStore(store, {
    startExecution: async (input) => {
      const answer = await store.startExecution(input);
      return answer.tokens === 0 ? answer : { ...answer, tokens: answer.tokens + 1 };
    },
  });

async function showParallelism(stage: Stage): Promise<void> {
  for (const [first, second] of [
    [2, 0],
    [2, 1],
  ] as const) {
    const crowd = new Crowd(first + second);
    const name = `crowd-${String(first + second)}`;
    const task = defineTask({
      name,
      limit: first + second,
      prefetch: 10,
      run: () => crowd.during(5),
    });
    const workers = [first, second]
      .filter((concurrency) => concurrency > 0)
      .map((concurrency) => ({
        concurrency,
        bench: openWorkerBench([task], { store: stage.openStore(3) }),
      }));
    const { client } = at(workers, 0).bench;
    await client.enqueueAll(Array.from({ length: 24 }, () => taskRequest(task, {})));
    // Hints bring them back until all is done.
    for (let n = 0; n < 20 && (await statusOf(stage.plain, name)).done < 24; n += 1)
      await Promise.all(
        workers.map(({ bench, concurrency }) => bench.work(name, { concurrency, idleReads: 2 })),
      );
    expect({ workers: workers.length, atOnce: crowd.max }).toEqual({
      workers: workers.length,
      atOnce: first + second,
    });
  }
}

// ---- idle

/** After its first empty claim an execution is never given anything. */
const blindAfterIdling = (): StoreChange => {
  const blind = new Set<unknown>();
  return (store) =>
    changedStore(store, {
      work: async (input) => {
        if (blind.has(input.executionId)) return store.work({ ...input, want: 0 });
        const answer = await store.work(input);
        if (input.want > 0 && answer.status === "none") blind.add(input.executionId);
        return answer;
      },
    });
};

/** The end of an execution isn't written. */
const neverEnding = (): StoreChange => (store) =>
  changedStore(store, {
    finishExecution: () =>
      Promise.resolve({
        status: "ended",
        givenBack: 0,
        tokensFreed: 0,
        ready: false,
        nextDueMs: null,
        woken: [],
        opening: [],
      }),
  });

async function showIdling(stage: Stage): Promise<void> {
  let calls = 0;
  const counting: StoreChange = (store) =>
    changedStore(store, {
      work: (input) => {
        calls += 1;
        return store.work(input);
      },
    });
  const ran: number[] = [];
  const quick = defineTask({ name: "quick", run: async () => void ran.push(performance.now()) });
  const bench = openWorkerBench([quick], { store: counting(stage.openStore(3)) });
  const add = async () => (await bench.client.enqueue(quick, {})).taskId;
  await add();
  const execution = bench.work("quick", { idleReads: 5, idlePauseMs: 100 });
  await sleep(250);
  const second = await add();
  expect(await execution).toMatchObject({ end: "idle" });
  const leftMs = performance.now();
  expect((await factsOf(stage.plain, second)).state).toBe("done");
  // It looked again and again after the last task, then left, and asks nothing any more.
  expect(leftMs - at(ran, 1)).toBeGreaterThan(300);
  const asked = calls;
  expect(await statusOf(stage.plain, "quick")).toMatchObject({ executions: 0, held: 0 });
  await sleep(150);
  expect(calls).toBe(asked);
  // A task that comes now leaves a hint, and the next execution finds it.
  const late = await add();
  expect(bench.hints.at(-1)?.definition).toBe("quick");
  await bench.work("quick", { idleReads: 1, idlePauseMs: 10 });
  expect((await factsOf(stage.plain, late)).state).toBe("done");
}

// ---- ends

const answering = defineTask<{ fails: boolean }>({
  name: "answer",
  run: async ({ fails }) => {
    if (fails) throw new GiveUp("there is none");
    return { answer: 42 };
  },
});

async function showAwaiting(stage: Stage): Promise<void> {
  const bench = openWorkerBench([answering], { store: stage.openStore(4) });
  const tasks = await bench.client.enqueueAll(
    [false, true].map((fails) => taskRequest(answering, { fails })),
  );
  const ends = Promise.all(
    tasks.map(({ taskId }) => bench.client.waitFor(answering, taskId, { timeoutMs: 3_000 })),
  );
  await bench.work("answer");
  const [good, bad] = await ends;
  expect(good).toEqual({ state: "done", result: { answer: 42 }, error: null });
  expect(bad).toMatchObject({ state: "dead", result: null });
  expect(bad?.error).toContain("there is none");
  const { taskId } = await bench.client.enqueue(answering, { fails: false });
  expect(await bench.client.waitFor(answering, taskId, { timeoutMs: 30 })).toMatchObject({
    state: "unfinished",
  });
}

/** The results of ended tasks are not told. */
const hidingResults = (): StoreChange => (store) =>
  changedStore(store, {
    explainTask: async (input) => {
      const { facts, ...rest } = await store.explainTask(input);
      return { ...rest, facts: facts === null ? null : { ...facts, result: null } };
    },
  });

// ---- the log

async function showLog(stage: Stage): Promise<void> {
  const seen: unknown[] = [];
  const task = defineTask({
    name: "logged",
    retry: { attempts: 2, baseMs: 1, capMs: 1 },
    run: async (_, ctx) => {
      const facts = await factsOf(stage.plain, ctx.taskId);
      seen.push({
        state: facts.state,
        worker: facts.claim?.worker,
        earlier: facts.attempts.length,
      });
      await sleep(5);
      if (seen.length === 1) throw new Error("the first try fails");
      return {};
    },
  });
  const bench = openWorkerBench([task], { store: stage.openStore(3) });
  const { taskId } = await bench.client.enqueue(task, { of: "me" });
  const state = async () => (await factsOf(stage.plain, taskId)).state;
  for (let n = 0; n < 50 && (await state()) !== "done"; n += 1) {
    await bench.work("logged");
    await sleep(5);
  }
  const { attempts, payload, kind, endedAt } = await factsOf(stage.plain, taskId);
  expect({ payload: JSON.parse(payload ?? "null") as unknown, kind }).toEqual({
    payload: { of: "me" },
    kind: "logged",
  });
  // The entry of the task that ended well is the task itself; attempts before it are kept beside it.
  expect(seen).toEqual([
    { state: "claimed", worker: "test", earlier: 0 },
    { state: "claimed", worker: "test", earlier: 1 },
  ]);
  const first = at(attempts, 0);
  expect(attempts).toHaveLength(1);
  expect(first).toMatchObject({ outcome: "failed", worker: "test" });
  expect(first.error).toContain("the first try fails");
  expect(first.durationMs).toBeGreaterThanOrEqual(4);
  expect(Date.parse(first.endedAt)).toBeGreaterThanOrEqual(Date.parse(first.claimedAt));
  expect(Date.parse(String(endedAt))).toBeGreaterThanOrEqual(Date.parse(first.endedAt));
}

/** Failures are written without their errors. */
const forgettingErrors = (): StoreChange => (store) =>
  changedStore(store, {
    failTasks: (input) =>
      store.failTasks({
        ...input,
        failures: input.failures.map((failure) => ({ ...failure, error: "" })),
      }),
  });

// ---- no transaction while a handler runs

/** A claim leaves a transaction open until its worker's next call. */
const spanningWork = (): StoreChange => {
  const open = new Map<unknown, Held>();
  return (store) =>
    changedStore(store, {
      work: async (input) => {
        await open.get(input.executionId)?.commit();
        open.delete(input.executionId);
        const answer = await store.work(input);
        if (answer.claimed.length > 0) {
          const first = () => Promise.resolve();
          open.set(input.executionId, (await holdTransaction(store, first)).held);
        }
        return answer;
      },
    });
};

async function showNoSpanningTransaction(stage: Stage): Promise<void> {
  const seen: { how: unknown; transactions: number; state: string }[] = [];
  const task = defineTask<{ how: string }>({
    name: "plain",
    limit: 1,
    retry: { attempts: 1 },
    run: async ({ how }, ctx) => {
      seen.push({
        how,
        transactions: await stage.countTransactions(),
        // Another session sees the entry of the running task, by a clean read.
        state: (await factsOf(stage.plain, ctx.taskId)).state,
      });
      // What the body does to a transaction of its own is no matter of the log.
      if (how === "rolls back")
        await ctx.completeWith(() => Promise.reject(new Error("rolled back by the body")));
    },
  });
  const bench = openWorkerBench([task], { store: stage.openStore(4) });
  const tasks = await bench.client.enqueueAll(
    ["works", "rolls back"].map((how) => taskRequest(task, { how })),
  );
  await bench.work("plain", { concurrency: 1 });
  expect(seen).toEqual(
    ["works", "rolls back"].map((how) => ({ how, transactions: 0, state: "claimed" })),
  );
  const ends = await Promise.all(tasks.map(({ taskId }) => factsOf(stage.plain, taskId)));
  expect(ends.map(({ state, attempts }) => [state, attempts.length])).toEqual([
    ["done", 0],
    ["dead", 1],
  ]);
}

/** The worker over each store. */
export const workerScenes: readonly Scene[] = [
  {
    numbers: "S3.1",
    title:
      "as many handlers run at once as there are tokens, however many tasks are claimed; one more worker adds one",
    play: showParallelism,
    faults: [
      {
        numbers: "S3.1",
        what: "a worker is told of one token more than it was granted",
        change: tellingOneTokenMore,
        found: /atOnce/,
      },
    ],
  },
  {
    numbers: "S3.4, S4.15",
    title:
      "an idle worker asks again, takes tasks that come meanwhile, leaves and asks nothing; the next execution finds later tasks",
    play: showIdling,
    faults: [
      {
        numbers: "S3.4",
        what: "what comes while a worker idles isn't seen by it",
        change: blindAfterIdling,
        found: /"ready"/,
      },
      {
        numbers: "S4.15",
        what: "a worker that has left still holds its execution",
        change: neverEnding,
        found: /executions/,
      },
    ],
  },
  {
    numbers: "S3.5",
    title: "each attempt stands in the log with worker, end, outcome and error",
    play: showLog,
    faults: [
      {
        numbers: "S3.5",
        what: "failures are written without their errors",
        change: forgettingErrors,
        found: /the first try fails/,
      },
    ],
  },
  {
    numbers: "S3.9",
    title: "a submitter hears the result, or why there is none, or that there is none yet",
    play: showAwaiting,
    faults: [{ numbers: "S3.9", what: "results are not told", change: hidingResults, found: /42/ }],
  },
  {
    numbers: "S3.10",
    title:
      "no transaction is open while a handler runs, others see its entry, and its rollback undoes its own rows only",
    play: showNoSpanningTransaction,
    faults: [
      {
        numbers: "S3.10",
        what: "a claim leaves its transaction open while the handler runs",
        change: spanningWork,
        found: /"transactions": [1-9]/,
      },
    ],
  },
];
