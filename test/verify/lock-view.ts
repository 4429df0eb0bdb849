import { BatchConnection } from "./batch-connection";
import type { BatchAnswer } from "./batch-connection";
import type { Locks } from "../tsql/litmus/litmus-case";

/** Whose tables tell of locks. */
export type LockViewKind = "server" | "simulated";

const waits = `SELECT l.request_session_id AS id FROM sys.dm_tran_locks AS l
WHERE l.request_status IN (N'WAIT', N'CONVERT');`;

/** Index and mode of each key lock of a session; a transaction's own id is locked where locking is optimized. */
const keysOf: Readonly<Record<LockViewKind, (sessionId: number) => string>> = {
  server: (sessionId) =>
    `SELECT CASE l.resource_type WHEN N'XACT' THEN N'XACT' ELSE i.name END AS Name, l.request_mode AS Mode
     FROM sys.dm_tran_locks AS l
     LEFT JOIN sys.partitions AS p ON p.hobt_id = l.resource_associated_entity_id
     LEFT JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
     WHERE l.request_session_id = ${String(sessionId)} AND l.request_status = N'GRANT'
       AND l.resource_database_id = DB_ID() AND l.resource_type IN (N'KEY', N'XACT');`,
  simulated: (sessionId) =>
    `SELECT CASE l.resource_type WHEN N'XACT' THEN N'XACT' ELSE l.resource_description END AS Name, l.request_mode AS Mode
     FROM sys.dm_tran_locks AS l
     WHERE l.request_session_id = ${String(sessionId)} AND l.request_status = N'GRANT'
       AND l.resource_type IN (N'KEY', N'XACT');`,
};

/** Looks at the locks of others from a connection of its own. */
export class LockView {
  readonly #connection: BatchConnection;
  readonly #kind: LockViewKind;

  private constructor(connection: BatchConnection, kind: LockViewKind) {
    this.#connection = connection;
    this.#kind = kind;
  }

  /** undefined: the login may not look (VIEW SERVER STATE, on Azure SQL VIEW DATABASE STATE). */
  static async open(url: string, kind: LockViewKind): Promise<LockView | undefined> {
    const connection = await BatchConnection.open(url, "taskgate verify");
    const { errors } = await connection.run(waits);
    if (errors.length === 0) return new LockView(connection, kind);
    await connection.close();
    return undefined;
  }

  /** Sessions that wait for a lock now. */
  async waiting(): Promise<ReadonlySet<number>> {
    const { rows } = await this.#ask(waits);
    return new Set(rows.map(([id]) => Number(id)));
  }

  /** How many of which: `PK_T X`. */
  async keys(sessionId: number): Promise<Locks> {
    const { rows } = await this.#ask(keysOf[this.#kind](sessionId));
    const counts: Record<string, number> = {};
    for (const [name, mode] of rows) {
      const index = /^(?:\w+\.\w+\.)?(\w+)/.exec(String(name))?.[1] ?? String(name);
      const key = `${index} ${String(mode)}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #ask(sql: string): Promise<BatchAnswer> {
    return this.#connection.must(sql);
  }
}
