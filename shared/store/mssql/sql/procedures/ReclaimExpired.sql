-- Taskgate.ReclaimExpired: takes back what dead executions held. What they had started counts as lost; a task lost more
--         often than LostMax ends dead; the rest is ready again, first within its priority because its id is old.
-- In:     @Max int 1..1000 executions
-- Out:    Status: reclaimed | none; Executions: how many; TasksBack; TasksLost: counted as lost; TasksDead: ended dead,
--         without those ended on request; Definitions: JSON array of names of the reclaimed executions' and of those that got
--         ready tasks, or null; More: others are left for the next call; Opening: JSON array of batches to be pumped (PumpBatch), or null
-- Raises: 50422 max out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  TaskExecution ascending by skip (a row locked by its own worker is alive), its Claim rows, Task, new rows of Attempt
--         and Ready, then all ends as in _EndTasks: Dedupe, TaskGroup ascending, waves as _EndInWaves;
--         never a token row: the next asker finds the dead holder by itself
-- Isolation: candidates are found without waiting, then locked by key and tested again; of two callers each takes what the other
--         doesn't hold, and a worker whose lease was renewed meanwhile is left alone
-- Plan:   IX_TaskExecution_Open: the few live executions; then primary keys; joins are loops in the written order
-- Once:   by state
-- Twin:   postgres/sql/functions/reclaim_expired.sql
CREATE OR ALTER PROCEDURE Taskgate.ReclaimExpired
  @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vExecution bigint, @vDefinition int, @vLostMax smallint,
          @vCount int, @vExecutions int = 0, @vBack int = 0, @vLost int = 0, @vDead int = 0, @vRetention nvarchar(max),
          @vWokenIds nvarchar(max) = N'[]', @vOpening nvarchar(max);
  DECLARE @vCandidate TABLE (
    TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, LostMax smallint NULL);
  DECLARE @vClaim TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Fence bigint NOT NULL, ClaimedAt datetime2(3) NOT NULL, IsPrefetched bit NOT NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Priority smallint NOT NULL, Rank bigint NOT NULL,
    LostCount smallint NOT NULL, IsCancelled bit NOT NULL, IsOver bit NOT NULL);
  DECLARE @vOver TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskExecutionId bigint NOT NULL);
  DECLARE @vWoken TABLE (TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vEnded Taskgate.EndedTaskList, @vReleased Taskgate.GroupedTaskList;

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  BEGIN TRY
    INSERT INTO @vCandidate (TaskExecutionId, TaskDefinitionId)
    SELECT TOP (@Max) x.TaskExecutionId, x.TaskDefinitionId
    FROM Taskgate.TaskExecution AS x WITH (READCOMMITTEDLOCK, READPAST, INDEX (IX_TaskExecution_Open)) -- locked: alive; no wait
    WHERE x.State IN (1, 3) AND (x.State = 3 OR x.LeaseUntil < @vNow)
    ORDER BY x.TaskExecutionId
    OPTION (MAXDOP 1, KEEPFIXED PLAN);
    UPDATE c
    SET LostMax = d.LostMax
    FROM @vCandidate AS c
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = c.TaskDefinitionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution, with nothing locked
    SELECT @vRetention = N'[' + STRING_AGG(CONVERT(nvarchar(max),
             N'{"id":' + CONVERT(nvarchar(11), d.TaskDefinitionId) + N',"done":' + CONVERT(nvarchar(20), d.RetainDoneMs)
             + N',"dead":' + CONVERT(nvarchar(20), d.RetainDeadMs) + N'}'), N',') + N']'
    FROM (SELECT DISTINCT c.TaskDefinitionId FROM @vCandidate AS c) AS x
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per definition, with nothing locked

    BEGIN TRANSACTION;
    SELECT @vExecution = MIN(c.TaskExecutionId) FROM @vCandidate AS c;
    WHILE @vExecution IS NOT NULL
    BEGIN
      SELECT @vDefinition = c.TaskDefinitionId, @vLostMax = c.LostMax FROM @vCandidate AS c WHERE c.TaskExecutionId = @vExecution;
      UPDATE x
      SET State = 4, EndedAt = COALESCE(x.EndedAt, @vNow), TokenCount = 0,
          HeldMs = x.HeldMs + x.TokenCount * DATEDIFF_BIG(MILLISECOND, COALESCE(x.TokensAt, x.StartedAt), @vNow), TokensAt = @vNow
      FROM Taskgate.TaskExecution AS x WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_TaskExecution)) -- by key, tested again; skip
      WHERE x.TaskExecutionId = @vExecution AND x.State IN (1, 3) AND (x.State = 3 OR x.LeaseUntil < @vNow);
      IF @@ROWCOUNT > 0
      BEGIN
        SET @vExecutions = @vExecutions + 1;
        DELETE FROM @vClaim;
        DELETE FROM @vTask;
        DELETE c
        OUTPUT deleted.TaskId, deleted.Fence, deleted.ClaimedAt, deleted.IsPrefetched INTO @vClaim (TaskId, Fence, ClaimedAt, IsPrefetched)
        FROM Taskgate.Claim AS c WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- the execution's few rows; ours by the execution's row
        WHERE c.TaskExecutionId = @vExecution;
        IF @@ROWCOUNT > 0
        BEGIN
          INSERT INTO @vWoken (TaskDefinitionId)
          SELECT @vDefinition WHERE NOT EXISTS (SELECT 1 FROM @vWoken AS w WHERE w.TaskDefinitionId = @vDefinition);
          INSERT INTO Taskgate.Attempt WITH (ROWLOCK) (TaskId, Fence, TaskExecutionId, ClaimedAt, FinishedAt, Outcome, ErrorUtf8)
          SELECT c.TaskId, c.Fence, @vExecution, c.ClaimedAt, @vNow, 13, 'the worker lost its lease'
          FROM @vClaim AS c WHERE c.IsPrefetched = 0;
          UPDATE t
          SET LostCount = t.LostCount + 1, LastErrorUtf8 = 'the worker lost its lease'
          FROM @vClaim AS c
          INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = c.TaskId -- each row as it is now
          WHERE c.IsPrefetched = 0
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task, ascending
          SET @vCount = @@ROWCOUNT;
          SET @vLost = @vLost + @vCount;
          INSERT INTO @vTask (TaskId, TaskDefinitionId, Priority, Rank, LostCount, IsCancelled, IsOver)
          SELECT t.TaskId, t.TaskDefinitionId, t.Priority, t.Rank, t.LostCount, t.CancelRequested,
                 CASE WHEN t.CancelRequested = 1 OR (t.LostCount > @vLostMax AND c.IsPrefetched = 0) THEN 1 ELSE 0 END
          FROM @vClaim AS c
          INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
          INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId, IsSolo)
          SELECT t.TaskDefinitionId, t.Priority, t.Rank, t.TaskId, CASE WHEN t.LostCount >= 2 THEN 1 ELSE 0 END
          FROM @vTask AS t WHERE t.IsOver = 0;
          SET @vBack = @vBack + @@ROWCOUNT;
          INSERT INTO @vEnded (TaskId, Fence, Outcome)
          SELECT t.TaskId, c.Fence, CASE t.IsCancelled WHEN 1 THEN 12 ELSE 11 END
          FROM @vTask AS t INNER JOIN @vClaim AS c ON c.TaskId = t.TaskId WHERE t.IsOver = 1
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
          UPDATE x
          SET LostCount = @vCount, DeadCount = x.DeadCount + (SELECT COUNT(*) FROM @vTask AS t WHERE t.IsOver = 1 AND t.IsCancelled = 0)
          FROM Taskgate.TaskExecution AS x WITH (ROWLOCK, UPDLOCK) -- the row is ours already
          WHERE x.TaskExecutionId = @vExecution;
          INSERT INTO @vOver (TaskId, TaskExecutionId)
          SELECT t.TaskId, @vExecution FROM @vTask AS t WHERE t.IsOver = 1;
        END;
      END;
      SELECT @vExecution = MIN(c.TaskExecutionId) FROM @vCandidate AS c WHERE c.TaskExecutionId > @vExecution;
    END;
    SELECT @vCount = COUNT(*), @vDead = COALESCE(SUM(CASE e.Outcome WHEN 11 THEN 1 ELSE 0 END), 0) FROM @vEnded AS e;
    IF @vCount > 0 -- after the loop: each lock level once, ascending
    BEGIN
      EXEC Taskgate._EndTasks @Ended = @vEnded, @TaskExecutionId = NULL, @Now = @vNow, @Released = @vReleased,
        @oWoken = @vWokenIds OUTPUT, @oOpening = @vOpening OUTPUT, @Retention = @vRetention;
      UPDATE a
      SET TaskExecutionId = o.TaskExecutionId -- _EndTasks knows one execution; here each task has its own
      FROM @vOver AS o
      INNER JOIN Taskgate.Archive AS a WITH (ROWLOCK, UPDLOCK) ON a.TaskId = o.TaskId -- ours already: just added
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;

  INSERT INTO @vWoken (TaskDefinitionId)
  SELECT DISTINCT CONVERT(int, j.[value]) FROM OPENJSON(@vWokenIds) AS j
  WHERE NOT EXISTS (SELECT 1 FROM @vWoken AS w WHERE w.TaskDefinitionId = CONVERT(int, j.[value]))
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per definition
  SELECT @vWokenIds = N'[' + STRING_AGG(CONVERT(nvarchar(max), w.TaskDefinitionId), N',') + N']' FROM @vWoken AS w;
  SELECT CASE WHEN @vExecutions > 0 THEN N'reclaimed' ELSE N'none' END AS [Status], @vExecutions AS [Executions],
         @vBack AS [TasksBack], @vLost AS [TasksLost], @vDead AS [TasksDead],
         Taskgate._DefinitionNames(@vWokenIds, 0) AS [Definitions],
         CONVERT(bit, CASE WHEN @vExecutions = @Max THEN 1 ELSE 0 END) AS [More], @vOpening AS [Opening];
END;
