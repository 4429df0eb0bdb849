-- Taskgate._PurgeBatches: deletes batches that finished long ago, with their waves, the oldest first.
-- In:     @Max int: waves; @Now
-- Out:    @oBatches, @oWaves int: rows deleted; @oMore bit: waves filled their share
-- Raises: -
-- Locks:  Batch, Wave and WaveShard, all by skip. Joins the caller's transaction, which holds nothing yet
-- Isolation: found by plain reads, then locked by key: a finished batch never changes again, nor gets rows. A wave goes only when its
--         entry, its row and all of its counters could be had. Who repeats CreateBatch goes from its id to the row, and who lists waves
--         from the batch to them, so entries are locked before rows
-- Plan:   PK_Batch from its old end, at most 1000 rows; UQ_Wave_Ordinal; PK_WaveShard under a wave. A batch with more waves loses them
--         call by call, and goes with the last; from the first on a repeat of its CreateBatch makes a new one;
--         joins are loops in the written order
-- Twin:   postgres/sql/functions/_purge_batches.sql
CREATE OR ALTER PROCEDURE Taskgate._PurgeBatches
  @Max int, @Now datetime2(3), @oBatches int OUTPUT, @oWaves int OUTPUT, @oMore bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vFinishedBefore datetime2(3) = Taskgate._PurgeExecutionsBefore(@Now), @vFound int, @vCut bigint, @vFrom int = 1;
  DECLARE @vBatch TABLE (BatchId bigint NOT NULL PRIMARY KEY CLUSTERED, OperationId uniqueidentifier NOT NULL);
  DECLARE @vEntry TABLE (BatchId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vMine TABLE (BatchId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vWave TABLE (
    K int NOT NULL PRIMARY KEY CLUSTERED, BatchId bigint NOT NULL, Ordinal int NOT NULL, WaveId bigint NOT NULL, Shards int NOT NULL,
    IsMine bit NOT NULL, UNIQUE (BatchId, Ordinal));
  DECLARE @vWaveEntry TABLE (WaveId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vWaveRow TABLE (WaveId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vShard TABLE (WaveId bigint NOT NULL, Shard smallint NOT NULL, PRIMARY KEY CLUSTERED (WaveId, Shard));

  SELECT @oBatches = 0, @oWaves = 0, @oMore = 0;
  -- 1. Due rows, oldest first, with nothing locked.
  INSERT INTO @vBatch (BatchId, OperationId)
  SELECT TOP (@Max) x.BatchId, x.OperationId
  FROM (
    SELECT TOP (1000) b.BatchId, b.OperationId, b.FinishedAt
    FROM Taskgate.Batch AS b WITH (INDEX (PK_Batch)) -- the oldest: ids grow with time
    ORDER BY b.BatchId) AS x
  WHERE x.FinishedAt < @vFinishedBefore
  ORDER BY x.BatchId;
  IF @@ROWCOUNT = 0 RETURN;
  INSERT INTO @vWave (K, BatchId, Ordinal, WaveId, Shards, IsMine)
  SELECT TOP (@Max + 1) ROW_NUMBER() OVER (ORDER BY w.BatchId, w.Ordinal), w.BatchId, w.Ordinal, w.WaveId, 0, 0
  FROM @vBatch AS b
  INNER JOIN Taskgate.Wave AS w WITH (INDEX (UQ_Wave_Ordinal)) ON w.BatchId = b.BatchId -- a batch's waves; covers this read
  ORDER BY w.BatchId, w.Ordinal
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per batch
  SET @vFound = @@ROWCOUNT;
  IF @vFound >= @Max SET @oMore = 1;
  -- Of the batch that the cut goes through some waves stay, of those behind it all.
  SELECT @vCut = w.BatchId FROM @vWave AS w WHERE w.K = @Max + 1;
  DELETE w FROM @vWave AS w WHERE w.K = @Max + 1;
  DELETE b FROM @vBatch AS b WHERE NOT EXISTS (SELECT 1 FROM @vWave AS w WHERE w.BatchId = b.BatchId)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per batch
  UPDATE v
  SET Shards = n.Shards
  FROM @vWave AS v
  CROSS APPLY (
    SELECT COUNT(*) AS Shards
    FROM Taskgate.WaveShard AS s WITH (FORCESEEK) -- the wave's few rows
    WHERE s.WaveId = v.WaveId) AS n
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave

  -- 2. Batches, then waves: rows that no other call has.
  INSERT INTO @vEntry (BatchId)
  SELECT b.BatchId
  FROM @vBatch AS v
  INNER JOIN Taskgate.Batch AS b WITH (ROWLOCK, XLOCK, READPAST, INDEX (UQ_Batch_OperationId)) -- skip, don't wait
    ON b.OperationId = v.OperationId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per batch
  INSERT INTO @vMine (BatchId)
  SELECT b.BatchId
  FROM @vEntry AS v
  INNER JOIN Taskgate.Batch AS b WITH (ROWLOCK, XLOCK, READPAST, INDEX (PK_Batch)) ON b.BatchId = v.BatchId -- skip, don't wait
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per batch
  INSERT INTO @vWaveEntry (WaveId)
  SELECT w.WaveId
  FROM @vMine AS m
  INNER JOIN @vWave AS v ON v.BatchId = m.BatchId
  INNER JOIN Taskgate.Wave AS w WITH (ROWLOCK, XLOCK, READPAST, INDEX (UQ_Wave_Ordinal)) -- skip, don't wait
    ON w.BatchId = v.BatchId AND w.Ordinal = v.Ordinal
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave
  INSERT INTO @vWaveRow (WaveId)
  SELECT w.WaveId
  FROM @vWaveEntry AS v
  INNER JOIN Taskgate.Wave AS w WITH (ROWLOCK, XLOCK, READPAST, INDEX (PK_Wave)) ON w.WaveId = v.WaveId -- skip, don't wait
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave

  -- 3. Counters, of some waves at a time: a statement that locks 5,000 rows would lock the table.
  WHILE @vFrom <= @vFound
  BEGIN
    INSERT INTO @vShard (WaveId, Shard)
    SELECT s.WaveId, s.Shard
    FROM @vWave AS v
    INNER JOIN @vWaveRow AS r ON r.WaveId = v.WaveId
    INNER JOIN Taskgate.WaveShard AS s WITH (ROWLOCK, XLOCK, READPAST, FORCESEEK) ON s.WaveId = r.WaveId -- skip, don't wait
    WHERE v.K BETWEEN @vFrom AND @vFrom + 199
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave
    UPDATE v
    SET IsMine = 1
    FROM @vWave AS v
    INNER JOIN @vWaveRow AS r ON r.WaveId = v.WaveId
    WHERE v.K BETWEEN @vFrom AND @vFrom + 199 AND v.Shards = (SELECT COUNT(*) FROM @vShard AS s WHERE s.WaveId = v.WaveId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per wave
    DELETE s
    FROM @vWave AS v
    INNER JOIN Taskgate.WaveShard AS s WITH (ROWLOCK, UPDLOCK, FORCESEEK) ON s.WaveId = v.WaveId -- ours already
    WHERE v.K BETWEEN @vFrom AND @vFrom + 199 AND v.IsMine = 1
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave
    SET @vFrom = @vFrom + 200;
  END;

  -- 4. Waves, then batches of which nothing is left.
  DELETE w
  FROM @vWave AS v
  INNER JOIN Taskgate.Wave AS w WITH (ROWLOCK, UPDLOCK, INDEX (PK_Wave)) ON w.WaveId = v.WaveId -- ours already
  WHERE v.IsMine = 1
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave
  SET @oWaves = @@ROWCOUNT;
  DELETE b
  FROM @vMine AS m
  INNER JOIN Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK, INDEX (PK_Batch)) ON b.BatchId = m.BatchId -- ours already
  WHERE (@vCut IS NULL OR m.BatchId <> @vCut) AND NOT EXISTS (SELECT 1 FROM @vWave AS v WHERE v.BatchId = m.BatchId AND v.IsMine = 0)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per batch
  SET @oBatches = @@ROWCOUNT;
  UPDATE b
  SET OperationId = NEWID() -- an unused id: a repeat must not be told of some of its waves
  FROM @vMine AS m
  INNER JOIN Taskgate.Batch AS b WITH (ROWLOCK, UPDLOCK, INDEX (PK_Batch)) ON b.BatchId = m.BatchId -- ours already
  WHERE EXISTS (SELECT 1 FROM @vWave AS v WHERE v.BatchId = m.BatchId AND v.IsMine = 1)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per batch
END;
