import { formatDuration } from "../../core/duration";
import type { TaskStore } from "../../ports/task-store";
import { reportOf, toldAfterMs } from "../holders";
import type { Holder, HoldersReport } from "../holders";

/** A lock of a table that no other lock of ours conflicts with: that of a plain read, of a vacuum, of an index that is made CONCURRENTLY. */
const harmless = "('AccessShareLock', 'ShareUpdateExclusiveLock')";

/** Is there such a lock on a table of the schema? `owner` says whose locks. */
const holds = (owner: string): string => `
  exists (select 1 from pg_locks l
            join pg_class c on c.oid = l.relation
            join pg_namespace n on n.oid = c.relnamespace
           where ${owner} and l.granted and n.nspname = $1 and l.mode not in ${harmless})`;

const whoSql = `
  a.pid, a.usename as "user", a.application_name as program,
  coalesce(a.client_hostname, host(a.client_addr), 'the server''s own machine') as host,
  (extract(epoch from clock_timestamp() - a.xact_start) * 1000)::float8 as "ageMs"`;

/**
 * Sessions that hold rows, or a whole table, of the schema. Who may not read what others do sees neither their host nor since when:
 * their age is null then. Views of the server only; nothing is locked. A commit that waits for a standby holds its rows, too, and is
 * no one's to end.
 */
const holdersSql = `
  select ${whoSql} from pg_stat_activity a
   where a.datname = current_database() and a.pid <> pg_backend_pid() and a.wait_event is distinct from 'SyncRep'
     and ${holds("l.pid = a.pid")}
   order by a.xact_start nulls last, a.pid
   limit 1000`;

/** Commits that wait for a synchronous standby. */
const commitsSql = `
  select count(*)::int as commits, (extract(epoch from clock_timestamp() - min(a.query_start)) * 1000)::float8 as "ageMs"
    from pg_stat_activity a
   where a.datname = current_database() and a.wait_event = 'SyncRep'`;

/** Transactions of two phases: no session has them. Their locks are those beside the lock of their own number. */
const preparedSql = `
  select p.gid, p.owner as "user", (extract(epoch from clock_timestamp() - p.prepared) * 1000)::float8 as "ageMs",
         ${holds(`l.pid is null and l.virtualtransaction in (
             select x.virtualtransaction from pg_locks x
              where x.pid is null and x.locktype = 'transactionid' and x.transactionid = p.transaction and x.granted)`)} as "holdsRows"
    from pg_prepared_xacts p
   where p.database = current_database()
   order by p.prepared
   limit 20`;

/** A snapshot, writes that aren't committed, or a replication slot, for which the server keeps the rows that calls have left behind. */
const snapshotsSql = `
  select ${whoSql} from pg_stat_activity a
   where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
     and coalesce(a.backend_xmin, a.backend_xid) is not null
     and a.xact_start < clock_timestamp() - $1::bigint * interval '1 ms'
   order by a.xact_start
   limit 20`;
const slotsSql = `
  select s.slot_name as name from pg_replication_slots s
   where s.xmin is not null and not s.active
   order by s.slot_name
   limit 20`;

/** A commit that waits for longer waits for a standby that doesn't answer. */
const slowCommitMs = 3_000;

/** One that is older keeps more rows than a claim passes over unseen: busy queues had a third of their pace after 80 s. */
const oldMs = 120_000;

const slower =
  "The rows that calls leave behind can't be removed meanwhile, and each call takes longer";

/**
 * Reports the transactions that hold rows of the schema for longer than 30 s, and what keeps rows from being removed for longer than
 * two minutes. Five reads.
 */
export async function reportPostgresHolders(
  store: Pick<TaskStore, "transaction">,
  schema: string,
): Promise<HoldersReport> {
  return store.transaction(async (transaction) => {
    const rows = await transaction.query(holdersSql, [schema]);
    const commits = await transaction.query(commitsSql);
    const prepared = await transaction.query(preparedSql, [schema]);
    const holders = rows.map(toHolder);
    const told = new Set(holders.filter(isLong).map(({ session }) => session));
    const old = (await transaction.query(snapshotsSql, [String(oldMs)])).map(toHolder);
    const slots = await transaction.query(slotsSql);
    return reportOf(holders, [
      ...commits.flatMap(describeCommits),
      ...describeHidden(holders),
      ...prepared.flatMap(describePrepared),
      ...old.filter(({ session }) => !told.has(session)).map(describeSnapshot),
      ...slots.map(describeSlot),
    ]);
  });
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

function isLong({ ageMs }: Holder): boolean {
  return ageMs !== null && ageMs >= toldAfterMs;
}

function describeHidden(holders: readonly Holder[]): string[] {
  const hidden = holders.filter(({ ageMs }) => ageMs === null).length;
  if (hidden === 0) return [];
  return [
    `Sessions that hold rows just now, but since when and from where isn't visible to this login: ${String(hidden)}. \`grant pg_read_all_stats to LOGIN\` shows it.`,
  ];
}

function describeCommits({ commits, ageMs }: Record<string, unknown>): string[] {
  const age = Number(ageMs);
  if (Number(commits) === 0 || age < slowCommitMs) return [];
  const wait = commits === 1 ? "1 commit waits" : `${String(commits)} commits wait`;
  return [
    `${wait} for a synchronous standby, for ${formatDuration(age)} by now: calls go on when it answers, or when \`synchronous_standby_names\` names another one. Don't end these sessions: their callers would be told that a write is safe which no standby has.`,
  ];
}

function describePrepared({ gid, user, ageMs, holdsRows }: Record<string, unknown>): string[] {
  const age = Number(ageMs);
  if (age < (holdsRows === true ? toldAfterMs : oldMs)) return [];
  const name = `'${String(gid).replaceAll("'", "''")}'`;
  const does =
    holdsRows === true
      ? "has held rows: what they belong to comes back when it ends"
      : `is open: ${slower.toLowerCase()}`;
  return [
    `For ${formatDuration(age)} the prepared transaction ${name} of ${String(user)} ${does}. \`commit prepared ${name}\` or \`rollback prepared ${name}\` ends it.`,
  ];
}

function describeSnapshot({ session, user, host, program, ageMs, end }: Holder): string {
  const named = program === "" ? "no program's name" : program;
  return `Session ${session} of ${user} from ${host} (${named}) has had its transaction open for ${formatDuration(Number(ageMs))}. ${slower}. \`${end}\` ends it.`;
}

function describeSlot({ name }: Record<string, unknown>): string {
  const slot = `'${String(name)}'`;
  return `The replication slot ${slot} has no reader. ${slower}. Where its replica is gone for good, \`select pg_drop_replication_slot(${slot})\` drops it.`;
}
