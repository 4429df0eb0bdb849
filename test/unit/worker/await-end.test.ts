import { describe, expect, test } from "@jest/globals";
import type { TaskId } from "../../../shared/core/ids";
import { GiveUp } from "../../../shared/core/task-failure";
import { defineTask } from "../../../shared/worker/define-task";
import { at } from "../../support/builders";
import { openWorkerBench } from "./worker-bench";

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
    const tasks = await bench.client.enqueue(
      [false, true].map((fails) => ({ task, payload: { fails } })),
    );
    const ends = Promise.all(tasks.map(({ taskId }) => bench.client.ended(taskId)));
    await bench.work("answer");
    const [good, bad] = await ends;
    expect(good).toEqual({ state: "done", result: { answer: 42 }, error: null });
    expect(bad).toMatchObject({ state: "dead", result: null });
    expect(bad?.error).toContain("there is none");
  });

  test("S3.9: not within the time: unfinished", async () => {
    const bench = openWorkerBench([task]);
    const { taskId } = at(await bench.client.enqueue({ task, payload: { fails: false } }), 0);
    expect(await bench.client.ended(taskId, { timeoutMs: 30 })).toEqual({
      state: "unfinished",
      result: null,
      error: null,
    });
  });

  test("a task that nobody knows, a wait that is given up", async () => {
    const bench = openWorkerBench([task]);
    await expect(bench.client.ended("4711" as TaskId)).rejects.toThrow(
      "Expected `taskId` to be a known task, got `4711`",
    );
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(bench.client.ended("4711" as TaskId, { signal })).rejects.toThrow("enough");
  });
});
