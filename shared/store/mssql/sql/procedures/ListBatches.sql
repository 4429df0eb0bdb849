-- Taskgate.ListBatches: batches with their waves and how far they are, newest first.
-- In:     @BatchId bigint: only this one, or null; @Before bigint: only older ones, or null; @Max int 1..100
-- Out:    Status: listed; Batches: JSON array of {batch, name, state: draft | running | halted | done | cancelled, failurePolicy,
--         createdAt, startedAt, finishedAt, runningMs: since its start while it runs, or null, waves: [{wave, ordinal,
--         state: blocked | opening | open | done | cancelled (with its batch, before it opened), sealed, blocked: not admitted yet
--         (counted up to 100000), admitted, unfinished: of those admitted, dead, openedAt, finishedAt}]}
-- Raises: 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: several reads, each as of its own moment
-- Plan:   primary keys; blocked tasks are counted in PK_WaveBlocked; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_batches.sql
CREATE OR ALTER PROCEDURE Taskgate.ListBatches
  @BatchId bigint, @Before bigint, @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vBatches nvarchar(max), @vBefore bigint = COALESCE(@Before, 9223372036854775807);
  DECLARE @vBatch TABLE (
    BatchId bigint NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) NOT NULL, State tinyint NOT NULL, FailurePolicy tinyint NOT NULL,
    CreatedAt datetime2(3) NOT NULL, StartedAt datetime2(3) NULL, FinishedAt datetime2(3) NULL, Waves nvarchar(max) NULL);
  DECLARE @vWave TABLE (
    WaveId bigint NOT NULL PRIMARY KEY CLUSTERED, BatchId bigint NOT NULL, Ordinal int NOT NULL, State tinyint NOT NULL,
    IsSealed bit NOT NULL, Total int NOT NULL, DeadCount int NOT NULL, OpenedAt datetime2(3) NULL, FinishedAt datetime2(3) NULL,
    Blocked int NOT NULL, Unfinished int NOT NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 100;
  IF @BatchId IS NOT NULL
    INSERT INTO @vBatch (BatchId, Name, State, FailurePolicy, CreatedAt, StartedAt, FinishedAt)
    SELECT b.BatchId, b.Name, b.State, b.FailurePolicy, b.CreatedAt, b.StartedAt, b.FinishedAt
    FROM Taskgate.Batch AS b
    WHERE b.BatchId = @BatchId AND b.BatchId < @vBefore;
  ELSE
    INSERT INTO @vBatch (BatchId, Name, State, FailurePolicy, CreatedAt, StartedAt, FinishedAt)
    SELECT TOP (@Max) b.BatchId, b.Name, b.State, b.FailurePolicy, b.CreatedAt, b.StartedAt, b.FinishedAt
    FROM Taskgate.Batch AS b WITH (FORCESEEK) -- the last entries
    WHERE b.BatchId < @vBefore
    ORDER BY b.BatchId DESC;
  INSERT INTO @vWave (WaveId, BatchId, Ordinal, State, IsSealed, Total, DeadCount, OpenedAt, FinishedAt, Blocked, Unfinished)
  SELECT w.WaveId, w.BatchId, w.Ordinal, CASE WHEN b.State = 4 AND w.OpenedAt IS NULL THEN 4 ELSE w.State END, w.IsSealed, w.Total, w.DeadCount, w.OpenedAt, w.FinishedAt, 0, 0
  FROM @vBatch AS b
  INNER JOIN Taskgate.Wave AS w WITH (FORCESEEK) ON w.BatchId = b.BatchId -- a batch's waves
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN);
  UPDATE w
  SET Blocked = h.Blocked
  FROM @vWave AS w
  CROSS APPLY (
    SELECT COUNT(*) AS Blocked
    FROM (SELECT TOP (100000) x.TaskId
          FROM Taskgate.WaveBlocked AS x WITH (FORCESEEK) -- the wave's entries
          WHERE x.WaveId = w.WaveId) AS c) AS h
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave
  UPDATE w
  SET Unfinished = s.Unfinished
  FROM @vWave AS w
  CROSS APPLY (
    SELECT COALESCE(SUM(x.Remaining), 0) AS Unfinished
    FROM Taskgate.WaveShard AS x WITH (FORCESEEK) -- the wave's few rows
    WHERE x.WaveId = w.WaveId) AS s
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per wave
  UPDATE b
  SET Waves = s.Waves
  FROM (
    SELECT w.BatchId, STRING_AGG(CONVERT(nvarchar(max), N'{"wave":"' + CONVERT(nvarchar(20), w.WaveId)
             + N'","ordinal":' + CONVERT(nvarchar(11), w.Ordinal)
             + N',"state":"' + CASE w.State WHEN 0 THEN N'blocked' WHEN 1 THEN N'opening' WHEN 2 THEN N'open' WHEN 3 THEN N'done'
                 ELSE N'cancelled' END
             + N'","sealed":' + CASE w.IsSealed WHEN 1 THEN N'true' ELSE N'false' END
             + N',"blocked":' + CONVERT(nvarchar(11), w.Blocked) + N',"admitted":' + CONVERT(nvarchar(11), w.Total)
             + N',"unfinished":' + CONVERT(nvarchar(11), w.Unfinished) + N',"dead":' + CONVERT(nvarchar(11), w.DeadCount)
             + N',"openedAt":' + COALESCE(N'"' + Taskgate._Iso(w.OpenedAt) + N'"', N'null')
             + N',"finishedAt":' + COALESCE(N'"' + Taskgate._Iso(w.FinishedAt) + N'"', N'null') + N'}'), N',')
             WITHIN GROUP (ORDER BY w.Ordinal) AS Waves
    FROM @vWave AS w
    GROUP BY w.BatchId) AS s
  INNER JOIN @vBatch AS b ON b.BatchId = s.BatchId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per batch
  SELECT @vBatches = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), N'{"batch":"' + CONVERT(nvarchar(20), b.BatchId)
           + N'","name":"' + STRING_ESCAPE(b.Name, 'json')
           + N'","state":"' + CASE b.State WHEN 0 THEN N'draft' WHEN 1 THEN N'running' WHEN 2 THEN N'halted' WHEN 3 THEN N'done'
               ELSE N'cancelled' END
           + N'","failurePolicy":"' + CASE b.FailurePolicy WHEN 1 THEN N'halt' WHEN 2 THEN N'continue' ELSE N'cancel' END
           + N'","createdAt":"' + Taskgate._Iso(b.CreatedAt) + N'"'
           + N',"startedAt":' + COALESCE(N'"' + Taskgate._Iso(b.StartedAt) + N'"', N'null')
           + N',"finishedAt":' + COALESCE(N'"' + Taskgate._Iso(b.FinishedAt) + N'"', N'null')
           + N',"runningMs":' + CASE b.State WHEN 1 THEN CONVERT(nvarchar(20), DATEDIFF_BIG(MILLISECOND, b.StartedAt, @vNow)) ELSE N'null' END
           + N',"waves":[' + COALESCE(b.Waves, N'') + N']}'), N',') WITHIN GROUP (ORDER BY b.BatchId DESC), N'') + N']'
  FROM @vBatch AS b;
  SELECT N'listed' AS [Status], @vBatches AS [Batches];
END;
