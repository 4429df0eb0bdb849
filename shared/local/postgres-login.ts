/**
 * Who may sign in to the embedded PostgreSQL: a superuser and the app's login, each with a random password of this data
 * folder. The passwords stand in a file in the data folder, which only its owner may enter: a user who can read it could read the
 * data as well. A folder without that file wasn't made by this version, or not by Taskgate at all.
 */
import { randomBytes } from "node:crypto";
import { chown, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realRandom, sleep } from "../platform/real-clock";
import { openStore } from "../store/open-store";
import { textAt } from "../core/foreign-value";
import { LOCAL_HOST } from "./free-port";
import type { ServiceUser } from "./supervised-service";
import { jsonMembers } from "../core/json-members";

/** The passwords of one data folder. */
export interface PostgresLogins {
  readonly superuserPassword: string;
  readonly appPassword: string;
}

/** Makes the cluster; its password never leaves this process but for tests and benchmarks. */
export const superuserName = "postgres";
/** Owns the database and makes the shipped roles, and may do nothing outside the database. */
export const appName = "dev";

const fileName = "taskgate-logins.json";
/** Letters, digits, - and _: they need no quotes in an address or in a statement. */
const password = /^[\w-]{43}$/;

/** New passwords: 32 random bytes each. */
export function makeLogins(): PostgresLogins {
  const make = (): string => randomBytes(32).toString("base64url");
  return { superuserPassword: make(), appPassword: make() };
}

/** Writes them into a cluster that is being made. `user` runs the server; undefined: this process's own. */
export async function writeLogins(
  dataDir: string,
  logins: PostgresLogins,
  user: ServiceUser | undefined,
): Promise<void> {
  await writeForServer(join(dataDir, fileName), JSON.stringify(logins), user);
}

/** Writes a secret that only the server's user may read. The file must not exist yet. */
export async function writeForServer(
  path: string,
  text: string,
  user: ServiceUser | undefined,
): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: "wx" });
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

/** Reads them. Throws an Error with a sentence for a folder that has none. */
export async function readLogins(dataDir: string): Promise<PostgresLogins> {
  const text = await readFile(join(dataDir, fileName), "utf8").catch((error: unknown) => {
    if (textAt(error, "code") === "ENOENT") return "";
    throw error;
  });
  const logins = parse(text);
  if (logins !== null) return logins;
  throw new Error(
    `The data folder ${dataDir} has no passwords (${fileName}): it was made by an older Taskgate, ` +
      "whose database let in every user of this machine, or by another program. Its data can't be " +
      "taken over: remove the folder, or choose another one.",
  );
}

function parse(text: string): PostgresLogins | null {
  const { superuserPassword, appPassword } = jsonMembers(text);
  const isPassword = (part: unknown): part is string =>
    typeof part === "string" && password.test(part);
  return isPassword(superuserPassword) && isPassword(appPassword)
    ? { superuserPassword, appPassword }
    : null;
}

/** `postgres://<name>:<password>@127.0.0.1:<port>/postgres` */
export function addressOf(logins: PostgresLogins, port: number, isSuperuser: boolean): string {
  const { superuserPassword, appPassword } = logins;
  const user = isSuperuser ? `${superuserName}:${superuserPassword}` : `${appName}:${appPassword}`;
  return `postgres://${user}@${LOCAL_HOST}:${String(port)}/postgres`;
}

/**
 * Makes the app's login where it is missing, after a start that was killed as well. It is no superuser: it owns the
 * database, so that it may make the schema, and makes roles, so that it may make the shipped ones.
 */
export async function ensureAppLogin(logins: PostgresLogins, port: number): Promise<void> {
  const url = addressOf(logins, port, true);
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  try {
    await store.transaction(async (transaction) => {
      // A statement that fails would stand in the server's log, with the password.
      await transaction.query("set local log_min_error_statement = panic");
      await transaction.query(`do $$
begin
  if not exists (select 1 from pg_roles where rolname = '${appName}') then
    create role ${appName} login createrole nosuperuser password '${logins.appPassword}';
    alter database postgres owner to ${appName};
  end if;
end $$`);
    });
  } finally {
    await store.close();
  }
}
