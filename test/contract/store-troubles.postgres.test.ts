import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { StoreUnavailableError } from "../../shared/core/errors";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { postgresTroubles } from "../../shared/store/postgres/postgres-troubles";
import { runTaskOnce } from "../../shared/testing/run-task-once";
import { defineTask } from "../../shared/worker/define/define-task";
import { openPlainStore } from "../support/postgres-setup";
import { startNetwork } from "../support/silent-network";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { urlAs } from "../support/roles";

/*
 * What PostgreSQL says when it can't now, raised by a real server: inside a user's transaction it is told as the store's
 * trouble, and the task that met it comes back uncounted.
 */

let database: { url: string; drop(): Promise<void> };
let store: TaskStore;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openPlainStore(database.url, 4);
  await withClient(database.url, async (client) => {
    await client.query(`
      create table public.own (id int primary key); grant all on public.own to public;
      insert into public.own values (1);
      create role trouble_limited login password 'Limited-1' connection limit 0`);
  });
});

afterAll(async () => {
  await store.close();
  await withClient(database.url, (client) => client.query("drop role trouble_limited"));
  await database.drop();
});

/** The error that a transaction with this body ends with. */
function endOf(body: (transaction: StoreTransaction) => Promise<unknown>): Promise<unknown> {
  return store.transaction(body).then(
    () => "committed",
    (error: unknown) => error,
  );
}

function raising(state: string) {
  return (transaction: StoreTransaction): Promise<unknown> =>
    transaction.query(`do $$ begin raise exception 'planted' using errcode = '${state}'; end $$`);
}

describe("a state of PostgreSQL that says that it can't now", () => {
  const ofStore = postgresTroubles.filter(({ state }) => state !== "57014");

  test.each(ofStore)("$state ($meaning) in a user's statement is told as $trouble", async (row) => {
    const error = await endOf(raising(row.state));
    // Undone for sure: the commit had not been sent.
    const code = row.trouble === "conflict" ? "CONFLICT" : "UNAVAILABLE";
    expect(error).toMatchObject({ code: `TASKGATE_STORE_${code}` });
    expect(String(error)).toContain("planted");
  });

  test.each([
    { state: "57014", what: "a statement that was cancelled" },
    { state: "23505", what: "a duplicate key" },
    { state: "P0001", what: "an exception of the user's own" },
  ])("$state, $what, passes unchanged", async ({ state }) => {
    expect(await endOf(raising(state))).toMatchObject({ code: state, message: "planted" });
  });

  const real: readonly [what: string, code: string, text: readonly string[]][] = [
    [
      "a session that an administrator ends",
      "UNAVAILABLE",
      ["select pg_terminate_backend(pg_backend_pid())"],
    ],
    [
      "a transaction that may only read",
      "UNAVAILABLE",
      ["set transaction read only", "delete from public.own"],
    ],
  ];

  test.each(real)("%s is told as %s", async (_, code, texts) => {
    const error = await endOf(async (transaction) => {
      for (const text of texts) await transaction.query(text);
    });
    expect(error).toMatchObject({ code: `TASKGATE_STORE_${code}` });
  });

  test("a lock that stays taken is told as a conflict", async () => {
    const error = await endOf(async (transaction) => {
      await transaction.query("update public.own set id = id");
      await withClient(database.url, async (client) => {
        await client.query("set lock_timeout = 50");
        await client.query("update public.own set id = id");
      });
    });
    expect(error).toMatchObject({ code: "TASKGATE_STORE_CONFLICT" });
  });

  test("an error of too many connections of a role is told as unavailable", async () => {
    const url = new URL(urlAs(database.url, "worker"));
    url.username = "trouble_limited";
    url.password = "Limited-1";
    const limited = openStore({
      url: url.toString(),
      connectionsMax: 1,
      random: realRandom,
      sleep,
    });
    try {
      const call = limited.transaction(() => Promise.resolve());
      await expect(call).rejects.toMatchObject({ code: "TASKGATE_STORE_UNAVAILABLE" });
      await expect(call).rejects.toThrow("53300");
    } finally {
      await limited.close();
    }
  });
});

test("an address without the password that the server asks for is told with the form of one", async () => {
  const url = new URL(urlAs(database.url, "worker"));
  url.password = "";
  const without = openStore({ url: url.href, connectionsMax: 1, random: realRandom, sleep });
  try {
    await expect(without.transaction(() => Promise.resolve())).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNAVAILABLE",
      message:
        "PostgreSQL asks for a password, and the address has none: expected postgres://USER:PASSWORD@HOST/DATABASE",
    });
  } finally {
    await without.close();
  }
});

test("an attempt that the driver gives up leaves no connection open, on which the server would wait for a minute", async () => {
  const network = await startNetwork(new URL(urlAs(database.url, "worker")));
  const url = new URL(network.url);
  url.password = "";
  const without = openStore({ url: url.href, connectionsMax: 1, random: realRandom, sleep });
  try {
    await expect(without.transaction(() => Promise.resolve())).rejects.toThrow("password");
    for (let waits = 0; waits < 100 && (await network.count()) > 0; waits += 1) await sleep(20);
    expect(await network.count()).toBe(0);
  } finally {
    await without.close();
    network.close();
  }
});

describe("a task whose completion meets a store that can't now", () => {
  test("a task whose completion meets an outage comes back uncounted; what the handler throws itself counts", async () => {
    const trouble = await endOf(raising("53100"));
    expect(trouble).toBeInstanceOf(StoreUnavailableError);
    const task = defineTask({
      name: "writes",
      run: async (_, ctx) => {
        await ctx.completeWith(async (transaction) => {
          await transaction.query("insert");
        });
      },
    });
    const run = async (error: unknown) =>
      (await runTaskOnce(task, { sql: () => Promise.reject(error as Error) })).end;
    expect(await run(trouble)).toMatchObject({ kind: "continued", state: null, afterMs: 1_000 });
    expect(await run(new Error("of the handler"))).toMatchObject({ kind: "failed" });
  });
});
