import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Client, types } from "pg";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { fromPg } from "../../shared/store/from-pg";
import { openStore } from "../../shared/store/open-store";
import { createRegistry } from "../../shared/worker/define/registry";
import { taskRef, taskRequest } from "../../shared/worker/define/task-ref";
import { at, startWorker } from "../support/builders";
import { expectError } from "../support/expect-error";
import { until, within as soon } from "../support/gate";
import { urlAs } from "../support/roles";
import { withClient } from "../support/test-postgres";
import { asShop, bill, openOrders, ship } from "./orders-database";
import type { OrdersDatabase } from "./orders-database";

/*
 * Goal: a program of any kind enqueues in its own PostgreSQL transaction, and tasks exist exactly when its own writes do. The
 * transactions' login may write its own table and enqueue, and nothing else.
 */
let scene: OrdersDatabase;
beforeAll(async () => {
  scene = await openOrders(40);
});
beforeEach(async () => {
  await scene.owner.query(
    "delete from orders; delete from taskgate.dedupe; delete from taskgate.ready; delete from taskgate.scheduled; delete from taskgate.task",
  );
});
afterAll(() => scene.close());

describe("an enqueue within a transaction of pg", () => {
  test("an enqueue within a transaction of pg makes the task visible with the caller's own rows at the commit, not before", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin");
      await pg.query("insert into orders values (1)");
      const made = await scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(pg) });
      expect(made).toMatchObject({ outcome: "enqueued", startsWithinMs: null });
      expect(await scene.count()).toEqual({ orders: 0, tasks: 0 });
      await pg.query("commit");
    });
    expect(await scene.count()).toEqual({ orders: 1, tasks: 1 });
  });

  test("an enqueue within a transaction of pg leaves nothing behind when the caller rolls back, nor does its dedupe key", async () => {
    const dedupeKey = "order-1";
    await asShop(scene, async (pg) => {
      await pg.query("begin; insert into orders values (1)");
      await scene.client.enqueue(bill, { order: 1 }, { dedupeKey, transaction: fromPg(pg) });
      await pg.query("rollback");
    });
    expect(await scene.count()).toEqual({ orders: 0, tasks: 0 });
    expect((await scene.client.enqueue(bill, { order: 1 }, { dedupeKey })).outcome).toBe(
      "enqueued",
    );
  });

  test("an enqueue within a transaction of pg is undone alone when the caller rolls back to a savepoint before it", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin; insert into orders values (1)");
      await scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(pg) });
      await pg.query("savepoint mine");
      await scene.client.enqueue(bill, { order: 2 }, { transaction: fromPg(pg) });
      await pg.query("rollback to savepoint mine; commit");
    });
    expect(await scene.count()).toEqual({ orders: 1, tasks: 1 });
  });

  test("an enqueue within a transaction of pg sends one statement at a time, though several enqueues are called at once", async () => {
    await asShop(scene, async (pg) => {
      let running = 0;
      let most = 0;
      const watched = Object.assign(Object.create(pg) as typeof pg, {
        query: async (text: string) => {
          running += 1;
          most = Math.max(most, running);
          try {
            return await pg.query(text);
          } finally {
            running -= 1;
          }
        },
      });
      await pg.query("begin");
      await Promise.all(
        [1, 2, 3, 4].map((order) =>
          scene.client.enqueue(bill, { order }, { transaction: fromPg(watched) }),
        ),
      );
      await pg.query("commit");
      expect(most).toBe(1);
    });
    expect(await scene.count()).toEqual({ orders: 0, tasks: 4 });
  });

  test("an enqueue within a transaction of pg works for 300 transactions on 40 connections: tasks exist for those that committed", async () => {
    const numbers = Array.from({ length: 300 }, (_, index) => index);
    await Promise.all(
      numbers.map((n) =>
        asShop(scene, async (pg) => {
          await pg.query("begin");
          await pg.query("insert into orders values ($1)", [n]);
          await scene.client.enqueue(bill, { order: n }, { transaction: fromPg(pg) });
          await pg.query(n % 3 === 0 ? "rollback" : "commit");
        }),
      ),
    );
    const { rows } = await scene.owner.query<{ orders: string; tasks: string }>(
      `select (select json_agg(id order by id) from orders)::text as orders,
              (select json_agg((payload::json ->> 'order')::int order by (payload::json ->> 'order')::int) from taskgate.task)::text as tasks`,
    );
    expect(JSON.parse(rows[0]?.orders ?? "")).toEqual(numbers.filter((n) => n % 3 !== 0));
    expect(rows[0]?.tasks).toEqual(rows[0]?.orders);
  });

  test("an enqueue within a transaction of pg takes a key once: 20 transactions at once with one dedupe key make one task", async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        asShop(scene, async (pg) => {
          await pg.query("begin");
          const options = { dedupeKey: "one", transaction: fromPg(pg) };
          const answer = await scene.client.enqueue(bill, { order: n }, options);
          await pg.query("commit");
          return answer;
        }),
      ),
    );
    expect(new Set(made.map(({ taskId }) => taskId)).size).toBe(1);
    expect(made.filter(({ outcome }) => outcome === "enqueued")).toHaveLength(1);
    expect((await scene.count()).tasks).toBe(1);
  });

  test("an enqueue within a transaction of pg waits 2 s for an open one with its dedupe key; a rollback frees the key", async () => {
    const enqueueHeld = (pg: Client) =>
      scene.client.enqueue(bill, { order: 1 }, { dedupeKey: "held", transaction: fromPg(pg) });
    await asShop(scene, async (first) => {
      await first.query("begin");
      await enqueueHeld(first);
      await asShop(scene, async (second) => {
        await second.query("begin");
        const startMs = performance.now();
        const call = enqueueHeld(second);
        await expectError(call, { code: "TASKGATE_STORE_CONFLICT", value: "lock" });
        expect(performance.now() - startMs).toBeGreaterThan(1_500);
        await second.query("rollback; begin");
        const again = enqueueHeld(second);
        await first.query("rollback");
        expect((await again).outcome).toBe("enqueued");
        await second.query("commit");
      });
    });
    expect((await scene.count()).tasks).toBe(1);
  });

  test("an enqueue within a transaction of pg keeps no worker waiting while the transaction is open, nor other enqueues of its group", async () => {
    const store = openStore({
      url: urlAs(scene.url, "worker"),
      connectionsMax: 2,
      random: realRandom,
      sleep,
    });
    const registry = createRegistry([bill, ship]);
    const mine = taskRequest(ship, { customer: "anna" });
    await scene.client.enqueueAll([mine, taskRequest(bill, { order: 1 })]);
    await asShop(scene, async (pg) => {
      await pg.query("begin");
      const keyed = taskRequest(bill, { order: 2 }, { dedupeKey: "other" });
      await scene.client.enqueueAll([mine, keyed], { transaction: fromPg(pg) });
      for (const kind of [ship, bill]) {
        const { name } = kind.definition;
        const settingsHash = registry.definition(name)?.settingsHash ?? "";
        const worker = await soon(1_000, startWorker(store, name, { settingsHash, build: 0 }));
        const task = await soon(1_000, worker.claimOne());
        await soon(1_000, worker.complete([task]));
        await soon(1_000, worker.finish());
      }
      const more = await soon(1_000, scene.client.enqueue(ship, { customer: "anna" }));
      expect(more.outcome).toBe("enqueued");
      await pg.query("commit");
    });
    const { rows } = await scene.owner.query(
      "select (select count(*)::int from taskgate.ready) as ready, (select count(*)::int from taskgate.scheduled) as due",
    );
    expect(rows).toEqual([{ ready: 2, due: 1 }]);
    await store.close();
  });

  test("an enqueue within a transaction of pg leaves no prepared statement in the caller's session, and ignores its parsers", async () => {
    const { INT8, BOOL, TEXT } = types.builtins;
    const parserOf = (type: typeof INT8) => types.getTypeParser(type) as (text: string) => unknown;
    const before = { int8: parserOf(INT8), bool: parserOf(BOOL), text: parserOf(TEXT) };
    types.setTypeParser(INT8, (text) => BigInt(text));
    types.setTypeParser(BOOL, (text) => ({ text }));
    types.setTypeParser(TEXT, (text) => ({ text }));
    try {
      await asShop(scene, async (pg) => {
        await pg.query("begin");
        const options = { runInMs: 60_000, transaction: fromPg(pg) };
        const made = await scene.client.enqueue(bill, { order: 1 }, options);
        expect(made.outcome).toBe("enqueued");
        await pg.query("commit");
        const { rows } = await pg.query("select name from pg_prepared_statements");
        expect(rows).toEqual([]);
      });
    } finally {
      types.setTypeParser(INT8, (text) => before.int8(text));
      types.setTypeParser(BOOL, (text) => before.bool(text));
      types.setTypeParser(TEXT, (text) => before.text(text));
    }
  });
});

describe("an enqueue within a client of pg is refused, with nothing enqueued,", () => {
  /** What the caller has sent before, what it is told, and whether its transaction still commits its own rows. */
  const cases = [
    { title: "that has begun no transaction", begun: "select 1", said: "no transaction is open" },
    {
      title: "whose transaction has ended",
      begun: "begin; commit",
      said: "no transaction is open",
    },
    {
      title: "at serializable",
      begun: "begin isolation level serializable",
      said: "(serializable)",
      goesOn: true,
    },
    {
      title: "at repeatable read",
      begun: "begin isolation level repeatable read",
      said: "(repeatable read)",
      goesOn: true,
    },
    { title: "that only reads", begun: "begin read only", said: "read-only" },
  ];
  test.each(cases)(
    "an enqueue within a client of pg is refused in a transaction: $title",
    async ({ begun, said, goesOn = false }) => {
      await asShop(scene, async (pg) => {
        await pg.query(begun);
        const call = scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(pg) });
        await expectError(call, {
          code: "TASKGATE_STORE_CONTEXT",
          field: "transaction",
          value: said,
        });
        if (goesOn) await pg.query("insert into orders values (1)");
        await pg.query("commit");
      });
      expect(await scene.count()).toEqual({ orders: goesOn ? 1 : 0, tasks: 0 });
    },
  );

  test("an enqueue within a client of pg is refused in a transaction in which a statement has failed", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin");
      await expect(pg.query("select 1 / 0")).rejects.toThrow(/division/);
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(pg) });
      await expectError(call, { code: "TASKGATE_STORE_CONTEXT", value: "has failed" });
      await pg.query("rollback");
    });
  });

  test("an enqueue within a client of pg is refused where its database has no Taskgate", async () => {
    await withClient(process.env["TASKGATE_TEST_POSTGRES"] ?? "", async (elsewhere) => {
      await elsewhere.query("begin");
      const call = scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(elsewhere) });
      await expectError(call, { code: "TASKGATE_SCHEMA_MISSING", value: "taskgate migrate" });
      await elsewhere.query("rollback");
    });
  });

  test("an enqueue within a client of pg is refused where its login may not enqueue", async () => {
    await scene.owner.query(
      "revoke execute on function taskgate.enqueue_tasks from taskgate_test_shop",
    );
    try {
      await asShop(scene, async (pg) => {
        await pg.query("begin");
        const call = scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(pg) });
        await expectError(call, { code: "TASKGATE_STORE_FORBIDDEN", value: "enqueue_tasks" });
        await pg.query("rollback");
      });
    } finally {
      await scene.owner.query(
        "grant execute on function taskgate.enqueue_tasks to taskgate_test_shop",
      );
    }
  });

  test("an enqueue within a client of pg is refused for an unregistered definition, which fails the transaction", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin; insert into orders values (1)");
      const unknown = taskRef({ name: "unknown" });
      const call = scene.client.enqueue(unknown, {}, { transaction: fromPg(pg) });
      await expectError(call, { code: "TASKGATE_ARG_UNKNOWN", field: "name", value: "unknown" });
      expect((await pg.query("commit")).command).toBe("ROLLBACK");
    });
    expect((await scene.count()).orders).toBe(0);
  });

  test("an enqueue within a client of pg is refused for a bad payload, before anything is sent: the transaction goes on", async () => {
    await asShop(scene, async (pg) => {
      await pg.query("begin; insert into orders values (1)");
      const call = scene.client.enqueue(bill, { n: 1n } as never, { transaction: fromPg(pg) });
      await expectError(call, { code: "TASKGATE_ARG_INVALID" });
      await pg.query("commit");
    });
    expect(await scene.count()).toEqual({ orders: 1, tasks: 0 });
  });
});

describe("fromPg", () => {
  test("fromPg refuses a pool, whose statements each commit by themselves, and a value that is no client", () => {
    expect(() => fromPg(scene.shop as never)).toThrow(/got an instance of (Bound)?Pool/);
    expect(() => fromPg(undefined as never)).toThrow(/got undefined/);
    expect(() => fromPg({ query: () => Promise.resolve({ rows: [] }) } as never)).toThrow(
      /got an object/,
    );
  });

  test("fromPg takes a client that isn't of a pool", async () => {
    const pg = new Client({ connectionString: scene.shopUrl });
    await pg.connect();
    await pg.query("begin");
    await scene.client.enqueue(bill, { order: 1 }, { transaction: fromPg(pg) });
    await pg.query("commit");
    await pg.end();
    expect((await scene.count()).tasks).toBe(1);
  });

  test("fromPg is refused by a store of another dialect", async () => {
    const elsewhere = openStore({
      url: "mssql://u:p@localhost:1/d",
      connectionsMax: 1,
      random: realRandom,
      sleep,
    });
    const within = fromPg(at([new Client({ connectionString: scene.shopUrl })], 0));
    const call = elsewhere.enqueueTasks(
      { name: "bill", build: 0, operationId: null, tasks: [{ payload: null }] },
      within,
    );
    await expectError(call, {
      code: "TASKGATE_ARG_INVALID",
      field: "transaction",
      value: "postgres",
    });
    await elsewhere.close();
  });
});

/** A process of its own that enqueues in a transaction and stays there. */
function startCaller(): { enqueued: Promise<void>; kill(): void } {
  const register = join(__dirname, "../support/register-swc.cjs");
  const words = [join(__dirname, "caller-process.ts"), scene.shopUrl, urlAs(scene.url, "worker")];
  const child = spawn(process.execPath, ["-r", register, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const enqueued = new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => {
      resolve();
    });
    child.once("exit", () => {
      reject(new Error("The caller ended by itself"));
    });
  });
  return {
    enqueued,
    kill: () => {
      child.kill("SIGKILL");
    },
  };
}

test("a caller that is killed between the enqueue and the commit leaves no task, and its dedupe key is free", async () => {
  const caller = startCaller();
  await caller.enqueued;
  const held =
    "select 1 from pg_stat_activity where state = 'idle in transaction' and datname = current_database()";
  expect((await scene.owner.query(held)).rowCount).toBe(1);
  caller.kill();
  await until(
    "the server has ended the transaction",
    async () => (await scene.owner.query(held)).rowCount === 0,
  );
  expect(await scene.count()).toEqual({ orders: 0, tasks: 0 });
  const made = await scene.client.enqueue(bill, { order: 1 }, { dedupeKey: "killed" });
  expect(made.outcome).toBe("enqueued");
});
