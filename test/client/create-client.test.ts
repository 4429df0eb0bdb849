import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createClient } from "../../shared/client/create-client";
import type { Client, ClientOptions } from "../../shared/client/create-client";
import { InvalidArgumentError, StoreForbiddenError } from "../../shared/core/errors";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { AppAddress } from "../../shared/ports/task-store";
import { queueUriOf } from "../../shared/settings/queue-address";
import { fromPg } from "../../shared/store/from-pg";
import { openStore } from "../../shared/store/open-store";
import { defineTask } from "../../shared/worker/define/define-task";
import { taskRef } from "../../shared/worker/define/task-ref";
import { expectError } from "../support/expect-error";
import { until } from "../support/gate";
import { urlAs } from "../support/roles";
import { startNetwork } from "../support/silent-network";
import { asShop, bill, openOrders, ship } from "./orders-database";
import type { OrdersDatabase } from "./orders-database";

/*
 * Goal: a client outside of any function app enqueues, tells workers, says when they look, and ends. Real PostgreSQL, and the
 * storage emulator behind the real queue client.
 */
let scene: OrdersDatabase;
let azurite: Azurite;
const opened: Client[] = [];
beforeAll(async () => {
  [scene, azurite] = await Promise.all([openOrders(2), startAzurite()]);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
});
afterAll(async () => {
  await Promise.all([scene.close(), azurite.stop()]);
});

function open(options: Partial<ClientOptions> = {}): Client {
  const store = urlAs(scene.url, "worker");
  const client = createClient({ store, tasks: [bill, ship], ...options });
  opened.push(client);
  return client;
}

const quiet = (): void => undefined;
const hintsTo = (queue: string) => ({ storage: azurite.connectionString, queue });

/** Definitions of the hints that a worker would see now. */
async function takeHints(queue: string): Promise<string[]> {
  const service = QueueServiceClient.fromConnectionString(azurite.connectionString);
  const reader = service.getQueueClient(queue);
  if (!(await reader.exists())) return [];
  const { receivedMessageItems } = await reader.receiveMessages({ numberOfMessages: 32 });
  return receivedMessageItems.map(({ messageText }) => {
    const text = Buffer.from(messageText, "base64").toString("utf8");
    return (JSON.parse(text) as { taskDefinition: string }).taskDefinition;
  });
}

/** The first hints that come to the queue. */
async function awaitHints(queue: string): Promise<string[]> {
  let hints: string[] = [];
  await until("a hint has come", async () => {
    hints = await takeHints(queue);
    return hints.length > 0;
  });
  return hints;
}

describe("an enqueue of a client with a hint queue", () => {
  test("a client's enqueue sends a hint to the queue and answers that workers look at once", async () => {
    const made = await open({ hints: hintsTo("at-once") }).enqueue(bill, { order: 1 });
    expect(made).toMatchObject({ outcome: "enqueued", startsWithinMs: 0 });
    expect(await awaitHints("at-once")).toEqual(["bill"]);
  });

  test("a client's enqueue within a transaction sends its hint after `committed` and none before", async () => {
    const client = open({ hints: hintsTo("after-commit") });
    await asShop(scene, async (pg) => {
      await pg.query("begin");
      const transaction = fromPg(pg);
      const made = await client.enqueue(bill, { order: 1 }, { transaction });
      expect(made.startsWithinMs).toBeNull();
      await pg.query("commit");
      // A hint that went out too early would arrive before this one of another definition.
      await client.enqueue(ship, { customer: "anna" });
      expect(await awaitHints("after-commit")).toEqual(["ship"]);
      expect(await client.committed(transaction)).toEqual({ startsWithinMs: 0 });
      expect(await takeHints("after-commit")).toEqual(["bill"]);
      await client.committed(transaction);
      expect(await takeHints("after-commit")).toEqual([]);
    });
  });

  test("a client's enqueue succeeds while the queue can't be reached, and the next answer is the sweep's time", async () => {
    const storage = azurite.connectionString.replace(/:\d+\//, ":1/");
    const lines: string[] = [];
    const line = (message: string) => void lines.push(message);
    const logger = { debug: line, info: line, warn: line, error: line };
    const client = open({ hints: { storage }, sweepSchedule: "*/30 * * * * *", logger });
    const first = await client.enqueue(bill, { order: 1 });
    expect(first.outcome).toBe("enqueued");
    await until("the hint was given up", () => Promise.resolve(lines.length > 0));
    const second = await client.enqueue(ship, { customer: "anna" });
    expect(second.startsWithinMs).toBeGreaterThan(0);
    expect(second.startsWithinMs).toBeLessThanOrEqual(30_000);
  }, 60_000);
});

describe("an enqueue of a client without a hint queue", () => {
  test("a client's enqueue answers null where no sweep schedule is given", async () => {
    expect((await open().enqueue(bill, { order: 1 })).startsWithinMs).toBeNull();
  });

  test("a client's enqueue answers the time until the next sweep where its schedule is given", async () => {
    const client = open({ sweepSchedule: "*/10 * * * * *" });
    const { startsWithinMs } = await client.enqueue(bill, { order: 1 });
    expect(startsWithinMs).toBeGreaterThan(0);
    expect(startsWithinMs).toBeLessThanOrEqual(10_000);
  });
});

describe("an enqueue of a task that belongs to an app", () => {
  const address = { encoding: "base64", sweepSchedule: "*/30 * * * * *" } as const;
  const refund = taskRef<{ order: number }>({ name: "refund" });
  const queueUri = () => queueUriOf({ kind: "connection-string", ...azurite });

  beforeAll(async () => {
    const refunds = defineTask<{ order: number }>({
      name: "refund",
      limit: 1,
      run: () => Promise.resolve(null),
    });
    const client = createClient({ store: urlAs(scene.url, "worker"), tasks: [refunds] });
    await client.enqueue(refunds, { order: 1 });
    await client.close();
  });

  async function own(app: string, to: AppAddress | null): Promise<void> {
    const client = { url: urlAs(scene.url, "operator"), connectionsMax: 1 };
    const store = openStore({ ...client, random: realRandom, sleep });
    await store.registerApp({ app, definitions: ["refund"], address: to });
    await store.setDefinitionOwner({ name: "refund", app, changedBy: "a test" });
    await store.close();
  }

  test("an enqueue of an app's task sends the hint to the app's queue in the same account, for any queue that the client names", async () => {
    await own("refunds", { ...address, queueUri: queueUri(), queue: "refund-hints" });
    const client = open({ hints: hintsTo("of-no-app") });
    expect((await client.enqueue(refund, { order: 1 })).startsWithinMs).toBe(0);
    expect(await takeHints("refund-hints")).toEqual(["refund"]);
    expect(await takeHints("of-no-app")).toEqual([]);
    expect((await client.enqueue(bill, { order: 1 })).startsWithinMs).toBe(0);
    expect(await awaitHints("of-no-app")).toEqual(["bill"]);
  });

  test("an enqueue of an app's task answers the app's next sweep where its queue is in an account without a login", async () => {
    const other = "https://other.queue.core.windows.net";
    await own("far-refunds", { ...address, queueUri: other, queue: "refund-hints" });
    const client = open({ hints: hintsTo("of-no-app") });
    const { outcome, startsWithinMs } = await client.enqueue(refund, { order: 1 });
    expect(outcome).toBe("enqueued");
    expect(startsWithinMs).toBeGreaterThan(0);
    expect(startsWithinMs).toBeLessThanOrEqual(30_000);
    await client.close();
    expect([...(await takeHints("refund-hints")), ...(await takeHints("of-no-app"))]).toEqual([]);
  });

  test("an enqueue of an app's task answers the app's next sweep where its queue doesn't answer, also the first time", async () => {
    const uri = queueUri()?.replace(/:\d+\//, ":1/") ?? null;
    const storage = azurite.connectionString.replace(/:\d+\//, ":1/");
    await own("dead-refunds", { ...address, queueUri: uri, queue: "refund-hints" });
    const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const client = open({ hints: { storage, queue: "of-no-app" }, logger });
    const { outcome, startsWithinMs } = await client.enqueue(refund, { order: 1 });
    expect(outcome).toBe("enqueued");
    expect(startsWithinMs).toBeGreaterThan(0);
  }, 60_000);

  test("an enqueue of an app's task answers null where the app hasn't said where its hints go", async () => {
    await own("new-refunds", null);
    const client = open({ hints: hintsTo("of-no-app") });
    expect((await client.enqueue(refund, { order: 1 })).startsWithinMs).toBeNull();
  });
});

describe("the tasks of a client", () => {
  test("the tasks of a client are read with the worker's role and cancelled with the operator's, and the audit names the client", async () => {
    const worker = open();
    const { taskId } = await worker.enqueue(bill, { order: 1 });
    expect(await worker.tasks.read(taskId)).toMatchObject({ definition: "bill", state: "ready" });
    for (const call of ["cancel", "redrive"] as const)
      await expect(worker.tasks[call](taskId)).rejects.toThrow(StoreForbiddenError);
    const shop = open({ store: urlAs(scene.url, "app"), name: "the shop" });
    const cancelled = await shop.tasks.cancel(taskId, { reason: "ordered twice" });
    expect(cancelled).toEqual([{ taskId, outcome: "cancelled", state: null }]);
    const store = openStore({
      ...{ url: urlAs(scene.url, "app"), connectionsMax: 1, random: realRandom, sleep },
    });
    const { entries } = await store.listAudit({ action: "cancel_tasks", max: 1 });
    await store.close();
    expect(entries).toMatchObject([
      { tasks: [taskId], actor: "the shop (build 0)", reason: "ordered twice" },
    ]);
  });
});

describe("close", () => {
  test("the call of close sends the hint that is under way, and may be called twice", async () => {
    const client = open({ hints: hintsTo("at-close") });
    await client.enqueue(bill, { order: 1 });
    await client.close();
    await client.close();
    expect(await takeHints("at-close")).toEqual(["bill"]);
  });

  test("the call of close sends the tasks that wait to share a call, and waits for their answers", async () => {
    await open().enqueue(bill, { order: 1 });
    // Nothing else is under way that `close` would wait for.
    const client = open();
    const waiting = [2, 3].map((order) => client.enqueue(bill, { order }));
    await client.close();
    const added = await Promise.all(waiting);
    expect(added.map(({ outcome }) => outcome)).toEqual(["enqueued", "enqueued"]);
  });

  test("the call of close ends the client: a later enqueue throws StoreContractError", async () => {
    const client = open();
    await client.enqueue(bill, { order: 1 });
    await client.close();
    const late = client.enqueue(bill, { order: 2 });
    await expectError(late, { code: "TASKGATE_STORE_CONTEXT", value: "createClient" });
  });

  test("the call of close ends a client that was never used", async () => {
    await expect(open().close()).resolves.toBeUndefined();
  });
});

describe("a client before a silent database", () => {
  test("an enqueue before a silent database ends in about six times callTimeoutMs, and says that the task may be there where a try was sent", async () => {
    const network = await startNetwork(new URL(urlAs(scene.url, "worker")));
    try {
      const openOne = () => open({ store: network.url, callTimeoutMs: 1_000, connectionsMax: 1 });
      const [sent, unsent] = [openOne(), openOne()];
      await sent.enqueue(bill, { order: 71 });
      // The notification behind the enqueue has been answered by then.
      await sleep(300);
      await network.fallSilent();
      const startedMs = performance.now();
      const ends = await Promise.allSettled([
        sent.enqueue(bill, { order: 72 }),
        unsent.enqueue(bill, { order: 73 }),
      ]);
      const tookMs = performance.now() - startedMs;
      expect(ends).toMatchObject([
        { status: "rejected", reason: { code: "TASKGATE_STORE_UNCERTAIN" } },
        { status: "rejected", reason: { code: "TASKGATE_STORE_UNAVAILABLE" } },
      ]);
      expect(tookMs).toBeGreaterThan(5_500);
      expect(tookMs).toBeLessThan(15_000);
    } finally {
      network.close();
    }
  }, 100_000);
});

describe("createClient refuses an option and names it:", () => {
  const store = "postgres://u:secret@localhost:1/d";
  const cases: [string, object, RegExp][] = [
    ["a store that is no address", { store: 7 }, /^store: expected an address/],
    ["a misspelt option", { store, connectionMax: 3 }, /^connectionMax: .*connectionsMax/],
    [
      "a misspelt option of hints",
      { store, hints: { storag: "x" } },
      /^storag: unknown option of hints\..*`storage`/,
    ],
    ["a misspelt schema", { store: { url: store, shema: "x" } }, /^shema: .*of store\..*`schema`/],
    [
      "a misspelt part of an identity",
      { store: { identity: { server: "s", databas: "d", clientId: null } } },
      /^databas: .*of store\.identity\..*`database`/,
    ],
    ["hints that are a text", { store, hints: "AccountKey=hush" }, /^hints: expected an object/],
    [
      "one kind instead of a list",
      { store, tasks: bill },
      /^tasks: expected a list of .*\(an object\)/,
    ],
    ["a name among the kinds", { store, tasks: ["bill"] }, /^tasks\[0\]: .*"bill"/],
    ["too many connections", { store, connectionsMax: 101 }, /^connectionsMax: .*\(101\)/],
    ["connections as a text", { store, connectionsMax: "3" }, /^connectionsMax: /],
    ["a time-out below a second", { store, callTimeoutMs: 999 }, /^callTimeoutMs: .*\(999\)/],
    ["a schedule of five fields", { store, sweepSchedule: "* * * * *" }, /^sweepSchedule: .*six/],
    ["a storage account that is none", { store, hints: { storage: "hush" } }, /^hints\.storage: /],
    [
      "a queue's name in upper case",
      { store, hints: { storage: "UseDevelopmentStorage=true", queue: "Hints" } },
      /^hints\.queue: .*Hints/,
    ],
  ];
  test.each(cases)("createClient refuses an option and names it: %s", (_, options, message) => {
    const make = () => createClient(options as ClientOptions);
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(message);
    expect(make).not.toThrow(/secret|hush/);
  });

  test("createClient refuses no options, and the address alone", () => {
    const make = (options: unknown) => () => createClient(options as ClientOptions);
    expect(make(undefined)).toThrow("options: expected an object with `store`");
    expect(make(store)).toThrow("options: expected an object with `store`");
    expect(make(store)).not.toThrow(/secret/);
  });
});
