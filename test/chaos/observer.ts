import { Client } from "pg";
import { sleep } from "../../shared/platform/real-clock";
import type { ChaosServer } from "./server";
import type { Verdict } from "./verdict";

interface Finding {
  readonly rule: string;
  readonly key: string;
  readonly detail: string;
}

/** Looks at the database past the network, as its owner; while it is down, it waits. */
export class Observer {
  readonly #server: ChaosServer;
  readonly #verdict: Verdict;
  #client: Client | null = null;
  #findings = new Set<string>();
  #deadlocks = 0;
  /** Tasks that haven't ended, as last seen. */
  unfinished = 0;

  constructor(server: ChaosServer, verdict: Verdict) {
    this.#server = server;
    this.#verdict = verdict;
  }

  /** Counts what isn't at its end and looks for deadlocks. False: the database is down. */
  async look(): Promise<boolean> {
    return this.#ask(async (client) => {
      const { rows } = await client.query<{ tasks: number; deadlocks: number }>(
        `select (select count(*) from taskgate.task)::int as tasks,
                (select deadlocks from pg_stat_database where datname = current_database())::int as deadlocks`,
      );
      const [row] = rows;
      if (row === undefined) return;
      this.unfinished = row.tasks;
      this.#verdict.check("no waiting");
      // The count begins anew when the server has crashed.
      if (row.deadlocks > this.#deadlocks)
        this.#verdict.broken("no waiting", `${String(row.deadlocks - this.#deadlocks)} deadlocks`);
      this.#deadlocks = row.deadlocks;
    });
  }

  /** The store's own check. A finding on a busy database is believed when it is there again. */
  async checkInvariants(isQuiet: boolean): Promise<boolean> {
    return this.#ask(async (client) => {
      const { rows } = await client.query<{ findings: string }>(
        "select findings from taskgate.check_invariants()",
      );
      const found = JSON.parse(rows[0]?.findings ?? "[]") as Finding[];
      const texts = found.map(({ rule, key, detail }) => `${rule}: ${key}, ${detail}`);
      this.#verdict.check("nothing lost");
      for (const text of texts)
        if (isQuiet || this.#findings.has(text)) this.#verdict.broken("nothing lost", text);
      this.#findings = new Set(texts);
    });
  }

  /** A connection that answers; waits until there is one. */
  async client(): Promise<Client> {
    for (;;) {
      const client = await this.#open().catch(() => null);
      if (client !== null) return client;
      await sleep(200);
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => undefined);
  }

  async #ask(question: (client: Client) => Promise<void>): Promise<boolean> {
    if (!this.#server.isUp) return false;
    try {
      await question(await this.#open());
      return true;
    } catch {
      await this.close();
      return false;
    }
  }

  async #open(): Promise<Client> {
    if (this.#client !== null) return this.#client;
    const client = new Client({ connectionString: this.#server.url, query_timeout: 20_000 });
    client.on("error", () => {
      if (this.#client === client) this.#client = null;
    });
    await client.connect();
    this.#client = client;
    return client;
  }
}
