-- Taskgate._EndInWaves: counts ended tasks down in their waves; the call that ends the last task of a wave opens the next.
-- In:     @Ended Taskgate.WaveTaskList; @Now
-- Out:    @oWoken: JSON array of ids of definitions that got ready tasks, '[]' when none did; @oOpening: JSON array of ids of batches
--         whose next wave is still being opened, null when there is none
-- Raises: 50499 a wave's counter is missing
-- Locks:  all WaveShard rows by (wave, shard); then Wave rows by (batch, ordinal), once each; then as _CloseWave.
--         Joins the caller's transaction
-- Isolation: of two callers that end the last tasks of one shard the second waits for its row; of two that end the last ones of
--         two shards the second waits for the wave's row: one of them closes it
-- Plan:   primary keys; joins are loops in the written order
-- Twin:   postgres/sql/functions/_end_in_waves.sql
CREATE OR ALTER PROCEDURE Taskgate._EndInWaves
  @Ended Taskgate.WaveTaskList READONLY, @Now datetime2(3), @oWoken nvarchar(max) OUTPUT, @oOpening nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vK int, @vWaveId bigint, @vShard smallint, @vCount int, @vDead int, @vLeft int, @vBatchId bigint, @vMessage nvarchar(2048),
          @vWokenIds nvarchar(max), @vIsOpening bit;
  DECLARE @vByShard TABLE (
    K int NOT NULL PRIMARY KEY CLUSTERED, WaveId bigint NOT NULL, Shard smallint NOT NULL, Ended int NOT NULL, IsEmpty bit NOT NULL);
  DECLARE @vByWave TABLE (
    K int NOT NULL PRIMARY KEY CLUSTERED, WaveId bigint NOT NULL, BatchId bigint NOT NULL, Shards int NOT NULL, Dead int NOT NULL);
  DECLARE @vWoken TABLE (TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vOpening TABLE (BatchId bigint NOT NULL PRIMARY KEY CLUSTERED);

  INSERT INTO @vByShard (K, WaveId, Shard, Ended, IsEmpty)
  SELECT ROW_NUMBER() OVER (ORDER BY c.WaveId, c.Shard), c.WaveId, c.Shard, COUNT(*), 0
  FROM (SELECT e.WaveId, CONVERT(smallint, (e.TaskId / 512) % 16) AS Shard FROM @Ended AS e) AS c
  GROUP BY c.WaveId, c.Shard;
  SELECT @vK = MIN(c.K) FROM @vByShard AS c;
  WHILE @vK IS NOT NULL
  BEGIN
    SELECT @vWaveId = c.WaveId, @vShard = c.Shard, @vCount = c.Ended FROM @vByShard AS c WHERE c.K = @vK;
    UPDATE s
    SET Remaining = s.Remaining - @vCount
    FROM Taskgate.WaveShard AS s WITH (ROWLOCK, UPDLOCK) -- one row after the other, in the order that all keep
    WHERE s.WaveId = @vWaveId AND s.Shard = @vShard;
    IF @@ROWCOUNT = 0
    BEGIN
      SET @vMessage = N'wave_id: a task names a wave that is gone (' + CONVERT(nvarchar(20), @vWaveId) + N')';
      THROW 50499, @vMessage, 1;
    END;
    SELECT @vLeft = s.Remaining FROM Taskgate.WaveShard AS s WHERE s.WaveId = @vWaveId AND s.Shard = @vShard;
    IF @vLeft = 0 UPDATE c SET IsEmpty = 1 FROM @vByShard AS c WHERE c.K = @vK;
    SELECT @vK = MIN(c.K) FROM @vByShard AS c WHERE c.K > @vK;
  END;

  INSERT INTO @vByWave (K, WaveId, BatchId, Shards, Dead)
  SELECT ROW_NUMBER() OVER (ORDER BY w.BatchId, w.Ordinal), x.WaveId, w.BatchId, x.Shards, x.Dead
  FROM (
    SELECT d.WaveId, d.Dead,
           (SELECT COUNT(*) FROM @vByShard AS c WHERE c.WaveId = d.WaveId AND c.IsEmpty = 1) AS Shards
    FROM (SELECT e.WaveId, SUM(CASE e.Outcome WHEN 11 THEN 1 ELSE 0 END) AS Dead FROM @Ended AS e GROUP BY e.WaveId) AS d) AS x
  INNER JOIN Taskgate.Wave AS w ON w.WaveId = x.WaveId
  WHERE x.Dead > 0 OR x.Shards > 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave
  SELECT @vK = MIN(c.K) FROM @vByWave AS c;
  WHILE @vK IS NOT NULL
  BEGIN
    SELECT @vWaveId = c.WaveId, @vBatchId = c.BatchId, @vCount = c.Shards, @vDead = c.Dead FROM @vByWave AS c WHERE c.K = @vK;
    UPDATE w
    SET OpenShards = w.OpenShards - @vCount, DeadCount = w.DeadCount + @vDead
    FROM Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK) -- one row after the other, in the order that all keep
    WHERE w.WaveId = @vWaveId;
    SELECT @vLeft = w.OpenShards FROM Taskgate.Wave AS w WHERE w.WaveId = @vWaveId;
    IF @vLeft = 0
    BEGIN
      EXEC Taskgate._CloseWave @WaveId = @vWaveId, @Now = @Now, @oWoken = @vWokenIds OUTPUT, @oIsOpening = @vIsOpening OUTPUT;
      INSERT INTO @vWoken (TaskDefinitionId)
      SELECT DISTINCT CONVERT(int, j.[value]) FROM OPENJSON(@vWokenIds) AS j
      WHERE NOT EXISTS (SELECT 1 FROM @vWoken AS o WHERE o.TaskDefinitionId = CONVERT(int, j.[value]))
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per definition
      IF @vIsOpening = 1
        INSERT INTO @vOpening (BatchId) VALUES (@vBatchId); -- once: a batch has one open wave
    END;
    SELECT @vK = MIN(c.K) FROM @vByWave AS c WHERE c.K > @vK;
  END;
  SELECT @oWoken = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), o.TaskDefinitionId), N','), N'') + N']' FROM @vWoken AS o;
  SELECT @oOpening = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), o.BatchId) + N'"'), N',') + N']'
  FROM @vOpening AS o;
END;
