import type { TaskStore } from "../../ports/task-store";
import { reportOf } from "../holders";
import type { Holder, HoldersReport } from "../holders";

/**
 * Sessions that hold rows of the schema. Who may not read what others do sees neither their host nor since when: their age
 * is null then. Views of the server only; nothing is locked.
 */
const holdersSql = `
  select a.pid, a.usename as "user", a.application_name as program,
         coalesce(a.client_hostname, host(a.client_addr), 'the server''s own machine') as host,
         (extract(epoch from clock_timestamp() - a.xact_start) * 1000)::float8 as "ageMs"
    from pg_stat_activity a
   where a.datname = current_database() and a.pid <> pg_backend_pid()
     and exists (select 1 from pg_locks l
                   join pg_class c on c.oid = l.relation
                   join pg_namespace n on n.oid = c.relnamespace
                  where l.pid = a.pid and l.granted and n.nspname = $1
                    and l.mode in ('RowShareLock', 'RowExclusiveLock'))
   order by a.xact_start nulls last, a.pid
   limit 1000`;

/** Reports the sessions that hold rows of the schema in a transaction open for longer than 30 s. One read. */
export async function reportPostgresHolders(
  store: Pick<TaskStore, "transaction">,
  schema: string,
): Promise<HoldersReport> {
  const rows = await store.transaction((transaction) => transaction.query(holdersSql, [schema]));
  const hidden = rows.filter(({ ageMs }) => ageMs === null).length;
  const more =
    hidden === 0
      ? []
      : [
          `Sessions that hold rows just now, but since when and from where isn't visible to this login: ${String(hidden)}. \`grant pg_read_all_stats to LOGIN\` shows it.`,
        ];
  return reportOf(rows.map(toHolder), more);
}

function toHolder({ pid, user, host, program, ageMs }: Record<string, unknown>): Holder {
  return {
    session: String(pid),
    user: String(user),
    host: String(host),
    program: String(program),
    ageMs: ageMs === null ? null : Number(ageMs),
    end: `select pg_terminate_backend(${String(pid)})`,
  };
}
