-- Taskgate._WriteKinds: writes the rules of the kinds that a registration names. Those of other kinds stay.
-- In:     @TaskDefinitionId int; @Kinds: checked by _KindsProblem, or null: nothing changes
-- Out:    @oOld, @oNew: all rules of the definition before and now, for the audit
-- Raises: -
-- Locks:  TaskKind: rows of the definition. Only registrations write them, and they come one after the other
-- Isolation: runs in the caller's transaction, under the definition's row lock; a wait for readers ends with their statement
-- Plan:   primary key; joins are loops in the written order
-- Twin:   postgres/sql/functions/_write_kinds.sql
CREATE OR ALTER PROCEDURE Taskgate._WriteKinds
  @TaskDefinitionId int, @Kinds nvarchar(max), @oOld nvarchar(400) OUTPUT, @oNew nvarchar(400) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vKind TABLE (
    Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY CLUSTERED, GroupBy nvarchar(200) NULL, IsGroupComputed bit NOT NULL,
    Priority smallint NULL, RunInMs bigint NULL, DedupeBy nvarchar(200) NULL, DedupeMs bigint NULL);
  INSERT INTO @vKind (Kind, GroupBy, IsGroupComputed, Priority, RunInMs, DedupeBy, DedupeMs)
  SELECT v.Kind, v.GroupBy, COALESCE(v.IsGroupComputed, 0), v.Priority, v.RunInMs, v.DedupeBy, v.DedupeMs
  FROM OPENJSON(@Kinds) WITH (
    Kind nvarchar(200) N'$.kind', GroupBy nvarchar(200) N'$.groupBy', IsGroupComputed bit N'$.isGroupComputed', Priority smallint N'$.priority',
    RunInMs bigint N'$.runInMs', DedupeBy nvarchar(200) N'$.dedupeBy', DedupeMs bigint N'$.dedupeMs') AS v;
  SET @oOld = Taskgate._KindsText(@TaskDefinitionId);
  DELETE k
  FROM @vKind AS v
  INNER JOIN Taskgate.TaskKind AS k WITH (ROWLOCK, UPDLOCK) -- registrations only
    ON k.TaskDefinitionId = @TaskDefinitionId AND k.Kind = v.Kind
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per kind
  INSERT INTO Taskgate.TaskKind (TaskDefinitionId, Kind, GroupBy, IsGroupComputed, Priority, RunInMs, DedupeBy, DedupeMs)
  SELECT @TaskDefinitionId, v.Kind, v.GroupBy, v.IsGroupComputed, v.Priority, v.RunInMs, v.DedupeBy, v.DedupeMs
  FROM @vKind AS v
  WHERE v.GroupBy IS NOT NULL OR v.IsGroupComputed = 1 OR v.Priority IS NOT NULL OR v.RunInMs IS NOT NULL OR v.DedupeBy IS NOT NULL;
  SET @oNew = Taskgate._KindsText(@TaskDefinitionId);
END;
