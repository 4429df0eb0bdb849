import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { findFreePort } from "../../shared/local/free-port";
import type { TaskStore } from "../../shared/ports/task-store";
import { define } from "../support/builders";
import { expectError } from "../support/expect-error";
import {
  hasPgbouncer,
  keepsPrepared,
  Pgbouncer,
  pgbouncerNote,
  withoutNames,
} from "../support/pgbouncer";
import { pgbouncerSetup } from "../support/pgbouncer-setup";
import { openPostgresStoreAs } from "../support/postgres-setup";
import { urlAs } from "../support/roles";
import type { StoreSetup } from "../support/store-setup";
import { createTestDatabase } from "../support/test-postgres";
import { isWhole } from "../support/whole";
import { describeClaims } from "./claims.contract";
import { describeCompletion } from "./completion.contract";
import { describeEndedTransactions } from "./ended-transactions.contract";
import { describeStore } from "./store.contract";

/*
 * The store behind PgBouncer in transaction mode. The gate runs what claims, completes and commits; `npm run test:whole`
 * runs the whole contract.
 */

const describeHere = hasPgbouncer ? describe : describe.skip;

describeHere(`PostgreSQL behind PgBouncer keeps the contract${pgbouncerNote}`, () => {
  // Fewer than the stores have: transactions move from one of the server's connections to another.
  const poolSize = isWhole ? 60 : 6;
  describe("without names of statements", () => {
    describeThrough(pgbouncerSetup({ poolSize }));
  });
  if (keepsPrepared) {
    describe("with names, which it keeps for its clients", () => {
      describeThrough(pgbouncerSetup({ poolSize, isPreparing: true }));
    });
  }
});

function describeThrough(setup: StoreSetup): void {
  afterAll(() => setup.close());
  if (isWhole) {
    describeStore(setup);
    return;
  }
  describeClaims(setup);
  describeCompletion(setup);
  describeEndedTransactions(setup);
}

describeHere(`a pooler in transaction mode${pgbouncerNote}`, () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let pooler: Pgbouncer;
  let url: string;
  let other: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    pooler = await Pgbouncer.start(database.url, { poolSize: 2 });
    url = pooler.through(urlAs(database.url, "worker"));
    other = new Client({ connectionString: url });
    await other.connect();
  });

  afterAll(async () => {
    await other.end();
    await pooler.stop();
    await database.drop();
  });

  async function withStore<Result>(address: string, body: (store: TaskStore) => Promise<Result>) {
    const store = openPostgresStoreAs(address, 1);
    try {
      return await body(store);
    } finally {
      await store.close();
    }
  }

  /** Keeps the connection that the store had, so that its next call meets the other one. */
  async function callTwice(address: string): Promise<void> {
    await withStore(address, async (store) => {
      await define(store);
      await define(store);
      await other.query("begin");
      try {
        await define(store);
      } finally {
        await other.query("rollback");
      }
    });
  }

  test("a pooler that forgets names fails a call that uses them, and the error says what to write into the address", async () => {
    // First, while no connection has heard a name: with names this would fail, too.
    await callTwice(withoutNames(url));
    await expect(callTwice(url)).rejects.toMatchObject({
      code: "TASKGATE_STORE_CONTRACT",
      message: expect.stringContaining("prepared_statements=off"),
    });
  });

  test("a pooler whose connections are all taken is an outage that is repeated, not a failure", async () => {
    const narrow = await Pgbouncer.start(database.url, { poolSize: 1, queryWaitS: 1 });
    const through = narrow.through(urlAs(database.url, "worker"));
    const holder = new Client({ connectionString: through });
    await holder.connect();
    try {
      await withStore(withoutNames(through), async (store) => {
        await define(store);
        await holder.query("begin");
        await expectError(define(store), { code: "TASKGATE_STORE_UNCERTAIN" });
        const failed = store.transaction((transaction) => transaction.query("select 1"));
        await expectError(failed, { code: "TASKGATE_STORE_UNCERTAIN" });
      });
    } finally {
      await holder.end();
      await narrow.stop();
    }
  });

  test("a pooler whose server is away is an outage that is repeated, not a failure", async () => {
    const nowhere = new URL(urlAs(database.url, "worker"));
    nowhere.port = String(await findFreePort());
    const alone = await Pgbouncer.start(nowhere.toString(), { poolSize: 1, queryWaitS: 1 });
    try {
      const through = withoutNames(alone.through(nowhere.toString()));
      await withStore(through, async (store) => {
        const refused = define(store);
        await expectError(refused, { code: "TASKGATE_STORE_UNAVAILABLE" });
        await expect(refused).rejects.toThrow("query_wait_timeout");
      });
    } finally {
      await alone.stop();
    }
  });

  test("a pooler lets a statement be broken off at the server, whose process it never names", async () => {
    await withStore(withoutNames(url), async (store) => {
      const stopping = new AbortController();
      const reason = new Error("enough");
      const startedMs = performance.now();
      const sleeping = store.transaction((transaction) => {
        setTimeout(() => {
          stopping.abort(reason);
        }, 300);
        return transaction.query("select pg_sleep(10)", [], { signal: stopping.signal });
      });
      await expect(sleeping).rejects.toBe(reason);
      expect(performance.now() - startedMs).toBeLessThan(5_000);
    });
  });
});
