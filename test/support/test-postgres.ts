import { randomUUID } from "node:crypto";
import { existsSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { migrateStore } from "../../shared/store/open-store";
import { appLogin, loginNames, loginPassword, roleNames, roles } from "./roles";

/** Name of the migrated database that test files clone. */
export const templateDatabase = "taskgate_template";

/** Ten times what the data of a whole run takes at its largest, in bytes. */
const roomNeeded = 2e9;

/** A server for tests. */
export interface TestPostgres {
  url: string;
  stop(): Promise<void>;
}

/** Starts the embedded server, or takes the one of TASKGATE_TEST_POSTGRES_URL, and makes the template. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const given = process.env["TASKGATE_TEST_POSTGRES_URL"];
  const server: TestPostgres =
    given === undefined
      ? await startEmbeddedPostgres({
          ...(inMemory() ?? {}),
          ...{ keep: false, fast: true, isSuperuser: true },
        })
      : { url: given, stop: () => Promise.resolve() };
  await withClient(server.url, async (client) => {
    // Statistics taken between two tests, of tables that were empty just then, make plans that no real database has.
    if (given === undefined) {
      await client.query("alter system set autovacuum = off");
      await client.query("select pg_reload_conf()");
    }
    await client.query(`drop database if exists ${templateDatabase} with (force)`);
    await client.query(`create database ${templateDatabase}`);
  });
  await migrateStore({ url: databaseUrl(server.url, templateDatabase) });
  await withClient(server.url, makeLogins);
  return server;
}

/**
 * A data folder in memory, where the system has room for one: file systems on disks take long to give new files places that
 * others have just left, and each database of a test has hundreds of files.
 */
function inMemory(): { readonly dataDir: string } | null {
  const memory = "/dev/shm";
  if (!existsSync(memory)) return null;
  const { bavail, bsize } = statfsSync(memory);
  if (Math.min(bavail * bsize, freemem()) < roomNeeded) return null;
  return { dataDir: join(memory, `taskgate-tests-${randomUUID()}`) };
}

/** Roles belong to the whole server, and so do the logins: members of one shipped role each, the app's of both. */
export async function makeLogins(client: Client): Promise<void> {
  const members = roles.map((role) => [loginNames[role], roleNames.postgres[role]] as const);
  const app = roles.map((role) => [appLogin, roleNames.postgres[role]] as const);
  for (const [login, role] of [...members, ...app]) {
    const { rowCount } = await client.query("select 1 from pg_roles where rolname = $1", [login]);
    if (rowCount === 0) await client.query(`create role ${login}`);
    await client.query(`alter role ${login} login password '${loginPassword}'`);
    await client.query(`grant ${role} to ${login}`);
  }
}

/** The same server, another database. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.toString();
}

/** Clones the template. Keeps nothing: `drop` it in afterAll, or leave it to the server's end when a test failed. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env["TASKGATE_TEST_POSTGRES"];
  if (server === undefined)
    throw new Error("TASKGATE_TEST_POSTGRES is not set: run through test/jest.config.cjs");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  // A template can be cloned by one at a time: try again while another file does.
  for (let attempt = 1; ; attempt += 1) {
    try {
      await withClient(server, (client) =>
        client.query(`create database ${name} template ${templateDatabase}`),
      );
      break;
    } catch (error) {
      if (attempt === 50 || !(error instanceof Error && "code" in error && error.code === "55006"))
        throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  return {
    url: databaseUrl(server, name),
    drop: () =>
      withClient(server, async (client) => {
        await client.query(`drop database ${name} with (force)`);
      }),
  };
}

/** A raw connection for `body`, closed afterwards. */
export async function withClient<Result>(
  url: string,
  body: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
}
