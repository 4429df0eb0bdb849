import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type sql from "mssql";
import { createClient, defineTask, StoreForbiddenError, taskRef } from "../../shared";
import type { Client, TaskClient, TaskKind, TaskRef } from "../../shared";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import type { SimulatedServer } from "../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "../tsql/wire/start-taskgate-server";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { readBlock } from "./markdown";
import { connectMssql } from "./mssql-pool";
import { loadBlock, noteRun, testBlocksRan } from "./run-blocks";

/*
 * Goal: what the guides show for SQL Server runs as pasted, on the shipped T-SQL over TDS: a transaction of the program's own with the
 * rights of the page, and a task's own table. sql-guide.test.ts has the blocks of T-SQL that add and watch tasks.
 */
const page = "docs/guides/enqueue-from-anywhere.md";
const worker = { user: "wendy", password: "w1" };
const shop = { user: "shop", password: "s1" };
const setUp = `CREATE USER wendy WITH PASSWORD = 'w1';
ALTER ROLE TaskgateWorker ADD MEMBER wendy;
CREATE USER shop WITH PASSWORD = 's1';
CREATE TABLE dbo.Orders (Id int NOT NULL PRIMARY KEY);
GRANT SELECT, INSERT ON OBJECT::dbo.Orders TO shop;
GO
CREATE SCHEMA Shop;
GO
CREATE TABLE Shop.Booking (OrderId nvarchar(20) NOT NULL PRIMARY KEY, Amount int NOT NULL);`;

const ship = defineTask<{ order: number }>({ name: "ship", run: async () => undefined });
const unknown = taskRef<{ order: number }>({ name: "nobody-runs-this" });

let server: SimulatedServer;
let owner: sql.ConnectionPool;
let orders: sql.ConnectionPool;
let client: Client;

beforeAll(async () => {
  server = await startTaskgateServer({ setUp });
  client = createClient({ store: server.urlOf(worker), tasks: [ship] });
  await client.watermark.read(ship, { watermark: "none" });
  [owner, orders] = await Promise.all([connectMssql(server.url), connectMssql(server.urlOf(shop))]);
}, 60_000);
afterAll(async () => {
  await client.close();
  await Promise.all([owner.close(), orders.close()]);
  await server.close();
});

test("placeOrder in a transaction of mssql needs the rights of the page, and then commits order and task, or neither", async () => {
  const { placeOrder } = await loadBlock<{
    placeOrder: (
      program: { pool: sql.ConnectionPool; client: TaskClient },
      kind: TaskRef<{ order: number }>,
    ) => Promise<void>;
  }>([page, "in-mssql"]);
  const counts = async (): Promise<number[]> => {
    const { recordset } = await owner.query<{ orders: number; tasks: number }>(
      "SELECT (SELECT COUNT(*) FROM dbo.Orders) AS orders, (SELECT COUNT(*) FROM Taskgate.Ready) AS tasks;",
    );
    return recordset.flatMap((row) => [row.orders, row.tasks]);
  };
  const program = { pool: orders, client };
  await expect(placeOrder(program, ship)).rejects.toThrow(StoreForbiddenError);
  expect(await counts()).toEqual([0, 0]);

  for (const statement of readBlock(page, "rights-mssql").text.split("\n"))
    await owner.request().batch(statement);
  noteRun([page, "rights-mssql"]);
  // The server ends the transaction itself: the page's rollback then fails, which hides nothing.
  await expect(placeOrder(program, unknown)).rejects.toThrow("definition");
  expect(await counts()).toEqual([0, 0]);
  await placeOrder(program, ship);
  expect(await counts()).toEqual([1, 1]);
  await expect(placeOrder(program, ship)).rejects.toThrow("PRIMARY KEY");
  expect(await counts()).toEqual([1, 1]);
});

test("bookOrder writes its row in T-SQL together with its end, and a row that exists rolls the end back", async () => {
  const { bookOrder } = await loadBlock<{
    bookOrder: TaskKind<{ order: string; amount: number }>;
  }>(["docs/guides/own-tables.md", "book-order"]);
  const store = openStore({ url: server.url, connectionsMax: 3, random: realRandom, sleep });
  try {
    const bench = openWorkerBench([bookOrder], { store });
    const tasks = await bench.client.enqueueMany(bookOrder, [
      { order: "17", amount: 5 },
      { order: "17", amount: 9 },
    ]);
    await bench.work("book-order");
    const states = await Promise.all(tasks.map(({ taskId }) => bench.client.tasks.read(taskId)));
    expect(states).toMatchObject([
      { state: "done" },
      { state: "scheduled", error: expect.stringContaining("PRIMARY KEY") },
    ]);
    const { recordset } = await owner.query("SELECT b.OrderId, b.Amount FROM Shop.Booking AS b;");
    expect(recordset).toEqual([{ OrderId: "17", Amount: 5 }]);
  } finally {
    await store.close();
  }
});

testBlocksRan([
  [page, "in-mssql"],
  [page, "rights-mssql"],
  ["docs/guides/own-tables.md", "book-order"],
]);
