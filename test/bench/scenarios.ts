import { defineTask } from "../../shared/worker/define/define-task";
import { openBench } from "./bench-environment";
import { limitOverProcesses } from "./limits";
import { quantile, timed } from "./measurement";
import type { BenchScenario, Measurement, Scale } from "./measurement";
import { devStart } from "./dev-start";
import { limitedCalls } from "./limited-calls";
import { limitedHost } from "./limited-host";
import { spreadOverHosts } from "./spread";
import { notifyingEnqueue, residentLatency, sameInvocationLatency } from "./wake-up-latency";
import { taskRequest } from "../../shared/worker/define/task-ref";

/** What work costs; each has a database of its own. */
export const scenarios: readonly BenchScenario[] = [
  bulkEnqueueAndDrain,
  eightInFlight,
  latency,
  residentLatency,
  sameInvocationLatency,
  notifyingEnqueue,
  limitOverProcesses,
  limitedCalls,
  limitedHost,
  spreadOverHosts,
  devStart,
];

async function bulkEnqueueAndDrain(url: string, scale: Scale): Promise<Measurement[]> {
  let done = 0;
  const noop = defineTask({
    name: "noop",
    limit: 16,
    prefetch: 62, // 500 a call
    run: async () => void (done += 1),
  });
  const bench = openBench(url, [noop]);
  const payloads = Array.from({ length: scale.tasks }, (_, index) => ({ index }));
  const enqueueMs = await timed(() => bench.client.enqueueMany(noop, payloads));
  // Two lanes: one execution and one connection each.
  const drainMs = await timed(() => Promise.all([bench.work("noop"), bench.work("noop")]));
  if (done !== scale.tasks)
    throw new Error(`expected ${String(scale.tasks)} tasks to run, ${String(done)} did`);
  await bench.close();
  return [
    {
      scenario: "bulk enqueue, 10,000 a call",
      unit: "tasks/s",
      value: (scale.tasks / enqueueMs) * 1_000,
      goal: null,
    },
    {
      scenario: "batched drain, one process, two lanes",
      unit: "tasks/s",
      value: (scale.tasks / drainMs) * 1_000,
      goal: null,
    },
  ];
}

async function eightInFlight(url: string, scale: Scale): Promise<Measurement[]> {
  let done = 0;
  const strict = defineTask({
    name: "strict",
    limit: 8,
    prefetch: 0,
    run: async () => void (done += 1),
  });
  const bench = openBench(url, [strict]);
  const count = Math.ceil(scale.tasks / 4);
  await bench.client.enqueueAll(
    Array.from({ length: count }, (_, index) => taskRequest(strict, { index })),
  );
  const drainMs = await timed(() => bench.work("strict", { concurrency: 8 }));
  if (done !== count)
    throw new Error(`expected ${String(count)} tasks to run, ${String(done)} did`);
  await bench.close();
  return [
    {
      scenario: "8 in flight, nothing claimed beyond the tokens",
      unit: "tasks/s",
      value: (count / drainMs) * 1_000,
      goal: null,
    },
  ];
}

/** From sending the enqueue to the start of the handler; the hint wakes a worker of the same process at once. */
async function latency(url: string, scale: Scale): Promise<Measurement[]> {
  const waits: number[] = [];
  let sentAtMs = 0;
  let started = (): void => undefined;
  const ping = defineTask({
    name: "ping",
    limit: 1,
    run: async () => {
      waits.push(performance.now() - sentAtMs);
      started();
    },
  });
  const executions = new Set<Promise<unknown>>();
  const bench = openBench(url, [ping], {
    wakeUp: {
      hint: async (definition) => {
        const execution = bench
          .work(definition, { concurrency: 1 })
          .finally(() => executions.delete(execution));
        executions.add(execution);
      },
    },
  });
  await bench.client.enqueue(ping, {});
  await Promise.all(executions);
  waits.length = 0;
  for (let index = 0; index < Math.min(300, scale.tasks / 50); index += 1) {
    const start = new Promise<void>((resolve) => {
      started = resolve;
    });
    sentAtMs = performance.now();
    await bench.client.enqueue(ping, { index });
    await start;
    await Promise.all(executions);
  }
  await bench.close();
  return [
    {
      scenario: "latency p50, enqueue to handler, cold execution",
      unit: "ms",
      value: quantile(waits, 0.5),
      isLessBetter: true,
      goal: 10,
    },
    {
      scenario: "latency p99, enqueue to handler, cold execution",
      unit: "ms",
      value: quantile(waits, 0.99),
      isLessBetter: true,
      goal: 50,
    },
  ];
}
