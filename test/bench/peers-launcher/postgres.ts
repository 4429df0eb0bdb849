import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../../../shared/local/embedded-postgres";
import type { EmbeddedPostgres } from "../../../shared/local/embedded-postgres";

/** The same for all, beside PostgreSQL's own defaults. Commits are durable: these three are said, not changed. */
const settings: Readonly<Record<string, string>> = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "512MB",
  max_wal_size: "4GB",
  // Counting statements costs all of them a little, so it is off where nothing is counted.
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track": "none",
};

/** What a database's clients have sent so far. */
export interface StatementCounts {
  readonly calls: number;
  /** How long all of them took. */
  readonly allMs: number;
  /** Of the statement that has taken longest in all: a claim, in a drain. */
  readonly claimCalls: number;
  readonly claimMs: number;
}

/** The server that all systems share, and its databases. */
export class BenchPostgres {
  readonly #server: EmbeddedPostgres;
  readonly #folder: string;
  readonly #admin: Client;
  #made = 0;

  private constructor(server: EmbeddedPostgres, folder: string, admin: Client) {
    this.#server = server;
    this.#folder = folder;
    this.#admin = admin;
  }

  static async start(): Promise<BenchPostgres> {
    const folder = mkdtempSync(join(tmpdir(), "taskgate-bench-peers-"));
    // Its supervisor ends the server soon after this process, however that ends.
    process.once("exit", () => {
      rmSync(folder, { recursive: true, force: true });
    });
    const options = { dataDir: join(folder, "data"), keep: true, isSuperuser: true };
    // Some settings are read at the start only.
    const first = await startEmbeddedPostgres(options);
    const client = new Client({ connectionString: first.url });
    await client.connect();
    for (const [name, value] of Object.entries(settings))
      await client.query(`alter system set ${name} = '${value}'`);
    await client.end();
    await first.stop();
    const server = await startEmbeddedPostgres(options);
    const admin = new Client({ connectionString: server.url });
    await admin.connect();
    await admin.query("create extension pg_stat_statements");
    return new BenchPostgres(server, folder, admin);
  }

  get pid(): number {
    return this.#server.pid;
  }

  async describe(): Promise<{ version: string; settings: string }> {
    const names = Object.keys(settings).filter((name) => !name.includes("pg_stat_statements"));
    const { rows } = await this.#admin.query<{ name: string; value: string }>(
      "select name, current_setting(name) as value from pg_settings where name = any($1)",
      [[...names, "server_version"]],
    );
    const values = new Map(rows.map(({ name, value }) => [name, value]));
    return {
      version: values.get("server_version") ?? "",
      settings: names
        .filter((name) => name !== "shared_preload_libraries")
        .map((name) => `${name} = ${values.get(name) ?? "?"}`)
        .join(", "),
    };
  }

  /** A new, empty database; the one before is gone. */
  async freshDatabase({ counts }: { counts: boolean }): Promise<string> {
    await this.drop();
    this.#made += 1;
    await this.#admin.query(`create database ${this.#name}`);
    if (counts)
      await this.#admin.query(`alter database ${this.#name} set pg_stat_statements.track = 'top'`);
    return this.#url;
  }

  async drop(): Promise<void> {
    await this.#admin.query(`drop database if exists ${this.#name} with (force)`);
  }

  /** What every system begins a measurement with: statistics of its tables, and nothing left to write. */
  async settle(): Promise<void> {
    const client = new Client({ connectionString: this.#url });
    await client.connect();
    await client.query("analyze");
    await client.query("checkpoint");
    await client.end();
  }

  async statements(): Promise<StatementCounts> {
    const { rows } = await this.#admin.query<{ calls: string; ms: number }>(
      `select s.calls, s.total_exec_time as ms
         from pg_stat_statements s join pg_database d on d.oid = s.dbid
        where d.datname = $1 order by s.total_exec_time desc`,
      [this.#name],
    );
    const [first] = rows;
    return {
      calls: rows.reduce((sum, row) => sum + Number(row.calls), 0),
      allMs: rows.reduce((sum, row) => sum + row.ms, 0),
      claimCalls: Number(first?.calls ?? 0),
      claimMs: first?.ms ?? 0,
    };
  }

  async forgetStatements(): Promise<void> {
    await this.#admin.query("select pg_stat_statements_reset()");
  }

  /** One round trip and one durable commit: the times of `count` inserts. */
  async commitTimesMs(count: number): Promise<number[]> {
    await this.#admin.query("create table if not exists commit_time (n int)");
    const times: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const startedMs = performance.now();
      await this.#admin.query({
        name: "commit",
        text: "insert into commit_time values ($1)",
        values: [n],
      });
      times.push(performance.now() - startedMs);
    }
    return times;
  }

  async stop(): Promise<void> {
    await this.#admin.end();
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #name(): string {
    return `peers_${this.#made}`;
  }

  get #url(): string {
    const url = new URL(this.#server.url);
    url.pathname = `/${this.#name}`;
    return url.toString();
  }
}
