import type * as Pg from "pg";
import type { StoreConflictError } from "../../core/errors";
import { InvalidArgumentError, SettingsError, TaskgateError } from "../../core/errors";
import { textAt } from "../../core/foreign-value";
import { loadPackage } from "../../core/load-package";
import { lockedOut, migrationLocks } from "../migration-locks";
import { versionsOf } from "../migrator";
import type { MigrationTarget, SchemaVersion, Script } from "../migrator";
import { mapPostgresError } from "./postgres-errors";
import { readPostgresTarget } from "./postgres-tls";
import { ownTypes } from "./postgres-types";

/** Class of the advisory lock that lets one migrator work at a time; other languages may take it, too. */
const migrationLock = 44;

/** A server that doesn't answer a connection for this time is told as away. */
const connectMs = 15_000;

/** The functions call some of the server's that are new in it, which an older one tells only when they run. */
const serverVersionMin = 15;

/** Where to migrate. */
export interface PostgresMigrationOptions {
  url: string;
  /** Default `taskgate`; a name that open-store.ts has checked. */
  schema?: string;
  /** How often a change tries to get the locks of its tables, before its error names the session that has them. */
  lockTries?: number;
}

/**
 * Runs `body` with the migration lock held on one connection of the owner's. Twenty at once queue up.
 * Functions are dropped and made again in one transaction: callers see the old ones or the new ones. Errors of the
 * database are the product's; what else `body` throws passes as it is.
 */
export async function withPostgresMigrations<Result>(
  options: PostgresMigrationOptions,
  body: (target: MigrationTarget) => Promise<Result>,
): Promise<Result> {
  const schema = options.schema ?? "taskgate";
  const { lockTries = migrationLocks.triesMax } = options;
  const run = async (connection: PostgresConnection): Promise<Result> => {
    await refuseServer(connection);
    // A role's or a database's bounds are made for calls; a migration takes as long as it takes.
    await connection.query(
      "select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)",
    );
    await connection.query("select pg_advisory_lock($1, hashtext($2))", [migrationLock, schema]);
    return body({
      readVersions: () => readPostgresVersions(connection, schema),
      apply: (script, isLogic) => apply(connection, { schema, script, isLogic, lockTries }),
      isIntact: () => isPostgresIntact(connection, schema),
    });
  };
  return withPostgresConnection(options.url, run, { connectionTimeoutMillis: connectMs });
}

/** What decides whether Taskgate can live in a database, as the server tells it. */
export interface PostgresServer {
  /** Such as `14.9 (Debian 14.9-1)`. */
  readonly version: string;
  readonly encoding: string;
}

/** Why Taskgate can't live there; none: it can. */
export function problemsOfServer({ version, encoding }: PostgresServer): string[] {
  const problems: string[] = [];
  if (Number.parseInt(version, 10) < serverVersionMin)
    problems.push(
      `server: expected PostgreSQL ${String(serverVersionMin)} or later, got ${version}`,
    );
  // Keys, payloads and errors are any text; functions look for characters that no other encoding has.
  if (encoding !== "UTF8")
    problems.push(
      `database: expected the encoding UTF8, got ${encoding}, which can't be changed. Make one for Taskgate: create database NAME encoding 'UTF8' template template0`,
    );
  return problems;
}

/** Tables and functions could be made all the same; calls would fail later. */
async function refuseServer(connection: PostgresConnection): Promise<void> {
  const [server] = await connection.query<PostgresServer>(
    "select current_setting('server_version') as version, current_setting('server_encoding') as encoding",
  );
  const problems = server === undefined ? [] : problemsOfServer(server);
  if (problems.length > 0) throw new SettingsError(problems);
}

/** One connection whose errors are the product's. */
export interface PostgresConnection {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Lends one connection of its own to `body`; it ends, with its locks, when `body` does. */
export async function withPostgresConnection<Result>(
  url: string,
  body: (connection: PostgresConnection) => Promise<Result>,
  timeouts: { connectionTimeoutMillis?: number; query_timeout?: number } = {},
): Promise<Result> {
  const driver = loadPackage<typeof Pg>("pg");
  const client = new driver.Client({
    ...readPostgresTarget(url),
    types: ownTypes,
    application_name: "taskgate-schema",
    ...timeouts,
  });
  client.on("error", () => undefined);
  // A lost connection undoes its transaction, except for a commit whose answer was lost: running all of it again is harmless.
  const told = async <Answer>(call: Promise<Answer>): Promise<Answer> => {
    try {
      return await call;
    } catch (error) {
      throw mapPostgresError(error, "not sent");
    }
  };
  try {
    await told(client.connect());
    return await body({
      query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (await told(client.query<Row>(text, [...values]))).rows,
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Reads schema_version; [] when there is none. Throws InvalidArgumentError for a schema that holds something else, SchemaError for one without data. */
export async function readPostgresVersions(
  connection: PostgresConnection,
  schema: string,
): Promise<SchemaVersion[]> {
  const [exists] = await connection.query<{ present: boolean }>(
    "select to_regclass($1) is not null as present",
    [`"${schema}".schema_version`],
  );
  await refuseForeignSchema(connection, schema);
  if (exists?.present !== true) return [];
  const rows = await connection.query<SchemaVersion>(
    `select version, name, checksum, client_version_min as "clientVersionMin" from "${schema}".schema_version order by version`,
  );
  return versionsOf(rows, schema);
}

/**
 * Do workers and operators have their rights, and nobody else? Roles are the server's: a dump has none, and gives rights to those
 * that are there when it is restored. A schema that was renamed has functions that look into the old one. Quotes around its name
 * say nothing: a server may add them to all names (quote_all_identifiers).
 */
export async function isPostgresIntact(
  connection: PostgresConnection,
  schema: string,
): Promise<boolean> {
  const [row] = await connection.query<{ intact: boolean }>(
    `select not exists (
         select from (values ('taskgate_worker', 'work'), ('taskgate_operator', 'set_limit')) as need (role, call)
          where not exists (
            select from pg_roles r, pg_proc p
             where r.rolname = need.role and p.proname = need.call and p.pronamespace = to_regnamespace($1)
               and has_schema_privilege(r.oid, p.pronamespace, 'usage') and has_function_privilege(r.oid, p.oid, 'execute')))
       and not exists (
         select from pg_proc p
          where p.pronamespace = to_regnamespace($1)
            and (has_function_privilege('public', p.oid, 'execute')
                 or exists (select from unnest(p.proconfig) as c (setting)
                             where c.setting like 'search_path=%' and replace(c.setting, '"', '') <> 'search_path=' || $2 || ', pg_temp')))
       as intact`,
    [`"${schema}"`, schema],
  );
  return row?.intact === true;
}

/** A schema with other things in it isn't ours: renewing the logic would drop functions that the scripts don't know. */
async function refuseForeignSchema(connection: PostgresConnection, schema: string): Promise<void> {
  const [found] = await connection.query<{ name: string }>(
    `select o.name from (
       select p.proname as name, p.pronamespace as namespace from pg_proc p union all
       select c.relname, c.relnamespace from pg_class c) o
      where o.namespace = to_regnamespace($1)
        and not exists (select from pg_attribute a where a.attrelid = to_regclass($2) and a.attname = 'client_version_min')
      order by o.name limit 1`,
    [`"${schema}"`, `"${schema}".schema_version`],
  );
  if (found === undefined) return;
  throw new InvalidArgumentError(
    `Expected \`schema\` to name one that is Taskgate's, or empty, or missing, got \`${schema}\`, which has no schema_version of Taskgate's but \`${found.name}\`. Choose another name for it (TASKGATE_SCHEMA)`,
  );
}

/**
 * `create or replace` refuses to change the columns of an answer or a view. Of a function that takes other parameters it makes
 * a second one beside the old: then the name alone, as rights are granted to it, is ambiguous.
 */
const cannotReplace = new Set(["42P13", "42P16", "42725"]);

/**
 * Logic is replaced in place where it can be: a function that is being called stays in existence. Only when an answer changed
 * its columns, or a function its parameters, is all of it dropped and made again; callers may then fail once and repeat.
 */
async function apply(connection: PostgresConnection, task: ApplyTask): Promise<void> {
  let dropsFirst = false;
  for (let tries = 1; ; tries += 1) {
    try {
      await applyOnce(connection, { ...task, dropsFirst });
      return;
    } catch (error) {
      const code = sqlStateOf(error);
      const isLocked = code === "55P03";
      if (isLocked && tries >= task.lockTries) throw await nameHolder(connection, task, error);
      if (isLocked) await connection.query("select pg_sleep($1)", [migrationLocks.pauseMs / 1_000]);
      else if (task.isLogic && !dropsFirst && cannotReplace.has(code)) dropsFirst = true;
      else throw error;
    }
  }
}

/** A script to apply. */
interface ApplyTask {
  readonly schema: string;
  readonly script: Script;
  readonly isLogic: boolean;
  readonly lockTries: number;
}

/** The error for people: which session keeps the tables. */
async function nameHolder(
  connection: PostgresConnection,
  { schema, script }: ApplyTask,
  cause: unknown,
): Promise<StoreConflictError> {
  const [holder] = await connection.query<{ pid: number; session: string; since: string }>(
    `select a.pid, concat_ws(', ', nullif(a.usename, ''), nullif(a.application_name, ''), a.state) as session,
            to_char(a.xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
       from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
      where l.granted and c.relnamespace = to_regnamespace($1) and a.pid <> pg_backend_pid() and a.xact_start is not null
      order by a.xact_start limit 1`,
    [`"${schema}"`],
  );
  if (holder === undefined) return lockedOut({ script: script.name, holder: null, cause });
  const says = `Session ${String(holder.pid)} (${holder.session}) is in a transaction since ${holder.since} and keeps its tables locked`;
  return lockedOut({ script: script.name, holder: { says, end: "End that transaction" }, cause });
}

async function applyOnce(
  connection: PostgresConnection,
  plan: ApplyTask & { readonly dropsFirst: boolean },
): Promise<void> {
  const { schema, script } = plan;
  const text = await inSchema(connection, script.text, schema);
  try {
    await connection.query("begin");
    // Bodies may name functions that come later in the script.
    await connection.query("set local check_function_bodies = off");
    await connection.query("set local client_min_messages = warning");
    await connection.query(`set local lock_timeout = ${String(migrationLocks.waitMs)}`);
    if (plan.dropsFirst) await dropLogic(connection, schema);
    await connection.query(text);
    if (plan.isLogic) await dropLeftOver(connection, schema, script.text);
    await connection.query(
      `insert into "${schema}".schema_version (version, name, checksum, client_version_min, applied_at)
       values ($1, $2, $3, $4, clock_timestamp())
       on conflict (version) do update set name = excluded.name, checksum = excluded.checksum, applied_at = excluded.applied_at`,
      [script.version, script.name, script.checksum, script.clientVersionMin],
    );
    await connection.query("commit");
  } catch (error) {
    await connection.query("rollback").catch(() => undefined);
    throw error;
  }
}

/** Functions that the script no longer has, and those whose parameters changed: the new one stands beside them. */
async function dropLeftOver(
  connection: PostgresConnection,
  schema: string,
  text: string,
): Promise<void> {
  const names = [...text.matchAll(/create or replace function taskgate\.(\w+)/g)].map(
    (match) => match[1],
  );
  const functions = await connection.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p
      where p.pronamespace = $1::regnamespace
        and (p.proname <> all ($2::text[])
             or exists (select 1 from pg_proc n where n.pronamespace = p.pronamespace and n.proname = p.proname and n.oid > p.oid))`,
    [schema, names],
  );
  for (const { signature } of functions) await connection.query(`drop function ${signature}`);
}

async function dropLogic(connection: PostgresConnection, schema: string): Promise<void> {
  await connection.query(`drop view if exists "${schema}".v_execution_log, "${schema}".archived`);
  const functions = await connection.query<{ signature: string }>(
    "select oid::regprocedure::text as signature from pg_proc where pronamespace = $1::regnamespace",
    [schema],
  );
  for (const { signature } of functions) await connection.query(`drop function ${signature}`);
}

/**
 * The files literally say `taskgate`; another schema takes the place of that word, not of roles such as taskgate_worker.
 * The server knows which names need quotes: words of its SQL.
 */
async function inSchema(
  connection: PostgresConnection,
  text: string,
  schema: string,
): Promise<string> {
  if (schema === "taskgate") return text;
  const [row] = await connection.query<{ quoted: string }>("select quote_ident($1) as quoted", [
    schema,
  ]);
  return text.replace(/\btaskgate\b/g, () => row?.quoted ?? `"${schema}"`);
}

/** The server's code of an error that it was mapped from; empty: none. */
function sqlStateOf(error: unknown): string {
  return textAt(error instanceof TaskgateError ? error.cause : error, "code") ?? "";
}
