import { expect, test } from "@jest/globals";
import { createSeededRandom } from "../../../shared/testing/seeded-random";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { defineTask } from "../../../shared/worker/define/define-task";
import { define, enqueue } from "../../support/builders";
import { VirtualTime } from "../../workers/virtual-time";
import { openResident } from "./resident-bench";
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
    if (isOverdue) {
      await enqueue(store, await define(store), [{ runInMs: 1 }]);
      await time.run(10);
    }
    const draining = new AbortController();
    const environment = { ...openWorkerBench([task]).environment, store };
    const { process } = openResident({ time, task, environment, pollMs: 600_000, draining });
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
