import type { Aggregate, BuiltinName, DateCall, DatePart, SystemVariable, WindowCall } from "./ast";

const many = 254;

/** The server's functions with a value per row, each with the least and the greatest number of its arguments. */
export const builtins: Readonly<Record<BuiltinName, readonly [least: number, most: number]>> = {
  ABS: [1, 1],
  APPLOCK_MODE: [3, 3],
  APPLOCK_TEST: [4, 4],
  CEILING: [1, 1],
  CHARINDEX: [2, 3],
  CHECKSUM: [1, many],
  COALESCE: [2, many],
  CONCAT: [2, many],
  DATABASEPROPERTYEX: [2, 2],
  DATABASE_PRINCIPAL_ID: [0, 1],
  DATALENGTH: [1, 1],
  DB_ID: [0, 1],
  DB_NAME: [0, 1],
  ERROR_LINE: [0, 0],
  ERROR_MESSAGE: [0, 0],
  ERROR_NUMBER: [0, 0],
  ERROR_PROCEDURE: [0, 0],
  ERROR_SEVERITY: [0, 0],
  ERROR_STATE: [0, 0],
  FLOOR: [1, 1],
  GETDATE: [0, 0],
  GETUTCDATE: [0, 0],
  HAS_PERMS_BY_NAME: [3, 5],
  ISJSON: [1, 1],
  ISNULL: [2, 2],
  JSON_QUERY: [1, 2],
  JSON_VALUE: [2, 2],
  LEFT: [2, 2],
  LEN: [1, 1],
  LOWER: [1, 1],
  LTRIM: [1, 1],
  NEWID: [0, 0],
  NULLIF: [2, 2],
  OBJECT_ID: [1, 2],
  OBJECT_NAME: [1, 2],
  ORIGINAL_LOGIN: [0, 0],
  POWER: [2, 2],
  QUOTENAME: [1, 2],
  REPLACE: [3, 3],
  REPLICATE: [2, 2],
  RIGHT: [2, 2],
  ROUND: [2, 3],
  RTRIM: [1, 1],
  SCHEMA_ID: [0, 1],
  SCHEMA_NAME: [0, 1],
  SCOPE_IDENTITY: [0, 0],
  SERVERPROPERTY: [1, 1],
  SIGN: [1, 1],
  STRING_ESCAPE: [2, 2],
  SUBSTRING: [3, 3],
  SUSER_ID: [0, 1],
  SUSER_SNAME: [0, 1],
  SWITCHOFFSET: [2, 2],
  SYSDATETIME: [0, 0],
  SYSUTCDATETIME: [0, 0],
  TRIM: [1, 1],
  TYPE_ID: [1, 1],
  UNICODE: [1, 1],
  UPPER: [1, 1],
  USER_NAME: [0, 1],
  XACT_STATE: [0, 0],
};

/** Functions that take a part of a date first, with the number of their other arguments. */
export const dateFunctions: Readonly<Record<DateCall["name"], number>> = {
  DATEADD: 2,
  DATEDIFF: 2,
  DATEDIFF_BIG: 2,
  DATEPART: 1,
};

/** Written out: abbreviations like `mi` and `ms` are easily mixed up. */
export const dateParts: readonly DatePart[] = [
  "YEAR",
  "MONTH",
  "DAY",
  "HOUR",
  "MINUTE",
  "SECOND",
  "MILLISECOND",
  "MICROSECOND",
  "NANOSECOND",
];

export const aggregates: readonly Aggregate["name"][] = [
  "AVG",
  "COUNT",
  "COUNT_BIG",
  "MAX",
  "MIN",
  "STRING_AGG",
  "SUM",
];

export const windowFunctions: readonly WindowCall["name"][] = ["ROW_NUMBER", "RANK", "DENSE_RANK"];

export const systemVariables: readonly SystemVariable["name"][] = [
  "@@ROWCOUNT",
  "@@TRANCOUNT",
  "@@OPTIONS",
  "@@ERROR",
  "@@SPID",
  "@@LOCK_TIMEOUT",
];
