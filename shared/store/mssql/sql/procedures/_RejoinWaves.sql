-- Taskgate._RejoinWaves: counts tasks that come back in their waves. One that has ended is open again where its batch has halted behind
--         it; into any other ended wave they don't come back.
-- In:     @Rejoining Taskgate.WaveTaskList: of waves that were being opened or open, or ended in a halted batch; outcome 11 died,
--         12 was cancelled, 0 was cancelled before its wave counted it
-- Out:    @oEnded: JSON array of ids of the waves that have ended, '[]' when none has: their tasks are counted nowhere
-- Raises: 50499 a wave's counter is missing
-- Locks:  all WaveShard rows by (wave, shard); then Wave rows by (batch, ordinal), and halted batches by skip: the one that another call
--         resumes or cancels at this moment goes on without these tasks. Joins the caller's transaction
-- Isolation: the call that ends the last task of a wave counts down its shard, then the wave: it comes before this call, which finds the wave
--         ended then, or after it, and finds a task more
-- Plan:   primary keys, UQ_Wave_Ordinal; joins are loops in the written order
-- Twin:   postgres/sql/functions/_rejoin_waves.sql
CREATE OR ALTER PROCEDURE Taskgate._RejoinWaves
  @Rejoining Taskgate.WaveTaskList READONLY, @oEnded nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vK int, @vWaveId bigint, @vShard smallint, @vCount int, @vLeft int, @vShards int, @vDead int, @vUncounted int,
          @vState tinyint, @vBatchId bigint, @vOrdinal int, @vHaltedId bigint, @vMessage nvarchar(2048);
  DECLARE @vByShard TABLE (
    K int NOT NULL PRIMARY KEY CLUSTERED, WaveId bigint NOT NULL, Shard smallint NOT NULL, Tasks int NOT NULL, WasEmpty bit NOT NULL);
  DECLARE @vByWave TABLE (
    K int NOT NULL PRIMARY KEY CLUSTERED, WaveId bigint NOT NULL, Shards int NOT NULL, Dead int NOT NULL, Uncounted int NOT NULL,
    HasEnded bit NOT NULL);

  INSERT INTO @vByShard (K, WaveId, Shard, Tasks, WasEmpty)
  SELECT ROW_NUMBER() OVER (ORDER BY c.WaveId, c.Shard), c.WaveId, c.Shard, COUNT(*), 0
  FROM (SELECT r.WaveId, CONVERT(smallint, (r.TaskId / 512) % 16) AS Shard FROM @Rejoining AS r) AS c
  GROUP BY c.WaveId, c.Shard;
  SELECT @vK = MIN(c.K) FROM @vByShard AS c;
  WHILE @vK IS NOT NULL
  BEGIN
    SELECT @vWaveId = c.WaveId, @vShard = c.Shard, @vCount = c.Tasks FROM @vByShard AS c WHERE c.K = @vK;
    UPDATE s
    SET Remaining = s.Remaining + @vCount
    FROM Taskgate.WaveShard AS s WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- one row after the other, in the order that all keep
    WHERE s.WaveId = @vWaveId AND s.Shard = @vShard;
    IF @@ROWCOUNT = 0
    BEGIN
      SET @vMessage = N'wave_id: a task names a wave that is gone (' + CONVERT(nvarchar(20), @vWaveId) + N')';
      THROW 50499, @vMessage, 1;
    END;
    SELECT @vLeft = s.Remaining FROM Taskgate.WaveShard AS s WHERE s.WaveId = @vWaveId AND s.Shard = @vShard;
    IF @vLeft = @vCount UPDATE c SET WasEmpty = 1 FROM @vByShard AS c WHERE c.K = @vK;
    SELECT @vK = MIN(c.K) FROM @vByShard AS c WHERE c.K > @vK;
  END;

  INSERT INTO @vByWave (K, WaveId, Shards, Dead, Uncounted, HasEnded)
  SELECT ROW_NUMBER() OVER (ORDER BY w.BatchId, w.Ordinal), d.WaveId,
         (SELECT COUNT(*) FROM @vByShard AS c WHERE c.WaveId = d.WaveId AND c.WasEmpty = 1), d.Dead, d.Uncounted, 0
  FROM (
    SELECT r.WaveId, SUM(CASE r.Outcome WHEN 11 THEN 1 ELSE 0 END) AS Dead, SUM(CASE r.Outcome WHEN 0 THEN 1 ELSE 0 END) AS Uncounted
    FROM @Rejoining AS r GROUP BY r.WaveId) AS d
  INNER JOIN Taskgate.Wave AS w ON w.WaveId = d.WaveId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave
  SELECT @vK = MIN(c.K) FROM @vByWave AS c;
  WHILE @vK IS NOT NULL
  BEGIN
    SELECT @vWaveId = c.WaveId, @vShards = c.Shards, @vDead = c.Dead, @vUncounted = c.Uncounted FROM @vByWave AS c WHERE c.K = @vK;
    SELECT @vState = w.State, @vBatchId = w.BatchId, @vOrdinal = w.Ordinal
    FROM Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK) -- lock, then look: one row after the other, in the order that all keep
    WHERE w.WaveId = @vWaveId;
    SET @vHaltedId = NULL;
    IF @vState = 3
      SELECT @vHaltedId = b.BatchId
      FROM Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait
      WHERE b.BatchId = @vBatchId AND b.State = 2;
    IF @vHaltedId IS NOT NULL AND EXISTS (
      SELECT 1
      FROM Taskgate.Wave AS n WITH (INDEX (UQ_Wave_Ordinal)) -- the batch's next entries: none begins while its row is ours
      WHERE n.BatchId = @vBatchId AND n.Ordinal > @vOrdinal AND n.State <> 0)
      SET @vHaltedId = NULL; -- it has halted behind a later one
    IF @vHaltedId IS NOT NULL INSERT INTO Taskgate.OpenWave WITH (ROWLOCK) (BatchId, WaveId) VALUES (@vBatchId, @vWaveId);
    IF @vState = 3 AND @vHaltedId IS NULL UPDATE c SET HasEnded = 1 FROM @vByWave AS c WHERE c.K = @vK;
    ELSE
      UPDATE w
      SET State = CASE @vState WHEN 3 THEN 2 ELSE w.State END, FinishedAt = NULL, OpenShards = w.OpenShards + @vShards,
          DeadCount = w.DeadCount - @vDead, Total = w.Total + @vUncounted
      FROM Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK) -- the row is ours already
      WHERE w.WaveId = @vWaveId;
    SELECT @vK = MIN(c.K) FROM @vByWave AS c WHERE c.K > @vK;
  END;

  -- Waves that have ended aren't counted any more: the additions above are undone.
  UPDATE s
  SET Remaining = s.Remaining - c.Tasks
  FROM @vByShard AS c
  INNER JOIN @vByWave AS w ON w.WaveId = c.WaveId AND w.HasEnded = 1
  INNER JOIN Taskgate.WaveShard AS s WITH (ROWLOCK, UPDLOCK, FORCESEEK) ON s.WaveId = c.WaveId AND s.Shard = c.Shard -- ours already
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per shard
  SELECT @oEnded = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), w.WaveId), N','), N'') + N']'
  FROM @vByWave AS w WHERE w.HasEnded = 1;
END;
