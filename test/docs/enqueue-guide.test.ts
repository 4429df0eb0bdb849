import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Pool } from "pg";
import { createClient, defineTask, StoreForbiddenError } from "../../shared";
import type { Client, TaskClient, TaskRef } from "../../shared";
import { urlAs } from "../support/roles";
import { statusOf } from "../support/builders";
import { notingKind, openGuideScene } from "./guide-scene";
import type { GuideScene } from "./guide-scene";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { loadBlock, pasteSql, testBlocksRan } from "./run-blocks";

/*
 * Goal: programs that add tasks from outside run as pasted on PostgreSQL, each with a login that has the rights of the page and no
 * others. Addresses and the login's name are the test's; tsql-guides.test.ts has the same for SQL Server.
 */
const page = "docs/guides/enqueue-from-anywhere.md";
const ship = defineTask<{ order: number }>({ name: "ship", run: async () => undefined });

let scene: GuideScene;
let client: Client;
let pool: Pool;
/** Logins belong to the whole server. */
const login = `shop_${randomBytes(4).toString("hex")}`;
const asLogin = (text: string): string => text.replaceAll(/\bshop\b/g, login);

beforeAll(async () => {
  scene = await openGuideScene(`
    create role ${login} login password 'secret';
    create table orders (id int primary key);
    grant all on orders to ${login}`);
  const url = new URL(scene.url);
  url.username = login;
  url.password = "secret";
  pool = new Pool({ connectionString: url.toString(), max: 2 });
  client = createClient({ store: urlAs(scene.url, "worker"), tasks: [ship] });
  await client.watermark.read(ship, { watermark: "none" });
}, 60_000);
afterAll(async () => {
  await client.close();
  await pool.end();
  await scene.query(`drop owned by ${login}; drop role ${login}`);
  await scene.close();
});

test("createClient of the page adds a task, and its hint goes into the queue", async () => {
  const { enqueueInvoice } = await loadBlock<{ enqueueInvoice: () => Promise<string> }>(
    [page, "client"],
    (text) =>
      text
        .replace("postgres://shop:secret@localhost:5432/jobs", urlAs(scene.url, "worker"))
        .replace("UseDevelopmentStorage=true", scene.azurite.connectionString),
  );
  const bench = openWorkerBench([notingKind("send-invoice", [])], { store: scene.store });
  await bench.work("send-invoice");
  const taskId = await enqueueInvoice();
  expect(await client.tasks.read(taskId)).toMatchObject({ state: "ready" });
  const { peekedMessageItems } = await scene.queue("taskgate-hints").peekMessages();
  const [hint] = peekedMessageItems.map(({ messageText }) =>
    Buffer.from(messageText, "base64").toString("utf8"),
  );
  expect(JSON.parse(hint ?? "")).toMatchObject({ taskDefinition: "send-invoice" });
});

describe("placeOrder in a transaction of pg", () => {
  test("placeOrder needs the rights of the page, and then commits order and task, or neither", async () => {
    const { placeOrder } = await loadBlock<{
      placeOrder: (
        program: { pool: Pool; client: TaskClient },
        kind: TaskRef<{ order: number }>,
      ) => Promise<void>;
    }>([page, "in-pg"]);
    const orders = (): Promise<unknown[]> => scene.query("select id from orders");
    await expect(placeOrder({ pool, client }, ship)).rejects.toThrow(StoreForbiddenError);
    expect(await orders()).toEqual([]);

    await pasteSql([page, "rights-postgres"], (text) => scene.query(asLogin(text)));
    await placeOrder({ pool, client }, ship);
    expect(await orders()).toEqual([{ id: 17 }]);
    expect(await statusOf(scene.store, "ship")).toMatchObject({ ready: 1 });

    // The order exists: its key is refused, and no second task stays.
    await expect(placeOrder({ pool, client }, ship)).rejects.toThrow("duplicate key");
    await expect(pool.query("select count(*) from taskgate.task")).rejects.toThrow("permission");
    expect(await statusOf(scene.store, "ship")).toMatchObject({ ready: 1 });
  });
});

describe("tasks that exist", () => {
  test("orderCancelled is refused to a login of workers, until the page's grant", async () => {
    const { orderCancelled } = await loadBlock<{
      orderCancelled: (program: TaskClient, taskId: string) => Promise<string>;
    }>([page, "tasks-that-exist"]);
    await scene.query(`grant taskgate_worker to ${login}`);
    const url = new URL(scene.url);
    url.username = login;
    url.password = "secret";
    const shop = createClient({ store: url.toString(), tasks: [ship] });
    try {
      const { taskId } = await shop.enqueue(ship, { order: 18 });
      await expect(orderCancelled(shop, taskId)).rejects.toThrow(StoreForbiddenError);
      await pasteSql([page, "operator-rights"], (text) => scene.query(asLogin(text)));
      expect(await orderCancelled(shop, taskId)).toBe("cancelled");
      expect(await shop.tasks.read(taskId)).toMatchObject({ state: "cancelled" });
      expect(await orderCancelled(shop, "4711")).toContain("unknown");
    } finally {
      await shop.close();
    }
  });
});

testBlocksRan([
  [page, "client"],
  [page, "in-pg"],
  [page, "rights-postgres"],
  [page, "tasks-that-exist"],
  [page, "operator-rights"],
]);
