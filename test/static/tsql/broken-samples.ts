/** One edit of a shipped file that no server would take, or that would fail when it runs. */
export interface BrokenSample {
  readonly what: string;
  /** The end of the file's path. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const acquire = "procedures/AcquireTokens.sql";
const progress = "procedures/ReportProgress.sql";
const release = "procedures/ReleaseTokens.sql";
const pause = "procedures/PauseDefinition.sql";
const promote = "procedures/PromoteScheduled.sql";
const limit = "procedures/SetLimit.sql";
const handOver = "procedures/_HandOver.sql";
const denyEarly = "procedures/_DenyEarly.sql";
const baseline = "migrations/0001_baseline.sql";
const iso = "functions/_Iso.sql";
const overLimit = "functions/_OverLimit.sql";
const roles = "sql/roles.sql";

/** At least one of every kind of mistake that was ever made here, or is easily made. */
export const brokenSamples: readonly BrokenSample[] = [
  // Words.
  { what: "a misspelt SELECT", file: acquire, from: "SELECT ", to: "SELCT " },
  { what: "a misspelt BEGIN", file: release, from: "BEGIN TRY", to: "BEGN TRY" },
  { what: "a misspelt hint", file: progress, from: "READPAST", to: "READPASST" },
  {
    what: "a misspelt ORDER BY",
    file: overLimit.replace("_OverLimit", "_NextDueMs"),
    from: "ORDER BY",
    to: "ORDER BYE",
  },
  {
    what: "a misspelt FROM",
    file: progress,
    from: "FROM Taskgate.Task AS t",
    to: "FORM Taskgate.Task AS t",
  },
  { what: "a misspelt COMMIT", file: acquire, from: "COMMIT TRANSACTION", to: "COMIT TRANSACTION" },
  { what: "a misspelt RETURN", file: iso, from: "RETURN REPLACE", to: "RETRUN REPLACE" },
  { what: "a misspelt session setting", file: pause, from: "XACT_ABORT", to: "XACT_ABRT" },
  {
    what: "a misspelt type",
    file: pause,
    from: "@ChangedBy nvarchar(max)",
    to: "@ChangedBy nvarchr(max)",
  },
  {
    what: "a misspelt CONSTRAINT",
    file: baseline,
    from: "CONSTRAINT PK_Ready",
    to: "CONSTRAIT PK_Ready",
  },
  { what: "a misspelt function", file: iso, from: "REPLACE(", to: "REPLAC(" },
  { what: "a misspelt server variable", file: pause, from: "@@TRANCOUNT", to: "@@TRANSCOUNT" },
  {
    what: "a function of another database",
    file: iso,
    from: "CONVERT(nvarchar(23), @At, 121)",
    to: "TO_CHAR(@At, 121)",
  },
  { what: "a keyword in the wrong case", file: progress, from: "UPDATE ", to: "Update " },
  {
    what: "a misspelt GRANT",
    file: roles,
    from: "GRANT EXECUTE ON OBJECT::Taskgate.Sweep",
    to: "GRNT EXECUTE ON OBJECT::Taskgate.Sweep",
  },
  // Structure.
  { what: "a missing END", file: iso, from: "END;", to: "" },
  { what: "an END too many", file: overLimit, from: "END;", to: "END; END;" },
  { what: "a missing END TRY", file: pause, from: "END TRY", to: "" },
  { what: "CATCH ended by END TRY", file: pause, from: "END CATCH", to: "END TRY" },
  {
    what: "a CASE without END",
    file: overLimit,
    from: "x.Held - x.TaskLimit END",
    to: "x.Held - x.TaskLimit",
  },
  { what: "a missing parenthesis", file: iso, from: "N'T')", to: "N'T'" },
  { what: "a parenthesis too many", file: iso, from: "N'T')", to: "N'T'))" },
  { what: "an open string", file: iso, from: "N'Z'", to: "N'Z" },
  { what: "a missing THEN", file: overLimit, from: "x.TaskLimit THEN 0", to: "x.TaskLimit 0" },
  {
    what: "a missing comma in a column list of a table",
    file: baseline,
    from: "RunAt datetime2(3) NOT NULL,\n  TaskId",
    to: "RunAt datetime2(3) NOT NULL\n  TaskId",
  },
  {
    what: "a missing comma between parameters",
    file: pause,
    from: "@Name nvarchar(max), ",
    to: "@Name nvarchar(max) ",
  },
  { what: "a missing operator", file: iso, from: "+ N'Z'", to: "N'Z'" },
  { what: "an operator too many", file: iso, from: "+ N'Z'", to: "+ * N'Z'" },
  {
    what: "a missing table",
    file: overLimit,
    from: "FROM Taskgate.TaskDefinition AS d",
    to: "FROM WHERE",
  },
  { what: "a comma too many", file: iso, from: "@At, 121)", to: "@At, 121,)" },
  // Names.
  { what: "an undeclared variable", file: acquire, from: "@vDefinition", to: "@vDefinitoin" },
  {
    what: "a variable in the wrong case",
    file: progress,
    from: "@vStatus AS [Status]",
    to: "@vstatus AS [Status]",
  },
  {
    what: "a variable that is used before it is declared",
    file: denyEarly,
    from: "  SET NOCOUNT",
    to: "  SET @vNow = NULL; SET NOCOUNT",
  },
  {
    what: "an unknown column",
    file: progress,
    from: "e.TaskExecutionId = @TaskExecutionId",
    to: "e.ExecutionId = @TaskExecutionId",
  },
  { what: "a column in the wrong case", file: progress, from: "e.State = 1", to: "e.state = 1" },
  {
    what: "a column of another table",
    file: progress,
    from: "c.Fence = @Fence",
    to: "c.LeaseUntil = @Fence",
  },
  {
    what: "an unknown column in SET",
    file: progress,
    from: "SET ProgressDone = @Done",
    to: "SET Done = @Done",
  },
  {
    what: "an unknown alias",
    file: progress,
    from: "WHERE t.TaskId = @TaskId",
    to: "WHERE x.TaskId = @TaskId",
  },
  {
    what: "an alias of an inner query used outside",
    file: overLimit,
    from: "CASE WHEN x.TaskLimit",
    to: "CASE WHEN d.TaskLimit",
  },
  {
    what: "an unknown table",
    file: overLimit,
    from: "FROM Taskgate.TaskDefinition",
    to: "FROM Taskgate.TaskDefinitions",
  },
  {
    what: "an unknown procedure",
    file: release,
    from: "EXEC Taskgate._SettleTokens",
    to: "EXEC Taskgate._SettleToken",
  },
  { what: "a wrong parameter name", file: release, from: "@Keep = @Keep", to: "@Kept = @Keep" },
  {
    what: "a parameter that is left out",
    file: release,
    from: "@TaskExecutionId = @TaskExecutionId, @Keep",
    to: "@Keep",
  },
  {
    what: "OUTPUT left out of a call",
    file: acquire,
    from: "@oStatus = @vStatus OUTPUT",
    to: "@oStatus = @vStatus",
  },
  {
    what: "an index of another table in a hint",
    file: progress,
    from: "INDEX (PK_Claim)",
    to: "INDEX (PK_Task)",
  },
  {
    what: "an unknown table type",
    file: handOver,
    from: "Taskgate.GroupedTaskList",
    to: "Taskgate.GroupTaskList",
  },
  {
    what: "a right on an object that isn't there",
    file: roles,
    from: "Taskgate.Sweep",
    to: "Taskgate.Sweeps",
  },
  {
    what: "an index over a column that isn't there",
    file: baseline,
    from: "ON Taskgate.Archive (PurgeAfter)",
    to: "ON Taskgate.Archive (PurgeAt)",
  },
  // Lists.
  { what: "a value too few", file: pause, from: "N'operator', ", to: "" },
  { what: "a column too few", file: limit, from: "Setting, OldValue", to: "OldValue" },
  { what: "a required column left out", file: pause, from: ", ChangedAt)", to: ")" },
  {
    what: "a function with too few arguments",
    file: iso,
    from: "@At, 121), N' ', N'T')",
    to: "@At, 121), N' ')",
  },
  {
    what: "our function with too many arguments",
    file: promote,
    from: "Taskgate._NextDueMs(@vDefinition)",
    to: "Taskgate._NextDueMs(@vDefinition, 1)",
  },
  {
    what: "two types for one column",
    file: baseline,
    from: "DurationMs int NULL",
    to: "DurationMs int bigint NULL",
  },
];
