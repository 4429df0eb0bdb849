-- Taskgate.CancelBatch: no further wave is opened; PumpBatch cancels the tasks of blocked waves. Tasks that were admitted already are
--         named, for cancel_tasks.
-- In:     @BatchId bigint; @ChangedBy (null: the login), @Reason for the audit
-- Out:    Status: cancelled | again | done (it had ended before); Tasks: JSON array of ids of admitted unfinished tasks, at most 1000, or
--         null; Opening: JSON array of the batch's id when blocked tasks are to be ended (call PumpBatch), or null
-- Raises: 50404 unknown batch; 50422 an actor that is empty, or a text too long; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  Batch, then as _OpenNextWave, _AuditCall
-- Isolation: who closes a wave holds the batch's row, too: it goes on before the cancel, or finds it
-- Plan:   IX_Task_Wave; primary keys
-- Once:   by state
-- Twin:   postgres/sql/functions/cancel_batch.sql
CREATE OR ALTER PROCEDURE Taskgate.CancelBatch
  @BatchId bigint, @ChangedBy nvarchar(max) = NULL, @Reason nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- without row versions its last read may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vState tinyint, @vWaveId bigint, @vWaveState tinyint,
          @vFinishedAt datetime2(3), @vIgnored nvarchar(max), @vIsOpening bit, @vTasks nvarchar(max);

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  BEGIN TRY
    BEGIN TRANSACTION;
    SELECT @vState = b.State, @vFinishedAt = b.FinishedAt
    FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- lock, then look: kept to the end
    WHERE b.BatchId = @BatchId;
    IF @vState IS NULL
    BEGIN
      SET @vMessage = N'batch_id: unknown (' + COALESCE(CONVERT(nvarchar(20), @BatchId), N'<NULL>') + N')';
      THROW 50404, @vMessage, 1;
    END;
    IF @vState <> 3
    BEGIN
      UPDATE b
      SET State = 4
      FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- the row is ours already
      WHERE b.BatchId = @BatchId;
      IF @vState <> 4
        EXEC Taskgate._AuditCall @Action = N'cancel_batch', @TaskDefinitionId = 0, @BatchId = @BatchId, @TaskIds = NULL,
          @ChangedBy = @ChangedBy, @Reason = @Reason, @Now = @vNow;
      SELECT @vWaveId = o.WaveId FROM Taskgate.OpenWave AS o WHERE o.BatchId = @BatchId; -- written under the batch's row only
      IF @vWaveId IS NULL AND @vFinishedAt IS NULL
        EXEC Taskgate._OpenNextWave @BatchId = @BatchId, @Now = @vNow, @oWoken = @vIgnored OUTPUT, @oIsOpening = @vIsOpening OUTPUT;
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  IF @vWaveId IS NOT NULL
  BEGIN
    SELECT @vWaveState = w.State FROM Taskgate.Wave AS w WHERE w.WaveId = @vWaveId;
    IF @vWaveState = 1 SET @vIsOpening = 1;
    SELECT @vTasks = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), x.TaskId) + N'"'), N',')
             WITHIN GROUP (ORDER BY x.TaskId) + N']'
    FROM (
      SELECT TOP (1000) t.TaskId
      FROM Taskgate.Task AS t WITH (FORCESEEK) -- the wave's entries, in order; nothing is locked any more
      WHERE t.WaveId = @vWaveId AND t.CancelRequested = 0
        AND NOT EXISTS (
          SELECT 1 FROM Taskgate.WaveBlocked AS h
          WHERE h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId)
      ORDER BY t.TaskId) AS x;
  END;
  SELECT CASE @vState WHEN 3 THEN N'done' WHEN 4 THEN N'again' ELSE N'cancelled' END AS [Status], @vTasks AS [Tasks],
         CASE @vIsOpening WHEN 1 THEN N'["' + CONVERT(nvarchar(20), @BatchId) + N'"]' END AS [Opening];
END;
