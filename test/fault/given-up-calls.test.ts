import { chmodSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import type { TaskStore } from "../../shared/ports/task-store";
import { PostgresCaller } from "../../shared/store/postgres/postgres-caller";
import { SqlTaskStore } from "../../shared/store/sql-task-store";
import { migrateStore } from "../../shared/store/open-store";
import { define, enqueueOne, uniqueName } from "../support/builders";
import { until } from "../support/gate";
import { withClient } from "../support/test-postgres";

/*
 * A database that doesn't answer: a process asks again and again, and has never more sessions on the server than connectionsMax. Real
 * PostgreSQL: a table that another transaction has locked, and commits that wait for a standby that isn't there.
 */
const home = mkdtempSync(join(tmpdir(), "taskgate-given-up-"));
chmodSync(home, 0o755);
let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
let store: TaskStore;
let other: Client;
let name: string;

beforeAll(async () => {
  const dataDir = join(home, "data");
  server = await startEmbeddedPostgres({ keep: true, fast: true, isSuperuser: true, dataDir });
  await migrateStore({ url: server.url });
  store = open();
  name = await define(store, {}, uniqueName("given-up"));
  other = new Client({ connectionString: server.url, application_name: "other" });
  await other.connect();
}, 60_000);

afterEach(async () => {
  await other.query("rollback");
  await setStandbys("");
});

afterAll(async () => {
  await other.end();
  await store.close();
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

function open(): TaskStore {
  const options = {
    ...{ url: server.url, connectionsMax: 2, callTimeoutMs: 300, connectTimeoutMs: 500 },
  };
  return new SqlTaskStore(new PostgresCaller(options), (call) => call());
}

async function setStandbys(names: string): Promise<void> {
  // Its own commit waits for no standby.
  await withClient(server.url, async (client) => {
    await client.query("set synchronous_commit = local");
    await client.query(`alter system set synchronous_standby_names = '${names}'`);
    await client.query("select pg_reload_conf()");
  });
}

/** Sessions of the store on the server, and what they do. */
async function sessions(): Promise<{ state: string; waits: string | null }[]> {
  // Within a transaction the first look would stay.
  await other.query("select pg_stat_clear_snapshot()");
  const { rows } = await other.query<{ state: string; waits: string | null }>(
    `select state, wait_event as waits from pg_stat_activity
      where application_name = 'taskgate' and query not like '%pg_stat_activity%'`,
  );
  return rows;
}

/** Calls that have no answer, one after the other; how many sessions there were at most. */
async function askInVain(call: () => Promise<unknown>): Promise<number> {
  let most = 0;
  for (let time = 0; time < 8; time += 1) {
    await expect(call()).rejects.toThrow(/gave no answer|got free within/);
    most = Math.max(most, (await sessions()).length);
  }
  return most;
}

test("a call that waits for a locked table is ended on the server when it is given up", async () => {
  await other.query("begin; lock table taskgate.task_definition in access exclusive mode");
  expect(await askInVain(() => store.listDefinitions({}))).toBeLessThanOrEqual(2);
  await until("no session waits for the table", async () =>
    (await sessions()).every(({ state }) => state !== "active"),
  );
  await other.query("rollback");
  expect((await store.listDefinitions({ name })).definitions).toHaveLength(1);
});

test("a commit that waits for a standby keeps its connection and isn't broken off, and the pool is well again afterwards", async () => {
  await setStandbys("nowhere");
  // A session hears of it with its next statement.
  await until("commits wait", () =>
    enqueueOne(store, name).then(
      () => false,
      () => true,
    ),
  );
  const count = async (): Promise<number> => {
    const { rows } = await other.query<{ n: number }>(
      "select count(*)::int as n from taskgate.task",
    );
    return rows[0]?.n ?? -1;
  };
  const before = await count();
  expect(await askInVain(() => enqueueOne(store, name))).toBe(2);
  const waiting = await sessions();
  expect(waiting).toEqual([
    { state: "active", waits: "SyncRep" },
    { state: "active", waits: "SyncRep" },
  ]);
  // Nothing is seen before it is safe.
  expect(await count()).toBe(before);
  await setStandbys("");
  await until("both commits are done", async () => (await count()) === before + 2);
  await until("calls are answered again", () =>
    store.listDefinitions({ name }).then(
      ({ definitions }) => definitions[0]?.ready === before + 2,
      () => false,
    ),
  );
}, 30_000);

test("the end of a store doesn't wait for a session that hangs", async () => {
  const ending = open();
  await ending.listDefinitions({});
  await other.query("begin; lock table taskgate.task_definition in access exclusive mode");
  await expect(ending.listDefinitions({})).rejects.toThrow("gave no answer");
  const begun = performance.now();
  await ending.close();
  expect(performance.now() - begun).toBeLessThan(4_000);
});
