import { executionNumber } from "../../shared/core/ids";
import type { ExecutionId, TaskId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { SqlValue, StoreTransaction, TaskStore } from "../../shared/ports/task-store";
import { MssqlCaller } from "../../shared/store/mssql/mssql-caller";
import { migrateStore, openStore } from "../../shared/store/open-store";
import { SqlTaskStore } from "../../shared/store/sql-task-store";
import { recordMssqlCalls } from "./mssql-call-record";
import { makeMssqlLogins } from "./mssql-logins";
import { openRoleStores, roleOfSql, storeOfRoles, urlAs } from "./roles";
import type { RoleStores } from "./roles";
import type { AuditEntry, LogEntry, StoreSetup, TestStore } from "./store-setup";

/**
 * A SQL Server or Azure SQL database that is there for tests only: TASKGATE_TEST_MSSQL_URL. Its tables are emptied
 * before each test. Its clock can't be stopped: time is moved by moving every stored instant into the past.
 */
export function mssqlSetup(url: string): StoreSetup {
  let opened: Promise<MssqlStores> | undefined;
  return {
    dialect: "mssql",
    missing: {
      "exact clock": "SQL Server's clock can't be stopped",
      "write detection": "row versions aren't compared on SQL Server",
      "isolation level": "each procedure of SQL Server sets its own",
    },
    record: recordMssqlCalls(),
    open: async () => {
      const test = new MssqlTestStore(await (opened ??= openDatabase(url)));
      await test.empty();
      return test;
    },
    close: async () => {
      const stores = await opened;
      if (stores !== undefined) await closeMssqlStores(stores);
    },
  };
}

async function openDatabase(url: string): Promise<MssqlStores> {
  await migrateStore({ url });
  const stores = openMssqlStores(url);
  await makeMssqlLogins(stores.owner);
  return stores;
}

/** All ways to one database. */
export interface MssqlStores {
  readonly store: TaskStore;
  readonly plain: TaskStore;
  readonly roles: RoleStores;
  readonly owner: TaskStore;
}

/** Nothing is sent before the first call. The address is the owner's. */
export function openMssqlStores(url: string): MssqlStores {
  const options = { connectionsMax: 10, random: realRandom, sleep };
  const roles = openRoleStores((role) => openStore({ url: urlAs(url, role), ...options }));
  return {
    store: storeOfRoles(roles),
    plain: openPlainMssqlStore(url),
    roles,
    owner: openMssqlStoreAs(url, 10),
  };
}

export async function closeMssqlStores({ store, plain, owner }: MssqlStores): Promise<void> {
  await Promise.all([store, plain, owner].map((open) => open.close()));
}

/** One store in all places: there are no logins, and it repeats nothing. */
export function withoutLogins(store: TaskStore): MssqlStores {
  return { store, plain: store, roles: { worker: store, operator: store }, owner: store };
}

/** A store that repeats nothing; each call is made by a login of its role. Nothing is sent before its first call. */
export function openPlainMssqlStore(url: string, connectionsMax = 20): TaskStore {
  return storeOfRoles(openRoleStores((role) => openMssqlStoreAs(urlAs(url, role), connectionsMax)));
}

/** A store as the user that the address names, which repeats nothing. */
export function openMssqlStoreAs(url: string, connectionsMax: number): TaskStore {
  const options = { url, connectionsMax, callTimeoutMs: 20_000, connectTimeoutMs: 15_000 };
  return new SqlTaskStore(new MssqlCaller(options), (call) => call());
}

/** A store whose tests look and plant past the operations, by statements. */
export class MssqlTestStore implements TestStore {
  readonly store: TaskStore;
  readonly plain: TaskStore;
  readonly roles: RoleStores;
  readonly #owner: TaskStore;
  #isDamaged = false;

  constructor({ store, plain, roles, owner }: MssqlStores) {
    this.store = store;
    this.plain = plain;
    this.roles = roles;
    this.#owner = owner;
  }

  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  expectDamage(): void {
    this.#isDamaged = true;
  }

  async now(): Promise<Date> {
    const [row] = await this.query("SELECT SYSUTCDATETIME() AS [now]");
    const now = row?.["now"];
    if (!(now instanceof Date)) throw new Error("The clock gave nothing");
    return now;
  }

  async advance(ms: number): Promise<void> {
    const columns = await this.query(
      `SELECT c.TABLE_NAME AS [table], c.COLUMN_NAME AS [column] FROM INFORMATION_SCHEMA.COLUMNS AS c
        WHERE c.TABLE_SCHEMA = N'Taskgate' AND c.DATA_TYPE = N'datetime2'
          AND EXISTS (SELECT 1 FROM INFORMATION_SCHEMA.TABLES AS t WHERE t.TABLE_SCHEMA = c.TABLE_SCHEMA
                       AND t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE = N'BASE TABLE')
        ORDER BY c.TABLE_NAME`,
    );
    const tables = new Map<string, string[]>();
    for (const row of columns) {
      const table = String(row["table"]);
      tables.set(table, [...(tables.get(table) ?? []), String(row["column"])]);
    }
    const seconds = Math.trunc(ms / 1_000);
    const rest = ms % 1_000;
    for (const [table, names] of tables) {
      const earlier = names.map(
        (name) =>
          `[${name}] = DATEADD(SECOND, -${String(seconds)}, DATEADD(MILLISECOND, -${String(rest)}, [${name}]))`,
      );
      await this.query(`UPDATE Taskgate.[${table}] SET ${earlier.join(", ")}`);
    }
  }

  /** Deletes every row but those of the schema's versions. */
  async empty(): Promise<void> {
    const tables = await this.query(
      `SELECT t.name AS [name] FROM sys.tables AS t INNER JOIN sys.schemas AS s ON s.schema_id = t.schema_id
        WHERE s.name = N'Taskgate' AND t.name NOT IN (N'SchemaVersion', N'Number', N'GroupRound', N'StatisticRound', N'Stop')`,
    );
    const deletes = tables.map((row) => `DELETE FROM Taskgate.[${String(row["name"])}];`);
    deletes.push("UPDATE Taskgate.GroupRound SET LastGroupId = 0, EndedAt = '2000-01-01';");
    deletes.push("UPDATE Taskgate.StatisticRound SET LastExecutionId = 0, EndedAt = '2000-01-01';");
    deletes.push("UPDATE Taskgate.Stop SET StoppedAt = NULL, StoppedBy = NULL, Reason = NULL;");
    await this.query(deletes.join(" "));
  }

  async requestCancel(taskId: TaskId): Promise<void> {
    await this.query("UPDATE Taskgate.Task SET CancelRequested = 1 WHERE TaskId = @p1", [taskId]);
  }

  async readTokens(name: string): Promise<string> {
    const [row] = await this.query(
      `SELECT CASE WHEN d.ExecutionTokens IN (N'', N'rows') THEN x.Tokens ELSE d.ExecutionTokens END AS [tokens] FROM Taskgate.TaskDefinition AS d
        CROSS APPLY (
          SELECT STRING_AGG(CONVERT(nvarchar(max), N'I:' + LOWER(CONVERT(nchar(36), t.TokenId)) + N',S:'
                   + CASE t.IsHeld WHEN 1 THEN N'0' ELSE N'1' END + N',G:' + CONVERT(nvarchar(20), t.Grantee)), N',')
                   WITHIN GROUP (ORDER BY t.Ord) AS Tokens
            FROM Taskgate._TokenEntries(d.TaskDefinitionId, d.ExecutionTokens, d.TokenList) AS t) AS x WHERE d.Name = @p1`,
      [name],
    );
    const tokens = row?.["tokens"];
    return typeof tokens === "string" ? tokens : "";
  }

  async writeTokens(name: string, text: string): Promise<void> {
    await this.query("UPDATE Taskgate.TaskDefinition SET ExecutionTokens = @p2 WHERE Name = @p1", [
      name,
      text,
    ]);
  }

  async readAudit(name: string): Promise<AuditEntry[]> {
    const rows = await this.query(
      `SELECT a.Setting AS [setting], a.OldValue AS [oldValue], a.NewValue AS [newValue], a.Source AS [source],
              a.ChangedBy AS [changedBy], a.Reason AS [reason]
         FROM Taskgate.SettingAudit AS a
        INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = a.TaskDefinitionId
        WHERE d.Name = @p1 ORDER BY a.SettingAuditId`,
      [name],
    );
    return rows.map((row) => ({
      setting: String(row["setting"]),
      oldValue: textOrNull(row["oldValue"]),
      newValue: textOrNull(row["newValue"]),
      source: String(row["source"]),
      changedBy: String(row["changedBy"]),
      reason: textOrNull(row["reason"]),
    }));
  }

  async readLog(name: string): Promise<LogEntry[]> {
    const rows = await this.query(
      `SELECT CONVERT(nvarchar(20), l.TaskId) AS [taskId], l.Kind AS [kind], l.Payload AS [payload], l.Worker AS [worker],
              l.Outcome AS [outcome], l.Error AS [error], l.DurationMs AS [durationMs],
              DATEDIFF(MILLISECOND, l.StartedAt, l.EndedAt) AS [spanMs]
         FROM Taskgate.vExecutionLog AS l WHERE l.Definition = @p1 ORDER BY l.TaskId, l.StartedAt, l.Fence`,
      [name],
    );
    return rows.map((row) => ({
      taskId: String(row["taskId"]) as TaskId,
      kind: String(row["kind"]),
      payload: textOrNull(row["payload"]),
      worker: textOrNull(row["worker"]),
      outcome: String(row["outcome"]),
      error: textOrNull(row["error"]),
      durationMs: row["durationMs"] === null ? null : Number(row["durationMs"]),
      spanMs: row["spanMs"] === null ? null : Number(row["spanMs"]),
    }));
  }

  async removeExecution(executionId: ExecutionId): Promise<void> {
    await this.query("DELETE FROM Taskgate.TaskExecution WHERE TaskExecutionId = @p1", [
      executionNumber(executionId),
    ]);
  }

  readVersions(): Promise<string> {
    return Promise.reject(new Error("Row versions aren't compared on SQL Server"));
  }

  raw(sql: string): Promise<Record<string, unknown>[]> {
    return this.query(sql);
  }

  asOwner<Result>(body: (transaction: StoreTransaction) => Promise<Result>): Promise<Result> {
    return this.#owner.transaction(body);
  }

  call(sql: string): Promise<Record<string, unknown>[]> {
    return this.roles[roleOfSql(sql)].transaction((transaction) => transaction.query(sql));
  }

  query(text: string, values: readonly SqlValue[] = []): Promise<Record<string, unknown>[]> {
    return this.asOwner((transaction) => transaction.query(text, values));
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
