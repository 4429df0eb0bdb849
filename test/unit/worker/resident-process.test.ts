import { getEventListeners } from "node:events";
import { expect, jest, test } from "@jest/globals";
import { limits } from "../../../shared/core/limits";
import { defineTask } from "../../../shared/worker/define/define-task";
import { operationId, statusOf } from "../../support/builders";
import { VirtualTime } from "../../workers/virtual-time";
import { openResident } from "./resident-bench";
import { enqueueOne, openWorkerBench, overriding } from "./worker-bench";

/* The polls of a resident process: they come, however often schedules tell of themselves, and at the instant that is due. */

const pollMs = 2_000;

/** A resident process on virtual time; `sweptAtMs`: its polls. `dueInMs`: what each of them tells. */
function openProcess(
  dueInMs: number | null,
  { isAway = false, draining = new AbortController() } = {},
) {
  const time = new VirtualTime();
  const sweptAtMs: number[] = [];
  const task = defineTask({ name: "steady", run: async () => undefined });
  const bench = openWorkerBench([task], {
    wrap: (store) =>
      overriding(store, {
        ...(isAway
          ? { startExecution: () => Promise.reject(new Error("the database is away")) }
          : {}),
        sweep: async (input) => {
          sweptAtMs.push(time.nowMs);
          return { ...(await store.sweep(input)), nextDueMs: dueInMs };
        },
      }),
  });
  const { process, wakeUp } = openResident({
    ...{ time, task, pollMs, draining },
    environment: bench.environment,
  });
  const told = (inMs: number): Promise<void> => wakeUp.hint("steady", { inMs, forSchedule: true });
  const end = (): void => {
    draining.abort();
  };
  return { time, process, sweptAtMs, told, end };
}

test("polls come while schedules tell of themselves more often than a poll comes", async () => {
  const { time, process, sweptAtMs, told, end } = openProcess(null);
  const over = process.run(() => undefined);
  const tell = (): void => {
    void told(3_600_000);
    time.after(500, tell);
  };
  time.after(0, tell);
  await time.run(60_000);
  // Every 1.6 to 2.4 s, once the first shorter pauses are over.
  expect(sweptAtMs.length).toBeGreaterThanOrEqual(25);
  end();
  await time.run(120_000);
  await over;
});

test("an instant that a poll told of stays due when a later one is told", async () => {
  const { time, process, sweptAtMs, told, end } = openProcess(1_000);
  const over = process.run(() => undefined);
  await time.run(20_000);
  const last = sweptAtMs.at(-1) ?? 0;
  await time.run(last + 900);
  expect(sweptAtMs.at(-1)).toBe(last);
  await told(3_600_000);
  await time.run(last + 1_010);
  expect(sweptAtMs.at(-1)).toBeGreaterThanOrEqual(last + 990);
  end();
  await time.run(120_000);
  await over;
});

test("a long outage leaves no listeners behind", async () => {
  const draining = new AbortController();
  const { time, process, end } = openProcess(null, { isAway: true, draining });
  const over = process.run(() => undefined);
  await time.run(120_000);
  expect(getEventListeners(draining.signal, "abort").length).toBeLessThanOrEqual(5);
  end();
  await time.run(240_000);
  await over;
});

test("an execution ends after so many tasks as its counts can tell, and the process goes on with another one", async () => {
  const replaced = jest.replaceProperty(limits, "executionTasksMax", 5 as 1_000_000_000);
  const time = new VirtualTime();
  const draining = new AbortController();
  const task = defineTask({ name: "steady", limit: 1, run: async () => undefined });
  const executions = new Set<string>();
  const claimed: number[] = [];
  const bench = openWorkerBench([task], {
    wrap: (store) =>
      overriding(store, {
        work: async (input) => {
          const answer = await store.work(input);
          if (answer.claimed.length > 0) executions.add(input.executionId);
          claimed.push(answer.claimed.length);
          return answer;
        },
      }),
  });
  for (let count = 0; count < 12; count += 1) await enqueueOne(bench, task);
  const { process } = openResident({
    ...{ time, task, pollMs, draining },
    environment: bench.environment,
  });
  const over = process.run(() => undefined);
  await time.run(60_000);
  draining.abort();
  await time.run(120_000);
  await over;
  replaced.restore();
  expect(claimed.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(12);
  expect(executions.size).toBe(3);
  expect(await statusOf(bench.environment.store, "steady")).toMatchObject({ ready: 0, done: 12 });
});

test("a process that was denied asks again while tasks wait and others hold all tokens", async () => {
  const time = new VirtualTime();
  const draining = new AbortController();
  const askedAtMs: number[] = [];
  const task = defineTask({ name: "steady", limit: 2, run: async () => undefined });
  const bench = openWorkerBench([task], {
    wrap: (store) =>
      overriding(store, {
        startExecution: (input) => {
          askedAtMs.push(time.nowMs);
          return store.startExecution(input);
        },
      }),
  });
  await enqueueOne(bench, task);
  const { tokens } = await bench.store.startExecution({
    name: "steady",
    operationId: operationId(),
    worker: "other",
    build: bench.environment.build,
    settingsHash: task.definition.settingsHash,
    want: 2,
    needsReady: false,
  });
  expect(tokens).toBe(2);
  askedAtMs.length = 0;
  const { process } = openResident({
    ...{ time, task, pollMs, draining },
    environment: bench.environment,
  });
  const over = process.run(() => undefined);

  await time.run(60_000);

  // A denied host asks for 2.5 s: without the polls nothing came after that.
  expect(askedAtMs.filter((ms) => ms > 10_000).length).toBeGreaterThanOrEqual(10);
  expect(Math.max(...askedAtMs)).toBeGreaterThan(55_000);
  draining.abort();
  await time.run(120_000);
  await over;
});
