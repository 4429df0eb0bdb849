import { describe, expect, test } from "@jest/globals";
import { GiveUp } from "../../../shared/core/task-failure";
import { defineTask } from "../../../shared/worker/define/define-task";
import { openWorkerBench } from "./worker-bench";
import { taskRequest } from "../../../shared/worker/define/task-ref";

const task = defineTask<{ fails: boolean }>({
  name: "answer",
  run: async ({ fails }) => {
    if (fails) throw new GiveUp("there is none");
    return { answer: 42 };
  },
});

describe("awaiting a task's end", () => {
  test("S3.9: a submitter hears the result, or why there is none", async () => {
    const bench = openWorkerBench([task]);
    const tasks = await bench.client.enqueueAll(
      [false, true].map((fails) => taskRequest(task, { fails })),
    );
    const ends = Promise.all(tasks.map(({ taskId }) => bench.client.waitFor(task, taskId)));
    await bench.work("answer");
    const [good, bad] = await ends;
    expect(good).toEqual({ state: "done", result: { answer: 42 }, error: null });
    expect(bad).toMatchObject({ state: "dead", result: null });
    expect(bad?.error).toContain("there is none");
  });

  test("S3.9: not within the time: unfinished", async () => {
    const bench = openWorkerBench([task]);
    const { taskId } = await bench.client.enqueue(task, { fails: false });
    expect(await bench.client.waitFor(task, taskId, { timeoutMs: 30 })).toEqual({
      state: "unfinished",
      result: null,
      error: null,
    });
  });

  test("an unknown task, a wait that is given up", async () => {
    const bench = openWorkerBench([task]);
    await expect(bench.client.waitFor(task, "4711")).rejects.toThrow(
      "Expected `taskId` to be a known task, got `4711`",
    );
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(bench.client.waitFor(task, "4711", { signal })).rejects.toThrow("enough");
  });
});
