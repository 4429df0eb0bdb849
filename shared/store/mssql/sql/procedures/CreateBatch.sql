-- Taskgate.CreateBatch: makes a batch with empty waves, to be filled by EnqueueTasks and then started.
-- In:     @OperationId uniqueidentifier; @Name 1..200 characters: for people, need not be unique; @FailurePolicy: what a dead task
--         in a wave means once that wave has ended: halt (the next wave isn't opened until ResumeBatch) | continue | cancel (what
--         hasn't been opened ends cancelled); @Waves int 1..1000
-- Out:    Status: created; Batch bigint; Waves: JSON array of wave ids as strings, in order
-- Raises: 50422 a bad value; 50423 a repeat of itself is at it for longer than 2 s; 50490 inside a transaction; 1222 locked for
--         longer than 2 s
-- Locks:  its operation id as _LockKeys (a repeat of itself); the entry of that id in Batch, behind who purges it; new rows of Batch, Wave
--         and WaveShard
-- Isolation: calls with equal operation ids exclude each other by a lock on the id, kept to the end; the row of that id is read
--         in a later statement. A purge takes a batch only with that entry: it comes before this call, or finds it locked
-- Plan:   unique keys
-- Once:   by operation id, as long as the batch is kept
-- Twin:   postgres/sql/functions/create_batch.sql
CREATE OR ALTER PROCEDURE Taskgate.CreateBatch
  @OperationId uniqueidentifier, @Name nvarchar(max), @FailurePolicy nvarchar(max), @Waves int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vMessage nvarchar(2048),
          @vCount smallint, @vBatch bigint, @vWaves nvarchar(max), @vPolicy nvarchar(100), @vMissed nvarchar(max);
  DECLARE @vLock Taskgate.KeyLockList;
  DECLARE @vNew TABLE (BatchId bigint NOT NULL PRIMARY KEY CLUSTERED);

  EXEC Taskgate._CheckText @What = N'name', @Text = @Name;
  SET @vPolicy = LEFT(@FailurePolicy, 100);
  IF @vPolicy IS NULL OR @vPolicy COLLATE Latin1_General_100_BIN2 NOT IN (N'halt', N'continue', N'cancel')
    OR DATALENGTH(@FailurePolicy) <> DATALENGTH(RTRIM(@FailurePolicy))
  BEGIN
    SET @vMessage = N'failure_policy: expected halt, continue or cancel (' + COALESCE(REPLACE(@vPolicy, N'%', N'%%'), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  EXEC Taskgate._CheckRange @What = N'waves', @Value = @Waves, @Min = 1, @Max = 1000;
  IF @OperationId IS NULL THROW 50422, N'operation_id: expected a uuid (<NULL>)', 1;
  INSERT INTO @vLock (Name) VALUES (Taskgate._KeyLock(N'operation', NULL, CONVERT(nvarchar(36), @OperationId)));
  BEGIN TRY
    BEGIN TRANSACTION;
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- lock, then look: kept to the end
    SELECT @vBatch = b.BatchId
    FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK, INDEX (UQ_Batch_OperationId)) -- kept to the end, so its waves are, too
    WHERE b.OperationId = @OperationId;
    IF @vBatch IS NULL
    BEGIN
      INSERT INTO Taskgate.Batch (OperationId, Name, FailurePolicy, CreatedAt)
      OUTPUT inserted.BatchId INTO @vNew (BatchId)
      VALUES (@OperationId, CONVERT(nvarchar(200), @Name), CASE @vPolicy WHEN N'halt' THEN 1 WHEN N'continue' THEN 2 ELSE 3 END,
              SYSUTCDATETIME());
      SELECT @vBatch = n.BatchId FROM @vNew AS n;
      SET @vCount = @Waves;
      INSERT INTO Taskgate.Wave (BatchId, Ordinal)
      SELECT @vBatch, n.N FROM Taskgate.Number AS n WITH (FORCESEEK) WHERE n.N <= @vCount ORDER BY n.N; -- the first so many numbers
      -- The gate: calls that add tasks share it; the call that opens the wave has it alone.
      INSERT INTO Taskgate.WaveShard (WaveId, Shard, Remaining)
      SELECT w.WaveId, 16, 0 FROM Taskgate.Wave AS w WITH (FORCESEEK) WHERE w.BatchId = @vBatch; -- our own new rows
    END;
    SELECT @vWaves = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), w.WaveId) + N'"'), N',')
             WITHIN GROUP (ORDER BY w.Ordinal) + N']'
    FROM Taskgate.Wave AS w WITH (INDEX (UQ_Wave_Ordinal)) -- a batch's waves
    WHERE w.BatchId = @vBatch;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT N'created' AS [Status], @vBatch AS [Batch], @vWaves AS [Waves];
END;
