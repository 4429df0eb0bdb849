-- Taskgate.FailTasks: tasks that did not end well: retry later, end as dead letters, end cancelled, or go on later uncounted.
-- In:     @TaskExecutionId bigint
--         @Failures: JSON array of 1..1000 {task, fence, as, error, retryInMs, durationMs, checkpoint, share}:
--           as: failed (counted; retried until RetryAttempts, then dead) | dead (gave up) | cancelled | continued (uncounted:
--           comes back after retryInMs, with the checkpoint if one is given)
--           retryInMs: 0..2592000000, null: the definition's back-off (continued: at once, with a share: 5 s doubled up to 5 min); error: cut to 4000 characters
--           share: of continued, 1..1000: what this return takes of the task's 1000; null: 1, and with a checkpoint that differs from the
--           one before the count starts anew at 1; with more than 1000 the task is dead
--         @StartId: as Work
-- Out:    Status: done | fenced (nothing changed); Results: JSON array in input order of
--           {task, outcome: retry | dead | cancelled | continued | again (told before) | fenced, retryInMs}
--         Woken: JSON array of other definitions that got ready tasks, or null; NextDueMs bigint: the earliest retry, or null
--         Opening: JSON array of batches to be pumped (PumpBatch), or null
-- Raises: 50413 a checkpoint too large; 50422 not such a list, a value out of range; 50490 inside a transaction;
--         1222 locked for longer than 2 s
-- Locks:  TaskExecution (own), Claim (its own), new rows of Attempt, Task, then all ends as in _EndTasks: Dedupe, TaskGroup ascending,
--         waves as _EndInWaves; new rows of Scheduled
-- Isolation: of two callers for one execution the second waits for its row and then finds the claims gone: `again`
-- Plan:   primary keys; joins are loops in the written order
-- Once:   by (task, fence): the key of Attempt
-- Twin:   postgres/sql/functions/fail_tasks.sql, _backoff_ms.sql
CREATE OR ALTER PROCEDURE Taskgate.FailTasks
  @TaskExecutionId bigint, @Failures nvarchar(max), @StartId uniqueidentifier = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vNumber int, @vDefinition int, @vState tinyint,
          @vIsSolo bit, @vRetryAttempts smallint, @vBaseMs int, @vCapMs int, @vRetainDoneMs bigint, @vRetainDeadMs bigint,
          @vWokenIds nvarchar(max) = N'[]', @vOpening nvarchar(max), @vStatus nvarchar(20), @vResults nvarchar(max), @vNextDueMs bigint;
  DECLARE @vFailure TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, TaskId bigint NULL, Fence bigint NULL,
    How nvarchar(220) COLLATE Latin1_General_100_BIN2 NULL, Error nvarchar(4000) NULL, RetryInMs bigint NULL, DurationMs int NULL,
    [Checkpoint] nvarchar(max) NULL, Share int NULL, Problem nvarchar(400) NULL, IsHeld bit NOT NULL, Ordinal int NULL,
    ClaimedAt datetime2(3) NULL, Outcome nvarchar(20) NULL, WaitMs bigint NULL, GroupId int NULL);
  DECLARE @vHeld TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Fence bigint NOT NULL, Ordinal int NOT NULL, ClaimedAt datetime2(3) NOT NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, FailedCount smallint NOT NULL, ContinuedCount int NOT NULL, GroupId int NULL, CancelRequested bit NOT NULL);
  DECLARE @vEnded Taskgate.EndedTaskList, @vReleased Taskgate.GroupedTaskList;

  IF Taskgate._JsonKind(@Failures) = N'['
    INSERT INTO @vFailure (Ord, TaskId, Fence, How, Error, RetryInMs, DurationMs, [Checkpoint], Share, Problem, IsHeld)
    SELECT CONVERT(int, j.[key]), v.TaskId, v.Fence, LEFT(v.How, 220), LEFT(v.Error COLLATE Latin1_General_100_BIN2, 4000), v.RetryInMs, v.DurationMs,
           x.[Checkpoint], v.Share,
           CASE
             WHEN v.How IS NULL OR v.How COLLATE Latin1_General_100_BIN2 NOT IN (N'failed', N'dead', N'cancelled', N'continued')
               THEN N'failures.as: expected failed, dead, cancelled or continued (' + COALESCE(LEFT(v.How, 220), N'<NULL>') + N')'
             WHEN v.RetryInMs NOT BETWEEN 0 AND 2592000000
               THEN N'failures.retryInMs: expected 0..2592000000 (' + CONVERT(nvarchar(20), v.RetryInMs) + N')'
             WHEN v.Share NOT BETWEEN 1 AND 1000
               THEN N'failures.share: expected 1..1000 (' + CONVERT(nvarchar(20), v.Share) + N')'
             WHEN x.[Checkpoint] IS NOT NULL AND y.Items <> 1
               THEN N'failures.checkpoint: expected JSON text (' + LEFT(x.[Checkpoint], 100) + N')'
             WHEN x.Bytes > 65536
               THEN N'failures.checkpoint: expected at most 65536 bytes (' + CONVERT(nvarchar(20), x.Bytes) + N')' END, 0
    FROM OPENJSON(@Failures) AS j
    OUTER APPLY OPENJSON(CASE j.[type] WHEN 5 THEN j.[value] END) WITH ( -- what isn't an object has no `as`
      TaskId bigint N'$.task', Fence bigint N'$.fence', How nvarchar(max) N'$.as', Error nvarchar(max) N'$.error',
      RetryInMs bigint N'$.retryInMs', DurationMs int N'$.durationMs', Share int N'$.share', CheckpointText nvarchar(max) N'$.checkpoint',
      CheckpointJson nvarchar(max) N'$.checkpoint' AS JSON) AS v
    CROSS APPLY (
      SELECT COALESCE(v.CheckpointText, v.CheckpointJson) AS [Checkpoint],
             DATALENGTH(CONVERT(varchar(max), COALESCE(v.CheckpointText, v.CheckpointJson) COLLATE Latin1_General_100_BIN2_UTF8))
               AS Bytes) AS x
    CROSS APPLY ( -- ISJSON knows objects and arrays only: in brackets, any JSON text is an array of one
      SELECT COUNT(*) AS Items
      FROM OPENJSON(CASE ISJSON(N'[' + x.[Checkpoint] + N']') WHEN 1 THEN N'[' + x.[Checkpoint] + N']' END) AS k) AS y;
  IF (SELECT COUNT(*) FROM @vFailure AS f) NOT BETWEEN 1 AND 1000
    THROW 50422, N'failures: expected a JSON array of 1..1000 entries', 1;

  BEGIN TRY
    -- Settings first, with nothing locked, in two statements: a reader that holds one row must not wait for the other.
    SELECT @vDefinition = x.TaskDefinitionId
    FROM Taskgate.TaskExecution AS x
    WHERE x.TaskExecutionId = @TaskExecutionId;
    SELECT @vRetryAttempts = d.RetryAttempts, @vBaseMs = d.RetryBaseMs, @vCapMs = d.RetryCapMs,
           @vRetainDoneMs = d.RetainDoneMs, @vRetainDeadMs = d.RetainDeadMs
    FROM Taskgate.TaskDefinition AS d
    WHERE d.TaskDefinitionId = @vDefinition;

    BEGIN TRANSACTION;
    SELECT @vState = x.State, @vIsSolo = x.IsSolo
    FROM Taskgate.TaskExecution AS x WITH (ROWLOCK, UPDLOCK) -- the row as it is now, kept to the end
    WHERE x.TaskExecutionId = @TaskExecutionId AND (@StartId IS NULL OR x.OperationId = @StartId);
    IF @vState IS NULL OR @vState <> 1
    BEGIN
      SET @vStatus = N'fenced';
      SET @vResults = N'[]';
    END;
    ELSE
    BEGIN
      SELECT TOP (1) @vMessage = REPLACE(f.Problem, N'%', N'%%'),
             @vNumber = CASE WHEN f.Problem LIKE N'%: expected at most%' THEN 50413 ELSE 50422 END
      FROM @vFailure AS f
      WHERE f.Problem IS NOT NULL
      ORDER BY f.TaskId, f.Ord;
      IF @vMessage IS NOT NULL THROW @vNumber, @vMessage, 1;

      -- 1. Which claims they are; told twice: once.
      INSERT INTO @vHeld (TaskId, Fence, Ordinal, ClaimedAt)
      SELECT c.TaskId, c.Fence, c.Ordinal, c.ClaimedAt
      FROM Taskgate.Claim AS c WITH (FORCESEEK) -- the execution's few rows
      WHERE c.TaskExecutionId = @TaskExecutionId;
      UPDATE f
      SET IsHeld = 1, Ordinal = a.Ordinal, ClaimedAt = a.ClaimedAt
      FROM (
        SELECT x.Ord, h.Ordinal, h.ClaimedAt, ROW_NUMBER() OVER (PARTITION BY h.TaskId ORDER BY x.Ord) AS K
        FROM @vFailure AS x
        INNER JOIN @vHeld AS h ON h.TaskId = x.TaskId AND h.Fence = x.Fence) AS a
      INNER JOIN @vFailure AS f ON f.Ord = a.Ord
      WHERE a.K = 1
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per task

      -- 2. Count, and decide. A cancel request that arrived meanwhile wins over every way of going on.
      UPDATE t
      SET FailedCount = t.FailedCount + CASE WHEN f.How IN (N'failed', N'dead') THEN 1 ELSE 0 END,
          ContinuedCount = CASE WHEN f.How <> N'continued' THEN t.ContinuedCount
                              WHEN f.Share IS NULL AND f.[Checkpoint] IS NOT NULL
                                AND (c.Known IS NULL OR f.[Checkpoint] COLLATE Latin1_General_100_BIN2 <> c.Known
                                     OR DATALENGTH(f.[Checkpoint]) <> DATALENGTH(c.Known)) -- a comparison ignores blanks at the end
                                THEN 1
                              ELSE t.ContinuedCount + COALESCE(f.Share, 1) END,
          CheckpointUtf8 = CASE WHEN f.How = N'continued' AND f.[Checkpoint] IS NOT NULL THEN CONVERT(varchar(max), f.[Checkpoint] COLLATE Latin1_General_100_BIN2_UTF8)
                              ELSE t.CheckpointUtf8 END,
          LastErrorUtf8 = COALESCE(CONVERT(varchar(max), f.Error COLLATE Latin1_General_100_BIN2_UTF8), t.LastErrorUtf8),
          -- A task that fails is late since it was due; an own delay is another instant.
          DueAt = CASE WHEN f.RetryInMs IS NULL THEN t.DueAt
                       ELSE DATEADD(MILLISECOND, CONVERT(int, f.RetryInMs % 86400000), DATEADD(DAY, CONVERT(int, f.RetryInMs / 86400000), @vNow)) END
      OUTPUT inserted.TaskId, inserted.FailedCount, inserted.ContinuedCount, inserted.GroupId, inserted.CancelRequested
      INTO @vTask (TaskId, FailedCount, ContinuedCount, GroupId, CancelRequested)
      FROM @vFailure AS f
      INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = f.TaskId -- each row as it is now
      CROSS APPLY (SELECT COALESCE(CONVERT(nvarchar(max), t.CheckpointUtf8) COLLATE Latin1_General_100_BIN2, t.[Checkpoint]) AS Known) AS c
      WHERE f.IsHeld = 1
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
      UPDATE f
      SET GroupId = t.GroupId,
          Outcome = CASE WHEN f.How = N'dead' THEN N'dead' WHEN f.How = N'cancelled' OR t.CancelRequested = 1 THEN N'cancelled'
                         WHEN f.How = N'continued' AND t.ContinuedCount > 1000 THEN N'dead'
                         WHEN f.How = N'continued' THEN N'continued' WHEN t.FailedCount >= @vRetryAttempts THEN N'dead'
                         ELSE N'retry' END,
          -- Exponential back-off: base * 2^(n-1) up to the cap, n up to 31.
          WaitMs = CASE WHEN f.RetryInMs IS NOT NULL THEN f.RetryInMs WHEN f.How = N'continued' AND f.Share IS NULL THEN 0
                        WHEN b.BaseMs * POWER(CONVERT(bigint, 2), b.Doublings) > b.CapMs THEN b.CapMs
                        ELSE b.BaseMs * POWER(CONVERT(bigint, 2), b.Doublings) END
      FROM @vFailure AS f
      INNER JOIN @vTask AS t ON t.TaskId = f.TaskId
      CROSS APPLY (
        SELECT CASE WHEN n.Times < 1 THEN 0 WHEN n.Times > 31 THEN 30 ELSE n.Times - 1 END AS Doublings,
               CASE f.How WHEN N'continued' THEN 5000 ELSE @vBaseMs END AS BaseMs, CASE f.How WHEN N'continued' THEN 300000 ELSE @vCapMs END AS CapMs
        FROM (SELECT CASE WHEN f.How = N'continued' THEN t.ContinuedCount / COALESCE(f.Share, 1) ELSE t.FailedCount END AS Times) AS n) AS b
      WHERE f.IsHeld = 1
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
      UPDATE f
      SET WaitMs = CASE
            WHEN f.Outcome IN (N'dead', N'cancelled') THEN NULL
            WHEN f.RetryInMs IS NOT NULL THEN f.WaitMs
            -- Equal jitter: one half fixed, the other random per task; of a continuation's 0, nothing.
            ELSE f.WaitMs / 2 + ABS(CONVERT(bigint, CHECKSUM(NEWID()))) % (f.WaitMs - f.WaitMs / 2 + 1) END
      FROM @vFailure AS f;

      UPDATE f
      SET Error = LEFT(N'came back uncounted too often, the last time: ' + COALESCE(f.Error, N'its checkpoint was the one before') COLLATE Latin1_General_100_BIN2, 4000)
      FROM @vFailure AS f
      WHERE f.How = N'continued' AND f.Outcome = N'dead';
      IF @@ROWCOUNT > 0
        UPDATE t
        SET LastErrorUtf8 = CONVERT(varchar(max), f.Error COLLATE Latin1_General_100_BIN2_UTF8)
        FROM @vFailure AS f
        INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = f.TaskId -- ours already
        WHERE f.How = N'continued' AND f.Outcome = N'dead'
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task

      -- 3. Log the attempt, drop the claim, leave the tasks that come back for later.
      INSERT INTO Taskgate.Attempt WITH (ROWLOCK) (TaskId, Fence, TaskExecutionId, ClaimedAt, FinishedAt, DurationMs, Outcome, ErrorUtf8)
      SELECT f.TaskId, f.Fence, @TaskExecutionId, f.ClaimedAt, @vNow, f.DurationMs,
             CASE WHEN f.How IN (N'failed', N'dead') OR f.Outcome = N'dead' THEN 11 WHEN f.Outcome = N'cancelled' THEN 12 ELSE 14 END,
             CONVERT(varchar(max), f.Error COLLATE Latin1_General_100_BIN2_UTF8)
      FROM @vFailure AS f WHERE f.IsHeld = 1;
      INSERT INTO Taskgate.Scheduled WITH (ROWLOCK) (TaskDefinitionId, RunAt, TaskId)
      SELECT @vDefinition,
             DATEADD(MILLISECOND, CONVERT(int, f.WaitMs % 86400000), DATEADD(DAY, CONVERT(int, f.WaitMs / 86400000), @vNow)),
             f.TaskId
      FROM @vFailure AS f WHERE f.WaitMs IS NOT NULL;
      SELECT @vNextDueMs = MIN(f.WaitMs) FROM @vFailure AS f;
      DELETE c
      FROM @vFailure AS f
      INNER JOIN Taskgate.Claim AS c WITH (ROWLOCK, UPDLOCK) -- by the whole key; ours by the execution's row
        ON c.TaskExecutionId = @TaskExecutionId AND c.Fence = f.Fence AND c.Ordinal = f.Ordinal -- which only held ones have
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per claim
      UPDATE x
      SET IsSolo = CASE WHEN @vIsSolo = 1 AND EXISTS (
            SELECT 1 FROM Taskgate.Claim AS c WITH (FORCESEEK) WHERE c.TaskExecutionId = @TaskExecutionId) THEN 1 ELSE 0 END, -- a probe
          FailedCount = x.FailedCount + n.Failed, DeadCount = x.DeadCount + n.Dead
      FROM (SELECT COALESCE(SUM(CASE WHEN f.How IN (N'failed', N'dead') THEN 1 ELSE 0 END), 0) AS Failed,
                   COALESCE(SUM(CASE f.Outcome WHEN N'dead' THEN 1 ELSE 0 END), 0) AS Dead
            FROM @vFailure AS f WHERE f.IsHeld = 1) AS n
      INNER JOIN Taskgate.TaskExecution AS x WITH (ROWLOCK, UPDLOCK) ON x.TaskExecutionId = @TaskExecutionId -- the row is ours already
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek

      -- 4. Ends and groups; a strict group keeps the slot of a task that comes back.
      INSERT INTO @vEnded (TaskId, Fence, Outcome, DurationMs)
      SELECT f.TaskId, f.Fence, CASE f.Outcome WHEN N'dead' THEN 11 ELSE 12 END, f.DurationMs
      FROM @vFailure AS f WHERE f.Outcome IN (N'dead', N'cancelled');
      INSERT INTO @vReleased (TaskId, GroupId)
      SELECT f.TaskId, f.GroupId
      FROM @vFailure AS f
      INNER JOIN Taskgate.TaskGroup AS g ON g.GroupId = f.GroupId
      WHERE f.WaitMs IS NOT NULL AND g.Strict = 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
      UPDATE t
      SET GroupId = NULL, PendingGroupKey = g.GroupKey, PendingGroupIsGlobal = CASE g.TaskDefinitionId WHEN 0 THEN 1 ELSE 0 END
      FROM @vReleased AS r
      INNER JOIN Taskgate.TaskGroup AS g ON g.GroupId = r.GroupId
      INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = r.TaskId -- ours already; outside a group it has its key only
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each per task
      IF EXISTS (SELECT 1 FROM @vEnded AS e) OR EXISTS (SELECT 1 FROM @vReleased AS r)
        EXEC Taskgate._EndTasks @Ended = @vEnded, @TaskExecutionId = @TaskExecutionId, @Now = @vNow, @Released = @vReleased,
          @oWoken = @vWokenIds OUTPUT, @oOpening = @vOpening OUTPUT, @RetainDoneMs = @vRetainDoneMs,
          @RetainDeadMs = @vRetainDeadMs;

      -- 5. The rest: told before, or never ours.
      UPDATE f
      SET Outcome = CASE WHEN EXISTS (
            SELECT 1 FROM Taskgate.Attempt AS a WHERE a.TaskId = f.TaskId AND a.Fence = f.Fence AND a.Outcome <> 13)
            THEN N'again' ELSE N'fenced' END
      FROM @vFailure AS f
      WHERE f.IsHeld = 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per task
      SELECT @vResults = N'[' + STRING_AGG(CONVERT(nvarchar(max),
               N'{"task":' + COALESCE(N'"' + CONVERT(nvarchar(20), f.TaskId) + N'"', N'null') + N',"outcome":"' + f.Outcome + N'"'
               + CASE f.IsHeld WHEN 1 THEN N',"retryInMs":' + COALESCE(CONVERT(nvarchar(20), f.WaitMs), N'null') ELSE N'' END
               + N'}'), N',') WITHIN GROUP (ORDER BY f.Ord) + N']'
      FROM @vFailure AS f;
      SET @vStatus = N'done';
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vResults AS [Results], Taskgate._DefinitionNames(@vWokenIds, @vDefinition) AS [Woken],
         @vNextDueMs AS [NextDueMs], @vOpening AS [Opening];
END;
