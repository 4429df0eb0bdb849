import { expect, test } from "@jest/globals";
import { StoreUnavailableError } from "../../../shared/core/errors";
import type { HintOptions } from "../../../shared/ports/wake-up";
import { TaskClient } from "../../../shared/worker/client/client";
import { defineTask } from "../../../shared/worker/define/define-task";
import { createRegistry } from "../../../shared/worker/define/registry";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";
import { IdleExecutions } from "../../../shared/worker/run/idle-executions";
import { InvocationWork } from "../../../shared/worker/run/invocation-work";
import { openWorkerBench } from "./worker-bench";
import type { WorkerBench } from "./worker-bench";

interface Scene {
  readonly bench: WorkerBench;
  readonly work: InvocationWork;
  readonly client: TaskClient;
  /** Hints that left the invocation. */
  readonly out: { definition: string; options: HintOptions | undefined }[];
  readonly troubles: string[];
  readonly idle: IdleExecutions;
}

function openScene(
  kinds: readonly AnyTaskKind[],
  parts: {
    concurrency?: number;
    maxMs?: number;
    servesOthers?: boolean;
    wrap?: Parameters<typeof openWorkerBench>[1];
    draining?: AbortSignal;
    idlePauseMs?: number;
    /** Of the same process. */
    beside?: Scene;
  } = {},
): Scene {
  const bench = parts.beside?.bench ?? openWorkerBench(kinds, parts.wrap);
  const idle = parts.beside?.idle ?? new IdleExecutions();
  const registry = createRegistry(kinds);
  const out: Scene["out"] = [];
  const troubles: string[] = [];
  const environment = {
    ...bench.environment,
    wakeUp: {
      hint: async (definition: string, options?: HintOptions) =>
        void out.push({ definition, options }),
    },
  };
  const work = new InvocationWork({
    worker: {
      environment,
      registry,
      heartbeat: bench.heartbeat,
      concurrencyPerWorker: parts.concurrency ?? 4,
      idleReads: parts.idlePauseMs === undefined ? 0 : 1,
      idlePauseMs: parts.idlePauseMs ?? 1,
    },
    bounds: {
      deadlineMs: environment.clock.monotonicMs() + (parts.maxMs ?? 10_000),
      marginMs: 100,
      signal: new AbortController().signal,
      ...(parts.draining === undefined ? {} : { draining: parts.draining }),
    },
    idle,
    servesOthers: parts.servesOthers ?? true,
    onTrouble: (definition, reason) => void troubles.push(`${definition}: ${reason}`),
  });
  return { bench, work, client: new TaskClient(work.environment, registry), out, troubles, idle };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const ran: string[] = [];
const child = defineTask({ name: "child", run: async () => void ran.push("child") });
const parent = defineTask({
  name: "parent",
  run: async (_, context) => {
    ran.push("parent");
    await context.enqueue(child, {});
  },
});

test("tasks that an invocation enqueues run in it, and so do their children; no hint goes out", async () => {
  ran.length = 0;
  const { client, work, out } = openScene([parent, child]);
  await client.enqueue(parent, {});
  await work.settled();
  expect(ran).toEqual(["parent", "child"]);
  expect(out).toEqual([]);
});

test("each execution that an invocation begins for tasks has a worker's span", async () => {
  const { client, work, bench } = openScene([parent, child]);
  await client.enqueue(parent, {});
  await work.settled();
  const workers = bench.telemetry.spans.filter(({ name }) => name.startsWith("worker "));
  expect(workers.map(({ name }) => name)).toEqual(["worker parent", "worker child"]);
});

test("executions of one invocation ask for no more tokens than a worker; a hint goes out for the rest", async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const kinds = ["one", "two", "three"].map((name) =>
    defineTask({ name, limit: 4, run: () => gate }),
  );
  const { client, work, out, bench } = openScene(kinds, { concurrency: 3 });
  for (const kind of kinds) await client.enqueueMany(kind, [{}, {}]);
  const hinted = out.map(({ definition }) => definition);
  expect(hinted).toContain("three");
  expect(hinted).not.toContain("one");
  for (let held = 0; held < 3;) {
    const { executions } = await bench.store.listExecutions({ isOpen: true, max: 10 });
    held = executions.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(held).toBeLessThanOrEqual(3);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  open();
  await work.settled();
});

test("a task that comes while the execution looks for the last time is not left behind", async () => {
  ran.length = 0;
  const { client, work } = openScene([parent, child]);
  const enqueues = Array.from({ length: 40 }, async (_, index) => {
    await new Promise((resolve) => setTimeout(resolve, index * 3));
    await client.enqueue(child, {});
  });
  await Promise.all(enqueues);
  await work.settled();
  expect(ran).toHaveLength(40);
});

test("a task begins on the token of another invocation's execution that waits, where the limit is 1", async () => {
  ran.length = 0;
  const first = openScene([child], { idlePauseMs: 1_500 });
  await first.client.enqueue(child, {});
  while (ran.length < 1) await sleep(2);
  await sleep(50);
  const second = openScene([child], { beside: first });
  const startedAtMs = performance.now();
  await second.client.enqueue(child, {});
  while (ran.length < 2) await sleep(2);
  expect(performance.now() - startedAtMs).toBeLessThan(700);
  const { executions } = await first.bench.store.listExecutions({ isOpen: false, max: 10 });
  expect(executions).toHaveLength(1);
  await Promise.all([first.work.settled(), second.work.settled()]);
  expect([...first.out, ...second.out]).toEqual([]);
});

test("a child begins on the token of an execution that waits, whichever invocation runs its parent", async () => {
  ran.length = 0;
  const first = openScene([parent, child], { idlePauseMs: 1_500 });
  await first.client.enqueue(parent, {});
  while (ran.length < 2) await sleep(2);
  await sleep(50);
  const second = openScene([parent, child], { beside: first });
  const startedAtMs = performance.now();
  await second.client.enqueue(parent, {});
  while (ran.length < 4) await sleep(2);
  expect(performance.now() - startedAtMs).toBeLessThan(700);
  await Promise.all([first.work.settled(), second.work.settled()]);
  expect([...first.out, ...second.out]).toEqual([]);
});

test("an execution whose tokens are all in use leaves the tasks of another invocation to that invocation", async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let running = 0;
  const slow = defineTask({
    name: "slow",
    limit: 8,
    run: async () => {
      running += 1;
      await gate;
    },
  });
  const first = openScene([slow], { idlePauseMs: 1_500, concurrency: 2 });
  const second = openScene([slow], { beside: first });
  await first.client.enqueueMany(slow, [{}, {}]);
  while (running < 2) await sleep(2);
  await second.client.enqueueMany(slow, [{}, {}, {}]);
  while (running < 5) await sleep(2);
  open();
  await Promise.all([first.work.settled(), second.work.settled()]);
  expect([...first.out, ...second.out]).toEqual([]);
});

test("an invocation sends hints out without time, after the drain has begun, and where the setting is off", async () => {
  for (const parts of [
    { maxMs: 1_000 },
    { draining: AbortSignal.abort() },
    { servesOthers: false },
  ]) {
    ran.length = 0;
    const { client, work, out } = openScene([child], parts);
    await client.enqueue(child, {});
    await work.settled();
    expect(out.map(({ definition }) => definition)).toEqual(["child"]);
    expect(ran).toEqual([]);
  }
});

test("delayed tasks, schedules and other apps' definitions are for hints", async () => {
  const { client, work, out } = openScene([child]);
  await client.enqueue(child, {}, { runInMs: 60_000 });
  await work.hint("child", { inMs: 5_000, forSchedule: true });
  await work.hint("elsewhere");
  await work.settled();
  expect(out).toEqual([
    { definition: "child", options: expect.objectContaining({ tasks: 1 }) },
    { definition: "child", options: { inMs: 5_000, forSchedule: true } },
    { definition: "elsewhere", options: {} },
  ]);
});

test("a store that goes away after the enqueue ends the invocation well, with a delayed hint", async () => {
  const { client, work, out, troubles } = openScene([child], {
    wrap: {
      wrap: (store) =>
        new Proxy(store, {
          get: (target, name) => {
            const value: unknown = Reflect.get(target, name, target);
            if (name === "startExecution")
              return () => Promise.reject(new StoreUnavailableError("away"));
            return typeof value === "function" ? (value.bind(target) as unknown) : value;
          },
        }),
    },
  });
  await client.enqueue(child, {});
  await work.settled();
  expect(out).toEqual([{ definition: "child", options: { inMs: 15_000 } }]);
  expect(troubles).toEqual(["child: away"]);
});

test("an execution whose calls fail later leaves a delayed hint, too", async () => {
  const { client, work, out } = openScene([child], {
    wrap: {
      wrap: (store) =>
        new Proxy(store, {
          get: (target, name) => {
            const value: unknown = Reflect.get(target, name, target);
            if (name === "work") return () => Promise.reject(new StoreUnavailableError("away"));
            return typeof value === "function" ? (value.bind(target) as unknown) : value;
          },
        }),
    },
  });
  await client.enqueue(child, {});
  await work.settled();
  expect(out.at(-1)).toEqual({ definition: "child", options: { inMs: 15_000 } });
});

test("an execution asks for its definition's tokens where the invocation was there for it", async () => {
  const many = defineTask({ name: "many", limit: 10, run: async () => undefined });
  const { client, work, bench, out } = openScene([many], { concurrency: 4, servesOthers: false });
  await client.enqueueMany(
    many,
    Array.from({ length: 20 }, () => ({})),
  );
  const result = await work.run("many");
  await work.settled();
  expect(result).toMatchObject({ status: "worked", tokens: 4 });
  expect((await bench.store.listDefinitions({ name: "many" })).definitions[0]).toMatchObject({
    done: 20,
  });
  expect(out.length).toBeGreaterThan(0);
});
