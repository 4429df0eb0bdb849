import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../shared/core/errors";
import { GiveUp } from "../../../shared/core/task-failure";
import type { TaskStore } from "../../../shared/ports/task-store";
import { defineTask } from "../../../shared/worker/define/define-task";
import { createGate, until } from "../../support/gate";
import { openWorkerBench, overriding } from "./worker-bench";

/* Goal: a program that added a task sees where it stands, ends it, runs it again and moves it in time, by the client alone. */
const order = defineTask<{ fails: boolean }>({
  name: "order",
  run: async ({ fails }) => {
    if (fails) throw new GiveUp("no stock");
    return { shipped: true };
  },
});

describe("the client's read of a task", () => {
  test("the client's read of a task tells the state of a task from its enqueue to its end, its result and its error", async () => {
    const bench = openWorkerBench([order]);
    const [good, bad] = await bench.client.enqueueMany(order, [{ fails: false }, { fails: true }]);
    const { tasks } = bench.client;
    expect(await tasks.read(good?.taskId ?? "")).toEqual({
      ...{ taskId: good?.taskId, definition: "order", kind: "order", state: "ready" },
      ...{ progress: null, result: null, error: null, failedCount: 0, isCancelRequested: false },
      ...{ createdAt: expect.any(Date), endedAt: null },
    });
    await bench.work("order");
    expect(await tasks.read(good?.taskId ?? "")).toMatchObject({
      ...{ state: "done", result: { shipped: true }, error: null, endedAt: expect.any(Date) },
    });
    expect(await tasks.read(bad?.taskId ?? "")).toMatchObject({
      ...{ state: "dead", result: null, error: expect.stringContaining("no stock") },
      failedCount: 1,
    });
  });

  test("the client's read of a task tells the progress of a running task and that its cancel was asked for", async () => {
    const gate = createGate();
    const long = defineTask({
      name: "long",
      run: async (_, ctx) => {
        ctx.progress({ done: 3, total: 8, text: "pages" });
        await gate.opened;
      },
    });
    const bench = openWorkerBench([long]);
    const { taskId } = await bench.client.enqueue(long, {});
    const working = bench.work("long");
    await until("its progress is told", async () => {
      const task = await bench.client.tasks.read(taskId);
      return task?.state === "claimed" && task.progress?.done === 3;
    });
    expect(await bench.client.tasks.cancel(taskId)).toEqual([
      { taskId, outcome: "requested", state: null },
    ]);
    expect(await bench.client.tasks.read(taskId)).toMatchObject({
      ...{ progress: { done: 3, total: 8, text: "pages" }, isCancelRequested: true },
    });
    gate.open();
    await working;
  });

  test("the client's read of a task answers null for a task that doesn't exist, and refuses a text that is no id", async () => {
    const { tasks } = openWorkerBench([order]).client;
    expect(await tasks.read("4711")).toBeNull();
    await expect(tasks.read("order")).rejects.toThrow(
      "taskId: expected an id in decimal digits (the text",
    );
  });

  test("the client's read of a task reads again while the task moves, and gives up in the end", async () => {
    let moving = 3;
    const wrap = (store: TaskStore): TaskStore =>
      overriding(store, {
        explainTask: async (input) =>
          moving-- > 0 ? { status: "moving", facts: null } : store.explainTask(input),
      });
    const bench = openWorkerBench([order], { wrap });
    const { taskId } = await bench.client.enqueue(order, { fails: false });
    expect(await bench.client.tasks.read(taskId)).toMatchObject({ state: "ready" });
    moving = 100;
    await expect(bench.client.tasks.read(taskId)).rejects.toMatchObject({
      ...{ code: "TASKGATE_STORE_CONFLICT", isRetryable: true },
    });
  });
});

describe("the client's changes of tasks", () => {
  test("a cancel ends a waiting task with its reason, a redrive runs it again, and workers are told", async () => {
    const bench = openWorkerBench([order]);
    const { tasks } = bench.client;
    const { taskId } = await bench.client.enqueue(order, { fails: false });
    expect(await tasks.cancel([taskId, "4711"], { reason: "ordered twice" })).toEqual([
      { taskId, outcome: "cancelled", state: null },
      { taskId: "4711", outcome: "gone", state: "unknown" },
    ]);
    expect(await tasks.read(taskId)).toMatchObject({ state: "cancelled", error: "ordered twice" });
    bench.hints.length = 0;
    expect(await tasks.redrive(taskId)).toEqual([{ taskId, outcome: "redriven" }]);
    expect(bench.hints).toEqual([{ definition: "order", inMs: 0 }]);
    await bench.work("order");
    expect(await tasks.read(taskId)).toMatchObject({ state: "done" });
    expect(await tasks.cancel(taskId)).toEqual([{ taskId, outcome: "gone", state: "done" }]);
  });

  test("a cancel of a wave's last task opens the next wave", async () => {
    const bench = openWorkerBench([order]);
    const { batches, tasks } = bench.client;
    const batch = await batches.create({ name: "nightly", waves: 2 });
    const [first, second] = await Promise.all(
      [1, 2].map((wave) =>
        bench.client.enqueue(order, { fails: false }, { wave: batch.wave(wave) }),
      ),
    );
    await batches.start(batch.batchId);
    expect(await tasks.read(second?.taskId ?? "")).toMatchObject({ state: "blocked" });
    await tasks.cancel(first?.taskId ?? "");
    expect(await tasks.read(second?.taskId ?? "")).toMatchObject({ state: "ready" });
  });

  test("a reschedule moves a task, and workers are told of the new instant", async () => {
    const bench = openWorkerBench([order]);
    const { tasks } = bench.client;
    const { taskId } = await bench.client.enqueue(order, { fails: false });
    bench.hints.length = 0;
    const moved = [{ taskId, outcome: "rescheduled", state: null }];
    expect(await tasks.reschedule(taskId, { runInMs: 60_000 })).toEqual(moved);
    expect(bench.hints).toMatchObject([{ definition: "order", inMs: expect.any(Number) }]);
    expect(bench.hints[0]?.inMs).toBeGreaterThan(50_000);
    expect(await tasks.read(taskId)).toMatchObject({ state: "scheduled" });
    expect(await tasks.reschedule([taskId], { runAt: new Date(0) })).toEqual(moved);
    await bench.work("order");
    expect(await tasks.read(taskId)).toMatchObject({ state: "done" });
  });

  test("bad ids, unknown options and two instants are refused before anything is sent", async () => {
    const { tasks } = openWorkerBench([order]).client;
    const ids = "an id, or a list of 1..1000 ids";
    const refusals: [() => Promise<unknown>, string][] = [
      [() => tasks.cancel([]), `taskIds: expected ${ids}`],
      [() => tasks.cancel(Array.from({ length: 1_001 }, String)), `taskIds: expected ${ids}`],
      [() => tasks.cancel(7 as never), `taskIds: expected ${ids} (7)`],
      [() => tasks.redrive(["1", "x"]), "taskIds[1]: expected an id in decimal digits (the text"],
      [() => tasks.cancel("1", { why: "x" } as never), "tasks.cancel"],
      [
        () => tasks.redrive("1", { reason: "x".repeat(401) }),
        "reason: expected at most 400 characters",
      ],
      [() => tasks.reschedule("1", {}), "exactly one of `runInMs` and `runAt`, got neither"],
      [() => tasks.reschedule("1", { runInMs: 1, runAt: new Date() }), "got both"],
      [() => tasks.reschedule("1", { runInMs: -1 }), "runInMs: expected a whole number"],
      [() => tasks.reschedule("1", { runAt: "2030-01-01" as never }), "runAt: expected a Date"],
      [() => tasks.cancel("1", { reason: null as never }), "reason: expected a text (null)"],
      [() => tasks.redrive("1", { reason: 5 as never }), "reason: expected a text (5)"],
    ];
    for (const [refusal, text] of refusals) {
      const error: unknown = await refusal().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect(String(error)).toContain(text);
    }
  });
});
