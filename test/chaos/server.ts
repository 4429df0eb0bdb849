import { rm } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../../shared/platform/real-clock";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import type { EmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { migrateStore } from "../../shared/store/open-store";
import { databaseUrl, makeLogins, withClient } from "../support/test-postgres";
import { effectTable } from "./plan";

const database = "chaos";
/** A killed server's children take a while to notice; until then its memory is in use. */
const startTries = 40;

/** PostgreSQL of the run's own, with durable commits: what it has acknowledged must outlive a kill. */
export class ChaosServer {
  readonly #dataDir: string;
  #server: EmbeddedPostgres;
  #isUp = true;

  private constructor(dataDir: string, server: EmbeddedPostgres) {
    this.#dataDir = dataDir;
    this.#server = server;
    this.#watch();
  }

  /** A new server with its data below `folder`, and the migrated database with the logins of the tests. */
  static async start(folder: string): Promise<ChaosServer> {
    const dataDir = join(folder, "data");
    const started = new ChaosServer(dataDir, await open(dataDir));
    await withClient(started.#server.url, async (client) => {
      // The data may lie in half a gigabyte.
      await client.query("alter system set max_wal_size = '96MB'");
      await client.query("alter system set min_wal_size = '32MB'");
      await client.query("select pg_reload_conf()");
      await client.query(`create database ${database}`);
    });
    await migrateStore({ url: started.url });
    await withClient(started.url, makeLogins);
    await withClient(started.url, (client) => client.query(effectTable));
    return started;
  }

  /** The owner's address, past the network of the run. */
  get url(): string {
    return databaseUrl(this.#server.url, database);
  }

  get port(): number {
    return this.#server.port;
  }

  /** False: its process has ended, killed or by itself, as it does on a full disk. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Kills it as a machine's end would; nothing where it has ended by itself. */
  async kill(): Promise<void> {
    if (!this.#isUp) return;
    this.#isUp = false;
    const { exited, pid } = this.#server;
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
    await exited;
  }

  /** Starts it again on the same data; it recovers first. */
  async restart(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        this.#server = await open(this.#dataDir);
        this.#watch();
        return;
      } catch (error) {
        if (tries === startTries) throw error;
        await sleep(250);
      }
    }
  }

  #watch(): void {
    const watched = this.#server;
    this.#isUp = true;
    void watched.exited.then(() => {
      if (this.#server === watched) this.#isUp = false;
    });
  }

  /** Ends it and removes its data. */
  async close(): Promise<void> {
    await this.#server.stop();
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}

function open(dataDir: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, keep: true, isSuperuser: true });
}
