import { describe, expect, test } from "@jest/globals";
import { realClock } from "../../../shared/platform/real-clock";
import type { WorkInput } from "../../../shared/ports/task-store";
import { defineTask } from "../../../shared/worker/define/define-task";
import { LimitPools } from "../../../shared/worker/run/limit-pools";
import { withTokens } from "../../../shared/worker/run/with-tokens";
import { openWorkerBench, overriding } from "./worker-bench";
import type { WorkerBench } from "./worker-bench";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";
import { taskRequest } from "../../../shared/worker/define/task-ref";

async function enqueueMany(bench: WorkerBench, task: AnyTaskKind, count: number): Promise<void> {
  await bench.client.enqueueAll(Array.from({ length: count }, () => taskRequest(task, {})));
}

describe("a worker under a rate", () => {
  test("a worker under a rate waits as told while the next start is near, and starts no faster", async () => {
    const starts: number[] = [];
    const task = defineTask({
      name: "paced",
      limit: 8,
      rate: { count: 20, periodMs: 1_000, burst: 1 },
      run: () => {
        starts.push(realClock.monotonicMs());
        return Promise.resolve();
      },
    });
    const asked: WorkInput[] = [];
    const bench = openWorkerBench([task], {
      wrap: (store) =>
        overriding(store, {
          work: (input) => {
            asked.push(input);
            return store.work(input);
          },
        }),
    });
    await enqueueMany(bench, task, 6);
    expect(await bench.work("paced")).toMatchObject({ status: "worked", end: "idle" });
    expect(starts).toHaveLength(6);
    // The clock of the store is the wall's, in whole milliseconds.
    expect((starts.at(-1) ?? 0) - (starts.at(0) ?? 0)).toBeGreaterThan(5 * 50 - 20);
    // Each claim, each completion, the last looks, and a few for clocks that differ: no polling.
    expect(asked.length).toBeLessThan(30);
  });

  test("a worker under a rate ends when the next start is far, and leaves a hint for its instant", async () => {
    const task = defineTask({
      name: "seldom",
      limit: 8,
      rate: { count: 2, periodMs: 60_000, burst: 2 },
      run: () => Promise.resolve(),
    });
    const bench = openWorkerBench([task]);
    await enqueueMany(bench, task, 5);
    const startedAtMs = realClock.monotonicMs();
    expect(await bench.work("seldom")).toMatchObject({ status: "worked", end: "rate" });
    expect(realClock.monotonicMs() - startedAtMs).toBeLessThan(20_000);
    // The first is the enqueue's.
    const [, ...left] = bench.hints;
    expect(left).toEqual([{ definition: "seldom", inMs: expect.any(Number) }]);
    expect(left[0]?.inMs).toBeGreaterThan(10_000);
    expect(left[0]?.inMs).toBeLessThanOrEqual(30_000);
    const [definition] = (await bench.store.listDefinitions({})).definitions;
    expect(definition).toMatchObject({ held: 0, claimed: 0, done: 2, ready: 3 });
  });

  test("a worker under a rate asks for no prefetched claims: one that is given back has used up its start", async () => {
    const wanted: number[] = [];
    const task = defineTask({
      name: "spared",
      limit: 2,
      rate: { count: 1_000, periodMs: 1_000, burst: 1_000 },
      run: () => Promise.resolve(),
    });
    const bench = openWorkerBench([task], {
      wrap: (store) =>
        overriding(store, {
          work: (input) => {
            wanted.push(input.want);
            return store.work(input);
          },
        }),
    });
    await enqueueMany(bench, task, 20);
    await bench.work("spared");
    expect(Math.max(...wanted)).toBe(2);
  });

  test("withTokens takes a start of the rate with each call, and its denial says when the next one may come", async () => {
    const bench = openWorkerBench([]);
    const pools = new LimitPools(bench.environment, bench.heartbeat);
    const limit = { name: "calls", limit: 5, rate: { count: 1, periodMs: 10_000 } };
    const first = await withTokens(pools, { limit }, () => Promise.resolve("called"));
    expect(first).toEqual({ ran: true, value: "called" });
    const second = await withTokens(pools, { limit }, () => Promise.resolve("called"));
    expect(second).toMatchObject({ ran: false, reason: "limited" });
    expect("retryInMs" in second && second.retryInMs).toBeGreaterThan(9_000);
  });
});

describe("a rate in code", () => {
  test("a rate in code has the burst that refills in 100 ms unless it says otherwise", () => {
    const burst = (count: number, periodMs: number): number | undefined =>
      defineTask({ name: "any", rate: { count, periodMs }, run: () => Promise.resolve() })
        .definition.settings.rate?.burst;
    expect([burst(100, 60_000), burst(1_000, 1_000), burst(1, 86_400_000)]).toEqual([1, 100, 1]);
  });

  test.each([
    [{ count: 0, periodMs: 1_000 }, "rate.count: expected a whole number in 1..1000000 (0)"],
    [{ count: 1, periodMs: 10 }, "rate.periodMs: expected a whole number in 1000..86400000 (10)"],
    [{ count: 5, periodMs: 1_000, burst: 6 }, "rate.burst: expected a whole number in 1..5 (6)"],
  ])("%j is refused", (rate, says) => {
    expect(() => defineTask({ name: "any", rate, run: () => Promise.resolve() })).toThrow(says);
  });
});
