import { describe, expect, test } from "@jest/globals";
import { asExecutionId } from "../../../shared/core/ids";
import type { TaskStore } from "../../../shared/ports/task-store";
import { createSeededRandom } from "../../../shared/testing/seeded-random";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { realClock } from "../../../shared/platform/real-clock";
import { defineTask } from "../../../shared/worker/define/define-task";
import { startInput } from "../../support/builders";
import { openWorkerBench, overriding } from "./worker-bench";
import type { WorkerBench } from "./worker-bench";
import { taskRequest } from "../../../shared/worker/define/task-ref";

/*
 * What the worker makes of a denial that was noted, and of a gift: it asks again, gives between tasks, leaves a hint. What
 * takes time is simulated in test/workers/spread.test.ts.
 */
const name = "shared";

function openStore(): MemoryTaskStore {
  return new MemoryTaskStore({
    clock: { now: () => realClock.nowMs() },
    random: createSeededRandom(1),
  });
}

/** A task whose first runs wait for `gate`. */
function gated(gate: Promise<void>, limit = 4) {
  return defineTask({ name, limit, run: async () => gate });
}

async function enqueue(bench: WorkerBench, task: ReturnType<typeof gated>, count: number) {
  await bench.client.enqueueAll(Array.from({ length: count }, () => taskRequest(task)));
}

/** Another host asks until it has tokens. */
async function askFromElsewhere(store: TaskStore, want = 4) {
  return store.startExecution(
    startInput(name, { worker: "elsewhere", want, settingsHash: null, needsReady: true }),
  );
}

describe("a worker that holds all tokens", () => {
  test("a worker that holds all tokens gives half of them between tasks and leaves a hint", async () => {
    const calls: string[] = [];
    let given = 0;
    const bench = openWorkerBench(
      [
        defineTask({
          name,
          limit: 4,
          run: async () => {
            // Another host is denied while the first tasks run.
            if (calls.length < 5) await askFromElsewhere(bench.store);
          },
        }),
      ],
      {
        wrap: (store) =>
          overriding(store, {
            work: async (input) => {
              calls.push("work");
              return store.work(input);
            },
            releaseSurplus: async (input) => {
              calls.push("release");
              const answer = await store.releaseSurplus(input);
              given += answer.given;
              return answer;
            },
          }),
      },
    );
    const task = gated(Promise.resolve());
    await enqueue(bench, task, 40);
    bench.hints.length = 0;
    await bench.work(name, { concurrency: 4 });
    expect(given).toBe(2);
    expect(calls).toContain("release");
    expect(bench.hints.map(({ definition }) => definition)).toContain(name);
    expect((await bench.store.listDefinitions({ name })).definitions[0]).toMatchObject({
      done: 40,
    });
  });

  test("a worker that holds all tokens hints also when the answer to its gift was lost and the repeat says nothing of it", async () => {
    const bench = openWorkerBench(
      [
        defineTask({
          name,
          limit: 4,
          run: async () => {
            await askFromElsewhere(bench.store);
          },
        }),
      ],
      {
        wrap: (store) =>
          overriding(store, {
            releaseSurplus: async (input) => {
              await store.releaseSurplus(input);
              return store.releaseSurplus(input);
            },
          }),
      },
    );
    await enqueue(bench, gated(Promise.resolve()), 12);
    bench.hints.length = 0;
    await bench.work(name, { concurrency: 4 });
    // One for help, one for the gift.
    expect(
      bench.hints.filter(({ definition }) => definition === name).length,
    ).toBeGreaterThanOrEqual(2);
  });
});

describe("a worker that is denied", () => {
  test("a worker that is denied asks again when the denial was noted, and starts when tokens were given", async () => {
    const store = openStore();
    const task = gated(Promise.resolve(), 2);
    let asks = 0;
    let holder = asExecutionId("0");
    const bench = openWorkerBench([task], {
      store,
      wrap: (inner) =>
        overriding(inner, {
          startExecution: async (input) => {
            asks += 1;
            if (asks === 3) await inner.releaseSurplus({ executionId: holder, keep: 0 });
            return inner.startExecution(input);
          },
        }),
    });
    await enqueue(bench, task, 3);
    const first = await askFromElsewhere(store, 2);
    if (first.executionId === null) throw new Error(`expected an execution, got ${first.status}`);
    holder = first.executionId;
    expect(await bench.work(name)).toMatchObject({ status: "worked", tokens: 1 });
    expect(asks).toBe(3);
  });

  test("a worker that is denied asks once when nothing was noted: no process could give", async () => {
    const store = openStore();
    const task = gated(Promise.resolve(), 1);
    let asks = 0;
    const bench = openWorkerBench([task], {
      store,
      wrap: (inner) =>
        overriding(inner, {
          startExecution: async (input) => {
            asks += 1;
            return inner.startExecution(input);
          },
        }),
    });
    await enqueue(bench, task, 3);
    await askFromElsewhere(store, 1);
    expect(await bench.work(name)).toMatchObject({ status: "limited" });
    expect(asks).toBe(1);
    expect(bench.hints.filter(({ inMs }) => inMs === undefined)).toHaveLength(1);
  });

  test("a worker that is denied gives up at once when it is told to stop", async () => {
    const store = openStore();
    const task = gated(Promise.resolve(), 2);
    const stop = new AbortController();
    let asks = 0;
    const bench = openWorkerBench([task], {
      store,
      wrap: (inner) =>
        overriding(inner, {
          startExecution: async (input) => {
            asks += 1;
            stop.abort();
            return inner.startExecution(input);
          },
        }),
    });
    await enqueue(bench, task, 3);
    await askFromElsewhere(store, 2);
    expect(await bench.work(name, { signal: stop.signal })).toMatchObject({ status: "limited" });
    expect(asks).toBe(1);
  });

  test("a worker that is denied hands the hint on when the free tokens were given for others", async () => {
    const task = gated(Promise.resolve(), 2);
    const bench = openWorkerBench([task], {
      wrap: (inner) =>
        overriding(inner, {
          startExecution: async (input) => ({
            ...(await inner.startExecution({ ...input, name: "nobody knows it" })),
            status: "limited",
            demand: "others",
          }),
        }),
    });
    expect(await bench.work(name)).toMatchObject({ status: "limited" });
    expect(bench.hints).toEqual([{ definition: name, inMs: undefined }]);
  });
});
