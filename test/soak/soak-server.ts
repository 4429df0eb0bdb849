import { sleep } from "../../shared/platform/real-clock";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import type { EmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { migrateStore } from "../../shared/store/open-store";
import { databaseUrl, makeLogins, withClient } from "../support/test-postgres";

const database = "soak";
/** The server of a leg that was killed ends within seconds; until then its folder is in use. */
const startTries = 60;

/** PostgreSQL of the run's own, with durable commits, whose data stay in the run's folder. */
export class SoakServer {
  readonly #server: EmbeddedPostgres;

  private constructor(server: EmbeddedPostgres) {
    this.#server = server;
  }

  /** Starts it on the data that are there; else makes them, with the schema, the logins and the count of each statement's work. */
  static async start(dataDir: string): Promise<SoakServer> {
    let server = await open(dataDir);
    const isNew = await withClient(server.url, async (client) => {
      const found = await client.query("select 1 from pg_database where datname = $1", [database]);
      if (found.rowCount === 1) return false;
      await client.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
      await client.query(`create database ${database}`);
      return true;
    });
    if (isNew) {
      await server.stop();
      server = await open(dataDir);
    }
    const url = databaseUrl(server.url, database);
    await migrateStore({ url });
    await withClient(url, async (client) => {
      await client.query("create extension if not exists pg_stat_statements");
      await makeLogins(client);
    });
    return new SoakServer(server);
  }

  /** The owner's address. */
  get url(): string {
    return databaseUrl(this.#server.url, database);
  }

  get pid(): number {
    return this.#server.pid;
  }

  /** Settles when it ends, for any reason. */
  get exited(): Promise<string> {
    return this.#server.exited;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

async function open(dataDir: string): Promise<EmbeddedPostgres> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startEmbeddedPostgres({ dataDir, keep: true, isSuperuser: true });
    } catch (error) {
      if (tries === startTries) throw error;
      await sleep(500);
    }
  }
}
