-- Taskgate.ResumeBatch: a batch that a dead task halted goes on with its next wave, regardless of that task's state now. Where redriven
--         tasks have opened its last wave again, it goes on when that has ended: without a dead task, or it halts again.
-- In:     @BatchId bigint; @ChangedBy (null: the login), @Reason for the audit
-- Out:    Status: resumed | again (it is running or done) | draft (StartBatch starts it) | ended (cancelled); Woken, Opening: as StartBatch
-- Raises: 50404 unknown batch; 50422 an actor that is empty, or a text too long; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  Batch, then as _OpenNextWave, _AuditCall
-- Isolation: of two callers the second waits for the batch's row and finds it running
-- Plan:   primary keys
-- Once:   by state
-- Twin:   postgres/sql/functions/resume_batch.sql
CREATE OR ALTER PROCEDURE Taskgate.ResumeBatch
  @BatchId bigint, @ChangedBy nvarchar(max) = NULL, @Reason nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vState tinyint, @vWokenIds nvarchar(max),
          @vIsOpening bit;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
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
    IF @vState = 2
    BEGIN
      UPDATE b
      SET State = 1
      FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- the row is ours already
      WHERE b.BatchId = @BatchId;
      IF NOT EXISTS (SELECT 1 FROM Taskgate.OpenWave AS o WHERE o.BatchId = @BatchId) -- written under the batch's row only
        EXEC Taskgate._OpenNextWave @BatchId = @BatchId, @Now = @vNow, @oWoken = @vWokenIds OUTPUT, @oIsOpening = @vIsOpening OUTPUT;
      EXEC Taskgate._AuditCall @Action = N'resume_batch', @TaskDefinitionId = 0, @BatchId = @BatchId, @TaskIds = NULL,
        @ChangedBy = @ChangedBy, @Reason = @Reason, @Now = @vNow;
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT CASE @vState WHEN 0 THEN N'draft' WHEN 2 THEN N'resumed' WHEN 4 THEN N'ended' ELSE N'again' END AS [Status],
         Taskgate._DefinitionNames(@vWokenIds, 0) AS [Woken],
         CASE @vIsOpening WHEN 1 THEN N'["' + CONVERT(nvarchar(20), @BatchId) + N'"]' END AS [Opening];
END;
