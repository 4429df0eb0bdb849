import { describe, expect, test } from "@jest/globals";
import { LeaseLostError } from "../../../shared/core/errors";
import { asOperationId, asTaskId } from "../../../shared/core/ids";
import { GiveUp, RetryLater } from "../../../shared/core/task-failure";
import { realRandom, sleep } from "../../../shared/platform/real-clock";
import type { JsonObject } from "../../../shared/core/json";
import { register } from "../../../shared/worker/client/register";
import { at } from "../../support/builders";
import type { WorkInput } from "../../../shared/ports/task-store";
import { enqueueOne, factsOf, openWorkerBench, overriding } from "./worker-bench";
import { defineQueue } from "../../../shared/worker/define/define-queue";
import { defineTask } from "../../../shared/worker/define/define-task";
import { taskRequest, taskRef } from "../../../shared/worker/define/task-ref";

const soon = { attempts: 2, baseMs: 1, capMs: 1 };

test("a completion that the store refuses is counted as refused, of its definition", async () => {
  const quick = defineTask({ name: "quick", run: () => Promise.resolve() });
  const bench = openWorkerBench([quick], {
    wrap: (store) =>
      overriding(store, {
        work: async (input) => {
          const answer = await store.work(input);
          return { ...answer, refused: input.done.map(({ taskId }) => taskId) };
        },
      }),
  });
  await enqueueOne(bench, quick);
  await bench.work("quick");
  const ends = bench.telemetry.counted.filter(({ name }) => /task\.(done|refused)$/.test(name));
  expect(ends).toEqual([
    { name: "taskgate.task.refused", value: 1, attributes: { definition: "quick" } },
  ]);
});

describe("how a handler ends", () => {
  const end = defineTask<{ how: string }>({
    name: "end",
    retry: soon,
    run: async ({ how }, ctx) => {
      if (how === "nothing") return;
      if (how === "object") return { ok: true };
      if (how === "scalar") return 3 as unknown as JsonObject;
      if (how === "large") return { text: "x".repeat(70_000) };
      if (how === "give up") throw new GiveUp("it makes no sense");
      if (how === "later") throw new RetryLater(60_000, "not now");
      if (how === "part")
        return ctx.restored === null ? ctx.checkpoint({ at: 7 }) : { restored: ctx.restored };
      throw new TypeError("boom");
    },
  });

  test.each([
    ["nothing", "done", null],
    ["object", "done", '{"ok":true}'],
    ["part", "done", '{"restored":{"at":7}}'],
  ])("a handler that ends with %s makes the task %s", async (how, state, result) => {
    const bench = openWorkerBench([end]);
    const id = await enqueueOne(bench, end, { how });
    await bench.work("end");
    expect(await factsOf(bench, id)).toMatchObject({ state, result });
  });

  test.each([
    ["give up", /GiveUp: it makes no sense/],
    ["scalar", /Expected the handler to return nothing, a JSON object or an array, got 3/],
    ["large", /at most 65536 bytes of JSON/],
  ])(
    "a handler that ends with %s makes the task dead at once, with the reason",
    async (how, reason) => {
      const bench = openWorkerBench([end]);
      const id = await enqueueOne(bench, end, { how });
      await bench.work("end");
      const facts = await factsOf(bench, id);
      expect(facts).toMatchObject({ state: "dead", failedCount: 1 });
      expect(facts.error).toMatch(reason);
    },
  );

  test("a failure is a line of the log: task, definition, the error's class and place, and the outcome; faults show the message", async () => {
    const bench = openWorkerBench([end]);
    const id = await enqueueOne(bench, end, { how: "throw" });
    await enqueueOne(bench, end, { how: "nothing" });
    await enqueueOne(bench, end, { how: "part" });
    await bench.work("end");
    const at = expect.stringMatching(/worker\.test\.ts:\d+/);
    const of = { taskId: id, definition: "end", error: "TypeError", at };
    const retryInMs = expect.any(Number);
    expect(bench.lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([
      { level: "warn", message: "a task failed and runs again", fields: { ...of, retryInMs } },
      { level: "error", message: "a task is dead", fields: of },
    ]);
    expect(bench.lines).toContainEqual({
      ...{ level: "debug", message: "what a failed task's error says" },
      fields: { taskId: id, error: "TypeError: boom" },
    });
  });

  test.each([
    ["scalar", "Expected the handler to return nothing, a JSON object or an array"],
    ["large", "Expected `result` to be at most 65536 bytes of JSON"],
  ])(
    "a return that can't be kept (%s) is named in the log, without its value",
    async (how, error) => {
      const bench = openWorkerBench([end]);
      const taskId = await enqueueOne(bench, end, { how });
      await bench.work("end");
      expect(bench.lines.filter(({ level }) => level === "error")).toEqual([
        {
          ...{ level: "error", message: "a task is dead" },
          fields: { taskId, definition: "end", error, at: null },
        },
      ]);
    },
  );

  test("a failure is recorded with its stack, the worker goes on, and the task is dead after its last attempt (S3.7)", async () => {
    const bench = openWorkerBench([end]);
    const id = await enqueueOne(bench, end, { how: "throw" });
    const other = await enqueueOne(bench, end, { how: "nothing" });
    await bench.work("end");
    for (let n = 0; (await factsOf(bench, id)).state !== "dead" && n < 50; n += 1) {
      await sleep(5);
      await bench.work("end");
    }
    const facts = await factsOf(bench, id);
    expect(facts.attempts).toHaveLength(2);
    expect(facts.error).toMatch(/^TypeError: boom\n\s+at /);
    expect((await factsOf(bench, other)).state).toBe("done");
  });

  test("RetryLater overrides the back-off and leaves a delayed hint", async () => {
    const bench = openWorkerBench([end]);
    const id = await enqueueOne(bench, end, { how: "later" });
    await bench.work("end");
    const facts = await factsOf(bench, id);
    expect(facts.state).toBe("scheduled");
    expect(facts.dueInMs).toBeGreaterThan(55_000);
    expect(bench.hints.at(-1)?.inMs).toBeGreaterThan(55_000);
  });
});

describe("what a worker may run", () => {
  test("a kind that this build doesn't know comes back uncounted, never dead", async () => {
    const shared = defineQueue({ name: "shared" });
    const known = defineTask({ name: "known", queue: shared, run: async () => undefined });
    const later = defineTask({ name: "later", queue: shared, run: async () => undefined });
    const newer = openWorkerBench([known, later], { build: 2 });
    const id = await enqueueOne(newer, later);
    const older = openWorkerBench([known], { build: 1, store: newer.store });
    await older.work("shared");
    expect(await factsOf(older, id)).toMatchObject({
      state: "scheduled",
      failedCount: 0,
      continuedCount: 50,
    });
    expect((await factsOf(older, id)).error).toMatch(/kind `later` is unknown to build 1/);
  });

  test("a kind that this build doesn't know is told once in the log", async () => {
    const shared = defineQueue({ name: "shared" });
    const known = defineTask({ name: "known", queue: shared, run: async () => undefined });
    const later = defineTask({ name: "later", queue: shared, run: async () => undefined });
    const newer = openWorkerBench([known, later], { build: 2 });
    await enqueueOne(newer, later);
    await enqueueOne(newer, later);
    const older = openWorkerBench([known], { build: 1, store: newer.store });
    await older.work("shared");
    const warnings = older.lines.filter(({ level }) => level === "warn");
    expect(warnings).toMatchObject([
      {
        message: expect.stringContaining("of a kind that this build doesn't have"),
        fields: { kind: "later", build: 1 },
      },
    ]);
  });

  test("a payload that the schema refuses is dead with all problems; one from a newer build waits", async () => {
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) =>
          value !== null && typeof value === "object" && "to" in value
            ? { value: value as { to: string } }
            : { issues: [{ message: "is missing", path: ["to"] }, { message: "no subject" }] },
      },
    };
    const mail = defineTask({ name: "mail", input: schema, run: async () => undefined });
    const bench = openWorkerBench([mail], { build: 5 });
    await register(bench.environment, mail.definition);
    const given = { name: "mail", build: 5, operationId: null };
    const { taskIds } = await bench.store.enqueueTasks({
      ...given,
      tasks: [{ payload: '{"subject":"hello"}' }],
    });
    const id = at(taskIds, 0);
    const older = openWorkerBench([mail], { build: 4, store: bench.store });
    await older.work("mail");
    expect(await factsOf(older, id)).toMatchObject({ state: "scheduled", failedCount: 0 });
    await bench.store.enqueueTasks({ ...given, tasks: [{ payload: '{"subject":"again"}' }] });
    await bench.work("mail");
    const dead = await bench.store.listTasks({ name: "mail", state: "dead", max: 10 });
    expect(dead.tasks.map((task) => task.error)).toEqual([
      "the payload is invalid: to: is missing; payload: no subject",
    ]);
  });

  test("a definition that this build doesn't have: said once, ended well", async () => {
    const bench = openWorkerBench([]);
    expect(await bench.work("elsewhere")).toEqual({ status: "unknown", end: null, tokens: 0 });
    expect(bench.lines).toHaveLength(1);
  });

  test("a worker runs as many handlers as it has tokens, however many are claimed (S3.1)", async () => {
    let running = 0;
    let max = 0;
    const task = defineTask({
      name: "crowd",
      limit: 3,
      prefetch: 10,
      run: async () => {
        max = Math.max(max, (running += 1));
        await sleep(3);
        running -= 1;
      },
    });
    const bench = openWorkerBench([task]);
    await bench.client.enqueueAll(Array.from({ length: 60 }, () => taskRequest(task, {})));
    await bench.work("crowd");
    expect(max).toBe(3);
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({
      done: 60,
      held: 0,
      executions: 0,
    });
  });

  test("limited is an answer: a second worker leaves at once", async () => {
    const slow = defineTask({ name: "slow", limit: 1, run: async () => sleep(100) });
    const bench = openWorkerBench([slow]);
    await bench.client.enqueueAll(Array.from({ length: 3 }, () => taskRequest(slow, {})));
    const first = bench.work("slow");
    await sleep(20);
    expect((await bench.work("slow")).status).toBe("limited");
    expect((await first).status).toBe("worked");
  });
});

describe("ends", () => {
  test("a worker at the deadline starts nothing new, tells running handlers, and gives unstarted tasks back uncounted", async () => {
    const reasons: string[] = [];
    const slow = defineTask({
      name: "slow",
      limit: 2,
      run: async (_, ctx) => {
        await sleep(60_000, ctx.signal);
        if (ctx.signal.aborted) reasons.push(String(ctx.signal.reason));
        ctx.signal.throwIfAborted();
      },
    });
    const bench = openWorkerBench([slow]);
    await bench.client.enqueueAll(Array.from({ length: 5 }, () => taskRequest(slow, {})));
    const startedMs = performance.now();
    expect(await bench.work("slow", { maxMs: 5_000, marginMs: 4_600 })).toMatchObject({
      end: "deadline",
    });
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(reasons).toEqual(["Error: stop soon: deadline", "Error: stop soon: deadline"]);
    const [definition] = (await bench.store.listDefinitions({})).definitions;
    expect(definition).toMatchObject({ held: 0, claimed: 0, dead: 0 });
    expect((definition?.ready ?? 0) + (definition?.scheduled ?? 0)).toBe(5);
    expect(bench.hints.at(-1)?.definition).toBe("slow");
  });

  test("a look that was sent while a handler ran says nothing of what the handler leaves behind", async () => {
    const ended: number[] = [];
    const chain = defineTask<{ depth: number }>({
      name: "chain",
      limit: 2,
      run: async ({ depth }, ctx) => {
        // One ends sooner, so that there is a free token, and looks, while the other runs.
        await sleep(depth === 3 ? 1 : 600);
        if (depth < 3) await ctx.enqueue(taskRef({ name: "chain" }), { depth: depth + 1 });
        ended.push(depth);
      },
    });
    const bench = openWorkerBench([chain], {
      wrap: (store) =>
        overriding(store, {
          work: async (input) => {
            const answer = await store.work(input);
            // Empty answers arrive when the handler has just ended.
            if (answer.claimed.length === 0) await sleep(300);
            return answer;
          },
        }),
    });
    await bench.client.enqueueMany(chain, [{ depth: 1 }, { depth: 3 }]);
    await bench.work("chain", { idleReads: 1, idlePauseMs: 1 });
    expect(ended).toEqual([3, 1, 2, 3]);
  });

  test("an idle worker asks a few times more, leaves, and the next execution finds later tasks (S3.4, S4.15)", async () => {
    let reads = 0;
    const quick = defineTask({ name: "quick", run: async () => undefined });
    const bench = openWorkerBench([quick], {
      wrap: (store) =>
        overriding(store, {
          work: async (input) => {
            if (input.want > 0) reads += 1;
            return store.work(input);
          },
        }),
    });
    const idle = { idleReads: 3, idlePauseMs: 30 };
    await enqueueOne(bench, quick);
    expect(await bench.work("quick", idle)).toMatchObject({ end: "idle" });
    expect(reads).toBeGreaterThanOrEqual(1 + 3);
    const late = await enqueueOne(bench, quick);
    expect(bench.hints.at(-1)?.definition).toBe("quick");
    expect(await bench.work("quick", idle)).toMatchObject({ end: "idle" });
    expect((await factsOf(bench, late)).state).toBe("done");
  });

  test("an arriving task is run by the idle worker in the same execution, and the count of looks begins again (S3.4)", async () => {
    const ran: number[] = [];
    const quick = defineTask({
      name: "quick",
      run: async () => void ran.push(performance.now()),
    });
    const bench = openWorkerBench([quick]);
    await enqueueOne(bench, quick);
    const execution = bench.work("quick", { idleReads: 4, idlePauseMs: 100 });
    await sleep(250);
    const second = await enqueueOne(bench, quick);
    expect(await execution).toMatchObject({ end: "idle" });
    const leftMs = performance.now();
    expect((await factsOf(bench, second)).state).toBe("done");
    expect(ran).toHaveLength(2);
    expect(leftMs - (ran[1] ?? 0)).toBeGreaterThan(300);
  });

  test("a process that is told to end gives everything back (S3.4)", async () => {
    const slow = defineTask({
      name: "slow",
      limit: 2,
      run: async (_, ctx) => {
        await sleep(5_000, ctx.signal);
        ctx.signal.throwIfAborted();
      },
    });
    const bench = openWorkerBench([slow]);
    await bench.client.enqueueAll(Array.from({ length: 4 }, () => taskRequest(slow, {})));
    const stop = new AbortController();
    const execution = bench.work("slow", { signal: stop.signal });
    await sleep(50);
    stop.abort();
    expect(await execution).toMatchObject({ end: "stopped" });
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({
      held: 0,
      claimed: 0,
      dead: 0,
    });
    expect(await bench.store.checkInvariants()).toMatchObject({ status: "sound" });
  });

  test("a handler that ignores its signal keeps its token until the lease ends", async () => {
    const deaf = defineTask({
      name: "deaf",
      limit: 1,
      leaseMs: 60_000,
      run: async () => sleep(4_000),
    });
    const bench = openWorkerBench([deaf]);
    await enqueueOne(bench, deaf);
    await bench.work("deaf", { maxMs: 1_000, marginMs: 800 });
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({
      held: 1,
      claimed: 1,
    });
    expect(bench.lines.map((line) => line.message)).toContain(
      "handlers ignored their abort signal; their tokens come back when the lease ends",
    );
  });

  test("a worker gives tokens back between tasks after the limit was lowered, down to the new one (S0.4)", async () => {
    const task = defineTask({ name: "knob", limit: 4, run: async () => sleep(20) });
    const bench = openWorkerBench([task]);
    await bench.client.enqueueAll(Array.from({ length: 60 }, () => taskRequest(task, {})));
    const execution = bench.work("knob");
    await sleep(60);
    await bench.store.setLimit({
      name: "knob",
      limit: 1,
      operationId: asOperationId(realRandom.uuid()),
      changedBy: "test",
    });
    await sleep(150);
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({ held: 1 });
    await bench.store.setLimit({
      name: "knob",
      limit: 4,
      operationId: asOperationId(realRandom.uuid()),
      changedBy: "test",
    });
    await execution;
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({
      held: 0,
      done: 60,
    });
  });

  test("a pause ends the execution: running tasks complete, the rest goes back", async () => {
    const task = defineTask({ name: "knob", limit: 1, run: async () => sleep(20) });
    const bench = openWorkerBench([task]);
    await bench.client.enqueueAll(Array.from({ length: 20 }, () => taskRequest(task, {})));
    const execution = bench.work("knob");
    await sleep(30);
    await bench.store.pauseDefinition({ name: "knob", changedBy: "test" });
    expect(await execution).toMatchObject({ end: "paused" });
    const [definition] = (await bench.store.listDefinitions({})).definitions;
    expect(definition).toMatchObject({ held: 0, claimed: 0 });
    expect((definition?.ready ?? 0) + (definition?.done ?? 0)).toBe(20);
  });

  test("a lease that can't be renewed aborts the handlers before it ends, and the worker writes nothing", async () => {
    const reasons: unknown[] = [];
    const slow = defineTask({
      name: "slow",
      leaseMs: 1_000,
      run: async (_, ctx) => {
        await sleep(60_000, ctx.signal);
        reasons.push(ctx.signal.reason);
      },
    });
    const refuse = async (): Promise<never> => Promise.reject(new Error("the network is silent"));
    const bench = openWorkerBench([slow], {
      wrap: (store) => overriding(store, { heartbeat: refuse }),
    });
    const id = await enqueueOne(bench, slow);
    const startedMs = performance.now();
    expect(await bench.work("slow")).toMatchObject({ end: "lost" });
    // Exactly when is the deterministic simulation's question: real timers may be late.
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    expect(reasons[0]).toBeInstanceOf(LeaseLostError);
    expect(await factsOf(bench, id)).toMatchObject({ state: "claimed", failedCount: 0 });
  });

  test("the heartbeat keeps a long task's lease", async () => {
    const long = defineTask({ name: "long", leaseMs: 1_000, run: async () => sleep(2_500) });
    const bench = openWorkerBench([long]);
    const id = await enqueueOne(bench, long);
    expect(await bench.work("long")).toMatchObject({ end: "idle" });
    expect((await factsOf(bench, id)).state).toBe("done");
  });

  test("a beat that fails is tried again, and the lease holds", async () => {
    let beats = 0;
    const long = defineTask({
      name: "long",
      leaseMs: 2_000,
      run: async (_, ctx) => sleep(2_500, ctx.signal),
    });
    const bench = openWorkerBench([long], {
      wrap: (store) =>
        overriding(store, {
          heartbeat: async (input) => {
            beats += 1;
            if (beats === 1) throw new Error("the network is silent");
            return store.heartbeat(input);
          },
        }),
    });
    const id = await enqueueOne(bench, long);
    expect(await bench.work("long")).toMatchObject({ end: "idle" });
    expect(await factsOf(bench, id)).toMatchObject({ state: "done", lostCount: 0 });
    expect(bench.lines.map((line) => line.message)).toContain(
      "a heartbeat failed; it is tried again while the lease is trusted",
    );
  });

  test("an error of the store while asking is an error, not a denial", async () => {
    const quick = defineTask({ name: "quick", run: async () => undefined });
    const bench = openWorkerBench([quick], {
      wrap: (store) =>
        overriding(store, {
          startExecution: async () => Promise.reject(new Error("the server is busy")),
        }),
    });
    await enqueueOne(bench, quick);
    await expect(bench.work("quick")).rejects.toThrow("the server is busy");
  });

  test("a cancel request reaches the handler's signal through the heartbeat", async () => {
    const long = defineTask({
      name: "long",
      leaseMs: 1_000,
      run: async (_, ctx) => {
        await sleep(5_000, ctx.signal);
        ctx.signal.throwIfAborted();
      },
    });
    const bench = openWorkerBench([long], {
      wrap: (store) =>
        overriding(store, {
          heartbeat: async (input) => {
            const answer = await store.heartbeat(input);
            return {
              executions: answer.executions.map((entry) => ({ ...entry, cancel: [asTaskId("1")] })),
            };
          },
        }),
    });
    const id = await enqueueOne(bench, long);
    await bench.work("long");
    expect(await factsOf(bench, id)).toMatchObject({ state: "cancelled" });
  });
});

describe("calls", () => {
  test("the next call gathers while one is away, and no two go at once", async () => {
    let inFlight = 0;
    let max = 0;
    let calls = 0;
    const noop = defineTask({ name: "noop", limit: 8, prefetch: 20, run: async () => undefined });
    const bench = openWorkerBench([noop], {
      wrap: (store) =>
        overriding(store, {
          work: async (input: WorkInput) => {
            calls += 1;
            max = Math.max(max, (inFlight += 1));
            await sleep(2);
            const answer = await store.work(input);
            inFlight -= 1;
            return answer;
          },
        }),
    });
    await bench.client.enqueueAll(Array.from({ length: 1_000 }, () => taskRequest(noop, {})));
    await bench.work("noop");
    expect(max).toBe(1);
    expect(calls).toBeLessThan(60);
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({ done: 1_000 });
  });

  test("a call whose answer is lost for good ends the execution; its claims come back with the lease, nothing is done twice", async () => {
    let calls = 0;
    const task = defineTask({ name: "task", run: async () => undefined });
    const bench = openWorkerBench([task], {
      wrap: (store) =>
        overriding(store, {
          work: async (input: WorkInput) => {
            const answer = await store.work(input);
            if ((calls += 1) === 1) throw new Error("the answer was lost");
            return answer;
          },
        }),
    });
    await enqueueOne(bench, task);
    expect(await bench.work("task")).toMatchObject({ end: "failed" });
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({
      done: 0,
      ready: 1,
      held: 0,
    });
    await bench.work("task");
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({ done: 1 });
  });
});
