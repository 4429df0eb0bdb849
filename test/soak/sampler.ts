import type { Client } from "pg";
import { quantile } from "../bench/measurement";
import type { LedgerJudge } from "./judge";
import { memoryOfTree } from "./process-memory";
import type { ClaimCost, IndexSize, Sample, TableSize } from "./sample";
import type { Workers } from "./workers";

/** The server's counters of all `work` calls so far, and of rows that were read. */
interface Counters {
  readonly calls: number;
  readonly blocks: number;
  readonly ms: number;
  readonly rows: number;
  /** Tasks that have begun. */
  readonly begun: number;
}

interface RelationRow {
  readonly name: string;
  /** Of an index; null: it is a table. */
  readonly owner: string | null;
  readonly bytes: string;
  readonly live: string;
  readonly dead: string;
}

export interface SamplerPlace {
  /** As the owner. */
  readonly client: Client;
  readonly serverPid: number;
  readonly workers: Workers;
  readonly judge: LedgerJudge;
  readonly leg: number;
}

/** Takes the samples of a leg. */
export class Sampler {
  readonly #place: SamplerPlace;
  #before: Counters | null = null;

  constructor(place: SamplerPlace) {
    this.#place = place;
  }

  async take(ranMs: number): Promise<Sample> {
    const { judge, leg } = this.#place;
    const waits = judge.takeWaits();
    const { begun } = judge;
    const { acknowledged, done } = judge.lives.counts;
    const { tables, indexes } = await this.#relations();
    return {
      atMs: Date.now(),
      leg,
      ranMs,
      memory: await this.#memory(),
      ...(await this.#server()),
      tables,
      indexes,
      latency:
        waits.length === 0
          ? null
          : { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), count: waits.length },
      claim: await this.#claim(),
      counts: { acknowledged, begun, done },
      violations: judge.findings.total,
    };
  }

  async #memory(): Promise<Sample["memory"]> {
    const { workers, serverPid } = this.#place;
    const answers = await Promise.all(
      workers.all.map(async (worker) => ({ worker, memory: await workers.memoryOf(worker) })),
    );
    const known = answers.flatMap(({ memory }) => (memory === null ? [] : [memory]));
    const elder = answers.find(({ worker }) => worker.isElder)?.memory ?? null;
    const mean = (values: number[]): number | null =>
      values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
    return {
      elderRss: elder?.rss ?? null,
      elderHeap: elder?.heapUsed ?? null,
      workerRss: mean(known.map(({ rss }) => rss)),
      workerHeap: mean(known.map(({ heapUsed }) => heapUsed)),
      server: memoryOfTree(serverPid),
      soak: process.memoryUsage().rss,
    };
  }

  async #server(): Promise<
    Pick<Sample, "connections" | "databaseBytes" | "oldestReadyMs" | "waiting" | "retained">
  > {
    const { rows } = await this.#place.client.query<Record<string, string>>(
      `select (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,
              pg_database_size(current_database()) as bytes,
              (select coalesce(max(extract(epoch from clock_timestamp() - t.created_at)) * 1000, 0)
                 from taskgate.ready r join taskgate.task t using (task_id)
                where t.kind in ('plain', 'grouped', 'narrow', 'rated')) as oldest,
              (select count(*) from taskgate.ready) as ready,
              (select count(*) from taskgate.scheduled) as scheduled,
              (select count(*) from taskgate.group_waiting) as grouped,
              (select count(*) from taskgate.wave_blocked) as blocked,
              (select count(*) from taskgate.task) as unfinished,
              (select count(*) from taskgate.archive) +
              (select coalesce(sum(cardinality(task_ids)), 0) from taskgate.archive_pack) as retained`,
    );
    const figure = (name: string): number => Number(rows[0]?.[name]);
    return {
      connections: figure("connections"),
      databaseBytes: figure("bytes"),
      oldestReadyMs: Math.round(figure("oldest")),
      waiting: {
        ready: figure("ready"),
        scheduled: figure("scheduled"),
        grouped: figure("grouped"),
        blocked: figure("blocked"),
        unfinished: figure("unfinished"),
      },
      retained: figure("retained"),
    };
  }

  async #relations(): Promise<Pick<Sample, "tables" | "indexes">> {
    const { rows } = await this.#place.client.query<RelationRow>(
      `select c.relname as name, null as owner, pg_table_size(c.oid) as bytes,
              coalesce(s.n_live_tup, 0) as live, coalesce(s.n_dead_tup, 0) as dead
         from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'taskgate'
         left join pg_stat_user_tables s on s.relid = c.oid where c.relkind = 'r'
       union all
       select c.relname, t.relname, pg_relation_size(c.oid), 0, 0
         from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'taskgate'
         join pg_index i on i.indexrelid = c.oid join pg_class t on t.oid = i.indrelid
        where c.relkind = 'i' order by 1`,
    );
    const tables: Record<string, TableSize> = {};
    const indexes: Record<string, IndexSize> = {};
    for (const { name, owner, bytes, live, dead } of rows) {
      if (owner !== null) indexes[name] = { table: owner, bytes: Number(bytes) };
      else tables[name] = { bytes: Number(bytes), live: Number(live), dead: Number(dead) };
    }
    return { tables, indexes };
  }

  /** The calls' own work. Finished tasks are left out of the rows: this program reads them, and their purge does. */
  async #claim(): Promise<ClaimCost | null> {
    const { client, judge } = this.#place;
    const { rows } = await client.query<Record<string, string>>(
      `select coalesce(sum(s.calls), 0) as calls, coalesce(sum(s.shared_blks_hit + s.shared_blks_read), 0) as blocks,
              coalesce(sum(s.total_exec_time), 0) as ms,
              (select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) from pg_stat_user_tables where schemaname = 'taskgate'
                 and relname not in ('archive', 'archive_pack'))
                as rows
         from pg_stat_statements s
         join pg_database d on d.oid = s.dbid and d.datname = current_database()
        where s.query like '%taskgate.work(%' and s.query not like '%pg_stat_statements%'`,
    );
    const figure = (name: string): number => Number(rows[0]?.[name]);
    const now: Counters = {
      calls: figure("calls"),
      blocks: figure("blocks"),
      ms: figure("ms"),
      rows: figure("rows"),
      begun: judge.begun,
    };
    const before = this.#before;
    this.#before = now;
    return before === null ? null : costBetween(before, now);
  }
}

function costBetween(before: Counters, now: Counters): ClaimCost | null {
  const calls = now.calls - before.calls;
  const tasks = now.begun - before.begun;
  // The server counts anew after a crash.
  if (calls <= 0 || tasks <= 0 || now.blocks < before.blocks || now.rows < before.rows) return null;
  const blocks = now.blocks - before.blocks;
  return {
    calls,
    blocksPerCall: blocks / calls,
    blocksPerTask: blocks / tasks,
    msPerCall: (now.ms - before.ms) / calls,
    rowsPerTask: (now.rows - before.rows) / tasks,
  };
}
