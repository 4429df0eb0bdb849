import { describe, expect, test } from "@jest/globals";
import { asExecutionId } from "../../../shared/core/ids";
import { LeaseLostError } from "../../../shared/core/errors";
import type { JsonObject } from "../../../shared/core/json";
import { sleep } from "../../../shared/platform/real-clock";
import { defineTask } from "../../../shared/worker/define/define-task";
import { enqueueOne, factsOf, openWorkerBench } from "./worker-bench";
import type { WorkerBench } from "./worker-bench";

async function payloadsOfChildren(bench: WorkerBench): Promise<(string | null)[]> {
  const { tasks } = await bench.store.listTasks({ name: "child", state: "ready", max: 10 });
  const facts = await Promise.all(tasks.map(({ task }) => factsOf(bench, task)));
  return facts.map(({ payload }) => payload);
}

describe("children and transactions", () => {
  const child = defineTask({ name: "child", run: async () => undefined });

  test("children are written with the completion, and forgotten when the handler fails", async () => {
    const parent = defineTask<{ fails: boolean }>({
      name: "parent",
      retry: { attempts: 1 },
      run: async ({ fails }, ctx) => {
        await ctx.enqueue(child, {});
        if (fails) throw new Error("after all");
      },
    });
    const bench = openWorkerBench([parent, child]);
    await bench.store.registerDefinition({
      name: "child",
      build: 1,
      settingsHash: child.definition.settingsHash,
      registeredBy: "test",
      settings: child.definition.settings,
    });
    await enqueueOne(bench, parent, { fails: true });
    await bench.work("parent");
    expect((await bench.store.listDefinitions({ name: "child" })).definitions[0]).toMatchObject({
      ready: 0,
      done: 0,
    });
    const id = await enqueueOne(bench, parent, { fails: false });
    await bench.work("parent");
    expect((await factsOf(bench, id)).state).toBe("done");
    expect((await bench.store.listDefinitions({ name: "child" })).definitions[0]).toMatchObject({
      ready: 1,
    });
    expect(bench.hints.map((hint) => hint.definition)).toContain("child");
  });

  test("children of a part that ends with a checkpoint are written; one that can't be is the part's failure", async () => {
    const parent = defineTask<{ wave: string | null }>({
      name: "parent",
      retry: { attempts: 1 },
      run: async ({ wave }, ctx) => {
        await ctx.enqueue(child, { at: ctx.restored }, wave === null ? {} : { wave });
        return ctx.restored === null ? ctx.checkpoint(1) : { ended: true };
      },
    });
    const bench = openWorkerBench([parent, child]);
    await enqueueOne(bench, child);
    await bench.work("child");
    const id = await enqueueOne(bench, parent, { wave: null });
    await bench.work("parent");
    expect((await factsOf(bench, id)).state).toBe("done");
    const { tasks } = await bench.store.listTasks({ name: "child", state: "ready", max: 10 });
    const payloads = tasks.map(async ({ task }) => (await factsOf(bench, task)).payload);
    expect(await Promise.all(payloads)).toEqual(['{"at":null}', '{"at":1}']);
    const unknown = await enqueueOne(bench, parent, { wave: "99" });
    await bench.work("parent");
    const facts = await factsOf(bench, unknown);
    expect(facts.state).toBe("dead");
    expect(facts.error).toMatch(/its tasks could not be added: .*wave/);
  });

  test("children of a part are written all or none: one that is refused leaves no other behind", async () => {
    const parent = defineTask({
      name: "parent",
      retry: { attempts: 1 },
      run: async (_, ctx) => {
        await ctx.enqueue(child, { n: 1 });
        await ctx.enqueue(child, { n: 2 }, { wave: "99" });
        return ctx.checkpoint(1);
      },
    });
    const bench = openWorkerBench([parent, child]);
    await enqueueOne(bench, child);
    await bench.work("child");
    const id = await enqueueOne(bench, parent);
    await bench.work("parent");
    expect((await factsOf(bench, id)).state).toBe("dead");
    expect(await payloadsOfChildren(bench)).toEqual([]);
  });

  test("children of a part that belong to several queues are written, each once, and hints of all are left", async () => {
    const other = defineTask({ name: "other", run: async () => undefined });
    const parent = defineTask({
      name: "parent",
      run: async (_, ctx) => {
        if (ctx.restored !== null) return undefined;
        await ctx.enqueue(child, { n: 1 });
        await ctx.enqueue(other, null);
        return ctx.checkpoint(1);
      },
    });
    const bench = openWorkerBench([parent, child, other]);
    for (const kind of [child, other]) {
      await enqueueOne(bench, kind);
      await bench.work(kind.kind);
    }
    bench.hints.length = 0;
    await enqueueOne(bench, parent);
    await bench.work("parent");
    expect(await payloadsOfChildren(bench)).toEqual(['{"n":1}']);
    expect(await bench.store.listTasks({ name: "other", state: "ready", max: 10 })).toMatchObject({
      tasks: [{ kind: "other" }],
    });
    const names = bench.hints.map(({ definition }) => definition);
    expect(names).toEqual(expect.arrayContaining(["child", "other"]));
  });

  test("a child with the option now is written at once, also when the handler fails", async () => {
    const parent = defineTask({
      name: "parent",
      retry: { attempts: 1 },
      run: async (_, ctx) => {
        await ctx.enqueue(child, {}, { now: true });
        throw new Error("after all");
      },
    });
    const bench = openWorkerBench([parent, child]);
    await enqueueOne(bench, child);
    await bench.work("child");
    await enqueueOne(bench, parent);
    await bench.work("parent");
    expect((await bench.store.listDefinitions({ name: "child" })).definitions[0]).toMatchObject({
      ready: 1,
    });
  });

  test("a second completeWith is refused and writes nothing; after a failed one another may follow", async () => {
    const seen: string[] = [];
    const twice = defineTask({
      name: "twice",
      run: async (_, ctx) => {
        const call = async (result: JsonObject, how: "ends" | "fails"): Promise<unknown> =>
          ctx
            .completeWith(() => {
              seen.push(`body ${JSON.stringify(result)}`);
              return how === "ends" ? Promise.resolve(result) : Promise.reject(new Error("no"));
            })
            .catch((error: unknown) => seen.push(error instanceof Error ? error.message : ""));
        await call({ n: 0 }, "fails");
        const first = call({ n: 1 }, "ends");
        await call({ n: 2 }, "ends");
        await first;
        await call({ n: 3 }, "ends");
      },
    });
    const bench = openWorkerBench([twice]);
    const id = await enqueueOne(bench, twice);
    await bench.work("twice");
    expect(await factsOf(bench, id)).toMatchObject({ state: "done", result: '{"n":1}' });
    const refused = expect.stringMatching(/^completeWith: expected one call/);
    expect(seen).toEqual(['body {"n":0}', "no", 'body {"n":1}', refused, refused]);
  });

  test.each([
    ["returns", false],
    ["throws", true],
  ])("a completeWith that a handler doesn't await is waited for when it %s", async (_, throws) => {
    const hasty = defineTask({
      name: "hasty",
      run: async (__, ctx) => {
        void ctx.completeWith(async () => {
          await sleep(20);
          await ctx.enqueue(child, { n: 1 });
          return { n: 1 };
        });
        if (throws) throw new Error("too late");
      },
    });
    const bench = openWorkerBench([hasty, child]);
    const id = await enqueueOne(bench, hasty);
    await bench.work("hasty");
    expect(await factsOf(bench, id)).toMatchObject({ state: "done", result: '{"n":1}' });
    expect(await payloadsOfChildren(bench)).toEqual(['{"n":1}']);
  });

  test("a completeWith that isn't awaited and fails is the attempt's error", async () => {
    const hasty = defineTask({
      name: "hasty",
      retry: { attempts: 1 },
      run: async (_, ctx) => {
        const completing = ctx.completeWith(async () => {
          await sleep(20);
          throw new Error("the write was refused");
        });
        completing.catch(() => undefined);
      },
    });
    const bench = openWorkerBench([hasty]);
    const id = await enqueueOne(bench, hasty);
    await bench.work("hasty");
    const { state, error } = await factsOf(bench, id);
    expect([state, error?.split("\n")[0]]).toEqual(["dead", "Error: the write was refused"]);
  });

  test("children of a completeWith whose body fails are forgotten; another call adds its own", async () => {
    const parent = defineTask({
      name: "parent",
      run: async (_, ctx) => {
        await ctx.enqueue(child, { n: 0 });
        for (const n of [1, 2])
          await ctx
            .completeWith(async () => {
              await ctx.enqueue(child, { n });
              if (n === 1) throw new Error("no");
              return { n };
            })
            .catch(() => undefined);
      },
    });
    const bench = openWorkerBench([parent, child]);
    await enqueueOne(bench, parent);
    await bench.work("parent");
    expect(await payloadsOfChildren(bench)).toEqual(['{"n":0}', '{"n":2}']);
  });

  test("a child after the end of completeWith is refused, unless it is written at once", async () => {
    const parent = defineTask({
      name: "parent",
      run: async (_, ctx) => {
        await ctx.completeWith(async () => ({ n: 1 }));
        await ctx.enqueue(child, { n: 1 }, { now: true });
        await ctx.enqueue(child, { n: 2 });
      },
    });
    const bench = openWorkerBench([parent, child]);
    const id = await enqueueOne(bench, parent);
    await bench.work("parent");
    expect(await factsOf(bench, id)).toMatchObject({ state: "done", result: '{"n":1}' });
    expect(await payloadsOfChildren(bench)).toEqual(['{"n":1}']);
    expect(bench.lines).toContainEqual({
      level: "warn",
      message: "a handler failed after its task was completed",
      fields: {
        taskId: id,
        error: expect.stringMatching(/enqueue: expected before the end of the handler/),
      },
    });
  });

  test("a checkpoint behind completeWith is told of, and one that its body returns is refused", async () => {
    const behind = defineTask({
      name: "behind",
      run: async (_, ctx) => {
        await ctx.completeWith(async () => ({ n: 1 }));
        return ctx.checkpoint({ n: 2 });
      },
    });
    const within = defineTask({
      name: "within",
      retry: { attempts: 1 },
      // The types refuse it; authors without TypeScript don't see them.
      run: (_, ctx) => ctx.completeWith(async () => ctx.checkpoint({ n: 3 }) as never),
    });
    const bench = openWorkerBench([behind, within]);
    const done = await enqueueOne(bench, behind);
    const refused = await enqueueOne(bench, within);
    await bench.work("behind");
    await bench.work("within");
    expect(await factsOf(bench, done)).toMatchObject({ state: "done", result: '{"n":1}' });
    expect(bench.lines).toContainEqual({
      level: "warn",
      message: "a handler returned a checkpoint after its task was completed: no part follows",
      fields: { taskId: done },
    });
    expect(await factsOf(bench, refused)).toMatchObject({
      state: "dead",
      error: expect.stringMatching(/completeWith: expected its body to return .* result, got/),
    });
  });

  test.each([true, false])(
    "a child after the end of its handler is refused (ends well: %p)",
    async (endsWell) => {
      const late: Promise<unknown>[] = [];
      const ended = new AbortController();
      const parent = defineTask({
        name: "parent",
        retry: { attempts: 1 },
        run: (_, ctx) => {
          const adding = async (): Promise<void> => {
            await new Promise((resolve) => {
              ended.signal.addEventListener("abort", resolve);
            });
            await ctx.enqueue(child, { n: 1 });
          };
          late.push(adding().catch((error: unknown) => error));
          return endsWell ? Promise.resolve() : Promise.reject(new Error("no"));
        },
      });
      const bench = openWorkerBench([parent, child]);
      const id = await enqueueOne(bench, parent);
      await bench.work("parent");
      ended.abort();
      expect(await Promise.all(late)).toMatchObject([
        { message: expect.stringMatching(/^enqueue: expected before the end of the handler/) },
      ]);
      expect((await factsOf(bench, id)).state).toBe(endsWell ? "done" : "dead");
      expect(await payloadsOfChildren(bench)).toEqual([]);
    },
  );

  test("completeWith throws LeaseLostError when another holds the task, and nothing is told of it (S0.9)", async () => {
    const seen: unknown[] = [];
    const slow = defineTask({
      name: "slow",
      leaseMs: 1_000,
      run: async (_, ctx) => {
        const { executions } = await bench.store.listExecutions({ isOpen: true, max: 10 });
        const executionId = executions[0]?.execution;
        if (executionId === undefined) throw new Error("no execution");
        await bench.store.finishExecution({ executionId: asExecutionId(executionId) });
        await ctx
          .completeWith(async () => undefined)
          .catch((error: unknown) => {
            seen.push(error);
            throw error;
          });
      },
    });
    const bench = openWorkerBench([slow]);
    const id = await enqueueOne(bench, slow);
    expect(await bench.work("slow")).toMatchObject({ end: "lost" });
    expect(seen[0]).toBeInstanceOf(LeaseLostError);
    expect(await factsOf(bench, id)).toMatchObject({ state: "ready", failedCount: 0 });
  });
});
