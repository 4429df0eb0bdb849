import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { runCli } from "../../shared/cli/main";
import { sleep } from "../../shared/platform/real-clock";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import type { TaskStore } from "../../shared/ports/task-store";
import { migrateStore, reportHolders } from "../../shared/store/open-store";
import { define, enqueueOne } from "../support/builders";
import { until } from "../support/gate";
import { openPostgresStoreAs } from "../support/postgres-setup";
import { withClient } from "../support/test-postgres";

/*
 * What keeps rows of the schema, or the room of rows that are gone, without a session that waits for anything: a transaction of two
 * phases, a table's lock, an old snapshot, a slot without a reader. On a server of its own, since a setting must permit the first.
 */
const home = mkdtempSync(join(tmpdir(), "taskgate-kept-rows-"));
let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let store: TaskStore;
let other: Client;

beforeAll(async () => {
  const options = { keep: true, fast: true, isSuperuser: true, dataDir: join(home, "data") };
  const first = await startEmbeddedPostgres(options);
  await withClient(first.url, (client) =>
    client.query("alter system set max_prepared_transactions = 5"),
  );
  await first.stop();
  server = await startEmbeddedPostgres(options);
  await migrateStore({ url: server.url });
  store = openPostgresStoreAs(server.url, 1);
  await define(store, {}, "waits");
  other = new Client({ connectionString: server.url, application_name: "psql" });
  await other.connect();
}, 60_000);

afterAll(async () => {
  await other.end();
  await store.close();
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

/** The server's views with ours in front, in which everything began so much earlier. */
async function report(
  earlier: string,
  slots = "select slot_name, active, xmin from pg_catalog.pg_replication_slots",
) {
  await other.query("set synchronous_commit = local");
  await other.query("create schema if not exists older");
  const views = `
    create or replace view older.pg_stat_activity as
      select pid, usename, application_name, client_hostname, client_addr, datname, backend_type, backend_xmin, backend_xid,
             wait_event, query_start, xact_start - interval '${earlier}' as xact_start from pg_catalog.pg_stat_activity;
    create or replace view older.pg_prepared_xacts as
      select gid, owner, database, transaction, prepared - interval '${earlier}' as prepared from pg_catalog.pg_prepared_xacts;
    create or replace view older.pg_replication_slots as ${slots}`;
  await withClient(server.url, async (client) => {
    // Its own commit waits for no standby.
    await client.query("set synchronous_commit = local");
    await client.query(views);
    await client.query("alter role current_user set search_path = older, pg_catalog");
  });
  const fresh = openPostgresStoreAs(server.url, 1);
  try {
    return (await reportHolders(fresh))?.text ?? "";
  } finally {
    await fresh.close();
  }
}

test("a prepared transaction that holds rows is named, with the statements that end it", async () => {
  expect(await report("1 minute")).toBe("No transaction holds rows for long.");
  await other.query("begin");
  await other.query("select 1 from taskgate.task_definition for update");
  await other.query("prepare transaction 'bill''s 1'");
  expect(await report("0 s")).toBe("No transaction holds rows for long.");
  expect(await report("1 minute")).toMatch(
    /^For 1 min the prepared transaction 'bill''s 1' of \w+ has held rows: .* `commit prepared 'bill''s 1'` or `rollback prepared 'bill''s 1'` ends it\.$/,
  );
  await other.query("rollback prepared 'bill''s 1'");
});

test("a prepared transaction that holds no row of ours is named after two minutes", async () => {
  await other.query("create table if not exists public.bills (id int)");
  await other.query("begin");
  await other.query("insert into public.bills values (1)");
  await other.query("prepare transaction 'far'");
  expect(await report("1 minute")).toBe("No transaction holds rows for long.");
  expect(await report("11 minutes")).toContain(
    "prepared transaction 'far' of postgres is open: the rows that calls leave behind",
  );
  await other.query("rollback prepared 'far'");
});

test.each(["share", "share row exclusive", "exclusive", "access exclusive"])(
  "a transaction that has locked a table in %s mode is named, as it keeps every worker out",
  async (mode) => {
    await other.query("begin");
    await other.query(`lock table taskgate.ready in ${mode} mode`);
    expect(await report("1 minute")).toMatch(/^Session \d+ of postgres .* has held rows/);
    await other.query("rollback");
  },
);

test("a command that waits for such a lock names the session while it still tries", async () => {
  await report("1 minute");
  await other.query("begin");
  await other.query("lock table taskgate.task_definition in access exclusive mode");
  const errors: string[] = [];
  const code = await runCli({
    words: ["limit", "mail", "1", "--db", server.url, "--timeout", "4s"],
    ...{ environment: {}, folder: "/" },
    output: { line: () => undefined, error: (text) => errors.push(text), columns: null },
  });
  await other.query("rollback");
  expect(code).toBe(4);
  expect(errors).toEqual([
    expect.stringContaining("still trying, for 4 s in all (--timeout)."),
    expect.stringMatching(/^taskgate: Session \d+ of postgres .* `select pg_terminate_backend/),
    expect.stringContaining("gave up after 4 s"),
  ]);
}, 20_000);

test("a session with an old snapshot is named after two minutes, once", async () => {
  await other.query("begin isolation level repeatable read");
  await other.query("select count(*) from public.bills");
  expect(await report("1 minute")).toBe("No transaction holds rows for long.");
  expect(await report("11 minutes")).toMatch(
    /^Session \d+ of postgres from 127\.0\.0\.1 \(psql\) has had its transaction open for 11 min\. The rows that calls leave behind can't be removed meanwhile, .* `select pg_terminate_backend\(\d+\)` ends it\.$/,
  );
  await other.query("select 1 from taskgate.task_definition for update");
  const both = await report("11 minutes");
  expect(both).toContain("has held rows in one transaction for 11 min");
  expect(both).not.toContain("transaction open");
  await other.query("rollback");
});

test("a session that wrote elsewhere and waits is named after two minutes: it keeps rows without a snapshot", async () => {
  await other.query("begin");
  await other.query("insert into public.bills values (2)");
  expect(await report("1 minute")).toBe("No transaction holds rows for long.");
  expect(await report("3 minutes")).toMatch(
    /^Session \d+ of postgres .* has had its transaction open for 3 min\. The rows/,
  );
  await other.query("rollback");
});

test("commits that wait for a standby are named, and no statement that ends them", async () => {
  const setStandbys = async (names: string): Promise<void> => {
    await other.query("set synchronous_commit = local");
    await other.query(`alter system set synchronous_standby_names = '${names}'`);
    await other.query("select pg_reload_conf()");
  };
  await setStandbys("nowhere");
  // A session hears of it with a later statement: the first commit may not wait yet.
  let adding = Promise.resolve("");
  await until("a commit waits", async () => {
    adding = enqueueOne(store, "waits");
    const isDone = adding.then(() => true);
    return !(await Promise.race([isDone, sleep(300).then(() => false)]));
  });
  await until("the wait is told", async () => (await report("1 minute")).includes("standby"));
  expect(await report("1 minute")).toMatch(
    /^1 commit waits for a synchronous standby, for .* Don't end these sessions: .*\.$/,
  );
  await setStandbys("");
  expect(await adding).toMatch(/^\d+$/);
}, 20_000);

test("a replication slot without a reader is named, where it keeps rows", async () => {
  const slot = (active: boolean, xmin: string) =>
    `select 'left'::name as slot_name, ${String(active)} as active, ${xmin} as xmin`;
  expect(await report("0 s", slot(true, "'700'::xid"))).toContain("No transaction");
  expect(await report("0 s", slot(false, "null::xid"))).toContain("No transaction");
  expect(await report("0 s", slot(false, "'700'::xid"))).toMatch(
    /^The replication slot 'left' has no reader\. .* `select pg_drop_replication_slot\('left'\)` drops it\.$/,
  );
});
