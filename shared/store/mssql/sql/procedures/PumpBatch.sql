-- Taskgate.PumpBatch: goes on opening a batch's wave in slices, so that no call is long. Called by the caller that was told `Opening`, and by the sweep.
-- In:     @BatchId bigint; @Max int 1..1000 tasks
-- Out:    Status: pumped | busy (another call does it now) | done (nothing is left to open); Moved: tasks admitted, or ended
--         cancelled when the batch was cancelled; More: call again; Woken: JSON array of names of definitions that got ready tasks, or null
-- Raises: 50404 unknown batch; 50422 @Max out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  as _AdmitBlocked, then as _CloseWave; or Batch, then as _OpenNextWave
-- Isolation: of two callers one has the wave's latch, the other is told busy
-- Plan:   primary keys
-- Once:   naturally
-- Twin:   postgres/sql/functions/pump_batch.sql
CREATE OR ALTER PROCEDURE Taskgate.PumpBatch
  @BatchId bigint, @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vState tinyint, @vWaveId bigint, @vWaveState tinyint,
          @vFinishedAt datetime2(3), @vMoved int, @vMore bit = 0, @vIsOver bit, @vIsClosed bit, @vStatus nvarchar(20) = N'done',
          @vWokenIds nvarchar(max);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  BEGIN TRY
    SELECT @vState = b.State, @vFinishedAt = b.FinishedAt FROM Taskgate.Batch AS b WHERE b.BatchId = @BatchId;
    IF @vState IS NULL
    BEGIN
      SET @vMessage = N'batch_id: unknown (' + COALESCE(CONVERT(nvarchar(20), @BatchId), N'<NULL>') + N')';
      THROW 50404, @vMessage, 1;
    END;
    SELECT @vWaveId = o.WaveId FROM Taskgate.OpenWave AS o WHERE o.BatchId = @BatchId;
    SELECT @vWaveState = w.State FROM Taskgate.Wave AS w WHERE w.WaveId = @vWaveId;
    IF @vWaveState = 1
    BEGIN
      BEGIN TRANSACTION;
      EXEC Taskgate._AdmitBlocked @WaveId = @vWaveId, @Max = @Max, @Now = @vNow, @oMoved = @vMoved OUTPUT,
        @oWoken = @vWokenIds OUTPUT, @oIsOver = @vIsOver OUTPUT, @oIsClosed = @vIsClosed OUTPUT;
      IF @vIsOver = 0 SET @vMore = 1;
      IF @vIsClosed = 1 -- then no task was admitted, and no definition woken
        EXEC Taskgate._CloseWave @WaveId = @vWaveId, @Now = @vNow, @oWoken = @vWokenIds OUTPUT, @oIsOpening = @vMore OUTPUT;
      COMMIT TRANSACTION;
      SET @vStatus = CASE WHEN @vMoved IS NULL THEN N'busy' ELSE N'pumped' END;
    END;
    ELSE IF @vState IN (1, 4) AND @vWaveId IS NULL AND @vFinishedAt IS NULL
    BEGIN
      -- Nothing is open: the call that closed the last wave met one that was adding tasks to the next.
      BEGIN TRANSACTION;
      SET @vState = NULL;
      SELECT @vState = b.State
      FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- lock, then look: kept to the end
      WHERE b.BatchId = @BatchId AND b.FinishedAt IS NULL;
      IF @vState IN (1, 4) AND NOT EXISTS (SELECT 1 FROM Taskgate.OpenWave AS o WHERE o.BatchId = @BatchId)
      BEGIN
        EXEC Taskgate._OpenNextWave @BatchId = @BatchId, @Now = @vNow, @oWoken = @vWokenIds OUTPUT, @oIsOpening = @vMore OUTPUT;
        SET @vStatus = N'pumped';
        -- Another call still adds tasks to it: asking again at once would not help.
        IF @vMore = 1 AND NOT EXISTS (SELECT 1 FROM Taskgate.OpenWave AS o WHERE o.BatchId = @BatchId) SET @vStatus = N'busy';
      END;
      COMMIT TRANSACTION;
    END;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], COALESCE(@vMoved, 0) AS [Moved], @vMore AS [More], Taskgate._DefinitionNames(@vWokenIds, 0) AS [Woken];
END;
