-- Taskgate._EndTasks: the one way to an end: tasks leave for the archive, their keys are freed, their groups handed over, their
--         waves counted down.
-- In:     @Ended Taskgate.EndedTaskList: outcome 10 done, 11 dead, 12 cancelled
--         @TaskExecutionId: of the last attempt, null: none; @Now
--         @Released Taskgate.GroupedTaskList: tasks that only leave their groups (a retry that isn't strict)
--         @RetainDoneMs, @RetainDeadMs bigint: of the one definition of all these tasks, read before an execution's row was locked;
--         null: @Retention says it. Who ends tasks as done names them
--         @Retention: for tasks of several definitions: JSON array of {id, done, dead}, read likewise; null: read here, for a caller
--         with the definition's row locked, or with no execution's
--         @KeepPayload: of the definition of tasks that are done: 0: their rows keep no payload
--         @AreBlocked: 1: these tasks were never admitted: they hold no slot and are counted in no wave
-- Out:    @oWoken: JSON array of ids of definitions that got ready tasks; @oOpening: JSON array of ids of batches whose next wave is
--         still being opened; both stay what the caller hands over, '[]' and null, when there are none
-- Raises: 50413, 50422 a result that is too large or isn't the text of a JSON object or array
-- Locks:  Task (only the claim's owner gets here), new rows of Archive and EndedEarly, Attempt of tasks without retention. Then Dedupe in key order; groups ascending; waves as _EndInWaves; each
--         level once. Joins the caller's transaction
-- Isolation: a key that another call replaces after its window isn't locked here: a plain read recognises it.
--         Definitions aren't read where that could wait: who changes tokens goes from the definition to an execution
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_end_tasks.sql
CREATE OR ALTER PROCEDURE Taskgate._EndTasks
  @Ended Taskgate.EndedTaskList READONLY, @TaskExecutionId bigint, @Now datetime2(3),
  @Released Taskgate.GroupedTaskList READONLY, @oWoken nvarchar(max) OUTPUT, @oOpening nvarchar(max) OUTPUT,
  @RetainDoneMs bigint = NULL, @RetainDeadMs bigint = NULL, @Retention nvarchar(max) = NULL, @AreBlocked bit = 0,
  @KeepPayload bit = 1
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  DECLARE @vMessage nvarchar(2048), @vNumber int, @vMore nvarchar(max),
          @vHasEarly bit, @vHasKeys bit, @vHasGroups bit, @vHasWaves bit;
  DECLARE @vRetention TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, DoneMs bigint NOT NULL, DeadMs bigint NOT NULL);
  DECLARE @vGone TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, GroupId int NULL, WaveId bigint NULL,
    DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
    PendingGroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, PendingGroupIsGlobal bit NULL);
  DECLARE @vKey TABLE (
    TaskDefinitionId int NOT NULL, DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, DedupeKey));
  DECLARE @vLeaving Taskgate.GroupedTaskList, @vInWaves Taskgate.WaveTaskList;

  -- Readers join and parse results.
  SELECT TOP (1)
         @vNumber = CASE WHEN x.Bytes > 65536 THEN 50413 ELSE 50422 END,
         @vMessage = CASE
                     WHEN x.Bytes > 65536 THEN N'result: expected at most 65536 bytes (' + CONVERT(nvarchar(20), x.Bytes) + N')'
                     ELSE N'result: expected the text of a JSON object or array ('
                       + REPLACE(LEFT(e.Result, 100), N'%', N'%%') + N')' END
  FROM @Ended AS e
  CROSS APPLY (SELECT DATALENGTH(CONVERT(varchar(max), e.Result COLLATE Latin1_General_100_BIN2_UTF8)) AS Bytes) AS x
  WHERE e.Result IS NOT NULL
    AND (x.Bytes > 65536 OR Taskgate._JsonKind(e.Result) = N'')
  ORDER BY e.TaskId;
  IF @vMessage IS NOT NULL THROW @vNumber, @vMessage, 1;
  IF @Retention IS NOT NULL
    INSERT INTO @vRetention (TaskDefinitionId, DoneMs, DeadMs)
    SELECT v.TaskDefinitionId, v.DoneMs, v.DeadMs
    FROM OPENJSON(@Retention) WITH (TaskDefinitionId int N'$.id', DoneMs bigint N'$.done', DeadMs bigint N'$.dead') AS v;
  ELSE IF @RetainDoneMs IS NULL
    INSERT INTO @vRetention (TaskDefinitionId, DoneMs, DeadMs)
    SELECT d.TaskDefinitionId, d.RetainDoneMs, d.RetainDeadMs
    FROM (
      SELECT DISTINCT t.TaskDefinitionId
      FROM @Ended AS e INNER JOIN Taskgate.Task AS t ON t.TaskId = e.TaskId) AS x
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
  -- Straight from table to table: payloads don't pass through a variable. The rows are the caller's own. A done task is never
  -- redriven: it names no group.
  INSERT INTO Taskgate.Archive WITH (ROWLOCK) (
    TaskId, TaskDefinitionId, Kind, Priority, Rank, CreatedAt, FinishedAt, PurgeAfter, TaskExecutionId, Fence, DurationMs, GroupId,
    WaveId, DedupeKey, Build, Outcome, FailedCount, LostCount, ErrorUtf8, ResultUtf8, PayloadUtf8, TraceParent)
  SELECT t.TaskId, t.TaskDefinitionId, t.Kind, t.Priority, t.Rank, t.CreatedAt, @Now,
         DATEADD(MILLISECOND, CONVERT(int, r.Ms % 86400000), DATEADD(DAY, CONVERT(int, r.Ms / 86400000), @Now)),
         @TaskExecutionId, e.Fence, e.DurationMs, CASE WHEN e.Outcome <> 10 THEN t.GroupId END, t.WaveId, t.DedupeKey, t.Build,
         e.Outcome, t.FailedCount, t.LostCount, COALESCE(t.LastErrorUtf8, CONVERT(varchar(max), t.LastError COLLATE Latin1_General_100_BIN2_UTF8)),
         CONVERT(varchar(max), e.Result COLLATE Latin1_General_100_BIN2_UTF8), CASE WHEN e.Outcome <> 10 OR @KeepPayload = 1
           THEN COALESCE(t.PayloadUtf8, CONVERT(varchar(max), t.Payload COLLATE Latin1_General_100_BIN2_UTF8)) END, -- else a task of before
         CONVERT(varchar(220), t.TraceParent COLLATE Latin1_General_100_BIN2_UTF8)
  FROM @Ended AS e
  INNER JOIN Taskgate.Task AS t ON t.TaskId = e.TaskId
  LEFT JOIN @vRetention AS d ON d.TaskDefinitionId = t.TaskDefinitionId -- empty where the settings are handed over
  CROSS APPLY (
    SELECT CASE e.Outcome WHEN 11 THEN COALESCE(@RetainDeadMs, d.DeadMs) ELSE COALESCE(@RetainDoneMs, d.DoneMs) END AS Ms) AS r
  WHERE e.Outcome <> 10 OR r.Ms > 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
  -- Kept nowhere: its earlier attempts go, too.
  IF @RetainDoneMs = 0
    DELETE p
    FROM @Ended AS e
    INNER JOIN Taskgate.Attempt AS p WITH (ROWLOCK, UPDLOCK, FORCESEEK) ON p.TaskId = e.TaskId -- these tasks' own rows
    WHERE e.Outcome = 10
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
  DELETE t
  OUTPUT deleted.TaskId, deleted.TaskDefinitionId, deleted.GroupId, deleted.WaveId, deleted.DedupeKey, deleted.PendingGroupKey,
         deleted.PendingGroupIsGlobal
  INTO @vGone (TaskId, TaskDefinitionId, GroupId, WaveId, DedupeKey, PendingGroupKey, PendingGroupIsGlobal)
  FROM @Ended AS e
  INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = e.TaskId -- each row as it is now
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task, ascending
  SELECT @vHasEarly = CASE WHEN @AreBlocked = 1 OR COUNT(g.PendingGroupKey) > 0 THEN 1 ELSE 0 END,
         @vHasKeys = CASE WHEN COUNT(g.DedupeKey) > 0 THEN 1 ELSE 0 END,
         @vHasGroups = CASE WHEN COUNT(g.GroupId) > 0 OR EXISTS (SELECT 1 FROM @Released AS r) THEN 1 ELSE 0 END,
         @vHasWaves = CASE WHEN COUNT(g.WaveId) > 0 THEN 1 ELSE 0 END
  FROM @vGone AS g;
  -- For a redrive: what the archive's columns don't say. Such a task was never claimed, so it is in the archive.
  IF @vHasEarly = 1
    INSERT INTO Taskgate.EndedEarly WITH (ROWLOCK) (TaskId, PendingGroupKey, PendingGroupIsGlobal, WasBlocked)
    SELECT g.TaskId, g.PendingGroupKey, g.PendingGroupIsGlobal, @AreBlocked
    FROM @vGone AS g WHERE g.PendingGroupKey IS NOT NULL OR @AreBlocked = 1;

  IF @vHasKeys = 1
  BEGIN
    INSERT INTO @vKey (TaskDefinitionId, DedupeKey)
    SELECT k.TaskDefinitionId, k.DedupeKey
    FROM @vGone AS g
    INNER JOIN Taskgate.Dedupe AS k ON k.TaskDefinitionId = g.TaskDefinitionId AND k.DedupeKey = g.DedupeKey
    WHERE k.TaskId = g.TaskId AND k.ExpiresAt IS NULL -- a key with a window outlives its task
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per key
    DELETE k
    FROM @vKey AS v
    INNER JOIN Taskgate.Dedupe AS k WITH (ROWLOCK, UPDLOCK) -- only keys that are these tasks' own
      ON k.TaskDefinitionId = v.TaskDefinitionId AND k.DedupeKey = v.DedupeKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per key, ascending
  END;

  IF @AreBlocked = 1 RETURN;
  IF @vHasGroups = 1
  BEGIN
    INSERT INTO @vLeaving (TaskId, GroupId)
    SELECT g.TaskId, g.GroupId FROM @vGone AS g WHERE g.GroupId IS NOT NULL
    UNION ALL
    SELECT r.TaskId, r.GroupId FROM @Released AS r;
    EXEC Taskgate._HandOver @Leaving = @vLeaving, @oWoken = @oWoken OUTPUT;
  END;
  IF @vHasWaves = 1
  BEGIN
    INSERT INTO @vInWaves (TaskId, WaveId, Outcome)
    SELECT g.TaskId, g.WaveId, e.Outcome FROM @vGone AS g INNER JOIN @Ended AS e ON e.TaskId = g.TaskId WHERE g.WaveId IS NOT NULL;
    EXEC Taskgate._EndInWaves @Ended = @vInWaves, @Now = @Now, @oWoken = @vMore OUTPUT, @oOpening = @oOpening OUTPUT;
    SET @oWoken = CASE N'[]' WHEN @vMore THEN @oWoken WHEN @oWoken THEN @vMore ELSE REPLACE(@oWoken + @vMore, N'][', N',') END;
  END;
END;
