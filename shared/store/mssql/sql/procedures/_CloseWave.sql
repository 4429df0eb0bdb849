-- Taskgate._CloseWave: the last task of a wave has ended: its batch goes on as its failure policy says.
-- In:     @WaveId bigint: the caller holds its row and left no open shard; @Now
-- Out:    as _OpenNextWave
-- Raises: -
-- Locks:  Batch, then as _OpenNextWave. Joins the caller's transaction
-- Isolation: the batch's row says whether it was cancelled meanwhile: who cancels holds it, too
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_close_wave.sql
CREATE OR ALTER PROCEDURE Taskgate._CloseWave
  @WaveId bigint, @Now datetime2(3), @oWoken nvarchar(max) OUTPUT, @oIsOpening bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vBatchId bigint, @vDead int, @vState tinyint, @vPolicy tinyint;

  SET @oWoken = N'[]';
  SET @oIsOpening = 0;
  UPDATE w
  SET State = 3, FinishedAt = @Now
  FROM Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK) -- ours already: the caller has locked it
  WHERE w.WaveId = @WaveId;
  SELECT @vBatchId = w.BatchId, @vDead = w.DeadCount FROM Taskgate.Wave AS w WHERE w.WaveId = @WaveId;
  SELECT @vState = b.State, @vPolicy = b.FailurePolicy
  FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- the row as it is now, kept to the end
  WHERE b.BatchId = @vBatchId;
  DELETE o
  FROM Taskgate.OpenWave AS o WITH (ROWLOCK, UPDLOCK) -- only the holder of the batch's row may write it
  WHERE o.BatchId = @vBatchId;
  IF @vState = 1 AND @vDead > 0 AND @vPolicy <> 2
  BEGIN
    SET @vState = CASE @vPolicy WHEN 1 THEN 2 ELSE 4 END;
    UPDATE b
    SET State = @vState
    FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- the row is ours already
    WHERE b.BatchId = @vBatchId;
  END;
  IF @vState IN (1, 4)
    EXEC Taskgate._OpenNextWave @BatchId = @vBatchId, @Now = @Now, @oWoken = @oWoken OUTPUT, @oIsOpening = @oIsOpening OUTPUT;
END;
