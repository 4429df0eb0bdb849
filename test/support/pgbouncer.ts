import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../../shared/local/free-port";
import { serverUser } from "../../shared/local/postgres-data-folder";
import { startService } from "../../shared/local/supervised-service";
import type { SupervisedService } from "../../shared/local/supervised-service";
import { appLogin, loginNames, loginPassword } from "./roles";

/* PgBouncer in transaction mode: each transaction gets any free connection of the server. */

/** Where PgBouncer is installed by Debian's package; TASKGATE_TEST_PGBOUNCER names another place. */
const pgbouncer = process.env["TASKGATE_TEST_PGBOUNCER"] ?? "/usr/sbin/pgbouncer";

/** Is there one to test with? Tests that need it say so in their names where there is none. */
export const hasPgbouncer = existsSync(pgbouncer);

/** Behind the title of a test that needs it. */
export const pgbouncerNote = hasPgbouncer ? "" : ` (skipped: there is no ${pgbouncer})`;

const readyMs = 20_000;

/** Does this one keep prepared statements for its clients? Since 1.21; Debian 12 has 1.18. */
export const keepsPrepared = hasPgbouncer && isSince121();

function isSince121(): boolean {
  const said = execFileSync(pgbouncer, ["--version"], { encoding: "utf8" });
  const [, major = "0", minor = "0"] = /^PgBouncer (\d+)\.(\d+)/m.exec(said) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

/** How much of the server a pooler uses, and whether names of statements live through it. */
export interface PgbouncerOptions {
  /** Connections to the server, for each pair of database and login. */
  readonly poolSize: number;
  /** How long a client waits for one of them. Default: PgBouncer's own, 120 s. */
  readonly queryWaitS?: number;
  /** Only where `keepsPrepared`. */
  readonly isPreparing?: boolean;
}

/** The address with its word for a pooler that forgets names. */
export function withoutNames(url: string): string {
  const changed = new URL(url);
  changed.searchParams.set("prepared_statements", "off");
  return changed.toString();
}

/** A running pooler in front of the test server. */
export class Pgbouncer {
  readonly #port: number;
  readonly #service: SupervisedService;

  private constructor(port: number, service: SupervisedService) {
    this.#port = port;
    this.#service = service;
  }

  /** `url` names the server; its databases are all there, for the tests' logins. */
  static async start(url: string, options: PgbouncerOptions): Promise<Pgbouncer> {
    const { hostname, port: serverPort } = new URL(url);
    const folder = await mkdtemp(join(tmpdir(), "taskgate-pgbouncer-"));
    // It refuses to run as root, like the server.
    const user = await serverUser();
    const port = await findFreePort();
    const users = [...Object.values(loginNames), appLogin];
    const files = {
      "users.txt": users.map((name) => `"${name}" "${loginPassword}"\n`).join(""),
      "pgbouncer.ini": `[databases]
* = host=${hostname} port=${serverPort === "" ? "5432" : serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
unix_socket_dir =
pool_mode = transaction
auth_type = scram-sha-256
auth_file = ${join(folder, "users.txt")}
default_pool_size = ${String(options.poolSize)}
max_client_conn = 1000
query_wait_timeout = ${String(options.queryWaitS ?? 120)}
server_round_robin = 1
${keepsPrepared ? `max_prepared_statements = ${options.isPreparing === true ? "200" : "0"}` : ""}
`,
    };
    for (const [name, text] of Object.entries(files))
      await writeFile(join(folder, name), text, { mode: 0o600 });
    if (user !== undefined)
      for (const path of [folder, ...Object.keys(files).map((name) => join(folder, name))])
        await chown(path, user.uid, user.gid);
    let service: SupervisedService | undefined;
    try {
      service = await startService({
        command: pgbouncer,
        args: [join(folder, "pgbouncer.ini")],
        ...(user === undefined ? {} : { user }),
        stopSteps: ["SIGTERM", "SIGKILL"],
        // Newer ones wait for their clients' end.
        stopStepMs: 1_000,
        removeAfter: [folder],
      });
      await service.waitForOutput(/process up/u, readyMs);
    } catch (error) {
      await service?.stop();
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return new Pgbouncer(port, service);
  }

  /** The same database through this pooler. */
  through(url: string): string {
    const changed = new URL(url);
    [changed.hostname, changed.port] = ["127.0.0.1", String(this.#port)];
    return changed.toString();
  }

  async stop(): Promise<void> {
    await this.#service.stop();
  }
}
