import { InvocationContext, app } from "@azure/functions";
import type { StorageQueueFunctionOptions } from "@azure/functions";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import type { TaskKind } from "../../shared";
import { define, operationId, startWorker, statusOf } from "../support/builders";
import { until } from "../support/gate";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { openGuideScene } from "./guide-scene";
import type { GuideScene } from "./guide-scene";
import { loadBlock, testBlocksRan } from "./run-blocks";

/* Goal: the limits of the guide hold as pasted, on PostgreSQL: a rate, a limit of several definitions, a function under one. */
const page = "docs/guides/limits.md";
let scene: GuideScene;

beforeAll(async () => {
  scene = await openGuideScene();
}, 60_000);
afterAll(() => scene.close());

test("sendInvoice starts its burst of five at once, and the next one not before the rate allows it", async () => {
  const { sendInvoice } = await loadBlock<{ sendInvoice: TaskKind<{ invoice: string }> }>([
    page,
    "rate",
  ]);
  const { client, work, lines } = openWorkerBench([sendInvoice], { store: scene.store });
  const sent = (): number => lines.filter(({ message }) => message === "sending").length;
  const invoices = Array.from({ length: 7 }, (_, index) => ({ invoice: String(index) }));
  await client.enqueueMany(sendInvoice, invoices);
  const startedAtMs = performance.now();
  const working = work("send-invoice");
  await until("the burst has started", () => sent() >= 5);
  const burstAtMs = performance.now();
  await working;
  expect(sent()).toBe(7);
  // 100 a minute: one each 600 ms behind the burst.
  expect(performance.now() - startedAtMs).toBeGreaterThan(1_150);
  expect(burstAtMs - startedAtMs).toBeLessThan(1_150);
  expect(await statusOf(scene.store, "send-invoice")).toMatchObject({ limit: 4, done: 7 });
});

test("fetchOrders draws from partner-api and night-window, which is 1 until a limit is set", async () => {
  const { fetchOrders } = await loadBlock<{ fetchOrders: TaskKind<object> }>([
    page,
    "shared-limit",
  ]);
  const bench = openWorkerBench([fetchOrders], { store: scene.store });
  await bench.work("fetch-orders");
  const shared = async (): Promise<unknown> => {
    const { sharedLimits } = await scene.store.listSharedLimits({ max: 10 });
    return sharedLimits.map(({ name, limit, held }) => [name, limit, held]);
  };
  const tokens = async (): Promise<number> => {
    await bench.client.enqueueMany(fetchOrders, [{}, {}, {}, {}, {}, {}, {}, {}]);
    return (await bench.work("fetch-orders")).tokens;
  };
  expect(await shared()).toEqual([
    ["night-window", 1, 0],
    ["partner-api", 6, 0],
  ]);
  expect(await tokens()).toBe(1);
  await scene.store.setSharedLimit({
    ...{ operationId: operationId(), name: "night-window", limit: null, changedBy: "test" },
  });
  expect(await tokens()).toBe(6);
  expect(bench.lines.filter(({ message }) => message === "fetching")).toHaveLength(16);
});

test("the queue function of the page calls the partner under partner-api, and defers its message to a task without a token", async () => {
  const called: unknown[] = [];
  const callPartner = async (message: unknown): Promise<void> => void called.push(message);
  Object.assign(globalThis, { callPartner });
  const registered = jest.spyOn(app, "storageQueue").mockReturnValue(undefined);
  await loadBlock([page, "limited-function"]);
  const [name, options] = registered.mock.calls[0] ?? [];
  registered.mockRestore();
  const { handler, queueName } = options as StorageQueueFunctionOptions;
  expect([name, queueName]).toEqual(["notify", "notifications"]);
  const invoke = async (order: number): Promise<void> => {
    const context = new InvocationContext({
      functionName: "notify",
      options: {
        trigger: { type: "queueTrigger", name: "message", queueName: "notifications" },
        return: undefined,
        extraInputs: [],
        extraOutputs: [],
      } as never,
      triggerMetadata: { id: `message-${String(order)}`, dequeueCount: 1 },
    });
    await handler({ order }, context);
  };
  await invoke(1);
  expect(called).toEqual([{ order: 1 }]);

  const settings = { limit: null, sharedLimits: [{ name: "partner-api", limit: 4 }] };
  await define(scene.store, settings, "holder");
  await until("the gate has given its token back", async () => {
    const { sharedLimits } = await scene.store.listSharedLimits({ max: 10 });
    return sharedLimits.find((each) => each.name === "partner-api")?.held === 0;
  });
  const holder = await startWorker(scene.store, "holder", { want: 8 });
  expect(holder.answer.tokens).toBe(4);
  await invoke(2);
  expect(called).toEqual([{ order: 1 }]);
  expect(
    await scene.query("select payload from taskgate.task where kind like '%callPartner'"),
  ).toEqual([{ payload: expect.stringContaining('"order":2') }]);
  await holder.finish();
});

test("the HTTP function of the page reads prices on two tokens, and answers 429 with Retry-After where they aren't free", async () => {
  const held: unknown[] = [];
  const readPrices = async (signal: AbortSignal): Promise<object> => {
    const { sharedLimits } = await scene.store.listSharedLimits({ max: 10 });
    held.push(sharedLimits.find(({ name }) => name === "partner-api")?.held, signal.aborted);
    return { tea: 3 };
  };
  Object.assign(globalThis, { readPrices });
  const registered = jest.spyOn(app, "http").mockReturnValue(undefined);
  await loadBlock([page, "with-tokens"]);
  const [name, options] = registered.mock.calls[0] ?? [];
  registered.mockRestore();
  expect(name).toBe("prices");
  const { handler } = options as { handler: () => Promise<unknown> };
  expect(await handler()).toEqual({ jsonBody: { tea: 3 } });
  expect(held).toEqual([2, false]);

  const settings = { limit: null, sharedLimits: [{ name: "partner-api", limit: 4 }] };
  await define(scene.store, settings, "keeper");
  await until("the gate has given its tokens back", async () => {
    const { sharedLimits } = await scene.store.listSharedLimits({ max: 10 });
    return sharedLimits.find((each) => each.name === "partner-api")?.held === 0;
  });
  const keeper = await startWorker(scene.store, "keeper", { want: 3 });
  expect(keeper.answer.tokens).toBe(3);
  expect(await handler()).toEqual({
    status: 429,
    headers: { "Retry-After": expect.stringMatching(/^[1-9]\d?$/) },
  });
  expect(held).toHaveLength(2);
  await keeper.finish();
});

testBlocksRan([
  [page, "rate"],
  [page, "shared-limit"],
  [page, "limited-function"],
  [page, "with-tokens"],
]);
