import { join } from "node:path";
import { InvalidArgumentError } from "../core/errors";
import type { Random } from "../ports/random";
import type { TaskStore } from "../ports/task-store";
import { migrate, readScripts } from "./migrator";
import type { MigrationResult, SchemaScripts } from "./migrator";
import { PostgresCaller } from "./postgres/postgres-caller";
import { withPostgresMigrations } from "./postgres/postgres-migrations";
import { createRepeat } from "./repeat";
import { SqlTaskStore } from "./sql-task-store";

/** Chooses the adapter by the address; the only file that knows both. Drivers are loaded when they are needed. */

/** How to reach the database. */
export interface StoreOptions {
  /** `postgres://..` or `mssql://user:password@host:port/database?encrypt=..` */
  url: string;
  /** Schema of the core on PostgreSQL; default `taskgate`. */
  schema?: string;
  /** Most connections of this process. */
  connectionsMax: number;
  /** A call without an answer after this long is given up; default 30,000 ms. */
  callTimeoutMs?: number;
  /** Longest wait for a connection; default 15,000 ms. */
  connectTimeoutMs?: number;
  random: Random;
  sleep: (ms: number) => Promise<void>;
  /** Told about connections that break while idle; default: nobody. */
  onIdleError?: (error: Error) => void;
}

const scriptsFolder = __dirname;

/** Opens the store. Nothing is sent before the first call. Throws InvalidArgumentError for an address of another kind. */
export function openStore(options: StoreOptions): TaskStore {
  const repeat = createRepeat(options);
  const timeouts = {
    callTimeoutMs: options.callTimeoutMs ?? 30_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 15_000,
  };
  if (isPostgres(options.url))
    return new SqlTaskStore(new PostgresCaller({ ...options, ...timeouts }), repeat);
  throw new InvalidArgumentError(
    `Expected the database's address to begin with postgres:// or mssql://, got \`${options.url.split(":")[0] ?? ""}:\``,
  );
}

/** Brings the schema at `url` up to this code. Safe to run by many at once. */
export async function migrateStore(options: {
  url: string;
  schema?: string;
}): Promise<MigrationResult> {
  return withPostgresMigrations(options, (target) => migrate(target, postgresScripts()));
}

/** The scripts of the PostgreSQL core. */
export function postgresScripts(): SchemaScripts {
  return readScripts(join(scriptsFolder, "postgres", "sql"), "\n");
}

function isPostgres(url: string): boolean {
  return url.startsWith("postgres://") || url.startsWith("postgresql://");
}
