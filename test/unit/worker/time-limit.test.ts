import { describe, expect, test } from "@jest/globals";
import { asFence, asTaskId } from "../../../shared/core/ids";
import type { ExecutionId } from "../../../shared/core/ids";
import { limits } from "../../../shared/core/limits";
import { nodeTimers } from "../../../shared/platform/node-timers";
import { realClock, realRandom, sleep } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { TaskClient } from "../../../shared/worker/client/client";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import { ProcessLeave } from "../../../shared/worker/run/leave-process";
import type { StuckTasks } from "../../../shared/worker/run/leave-process";
import { createRegistry } from "../../../shared/worker/define/registry";
import { runWorker } from "../../../shared/worker/run/run-worker";
import type { WorkerResult } from "../../../shared/worker/run/run-worker";
import { openWorkerBench } from "./worker-bench";
import { defineQueue } from "../../../shared/worker/define/define-queue";
import { defineTask } from "../../../shared/worker/define/define-task";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";

/** Time passes so many times faster: the grace is seconds. */
const speed = 10;
const clock = {
  nowMs: () => realClock.nowMs() * speed,
  monotonicMs: () => realClock.monotonicMs() * speed,
};
const timers = {
  ...nodeTimers,
  after: (ms: number, callback: () => void) => nodeTimers.after(ms / speed, callback),
};

/** A worker over the memory store, `speed` times faster than the machine. */
function openFastBench(kinds: readonly AnyTaskKind[], stuck?: { note(stuck: StuckTasks): void }) {
  const store = new MemoryTaskStore({ clock: { now: clock.nowMs }, random: realRandom });
  const { environment, lines, telemetry } = openWorkerBench(kinds, { store });
  const fast = { ...environment, clock, timers };
  const registry = createRegistry(kinds);
  const worker = {
    environment: fast,
    registry,
    heartbeat: new Heartbeat(fast),
    concurrencyPerWorker: 8,
    idleReads: 1,
    idlePauseMs: 5,
    ...(stuck === undefined ? {} : { stuck }),
  };
  return {
    store,
    lines,
    telemetry,
    environment: fast,
    client: new TaskClient(fast, registry),
    work: (name: string, draining?: AbortSignal): Promise<WorkerResult> =>
      runWorker(worker, name, {
        deadlineMs: clock.monotonicMs() + 120_000,
        marginMs: 1_000,
        signal: new AbortController().signal,
        ...(draining === undefined ? {} : { draining }),
      }),
    facts: async (taskId: string) => {
      const { facts } = await store.explainTask({ taskId: asTaskId(taskId) });
      if (facts === null) throw new Error(`task ${taskId} is unknown`);
      return facts;
    },
    enqueue: async (task: AnyTaskKind, count = 1): Promise<string[]> => {
      const ids: string[] = [];
      for (let at = 0; at < count; at += 1) {
        const [enqueued] = await environment.store
          .enqueueTasks({
            name: task.definition.name,
            build: 1,
            operationId: null,
            tasks: [{ kind: task.kind, payload: "{}" }],
          })
          .then(({ taskIds }) => taskIds);
        if (enqueued === undefined) throw new Error("nothing was enqueued");
        ids.push(enqueued);
      }
      return ids;
    },
  };
}

const forEver = new Promise<undefined>(() => undefined);
const retry = { attempts: 2, baseMs: 1, capMs: 1 };

test.each([[0], [-1], [1.5], [limits.timeoutMsMax + 1]])(
  "a time-out of %p ms is refused where the kind is defined",
  (timeoutMs) => {
    expect(() => defineTask({ name: "a", timeoutMs, run: async () => undefined })).toThrow(
      /^timeoutMs: expected a whole number in 1\.\.2592000000/,
    );
  },
);

test("a kind that names no time-out ends after a day, and null means any time", () => {
  const run = async (): Promise<undefined> => undefined;
  expect(defineTask({ name: "a", run }).timeoutMs).toBe(24 * 3_600_000);
  expect(defineTask({ name: "a", timeoutMs: null, run }).timeoutMs).toBeNull();
});

describe("a handler whose time is over", () => {
  test("a handler whose time is over fails, counted, with the time-out as reason when it ends on its signal", async () => {
    const task = defineTask({
      name: "heeds",
      retry,
      timeoutMs: 500,
      run: async (_, { signal }) => {
        await sleep(60_000, signal);
        signal.throwIfAborted();
      },
    });
    const noted: StuckTasks[] = [];
    const bench = openFastBench([task], { note: (stuck) => noted.push(stuck) });
    await bench.client.enqueue(task, {});
    const [id = ""] = await bench.enqueue(task);
    await bench.work("heeds");
    const facts = await bench.facts(id);
    expect(facts.failedCount).toBeGreaterThanOrEqual(1);
    expect(facts.lostCount).toBe(0);
    expect(facts.error).toMatch(/^timed out after 500 ms: TimedOut: /);
    expect(noted).toEqual([]);
  });

  test("a handler whose time is over is done when it ends well within the grace", async () => {
    const task = defineTask({
      name: "late",
      timeoutMs: 500,
      run: async () => {
        await sleep(200);
      },
    });
    const bench = openFastBench([task]);
    await bench.client.enqueue(task, {});
    const [id = ""] = await bench.enqueue(task);
    const result = await bench.work("late");
    expect(result.end).toBe("idle");
    expect((await bench.facts(id)).state).toBe("done");
  });

  test("a handler is stuck after the grace: neighbours end, no claim follows, its attempt counts, its token waits for the lease", async () => {
    let isStuckOnce = false;
    const definition = defineQueue({
      ...{ name: "hangs", limit: 3, leaseMs: 20_000, prefetch: 0, retry },
    });
    const task = defineTask({
      name: "hang",
      queue: definition,
      timeoutMs: 1_000,
      run: async () => {
        if (isStuckOnce) return;
        isStuckOnce = true;
        await forEver;
      },
    });
    // It ends when the other one is past its grace.
    const neighbour = defineTask({ name: "long", queue: definition, run: async () => sleep(800) });
    const bench = openFastBench([task, neighbour]);
    await bench.client.enqueue(neighbour, {});
    const ids = [...(await bench.enqueue(task)), ...(await bench.enqueue(neighbour))];
    const beganMs = clock.monotonicMs();
    const working = bench.work("hangs");
    await sleep((1_000 + limits.timeoutGraceMs + 500) / speed);
    const [late = ""] = await bench.enqueue(task);
    const result = await working;
    const tookMs = clock.monotonicMs() - beganMs;
    expect(result.end).toBe("stuck");
    expect(tookMs).toBeGreaterThan(1_000 + limits.timeoutGraceMs);
    expect(tookMs).toBeLessThan(1_000 + limits.timeoutGraceMs + 8_000);
    expect((await bench.facts(late)).state).toBe("ready");
    const [stuckId = "", ...neighbours] = ids;
    for (const id of neighbours)
      expect(await bench.facts(id)).toMatchObject({ state: "done", failedCount: 0, lostCount: 0 });

    // Until the trust in its lease ends the token and the task are its own.
    expect((await bench.facts(stuckId)).state).toBe("claimed");
    const held = await bench.store.startExecution({
      ...{ name: "hangs", build: 1, want: 3, needsReady: false, worker: "other" },
      settingsHash: task.definition.settingsHash,
      operationId: realRandom.uuid(),
    });
    expect(held.tokens).toBe(2);
    await bench.store.finishExecution({ executionId: held.executionId as ExecutionId });

    // Then the attempt counts as failed, with its reason; it isn't lost, too.
    await sleep(21_000 / speed);
    const facts = await bench.facts(stuckId);
    expect(facts).toMatchObject({ failedCount: 1, lostCount: 0 });
    expect(facts.error).toMatch(/^timed out after 1000 ms; the handler ran on for 5000 ms/);
    const of = { error: "timed out after 1000 ms", at: null, retryInMs: expect.any(Number) };
    const message = "a task failed and runs again";
    const fields = { taskId: stuckId, definition: "hangs", ...of };
    expect(bench.lines).toContainEqual({ level: "warn", message, fields });
    const retried = {
      name: "taskgate.task.retried",
      value: 1,
      attributes: { definition: "hangs" },
    };
    expect(bench.telemetry.counted).toContainEqual(retried);
    // Enough for three tokens.
    await bench.enqueue(task, 3);
    expect((await bench.work("hangs")).tokens).toBe(3);
    expect((await bench.facts(stuckId)).state).toBe("done");
    expect((await bench.facts(late)).state).toBe("done");
  });
});

describe("a process with a stuck handler", () => {
  const stuck = (executionId: string): StuckTasks => ({
    definition: "a",
    executionId: executionId as ExecutionId,
    failures: [
      {
        ...{ taskId: asTaskId(`${executionId}0`), fence: asFence("1"), as: "failed", error: null },
        ...{ retryInMs: null, durationMs: null, checkpoint: null },
      },
    ],
    trustLeftMs: 60_000,
  });

  function openLeave(whenStuck: "exit" | "stay") {
    const steps: string[] = [];
    const timeouts: number[] = [];
    const { environment, lines } = openWorkerBench([]);
    const leave = new ProcessLeave({
      environment: {
        ...environment,
        timers: { ...timers, after: (ms) => (timeouts.push(ms), () => undefined) },
        store: {
          ...environment.store,
          failTasks: async ({ executionId }: { executionId: string }) => {
            steps.push(`failed ${executionId}`);
            return Promise.reject(new Error("the store is away"));
          },
        },
      },
      whenStuck,
      drained: async (maxMs) => void steps.push(`drained ${String(maxMs)}`),
      close: async (last) => {
        await last();
        steps.push("closed");
      },
      exit: (code) => void steps.push(`exit ${String(code)}`),
    });
    return { leave, steps, timeouts, lines };
  }

  test("a process with a stuck handler takes nothing more, lets the others finish, tells the attempts, and ends with code 75, once", async () => {
    const { leave, steps, lines } = openLeave("exit");
    leave.note(stuck("1"));
    expect(leave.draining.aborted).toBe(true);
    leave.note(stuck("2"));
    await sleep(20);
    expect(steps).toEqual(["drained 30000", "failed 1", "failed 2", "closed", "exit 75"]);
    const told = lines.filter(({ message }) => message.startsWith("a handler is stuck"));
    expect(told).toMatchObject([{ fields: { definition: "a", tasks: "10", exitCode: 75 } }]);
  });

  test("a process with a stuck handler stays where it is told so, and tells the attempt when the lease isn't trusted any more", async () => {
    const { leave, steps, timeouts } = openLeave("stay");
    leave.note(stuck("1"));
    await sleep(20);
    expect(leave.draining.aborted).toBe(false);
    expect(steps).toEqual([]);
    expect(timeouts).toEqual([60_000]);
  });

  test("a process with a stuck handler starts no execution while it drains", async () => {
    const task = defineTask({ name: "drained", run: async () => undefined });
    const bench = openFastBench([task]);
    await bench.client.enqueue(task, {});
    const result = await bench.work("drained", AbortSignal.abort());
    expect(result).toEqual({ status: "none", end: "stopped", tokens: 0 });
  });
});

test("a time-out that passes while another handler blocks the event loop begins anew", async () => {
  const definition = defineQueue({ name: "blocked", limit: 2, leaseMs: 600_000, retry });
  const patient = defineTask({
    name: "patient",
    queue: definition,
    timeoutMs: 2_000,
    run: async (_, { signal }) => {
      // It would be over after half of its time.
      await sleep(100, signal);
      signal.throwIfAborted();
      await sleep(60, signal);
      signal.throwIfAborted();
    },
  });
  const blocking = defineTask({
    name: "blocking",
    queue: definition,
    run: async () => {
      await sleep(10);
      const untilMs = performance.now() + 400;
      while (performance.now() < untilMs);
    },
  });
  const bench = openFastBench([patient, blocking]);
  const waiting = await bench.client.enqueue(patient, {});
  const [id = ""] = await bench.enqueue(blocking);
  await bench.work("blocked");
  expect((await bench.facts(id)).state).toBe("done");
  const facts = await bench.facts(waiting.taskId);
  expect(facts).toMatchObject({ state: "done", failedCount: 0, lostCount: 0 });
});
