import { Client, Pool } from "pg";
import { executionNumber } from "../../shared/core/ids";
import type { ExecutionId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { installClock, openPlainStore } from "./postgres-setup";
import { urlAs } from "./roles";
import type { Role } from "./roles";
import { createTestDatabase } from "./test-postgres";
import { until } from "./gate";

/**
 * Many connections on one PostgreSQL database, for tests of what happens at the same time. Its stores repeat nothing:
 * a deadlock or a lock time-out reaches the test. Evidence is kept outside the code under test, in `public.events`.
 */
export interface Contention {
  readonly url: string;
  /** A connection for looking. */
  readonly client: Client;
  /** Another store with its own connections; ended by `close`. */
  openStore(connectionsMax: number): TaskStore;
  /** Another raw connection, of the schema's owner or of a login with a role; ended by `close`. */
  connect(as?: Role | "app"): Promise<Client>;
  /** Notes that each of `keys` has `delta` more in use from now on. */
  note(keys: readonly string[], delta: number): Promise<void>;
  /** The most that was ever in use at a time, by key. */
  mostInUse(): Promise<Map<string, number>>;
  /** Moves the database's time. */
  advance(ms: number): Promise<void>;
  /** How many backends wait for a lock. */
  countWaiting(): Promise<number>;
  /** Resolves when as many backends wait for a lock. */
  untilWaiting(count: number): Promise<void>;
  /** Deadlocks that this database has seen. */
  countDeadlocks(): Promise<number>;
  close(): Promise<void>;
}

/** A database of its own, with a clock that runs and can be moved. */
export async function openContention(): Promise<Contention> {
  const { url, drop } = await createTestDatabase();
  const clients: Client[] = [];
  const stores: TaskStore[] = [];
  const connect = async (as?: Role | "app"): Promise<Client> => {
    const client = new Client({ connectionString: as === undefined ? url : urlAs(url, as) });
    client.on("error", () => undefined);
    await client.connect();
    clients.push(client);
    return client;
  };
  const client = await connect();
  const notes = new Pool({ connectionString: url, max: 10 });
  // `drop` ends connections that the pool has said good-bye to but the server hasn't closed yet.
  notes.on("error", () => undefined);
  await installClock(client);
  await client.query(
    "create table public.events (event_id bigserial primary key, key text not null, delta int not null)",
  );
  const count = async (sql: string): Promise<number> =>
    Number((await client.query<{ n: string }>(sql)).rows[0]?.n ?? 0);
  const countWaiting = (): Promise<number> =>
    count(
      "select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
  return {
    url,
    client,
    connect,
    openStore: (connectionsMax) => {
      const store = openPlainStore(url, connectionsMax);
      stores.push(store);
      return store;
    },
    note: async (keys, delta) => {
      if (keys.length === 0) return;
      await notes.query(
        "insert into public.events (key, delta) select k, $2 from unnest($1::text[]) k",
        [keys, delta],
      );
    },
    mostInUse: async () => {
      const result = await client.query<{ key: string; max: string }>(
        `select key, max(in_use) as max
           from (select key, sum(delta) over (partition by key order by event_id) as in_use from public.events) e
          group by key`,
      );
      return new Map(result.rows.map((row) => [row.key, Number(row.max)]));
    },
    advance: async (ms) => {
      await notes.query("update taskgate.test_clock set offset_ms = offset_ms + $1", [ms]);
    },
    countWaiting,
    untilWaiting: (wanted) =>
      until(`${String(wanted)} backends wait`, async () => (await countWaiting()) >= wanted),
    countDeadlocks: () =>
      count("select deadlocks as n from pg_stat_database where datname = current_database()"),
    close: async () => {
      await Promise.all(stores.map((store) => store.close().catch(() => undefined)));
      await notes.end();
      await Promise.all(clients.map((open) => open.end().catch(() => undefined)));
      await drop();
    },
  };
}

/** Claims over a raw connection, inside its current transaction, if any; the ids. */
export async function claimRaw(
  client: Client,
  call: { executionId: ExecutionId; callNumber: number; want: number },
): Promise<string[]> {
  const result = await client.query<{ task_ids: string | null }>(
    "select task_ids from taskgate.work($1, $2, p_want => $3)",
    [executionNumber(call.executionId), call.callNumber, call.want],
  );
  return result.rows[0]?.task_ids?.split(",") ?? [];
}

/** Replaces parts of a function's text in this database; each part must be there. */
export async function plantFunction(
  client: Client,
  name: string,
  changes: readonly { from: RegExp; to: string }[],
): Promise<void> {
  const result = await client.query<{ text: string }>(
    "select pg_get_functiondef($1::regproc) as text",
    [`taskgate.${name}`],
  );
  let text = result.rows[0]?.text ?? "";
  for (const { from, to } of changes) {
    if (!from.test(text)) throw new Error(`${name} has no ${String(from)}`);
    text = text.replace(from, to);
  }
  await client.query(text);
}

/** The id of a definition. */
export async function definitionId(client: Client, name: string): Promise<number> {
  const result = await client.query<{ id: number }>(
    "select task_definition_id as id from taskgate.task_definition where name = $1",
    [name],
  );
  const id = result.rows[0]?.id;
  if (id === undefined) throw new Error(`No definition ${name}`);
  return id;
}
