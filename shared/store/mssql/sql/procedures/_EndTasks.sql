-- Taskgate._EndTasks: the one way to an end: tasks go to the archive, their keys are freed, their groups handed over, their
--         waves counted down. The row of a task that is done and keeps its payload stays behind as the payload's home, so that
--         it is written once in a task's life; the purge takes both rows.
-- In:     @Ended Taskgate.EndedTaskList: outcome 10 done, 11 dead, 12 cancelled
--         @TaskExecutionId: of the last attempt, null: none; @Now
--         @Released Taskgate.GroupedTaskList: tasks that only leave their groups (a retry that isn't strict)
--         @RetainDoneMs, @RetainDeadMs bigint: of the one definition of all these tasks, read before an execution's row was locked;
--         null: @Retention says it. Who ends tasks as done names them
--         @Retention: for tasks of several definitions: JSON array of {id, done, dead}, read likewise; null: read here, for a caller
--         with the definition's row locked, or with no execution's
--         @KeepPayload: of the definition of tasks that are done: 0: no payload is kept
--         @AreBlocked: 1: these tasks were never admitted: they hold no slot and are counted in no wave
-- Out:    @oWoken: JSON array of ids of definitions that got ready tasks; @oOpening: JSON array of ids of batches whose next wave is
--         still being opened; both stay what the caller hands over, '[]' and null, when there are none
-- Raises: 50413, 50422 a result that is too large or isn't the text of a JSON object or array: told with the tasks locked
-- Locks:  Task (only the owner of the claim or of the container's row gets here; before the archive, so that the holder of a task's row knows whether it has ended), new rows of Archive and EndedEarly, Attempt of tasks without retention. Then Dedupe in key order; groups ascending; waves as _EndInWaves; each
--         level once. Joins the caller's transaction
-- Isolation: a key that another call replaces after its window isn't locked here: a plain read recognises it.
--         Definitions aren't read where that could wait: who changes tokens goes from the definition to an execution
-- Plan:   primary keys; joins are loops in the written order
-- Twin:   postgres/sql/functions/_end_tasks.sql
CREATE OR ALTER PROCEDURE Taskgate._EndTasks
  @Ended Taskgate.EndedTaskList READONLY, @TaskExecutionId bigint, @Now datetime2(3),
  @Released Taskgate.GroupedTaskList READONLY, @oWoken nvarchar(max) OUTPUT, @oOpening nvarchar(max) OUTPUT,
  @RetainDoneMs bigint = NULL, @RetainDeadMs bigint = NULL, @Retention nvarchar(max) = NULL, @AreBlocked bit = 0,
  @KeepPayload bit = 1
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048), @vMore nvarchar(max), @vHasGone bit, @vHasTied bit,
          @vHasEarly bit, @vHasKeys bit, @vHasGroups bit, @vHasWaves bit;
  DECLARE @vRetention TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, DoneMs bigint NOT NULL, DeadMs bigint NOT NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Problem nvarchar(400) NULL, TaskDefinitionId int NOT NULL, Stays bit NOT NULL, IsTied bit NOT NULL,
    GroupId int NULL, WaveId bigint NULL,
    DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
    PendingGroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, PendingGroupIsGlobal bit NULL);
  DECLARE @vKey TABLE (
    TaskDefinitionId int NOT NULL, DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, DedupeKey));
  DECLARE @vLeaving Taskgate.GroupedTaskList, @vInWaves Taskgate.WaveTaskList;

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
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  INSERT INTO @vTask (TaskId, Problem, TaskDefinitionId, Stays, IsTied, GroupId, WaveId, DedupeKey, PendingGroupKey, PendingGroupIsGlobal)
  SELECT t.TaskId,
         CASE WHEN e.Result IS NULL THEN NULL -- readers join and parse results
              WHEN x.Bytes > 65536 THEN N'result: expected at most 65536 bytes (' + CONVERT(nvarchar(20), x.Bytes) + N')'
              WHEN Taskgate._JsonKind(e.Result) = N''
                THEN N'result: expected the text of a JSON object or array (' + REPLACE(LEFT(e.Result, 100), N'%', N'%%') + N')' END,
         t.TaskDefinitionId, CASE WHEN e.Outcome = 10 AND @KeepPayload = 1 AND @RetainDoneMs > 0 THEN 1 ELSE 0 END,
         CASE WHEN COALESCE(t.GroupId, t.WaveId) IS NULL AND COALESCE(t.CheckpointUtf8, t.LastErrorUtf8) IS NULL
                AND COALESCE(t.[Checkpoint], t.LastError) IS NULL AND t.ProgressText IS NULL THEN 0 ELSE 1 END,
         t.GroupId, t.WaveId, t.DedupeKey, t.PendingGroupKey, t.PendingGroupIsGlobal
  FROM @Ended AS e
  INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = e.TaskId -- each row as it is now, kept to the end
  CROSS APPLY (SELECT DATALENGTH(CONVERT(varchar(max), e.Result COLLATE Latin1_General_100_BIN2_UTF8)) AS Bytes) AS x
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task, ascending
  SELECT @vMessage = (SELECT TOP (1) p.Problem FROM @vTask AS p WHERE p.Problem IS NOT NULL ORDER BY p.TaskId),
         @vHasGone = CASE WHEN MIN(CONVERT(tinyint, t.Stays)) = 0 THEN 1 ELSE 0 END,
         @vHasTied = MAX(CASE WHEN t.Stays = 1 AND t.IsTied = 1 THEN 1 ELSE 0 END),
         @vHasEarly = CASE WHEN @AreBlocked = 1 OR COUNT(t.PendingGroupKey) > 0 THEN 1 ELSE 0 END,
         @vHasKeys = CASE WHEN COUNT(t.DedupeKey) > 0 THEN 1 ELSE 0 END,
         @vHasGroups = CASE WHEN COUNT(t.GroupId) > 0 OR EXISTS (SELECT 1 FROM @Released AS r) THEN 1 ELSE 0 END,
         @vHasWaves = CASE WHEN COUNT(t.WaveId) > 0 THEN 1 ELSE 0 END
  FROM @vTask AS t;
  IF @vMessage LIKE N'result: expected at most%' THROW 50413, @vMessage, 1;
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  -- Straight from table to table: payloads don't pass through a variable. A done task is never redriven: it names no group.
  INSERT INTO Taskgate.Archive WITH (ROWLOCK) (
    TaskId, TaskDefinitionId, Kind, Priority, Rank, CreatedAt, FinishedAt, PurgeAfter, TaskExecutionId, Fence, DurationMs, GroupId,
    WaveId, DedupeKey, Build, Outcome, FailedCount, LostCount, ErrorUtf8, ResultUtf8, PayloadUtf8, TraceParent)
  SELECT t.TaskId, t.TaskDefinitionId, t.Kind, t.Priority, t.Rank, t.CreatedAt, @Now,
         DATEADD(MILLISECOND, CONVERT(int, r.Ms % 86400000), DATEADD(DAY, CONVERT(int, r.Ms / 86400000), @Now)),
         @TaskExecutionId, e.Fence, e.DurationMs, CASE WHEN e.Outcome <> 10 THEN t.GroupId END, t.WaveId, t.DedupeKey, t.Build,
         e.Outcome, t.FailedCount, t.LostCount, COALESCE(t.LastErrorUtf8, CONVERT(varchar(max), t.LastError COLLATE Latin1_General_100_BIN2_UTF8)),
         CONVERT(varchar(max), e.Result COLLATE Latin1_General_100_BIN2_UTF8), CASE WHEN e.Outcome <> 10
           THEN COALESCE(t.PayloadUtf8, CONVERT(varchar(max), t.Payload COLLATE Latin1_General_100_BIN2_UTF8)) END, -- else a task of before
         CONVERT(varchar(220), t.TraceParent COLLATE Latin1_General_100_BIN2_UTF8)
  FROM @Ended AS e
  INNER JOIN Taskgate.Task AS t ON t.TaskId = e.TaskId
  LEFT JOIN @vRetention AS d ON d.TaskDefinitionId = t.TaskDefinitionId -- empty where the settings are handed over
  CROSS APPLY (
    SELECT CASE e.Outcome WHEN 11 THEN COALESCE(@RetainDeadMs, d.DeadMs) ELSE COALESCE(@RetainDoneMs, d.DoneMs) END AS Ms) AS r
  WHERE e.Outcome <> 10 OR r.Ms > 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  IF @vHasGone = 1
  BEGIN
    -- Kept nowhere: its earlier attempts go, too.
    IF @RetainDoneMs = 0
      DELETE p
      FROM @Ended AS e
      INNER JOIN Taskgate.Attempt AS p WITH (ROWLOCK, UPDLOCK, FORCESEEK) ON p.TaskId = e.TaskId -- these tasks' own rows
      WHERE e.Outcome = 10
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    DELETE t
    FROM @vTask AS v
    INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = v.TaskId -- ours already
    WHERE v.Stays = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    -- For a redrive: what the archive's columns don't say. Such a task was never claimed, so it isn't done.
    IF @vHasEarly = 1
      INSERT INTO Taskgate.EndedEarly WITH (ROWLOCK) (TaskId, PendingGroupKey, PendingGroupIsGlobal, WasBlocked)
      SELECT t.TaskId, t.PendingGroupKey, t.PendingGroupIsGlobal, @AreBlocked
      FROM @vTask AS t WHERE t.PendingGroupKey IS NOT NULL OR @AreBlocked = 1;
  END;
  IF @vHasTied = 1 -- a row that stays is in no group and no wave, and keeps no error, which the archive has, no checkpoint and no text
    UPDATE t
    SET GroupId = NULL, WaveId = NULL, CheckpointUtf8 = NULL, [Checkpoint] = NULL, LastErrorUtf8 = NULL, LastError = NULL, ProgressText = NULL
    FROM @vTask AS v
    INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = v.TaskId -- ours already
    WHERE v.Stays = 1 AND v.IsTied = 1
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  IF @vHasKeys = 1
  BEGIN
    INSERT INTO @vKey (TaskDefinitionId, DedupeKey)
    SELECT k.TaskDefinitionId, k.DedupeKey
    FROM @vTask AS t
    INNER JOIN Taskgate.Dedupe AS k ON k.TaskDefinitionId = t.TaskDefinitionId AND k.DedupeKey = t.DedupeKey
    WHERE k.TaskId = t.TaskId AND k.ExpiresAt IS NULL -- a key with a window outlives its task
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
    DELETE k
    FROM @vKey AS v
    INNER JOIN Taskgate.Dedupe AS k WITH (ROWLOCK, UPDLOCK) -- only keys that are these tasks' own
      ON k.TaskDefinitionId = v.TaskDefinitionId AND k.DedupeKey = v.DedupeKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key, ascending
  END;

  IF @AreBlocked = 1 RETURN;
  IF @vHasGroups = 1
  BEGIN
    INSERT INTO @vLeaving (TaskId, GroupId)
    SELECT t.TaskId, t.GroupId FROM @vTask AS t WHERE t.GroupId IS NOT NULL
    UNION ALL
    SELECT r.TaskId, r.GroupId FROM @Released AS r;
    EXEC Taskgate._HandOver @Leaving = @vLeaving, @oWoken = @oWoken OUTPUT;
  END;
  IF @vHasWaves = 1
  BEGIN
    INSERT INTO @vInWaves (TaskId, WaveId, Outcome)
    SELECT t.TaskId, t.WaveId, e.Outcome FROM @vTask AS t INNER JOIN @Ended AS e ON e.TaskId = t.TaskId WHERE t.WaveId IS NOT NULL
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    EXEC Taskgate._EndInWaves @Ended = @vInWaves, @Now = @Now, @oWoken = @vMore OUTPUT, @oOpening = @oOpening OUTPUT;
    SET @oWoken = CASE N'[]' WHEN @vMore THEN @oWoken WHEN @oWoken THEN @vMore ELSE REPLACE(@oWoken + @vMore, N'][', N',') END;
  END;
END;
