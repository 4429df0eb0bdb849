-- Taskgate.Purge: deletes rows whose retention is over, one slice of each kind. The sweep calls it until nothing is left.
-- In:     @Max int 1..1000: rows of each kind
-- Out:    Status: purged | none; Tasks: finished ones whose retention is over, with their attempts; Executions: those that ended a day
--           ago and longer ago than the longest retention of any definition, of the 1000 oldest; Operations: answers kept for
--           repeats for a day; Keys: dedupe keys whose window is over; Groups: as _PurgeGroups; Batches: those that finished as long ago as
--           executions that go, with their waves, of the 1000 oldest; AuditEntries: as _PurgeAudit; Purged: all these together
--         More: one kind filled its share: call again, unless this call purged nothing
-- Raises: 50422 @Max out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  as _PurgeGroups; Archive, then Attempt, Task (of done ones: after the archive, as readers go) and EndedEarly of these tasks; TaskExecution, Operation and Dedupe by skip; after the
--         commit, as _PurgeBatches, then as _PurgeAudit
-- Isolation: found by plain reads, locked by key, tested again. A row that another call holds is left to the next purge, so this one
--         waits for none but a cancel that has found a task just before it was done, and outlived its retention. A repeated operation goes from its id to its row, so ids are locked before rows
-- Plan:   IX_Archive_Purge, IX_Operation_DoneAt, IX_Dedupe_Expires, PK_TaskExecution from their old ends; then whole keys. At most 10000
--         attempts: a task that has more loses them call by call, and goes with the last; so does a batch with more than @Max waves;
--         joins are loops in the written order
-- Once:   naturally
-- Twin:   postgres/sql/functions/purge.sql
CREATE OR ALTER PROCEDURE Taskgate.Purge
  @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vEndedBefore datetime2(3), @vDoneBefore datetime2(3),
          @vGroups int, @vMoreGroups bit, @vMore bit = 0, @vFrom int = 1, @vAttempts int, @vTasks int, @vExecutions int, @vOperations int,
          @vKeys int, @vBatches int, @vWaves int, @vMoreWaves bit, @vEntries int, @vMoreEntries bit;
  DECLARE @vTask TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vMine TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vAttempt TABLE (K int NOT NULL PRIMARY KEY CLUSTERED, TaskId bigint NOT NULL, Fence bigint NOT NULL);
  DECLARE @vExecution TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, OperationId uniqueidentifier NOT NULL);
  DECLARE @vEnded TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vOperation TABLE (OperationId uniqueidentifier NOT NULL PRIMARY KEY CLUSTERED, DoneAt datetime2(3) NOT NULL);
  DECLARE @vAnswered TABLE (OperationId uniqueidentifier NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vKey TABLE (
    TaskDefinitionId int NOT NULL, DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, DedupeKey));

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  -- 1. Due rows, oldest first, with nothing locked.
  SET @vEndedBefore = Taskgate._PurgeExecutionsBefore(@vNow);
  SET @vDoneBefore = DATEADD(DAY, -1, @vNow);
  INSERT INTO @vTask (TaskId)
  SELECT TOP (@Max) a.TaskId
  FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Purge)) -- from the old end; covers this read
  WHERE a.PurgeAfter < @vNow
  ORDER BY a.PurgeAfter;
  IF @@ROWCOUNT = @Max SET @vMore = 1;
  INSERT INTO @vExecution (TaskExecutionId, OperationId)
  SELECT TOP (@Max) x.TaskExecutionId, x.OperationId
  FROM (
    SELECT TOP (1000) e.TaskExecutionId, e.OperationId, e.State, e.EndedAt
    FROM Taskgate.TaskExecution AS e WITH (INDEX (PK_TaskExecution)) -- the oldest: ids grow with time
    ORDER BY e.TaskExecutionId) AS x
  WHERE x.State IN (2, 4) AND x.EndedAt < @vEndedBefore
  ORDER BY x.TaskExecutionId;
  IF @@ROWCOUNT = @Max SET @vMore = 1;
  INSERT INTO @vOperation (OperationId, DoneAt)
  SELECT TOP (@Max) o.OperationId, o.DoneAt
  FROM Taskgate.Operation AS o WITH (INDEX (IX_Operation_DoneAt)) -- from the old end
  WHERE o.DoneAt < @vDoneBefore
  ORDER BY o.DoneAt;
  IF @@ROWCOUNT = @Max SET @vMore = 1;
  INSERT INTO @vKey (TaskDefinitionId, DedupeKey)
  SELECT TOP (@Max) k.TaskDefinitionId, k.DedupeKey
  FROM Taskgate.Dedupe AS k WITH (INDEX (IX_Dedupe_Expires)) -- from the old end; covers this read
  WHERE k.ExpiresAt IS NOT NULL AND k.ExpiresAt < @vNow
  ORDER BY k.ExpiresAt;
  IF @@ROWCOUNT = @Max SET @vMore = 1;

  BEGIN TRY
    BEGIN TRANSACTION;
    -- 2. Groups first: nothing is locked yet. What goes below lets go of its group in the next round.
    EXEC Taskgate._PurgeGroups @Max = @Max, @Now = @vNow, @oGroups = @vGroups OUTPUT, @oMore = @vMoreGroups OUTPUT;
    IF @vMoreGroups = 1 SET @vMore = 1;

    -- 3. Tasks. The holder of the archive's row also owns the task's attempts; a redrive may hold it, or may have moved it.
    INSERT INTO @vMine (TaskId)
    SELECT a.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.Archive AS a WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_Archive)) ON a.TaskId = t.TaskId -- skip, don't wait
    WHERE a.PurgeAfter < @vNow -- it may have been redriven and have ended again
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO @vAttempt (K, TaskId, Fence)
    SELECT TOP (10000) ROW_NUMBER() OVER (ORDER BY p.TaskId, p.Fence), p.TaskId, p.Fence
    FROM @vMine AS m
    INNER JOIN Taskgate.Attempt AS p WITH (FORCESEEK) ON p.TaskId = m.TaskId -- these tasks' own rows
    ORDER BY p.TaskId, p.Fence
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    SET @vAttempts = @@ROWCOUNT;
    WHILE @vFrom <= @vAttempts
    BEGIN
      DELETE p
      FROM @vAttempt AS v
      INNER JOIN Taskgate.Attempt AS p WITH (ROWLOCK, UPDLOCK) -- the holder of the archive's row owns this one
        ON p.TaskId = v.TaskId AND p.Fence = v.Fence
      WHERE v.K BETWEEN @vFrom AND @vFrom + 999
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per attempt
      SET @vFrom = @vFrom + 1000;
    END;
    IF @vAttempts = 10000
    BEGIN
      DELETE m
      FROM @vMine AS m
      WHERE EXISTS (SELECT 1 FROM Taskgate.Attempt AS p WITH (FORCESEEK) WHERE p.TaskId = m.TaskId) -- one probe per task
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per task
      IF @@ROWCOUNT > 0 SET @vMore = 1;
    END;
    DELETE a
    FROM @vMine AS m
    INNER JOIN Taskgate.Archive AS a WITH (ROWLOCK, UPDLOCK, INDEX (PK_Archive)) ON a.TaskId = m.TaskId -- ours already
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    SET @vTasks = @@ROWCOUNT;
    DELETE t
    FROM @vMine AS m
    INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = m.TaskId -- of those that are done, with their payloads
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    DELETE e
    FROM @vMine AS m
    INNER JOIN Taskgate.EndedEarly AS e WITH (ROWLOCK, UPDLOCK) ON e.TaskId = m.TaskId -- the holder of the archive's row owns this one
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task

    -- 4. Executions: first the ids of their starts, as a repeat takes them.
    INSERT INTO @vEnded (TaskExecutionId)
    SELECT e.TaskExecutionId
    FROM @vExecution AS x
    INNER JOIN Taskgate.TaskExecution AS e WITH (ROWLOCK, XLOCK, READPAST, INDEX (UQ_TaskExecution_OperationId)) -- skip, don't wait
      ON e.OperationId = x.OperationId
    WHERE e.TaskExecutionId = x.TaskExecutionId -- not one that a late repeat has made since
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
    DELETE e
    FROM @vEnded AS x
    INNER JOIN Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_TaskExecution)) -- skip, don't wait
      ON e.TaskExecutionId = x.TaskExecutionId -- an ended one never changes again
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
    SET @vExecutions = @@ROWCOUNT;

    -- 5. Answers kept for repeats: as above.
    INSERT INTO @vAnswered (OperationId)
    SELECT o.OperationId
    FROM @vOperation AS x
    INNER JOIN Taskgate.Operation AS o WITH (ROWLOCK, XLOCK, READPAST, INDEX (PK_Operation)) ON o.OperationId = x.OperationId -- skip, don't wait
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per operation
    DELETE o
    FROM @vAnswered AS a
    INNER JOIN @vOperation AS x ON x.OperationId = a.OperationId
    INNER JOIN Taskgate.Operation AS o WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (IX_Operation_DoneAt)) -- skip, don't wait
      ON o.DoneAt = x.DoneAt AND o.OperationId = x.OperationId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per operation
    SET @vOperations = @@ROWCOUNT;

    -- 6. Keys last: an enqueue of one waits until this is over.
    DELETE k
    FROM @vKey AS x
    INNER JOIN Taskgate.Dedupe AS k WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_Dedupe)) -- skip, don't wait
      ON k.TaskDefinitionId = x.TaskDefinitionId AND k.DedupeKey = x.DedupeKey
    WHERE k.ExpiresAt < @vNow -- it may have been taken anew
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
    SET @vKeys = @@ROWCOUNT;
    COMMIT TRANSACTION;

    -- 7. Batches and the audit, looked for when nothing is held any more.
    BEGIN TRANSACTION;
    EXEC Taskgate._PurgeBatches @Max = @Max, @Now = @vNow, @oBatches = @vBatches OUTPUT, @oWaves = @vWaves OUTPUT,
      @oMore = @vMoreWaves OUTPUT;
    EXEC Taskgate._PurgeAudit @Max = @Max, @Now = @vNow, @oEntries = @vEntries OUTPUT, @oMore = @vMoreEntries OUTPUT;
    COMMIT TRANSACTION;
    IF @vMoreWaves = 1 OR @vMoreEntries = 1 SET @vMore = 1;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT CASE WHEN @vTasks + @vAttempts + @vExecutions + @vOperations + @vKeys + @vGroups + @vWaves + @vEntries > 0
           THEN N'purged' ELSE N'none' END AS [Status],
         @vTasks + @vExecutions + @vOperations + @vKeys + @vGroups + @vBatches + @vEntries AS [Purged], @vTasks AS [Tasks],
         @vExecutions AS [Executions], @vOperations AS [Operations], @vKeys AS [Keys], @vGroups AS [Groups], @vBatches AS [Batches],
         @vEntries AS [AuditEntries], @vMore AS [More];
END;
