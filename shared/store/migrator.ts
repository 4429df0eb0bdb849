import { createHash } from "node:crypto";
import { SchemaError } from "../core/errors";
import { openSqlFiles } from "./sql-files";
import type { SqlFiles } from "./sql-files";

/**
 * Brings a database's schema up to this code. Dialect-neutral: an adapter gives `MigrationTarget`.
 * Migrations (NNNN_what.sql) are frozen: the database remembers their checksums and a changed one is refused.
 * Logic (procedures, functions, views, roles) is re-run as a whole whenever any of its files changed.
 */

/** What an adapter gives the migrator. All calls are on one connection that holds the migration lock. */
export interface MigrationTarget {
  /** Every row of schema_version; none when the schema doesn't exist. */
  readVersions(): Promise<SchemaVersion[]>;
  /** Runs one script and records it, in one transaction. `isLogic`: old procedures are dropped first. */
  apply(script: Script, isLogic: boolean): Promise<void>;
  /** Have the roles the rights that the logic gave them? A dump that was restored elsewhere may have lost both. */
  isIntact(): Promise<boolean>;
}

/** One row of schema_version. Version 0 is the logic, whose name is `logic` and the release that made it: `logic 0.3.0`. */
export interface SchemaVersion {
  version: number;
  name: string;
  checksum: string;
  clientVersionMin: string;
}

/** One script: a migration, or all logic joined. */
export interface Script extends SchemaVersion {
  text: string;
}

/** All scripts of one dialect. */
export interface SchemaScripts {
  migrations: Script[];
  logic: Script;
}

/** What `migrate` did. */
export interface MigrationResult {
  applied: string[];
  isLogicRenewed: boolean;
  /** The database is a newer release's, by these migrations or its procedures, and serves this one: nothing was changed. Left out: there are none. */
  newer?: string[];
}

const logicFolders = ["functions", "procedures", "views"] as const;
const migrationName = /^(\d{4})_([a-z0-9_]+)\.sql$/;
const clientVersionMin = /^-- Client version min:\s*(\S+)/m;

/** Reads `folder` (shared/store/<dialect>/sql). `separator` goes between logic files: GO on SQL Server. */
export function readScripts(folder: string, separator: string): SchemaScripts {
  const migrations = readMigrations(folder);
  const files = openSqlFiles(folder);
  const text = listLogic(folder)
    .map((file) => readExpected(files, file))
    .join(separator);
  const logic = {
    version: 0,
    name: "logic",
    checksum: sha256(text),
    clientVersionMin: "0.0.0",
    text,
  };
  return { migrations, logic };
}

/** The migrations of `folder` alone, ascending: all that says whether a schema fits. */
export function readMigrations(folder: string): Script[] {
  const files = openSqlFiles(folder);
  return files.list("migrations").map((path) => readMigration(files, path));
}

/**
 * Applies the missing migrations and logic, and renews the logic where its rights are lost. A second call does nothing, nor does
 * one beside the schema or the logic of a newer release, as after a rollback. Throws SchemaError when that no longer serves `clientVersion`.
 */
export async function migrate(
  target: MigrationTarget,
  scripts: SchemaScripts,
  clientVersion: string,
): Promise<MigrationResult> {
  const versions = await target.readVersions();
  refuseEdited(versions, scripts);
  const newer = newerThan(scripts, versions, clientVersion);
  if (newer.length > 0) {
    checkSchema(versions, scripts, clientVersion);
    return { applied: [], isLogicRenewed: false, newer: newer.map(nameOf) };
  }
  const done = new Set(versions.map((row) => row.version));
  const missing = scripts.migrations.filter((script) => !done.has(script.version));
  for (const script of missing) await target.apply(script, false);
  const isLogicRenewed =
    missing.length > 0 || !isLogicCurrent(versions, scripts) || !(await target.isIntact());
  if (isLogicRenewed) {
    await target.apply({ ...scripts.logic, name: `${scripts.logic.name} ${clientVersion}` }, true);
  }
  return { applied: missing.map(nameOf), isLogicRenewed };
}

/** Were the procedures, views and rights made by these scripts? */
export function isLogicCurrent(
  versions: readonly SchemaVersion[],
  { logic }: Pick<SchemaScripts, "logic">,
): boolean {
  return versions.find(({ version }) => version === 0)?.checksum === logic.checksum;
}

/** As its file is named. */
function nameOf({ version, name }: SchemaVersion): string {
  if (version === 0) return name.replace("logic", "procedures of");
  return `${String(version).padStart(4, "0")}_${name}`;
}

/**
 * Migrations of the database that this code doesn't know; without any, its logic where a newer release than `clientVersion` made
 * it and it differs from this code's.
 */
export function newerThan(
  scripts: SchemaScripts,
  versions: readonly SchemaVersion[],
  clientVersion: string,
): SchemaVersion[] {
  const known = new Set([0, ...scripts.migrations.map(({ version }) => version)]);
  const unknown = versions.filter(({ version }) => !known.has(version));
  // With a migration still to apply the logic must be this code's.
  if (unknown.length > 0 || versions.length < known.size) return unknown;
  if (isLogicCurrent(versions, scripts)) return [];
  return versions.filter((row) => compareVersions(releaseOf(row) ?? "0.0.0", clientVersion) > 0);
}

/** The release that made the logic; null: a migration, or a logic that doesn't say. */
function releaseOf({ version, name }: SchemaVersion): string | null {
  return version === 0 ? (/^logic (\S+)$/.exec(name)?.[1] ?? null) : null;
}

/**
 * The rows of a schema_version that is there. Throws SchemaError where there is none: a migration makes the table and its first row
 * together, so tables were restored without their data.
 */
export function versionsOf<Row extends SchemaVersion>(rows: Row[], schema: string): Row[] {
  if (rows.length > 0) return rows;
  throw new SchemaError(
    "TASKGATE_SCHEMA_MISSING",
    `The schema \`${schema}\` has tables and no row in schema_version, as after a restore of tables without their data. Restore the data as well. Or drop the schema with all that is in it, and run \`npx taskgate migrate\`.`,
  );
}

/**
 * May this code (`clientVersion`) work with that schema? `schema`: its name, where it isn't `taskgate`; `database`: its name and
 * server, as errors tell them. Throws SchemaError with the command to run.
 */
export function checkSchema(
  versions: readonly SchemaVersion[],
  scripts: Pick<SchemaScripts, "migrations"> & {
    readonly schema?: string;
    readonly database?: string;
  },
  clientVersion: string,
): void {
  if (versions.length === 0) {
    const { schema = "taskgate", database } = scripts;
    const named = schema === "taskgate" ? "" : ` in \`${schema}\` (TASKGATE_SCHEMA)`;
    throw new SchemaError(
      "TASKGATE_SCHEMA_MISSING",
      `The database${database === undefined ? "" : ` ${database}`} has no Taskgate schema${named}. Run \`npx taskgate migrate\`.`,
    );
  }
  const newest = Math.max(...versions.map((row) => row.version));
  const known = Math.max(...scripts.migrations.map((script) => script.version));
  if (newest < known) {
    throw new SchemaError(
      "TASKGATE_SCHEMA_TOO_OLD",
      `The schema is at version ${String(newest)}, this code needs ${String(known)}. Run \`npx taskgate migrate\`.`,
    );
  }
  const refusing = versions.find((row) => compareVersions(row.clientVersionMin, clientVersion) > 0);
  if (refusing !== undefined) {
    throw new SchemaError(
      "TASKGATE_SCHEMA_TOO_NEW",
      `The schema (${refusing.name}) serves Taskgate ${refusing.clientVersionMin} and later, this is ${clientVersion}. Deploy a newer version.`,
    );
  }
}

/** Like the sign of `left - right` for versions such as 1.10.0. A version before a release, 1.10.0-pre, counts as that release. */
export function compareVersions(left: string, right: string): number {
  const numbers = (version: string) => version.split("-", 1)[0]?.split(".").map(Number) ?? [];
  const [a, b] = [numbers(left), numbers(right)];
  const index = [0, 1, 2].find((part) => (a[part] ?? 0) !== (b[part] ?? 0));
  return index === undefined ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

function readMigration(files: SqlFiles, path: string): Script {
  const file = path.replace(/^.*\//, "");
  const match = migrationName.exec(file);
  if (match === null) {
    throw new SchemaError(
      "TASKGATE_SCHEMA_MISSING",
      `Expected migrations to be named NNNN_what.sql, got \`${file}\``,
    );
  }
  const text = readExpected(files, path);
  return {
    version: Number(match[1]),
    name: match[2] ?? "",
    checksum: sha256(text),
    clientVersionMin: clientVersionMin.exec(text)?.[1] ?? "0.0.0",
    text,
  };
}

/**
 * The files of the logic in the order in which they run, relative to `folder`: that of order.txt where there is one, which SQL
 * Server needs (inline functions and views are bound when they are made), else by folder and name. Throws SchemaError when
 * order.txt leaves a file out, or names one that isn't there.
 */
export function listLogic(folder: string): string[] {
  const all = openSqlFiles(folder);
  const files = [...logicFolders.flatMap((sub) => all.list(sub)), "roles.sql"];
  const order = all.read("order.txt");
  if (order === null) return files;
  const listed = order
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .flatMap((line) => (line.endsWith("/") ? all.list(line.slice(0, -1)) : [line]));
  const problems = [
    ...files.filter((file) => !listed.includes(file)).map((file) => `it leaves out ${file}`),
    ...listed.filter((file) => !files.includes(file)).map((file) => `there is no file ${file}`),
    ...listed
      .filter((file, at) => listed.indexOf(file) !== at)
      .map((file) => `it names ${file} twice`),
  ];
  if (problems.length === 0) return listed;
  throw new SchemaError(
    "TASKGATE_SCHEMA_MISSING",
    `Expected order.txt to list every file of the logic once, but ${problems.join("; ")}`,
  );
}

function readExpected(files: SqlFiles, path: string): string {
  const text = files.read(path);
  if (text !== null) return text;
  throw new SchemaError("TASKGATE_SCHEMA_MISSING", `Expected a file ${path}, but there is none`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Throws SchemaError that names an applied migration of which `scripts` have another text than the one that was run. */
export function refuseEdited(
  versions: readonly SchemaVersion[],
  scripts: Pick<SchemaScripts, "migrations">,
): void {
  for (const row of versions) {
    const script = scripts.migrations.find(({ version }) => version === row.version);
    if (script === undefined || script.checksum === row.checksum) continue;
    throw new SchemaError(
      "TASKGATE_SCHEMA_EDITED",
      `Migration ${String(row.version)} (${row.name}) differs from the one this database was made with. Put the file back as it was released, and what is to change into a new migration with the next number.`,
    );
  }
}
