import { describe, expect, test } from "@jest/globals";
import { GiveUp } from "../../../shared/core/task-failure";
import { awaitEnd } from "../../../shared/worker/client/await-end";
import { asTaskId } from "../../../shared/core/ids";
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
  test("a submitter hears the result, or why there is none (S3.9)", async () => {
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

  test("a submitter whose time ends before the task hears that it is unfinished (S3.9)", async () => {
    const bench = openWorkerBench([task]);
    const { taskId } = await bench.client.enqueue(task, { fails: false });
    expect(await bench.client.waitFor(task, taskId, { timeoutMs: 30 })).toEqual({
      state: "unfinished",
      result: null,
      error: null,
    });
  });

  test("a task that is kept nowhere once it is done: the error says so, before it was seen and after", async () => {
    const forgotten = defineTask({
      name: "forgotten",
      retain: { doneMs: 0 },
      run: async () => undefined,
    });
    const bench = openWorkerBench([forgotten]);
    const { taskId } = await bench.client.enqueue(forgotten, {});
    const waiting = bench.client.waitFor(forgotten, taskId).then(() => "ended", String);
    await bench.work("forgotten");
    expect(await waiting).toContain(
      `got \`${taskId}\`. It has ended meanwhile: a task that is done or cancelled is kept for as long as \`retain.doneMs\``,
    );
    await expect(bench.client.waitFor(forgotten, taskId)).rejects.toThrow(
      "A task that is done is known for as long as `retain.doneMs`",
    );
  });

  test("an unknown task, a wait that is given up", async () => {
    const bench = openWorkerBench([task]);
    await expect(bench.client.waitFor(task, "4711")).rejects.toThrow(
      "Expected `taskId` to be a known task, got `4711`",
    );
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(bench.client.waitFor(task, "4711", { signal })).rejects.toThrow("enough");
  });

  test("a wait that is given up between two looks ends there, not after the pause", async () => {
    const bench = openWorkerBench([task]);
    const { taskId } = await bench.client.enqueue(task, { fails: false });
    const ending = new AbortController();
    const timers = {
      ...bench.environment.timers,
      after: () => {
        ending.abort(new Error("enough"));
        // The pause has no end.
        return () => undefined;
      },
    };
    const wait = { kind: "answer", taskId: asTaskId(taskId) };
    const until = { timeoutMs: 60_000, signal: ending.signal };
    await expect(awaitEnd({ ...bench.environment, timers }, wait, until)).rejects.toThrow("enough");
  });

  test.each<[object, string]>([
    [{ timeoutms: 10 }, "timeoutms: unknown option of waitFor. Did you mean `timeoutMs`?"],
    [{ timeoutMs: "5s" }, 'timeoutMs: expected a number of milliseconds (the text "5s")'],
    [{ timeoutMs: NaN }, "timeoutMs: expected a number of milliseconds (NaN)"],
  ])("waitFor with %j is refused at the call", async (options, message) => {
    const { client } = openWorkerBench([task]);
    const { taskId } = await client.enqueue(task, { fails: false });
    await expect(client.waitFor(task, taskId, options)).rejects.toThrow(message);
  });

  test("waitFor with a name for the kind is refused", async () => {
    const { client } = openWorkerBench([task]);
    await expect(client.waitFor("answer" as never, "1")).rejects.toThrow(
      'task: expected what defineTask or taskRef returns: taskRef({ name: "answer" }) names a kind of other code (the text "answer")',
    );
  });
});
