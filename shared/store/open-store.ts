import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { InvalidArgumentError } from "../core/errors";
import { requireOwnFiles } from "../core/own-files";
import { readVersion } from "../core/own-manifest";
import { isSchemaName, schemaNameRule } from "../core/schema-name";
import type { TaskListener, TaskListenerEvents } from "../ports/task-listener";
import type { TaskStore } from "../ports/task-store";
import type { Timers } from "../ports/timers";
import { behindBreaker } from "./breaker";
import type { Breaker } from "./breaker";
import type { ConnectionLimits } from "./connection-limits";
import { checkSchema, migrate, readMigrations, readScripts } from "./migrator";
import type { MigrationResult, SchemaScripts, SchemaVersion } from "./migrator";
import type * as MssqlCallerFile from "./mssql/mssql-caller";
import type { HoldersReport } from "./holders";
import type * as MssqlHoldersFile from "./mssql/mssql-holders";
import type * as MssqlMigrationsFile from "./mssql/mssql-migrations";
import type * as MssqlPatienceFile from "./mssql/mssql-patience";
import type { Grant, GrantedRoles } from "./mssql/mssql-grant";
import type { DatabaseIdentity, MssqlAddress } from "./mssql/mssql-options";
import type { Patience } from "./patience";
import type * as PostgresCallerFile from "./postgres/postgres-caller";
import type * as PostgresHoldersFile from "./postgres/postgres-holders";
import type * as PostgresListenerFile from "./postgres/postgres-listener";
import type * as PostgresMigrationsFile from "./postgres/postgres-migrations";
import type { ProcedureCaller } from "./procedure-caller";
import { createRepeat } from "./repeat";
import type { RepeatOptions } from "./repeat";
import { SqlTaskStore } from "./sql-task-store";

/**
 * Chooses the adapter by the address; the only file that knows both. An adapter is loaded with its driver when a
 * database of its kind is opened: importing this file loads neither.
 */

export type { DatabaseIdentity } from "./mssql/mssql-options";
export { Breaker } from "./breaker";
export type { Grant, GrantedRoles } from "./mssql/mssql-grant";
export type { Patience, Wait } from "./patience";

/** Which database: exactly one of `url` and `identity`. */
export interface DatabaseAddress {
  /** `postgres://..` or `mssql://user:password@host:port/database?encrypt=..` */
  url?: string;
  /** Azure SQL, signed in to with the Entra identity of this process. */
  identity?: DatabaseIdentity;
  /** Schema of the core on PostgreSQL; default `taskgate`. It is always `Taskgate` on SQL Server. */
  schema?: string;
}

/** How to reach the database. */
export interface StoreOptions
  extends DatabaseAddress, RepeatOptions, Pick<ConnectionLimits, "connectionsMax" | "onIdleError"> {
  /** A call without an answer after this long is given up; default 30,000 ms. */
  callTimeoutMs?: number;
  /** Longest wait for a connection; default 15,000 ms, and no more than `callTimeoutMs`. */
  connectTimeoutMs?: number;
  /** Spares a process to wait for a database that is away; default: every call asks for itself. */
  breaker?: Breaker;
}

/** What a database's schema is, and what this code has. */
export interface StoreSchema {
  /** Every row of schema_version; none when there is no schema. */
  versions: SchemaVersion[];
  scripts: SchemaScripts;
  /** Its name, on PostgreSQL. */
  schema?: string;
  /** Name and server of the database, as errors tell them. */
  database: string;
  /** Have the roles their rights? A dump that was restored elsewhere may have lost them. */
  isIntact: boolean;
}

const readTimeouts = { connectionTimeoutMillis: 15_000, query_timeout: 30_000 };

type ReadAddress =
  | { kind: "postgres"; url: string; schema: string }
  | { kind: "mssql"; address: MssqlAddress };

const scriptsFolder = __dirname;
const load = createRequire(__filename);

/** Opens the store. Nothing is sent before the first call. Throws InvalidArgumentError for an address of another kind. */
export function openStore(options: StoreOptions): TaskStore {
  requireOwnFiles();
  const address = readAddress(options);
  const repeat = createRepeat(options);
  const { callTimeoutMs = 30_000 } = options;
  const limits = {
    connectionsMax: options.connectionsMax,
    callTimeoutMs,
    // Each try of a call may wait for a connection.
    connectTimeoutMs: options.connectTimeoutMs ?? Math.min(15_000, callTimeoutMs),
    ...(options.onIdleError === undefined ? {} : { onIdleError: options.onIdleError }),
  };
  const open = (caller: ProcedureCaller): TaskStore => {
    const { breaker } = options;
    return new SqlTaskStore(
      breaker === undefined ? caller : behindBreaker(caller, breaker),
      repeat,
    );
  };
  if (address.kind === "postgres") {
    const { PostgresCaller } = load("./postgres/postgres-caller") as typeof PostgresCallerFile;
    const { url, schema } = address;
    return open(new PostgresCaller({ ...limits, url, schema }));
  }
  const { MssqlCaller } = load("./mssql/mssql-caller") as typeof MssqlCallerFile;
  return open(new MssqlCaller({ ...limits, ...address.address }));
}

/** What a listener needs besides the address. */
export interface ListenerOptions extends DatabaseAddress {
  readonly timers: Timers;
  readonly events: TaskListenerEvents;
}

/**
 * Listens for notifications of new tasks, on a connection of its own that is opened behind and again after each break. null:
 * the database has none (SQL Server). Throws InvalidArgumentError for an address that can't be used.
 */
export function openListener({ timers, events, ...given }: ListenerOptions): TaskListener | null {
  const address = readAddress(given);
  if (address.kind !== "postgres") return null;
  const { PostgresListener } = load("./postgres/postgres-listener") as typeof PostgresListenerFile;
  const { url, schema } = address;
  return new PostgresListener({ url, schema, connectTimeoutMs: 15_000, timers, events });
}

/** Throws InvalidArgumentError for an address that `openStore` would refuse by its form; loads no driver, sends nothing. */
export function checkDatabaseAddress(address: DatabaseAddress): void {
  readAddress(address);
}

/** What a migration does besides, on SQL Server. */
export interface MigrationExtras {
  /** Makes the database user of an Entra identity and adds its roles. */
  readonly grant?: Grant;
  /** Waits while the server refuses for now. Default: not at all. */
  readonly patience?: Patience;
}

/** What `migrateStore` did. */
export interface MigrationReport extends MigrationResult {
  /** Where `grant` was asked for. */
  readonly granted?: GrantedRoles;
}

/** Brings the schema up to this code; safe to run again, and by many at once. */
export async function migrateStore(
  options: DatabaseAddress,
  { grant, patience }: MigrationExtras = {},
): Promise<MigrationReport> {
  const address = readAddress(options);
  if (address.kind === "postgres") {
    if (grant !== undefined) {
      throw new InvalidArgumentError(
        "Expected `grant` on Azure SQL only; on PostgreSQL run `grant taskgate_worker to LOGIN`",
      );
    }
    if (patience !== undefined) {
      throw new InvalidArgumentError("Expected `patience` on SQL Server only");
    }
    const { withPostgresMigrations } = loadPostgresMigrations();
    return withPostgresMigrations(address, (target) =>
      migrate(target, postgresScripts(), readVersion()),
    );
  }
  const { withPatience } = load("./mssql/mssql-patience") as typeof MssqlPatienceFile;
  const isIdentity = address.address.identity !== undefined;
  return withPatience({ patience, isIdentity }, () => migrateMssql(address.address, grant));
}

function migrateMssql(address: MssqlAddress, grant: Grant | undefined): Promise<MigrationReport> {
  return loadMssqlMigrations().withMssqlMigrations(address, async (target) => {
    const result = await migrate(target, mssqlScripts(), readVersion());
    if (grant === undefined) return result;
    const path = join(scriptsFolder, "mssql", "grant_user.sql");
    return { ...result, granted: await target.grantUser(grant, readFileSync(path, "utf8")) };
  });
}

/** Reads the schema's versions, once, without changing anything. */
export async function readStoreSchema(options: DatabaseAddress): Promise<StoreSchema> {
  const address = readAddress(options);
  if (address.kind === "mssql")
    return {
      versions: await readVersions(address),
      scripts: mssqlScripts(),
      isIntact: true,
      ...namesOf(address),
    };
  const { url, schema } = address;
  const { isPostgresIntact, readPostgresVersions, withPostgresConnection } =
    loadPostgresMigrations();
  return withPostgresConnection(
    url,
    async (connection) => ({
      versions: await readPostgresVersions(connection, schema),
      scripts: postgresScripts(),
      ...namesOf(address),
      isIntact: await isPostgresIntact(connection, schema),
    }),
    readTimeouts,
  );
}

/** May this code work with that database's schema? Throws SchemaError with the command to run. */
export async function checkStoreSchema(options: DatabaseAddress): Promise<void> {
  const address = readAddress(options);
  const migrations = readMigrations(join(scriptsFolder, address.kind, "sql"));
  checkSchema(await readVersions(address), { migrations, ...namesOf(address) }, readVersion());
}

/** What tells one database from another; no user and no password. */
function namesOf(address: ReadAddress): { schema?: string; database: string } {
  if (address.kind === "postgres")
    return { schema: address.schema, database: describeUrl(address.url) };
  const { url, identity } = address.address;
  if (identity === undefined) return { database: describeUrl(url ?? "") };
  return { database: `\`${identity.database}\` at \`${identity.server}\`` };
}

function describeUrl(url: string): string {
  const { hostname, pathname, searchParams } = new URL(url);
  const server = hostname === "" ? searchParams.get("host") : hostname;
  return `\`${decodeURIComponent(pathname.slice(1))}\`${server === null ? "" : ` at \`${server}\``}`;
}

/** Reports the sessions that hold rows for long, for `doctor`; null on a store that isn't a database. Rejects like any call. */
export async function reportHolders(
  store: TaskStore,
  schema = "taskgate",
): Promise<HoldersReport | null> {
  if (store.dialect === "mssql") {
    const { reportMssqlHolders } = load("./mssql/mssql-holders") as typeof MssqlHoldersFile;
    return reportMssqlHolders(store);
  }
  if (store.dialect !== "postgres") return null;
  const { reportPostgresHolders } = load(
    "./postgres/postgres-holders",
  ) as typeof PostgresHoldersFile;
  return reportPostgresHolders(store, schema);
}

/** The scripts of the PostgreSQL core. */
export function postgresScripts(): SchemaScripts {
  return readScripts(join(scriptsFolder, "postgres", "sql"), "\n");
}

/** The scripts of the SQL Server core. */
export function mssqlScripts(): SchemaScripts {
  return readScripts(join(scriptsFolder, "mssql", "sql"), "\nGO\n");
}

function readAddress(options: DatabaseAddress): ReadAddress {
  const { url, identity, schema } = options;
  if ((url === undefined) === (identity === undefined)) {
    throw new InvalidArgumentError(
      "Expected the database's address to be one of `url` and `identity`",
    );
  }
  if (url !== undefined && /^postgres(?:ql)?:\/\//.test(url)) {
    return { kind: "postgres", url, schema: readSchemaName(schema) };
  }
  if (url !== undefined && !url.startsWith("mssql://")) {
    throw new InvalidArgumentError(
      "Expected the database's address to begin with postgres:// or mssql://, got another one",
    );
  }
  if (schema !== undefined && schema.toLowerCase() !== "taskgate") {
    throw new InvalidArgumentError(
      "Expected no other schema than Taskgate on SQL Server, got another name",
    );
  }
  return {
    kind: "mssql",
    address: {
      ...(url === undefined ? {} : { url }),
      ...(identity === undefined ? {} : { identity }),
    },
  };
}

/** It becomes part of statements. */
function readSchemaName(schema = "taskgate"): string {
  if (isSchemaName(schema)) return schema;
  throw new InvalidArgumentError(
    `Expected \`schema\` to be ${schemaNameRule}, 1..63 characters, got another name. Choose another name for it (TASKGATE_SCHEMA), or leave it out: taskgate`,
  );
}

function readVersions(address: ReadAddress): Promise<SchemaVersion[]> {
  if (address.kind === "mssql") {
    const { readMssqlVersions, withMssqlLease } = loadMssqlMigrations();
    return withMssqlLease(address.address, readMssqlVersions);
  }
  const { url, schema } = address;
  const { readPostgresVersions, withPostgresConnection } = loadPostgresMigrations();
  return withPostgresConnection(
    url,
    (connection) => readPostgresVersions(connection, schema),
    readTimeouts,
  );
}

function loadPostgresMigrations(): typeof PostgresMigrationsFile {
  return load("./postgres/postgres-migrations") as typeof PostgresMigrationsFile;
}

function loadMssqlMigrations(): typeof MssqlMigrationsFile {
  return load("./mssql/mssql-migrations") as typeof MssqlMigrationsFile;
}
