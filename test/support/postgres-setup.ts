import { Client } from "pg";
import { executionNumber } from "../../shared/core/ids";
import type { ExecutionId, TaskId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { PostgresCaller } from "../../shared/store/postgres/postgres-caller";
import { SqlTaskStore } from "../../shared/store/sql-task-store";
import { recordCalls } from "./call-record";
import { openRoleStores, roleOfSql, storeOfRoles, urlAs } from "./roles";
import type { RoleStores } from "./roles";
import type { AuditEntry, LogEntry, StoreSetup, TestStore } from "./store-setup";
import { createTestDatabase, withClient } from "./test-postgres";

/** Another address of the same database: the way to it leads through something. */
export type Reach = (url: string) => Promise<string>;

const directly: Reach = (url) => Promise.resolve(url);

/** How a setup finds its database, and what that is like. */
interface Place {
  /** The address under which the store under test finds it. */
  readonly reach: Reach;
  /** The same of the stores that repeat nothing. The owner's connections go there directly. */
  readonly reachPlain: Reach;
  /** Settings that the database gives its sessions, by their names. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A fresh database of the test server for the whole file, emptied for each test. */
export function postgresSetup(place: Partial<Place> = {}): StoreSetup {
  const ways: Place = { reach: directly, reachPlain: directly, settings: {}, ...place };
  let opened: Promise<OpenDatabase> | undefined;
  const connections: TaskStore[] = [];
  return {
    dialect: "postgres",
    missing: {},
    record: recordCalls(),
    open: async () => {
      const database = await (opened ??= openDatabase(ways));
      await database.client.query("select taskgate._test_empty()");
      return new PostgresTestStore(database);
    },
    connect: async (count) => {
      const { plainUrl } = await (opened ??= openDatabase(ways));
      while (connections.length < count) connections.push(openPlainStore(plainUrl, 1));
      return connections.slice(0, count);
    },
    close: async () => {
      const database = await opened;
      if (database === undefined) return;
      await Promise.all(connections.map((store) => store.close()));
      const { store, plain, owner } = database;
      await Promise.all([store, plain, owner].map((open) => open.close()));
      await database.client.end();
      await database.drop();
    },
  };
}

interface OpenDatabase {
  plainUrl: string;
  store: TaskStore;
  plain: TaskStore;
  roles: RoleStores;
  owner: TaskStore;
  client: Client;
  drop: () => Promise<void>;
}

async function openDatabase({ reach, reachPlain, settings }: Place): Promise<OpenDatabase> {
  const { url, drop } = await createTestDatabase();
  await setDefaults(url, settings);
  const client = new Client({ connectionString: url });
  await client.connect();
  // It calls helpers that no operation has set up, with texts that are written for the usual setting.
  await client.query("set standard_conforming_strings = on");
  await installClock(client);
  await installEmptying(client);
  const options = { connectionsMax: 10, random: realRandom, sleep };
  const reached = await reach(url);
  const roles = openRoleStores((role) => openStore({ url: urlAs(reached, role), ...options }));
  const plainUrl = await reachPlain(url);
  const plain = openPlainStore(plainUrl, 10);
  return {
    plainUrl,
    store: storeOfRoles(roles),
    plain,
    roles,
    owner: openPostgresStoreAs(url, 10),
    client,
    drop,
  };
}

/** For the sessions that begin from now on. */
async function setDefaults(url: string, settings: Place["settings"]): Promise<void> {
  const database = `"${new URL(url).pathname.slice(1)}"`;
  await withClient(url, async (client) => {
    for (const [name, value] of Object.entries(settings))
      await client.query(`alter database ${database} set ${name} = '${value}'`);
  });
}

/** A store that repeats nothing; each call is made by a login of its role. */
export function openPlainStore(url: string, connectionsMax: number): TaskStore {
  return storeOfRoles(
    openRoleStores((role) => openPostgresStoreAs(urlAs(url, role), connectionsMax)),
  );
}

/** A store as the user that the address names, which repeats nothing. */
export function openPostgresStoreAs(url: string, connectionsMax: number): TaskStore {
  const options = { url, connectionsMax, callTimeoutMs: 20_000, connectTimeoutMs: 15_000 };
  return new SqlTaskStore(new PostgresCaller(options), (call) => call());
}

/** Replaces the one clock of the operations by one that tests move: it stands still, or runs with an offset. */
export async function installClock(client: Client): Promise<void> {
  await client.query(`
    create table if not exists taskgate.test_clock (stands_at timestamptz, offset_ms bigint not null);
    delete from taskgate.test_clock;
    insert into taskgate.test_clock values (null, 0);
    create or replace function taskgate._now() returns timestamptz language sql volatile as $$
      select coalesce(c.stands_at, clock_timestamp()) + c.offset_ms * interval '1 ms' from taskgate.test_clock c $$`);
}

/** Tables whose rows come with the schema. */
const keptTables = ["schema_version", "test_clock", "group_round", "statistic_round", "stop"];

/**
 * A function that deletes every row but those that a schema is made with, and stops the clock at a whole millisecond. The
 * server plans its statements once, and not for each test.
 */
async function installEmptying(client: Client): Promise<void> {
  const tables = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'taskgate' and not tablename = any($1)",
    [keptTables],
  );
  const deletes = tables.rows.map(({ name }) => `delete from taskgate.${name};`);
  await client.query(`
    create or replace function taskgate._test_empty() returns void language plpgsql as $$ begin
      ${deletes.join(" ")}
      update taskgate.group_round set last_group_id = 0, ended_at = '2000-01-01 00:00:00+00';
      update taskgate.statistic_round set last_execution_id = 0, ended_at = '2000-01-01 00:00:00+00';
      update taskgate.stop set stopped_at = null, stopped_by = null, reason = null;
      update taskgate.test_clock set offset_ms = 0, stands_at = date_trunc('milliseconds', clock_timestamp());
    end $$`);
}

class PostgresTestStore implements TestStore {
  readonly store: TaskStore;
  readonly plain: TaskStore;
  readonly roles: RoleStores;
  readonly #owner: TaskStore;
  readonly #client: Client;
  #isDamaged = false;

  constructor(database: OpenDatabase) {
    this.store = database.store;
    this.plain = database.plain;
    this.roles = database.roles;
    this.#owner = database.owner;
    this.#client = database.client;
  }

  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  expectDamage(): void {
    this.#isDamaged = true;
  }

  async now(): Promise<Date> {
    const result = await this.#client.query<{ ms: string }>(
      "select trunc(1000 * extract(epoch from taskgate._now())) as ms",
    );
    const [row] = result.rows;
    if (row === undefined) throw new Error("The clock gave nothing");
    return new Date(Number(row.ms));
  }

  async advance(ms: number): Promise<void> {
    await this.#client.query("update taskgate.test_clock set offset_ms = offset_ms + $1", [ms]);
  }

  async requestCancel(taskId: TaskId): Promise<void> {
    await this.#client.query(
      "update taskgate.task set cancel_requested = true where task_id = $1",
      [taskId],
    );
  }

  async readTokens(name: string): Promise<string> {
    const result = await this.#client.query<{ tokens: string }>(
      "select execution_tokens as tokens from taskgate.task_definition where name = $1",
      [name],
    );
    return result.rows[0]?.tokens ?? "";
  }

  async writeTokens(name: string, text: string): Promise<void> {
    await this.#client.query(
      "update taskgate.task_definition set execution_tokens = $2 where name = $1",
      [name, text],
    );
  }

  async readAudit(name: string): Promise<AuditEntry[]> {
    const result = await this.#client.query<AuditEntry>(
      `select a.setting, a.old_value as "oldValue", a.new_value as "newValue", a.source,
              a.changed_by as "changedBy", a.reason
         from taskgate.setting_audit a join taskgate.task_definition d using (task_definition_id)
        where d.name = $1 order by a.setting_audit_id`,
      [name],
    );
    return result.rows;
  }

  async readLog(name: string): Promise<LogEntry[]> {
    const result = await this.#client.query<LogEntry>(
      `select l.task_id as "taskId", l.kind, l.payload, l.worker, l.outcome, l.error,
              l.duration_ms as "durationMs",
              (extract(epoch from l.ended_at - l.started_at) * 1000)::int as "spanMs"
         from taskgate.v_execution_log l where l.definition = $1
        order by l.task_id, l.started_at, l.fence`,
      [name],
    );
    return result.rows;
  }

  async removeExecution(executionId: ExecutionId): Promise<void> {
    await this.#client.query("delete from taskgate.task_execution where task_execution_id = $1", [
      executionNumber(executionId),
    ]);
  }

  async readVersions(): Promise<string> {
    const rows = await this.raw(
      `select 'd' as t, xmin::text, ctid::text from taskgate.task_definition
       union all select 'q', xmin::text, ctid::text from taskgate.token_demand
       union all select 'e', xmin::text, ctid::text from taskgate.task_execution
       union all select 't', xmin::text, ctid::text from taskgate.task
       union all select 'r', xmin::text, ctid::text from taskgate.ready order by 1, 2, 3`,
    );
    return JSON.stringify(rows);
  }

  async raw(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.#client.query<Record<string, unknown>>(sql)).rows;
  }

  asOwner<Result>(body: (transaction: StoreTransaction) => Promise<Result>): Promise<Result> {
    return this.#owner.transaction(async (transaction) => {
      // Helpers are called without an operation, which would say how their texts are read.
      await transaction.query("set local standard_conforming_strings = on");
      return body(transaction);
    });
  }

  call(sql: string): Promise<Record<string, unknown>[]> {
    return this.roles[roleOfSql(sql)].transaction(async (transaction) => {
      // The texts of tests have plain literals, whatever the database's own setting is.
      await transaction.query("set local standard_conforming_strings = on");
      return transaction.query(sql);
    });
  }
}
