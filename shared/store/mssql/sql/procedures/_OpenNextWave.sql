-- Taskgate._OpenNextWave: opens a batch's next wave that has tasks; empty ones before it are done; after the last the batch is.
-- In:     @BatchId bigint: running or cancelled, no wave of it is open (OpenWave), the caller holds its row; @Now
--         A wave of a cancelled batch has never opened: its tasks are cancelled
-- Out:    @oWoken: JSON array of ids of definitions that got ready tasks, '[]' when none did; @oIsOpening: tasks of the wave are
--         still to be admitted, or another call adds tasks to it now: call PumpBatch
-- Raises: -
-- Locks:  the gate of the next wave by skip, then its row. Joins the caller's transaction
-- Isolation: no other call wants a blocked wave's row, so this one never waits; the gate (shard 16) is had alone only when no call is
--         adding tasks: what they added is visible to the next statement
-- Plan:   UQ_Wave_Ordinal; primary keys
-- Twin:   postgres/sql/functions/_open_next_wave.sql
CREATE OR ALTER PROCEDURE Taskgate._OpenNextWave
  @BatchId bigint, @Now datetime2(3), @oWoken nvarchar(max) OUTPUT, @oIsOpening bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vState tinyint, @vWaveId bigint, @vOrdinal int, @vNext int, @vWaveState tinyint, @vGate smallint, @vMoved int, @vIsOver bit,
          @vIsClosed bit, @vOpenedAt datetime2(3);

  SET @oWoken = N'[]';
  SET @oIsOpening = 0;
  SELECT @vState = b.State, @vOpenedAt = CASE WHEN b.State <> 4 THEN @Now END FROM Taskgate.Batch AS b WHERE b.BatchId = @BatchId;
  SET @vOrdinal = 1; -- every batch has a first wave
  WHILE @vOrdinal IS NOT NULL
  BEGIN
    SELECT @vWaveId = w.WaveId, @vWaveState = w.State
    FROM Taskgate.Wave AS w
    WHERE w.BatchId = @BatchId AND w.Ordinal = @vOrdinal;
    IF @vWaveState = 0
    BEGIN
      SET @vGate = NULL;
      SELECT @vGate = s.Shard
      FROM Taskgate.WaveShard AS s WITH (ROWLOCK, XLOCK, READPAST) -- not beside who shares it; skip
      WHERE s.WaveId = @vWaveId AND s.Shard = 16;
      IF @vGate IS NULL
      BEGIN
        SET @oIsOpening = 1;
        RETURN;
      END;
      IF EXISTS (SELECT 1 FROM Taskgate.WaveBlocked AS h WITH (FORCESEEK) WHERE h.WaveId = @vWaveId) -- a probe
      BEGIN
        UPDATE w
        SET State = 1, OpenShards = 1, OpenedAt = @vOpenedAt -- the 1 stands for those to be admitted
        FROM Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK) -- the holder of the batch's row may write it: it isn't open yet
        WHERE w.WaveId = @vWaveId;
        INSERT INTO Taskgate.OpenWave (BatchId, WaveId) VALUES (@BatchId, @vWaveId);
        INSERT INTO Taskgate.WaveShard (WaveId, Shard, Remaining)
        SELECT @vWaveId, n.N - 1, 0 FROM Taskgate.Number AS n WITH (FORCESEEK) WHERE n.N <= 18 AND n.N <> 17; -- 0..15, and 17: the latch
        IF @vState = 4 -- to be cancelled: not in a caller's completion
        BEGIN
          SET @oIsOpening = 1;
          RETURN;
        END;
        EXEC Taskgate._AdmitBlocked @WaveId = @vWaveId, @Max = 200, @Now = @Now, @oMoved = @vMoved OUTPUT, @oWoken = @oWoken OUTPUT,
          @oIsOver = @vIsOver OUTPUT, @oIsClosed = @vIsClosed OUTPUT;
        IF @vIsOver = 0 SET @oIsOpening = 1;
        IF @vIsClosed = 0 RETURN;
      END;
      UPDATE w
      SET State = 3, OpenedAt = COALESCE(w.OpenedAt, @vOpenedAt), FinishedAt = @Now -- empty, or all of it was cancelled meanwhile
      FROM Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK) -- the holder of the batch's row may write it: it isn't open yet
      WHERE w.WaveId = @vWaveId;
      DELETE o
      FROM Taskgate.OpenWave AS o WITH (ROWLOCK, UPDLOCK) -- only the holder of the batch's row may write it
      WHERE o.BatchId = @BatchId;
    END;
    SELECT @vNext = MIN(w.Ordinal)
    FROM Taskgate.Wave AS w WITH (INDEX (UQ_Wave_Ordinal)) -- the next entry
    WHERE w.BatchId = @BatchId AND w.Ordinal > @vOrdinal;
    SET @vOrdinal = @vNext;
  END;
  UPDATE b
  SET State = CASE b.State WHEN 1 THEN 3 ELSE b.State END, FinishedAt = @Now
  FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK) -- ours already: the caller has locked it
  WHERE b.BatchId = @BatchId;
END;
