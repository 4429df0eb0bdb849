import { TaskgateError } from "../../core/errors";
import type { TaskStore } from "../../ports/task-store";
import { reportOf } from "../holders";
import type { Holder, HoldersReport } from "../holders";
import { saidByServer } from "./mssql-errors";

/**
 * Sessions with an open transaction that holds rows of the schema: a session that locks a row has an intent lock on its table, also
 * where optimized locking lets go of the row's own. Views of the server only; nothing is locked. The server's clock is in
 * its own zone in both places.
 */
const holdersSql = `
  SELECT TOP (1000) st.session_id AS session, s.login_name AS login, s.host_name AS host, s.program_name AS program,
         DATEDIFF_BIG(MILLISECOND, t.transaction_begin_time, SYSDATETIME()) AS ageMs
    FROM sys.dm_tran_session_transactions AS st
    JOIN sys.dm_tran_active_transactions AS t ON t.transaction_id = st.transaction_id
    LEFT JOIN sys.dm_exec_sessions AS s ON s.session_id = st.session_id
   WHERE st.session_id <> @@SPID
     AND EXISTS (SELECT 1 FROM sys.dm_tran_locks AS l
                   JOIN sys.tables AS o ON o.object_id = l.resource_associated_entity_id
                  WHERE l.request_session_id = st.session_id AND l.resource_type = N'OBJECT'
                    AND l.resource_database_id = DB_ID() AND l.request_status = N'GRANT' AND l.request_mode <> N'Sch-S'
                    AND o.schema_id = SCHEMA_ID(N'Taskgate'))
   ORDER BY t.transaction_begin_time, st.session_id;`;

/** A login sees the tables that it has a right on: without any right, no session would seem to hold rows. */
const tablesSql = `
  SELECT COUNT(*) AS tables FROM sys.tables AS o WHERE o.schema_id = SCHEMA_ID(N'Taskgate');`;

/** To see the server's state: 262 on Azure SQL; 300, with 297 behind it, on SQL Server. */
const hidden: ReadonlySet<number> = new Set([262, 297, 300]);

const stateRight =
  "Who holds rows isn't visible to this login. `GRANT VIEW DATABASE STATE TO [USER]` shows it on Azure SQL (below S2 and in pools: the server role ##MS_ServerStateReader##), `GRANT VIEW SERVER STATE TO [LOGIN]`, run in master, on SQL Server.";
const tablesRight =
  "Whose rows are held isn't visible to this login. `GRANT VIEW DEFINITION ON SCHEMA::Taskgate TO [USER]` shows it.";

/** A statement's rows. */
type Query = (text: string) => Promise<Record<string, unknown>[]>;

/** The sessions that hold rows of the schema, the oldest transaction first. Rejects where the login may not see them. */
export async function readMssqlHolders(query: Query): Promise<Holder[]> {
  return (await query(holdersSql)).map(toHolder);
}

/** Reports the sessions that hold rows of the schema in a transaction open for longer than 30 s. Rejects like any call. */
export async function reportMssqlHolders(
  store: Pick<TaskStore, "transaction">,
): Promise<HoldersReport> {
  try {
    return await store.transaction(async (transaction) => {
      const [seen] = await transaction.query(tablesSql);
      if (Number(seen?.["tables"]) === 0) return { status: "note", text: tablesRight };
      return reportOf(await readMssqlHolders((text) => transaction.query(text)), []);
    });
  } catch (error) {
    const said = saidByServer(error);
    if (said.some(({ number }) => hidden.has(number))) return { status: "note", text: stateRight };
    const [first] = said;
    if (first === undefined || error instanceof TaskgateError) throw error;
    // A login that may not read the locks is no fault of the store.
    const text = `Who holds rows can't be read (${String(first.number)}): ${first.message}`;
    return { status: "note", text };
  }
}

function toHolder(row: Record<string, unknown>): Holder {
  const session = String(row["session"]);
  return {
    session,
    user: textOf(row["login"]) || "a login that isn't visible",
    host: textOf(row["host"]) || "a host without a name",
    program: textOf(row["program"]),
    ageMs: Number(row["ageMs"]),
    end: `KILL ${session}`,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
