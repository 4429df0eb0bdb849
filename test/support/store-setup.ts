import { serialize } from "node:v8";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Client } from "pg";
import type { ExecutionId, TaskId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { StoreDialect, TaskStore } from "../../shared/ports/task-store";
import { ModelTaskStore } from "../../shared/store/model/model-task-store";
import { openStore } from "../../shared/store/open-store";
import { createTestDatabase } from "./test-postgres";

/**
 * How the contract suite gets a store. Each test gets an empty one whose clock stands still until the test moves it;
 * after each test `check_invariants` must find nothing (P3). What a store can't show is declared in `missing` with
 * the reason: those tests are reported as skipped.
 */

/** What a test may need besides the port. */
export type Capability =
  /** The clock stands still between moves: boundaries can be hit to the millisecond. */
  | "exact clock"
  /** A cancel request can be planted. */
  | "cancel requests"
  /** The token text can be read and written. */
  | "token text"
  /** The audit of settings can be read. */
  | "audit"
  /** The execution log can be read. */
  | "execution log"
  /** An execution's row can be removed. */
  | "row removal"
  /** It can be told whether anything was written. */
  | "write detection"
  /** Statements of the user's own: transactions take SQL, faults can be planted past the operations. */
  | "raw sql"
  /** Calls lock rows, so that others wait or skip. */
  | "row locks";

/** One entry of the settings' audit. */
export interface AuditEntry {
  setting: string;
  oldValue: string | null;
  newValue: string | null;
  source: string;
  changedBy: string;
  reason: string | null;
}

/** One entry of the execution log. */
export interface LogEntry {
  taskId: TaskId;
  kind: string;
  payload: string | null;
  worker: string | null;
  outcome: string;
  error: string | null;
  durationMs: number | null;
  /** ended less started; null while it runs. */
  spanMs: number | null;
}

/** An empty store, for one test. */
export interface TestStore {
  readonly store: TaskStore;
  /** The database's time. */
  now(): Promise<Date>;
  /** Moves the database's time. */
  advance(ms: number): Promise<void>;
  /** Asks for a task's end, as an operator's cancel does while it runs. */
  requestCancel(taskId: TaskId): Promise<void>;
  /** The token text of a definition. */
  readTokens(name: string): Promise<string>;
  /** Writes the token text, damaged or not. */
  writeTokens(name: string, text: string): Promise<void>;
  /** Oldest first. */
  readAudit(name: string): Promise<AuditEntry[]>;
  /** By task, then by start and fence. */
  readLog(name: string): Promise<LogEntry[]>;
  /** Removes an execution's row, as a mistaken clean-up might. */
  removeExecution(executionId: ExecutionId): Promise<void>;
  /** Changes whenever a definition, an execution or a task was written. */
  readVersions(): Promise<string>;
  /** Runs statements of the store's own dialect past the operations. */
  raw(sql: string): Promise<Record<string, unknown>[]>;
  /** Called by tests that leave damage on purpose: no check of the invariants follows. */
  expectDamage(): void;
  readonly isDamaged: boolean;
}

/** Opens stores of one kind. */
export interface StoreSetup {
  readonly dialect: StoreDialect;
  /** What this kind can't show, and why. */
  readonly missing: Partial<Record<Capability, string>>;
  /** An empty store; the one before is gone. */
  open(): Promise<TestStore>;
  /** Ends everything. */
  close(): Promise<void>;
}

/** Opens a store before each test and checks it after; returns the way to the current one. */
export function useStore(setup: StoreSetup): () => TestStore {
  let current: TestStore | undefined;
  beforeEach(async () => {
    current = await setup.open();
  });
  afterEach(async () => {
    const opened = current;
    current = undefined;
    if (opened === undefined || opened.isDamaged) return;
    expect(await opened.store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });
  return () => {
    if (current === undefined) throw new Error("No store is open outside a test");
    return current;
  };
}

/** `test` where the store can show it, else a skipped test whose title tells why. */
export function testWith(setup: StoreSetup, ...needed: Capability[]) {
  const reasons = needed.flatMap((capability) => setup.missing[capability] ?? []);
  return (title: string, body: () => Promise<void>): void => {
    if (reasons.length === 0) test(title, body);
    else test.skip(`${title} (skipped: ${reasons.join("; ")})`, body);
  };
}

/** A fresh database of the test server for the whole file, emptied for each test. */
export function postgresSetup(): StoreSetup {
  let opened: Promise<OpenDatabase> | undefined;
  return {
    dialect: "postgres",
    missing: {},
    open: async () => {
      const database = await (opened ??= openDatabase());
      await emptyDatabase(database.client);
      return new PostgresTestStore(database);
    },
    close: async () => {
      const database = await opened;
      if (database === undefined) return;
      await database.store.close();
      await database.client.end();
      await database.drop();
    },
  };
}

interface OpenDatabase {
  store: TaskStore;
  client: Client;
  drop: () => Promise<void>;
}

async function openDatabase(): Promise<OpenDatabase> {
  const { url, drop } = await createTestDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  await installClock(client);
  const store = openStore({ url, connectionsMax: 10, random: realRandom, sleep });
  return { store, client, drop };
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

/** Deletes every row but those of the schema and the clock; stops the clock at a whole millisecond. */
async function emptyDatabase(client: Client): Promise<void> {
  const tables = await client.query<{ name: string }>(
    `select tablename as name from pg_tables
      where schemaname = 'taskgate' and tablename not in ('schema_version', 'test_clock')`,
  );
  const deletes = tables.rows.map(({ name }) => `delete from taskgate.${name};`);
  await client.query(
    `${deletes.join(" ")}
     update taskgate.test_clock set offset_ms = 0, stands_at = date_trunc('milliseconds', clock_timestamp())`,
  );
}

class PostgresTestStore implements TestStore {
  readonly store: TaskStore;
  readonly #client: Client;
  #isDamaged = false;

  constructor(database: OpenDatabase) {
    this.store = database.store;
    this.#client = database.client;
  }

  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  expectDamage(): void {
    this.#isDamaged = true;
  }

  async now(): Promise<Date> {
    const result = await this.#client.query<{ now: Date }>("select taskgate._now() as now");
    const [row] = result.rows;
    if (row === undefined) throw new Error("The clock gave nothing");
    return row.now;
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
      executionId,
    ]);
  }

  async readVersions(): Promise<string> {
    const rows = await this.raw(
      `select 'd' as t, xmin::text, ctid::text from taskgate.task_definition
       union all select 'e', xmin::text, ctid::text from taskgate.task_execution
       union all select 't', xmin::text, ctid::text from taskgate.task
       union all select 'r', xmin::text, ctid::text from taskgate.ready order by 1, 2, 3`,
    );
    return JSON.stringify(rows);
  }

  async raw(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.#client.query<Record<string, unknown>>(sql)).rows;
  }
}

/** The store in memory: a new one for each test. */
export function modelSetup(): StoreSetup {
  const noSql = "the model has no SQL";
  return {
    dialect: "model",
    missing: {
      "execution log": "the model has no views",
      "row removal": "the model's rows can't be removed",
      "raw sql": noSql,
      "row locks": "nothing waits in the model",
    },
    open: () => Promise.resolve(new ModelTestStore()),
    close: () => Promise.resolve(),
  };
}

class ModelTestStore implements TestStore {
  readonly store: TaskStore;
  readonly #model: ModelTaskStore;
  #nowMs = Date.UTC(2026, 10, 21, 10, 20, 30, 123);
  #isDamaged = false;

  constructor() {
    const clock = { now: () => this.#nowMs };
    this.#model = new ModelTaskStore({ clock, random: realRandom });
    this.store = this.#model;
  }

  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  expectDamage(): void {
    this.#isDamaged = true;
  }

  now(): Promise<Date> {
    return Promise.resolve(new Date(this.#nowMs));
  }

  advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    return Promise.resolve();
  }

  requestCancel(taskId: TaskId): Promise<void> {
    this.#model.requestCancel(taskId);
    return Promise.resolve();
  }

  readTokens(name: string): Promise<string> {
    return Promise.resolve(this.#model.inspect().tokens[name] ?? "");
  }

  writeTokens(name: string, text: string): Promise<void> {
    this.#model.damageTokens(name, text);
    return Promise.resolve();
  }

  readAudit(name: string): Promise<AuditEntry[]> {
    const { definitions, settingAudit } = this.#model.inspect().state;
    const ids = [...definitions.values()]
      .filter((row) => row.name === name)
      .map((row) => row.definitionId);
    return Promise.resolve(
      settingAudit
        .filter((row) => ids.includes(row.definitionId))
        .map(({ setting, oldValue, newValue, source, changedBy, reason }) => ({
          setting,
          oldValue,
          newValue,
          source,
          changedBy,
          reason,
        })),
    );
  }

  readLog(): Promise<LogEntry[]> {
    return Promise.reject(new Error("The model has no views"));
  }

  removeExecution(): Promise<void> {
    return Promise.reject(new Error("The model's rows can't be removed"));
  }

  readVersions(): Promise<string> {
    return Promise.resolve(serialize(this.#model.inspect().state).toString("base64"));
  }

  raw(): Promise<Record<string, unknown>[]> {
    return Promise.reject(new Error("The model has no SQL"));
  }
}
