import { describe, expect, test } from "@jest/globals";
import { asOperationId } from "../../../shared/core/ids";
import { realRandom, sleep } from "../../../shared/platform/real-clock";
import { defineTask } from "../../../shared/worker/define/define-task";
import { taskRequest } from "../../../shared/worker/define/task-ref";
import { until } from "../../support/gate";
import { openWorkerBench } from "./worker-bench";

/*
 * Two tasks run for longer than a second, and two that were claimed with them wait for their tokens: how long the first ones
 * take isn't known yet. What an operator says meanwhile holds for those that wait.
 */
describe("tasks that are claimed and wait for a token", () => {
  test.concurrent("claimed tasks that wait for a token don't start once their definition is paused", async () => {
    const { bench, execution, begun } = await longTasks();
    await bench.store.pauseDefinition({ name: "long", changedBy: "test" });
    expect(await execution).toMatchObject({ end: "paused" });
    expect(begun()).toBe(2);
  });

  test.concurrent("claimed tasks that wait for a token go on after a resume while a task of before the pause still runs", async () => {
    const ended: string[] = [];
    const task = defineTask<{ name: string; ms: number }>({
      name: "mixed",
      limit: 2,
      leaseMs: 1_000,
      run: async ({ name, ms }) => {
        await sleep(ms);
        ended.push(name);
      },
    });
    const bench = openWorkerBench([task]);
    await bench.client.enqueue(task, { name: "long", ms: 3_000 });
    await bench.client.enqueueMany(
      task,
      Array.from({ length: 8 }, () => ({ name: "short", ms: 100 })),
    );
    const execution = bench.work("mixed");
    await sleep(250);
    await bench.store.pauseDefinition({ name: "mixed", changedBy: "test" });
    await sleep(800);
    const before = ended.length;
    expect(before).toBeLessThan(8);
    await bench.store.resumeDefinition({ name: "mixed", changedBy: "test" });
    await execution;
    expect(ended).toEqual([...Array.from({ length: 8 }, () => "short"), "long"]);
  });

  test.concurrent("claimed tasks that wait end without a start when their cancel is asked for, and are told at once", async () => {
    const { bench, execution, begun, taskIds } = await longTasks({ leaseMs: 1_000 });
    const [, , third = "", fourth = ""] = taskIds;
    await bench.client.tasks.cancel([third, fourth]);
    await until("both have ended, while the first ones run", async () =>
      (await Promise.all([third, fourth].map((id) => bench.client.tasks.read(id)))).every(
        (task) => task?.state === "cancelled" && task.error === "cancelled before it started",
      ),
    );
    expect((await bench.client.tasks.read(taskIds[0] ?? ""))?.state).toBe("claimed");
    await execution;
    expect(begun()).toBe(2);
  });

  test.concurrent("claimed tasks that wait for a token don't start once the limit is 0, and start when it isn't any more", async () => {
    const { bench, execution, begun, setLimit } = await longTasks();
    await setLimit(0);
    await sleep(longMs + 700);
    expect(begun()).toBe(2);
    await setLimit(2);
    await execution;
    await bench.work("long");
    expect(begun()).toBe(4);
  });

  test.concurrent("claimed tasks that wait start one by one on the tokens that a lowered limit leaves", async () => {
    const { execution, begun, setLimit } = await longTasks();
    await setLimit(1);
    await sleep(longMs + 700);
    expect(begun()).toBe(3);
    await execution;
    expect(begun()).toBe(4);
  });
});

const longMs = 1_500;

/** An execution with two tokens, two running tasks and two that wait. */
async function longTasks(settings: { leaseMs?: number } = {}) {
  let count = 0;
  const run = async (): Promise<void> => {
    count += 1;
    await sleep(longMs);
  };
  const task = defineTask({ name: "long", limit: 2, ...settings, run });
  const bench = openWorkerBench([task]);
  const added = await bench.client.enqueueAll(
    Array.from({ length: 4 }, () => taskRequest(task, {})),
  );
  const execution = bench.work("long");
  await sleep(200);
  expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({ claimed: 4 });
  expect(count).toBe(2);
  const setLimit = (limit: number): Promise<unknown> =>
    bench.store.setLimit({
      ...{ name: "long", limit, changedBy: "test" },
      operationId: asOperationId(realRandom.uuid()),
    });
  return {
    bench,
    execution,
    begun: () => count,
    setLimit,
    taskIds: added.map(({ taskId }) => taskId),
  };
}
