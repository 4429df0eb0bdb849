-- Taskgate.RollUpStatistics: adds the counts of executions since the last call to the statistics of their definitions, by minute, ten
--         minutes and hour. It deletes statistics that are too old. The sweep calls it until nothing is left.
-- In:     @Max int 1..1000: executions that began since the last call to be looked at, and rows to be deleted of each length
-- Out:    Status: rolled | busy (another call is at it: nothing was done); Executions: looked at; Deleted: rows of periods;
--         More: call again
-- Raises: 50422 @Max out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  StatisticRound by skip (one call at a time); Statistic, StatisticTime and ExecutionCounted are written by its holder only
-- Isolation: no execution waits for it. Without row versions its reads may wait for a call of an execution, which waits for nothing
--         that is held here
-- Plan:   TaskExecution behind the remembered place, by key; open executions that were counted before; per definition the last 1000 ready
--         entries and the first one; per definition of which tasks ended well the newest 50, by IX_Archive_Finished; IX_Statistic_At;
--         joins are loops in the written order
-- Once:   each count is added once: the totals of an open execution are remembered. An execution counts at the minute in which it
--         ended, else at this one
-- Twin:   postgres/sql/functions/roll_up_statistics.sql
CREATE OR ALTER PROCEDURE Taskgate.RollUpStatistics
  @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vZero datetime2(3) = '2000-01-01', @vStatus nvarchar(20) = N'busy', @vLast bigint,
          @vSince datetime2(3), @vNewCount int, @vUnsettled bigint, @vSettled bigint, @vNewest bigint, @vExecutions int = 0,
          @vDeleted int = 0, @vMore bit = 0;
  DECLARE @vId TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vSeen TABLE ( -- totals, and the part of them that was counted before
    TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, IsOpen bit NOT NULL, StartedAt datetime2(3) NOT NULL,
    MinuteAt datetime2(3) NOT NULL, ClaimedCount int NOT NULL, DoneCount int NOT NULL, FailedCount int NOT NULL, DeadCount int NOT NULL,
    LostCount int NOT NULL, RanMs bigint NOT NULL, HeldMs bigint NOT NULL, WasCounted bit NOT NULL, ClaimedBefore int NOT NULL,
    DoneBefore int NOT NULL, FailedBefore int NOT NULL, DeadBefore int NOT NULL, LostBefore int NOT NULL, RanMsBefore bigint NOT NULL,
    HeldMsBefore bigint NOT NULL);
  DECLARE @vPart TABLE (
    TaskDefinitionId int NOT NULL, MinuteAt datetime2(3) NOT NULL, Claimed int NOT NULL, Done int NOT NULL, Failed int NOT NULL,
    Dead int NOT NULL, Lost int NOT NULL, RanMs bigint NOT NULL, HeldMs bigint NOT NULL, Ready int NOT NULL, NextAgeMs bigint NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, MinuteAt));
  DECLARE @vReady TABLE (TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, Ready int NOT NULL, TaskId bigint NOT NULL);
  DECLARE @vPeriod TABLE (
    TaskDefinitionId int NOT NULL, Grain int NOT NULL, At datetime2(3) NOT NULL, Claimed int NOT NULL, Done int NOT NULL,
    Failed int NOT NULL, Dead int NOT NULL, Lost int NOT NULL, RanMs bigint NOT NULL, HeldMs bigint NOT NULL, TaskLimit int NOT NULL,
    Ready int NOT NULL, NextAgeMs bigint NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, Grain, At));
  DECLARE @vSample TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Done int NOT NULL, MinuteAt datetime2(3) NOT NULL);
  DECLARE @vMeasured TABLE (
    TaskId bigint NOT NULL, Measure tinyint NOT NULL, Bucket smallint NOT NULL, PRIMARY KEY CLUSTERED (TaskId, Measure));
  DECLARE @vTime TABLE (
    TaskDefinitionId int NOT NULL, Grain int NOT NULL, At datetime2(3) NOT NULL, Measure tinyint NOT NULL, Bucket smallint NOT NULL,
    Tasks int NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, Grain, At, Measure, Bucket));
  DECLARE @vOld TABLE (
    TaskDefinitionId int NOT NULL, Grain int NOT NULL, At datetime2(3) NOT NULL, PRIMARY KEY CLUSTERED (TaskDefinitionId, Grain, At));

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  BEGIN TRY
    BEGIN TRANSACTION;
    SELECT @vLast = r.LastExecutionId, @vSince = r.EndedAt
    FROM Taskgate.StatisticRound AS r WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait; kept to the end
    WHERE r.RoundId = 1;
    IF @vLast IS NOT NULL
    BEGIN
      SET @vStatus = N'rolled';
      -- 1. Which executions. Ids may become visible in another order than they were given: those of the last seconds are looked at again.
      INSERT INTO @vId (TaskExecutionId)
      SELECT TOP (@Max) e.TaskExecutionId
      FROM Taskgate.TaskExecution AS e WITH (INDEX (PK_TaskExecution), FORCESEEK) -- in key order
      WHERE e.TaskExecutionId > @vLast
      ORDER BY e.TaskExecutionId
      OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@Max = 100)); -- a seek without a sort
      SET @vNewCount = @@ROWCOUNT;
      SELECT @vNewest = MAX(i.TaskExecutionId) FROM @vId AS i;
      INSERT INTO @vId (TaskExecutionId)
      SELECT c.TaskExecutionId
      FROM Taskgate.ExecutionCounted AS c WITH (FORCESEEK) -- open ones, and some of the last seconds
      WHERE c.TaskExecutionId <= @vLast;
      INSERT INTO @vSeen (TaskExecutionId, TaskDefinitionId, IsOpen, StartedAt, MinuteAt, ClaimedCount, DoneCount, FailedCount, DeadCount,
        LostCount, RanMs, HeldMs, WasCounted, ClaimedBefore, DoneBefore, FailedBefore, DeadBefore, LostBefore, RanMsBefore, HeldMsBefore)
      SELECT e.TaskExecutionId, e.TaskDefinitionId, o.IsOpen, e.StartedAt,
             DATEADD(MINUTE, DATEDIFF(MINUTE, @vZero, CASE o.IsOpen WHEN 1 THEN @vNow ELSE COALESCE(e.EndedAt, @vNow) END), @vZero),
             e.ClaimedCount, e.DoneCount, e.FailedCount, e.DeadCount, e.LostCount, e.RanMs,
             e.HeldMs + CASE WHEN e.TokenCount > 0 THEN e.TokenCount * DATEDIFF_BIG(MILLISECOND, COALESCE(e.TokensAt, e.StartedAt), @vNow) ELSE 0 END,
             CASE WHEN c.TaskExecutionId IS NULL THEN 0 ELSE 1 END, COALESCE(c.ClaimedCount, 0), COALESCE(c.DoneCount, 0),
             COALESCE(c.FailedCount, 0), COALESCE(c.DeadCount, 0), COALESCE(c.LostCount, 0), COALESCE(c.RanMs, 0), COALESCE(c.HeldMs, 0)
      FROM @vId AS i
      INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = i.TaskExecutionId
      LEFT JOIN Taskgate.ExecutionCounted AS c ON c.TaskExecutionId = i.TaskExecutionId
      CROSS APPLY (SELECT CASE WHEN e.State IN (1, 3) THEN 1 ELSE 0 END AS IsOpen) AS o
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per execution
      SET @vExecutions = @@ROWCOUNT;
      SELECT @vUnsettled = MIN(s.TaskExecutionId)
      FROM @vSeen AS s WHERE s.TaskExecutionId > @vLast AND s.StartedAt >= DATEADD(SECOND, -10, @vNow);
      SELECT @vSettled = COALESCE(MAX(s.TaskExecutionId), @vLast)
      FROM @vSeen AS s WHERE s.TaskExecutionId > @vLast AND (@vUnsettled IS NULL OR s.TaskExecutionId < @vUnsettled);

      -- 2. Their counts since, by definition and minute; ready tasks of now; both by period.
      INSERT INTO @vPart (TaskDefinitionId, MinuteAt, Claimed, Done, Failed, Dead, Lost, RanMs, HeldMs, Ready, NextAgeMs)
      SELECT s.TaskDefinitionId, s.MinuteAt, SUM(s.ClaimedCount - s.ClaimedBefore), SUM(s.DoneCount - s.DoneBefore),
             SUM(s.FailedCount - s.FailedBefore), SUM(s.DeadCount - s.DeadBefore), SUM(s.LostCount - s.LostBefore),
             SUM(s.RanMs - s.RanMsBefore), SUM(s.HeldMs - s.HeldMsBefore), 0, 0
      FROM @vSeen AS s
      WHERE s.ClaimedCount > s.ClaimedBefore OR s.DoneCount > s.DoneBefore OR s.FailedCount > s.FailedBefore OR s.DeadCount > s.DeadBefore
        OR s.LostCount > s.LostBefore OR s.RanMs > s.RanMsBefore OR s.HeldMs > s.HeldMsBefore
      GROUP BY s.TaskDefinitionId, s.MinuteAt;
      INSERT INTO @vReady (TaskDefinitionId, Ready, TaskId)
      SELECT d.TaskDefinitionId, r.Ready, h.TaskId
      FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all of them: there are few
      CROSS APPLY (
        SELECT COUNT(*) AS Ready
        FROM (SELECT TOP (1000) x.TaskId
              FROM Taskgate.Ready AS x WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- the last entries; versions or not, no wait
              WHERE x.TaskDefinitionId = d.TaskDefinitionId
              ORDER BY x.Priority DESC, x.Rank DESC, x.TaskId DESC) AS c) AS r
      CROSS APPLY (
        SELECT TOP (1) x.TaskId
        FROM Taskgate.Ready AS x WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- the first entry; versions or not, no wait
        WHERE x.TaskDefinitionId = d.TaskDefinitionId
        ORDER BY x.Priority, x.Rank, x.TaskId) AS h;
      INSERT INTO @vPeriod (TaskDefinitionId, Grain, At, Claimed, Done, Failed, Dead, Lost, RanMs, HeldMs, TaskLimit, Ready, NextAgeMs)
      SELECT p.TaskDefinitionId, l.Grain, a.At, SUM(p.Claimed), SUM(p.Done), SUM(p.Failed), SUM(p.Dead), SUM(p.Lost), SUM(p.RanMs),
             SUM(p.HeldMs), COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit), MAX(p.Ready), MAX(p.NextAgeMs)
      FROM (
        SELECT q.TaskDefinitionId, q.MinuteAt, q.Claimed, q.Done, q.Failed, q.Dead, q.Lost, q.RanMs, q.HeldMs, q.Ready, q.NextAgeMs
        FROM @vPart AS q
        UNION ALL
        SELECT y.TaskDefinitionId, @vNow, 0, 0, 0, 0, 0, 0, 0, y.Ready,
               CASE WHEN x.DueAt < @vNow THEN DATEDIFF_BIG(MILLISECOND, x.DueAt, @vNow) ELSE 0 END
        FROM @vReady AS y
        INNER JOIN Taskgate.Task AS t ON t.TaskId = y.TaskId
        LEFT JOIN Taskgate.Wave AS w ON w.WaveId = t.WaveId
        CROSS APPLY Taskgate._DueAt(t.CreatedAt, t.DueAt, w.OpenedAt) AS x
        WHERE NOT EXISTS ( -- one that was done since has its row still, and no wave; versions or not, no wait
          SELECT 1 FROM Taskgate.Archive AS z WITH (READCOMMITTEDLOCK, READPAST, INDEX (PK_Archive)) WHERE z.TaskId = t.TaskId)) AS p
      CROSS JOIN (VALUES (1), (10), (60)) AS l (Grain)
      CROSS APPLY (SELECT DATEADD(MINUTE, DATEDIFF(MINUTE, @vZero, p.MinuteAt) / l.Grain * l.Grain, @vZero) AS At) AS a
      INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = p.TaskDefinitionId
      GROUP BY p.TaskDefinitionId, l.Grain, a.At, COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per definition and task
      UPDATE s
      SET Claimed = s.Claimed + p.Claimed, Done = s.Done + p.Done, Failed = s.Failed + p.Failed, Dead = s.Dead + p.Dead,
          Lost = s.Lost + p.Lost, RanMs = s.RanMs + p.RanMs, HeldMs = s.HeldMs + p.HeldMs, TaskLimit = p.TaskLimit,
          Ready = CASE WHEN p.Ready > s.Ready THEN p.Ready ELSE s.Ready END,
          NextAgeMs = CASE WHEN p.NextAgeMs > s.NextAgeMs THEN p.NextAgeMs ELSE s.NextAgeMs END
      FROM @vPeriod AS p
      INNER JOIN Taskgate.Statistic AS s WITH (ROWLOCK, UPDLOCK) -- ours by the round's row
        ON s.TaskDefinitionId = p.TaskDefinitionId AND s.Grain = p.Grain AND s.At = p.At
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per period
      INSERT INTO Taskgate.Statistic WITH (ROWLOCK) (TaskDefinitionId, Grain, At, Claimed, Done, Failed, Dead, Lost, RanMs, HeldMs, TaskLimit,
        Ready, NextAgeMs)
      SELECT p.TaskDefinitionId, p.Grain, p.At, p.Claimed, p.Done, p.Failed, p.Dead, p.Lost, p.RanMs, p.HeldMs, p.TaskLimit, p.Ready, p.NextAgeMs
      FROM @vPeriod AS p
      WHERE NOT EXISTS (
        SELECT 1 FROM Taskgate.Statistic AS s WITH (FORCESEEK) -- one probe
        WHERE s.TaskDefinitionId = p.TaskDefinitionId AND s.Grain = p.Grain AND s.At = p.At)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per period

      -- 3. How long tasks waited and ran: the entries of the index, then the tasks by key, weighted so that all are counted.
      INSERT INTO @vSample (TaskId, TaskDefinitionId, Done, MinuteAt)
      SELECT x.TaskId, n.TaskDefinitionId, n.Done, n.MinuteAt
      FROM (SELECT q.TaskDefinitionId, SUM(q.Done) AS Done, MAX(q.MinuteAt) AS MinuteAt
            FROM @vPart AS q WHERE q.Done > 0 GROUP BY q.TaskDefinitionId) AS n
      CROSS APPLY (
        SELECT TOP (50) a.TaskId
        FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Finished)) -- backwards; covers this read
        WHERE a.TaskDefinitionId = n.TaskDefinitionId AND a.Outcome = 10 AND a.FinishedAt > @vSince
        ORDER BY a.FinishedAt DESC, a.TaskId DESC) AS x
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per definition
      INSERT INTO @vMeasured (TaskId, Measure, Bucket)
      SELECT s.TaskId, m.Measure, b.Bucket
      FROM @vSample AS s
      INNER JOIN Taskgate.Archive AS a WITH (INDEX (PK_Archive)) ON a.TaskId = s.TaskId
      CROSS APPLY (
        SELECT 1 AS Measure, CONVERT(bigint, a.DurationMs) AS Ms WHERE a.DurationMs IS NOT NULL
        UNION ALL
        SELECT 2, DATEDIFF_BIG(MILLISECOND, a.CreatedAt, a.FinishedAt) - COALESCE(a.DurationMs, 0)) AS m
      CROSS APPLY Taskgate._DurationBucket(m.Ms) AS b
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
      INSERT INTO @vTime (TaskDefinitionId, Grain, At, Measure, Bucket, Tasks)
      SELECT g.TaskDefinitionId, l.Grain, DATEADD(MINUTE, DATEDIFF(MINUTE, @vZero, g.MinuteAt) / l.Grain * l.Grain, @vZero), g.Measure,
             g.Bucket, CASE WHEN w.Tasks < 1 THEN 1 ELSE w.Tasks END
      FROM (SELECT s.TaskDefinitionId, s.MinuteAt, m.Measure, m.Bucket, COUNT(*) AS Found, MAX(s.Done) AS Done, MAX(s.LookedAt) AS LookedAt
            FROM (SELECT x.TaskId, x.TaskDefinitionId, x.Done, x.MinuteAt, COUNT(*) OVER (PARTITION BY x.TaskDefinitionId) AS LookedAt
                  FROM @vSample AS x) AS s
            INNER JOIN @vMeasured AS m ON m.TaskId = s.TaskId
            GROUP BY s.TaskDefinitionId, s.MinuteAt, m.Measure, m.Bucket) AS g
      CROSS APPLY (SELECT CONVERT(int, (2 * CONVERT(bigint, g.Found) * g.Done + g.LookedAt) / (2 * g.LookedAt)) AS Tasks) AS w -- rounded; at most Done
      CROSS JOIN (VALUES (1), (10), (60)) AS l (Grain)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
      UPDATE x
      SET Tasks = x.Tasks + t.Tasks
      FROM @vTime AS t
      INNER JOIN Taskgate.StatisticTime AS x WITH (ROWLOCK, UPDLOCK) -- ours by the round's row
        ON x.TaskDefinitionId = t.TaskDefinitionId AND x.Grain = t.Grain AND x.At = t.At AND x.Measure = t.Measure AND x.Bucket = t.Bucket
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per row
      INSERT INTO Taskgate.StatisticTime WITH (ROWLOCK) (TaskDefinitionId, Grain, At, Measure, Bucket, Tasks)
      SELECT t.TaskDefinitionId, t.Grain, t.At, t.Measure, t.Bucket, t.Tasks
      FROM @vTime AS t
      WHERE NOT EXISTS (
        SELECT 1 FROM Taskgate.StatisticTime AS x WITH (FORCESEEK) -- one probe
        WHERE x.TaskDefinitionId = t.TaskDefinitionId AND x.Grain = t.Grain AND x.At = t.At AND x.Measure = t.Measure AND x.Bucket = t.Bucket)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per row

      -- 4. Totals to remember: of executions that may go on, and of those that are looked at again.
      DELETE c
      FROM @vId AS i
      INNER JOIN Taskgate.ExecutionCounted AS c WITH (ROWLOCK, UPDLOCK) ON c.TaskExecutionId = i.TaskExecutionId -- ours by the round's row
      LEFT JOIN @vSeen AS s ON s.TaskExecutionId = i.TaskExecutionId
      WHERE s.TaskExecutionId IS NULL OR (s.IsOpen = 0 AND s.TaskExecutionId <= @vSettled)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
      UPDATE c
      SET ClaimedCount = s.ClaimedCount, DoneCount = s.DoneCount, FailedCount = s.FailedCount, DeadCount = s.DeadCount,
          LostCount = s.LostCount, RanMs = s.RanMs, HeldMs = s.HeldMs
      FROM @vSeen AS s
      INNER JOIN Taskgate.ExecutionCounted AS c WITH (ROWLOCK, UPDLOCK) ON c.TaskExecutionId = s.TaskExecutionId -- ours by the round's row
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
      INSERT INTO Taskgate.ExecutionCounted WITH (ROWLOCK) (TaskExecutionId, ClaimedCount, DoneCount, FailedCount, DeadCount, LostCount, RanMs, HeldMs)
      SELECT s.TaskExecutionId, s.ClaimedCount, s.DoneCount, s.FailedCount, s.DeadCount, s.LostCount, s.RanMs, s.HeldMs
      FROM @vSeen AS s
      WHERE s.WasCounted = 0 AND (s.IsOpen = 1 OR s.TaskExecutionId > @vSettled);

      -- 5. Old periods go.
      INSERT INTO @vOld (TaskDefinitionId, Grain, At)
      SELECT x.TaskDefinitionId, l.Grain, x.At
      FROM (VALUES (1, 180), (10, 4320), (60, 129600)) AS l (Grain, KeptMinutes)
      CROSS APPLY (
        SELECT TOP (@Max) s.TaskDefinitionId, s.At
        FROM Taskgate.Statistic AS s WITH (INDEX (IX_Statistic_At), FORCESEEK) -- the oldest; covers this read
        WHERE s.Grain = l.Grain AND s.At < DATEADD(MINUTE, -l.KeptMinutes, @vNow)
        ORDER BY s.At) AS x;
      SELECT @vMore = CASE WHEN MAX(n.Found) = @Max THEN 1 ELSE 0 END
      FROM (SELECT COUNT(*) AS Found FROM @vOld AS o GROUP BY o.Grain) AS n;
      DELETE t
      FROM @vOld AS o
      INNER JOIN Taskgate.StatisticTime AS t WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- ours by the round's row
        ON t.TaskDefinitionId = o.TaskDefinitionId AND t.Grain = o.Grain AND t.At = o.At
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per period
      DELETE s
      FROM @vOld AS o
      INNER JOIN Taskgate.Statistic AS s WITH (ROWLOCK, UPDLOCK) -- ours by the round's row
        ON s.TaskDefinitionId = o.TaskDefinitionId AND s.Grain = o.Grain AND s.At = o.At
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per period
      SET @vDeleted = @@ROWCOUNT;
      IF @vNewCount = @Max AND @vSettled = @vNewest SET @vMore = 1;
      UPDATE r
      SET LastExecutionId = @vSettled, EndedAt = @vNow
      FROM Taskgate.StatisticRound AS r WITH (ROWLOCK, UPDLOCK) -- ours already
      WHERE r.RoundId = 1;
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vExecutions AS [Executions], @vDeleted AS [Deleted], @vMore AS [More];
END;
