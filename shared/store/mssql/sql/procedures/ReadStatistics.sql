-- Taskgate.ReadStatistics: the counts of RollUpStatistics, by period.
-- In:     @Name: a definition, null: all; @Grain int: the periods' length, 1, 10 or 60 minutes; @Max int 1..720: so many
--         periods back from now, with @Name null 1..12
-- Out:    Status: read; NowAt ISO-8601: the database's clock; CountedAt ISO-8601: until then all is counted
--         Periods: JSON array, by definition, then time, of {definition, at ISO-8601: its begin, claimed, done, failed: attempts, dead, lost: tasks,
--           ranMs: of those done, heldMs: tokens times ms, limit: -1: none, ready: the most that a count found, up to 1000, nextAgeMs: of the
--           task that comes next the highest, ran, waited: lists of [bucket, tasks], see _DurationBucket; a period without
--           any of it isn't there
-- Raises: 50404 unknown definition; 50422 @Grain, @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: without row versions a read may wait for a call that counts
-- Plan:   PK_Statistic, a range of it per definition; PK_StatisticTime, one per period; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/read_statistics.sql
CREATE OR ALTER PROCEDURE Taskgate.ReadStatistics
  @Name nvarchar(max), @Grain int, @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vZero datetime2(3) = '2000-01-01', @vFrom datetime2(3), @vMessage nvarchar(2048), @vMax int,
          @vDefinition int, @vCountedAt datetime2(3), @vPeriods nvarchar(max);
  DECLARE @vPeriod TABLE (
    Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, At datetime2(3) NOT NULL, TaskDefinitionId int NOT NULL, Claimed int NOT NULL,
    Done int NOT NULL, Failed int NOT NULL, Dead int NOT NULL, Lost int NOT NULL, RanMs bigint NOT NULL, HeldMs bigint NOT NULL,
    TaskLimit int NOT NULL, Ready int NOT NULL, NextAgeMs bigint NOT NULL,
    PRIMARY KEY CLUSTERED (Name, At));

  IF @Grain IS NULL OR @Grain NOT IN (1, 10, 60)
  BEGIN
    SET @vMessage = N'grain: expected 1, 10 or 60 (' + COALESCE(CONVERT(nvarchar(11), @Grain), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  SET @vMax = CASE WHEN @Name IS NULL THEN 12 ELSE 720 END;
  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = @vMax;
  IF @Name IS NOT NULL EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  SET @vFrom = DATEADD(MINUTE, (DATEDIFF(MINUTE, @vZero, @vNow) / @Grain - (@Max - 1)) * @Grain, @vZero);
  SELECT @vCountedAt = r.EndedAt FROM Taskgate.StatisticRound AS r WHERE r.RoundId = 1;
  INSERT INTO @vPeriod (Name, At, TaskDefinitionId, Claimed, Done, Failed, Dead, Lost, RanMs, HeldMs, TaskLimit, Ready, NextAgeMs)
  SELECT d.Name, s.At, s.TaskDefinitionId, s.Claimed, s.Done, s.Failed, s.Dead, s.Lost, s.RanMs, s.HeldMs, s.TaskLimit, s.Ready, s.NextAgeMs
  FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- one of them, or all: there are few
  INNER JOIN Taskgate.Statistic AS s WITH (INDEX (PK_Statistic), FORCESEEK) -- a range per definition
    ON s.TaskDefinitionId = d.TaskDefinitionId AND s.Grain = @Grain AND s.At >= @vFrom
  WHERE @vDefinition IS NULL OR d.TaskDefinitionId = @vDefinition
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- the rows of all definitions, and one range of each that is asked for
  SELECT @vPeriods = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"definition":"') COLLATE Latin1_General_100_BIN2 + STRING_ESCAPE(p.Name, 'json')
           + N'","at":"' + Taskgate._Iso(p.At)
           + N'","claimed":' + CONVERT(nvarchar(11), p.Claimed) + N',"done":' + CONVERT(nvarchar(11), p.Done)
           + N',"failed":' + CONVERT(nvarchar(11), p.Failed) + N',"dead":' + CONVERT(nvarchar(11), p.Dead)
           + N',"lost":' + CONVERT(nvarchar(11), p.Lost) + N',"ranMs":' + CONVERT(nvarchar(20), p.RanMs)
           + N',"heldMs":' + CONVERT(nvarchar(20), p.HeldMs) + N',"limit":' + CONVERT(nvarchar(11), p.TaskLimit)
           + N',"ready":' + CONVERT(nvarchar(11), p.Ready) + N',"nextAgeMs":' + CONVERT(nvarchar(20), p.NextAgeMs)
           + N',"ran":[' + COALESCE(t.Ran, N'') + N'],"waited":[' + COALESCE(t.Waited, N'') + N']}', N',') WITHIN GROUP (ORDER BY p.Name, p.At) + N']'
  FROM @vPeriod AS p
  CROSS APPLY (
    SELECT STRING_AGG(CASE x.Measure WHEN 1 THEN CONVERT(nvarchar(max), e.Entry) END, N',') WITHIN GROUP (ORDER BY x.Bucket) AS Ran,
           STRING_AGG(CASE x.Measure WHEN 2 THEN CONVERT(nvarchar(max), e.Entry) END, N',') WITHIN GROUP (ORDER BY x.Bucket) AS Waited
    FROM Taskgate.StatisticTime AS x WITH (FORCESEEK) -- the period's few rows
    CROSS APPLY (SELECT N'[' + CONVERT(nvarchar(11), x.Bucket) + N',' + CONVERT(nvarchar(11), x.Tasks) + N']' AS Entry) AS e
    WHERE x.TaskDefinitionId = p.TaskDefinitionId AND x.Grain = @Grain AND x.At = p.At) AS t
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per period
  SELECT N'read' AS [Status], Taskgate._Iso(@vNow) AS [NowAt], Taskgate._Iso(@vCountedAt) AS [CountedAt], COALESCE(@vPeriods, N'[]') AS [Periods];
END;
