import { expect, test } from "@jest/globals";
import { createSeededRandom } from "../../../shared/testing/seeded-random";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { createRegistry } from "../../../shared/worker/define/registry";
import { defineTask } from "../../../shared/worker/define/define-task";
import { ResidentProcess } from "../../../shared/worker/resident/resident-process";
import { ResidentWakeUp } from "../../../shared/worker/resident/resident-wake-up";
import { Heartbeat } from "../../../shared/worker/run/heartbeat";
import { define, enqueue } from "../../support/builders";
import { VirtualTime } from "../../workers/virtual-time";
import { openWorkerBench } from "./worker-bench";

/* Instants of schedules are known beforehand: polls may be far apart. */

test.each([
  ["nothing else is due", false],
  ["a task that no process serves is overdue", true],
])(
  "a schedule of each minute is fired each minute where polls come every ten: %s",
  async (_, isOverdue) => {
    const time = new VirtualTime();
    const base = Date.UTC(2030, 0, 1, 0, 0, 30);
    const store = new MemoryTaskStore({
      clock: { now: () => base + time.nowMs },
      random: createSeededRandom(1),
    });
    const lateMs: number[] = [];
    const task = defineTask<{ scheduledFor: string }>({
      name: "minutely",
      schedule: { cron: "* * * * *", missed: "all" },
      run: ({ scheduledFor }) => {
        lateMs.push(base + time.nowMs - Date.parse(scheduledFor));
        return Promise.resolve();
      },
    });
    const quiet = { hint: () => Promise.resolve() };
    const wakeUp = new ResidentWakeUp({ others: quiet, residents: quiet });
    const environment = {
      ...openWorkerBench([task]).environment,
      ...{ store, wakeUp },
      clock: { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs },
      timers: {
        after: (ms: number, callback: () => void) => time.after(ms, callback),
        soon: (callback: () => void) => void time.after(0, callback),
      },
    };
    if (isOverdue) {
      await enqueue(store, await define(store), [{ runInMs: 1 }]);
      await time.run(10);
    }
    const draining = new AbortController();
    const process = new ResidentProcess({
      worker: {
        environment,
        registry: createRegistry([task]),
        heartbeat: new Heartbeat(environment),
        concurrencyPerWorker: 1,
        idleReads: 1,
        idlePauseMs: 5,
      },
      ...{ wakeUp, definitions: ["minutely"], pollMs: 600_000, listener: null },
      session: () => ({
        deadlineMs: time.nowMs + 60_000,
        marginMs: 100,
        signal: draining.signal,
      }),
      draining: draining.signal,
    });
    const over = process.run(() => undefined);
    // The first shorter pauses are over then.
    await time.run(3_600_000);
    const before = lateMs.length;
    await time.run(3_900_000);
    expect(lateMs.length - before).toBeGreaterThanOrEqual(4);
    expect(Math.max(...lateMs.slice(before))).toBeLessThan(5_000);
    draining.abort();
    await time.run(6_000_000);
    await over;
  },
);
