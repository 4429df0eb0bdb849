-- Taskgate.StartBatch: opens the first wave that has tasks. Empty ones before it are done.
-- In:     @BatchId bigint; @Seal bit: no wave takes tasks any more; 0: those not yet opened still do
-- Out:    Status: started | again (it was before) | busy (another call is adding tasks to the first wave: ask again) | ended (cancelled);
--         Woken: JSON array of names of definitions that got ready tasks, or null; Opening: JSON array of the batch's id when
--         tasks of the opened wave are still to be admitted (call PumpBatch), or null
-- Raises: 50404 unknown batch; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  Batch, then as _OpenNextWave
-- Isolation: of two callers the second waits for the batch's row and finds it started
-- Plan:   primary keys
-- Once:   by state
-- Twin:   postgres/sql/functions/start_batch.sql
CREATE OR ALTER PROCEDURE Taskgate.StartBatch
  @BatchId bigint, @Seal bit
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vState tinyint, @vWaveId bigint, @vGate smallint,
          @vWokenIds nvarchar(max), @vIsOpening bit, @vStatus nvarchar(20);

  BEGIN TRY
    BEGIN TRANSACTION;
    SELECT @vState = b.State
    FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- lock, then look: kept to the end
    WHERE b.BatchId = @BatchId;
    IF @vState IS NULL
    BEGIN
      SET @vMessage = N'batch_id: unknown (' + COALESCE(CONVERT(nvarchar(20), @BatchId), N'<NULL>') + N')';
      THROW 50404, @vMessage, 1;
    END;
    IF @vState <> 0
      SET @vStatus = CASE @vState WHEN 4 THEN N'ended' ELSE N'again' END;
    ELSE
    BEGIN
      SELECT @vWaveId = w.WaveId FROM Taskgate.Wave AS w WHERE w.BatchId = @BatchId AND w.Ordinal = 1;
      SELECT @vGate = s.Shard
      FROM Taskgate.WaveShard AS s WITH (ROWLOCK, XLOCK, READPAST) -- a call that adds tasks to the first wave shares it; skip
      WHERE s.WaveId = @vWaveId AND s.Shard = 16;
      IF @vGate IS NULL
        SET @vStatus = N'busy';
      ELSE
      BEGIN
        IF @Seal = 1
          UPDATE w
          SET IsSealed = 1
          FROM Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- the holder of the batch's row may write it while it is held
          WHERE w.BatchId = @BatchId;
        UPDATE b
        SET State = 1, StartedAt = @vNow
        FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- the row is ours already
        WHERE b.BatchId = @BatchId;
        EXEC Taskgate._OpenNextWave @BatchId = @BatchId, @Now = @vNow, @oWoken = @vWokenIds OUTPUT, @oIsOpening = @vIsOpening OUTPUT;
        SET @vStatus = N'started';
      END;
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], Taskgate._DefinitionNames(@vWokenIds, 0) AS [Woken],
         CASE @vIsOpening WHEN 1 THEN N'["' + CONVERT(nvarchar(20), @BatchId) + N'"]' END AS [Opening];
END;
