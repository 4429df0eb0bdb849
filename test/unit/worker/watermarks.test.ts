import { taskRef } from "../../../shared/worker/define/task-ref";
import { describe, expect, test } from "@jest/globals";
import type { JsonObject, JsonValue } from "../../../shared/core/json";
import type { StoreTransaction, TaskStore } from "../../../shared/ports/task-store";
import { runTaskOnce } from "../../../shared/testing/run-task-once";
import { defineTask } from "../../../shared/worker/define/define-task";
import { operationId } from "../../support/builders";
import { openWorkerBench, overriding } from "./worker-bench";
import type { WorkerBench } from "./worker-bench";

/** Notes the blocks that it gets. */
function importing(log: JsonObject[] = []) {
  return defineTask<JsonObject>({
    name: "import",
    limit: 1,
    run: async (block) => void log.push(block),
  });
}

const byId = { watermark: "by-id" };

async function payloads({ store }: WorkerBench): Promise<string[]> {
  const { tasks } = await store.listTasks({ name: "import", state: "ready", max: 100 });
  const facts = await Promise.all(tasks.map(({ task }) => store.explainTask({ taskId: task })));
  return facts.map((answer) => String(answer.facts?.payload));
}

describe("blocks through the client", () => {
  test("blocks that share a dedupe key are refused, and the watermark stays", async () => {
    const kind = defineTask<JsonObject>({
      name: "import",
      limit: 1,
      dedupe: { by: "customer" },
      run: async () => undefined,
    });
    const bench = openWorkerBench([kind]);
    const { watermark } = bench.client;
    const request = { ...byId, numeric: { to: 25, size: 10 }, header: { customer: "c1" } };

    await expect(watermark.advance(kind, request)).rejects.toThrow(
      /^tasks\[1\]: expected a dedupe key that no other task holds, as no block may be left out \(task \d+ holds it\)$/,
    );
    expect(await watermark.read(kind, byId)).toEqual({ value: null, version: "0" });
    expect(await payloads(bench)).toEqual([]);

    const one = await watermark.advance(kind, { ...request, maxBlocks: 1 });
    expect(one).toMatchObject({ status: "advanced", value: { last: "10" }, more: true });
  });

  test("the client makes blocks from nothing and from the last end, none of nothing new, and registers an unregistered definition", async () => {
    const kind = importing();
    const bench = openWorkerBench([kind]);
    const { watermark } = bench.client;

    const first = await watermark.advance(kind, { ...byId, numeric: { to: 25, size: 10 } });
    const none = await watermark.advance(kind, { ...byId, numeric: { to: 25, size: 10 } });
    const next = await watermark.advance(taskRef({ name: "import" }), {
      ...byId,
      numeric: { to: 30n, size: 10 },
    });

    expect(first).toMatchObject({ status: "advanced", value: { last: "25" }, version: "1" });
    expect(first.taskIds).toHaveLength(3);
    expect(none).toEqual({
      status: "none",
      value: { last: "25" },
      version: "1",
      taskIds: [],
      more: false,
    });
    expect(next).toMatchObject({ status: "advanced", value: { last: "30" }, more: false });
    expect(await payloads(bench)).toEqual([
      '{"from":"1","to":"10"}',
      '{"from":"11","to":"20"}',
      '{"from":"21","to":"25"}',
      '{"from":"26","to":"30"}',
    ]);
    expect(bench.hints).toContainEqual({ definition: "import", inMs: undefined });
    expect(await watermark.read(kind, byId)).toEqual({ value: { last: "30" }, version: "2" });
    expect(await watermark.read(kind, { watermark: "other" })).toEqual({
      value: null,
      version: "0",
    });
  });

  test("a block that doesn't fit in a call is made by the next one; nothing is dropped", async () => {
    const kind = importing();
    const bench = openWorkerBench([kind]);
    const request = { ...byId, maxBlocks: 3, numeric: { to: 75, size: 10 } };
    const made = [];
    for (let more = true; more;) {
      const answer = await bench.client.watermark.advance(kind, request);
      made.push(answer.taskIds.length);
      more = answer.more;
    }
    expect(made).toEqual([3, 3, 2]);
    expect((await payloads(bench)).at(-1)).toBe('{"from":"71","to":"75"}');
  });

  test("larger payloads than one call carries are cut by bytes", async () => {
    const kind = importing();
    const bench = openWorkerBench([kind]);
    const text = "x".repeat(60_000);
    const objects = Array.from({ length: 60 }, (_, id) => ({ id, text }));
    const request = {
      ...byId,
      objects: {
        after: (mark: JsonValue) => objects.slice(mark === null ? 0 : Number(mark) + 1),
        markOf: ({ id }: { id: number }) => id,
      },
    };
    const first = await bench.client.watermark.advance(kind, request);
    const second = await bench.client.watermark.advance(kind, request);
    expect(first.more).toBe(true);
    expect(second.more).toBe(false);
    expect(first.taskIds.length + second.taskIds.length).toBe(60);
  });

  test("priority, group and header go with every block", async () => {
    const kind = importing();
    const bench = openWorkerBench([kind]);
    await bench.client.watermark.advance(kind, {
      ...byId,
      header: { table: "orders", from: "is the block's own" },
      priority: 7,
      runInMs: 60_000,
      dates: {
        start: new Date("2026-01-01T00:00:00Z"),
        to: new Date("2026-01-01T01:00:00Z"),
        spanMs: 3_600_000,
      },
    });
    const { tasks } = await bench.store.listTasks({ name: "import", state: "scheduled", max: 9 });
    expect(tasks).toMatchObject([{ priority: 7 }]);
    const [task] = tasks;
    const { facts } = await bench.store.explainTask({ taskId: task?.task ?? ("0" as never) });
    expect(JSON.parse(String(facts?.payload))).toEqual({
      table: "orders",
      from: "2026-01-01T00:00:00.000Z",
      to: "2026-01-01T01:00:00.000Z",
    });
    expect(bench.hints.some(({ inMs }) => (inMs ?? 0) > 50_000)).toBe(true);
  });

  test("objects that are none, and a header that is none, are refused, and nothing is made", async () => {
    const kind = importing();
    const bench = openWorkerBench([kind]);
    const asked = (values: readonly unknown[]) => ({
      ...byId,
      objects: { after: () => values as never[], markOf: () => 1 },
    });
    const advance = (request: object) =>
      bench.client.watermark.advance(
        kind,
        request as Parameters<typeof bench.client.watermark.advance>[1],
      );
    for (const [value, shown] of [
      ["abc", 'the text "abc"'],
      [7, "7"],
      [null, "null"],
      [[1], "an array"],
    ])
      await expect(advance(asked([{ id: 1 }, value]))).rejects.toMatchObject({
        message: `after: expected it to answer objects (${String(shown)})`,
        details: { field: "after" },
      });
    await expect(advance({ ...asked([{}]), header: "orders" })).rejects.toThrow(
      'header: expected an object (the text "orders")',
    );
    expect(await payloads(bench)).toEqual([]);
  });

  test("list items are read behind the mark, also after another call moved it", async () => {
    const kind = importing();
    let isFirst = true;
    // Another maker makes the first item's block between this maker's reading and its move.
    const wrap = (store: TaskStore): TaskStore =>
      overriding(store, {
        advanceWatermark: async (input, within) => {
          if (isFirst) {
            isFirst = false;
            const tasks = [{ payload: '{"items":["a"]}' }];
            const value = '{"mark":"a"}';
            const other = { ...input, tasks, value, operationId: operationId() };
            expect((await store.advanceWatermark(other)).status).toBe("advanced");
          }
          return store.advanceWatermark(input, within);
        },
      });
    const bench = openWorkerBench([kind], { wrap });
    await bench.client.enqueue(kind, { items: ["registered by this"] });
    const made = await bench.client.watermark.advance(kind, {
      ...byId,
      list: {
        after: async (mark) =>
          ["a", "b", "c"].filter((item) => typeof mark !== "string" || item > mark),
        markOf: (item) => item,
        maxItems: 2,
      },
    });
    expect(made).toMatchObject({ status: "advanced", value: { mark: "c" }, version: "2" });
    expect((await payloads(bench)).slice(1)).toEqual(['{"items":["a"]}', '{"items":["b","c"]}']);
  });

  test("a call that is overtaken again and again is told", async () => {
    const kind = importing();
    const bench = openWorkerBench([kind], {
      wrap: (store) =>
        overriding(store, {
          advanceWatermark: async (input) => {
            const nothing = { taskIds: [], outcomes: [], ready: false, nextDueMs: null };
            const version = String(Number(input.expectedVersion) + 1);
            return { status: "conflict", version, value: null, ...nothing };
          },
        }),
    });
    expect(
      await bench.client.watermark.advance(kind, { ...byId, numeric: { to: 5, size: 1 } }),
    ).toMatchObject({ status: "conflict", version: "20", more: true, taskIds: [] });
  });

  test("a call for blocks inside a user's transaction goes with its commit, or not at all; twice in one is two moves", async () => {
    const kind = importing();
    const bench = openWorkerBench([kind]);
    const { store, client } = bench;
    const make = (to: number, transaction: StoreTransaction) =>
      client.watermark.advance(kind, { ...byId, numeric: { to, size: 10 } }, { transaction });

    await expect(
      store.transaction(async (transaction) => {
        await make(10, transaction);
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await client.watermark.read(kind, byId)).toEqual({ value: null, version: "0" });
    const hints = bench.hints.length;
    await store.transaction(async (transaction) => {
      expect(await make(10, transaction)).toMatchObject({ version: "1" });
      expect(await make(15, transaction)).toMatchObject({ version: "2", value: { last: "15" } });
      expect(await make(15, transaction)).toMatchObject({ status: "none" });
    });

    expect(bench.hints).toHaveLength(hints);
    expect(await payloads(bench)).toEqual(['{"from":"1","to":"10"}', '{"from":"11","to":"15"}']);
  });

  test.each([
    [{}, "blocks: expected exactly one of numeric, dates, list, objects (none)"],
    [
      { numeric: { to: 1, size: 1 }, objects: { after: () => [], markOf: () => 1 } },
      "blocks: expected exactly one of numeric, dates, list, objects (numeric, objects)",
    ],
    [
      { numeric: { to: 1, size: 1 }, maxBlocks: 0 },
      "maxBlocks: expected a whole number in 1..10000",
    ],
    [{ numeric: { to: 1, size: 0 } }, "size: expected a whole number of at least 1 (0)"],
  ])("%j is refused", async (bad, message) => {
    const kind = importing();
    const bench = openWorkerBench([kind]);
    await expect(bench.client.watermark.advance(kind, { ...byId, ...bad })).rejects.toThrow(
      message,
    );
  });
});

describe("blocks made by a task", () => {
  test("a maker that runs twice makes them once, and workers get each block", async () => {
    const log: JsonObject[] = [];
    const kind = importing(log);
    const maker = defineTask({
      name: "maker",
      retry: { attempts: 2, baseMs: 0, capMs: 0 },
      run: async (_, ctx) => {
        const made = await ctx.watermark.advance(kind, { ...byId, numeric: { to: 30, size: 10 } });
        if (ctx.attempt === 1) throw new Error("after the blocks were made");
        return { status: made.status };
      },
    });
    const bench = openWorkerBench([kind, maker]);
    await bench.client.enqueue(maker, {});
    await bench.work("maker", { idleReads: 5 });
    await bench.work("import");

    expect(log).toEqual([
      { from: "1", to: "10" },
      { from: "11", to: "20" },
      { from: "21", to: "30" },
    ]);
    const { definitions } = await bench.store.listDefinitions({ name: "maker" });
    expect(definitions).toMatchObject([{ done: 1 }]);
  });

  test("a task's blocks are written with the completion: a maker that fails before has made nothing", async () => {
    const kind = importing();
    const maker = defineTask<{ fails: boolean }>({
      name: "maker",
      retry: { attempts: 1 },
      run: async ({ fails }, ctx) =>
        ctx.completeWith(async (transaction) => {
          const numeric = { to: 30, size: 10 };
          await ctx.watermark.advance(kind, { ...byId, numeric }, { transaction });
          if (fails) throw new Error("no");
        }),
    });
    const bench = openWorkerBench([kind, maker]);
    await bench.client.enqueue(maker, { fails: true });
    await bench.work("maker");
    expect(await bench.client.watermark.read(kind, byId)).toMatchObject({ version: "0" });
    await bench.client.enqueue(maker, { fails: false });
    await bench.work("maker");

    expect(await payloads(bench)).toHaveLength(3);
  });

  test("a single run of taskgate/testing shows the blocks that it made", async () => {
    const kind = importing();
    const maker = defineTask({
      name: "maker",
      run: async (_, ctx) => {
        await ctx.watermark.advance(kind, { ...byId, numeric: { to: 15, size: 10 } });
        await ctx.watermark.advance(kind, { ...byId, numeric: { to: 20, size: 10 } });
      },
    });
    const run = await runTaskOnce(maker, { payload: {} });
    expect(run.end).toEqual({ kind: "done", result: null });
    expect(run.enqueued.map(({ kind: name, payload }) => [name, payload])).toEqual([
      ["import", { from: "1", to: "10" }],
      ["import", { from: "11", to: "15" }],
      ["import", { from: "16", to: "20" }],
    ]);
  });
});

describe("options of watermarks that nothing has, and values of the wrong form", () => {
  const after = () => [];
  const markOf = () => null;
  const numeric = { to: 25, size: 10 };
  const dates = { to: new Date(1_000), start: new Date(0), spanMs: 100 };
  const list = { after, markOf, maxItems: 5 };
  const requests: readonly [object, string][] = [
    [
      { ...byId, numeric, maxblocks: 4 },
      "maxblocks: unknown option of watermark.advance. Did you mean `maxBlocks`?",
    ],
    [
      { ...byId, numeric: { ...numeric, overlp: 5 } },
      "overlp: unknown option of numeric. Did you mean `overlap`? Known are to, size, start, overlap",
    ],
    [
      { ...byId, dates: { ...dates, overlap: 5 } },
      "overlap: unknown option of dates. Did you mean `overlapMs`?",
    ],
    [
      { ...byId, list: { ...list, maxItem: 5 } },
      "maxItem: unknown option of list. Did you mean `maxItems`?",
    ],
    [
      { ...byId, objects: { after, markOf, maxItems: 5 } },
      "maxItems: unknown option of objects. Known are after, markOf",
    ],
    [{ ...byId, numeric: 25 }, "numeric: expected an object, of to, size, start, overlap (25)"],
    [{ numeric }, "watermark: expected 1..200 characters"],
    [
      { ...byId, dates: { to: dates.to, spanMs: 100 } },
      "start: expected an instant as a Date (undefined)",
    ],
    [
      { ...byId, dates: { ...dates, to: "2030-01-01" } },
      'to: expected an instant as a Date (the text "2030-01-01")',
    ],
    [{ ...byId, list: { markOf, maxItems: 5 } }, "after: expected a function (undefined)"],
    [{ ...byId, objects: { after } }, "markOf: expected a function (undefined)"],
  ];
  test.each(requests)(
    "watermark.advance with %j makes nothing and names the option",
    async (request, message) => {
      const kind = importing();
      const bench = openWorkerBench([kind]);
      const { watermark } = bench.client;
      await watermark.advance(kind, { ...byId, numeric: { to: 0, size: 10 } });
      await expect(watermark.advance(kind, request as typeof byId)).rejects.toThrow(message);
      expect(await payloads(bench)).toEqual([]);
    },
  );

  test.each([
    [undefined, "undefined"],
    [null, "null"],
    [12n, "the bigint 12n"],
  ])("a mark of %p is refused, and the watermark stays", async (mark, shown) => {
    const kind = importing();
    const bench = openWorkerBench([kind]);
    const { watermark } = bench.client;
    const wrong = { after: () => [1], markOf: () => mark as never, maxItems: 1 };
    await expect(watermark.advance(kind, { ...byId, list: wrong })).rejects.toThrow(
      `markOf: expected a mark that JSON can say, not null (${shown}`,
    );
    await expect(
      watermark.advance(kind, {
        ...byId,
        objects: { after: () => [{}], markOf: () => mark as never },
      }),
    ).rejects.toThrow("markOf: expected a mark");
    expect(await watermark.read(kind, byId)).toMatchObject({ value: null });
    expect(await payloads(bench)).toEqual([]);
  });

  test("an answer of after that is no list is refused", async () => {
    const kind = importing();
    const { client } = openWorkerBench([kind]);
    const list = { after: () => null as never, markOf: () => 1, maxItems: 1 };
    await expect(client.watermark.advance(kind, { ...byId, list })).rejects.toThrow(
      "after: expected it to answer a list, or another iterable (null)",
    );
  });

  test("watermark.advance with a mistyped transaction is refused", async () => {
    const { client } = openWorkerBench([importing()]);
    const options = { transacton: {} } as object;
    const call = client.watermark.advance(importing(), { ...byId, numeric }, options);
    await expect(call).rejects.toThrow("transacton: unknown option of watermark.advance's options");
  });

  test("watermark.read without the name of a watermark is refused, and takes the request of an advance", async () => {
    const kind = importing();
    const { client } = openWorkerBench([kind]);
    await client.watermark.advance(kind, { ...byId, numeric });
    const mistyped = { watermrk: "by-id" } as unknown as typeof byId;
    await expect(client.watermark.read(kind, mistyped)).rejects.toThrow(
      "watermrk: unknown option of watermark.read. Did you mean `watermark`?",
    );
    await expect(client.watermark.read(kind, {} as typeof byId)).rejects.toThrow(
      "watermark: expected",
    );
    const request = { ...byId, numeric };
    expect(await client.watermark.read(kind, request)).toMatchObject({ value: { last: "25" } });
  });
});
