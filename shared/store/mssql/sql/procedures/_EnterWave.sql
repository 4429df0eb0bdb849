-- Taskgate._EnterWave: may tasks be added to a wave? Until it is sealed or opened, or its batch was cancelled. While they are, it
--         isn't opened.
-- In:     @WaveId bigint; @MayBeSealed bit: 1: also after it is sealed, for tasks that were in it before
-- Out:    @oTakes bit
-- Raises: 50404 unknown wave
-- Locks:  the wave's gate (WaveShard 16), shared, when it takes tasks. Joins the caller's transaction
-- Isolation: the call that opens the wave wants the gate alone and skips a taken one, so it never waits. The second read sees all that
--         was committed before the gate was had
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_enter_wave.sql
CREATE OR ALTER PROCEDURE Taskgate._EnterWave
  @WaveId bigint, @oTakes bit OUTPUT, @MayBeSealed bit = 0
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vMessage nvarchar(2048), @vGate smallint, @vBatchId bigint;

  SET @oTakes = NULL;
  -- One table a statement: who opens the wave has the batch's row and wants the wave's.
  SELECT @oTakes = CASE WHEN w.State = 0 AND (w.IsSealed = 0 OR @MayBeSealed = 1) THEN 1 ELSE 0 END, @vBatchId = w.BatchId
  FROM Taskgate.Wave AS w
  WHERE w.WaveId = @WaveId;
  IF @oTakes = 1
    SELECT @oTakes = CASE WHEN b.State <> 4 THEN 1 ELSE 0 END FROM Taskgate.Batch AS b WHERE b.BatchId = @vBatchId;
  IF @oTakes IS NULL
  BEGIN
    SET @vMessage = N'wave_id: unknown (' + CONVERT(nvarchar(20), @WaveId) + N')';
    THROW 50404, @vMessage, 1;
  END;
  IF @oTakes = 1
  BEGIN
    SELECT @vGate = s.Shard
    FROM Taskgate.WaveShard AS s WITH (ROWLOCK, HOLDLOCK) -- shared with others who add tasks, kept to the end; then read again
    WHERE s.WaveId = @WaveId AND s.Shard = 16;
    SELECT @oTakes = CASE WHEN w.State = 0 AND (w.IsSealed = 0 OR @MayBeSealed = 1) THEN 1 ELSE 0 END
    FROM Taskgate.Wave AS w
    WHERE w.WaveId = @WaveId;
    IF @oTakes = 1
      SELECT @oTakes = CASE WHEN b.State <> 4 THEN 1 ELSE 0 END FROM Taskgate.Batch AS b WHERE b.BatchId = @vBatchId;
  END;
END;
