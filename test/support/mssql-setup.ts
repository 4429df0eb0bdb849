import type { ExecutionId, TaskId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { SqlValue, TaskStore } from "../../shared/ports/task-store";
import { MssqlCaller } from "../../shared/store/mssql/mssql-caller";
import { migrateStore, openStore } from "../../shared/store/open-store";
import { SqlTaskStore } from "../../shared/store/sql-task-store";
import type { AuditEntry, LogEntry, StoreSetup, TestStore } from "./store-setup";

/**
 * A SQL Server or Azure SQL database that is there for tests only: TASKGATE_TEST_MSSQL_URL. Its tables are emptied
 * before each test. Its clock can't be stopped: time is moved by moving every stored instant into the past.
 */
export function mssqlSetup(url: string): StoreSetup {
  let opened: Promise<TaskStore> | undefined;
  let plain: TaskStore | undefined;
  return {
    dialect: "mssql",
    missing: {
      "exact clock": "SQL Server's clock can't be stopped",
      "write detection": "row versions aren't compared on SQL Server",
      "isolation level": "each procedure of SQL Server sets its own",
    },
    open: async () => {
      const store = await (opened ??= openDatabase(url));
      plain ??= openPlainMssqlStore(url);
      const test = new MssqlTestStore(store, plain);
      await test.empty();
      return test;
    },
    close: async () => {
      await (await opened)?.close();
      await plain?.close();
    },
  };
}

async function openDatabase(url: string): Promise<TaskStore> {
  await migrateStore({ url });
  return openStore({ url, connectionsMax: 10, random: realRandom, sleep });
}

/** A store that repeats nothing; nothing is sent before its first call. */
export function openPlainMssqlStore(url: string, connectionsMax = 20): TaskStore {
  const options = { url, connectionsMax, callTimeoutMs: 20_000, connectTimeoutMs: 15_000 };
  return new SqlTaskStore(new MssqlCaller(options), (call) => call());
}

/** A store whose tests look and plant past the operations, by statements. */
export class MssqlTestStore implements TestStore {
  readonly store: TaskStore;
  readonly plain: TaskStore;
  #isDamaged = false;

  constructor(store: TaskStore, plain: TaskStore) {
    this.store = store;
    this.plain = plain;
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
        WHERE s.name = N'Taskgate' AND t.name NOT IN (N'SchemaVersion', N'Number', N'GroupRound')`,
    );
    const deletes = tables.map((row) => `DELETE FROM Taskgate.[${String(row["name"])}];`);
    deletes.push("UPDATE Taskgate.GroupRound SET LastGroupId = 0, EndedAt = '2000-01-01';");
    await this.query(deletes.join(" "));
  }

  async requestCancel(taskId: TaskId): Promise<void> {
    await this.query("UPDATE Taskgate.Task SET CancelRequested = 1 WHERE TaskId = @p1", [taskId]);
  }

  async readTokens(name: string): Promise<string> {
    const [row] = await this.query(
      "SELECT ExecutionTokens AS [tokens] FROM Taskgate.TaskDefinition WHERE Name = @p1",
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
      executionId,
    ]);
  }

  readVersions(): Promise<string> {
    return Promise.reject(new Error("Row versions aren't compared on SQL Server"));
  }

  raw(sql: string): Promise<Record<string, unknown>[]> {
    return this.query(sql);
  }

  query(text: string, values: readonly SqlValue[] = []): Promise<Record<string, unknown>[]> {
    return this.store.transaction((transaction) => transaction.query(text, values));
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
