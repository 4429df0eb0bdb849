/**
 * The T-SQL that our files may use, and nothing else: every word was looked up in the product's documentation for
 * SQL Server 2019 and Azure SQL. A new word is added here with the procedure that needs it. Case is exact: on a server
 * with a case-sensitive collation a name in another case is another name.
 */
const split = (text: string): string[] => text.trim().split(/\s+/);

/** Statements, clauses, options. */
export const keywords: ReadonlySet<string> = new Set(
  split(`
    ADD ALL ALTER AND APPLY AS AUTHORIZATION BEGIN BETWEEN BY CACHE CASE CATCH CHECK CLUSTERED COLLATE COMMIT COMMITTED
    CONSTRAINT CREATE CROSS DECLARE DEFAULT DELETE DESC DISTINCT DROP ELSE END EXEC EXECUTE EXISTS FOR FROM FUNCTION GRANT
    GROUP HAVING IDENTITY IF IN INCLUDE INCREMENT INDEX INNER INSERT INTO IS ISOLATION JOIN JSON KEY LEFT LEVEL LIKE
    NEXT NONCLUSTERED NOT NULL OBJECT OFF ON OPTION OR ORDER OUTER OUTPUT OVER PARTITION PRIMARY PROCEDURE READ READONLY RETURN
    RETURNS ROLE ROLLBACK SCHEMA SELECT SEQUENCE SET START TABLE THEN THROW TO TOP TRANSACTION TRY TYPE UNION UNIQUE UPDATE
    VALUE VALUES VIEW WHEN WHERE WHILE WITH WITHIN
    ALLOW_PAGE_LOCKS ANSI_NULLS DEADLOCK_PRIORITY DISABLE FILLFACTOR LOCK_ESCALATION LOCK_TIMEOUT LOW NOCOUNT
    QUOTED_IDENTIFIER XACT_ABORT
    DROP_EXISTING
    FORCE FORCESEEK HINT HOLDLOCK KEEPFIXED LOOP MAXDOP OPTIMIZE PLAN READCOMMITTEDLOCK READPAST ROWLOCK UPDLOCK USE XLOCK
    DAY MICROSECOND MILLISECOND MINUTE SECOND`),
);

/** Types, in lower case. `max` is a length. */
export const types: ReadonlySet<string> = new Set(
  split(`
    bigint bit char datetime2 datetimeoffset decimal float int nchar nvarchar smallint tinyint uniqueidentifier varbinary
    varchar max`),
);

/** Collations, variables of the server, and the names of rows in OUTPUT. */
export const otherNames: ReadonlySet<string> = new Set(
  split(`Latin1_General_100_BIN2 Latin1_General_100_BIN2_UTF8 inserted deleted dbo sys`),
);

/** @@ variables. */
export const systemVariables: ReadonlySet<string> = new Set(
  split("@@ROWCOUNT @@TRANCOUNT @@OPTIONS"),
);

/** Functions with the least and the greatest number of their arguments. */
export const functions: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["ABS", [1, 1]],
  ["CAST", [1, 1]],
  ["CHARINDEX", [2, 3]],
  ["CHECKSUM", [1, 99]],
  ["COALESCE", [2, 99]],
  ["CONVERT", [2, 3]],
  ["COUNT", [1, 1]],
  ["DATABASE_PRINCIPAL_ID", [0, 1]],
  ["DATALENGTH", [1, 1]],
  ["DATEADD", [3, 3]],
  ["DATEDIFF", [3, 3]],
  ["DATEDIFF_BIG", [3, 3]],
  ["DB_NAME", [0, 1]],
  ["ERROR_NUMBER", [0, 0]],
  ["ISJSON", [1, 1]],
  ["JSON_QUERY", [2, 2]],
  ["JSON_VALUE", [2, 2]],
  ["LEFT", [2, 2]],
  ["LOWER", [1, 1]],
  ["LTRIM", [1, 1]],
  ["MAX", [1, 1]],
  ["MIN", [1, 1]],
  ["NEWID", [0, 0]],
  ["NULLIF", [2, 2]],
  ["OBJECT_ID", [1, 2]],
  ["OPENJSON", [1, 2]],
  ["ORIGINAL_LOGIN", [0, 0]],
  ["POWER", [2, 2]],
  ["QUOTENAME", [1, 2]],
  ["REPLACE", [3, 3]],
  ["RIGHT", [2, 2]],
  ["ROUND", [2, 3]],
  ["ROW_NUMBER", [0, 0]],
  ["RTRIM", [1, 1]],
  ["STRING_AGG", [2, 2]],
  ["STRING_ESCAPE", [2, 2]],
  ["SUBSTRING", [3, 3]],
  ["SUM", [1, 1]],
  ["SWITCHOFFSET", [2, 2]],
  ["SYSUTCDATETIME", [0, 0]],
  ["TRY_CONVERT", [2, 3]],
  ["UNICODE", [1, 1]],
  ["XACT_STATE", [0, 0]],
]);

/** Procedures and views of the system that our files use, the views with the columns that are read. */
export const systemObjects: ReadonlyMap<string, readonly string[]> = new Map([
  ["sys.sp_executesql", []],
  ["sys.sp_sequence_get_range", []],
  ["sys.database_principals", ["name", "principal_id", "sid", "type"]],
  ["sys.database_role_members", ["role_principal_id", "member_principal_id"]],
]);
