import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import sql from "mssql";
// A reset connection must look here as it does outside jest.
import "../support/node-errors";
import { createClient } from "../../shared/client/create-client";
import type { Client } from "../../shared/client/create-client";
import { fromMssql } from "../../shared/store/from-mssql";
import { taskRef } from "../../shared/worker/define/task-ref";
import { expectError } from "../support/expect-error";
import type { SimulatedServer } from "../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "../tsql/wire/start-taskgate-server";
import { bill, ship } from "./orders-database";

/*
 * The same over TDS: the real driver, a transaction of the caller's, a login that may write its own table and enqueue, and
 * nothing else (docs/guides/enqueue-from-anywhere.md).
 */
const worker = { user: "wendy", password: "w1" };
const shop = { user: "sheila", password: "s1" };
const setUp = `CREATE USER wendy WITH PASSWORD = 'w1';
ALTER ROLE TaskgateWorker ADD MEMBER wendy;
CREATE USER sheila WITH PASSWORD = 's1';
CREATE TABLE dbo.Orders (Id int NOT NULL PRIMARY KEY);
GRANT SELECT, INSERT ON OBJECT::dbo.Orders TO sheila;
GRANT EXECUTE ON OBJECT::Taskgate.EnqueueTasks TO sheila;
GRANT EXECUTE ON TYPE::Taskgate.ReplacementList TO sheila;
GRANT EXECUTE ON TYPE::Taskgate.KeyLockList TO sheila;`;

let simulated: SimulatedServer;
let pool: sql.ConnectionPool;
let client: Client;
const begun: sql.Transaction[] = [];
beforeAll(async () => {
  simulated = await startTaskgateServer({ setUp });
});
beforeEach(async () => {
  pool = await openPool();
  client = createClient({ store: simulated.urlOf(worker), tasks: [bill, ship] });
  await client.watermark.read(bill, { watermark: "none" });
  await client.watermark.read(ship, { watermark: "none" });
});
afterEach(async () => {
  // A pool with an open transaction never ends.
  await Promise.all(begun.splice(0).map((open) => open.rollback().catch(() => undefined)));
  await client.close();
  await pool.close();
  simulated.reset();
});
afterAll(() => simulated.close());

function openPool(more: Partial<sql.config> = {}): Promise<sql.ConnectionPool> {
  const url = new URL(simulated.urlOf(shop));
  return new sql.ConnectionPool({
    server: url.hostname,
    port: Number(url.port),
    database: url.pathname.slice(1),
    user: shop.user,
    password: shop.password,
    options: { encrypt: false, trustServerCertificate: true },
    ...more,
  }).connect();
}

async function begin(level = sql.ISOLATION_LEVEL.READ_COMMITTED): Promise<sql.Transaction> {
  const transaction = new sql.Transaction(pool);
  await transaction.begin(level);
  begun.push(transaction);
  return transaction;
}

/** Orders that others see, and what becomes of a task's key: enqueued anew, or a duplicate. */
async function seen(key: string): Promise<{ orders: number; outcome: string }> {
  const { recordset } = await pool.query<{ n: number }>("SELECT COUNT(*) AS n FROM dbo.Orders;");
  const { outcome } = await client.enqueue(bill, { order: 0 }, { dedupeKey: key });
  return { orders: recordset[0]?.n ?? -1, outcome };
}

describe("an enqueue within a transaction of mssql", () => {
  test("an enqueue within a transaction of mssql adds the task with the caller's own rows at the commit", async () => {
    const transaction = await begin();
    await transaction.request().query("INSERT INTO dbo.Orders (Id) VALUES (1);");
    const payload = { order: 1, "ü€😀": `it's "quoted" \\ @p1` };
    const options = { dedupeKey: "k", transaction: fromMssql(transaction) };
    const made = await client.enqueue(bill, payload, options);
    expect(made).toMatchObject({ outcome: "enqueued", startsWithinMs: null });
    await transaction.commit();
    expect(await seen("k")).toEqual({ orders: 1, outcome: "duplicate" });
  });

  test("an enqueue within a transaction of mssql leaves nothing behind when the caller rolls back", async () => {
    const transaction = await begin();
    await transaction.request().query("INSERT INTO dbo.Orders (Id) VALUES (1);");
    const options = { dedupeKey: "k", transaction: fromMssql(transaction) };
    await client.enqueue(bill, { order: 1 }, options);
    await transaction.rollback();
    expect(await seen("k")).toEqual({ orders: 0, outcome: "enqueued" });
  });

  test("an enqueue within a transaction of mssql joins by a request on the transaction, at any isolation level, and calls at once take turns", async () => {
    const { SERIALIZABLE, REPEATABLE_READ } = sql.ISOLATION_LEVEL;
    for (const level of [SERIALIZABLE, REPEATABLE_READ]) {
      const transaction = await begin(level);
      const made = await Promise.all(
        [1, 2, 3].map((n) =>
          client.enqueue(
            bill,
            { order: n },
            { dedupeKey: "same", transaction: fromMssql(transaction.request()) },
          ),
        ),
      );
      expect(made.map(({ outcome }) => outcome)).toEqual(["enqueued", "duplicate", "duplicate"]);
      await transaction.rollback();
    }
    expect(await seen("same")).toEqual({ orders: 0, outcome: "enqueued" });
  });

  test("an enqueue within a transaction of mssql ignores the settings of the caller's pool: rows as lists, streams, other types for text", async () => {
    const map = sql.map as unknown as { register(js: unknown, type: unknown): void };
    map.register(String, sql.VarChar);
    const other = await openPool({ arrayRowMode: true, stream: true });
    try {
      const transaction = new sql.Transaction(other);
      await transaction.begin();
      const payload = { order: 1, text: "ü€😀" };
      const options = { dedupeKey: "k", transaction: fromMssql(transaction) };
      const made = await client.enqueue(bill, payload, options);
      expect(made.outcome).toBe("enqueued");
      await transaction.commit();
    } finally {
      map.register(String, sql.NVarChar);
      await other.close();
    }
    expect((await seen("k")).outcome).toBe("duplicate");
  });
});

describe("an enqueue within a transaction of mssql is refused, with nothing enqueued,", () => {
  test("an enqueue within a transaction of mssql is refused before it has begun and after it has ended", async () => {
    const transaction = new sql.Transaction(pool);
    const joined = { transaction: fromMssql(transaction) };
    const refused = { code: "TASKGATE_STORE_CONTEXT", field: "transaction" } as const;
    await expectError(client.enqueue(bill, { order: 1 }, joined), {
      ...refused,
      value: "not begun",
    });
    await transaction.begin();
    await transaction.commit();
    await expectError(client.enqueue(bill, { order: 1 }, joined), {
      ...refused,
      value: "not begun",
    });
  });

  test("an enqueue within a transaction of mssql is refused when the caller's statement has ended it, or a request is under way", async () => {
    const transaction = await begin();
    // The first enqueue within a transaction registers definitions elsewhere: the second one goes to the transaction at once.
    await client.enqueue(bill, { order: 0 }, { transaction: fromMssql(transaction) });
    const slow = transaction.request().query("SELECT COUNT(*) AS n FROM dbo.Orders;");
    // The driver takes the connection in the next turn of the event loop.
    await new Promise(setImmediate);
    const joined = { transaction: fromMssql(transaction) };
    const busy = client.enqueue(bill, { order: 1 }, joined);
    await expectError(busy, {
      code: "TASKGATE_STORE_CONTEXT",
      value: "another request in progress",
    });
    await slow;
    await transaction.request().batch("COMMIT TRANSACTION;");
    const ended = client.enqueue(bill, { order: 1 }, { ...joined, dedupeKey: "k" });
    await expectError(ended, { code: "TASKGATE_STORE_CONTEXT", field: "transaction" });
    expect((await seen("k")).outcome).toBe("enqueued");
  });

  test("an enqueue within a transaction of mssql is refused for an unregistered definition, which rolls the transaction back", async () => {
    const transaction = await begin();
    await transaction.request().query("INSERT INTO dbo.Orders (Id) VALUES (1);");
    const unknown = taskRef({ name: "unknown" });
    const call = client.enqueue(unknown, {}, { transaction: fromMssql(transaction) });
    await expectError(call, { code: "TASKGATE_ARG_UNKNOWN", value: "unknown" });
    await transaction.rollback().catch(() => undefined);
    expect((await seen("k")).orders).toBe(0);
  });
});

test("fromMssql refuses a pool, whose statements each commit by themselves, and a value that is no transaction", () => {
  expect(() => fromMssql(pool as never)).toThrow(/got an instance of ConnectionPool/);
  expect(() => fromMssql(pool.request())).toThrow(/got an instance of Request/);
  expect(() => fromMssql(null as never)).toThrow(/got null/);
  expect(() => fromMssql("transaction" as never)).toThrow(/got the text "transaction"/);
});
