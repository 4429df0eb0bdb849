import { setTimeout as pause } from "node:timers/promises";
import type * as Mssql from "mssql";
import type { TaskgateError } from "../../core/errors";
import {
  SettingsError,
  StoreConflictError,
  StoreContractError,
  StoreUnavailableError,
} from "../../core/errors";
import { formatDuration } from "../../core/duration";
import { lockedOut, migrationLocks } from "../migration-locks";
import { versionsOf } from "../migrator";
import type { MigrationTarget, SchemaVersion, Script } from "../migrator";
import { hasNumber, isOfDriver, mapMssqlError } from "./mssql-errors";
import { grantUser } from "./mssql-grant";
import type { Grant, GrantedRoles } from "./mssql-grant";
import { readMssqlHolders } from "./mssql-holders";
import type { MssqlAddress } from "./mssql-options";
import { MssqlPool } from "./mssql-pool";
import type { Lease } from "./mssql-pool";

/** What SQL Server's migrator can do besides. */
export interface MssqlMigrationTarget extends MigrationTarget {
  /** Makes the identity's user and adds its roles by running `text` (grant_user.sql) for each. Safe to repeat. */
  grantUser(grant: Grant, text: string): Promise<GrantedRoles>;
}

/** Where to migrate. */
export interface MssqlMigrationOptions extends MssqlAddress {
  /** How often a change tries to get the locks of its tables, before its error names the session that has them. */
  lockTries?: number;
}

/** A statement of a migration may build an index over many rows. */
const statementTimeoutMs = 15 * 60_000;
const connectTimeoutMs = 15_000;

/** The lock that lets one migrator work at a time; other languages may take it, too. */
const migrationLock = "Taskgate.Migrate";
const lockWaitMs = 10_000;
const lockWaitsMax = 30;
/** So many characters of logic run as one batch: while it is replaced its callers wait, and a round trip may take 100 ms. */
const logicBatchMax = 250_000;
/** Inline functions and table variables that the procedures were written for (SQL Server 2019). */
const compatibilityLevelMin = 150;
const systemDatabases = new Set(["master", "model", "msdb", "tempdb"]);

/**
 * What filtered indexes and the procedures are made with. Behind a change of a table that waits all calls wait, readers of row
 * versions, too [doc: ALTER TABLE, online rebuild: Sch-M "blocks all new transactions that are ready to start"]. In a circle of
 * waiters workers win over a migration.
 */
const sessionSettings = `SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;
SET NUMERIC_ROUNDABORT, IMPLICIT_TRANSACTIONS OFF;
SET XACT_ABORT, NOCOUNT ON;
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET LOCK_TIMEOUT ${String(migrationLocks.waitMs)};
SET DEADLOCK_PRIORITY LOW;`;

/**
 * Runs `body` with the migration lock held on one connection of the owner's, after checking the database's own
 * settings. Twenty at once queue up. Each script is one transaction: callers see the old procedures or the new ones.
 */
export async function withMssqlMigrations<Result>(
  { lockTries = migrationLocks.triesMax, ...address }: MssqlMigrationOptions,
  body: (target: MssqlMigrationTarget) => Promise<Result>,
): Promise<Result> {
  return withMssqlLease(address, async (lease) => {
    await lease.run(() => lease.request().batch(sessionSettings));
    await takeLock(lease);
    await prepareDatabase(lease);
    return body({
      readVersions: () => readMssqlVersions(lease),
      apply: (script, isLogic) => applyRepeatedly(lease, { ...script, isLogic }, lockTries),
      // Roles and rights are the database's own: its backup has them.
      isIntact: () => Promise.resolve(true),
      grantUser: (grant, text) => grantUser(lease, grant, text),
    });
  });
}

/** Lends one connection of its own to `body`; it ends, with its locks, when `body` does. */
export async function withMssqlLease<Result>(
  address: MssqlAddress,
  body: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const pool = new MssqlPool({
    ...address,
    connectionsMax: 1,
    callTimeoutMs: statementTimeoutMs,
    connectTimeoutMs,
  });
  let lease: Lease | undefined;
  try {
    lease = await pool.lease();
    return await body(lease);
  } catch (error) {
    if (lease !== undefined && !isOfDriver(error)) throw error;
    throw mapMssqlError(error, lease === undefined ? "not sent" : "undone");
  } finally {
    lease?.discard();
    lease?.release();
    await pool.close();
  }
}

/** Reads SchemaVersion; [] when there is none; throws SchemaError for one without rows. roles.sql lets workers and operators read that table. */
export async function readMssqlVersions(lease: Lease): Promise<SchemaVersion[]> {
  try {
    const result = await lease.run(() =>
      lease.request().query<SchemaVersion>(
        `SELECT v.Version AS version, v.Name AS name, v.Checksum AS checksum, v.ClientVersionMin AS clientVersionMin
         FROM Taskgate.SchemaVersion AS v ORDER BY v.Version;`,
      ),
    );
    return versionsOf(
      result.recordset.map((row) => ({ ...row })),
      "Taskgate",
    );
  } catch (error) {
    // Asking OBJECT_ID would say "none" to those who merely lack rights: they get the server's own answer.
    if (hasNumber(error, 208)) return [];
    throw error;
  }
}

/** The batches between lines that say GO; a GO inside a comment, a text or a quoted name is none. */
export function splitBatches(text: string): string[] {
  const pieces =
    /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\[(?:[^\]]|\]\])*\]|^[ \t]*GO[ \t]*(?=\r?$|--)/gim;
  const batches: string[] = [];
  let start = 0;
  for (const match of text.matchAll(pieces)) {
    if (match[0].trim().toUpperCase() !== "GO") continue;
    batches.push(text.slice(start, match.index));
    start = match.index + match[0].length;
  }
  batches.push(text.slice(start));
  const comments = /--[^\n]*|\/\*[\s\S]*?\*\//g;
  return batches
    .map((batch) => batch.trim())
    .filter((batch) => batch.replace(comments, "").trim() !== "");
}

/** Names of the procedures, functions and views that a script makes, as they are written. */
export function listObjects(text: string): string[] {
  const heads = /^CREATE OR ALTER (?:PROCEDURE|FUNCTION|VIEW) Taskgate\.(\w+)/gim;
  return [...text.matchAll(heads)].map((match) => match[1] ?? "");
}

async function takeLock(lease: Lease): Promise<void> {
  for (let waits = 0; waits < lockWaitsMax; waits += 1) {
    const result = await lease.run(() =>
      lease.request().batch<{ Result: number }>(
        `DECLARE @Result int;
         EXEC @Result = sys.sp_getapplock @Resource = N'${migrationLock}', @LockMode = 'Exclusive', @LockOwner = 'Session',
           @LockTimeout = ${String(lockWaitMs)};
         SELECT @Result AS Result;`,
      ),
    );
    const code = result.recordset[0]?.Result;
    // 0 at once, 1 after a wait; -1 time-out, -2 cancelled, -3 deadlock; anything else is a bad call.
    if (code === 0 || code === 1) return;
    if (code === undefined || code < -3) {
      throw new StoreContractError(`sp_getapplock answered ${String(code)} for ${migrationLock}`);
    }
  }
  throw new StoreUnavailableError(
    `Another migration has held the lock ${migrationLock} for ${String((lockWaitMs * lockWaitsMax) / 1000)} s. Wait for it, or end its session (sys.dm_tran_locks, resource_type APPLICATION), then run \`npx taskgate migrate\` again.`,
  );
}

interface DatabaseState {
  Name: string;
  CompatibilityLevel: number;
  IsSnapshotOn: boolean;
}

/** Checks what scripts can't change inside a transaction. All problems are told at once. */
async function prepareDatabase(lease: Lease): Promise<void> {
  const result = await lease.run(() =>
    lease.request().query<DatabaseState>(
      // By name: on Azure SQL DB_ID() may differ from database_id.
      `SELECT d.name AS Name, d.compatibility_level AS CompatibilityLevel, d.is_read_committed_snapshot_on AS IsSnapshotOn
       FROM sys.databases AS d WHERE d.name = DB_NAME();`,
    ),
  );
  const state = result.recordset[0];
  if (state === undefined) throw new StoreContractError("sys.databases doesn't show the database");
  if (systemDatabases.has(state.Name)) {
    throw new SettingsError([`database: expected one of its own for Taskgate, got ${state.Name}`]);
  }
  const name = `[${state.Name.replaceAll("]", "]]")}]`;
  const problems: string[] = [];
  if (state.CompatibilityLevel < compatibilityLevelMin) {
    problems.push(
      `database ${name}: expected compatibility level ${String(compatibilityLevelMin)} or higher, got ${String(state.CompatibilityLevel)}. Run: ALTER DATABASE ${name} SET COMPATIBILITY_LEVEL = ${String(compatibilityLevelMin)};`,
    );
  }
  if (!state.IsSnapshotOn) {
    const reason = await turnSnapshotOn(lease);
    if (reason !== null) {
      problems.push(
        `database ${name}: READ_COMMITTED_SNAPSHOT is off and can't be turned on now (${reason}). Stop what is connected to it and migrate again, or run, which ends all other connections: ALTER DATABASE ${name} SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE;`,
      );
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
}

/** Needs to be the only connection, and doesn't wait for others to end. Returns why it failed, or null. */
async function turnSnapshotOn(lease: Lease): Promise<string | null> {
  try {
    await lease.run(() =>
      lease.request().batch("ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON WITH NO_WAIT;"),
    );
    return null;
  } catch (error) {
    const mapped = mapMssqlError(error, "undone");
    if (mapped instanceof StoreUnavailableError) throw mapped;
    return mapped.message;
  }
}

type RunnableScript = Script & { isLogic: boolean };

/** A batch, and what an error calls it. */
interface Batch {
  readonly text: string;
  readonly place: string;
}

/** The batches of a script. Those of the logic run together: each is a text of its own there, as a procedure must begin its batch. */
function batchesOf({ name, text, isLogic }: RunnableScript, runsTogether: boolean): Batch[] {
  const all = splitBatches(text).map((batch, index) => ({
    text: batch,
    place: `${name}, batch ${String(index + 1)}`,
  }));
  if (!isLogic || !runsTogether) return all;
  const together: Batch[] = [];
  let group = "";
  for (const batch of all) {
    const call = `EXEC (N'${batch.text.replaceAll("'", "''")}');\n`;
    if (group !== "" && group.length + call.length > logicBatchMax) {
      together.push({ text: group, place: name });
      group = "";
    }
    group += call;
  }
  return [...together, { text: group, place: name }];
}

async function applyRepeatedly(
  lease: Lease,
  script: RunnableScript,
  lockTries: number,
): Promise<void> {
  let runsTogether = true;
  for (let tries = 1; ; tries += 1) {
    try {
      await apply(lease, script, batchesOf(script, runsTogether));
      return;
    } catch (error) {
      if (!(error instanceof StoreConflictError)) {
        if (!script.isLogic || !runsTogether || !(error instanceof StoreContractError)) throw error;
        // One by one, so that the error names the batch.
        runsTogether = false;
        continue;
      }
      const isLocked = hasNumber(error.cause, 1222);
      if (tries >= lockTries) throw isLocked ? await nameHolder(lease, script, error) : error;
      if (isLocked) await pause(migrationLocks.pauseMs);
    }
  }
}

/** The error for people: which session keeps the tables, where this login may see it. */
async function nameHolder(
  lease: Lease,
  script: RunnableScript,
  cause: StoreConflictError,
): Promise<StoreConflictError> {
  const [holder] = await readMssqlHolders(
    async (text) => (await lease.run(() => lease.request().query(text))).recordset,
  ).catch(() => []);
  if (holder === undefined) return lockedOut({ script: script.name, holder: null, cause });
  const { session, user, host, program, ageMs } = holder;
  const says = `Session ${session} (${user}, ${host}, ${program}) has been in a transaction for ${formatDuration(Number(ageMs))} and keeps its tables locked`;
  const end = `End that transaction (\`${holder.end}\`)`;
  return lockedOut({ script: script.name, holder: { says, end }, cause });
}

async function apply(
  lease: Lease,
  script: RunnableScript,
  batches: readonly Batch[],
): Promise<void> {
  const transaction = lease.transaction();
  try {
    await lease.run(() => transaction.begin(lease.driver.ISOLATION_LEVEL.READ_COMMITTED));
    if (script.isLogic) await dropMissing(lease, transaction, script.text);
    for (const batch of batches) await runBatch(lease, transaction, batch);
    await record(lease, transaction, script);
    await lease.commit(transaction);
  } catch (error) {
    // XACT_ABORT has rolled back already, as a rule; closing the connection would lose the lock.
    if (lease.isInTransaction) await lease.run(() => transaction.rollback()).catch(() => undefined);
    if (lease.isInTransaction) lease.discard();
    throw mapMssqlError(error, "undone");
  }
}

async function runBatch(lease: Lease, transaction: Mssql.Transaction, batch: Batch): Promise<void> {
  try {
    await lease.run(() => transaction.request().batch(batch.text));
  } catch (error) {
    const mapped: TaskgateError = mapMssqlError(error, "undone");
    if (mapped.isRetryable) throw mapped;
    const head = batch.text.replace(/^(?:\s*--[^\n]*\n)*/, "").slice(0, 80);
    throw new StoreContractError(
      `Migration ${batch.place} (\`${head.split("\n")[0] ?? ""}\`) failed and was undone: ${mapped.message}`,
      { cause: error },
    );
  }
}

/** CREATE OR ALTER replaces objects that still have a file; objects without a file must be dropped. */
async function dropMissing(
  lease: Lease,
  transaction: Mssql.Transaction,
  text: string,
): Promise<void> {
  const kept = new Set(listObjects(text));
  const result = await lease.run(() =>
    transaction.request().query<{ Name: string; Kind: string }>(
      `SELECT o.name AS Name,
              CASE o.type WHEN 'P' THEN N'PROCEDURE' WHEN 'V' THEN N'VIEW' ELSE N'FUNCTION' END AS Kind
       FROM sys.objects AS o
       WHERE o.schema_id = SCHEMA_ID(N'Taskgate') AND o.type IN ('P', 'V', 'FN', 'IF', 'TF')
       ORDER BY CASE o.type WHEN 'P' THEN 1 WHEN 'V' THEN 2 ELSE 3 END, o.name;`,
    ),
  );
  for (const row of result.recordset.filter((entry) => !kept.has(entry.Name))) {
    const name = `Taskgate.[${row.Name.replaceAll("]", "]]")}]`;
    await runBatch(lease, transaction, {
      text: `DROP ${row.Kind} ${name};`,
      place: "logic, drop",
    });
  }
}

async function record(
  lease: Lease,
  transaction: Mssql.Transaction,
  script: RunnableScript,
): Promise<void> {
  const { driver } = lease;
  const request = transaction
    .request()
    .input("Version", driver.Int, script.version)
    .input("Name", driver.NVarChar(200), script.name)
    .input("Checksum", driver.NVarChar(64), script.checksum)
    .input("ClientVersionMin", driver.NVarChar(40), script.clientVersionMin);
  await lease.run(() =>
    request.query(
      `UPDATE Taskgate.SchemaVersion SET Name = @Name, Checksum = @Checksum, AppliedAt = SYSUTCDATETIME() WHERE Version = @Version;
       IF @@ROWCOUNT = 0
         INSERT INTO Taskgate.SchemaVersion (Version, Name, Checksum, ClientVersionMin, AppliedAt)
         VALUES (@Version, @Name, @Checksum, @ClientVersionMin, SYSUTCDATETIME());`,
    ),
  );
}
