import type { LockMode } from "../locks/modes";
import type { Connection } from "./connection";
import { SqlError } from "./sql-error";
import type { OnConflict } from "./steps";
import type { TableScan } from "./table-scan";

/** How a scan reads its table: by the level of the session, the hints, the engine, and what the statement does with it. */
export type Access = { readonly kind: "dirty" } | { readonly kind: "versioned" } | LockingAccess;

export interface LockingAccess {
  readonly kind: "locking";
  readonly level: "committed" | "repeatable" | "serializable";
  readonly rowMode: "S" | "U" | "X";
  /** The same with the range before the key. */
  readonly rangeMode: LockMode;
  readonly tableMode: LockMode;
  /** Locks stay to the end of the transaction, also of rows that are rejected afterwards. */
  readonly isKept: boolean;
  /** L12: a row that the scan itself rejects keeps its lock, too. */
  readonly keepsRejected: boolean;
  readonly onConflict: OnConflict;
  /** L20. */
  readonly isQualified: boolean;
  /** Level SNAPSHOT: a row that another has changed since is an update conflict. */
  readonly detectsConflicts: boolean;
}

type Level = "uncommitted" | "committed" | "repeatable" | "serializable" | "snapshot";

function levelOf(scan: TableScan, connection: Connection): Level {
  const { hints } = scan;
  if (hints.has("HOLDLOCK") || hints.has("SERIALIZABLE")) return "serializable";
  if (hints.has("REPEATABLEREAD")) return "repeatable";
  if (hints.has("READCOMMITTED") || hints.has("READCOMMITTEDLOCK")) return "committed";
  // A target is never read dirty [doc: Table hints, NOLOCK].
  if ((hints.has("NOLOCK") || hints.has("READUNCOMMITTED")) && !scan.isTarget) return "uncommitted";
  if (hints.has("SNAPSHOT")) return "snapshot";
  switch (connection.settings.isolation) {
    case "READ UNCOMMITTED":
      return scan.isTarget ? "committed" : "uncommitted";
    case "READ COMMITTED":
      return "committed";
    case "REPEATABLE READ":
      return "repeatable";
    case "SERIALIZABLE":
      return "serializable";
    case "SNAPSHOT":
      return "snapshot";
  }
}

export function accessOf(scan: TableScan, connection: Connection): Access {
  const { hints } = scan;
  const level = levelOf(scan, connection);
  if (level === "snapshot" && !connection.world.allowsSnapshot) {
    throw new SqlError(
      3952,
      `Snapshot isolation transaction failed accessing database '${connection.world.databaseName}' because snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow snapshot isolation.`,
    );
  }
  const isHinted = hints.has("UPDLOCK") || hints.has("XLOCK");
  refuseReadPast(scan, connection, level);
  if (level === "uncommitted" && !isHinted) return { kind: "dirty" };
  const isPlainRead =
    !isHinted && !scan.isTarget && !hints.has("TABLOCK") && !hints.has("TABLOCKX");
  if (level === "snapshot" && isPlainRead) return { kind: "versioned" };
  // L8 [doc: Table hints, READCOMMITTED]; L9: READCOMMITTEDLOCK locks under every setting.
  const isVersioned =
    connection.world.isVersioned &&
    level === "committed" &&
    isPlainRead &&
    !hints.has("READCOMMITTEDLOCK");
  if (isVersioned) {
    refuseVersionedReadPast(scan);
    return { kind: "versioned" };
  }
  return lockingAccess(scan, connection, level);
}

/** L15 [doc: Table hints, READPAST; MicrosoftDocs/sql-docs pull request 10287]. */
function refuseReadPast(scan: TableScan, connection: Connection, level: Level): void {
  if (!scan.hints.has("READPAST")) return;
  const isSnapshot = connection.settings.isolation === "SNAPSHOT";
  if (!isSnapshot && (level === "committed" || level === "repeatable")) return;
  throw new SqlError(
    650,
    "You can only specify the READPAST lock in the READ COMMITTED or REPEATABLE READ isolation levels.",
  );
}

/** L16 [doc: Table hints, READPAST; Rebus.SqlServer #35]: the number is an assumption. */
function refuseVersionedReadPast(scan: TableScan): void {
  if (!scan.hints.has("READPAST")) return;
  throw new SqlError(
    650,
    `READPAST on a plain read under READ_COMMITTED_SNAPSHOT needs READCOMMITTEDLOCK (${scan.where}).`,
  );
}

function lockingAccess(scan: TableScan, connection: Connection, level: Level): LockingAccess {
  const { hints } = scan;
  const { options } = connection.world;
  const isHinted = hints.has("UPDLOCK") || hints.has("XLOCK");
  const isCommitted = level === "committed" || level === "snapshot" || level === "uncommitted";
  const isQualified =
    scan.isTarget &&
    scan.allowsQualification &&
    options.hasOptimizedLocking &&
    connection.world.isVersioned &&
    level === "committed" &&
    !isHinted &&
    !hints.has("READCOMMITTEDLOCK") &&
    !hints.has("READPAST");
  // L10 [doc: Table hints, UPDLOCK, XLOCK]; L11: the target of a write is read with U.
  const rowMode =
    hints.has("XLOCK") || isQualified ? "X" : hints.has("UPDLOCK") || scan.isTarget ? "U" : "S";
  return {
    kind: "locking",
    level: level === "serializable" ? "serializable" : isCommitted ? "committed" : "repeatable",
    rowMode,
    rangeMode: rowMode === "X" ? "RangeX-X" : rowMode === "U" ? "RangeS-U" : "RangeS-S",
    tableMode: tableMode(scan, rowMode),
    isKept: !isCommitted || isHinted,
    keepsRejected: !isCommitted || (isHinted && options.keepsRejected),
    onConflict: hints.has("READPAST") ? "skip" : hints.has("NOWAIT") ? "fail" : "wait",
    isQualified,
    detectsConflicts: connection.settings.isolation === "SNAPSHOT",
  };
}

/** L17. */
function tableMode(scan: TableScan, rowMode: "S" | "U" | "X"): LockMode {
  if (scan.hints.has("TABLOCKX")) return "X";
  if (scan.hints.has("TABLOCK")) return scan.isTarget ? "X" : "S";
  return rowMode === "S" ? "IS" : "IX";
}
