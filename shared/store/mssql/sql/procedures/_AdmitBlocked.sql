-- Taskgate._AdmitBlocked: lets tasks of a wave that is being opened in, in order: to Ready, grouped ones to Scheduled as due now. Those
--         of a cancelled batch end cancelled instead.
-- In:     @WaveId bigint; @Max int; @Now
-- Out:    @oMoved int: null: another call does it now; @oWoken: JSON array of ids of definitions that got ready tasks;
--         @oIsOver: none is left to be admitted; @oIsClosed: and none is unfinished: the caller closes the wave
-- Raises: -
-- Locks:  the wave's latch (shard 17) by skip, its blocked rows by skip; new rows of Ready and Scheduled, or, of a cancelled batch, Task and
--         Dedupe as _EndTasks; then shards ascending, then the wave's row: brief waits for completions. Joins the caller's transaction
-- Isolation: only the holder of the latch takes blocked rows, besides a cancel of single tasks; the last read finds such a row
--         gone, or still there: then the next call reads it again
-- Plan:   first entries of PK_WaveBlocked under the wave; primary keys; joins are loops in the written order
-- Twin:   postgres/sql/functions/_admit_blocked.sql
CREATE OR ALTER PROCEDURE Taskgate._AdmitBlocked
  @WaveId bigint, @Max int, @Now datetime2(3), @oMoved int OUTPUT, @oWoken nvarchar(max) OUTPUT, @oIsOver bit OUTPUT,
  @oIsClosed bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vLatch smallint, @vState tinyint, @vBatchId bigint, @vBatchState tinyint, @vShard smallint, @vCount int, @vLeft int,
          @vShards int = 0, @vIgnored nvarchar(max), @vOpening nvarchar(max);
  DECLARE @vMoved TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Priority smallint NOT NULL, Rank bigint NOT NULL, TaskDefinitionId int NOT NULL,
    IsGrouped bit NULL);
  DECLARE @vByShard TABLE (Shard smallint NOT NULL PRIMARY KEY CLUSTERED, Moved int NOT NULL);
  DECLARE @vEnded Taskgate.EndedTaskList, @vReleased Taskgate.GroupedTaskList;

  SET @oMoved = NULL;
  SET @oWoken = N'[]';
  SET @oIsOver = 0;
  SET @oIsClosed = 0;
  SELECT @vLatch = s.Shard
  FROM Taskgate.WaveShard AS s WITH (ROWLOCK, UPDLOCK, READPAST) -- one at a time; skip
  WHERE s.WaveId = @WaveId AND s.Shard = 17;
  IF @vLatch IS NULL RETURN;
  SET @oMoved = 0;
  SELECT @vState = w.State, @vBatchId = w.BatchId FROM Taskgate.Wave AS w WHERE w.WaveId = @WaveId;
  SELECT @vBatchState = b.State FROM Taskgate.Batch AS b WHERE b.BatchId = @vBatchId;
  IF @vState <> 1
  BEGIN
    SET @oIsOver = 1;
    RETURN;
  END;
  WITH NextBlocked AS (
    SELECT TOP (@Max) h.Priority, h.Rank, h.TaskId, h.TaskDefinitionId
    FROM Taskgate.WaveBlocked AS h WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK) -- in key order; tasks that are being cancelled are skipped
    WHERE h.WaveId = @WaveId
    ORDER BY h.Priority, h.Rank, h.TaskId)
  DELETE FROM NextBlocked
  OUTPUT deleted.TaskId, deleted.Priority, deleted.Rank, deleted.TaskDefinitionId
  INTO @vMoved (TaskId, Priority, Rank, TaskDefinitionId)
  OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@Max = 100)); -- a seek, regardless of statistics
  SET @oMoved = @@ROWCOUNT;
  IF @oMoved > 0 AND @vBatchState = 4 -- never counted, so nothing is counted down
  BEGIN
    INSERT INTO @vEnded (TaskId, Fence, Outcome) SELECT m.TaskId, NULL, 12 FROM @vMoved AS m;
    EXEC Taskgate._EndTasks @Ended = @vEnded, @TaskExecutionId = NULL, @Now = @Now, @Released = @vReleased,
      @oWoken = @vIgnored OUTPUT, @oOpening = @vOpening OUTPUT, @AreBlocked = 1;
    -- The total below has them: a redrive doesn't add them once more.
    UPDATE e
    SET WasBlocked = 0
    FROM @vMoved AS m
    INNER JOIN Taskgate.EndedEarly AS e WITH (ROWLOCK, UPDLOCK) ON e.TaskId = m.TaskId -- new rows of this call
    WHERE e.PendingGroupKey IS NOT NULL
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    DELETE e
    FROM @vMoved AS m
    INNER JOIN Taskgate.EndedEarly AS e WITH (ROWLOCK, UPDLOCK) ON e.TaskId = m.TaskId -- as above
    WHERE e.PendingGroupKey IS NULL -- nothing is left to be said of it
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;
  ELSE IF @oMoved > 0
  BEGIN
    UPDATE m
    SET IsGrouped = CASE WHEN t.PendingGroupKey IS NULL THEN 0 ELSE 1 END -- outside a group a task has its key only
    FROM @vMoved AS m
    INNER JOIN Taskgate.Task AS t ON t.TaskId = m.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId)
    SELECT m.TaskDefinitionId, m.Priority, m.Rank, m.TaskId FROM @vMoved AS m WHERE m.IsGrouped = 0;
    INSERT INTO Taskgate.Scheduled WITH (ROWLOCK) (TaskDefinitionId, RunAt, TaskId)
    SELECT m.TaskDefinitionId, @Now, m.TaskId FROM @vMoved AS m WHERE m.IsGrouped = 1;
    SELECT @oWoken = N'[' + STRING_AGG(CONVERT(nvarchar(max), d.TaskDefinitionId), N',') + N']'
    FROM (SELECT DISTINCT m.TaskDefinitionId FROM @vMoved AS m) AS d;
    INSERT INTO @vByShard (Shard, Moved)
    SELECT c.Shard, COUNT(*)
    FROM (SELECT CONVERT(smallint, (m.TaskId / 512) % 16) AS Shard FROM @vMoved AS m) AS c
    GROUP BY c.Shard;
    SELECT @vShard = MIN(c.Shard) FROM @vByShard AS c;
    WHILE @vShard IS NOT NULL
    BEGIN
      SELECT @vCount = c.Moved FROM @vByShard AS c WHERE c.Shard = @vShard;
      UPDATE s
      SET Remaining = s.Remaining + @vCount
      FROM Taskgate.WaveShard AS s WITH (ROWLOCK, UPDLOCK) -- one row after the other, ascending
      WHERE s.WaveId = @WaveId AND s.Shard = @vShard;
      SELECT @vLeft = s.Remaining FROM Taskgate.WaveShard AS s WHERE s.WaveId = @WaveId AND s.Shard = @vShard;
      IF @vLeft = @vCount SET @vShards = @vShards + 1;
      SELECT @vShard = MIN(c.Shard) FROM @vByShard AS c WHERE c.Shard > @vShard;
    END;
  END;
  IF NOT EXISTS (SELECT 1 FROM Taskgate.WaveBlocked AS h WITH (FORCESEEK) WHERE h.WaveId = @WaveId) SET @oIsOver = 1; -- a probe
  UPDATE w
  SET Total = w.Total + @oMoved, OpenShards = w.OpenShards + @vShards - @oIsOver, State = CASE @oIsOver WHEN 1 THEN 2 ELSE 1 END
  FROM Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK) -- after its shards, as completions do
  WHERE w.WaveId = @WaveId;
  SELECT @vLeft = w.OpenShards FROM Taskgate.Wave AS w WHERE w.WaveId = @WaveId;
  IF @oIsOver = 1 AND @vLeft = 0 SET @oIsClosed = 1;
END;
