import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import type { TaskStore } from "../../shared/ports/task-store";
import { openPostgresStoreAs } from "../support/postgres-setup";
import { reportHolders } from "../../shared/store/open-store";
import { expectWritable } from "../../shared/store/takes-writes";
import { expectError } from "../support/expect-error";
import { define } from "../support/builders";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";

/* A user's own transaction stays open and holds rows: doctor names session and host, or the right that it lacks. */

let database: { url: string; drop(): Promise<void> };
let owner: TaskStore;
let worker: TaskStore;
let holder: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = openPostgresStoreAs(database.url, 2);
  worker = openPostgresStoreAs(urlAs(database.url, "worker"), 2);
  await define(worker);
  holder = new Client({ connectionString: database.url, application_name: "a user's program" });
  await holder.connect();
});

afterAll(async () => {
  await holder.end();
  await owner.close();
  await worker.close();
  await database.drop();
});

/** A view of our own in front of the server's, in which every transaction is a minute older. */
async function makeOlder(): Promise<void> {
  await holder.query(`
    create view public.pg_stat_activity as
      select pid, usename, application_name, client_hostname, client_addr, datname, backend_type, backend_xmin, backend_xid, wait_event, query_start,
             xact_start - interval '1 minute' as xact_start from pg_catalog.pg_stat_activity;
    grant select on public.pg_stat_activity to public;
    alter database ${new URL(database.url).pathname.slice(1)} set search_path = public, pg_catalog`);
}

test("a database that takes no writes is told so, and why", async () => {
  expect(await expectWritable(owner)).toBe("The database isn't read-only.");
  const name = new URL(database.url).pathname.slice(1);
  await holder.query(`alter database ${name} set default_transaction_read_only = on`);
  const fresh = openPostgresStoreAs(database.url, 1);
  try {
    await expectError(expectWritable(fresh), {
      code: "TASKGATE_STORE_UNAVAILABLE",
      value: "default_transaction_read_only",
    });
  } finally {
    await fresh.close();
    await holder.query(`alter database ${name} reset default_transaction_read_only`);
  }
});

test("a transaction that holds rows for long is named with session, user, host and the command that ends it", async () => {
  expect(await reportHolders(owner)).toMatchObject({ status: "ok" });
  await makeOlder();
  const fresh = openPostgresStoreAs(database.url, 1);
  try {
    await holder.query("begin");
    await holder.query("select 1");
    expect(await reportHolders(fresh)).toMatchObject({ status: "ok" });
    await holder.query("select 1 from taskgate.task_definition for update");
    const { rows } = await holder.query<{ pid: number }>("select pg_backend_pid() as pid");
    const seen = await reportHolders(fresh);
    expect(seen?.status).toBe("note");
    expect(seen?.text).toContain(`Session ${String(rows[0]?.pid)} of `);
    expect(seen?.text).toContain("from 127.0.0.1 (a user's program)");
    expect(seen?.text).toContain("for 1 min");
    expect(seen?.text).toContain(`pg_terminate_backend(${String(rows[0]?.pid)})`);
  } finally {
    await fresh.close();
  }
});

test("a login without the right to see others is told which one it lacks", async () => {
  const seen = await reportHolders(worker);
  expect(seen?.status).toBe("note");
  expect(seen?.text).toContain("grant pg_read_all_stats to LOGIN");
  await holder.query("rollback");
  expect(await reportHolders(worker)).toMatchObject({ status: "ok" });
});
