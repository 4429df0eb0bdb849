import { Client } from "pg";
import type { MigrationTarget, SchemaVersion, Script } from "../migrator";
import { mapPostgresError } from "./postgres-errors";

/** Class of the advisory lock that lets one migrator work at a time; other languages may take it, too. */
const migrationLock = 44;

/** A schema name that needs no quotes. */
const schemaName = /^[a-z][a-z0-9_]{0,62}$/;

/** Where to migrate. */
export interface PostgresMigrationOptions {
  url: string;
  /** Default `taskgate`; lower case letters, digits and underscores. */
  schema?: string;
}

/**
 * Runs `body` with the migration lock held on one connection of the owner's. Twenty at once queue up.
 * Functions are dropped and made again in one transaction: callers see the old ones or the new ones.
 */
export async function withPostgresMigrations<Result>(
  options: PostgresMigrationOptions,
  body: (target: MigrationTarget) => Promise<Result>,
): Promise<Result> {
  const schema = options.schema ?? "taskgate";
  if (!schemaName.test(schema)) {
    throw new RangeError(
      `Expected \`schema\` to be lower case letters, digits and _, got \`${schema}\``,
    );
  }
  const client = new Client({
    connectionString: options.url,
    application_name: "taskgate-migrate",
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select pg_advisory_lock($1, hashtext($2))", [migrationLock, schema]);
    return await body(target(client, schema));
  } catch (error) {
    throw mapPostgresError(error, "not sent");
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Reads schema_version; [] when there is none. */
export async function readPostgresVersions(
  client: Pick<Client, "query">,
  schema: string,
): Promise<SchemaVersion[]> {
  const exists = await client.query<{ present: boolean }>(
    "select to_regclass($1) is not null as present",
    [`${schema}.schema_version`],
  );
  if (exists.rows[0]?.present !== true) return [];
  const result = await client.query<{
    version: number;
    name: string;
    checksum: string;
    client_version_min: string;
  }>(
    `select version, name, checksum, client_version_min from ${schema}.schema_version order by version`,
  );
  return result.rows.map((row) => ({
    version: row.version,
    name: row.name,
    checksum: row.checksum,
    clientVersionMin: row.client_version_min,
  }));
}

function target(client: Client, schema: string): MigrationTarget {
  return {
    readVersions: () => readPostgresVersions(client, schema),
    apply: (script, isLogic) => apply(client, schema, { ...script, isLogic }),
  };
}

/** `create or replace` refuses to change the columns of an answer or a view. */
const cannotReplace = new Set(["42P13", "42P16"]);

/**
 * Logic is replaced in place where it can be: who is calling keeps a function that exists. Only when an answer changed
 * its columns is all of it dropped and made again; callers may then fail once and repeat.
 */
async function apply(
  client: Client,
  schema: string,
  script: Script & { isLogic: boolean },
): Promise<void> {
  try {
    await applyOnce(client, { schema, script, dropsFirst: false });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!script.isLogic || !cannotReplace.has(code)) throw error;
    await applyOnce(client, { schema, script, dropsFirst: true });
  }
}

async function applyOnce(
  client: Client,
  plan: { schema: string; script: Script & { isLogic: boolean }; dropsFirst: boolean },
): Promise<void> {
  const { schema, script } = plan;
  try {
    await client.query("begin");
    // Bodies may name functions that come later in the script.
    await client.query("set local check_function_bodies = off");
    await client.query("set local client_min_messages = warning");
    if (plan.dropsFirst) await dropLogic(client, schema);
    await client.query(inSchema(script.text, schema));
    if (script.isLogic) await dropLeftOver(client, schema, script.text);
    await client.query(
      `insert into ${schema}.schema_version (version, name, checksum, client_version_min, applied_at)
       values ($1, $2, $3, $4, clock_timestamp())
       on conflict (version) do update set checksum = excluded.checksum, applied_at = excluded.applied_at`,
      [script.version, script.name, script.checksum, script.clientVersionMin],
    );
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/** Functions that the script no longer has, and those whose parameters changed: the new one stands beside them. */
async function dropLeftOver(client: Client, schema: string, text: string): Promise<void> {
  const names = [...text.matchAll(/create or replace function taskgate\.(\w+)/g)].map(
    (match) => match[1],
  );
  const functions = await client.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p
      where p.pronamespace = $1::regnamespace
        and (p.proname <> all ($2::text[])
             or exists (select 1 from pg_proc n where n.pronamespace = p.pronamespace and n.proname = p.proname and n.oid > p.oid))`,
    [schema, names],
  );
  for (const row of functions.rows) await client.query(`drop function ${row.signature}`);
}

async function dropLogic(client: Client, schema: string): Promise<void> {
  await client.query(`drop view if exists ${schema}.v_execution_log`);
  const functions = await client.query<{ signature: string }>(
    "select oid::regprocedure::text as signature from pg_proc where pronamespace = $1::regnamespace",
    [schema],
  );
  for (const row of functions.rows) await client.query(`drop function ${row.signature}`);
}

/** The files literally say `taskgate`; another schema takes the place of that word, not of roles such as taskgate_worker. */
function inSchema(text: string, schema: string): string {
  return schema === "taskgate" ? text : text.replace(/\btaskgate\b/g, schema);
}
