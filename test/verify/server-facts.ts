import type { EngineName } from "../tsql-server/engine/options";
import type { BatchConnection, Cell } from "./batch-connection";

/** What a server is, and what the login may do there. */
export interface ServerFacts {
  /** Name, version, edition. */
  readonly title: string;
  /** 15 is SQL Server 2019, 16 is 2022, 17 is 2025; 12 on Azure SQL. */
  readonly majorVersion: number;
  /** A single database of Azure SQL: making another one costs money. */
  readonly isAzureDatabase: boolean;
  readonly mayCreateDatabase: boolean;
  /** Users with a password where the database can have them, else logins of the server. */
  readonly mayMakeLogins: boolean;
  readonly database: string;
  /** undefined: optimized locking without versions, which the model doesn't have. */
  readonly engine: EngineName | undefined;
}

const azureDatabaseEdition = 5;

/** Asks. */
export async function readServerFacts(connection: BatchConnection): Promise<ServerFacts> {
  const { rows } = await connection.must(
    `SELECT CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')) AS Version,
            CONVERT(nvarchar(128), SERVERPROPERTY('Edition')) AS Edition,
            CONVERT(int, SERVERPROPERTY('EngineEdition')) AS EngineEdition,
            HAS_PERMS_BY_NAME(NULL, NULL, 'CREATE ANY DATABASE') AS MayCreate,
            HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY LOGIN') AS MayMakeLogins,
            HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'ALTER ANY USER') AS MayMakeUsers,
            DB_NAME() AS DatabaseName;`,
  );
  const [version, edition, engineEdition, mayCreate, mayMakeLogins, mayMakeUsers, database] =
    rows[0] ?? [];
  const isAzureDatabase = engineEdition === azureDatabaseEdition;
  return {
    title: `${isAzureDatabase ? "Azure SQL Database" : "SQL Server"} ${text(version)}, ${text(edition)}`,
    majorVersion: Number.parseInt(text(version), 10),
    isAzureDatabase,
    mayCreateDatabase: mayCreate === 1,
    mayMakeLogins: (isAzureDatabase ? mayMakeUsers : mayMakeLogins) === 1,
    database: text(database),
    engine: await readEngine(connection),
  };
}

/** Which of the model's engines the database of a connection is. */
export async function readEngine(connection: BatchConnection): Promise<EngineName | undefined> {
  const { rows } = await connection.must(
    `SELECT CONVERT(int, d.is_read_committed_snapshot_on) AS IsVersioned,
            CONVERT(int, DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn')) AS IsOptimized
     FROM sys.databases AS d WHERE d.name = DB_NAME();`,
  );
  const [isVersioned, isOptimized] = rows[0] ?? [];
  if (isOptimized === 1) return isVersioned === 1 ? "azure" : undefined;
  return isVersioned === 1 ? "versioned" : "locking";
}

function text(cell: Cell | undefined): string {
  return cell === null || cell === undefined ? "unknown" : String(cell);
}
