import { describe, expect, test } from "@jest/globals";
import { asOperationId } from "../../../shared/core/ids";
import { realRandom, sleep } from "../../../shared/platform/real-clock";
import { defineTask } from "../../../shared/worker/define/define-task";
import { taskRequest } from "../../../shared/worker/define/task-ref";
import { openWorkerBench } from "./worker-bench";

/*
 * Two tasks run for longer than a second, and two that were claimed with them wait for their tokens: how long the first ones
 * take isn't known yet. What an operator says meanwhile holds for those that wait.
 */
describe("tasks that are claimed and wait for a token", () => {
  test.concurrent("don't start once their definition is paused", async () => {
    const { bench, life, begun } = await longTasks();
    await bench.store.pauseDefinition({ name: "long", changedBy: "test" });
    expect(await life).toMatchObject({ end: "paused" });
    expect(begun()).toBe(2);
  });

  test.concurrent("don't start once the limit is 0, and start when it isn't any more", async () => {
    const { bench, life, begun, setLimit } = await longTasks();
    await setLimit(0);
    await sleep(longMs + 700);
    expect(begun()).toBe(2);
    await setLimit(2);
    await life;
    await bench.work("long");
    expect(begun()).toBe(4);
  });

  test.concurrent("start one by one on what a lowered limit leaves", async () => {
    const { life, begun, setLimit } = await longTasks();
    await setLimit(1);
    await sleep(longMs + 700);
    expect(begun()).toBe(3);
    await life;
    expect(begun()).toBe(4);
  });
});

const longMs = 1_500;

/** An execution with two tokens, two running tasks and two that wait. */
async function longTasks() {
  let count = 0;
  const run = async (): Promise<void> => {
    count += 1;
    await sleep(longMs);
  };
  const task = defineTask({ name: "long", limit: 2, run });
  const bench = openWorkerBench([task]);
  await bench.client.enqueueAll(Array.from({ length: 4 }, () => taskRequest(task, {})));
  const life = bench.work("long");
  await sleep(200);
  expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({ claimed: 4 });
  expect(count).toBe(2);
  const setLimit = (limit: number): Promise<unknown> =>
    bench.store.setLimit({
      ...{ name: "long", limit, changedBy: "test" },
      operationId: asOperationId(realRandom.uuid()),
    });
  return { bench, life, begun: () => count, setLimit };
}
