import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Client, types } from "pg";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { fromPg } from "../../shared/store/from-pg";
import type { PgSendStatement } from "../../shared/store/from-pg";
import { openStore } from "../../shared/store/open-store";
import type { StoreTransaction } from "../../shared/ports/task-store";
import { taskRef } from "../../shared/worker/define/task-ref";
import { expectError } from "../support/expect-error";
import { urlAs } from "../support/roles";
import { asShop, bill, openOrders, ship } from "./orders-database";
import type { OrdersDatabase } from "./orders-database";
import { wrappers } from "./wrapped-errors";
import type { DriverError, Wrapper } from "./wrapped-errors";

/*
 * Goal: an enqueue within the transaction of any driver or ORM, by a function that sends one statement, does what it does with a
 * client of pg. `npm run test:orms` asks the ORMs themselves; here are their shapes, over pg.
 */
let scene: OrdersDatabase;
beforeAll(async () => {
  scene = await openOrders(20);
});
beforeEach(async () => {
  await scene.owner.query(
    "delete from orders; delete from taskgate.dedupe; delete from taskgate.ready; delete from taskgate.scheduled; delete from taskgate.task",
  );
});
afterAll(() => scene.close());

/** Answers as TypeORM, Prisma and postgres.js do. */
const sendRows =
  (pg: Client): PgSendStatement =>
  async (text, values) =>
    (await pg.query<object>(text, values)).rows;

/** What functions of several ORMs answer; each sends as pg does, by the extended protocol where there are values. */
const shapes: readonly { shape: string; sender: (pg: Client) => PgSendStatement }[] = [
  { shape: "an array of rows", sender: sendRows },
  {
    shape: "an object with rows",
    sender: (pg) => (text, values) => pg.query(text, values),
  },
  {
    shape: "rows, and what the driver says besides",
    sender: (pg) => async (text, values) => {
      const answer = await pg.query(text, values);
      return [answer.rows, answer];
    },
  },
  {
    shape: "rows with names in camelCase and 64-bit numbers as bigint",
    sender: (pg) => async (text, values) => {
      const answer = await pg.query<Record<string, unknown>>(text, values);
      const isLong = (name: string): boolean =>
        answer.fields.find((field) => field.name === name)?.dataTypeID === types.builtins.INT8;
      const camel = (name: string): string =>
        name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return answer.rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            camel(name),
            typeof value === "string" && isLong(name) ? BigInt(value) : value,
          ]),
        ),
      );
    },
  },
];

/** Like pg, which sends a statement without values by the simple protocol, but never by that one. */
const sendExtended =
  (pg: Client): PgSendStatement =>
  (text, values) =>
    pg.query({ text, values, queryMode: "extended" } as never);

describe.each(shapes)("a function that answers $shape", ({ sender }) => {
  test("an enqueue by a function makes the task visible with the caller's own rows at the commit, not before", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin");
      await pg.query("insert into orders values (1)");
      const transaction = fromPg(sender(pg));
      const made = await scene.client.enqueue(bill, { order: 1 }, { transaction });
      expect(made).toMatchObject({ outcome: "enqueued", startsWithinMs: null });
      const later = await scene.client.enqueue(
        bill,
        { order: 2 },
        { transaction, runInMs: 60_000 },
      );
      expect(later.outcome).toBe("enqueued");
      expect(await scene.count()).toEqual({ orders: 0, tasks: 0 });
      await pg.query("commit");
    });
    expect(await scene.count()).toEqual({ orders: 1, tasks: 2 });
  });

  test("an enqueue by a function leaves nothing behind when the caller rolls back", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin");
      await scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(sender(pg)) });
      await pg.query("rollback");
    });
    expect(await scene.count()).toEqual({ orders: 0, tasks: 0 });
  });

  test("an enqueue by a function is refused outside of a transaction, with nothing enqueued", async () => {
    await asShop(scene, async (pg) => {
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(sender(pg)) });
      await expectError(call, {
        code: "TASKGATE_STORE_CONTEXT",
        field: "transaction",
        value: "no transaction is open",
      });
    });
    expect((await scene.count()).tasks).toBe(0);
  });

  test("an enqueue by a function moves a watermark with its tasks", async () => {
    const pg = new Client({ connectionString: urlAs(scene.url, "worker") });
    await pg.connect();
    await pg.query("begin");
    const request = { watermark: "w", numeric: { to: "2", size: 1 } };
    const transaction = fromPg(sender(pg));
    const first = await scene.client.watermark.advance(bill, request, { transaction });
    expect(first).toMatchObject({ status: "advanced", version: "1", taskIds: { length: 2 } });
    await pg.query("rollback");
    await pg.end();
  });
});

describe("an enqueue by a function", () => {
  test("an enqueue by a function sends texts and null only, each mark once and in order, and no question mark", async () => {
    const sent: { text: string; values: (string | null)[] }[] = [];
    await asShop(scene, async (pg) => {
      await pg.query("begin");
      const transaction = fromPg((text, values) => {
        sent.push({ text, values });
        return pg.query(text, values);
      });
      await scene.client.enqueue(bill, { order: 1 }, { transaction, dedupeKey: "a?" });
      await pg.query("rollback");
    });
    expect(sent).toHaveLength(2);
    for (const { text, values } of sent) {
      expect(text).not.toContain("?");
      // A driver that asks the server for the types of values finds texts.
      const marks = [...text.matchAll(/\$\d+(?:::text)?/g)].map(([mark]) => mark);
      expect(marks).toEqual(values.map((_, index) => `$${index + 1}::text`));
      expect(values.filter((value) => value !== null && typeof value !== "string")).toEqual([]);
    }
  });

  test("an enqueue by a function sends one statement at a time, though several enqueues are called at once", async () => {
    await asShop(scene, async (pg) => {
      let running = 0;
      let most = 0;
      await pg.query("begin");
      const transaction = fromPg(async (text, values) => {
        running += 1;
        most = Math.max(most, running);
        try {
          return await pg.query(text, values);
        } finally {
          running -= 1;
        }
      });
      await Promise.all(
        [1, 2, 3, 4].map((order) => scene.client.enqueue(bill, { order }, { transaction })),
      );
      await pg.query("commit");
      expect(most).toBe(1);
    });
    expect((await scene.count()).tasks).toBe(4);
  });

  test("an enqueue by a function goes on behind a savepoint that the caller has rolled back to", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin; savepoint mine");
      const transaction = fromPg(sendRows(pg));
      await scene.client.enqueue(bill, { order: 1 }, { transaction });
      await pg.query("rollback to savepoint mine");
      await scene.client.enqueue(bill, { order: 2 }, { transaction });
      await pg.query("commit");
    });
    expect((await scene.count()).tasks).toBe(1);
  });

  test("an enqueue by a function hands the caller's own statement on, with texts for its values and its errors unchanged", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin");
      const transaction = fromPg(sendRows(pg));
      const at = new Date("2030-01-02T03:04:05.678Z");
      const text = "select $1::int + 1 as next, $2::timestamptz = $3::timestamptz as same";
      const values = [41, at, "2030-01-02T03:04:05.678Z"];
      expect(await transaction.query(text, values)).toEqual([{ next: 42, same: true }]);
      await expect(transaction.query("select 1 / 0")).rejects.toMatchObject({ code: "22012" });
      await pg.query("rollback");
    });
  });
});

describe("an enqueue by a function is refused, with nothing enqueued,", () => {
  test.each([
    {
      title: "at serializable",
      begun: "begin isolation level serializable",
      said: "(serializable)",
    },
    {
      title: "behind a statement that failed",
      begun: "begin; savepoint a; select 1 / 0",
      said: "has failed",
    },
    { title: "behind the commit", begun: "begin; commit", said: "no transaction is open" },
  ])("an enqueue by a function is refused in a transaction: $title", async ({ begun, said }) => {
    await asShop(scene, async (pg) => {
      await pg.query(begun).catch(() => undefined);
      const transaction = fromPg(sendRows(pg));
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
      await expectError(call, { code: "TASKGATE_STORE_CONTEXT", value: said });
      await pg.query("rollback");
    });
    expect((await scene.count()).tasks).toBe(0);
  });

  test("an enqueue by a function is refused in a transaction that only reads before it asks for a number, which a standby hasn't", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin read only");
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(sendRows(pg)) });
      await expectError(call, { code: "TASKGATE_STORE_CONTEXT", value: "read-only" });
      const { rows } = await pg.query("select pg_current_xact_id_if_assigned() as number");
      expect(rows).toEqual([{ number: null }]);
      await pg.query("rollback");
    });
  });

  test("an enqueue by a function is refused outside of a transaction also by the extended protocol, whose times differ", async () => {
    await asShop(scene, async (pg) => {
      const transaction = fromPg(sendExtended(pg));
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
      await expectError(call, { code: "TASKGATE_STORE_CONTEXT", value: "no transaction is open" });
      await pg.query("begin");
      await scene.client.enqueue(bill, { order: 2 }, { transaction });
      await pg.query("commit");
    });
    expect((await scene.count()).tasks).toBe(1);
  });

  test("an enqueue by a function is refused over a pool, also while another of its connections is in a transaction", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin; insert into orders values (1)");
      const transaction = fromPg((text, values) => scene.shop.query(text, values));
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
      await expectError(call, { code: "TASKGATE_STORE_CONTEXT", value: "no transaction is open" });
      await pg.query("commit");
    });
    expect(await scene.count()).toEqual({ orders: 1, tasks: 0 });
  });

  test("an enqueue by a function is refused when its statements go to two transactions in turn", async () => {
    await asShop(scene, async (one) => {
      await asShop(scene, async (other) => {
        await one.query("begin");
        await other.query("begin; insert into orders values (1)");
        let sent = 0;
        const transaction = fromPg((text, values) =>
          ((sent += 1) % 2 === 1 ? one : other).query(text, values),
        );
        const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
        await expectError(call, { code: "TASKGATE_STORE_CONTEXT" });
        await one.query("commit");
        await other.query("commit");
      });
    });
    expect(await scene.count()).toEqual({ orders: 1, tasks: 0 });
  });

  test("an enqueue by a function is refused when the ORM itself says that the transaction has ended", async () => {
    const said = "Transaction query already complete, run with DEBUG=knex:tx for more info";
    const transaction = fromPg(() => Promise.reject(new Error(said)));
    const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
    await expectError(call, { code: "TASKGATE_STORE_CONTEXT", value: said });
  });

  test.each([
    { answer: undefined, said: "got undefined" },
    { answer: 1, said: "got 1" },
    { answer: { records: [] }, said: "got an object" },
    { answer: { rows: "none" }, said: "got an object" },
    { answer: [], said: "got an empty array" },
    { answer: [1], said: "got an array that begins with 1" },
    { answer: [[1, 2]], said: "got an array that begins with an array" },
    { answer: [{ count: 1 }], said: "got an array that begins with an object" },
    { answer: new Map(), said: "got an instance of Map" },
  ])(
    "an enqueue by a function is refused when it answers no rows: $said",
    async ({ answer, said }) => {
      const transaction = fromPg(() => Promise.resolve(answer));
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
      await expectError(call, { code: "TASKGATE_ARG_INVALID", field: "client", value: said });
    },
  );

  test.each(["raw", "unsafe", "query", "execute"])(
    "an enqueue by a function is refused when the function is an ORM's own, with the method %s",
    (method) => {
      const own = Object.assign(() => Promise.resolve([]), { [method]: () => undefined });
      expect(() => fromPg(own)).toThrow(
        `got a function with the method \`${method}\`, which is an ORM's own. `,
      );
    },
  );
});

/** In a transaction of the shop's that fails, with errors as an ORM throws them. */
function inFailing(
  wrap: Wrapper["wrap"],
  body: (transaction: StoreTransaction) => Promise<void>,
): Promise<void> {
  return asShop(scene, async (pg) => {
    const send: PgSendStatement = async (text, values) => {
      try {
        return await pg.query(text, values);
      } catch (error) {
        throw wrap(error as DriverError, text);
      }
    };
    await pg.query("begin");
    await body(fromPg(send));
    await pg.query("rollback");
  });
}

describe.each(wrappers)("an error that comes as $orm throws it", ({ wrap }) => {
  const inTransaction = (body: (transaction: StoreTransaction) => Promise<void>) =>
    inFailing(wrap, body);

  test("an error as the ORM throws it has the code, the field and the message of the same error with pg", async () => {
    await inTransaction(async (transaction) => {
      const call = scene.client.enqueue(taskRef({ name: "unknown" }), {}, { transaction });
      await expect(call).rejects.toThrow(/^name: unknown definition \(unknown\): expected/);
      await expectError(call, { code: "TASKGATE_ARG_UNKNOWN", field: "name" });
    });
    await inTransaction(async (transaction) => {
      const options = { transaction, group: "bert" };
      const ref = taskRef<{ customer: string }>({ name: ship.definition.name });
      const call = scene.client.enqueue(ref, { customer: "anna" }, options);
      await expectError(call, { code: "TASKGATE_ARG_RULE", value: "group" });
    });
    await inTransaction(async (transaction) => {
      await expect(transaction.query("select 1 / 0")).rejects.toThrow();
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction });
      await expectError(call, { code: "TASKGATE_STORE_CONTEXT", value: "has failed" });
    });
    expect((await scene.count()).tasks).toBe(0);
  });

  test("an error as the ORM throws it tells an operation id that was used for another definition, and a right that the login lacks", async () => {
    const store = openStore({
      ...{ url: urlAs(scene.url, "worker"), connectionsMax: 1 },
      ...{ random: realRandom, sleep },
    });
    const operationId = realRandom.uuid();
    const input = (name: string) => ({ name, build: 0, operationId, tasks: [{ payload: null }] });
    await store.enqueueTasks(input("bill"));
    await store.close();
    await inTransaction(async (transaction) => {
      const other = openStore({ url: scene.shopUrl, connectionsMax: 1, random: realRandom, sleep });
      const call = other.enqueueTasks(
        { ...input("ship"), tasks: [{ payload: '{"customer":"anna"}' }] },
        transaction,
      );
      await expectError(call, { code: "TASKGATE_ARG_CONFLICT" });
      await other.close();
    });
    await inTransaction(async (transaction) => {
      const request = { watermark: "w", numeric: { to: "2", size: 1 } };
      const call = scene.client.watermark.advance(bill, request, { transaction });
      await expectError(call, { code: "TASKGATE_STORE_FORBIDDEN", value: "advance_watermark" });
    });
  });

  test("an error as the ORM throws it is uncertain where the connection broke", async () => {
    const lost: PgSendStatement = (text) =>
      Promise.reject(wrap(new Error("Connection terminated unexpectedly"), text));
    const call = scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(lost) });
    await expectError(call, { code: "TASKGATE_STORE_UNCERTAIN", value: "terminated" });
  });
});

test("a dedupe key that another transaction holds is told as with pg, though Prisma hides where the server waited", async () => {
  const wrap = wrappers.find(({ orm }) => orm.startsWith("Prisma"))?.wrap;
  if (wrap === undefined) throw new Error("there is no Prisma");
  await asShop(scene, async (holder) => {
    await holder.query("begin");
    const options = { dedupeKey: "held", transaction: fromPg(holder) };
    await scene.client.enqueue(bill, { order: 1 }, options);
    await inFailing(wrap, async (transaction) => {
      const keyed = { dedupeKey: "held", transaction };
      const call = scene.client.enqueue(bill, { order: 1 }, keyed);
      await expectError(call, { code: "TASKGATE_STORE_CONFLICT", value: "lock" });
    });
    await holder.query("rollback");
  });
});
