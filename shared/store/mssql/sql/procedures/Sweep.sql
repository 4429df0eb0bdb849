-- Taskgate.Sweep: one read that lists due work, as the safety net behind the hints. Changes nothing.
-- In:     @Max int 1..1000: definitions with something to do, at most
-- Out:    Status: swept; Expired: executions past their lease or declared dead (call ReclaimExpired), counted up to 1000
--         Definitions: JSON array, by name, of those with ready or due tasks, {name, ready (counted up to 1000), free: tokens
--           that may be granted, by the shared limits, too, up to 1000, crowdedOut: others hold all tokens of a shared limit, and no
--           live execution of this definition holds any: a worker that asks is given one, due: tasks wait for promotion, paused}, or null
--         NextDueMs: until the next scheduled task of any definition or the next instant of a schedule, 0 when some are due, or null
--         Opening: JSON array of ids of batches to be pumped (PumpBatch), at most @Max, or null
--         Schedules: JSON array of those that are due (FireSchedule), the longest due first, at most @Max, or null; of {id, definition, name, cron,
--           timeZone, missed, runAt, inMs: 0 or less}, as ListSchedules has them
--         Purgeable: something may be deleted (call Purge); of executions, the ten oldest are looked at, of batches the hundred oldest;
--           groups are looked through to their end an hour after the last time
-- Raises: 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: several reads, each as of its own moment: a task that moves between them is found by the next tick
-- Plan:   per definition at most 1000 ready entries, the last ones, as claims leave deleted entries at the first; two scheduled ones,
--         whatever waits; its tokens; open executions; the rows of all schedules; joins are loops in the written order, or planned for one row
-- Once:   a read
-- Twin:   postgres/sql/functions/sweep.sql
CREATE OR ALTER PROCEDURE Taskgate.Sweep
  @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vExpired int,
          @vDefinitions nvarchar(max), @vNextRunAt datetime2(3), @vOpening nvarchar(max), @vSchedules nvarchar(max), @vPurgeable bit = 0,
          @vEndedBefore datetime2(3);
  DECLARE @vOpen TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL);
  DECLARE @vDefinition TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Paused bit NOT NULL, TaskLimit int NOT NULL, Ready int NOT NULL, IsDue bit NOT NULL,
    Held int NOT NULL, SharedFree int NULL, IsCrowdedOut bit NOT NULL);
  DECLARE @vBatch TABLE (BatchId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vDue TABLE (
    ScheduleId int NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Cron nvarchar(200) NOT NULL, TimeZone nvarchar(100) NOT NULL, MissedPolicy tinyint NOT NULL, NextRunAt datetime2(3) NOT NULL);
  DECLARE @vHolder TABLE ( -- -1: of an entry that can't be read. No row per token: without row versions one that moves may be read twice
    TaskDefinitionId int NOT NULL, Grantee bigint NOT NULL, HeldCount int NOT NULL, IsDamaged bit NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, Grantee));

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  -- First the index entries, then the rows by key: no other call waits between index and row.
  INSERT INTO @vOpen (TaskExecutionId, TaskDefinitionId)
  SELECT e.TaskExecutionId, e.TaskDefinitionId
  FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
  WHERE e.State IN (1, 3);
  SELECT @vExpired = COUNT(*)
  FROM (
    SELECT TOP (1000) e.TaskExecutionId
    FROM @vOpen AS o
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId
    WHERE e.State = 3 OR (e.State = 1 AND e.LeaseUntil < @vNow)) AS x
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution

  INSERT INTO @vDefinition (TaskDefinitionId, Name, Paused, TaskLimit, Ready, IsDue, Held, IsCrowdedOut)
  SELECT TOP (@Max) d.TaskDefinitionId, d.Name, d.Paused, COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit), r.Ready, s.IsDue, 0, 0
  FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all of them: there are few
  CROSS APPLY (
    SELECT COUNT(*) AS Ready
    FROM (SELECT TOP (1000) x.TaskId
          FROM Taskgate.Ready AS x WITH (FORCESEEK) -- the last entries, regardless of statistics
          WHERE x.TaskDefinitionId = d.TaskDefinitionId
          ORDER BY x.Priority DESC, x.Rank DESC, x.TaskId DESC) AS c) AS r
  CROSS APPLY (
    SELECT COUNT(*) AS IsDue
    FROM (SELECT TOP (1) x.TaskId
          FROM Taskgate.Scheduled AS x WITH (FORCESEEK) -- the last one that is due, regardless of statistics
          WHERE x.TaskDefinitionId = d.TaskDefinitionId AND x.RunAt <= @vNow
          ORDER BY x.RunAt DESC) AS c) AS s
  WHERE r.Ready > 0 OR s.IsDue > 0
  ORDER BY d.Name;
  INSERT INTO @vHolder (TaskDefinitionId, Grantee, HeldCount, IsDamaged)
  SELECT d.TaskDefinitionId, COALESCE(t.Grantee, -1), SUM(CASE t.IsHeld WHEN 1 THEN 1 ELSE 0 END),
         MAX(CASE WHEN t.TokenId IS NULL OR t.IsHeld IS NULL OR t.Grantee IS NULL THEN 1 ELSE 0 END)
  FROM @vDefinition AS d
  INNER JOIN Taskgate.TaskDefinition AS x ON x.TaskDefinitionId = d.TaskDefinitionId
  CROSS APPLY Taskgate._TokenEntries(d.TaskDefinitionId, x.ExecutionTokens, x.TokenList) AS t
  GROUP BY d.TaskDefinitionId, COALESCE(t.Grantee, -1)
  OPTION (USE HINT ('DISABLE_DEFERRED_COMPILATION_TV')); -- for one definition, whatever the first call has
  UPDATE d
  SET Held = h.Held
  FROM @vDefinition AS d
  INNER JOIN (
    SELECT g.TaskDefinitionId, SUM(g.HeldCount) AS Held
    FROM @vHolder AS g
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = g.Grantee
    WHERE g.HeldCount > 0 AND e.State = 1 AND e.LeaseUntil >= @vNow
    GROUP BY g.TaskDefinitionId) AS h ON h.TaskDefinitionId = d.TaskDefinitionId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per holder
  UPDATE d
  SET Held = d.TaskLimit -- none is free; one damaged row must not stop the safety net
  FROM @vDefinition AS d
  WHERE EXISTS (SELECT 1 FROM @vHolder AS h WHERE h.TaskDefinitionId = d.TaskDefinitionId AND h.IsDamaged = 1)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per definition
  UPDATE d
  SET SharedFree = u.Free,
      IsCrowdedOut = CASE WHEN u.Free = 0 AND u.Least > 0 AND (d.TaskLimit = -1 OR d.Held < d.TaskLimit) THEN 1 ELSE 0 END
  FROM @vDefinition AS d
  CROSS APPLY (
    SELECT MIN(CASE WHEN x.Live >= x.TaskLimit THEN 0 ELSE x.TaskLimit - x.Live END) AS Free, MIN(x.TaskLimit) AS Least
    FROM Taskgate._SharedUse(d.TaskDefinitionId, @vNow) AS x
    WHERE x.TaskLimit <> -1) AS u
  WHERE u.Free IS NOT NULL
  OPTION (USE HINT ('DISABLE_DEFERRED_COMPILATION_TV')); -- for one definition, whatever the first call has
  UPDATE d
  SET IsCrowdedOut = 0
  FROM @vDefinition AS d
  WHERE d.IsCrowdedOut = 1
    AND EXISTS (
      SELECT 1
      FROM @vOpen AS o
      INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId
      WHERE o.TaskDefinitionId = d.TaskDefinitionId AND e.State = 1 AND e.LeaseUntil >= @vNow AND e.TokenCount > 0)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per open execution
  SELECT @vDefinitions = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"name":"' + STRING_ESCAPE(d.Name, 'json')
           + N'","ready":' + CONVERT(nvarchar(11), d.Ready)
           + N',"free":' + CONVERT(nvarchar(11),
               CASE WHEN d.SharedFree < f.Free THEN d.SharedFree ELSE f.Free END)
           + N',"crowdedOut":' + CASE d.IsCrowdedOut WHEN 1 THEN N'true' ELSE N'false' END
           + N',"due":' + CASE d.IsDue WHEN 1 THEN N'true' ELSE N'false' END
           + N',"paused":' + CASE d.Paused WHEN 1 THEN N'true' ELSE N'false' END + N'}'), N',') WITHIN GROUP (ORDER BY d.Name) + N']'
  FROM @vDefinition AS d
  CROSS APPLY (
    SELECT CASE WHEN d.TaskLimit = -1 THEN 1000 WHEN d.Held >= d.TaskLimit THEN 0 ELSE d.TaskLimit - d.Held END AS Free) AS f;

  SELECT @vNextRunAt = MIN(n.RunAt)
  FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all of them: there are few
  CROSS APPLY (
    SELECT TOP (1) x.RunAt
    FROM Taskgate.Scheduled AS x WITH (FORCESEEK) -- the first entry, regardless of statistics
    WHERE x.TaskDefinitionId = d.TaskDefinitionId
    ORDER BY x.RunAt) AS n;
  INSERT INTO @vBatch (BatchId)
  SELECT b.BatchId
  FROM Taskgate.Batch AS b WITH (INDEX (IX_Batch_Unfinished)) -- the few unfinished ones; covers this read
  WHERE b.State IN (1, 4) AND b.FinishedAt IS NULL;
  SELECT @vOpening = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), x.BatchId) + N'"'), N',')
           WITHIN GROUP (ORDER BY x.BatchId) + N']'
  FROM (
    SELECT TOP (@Max) b.BatchId
    FROM @vBatch AS b
    LEFT JOIN Taskgate.OpenWave AS o ON o.BatchId = b.BatchId
    LEFT JOIN Taskgate.Wave AS w ON w.WaveId = o.WaveId
    WHERE o.WaveId IS NULL OR w.State = 1
    ORDER BY b.BatchId) AS x
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per batch
  INSERT INTO @vDue (ScheduleId, TaskDefinitionId, Name, Cron, TimeZone, MissedPolicy, NextRunAt)
  SELECT s.ScheduleId, s.TaskDefinitionId, s.Name, s.Cron, s.TimeZone, s.MissedPolicy, s.NextRunAt
  FROM Taskgate.Schedule AS s WITH (INDEX (PK_Schedule)) -- all of them: there are few
  WHERE s.Paused = 0 AND s.NextRunAt IS NOT NULL;
  IF EXISTS (SELECT 1 FROM @vDue AS s)
  BEGIN
    SELECT @vNextRunAt = MIN(n.RunAt)
    FROM (SELECT @vNextRunAt AS RunAt UNION ALL SELECT s.NextRunAt FROM @vDue AS s) AS n;
    SELECT @vSchedules = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"id":') COLLATE Latin1_General_100_BIN2
             + CONVERT(nvarchar(11), x.ScheduleId)
             + N',"definition":"' + STRING_ESCAPE(d.Name, 'json')
             + N'","name":"' + STRING_ESCAPE(x.Name, 'json')
             + N'","cron":"' + STRING_ESCAPE(x.Cron, 'json')
             + N'","timeZone":"' + STRING_ESCAPE(x.TimeZone, 'json')
             + N'","missed":"' + CASE x.MissedPolicy WHEN 1 THEN N'skip' WHEN 2 THEN N'once' ELSE N'all' END
             + N'","runAt":"' + Taskgate._Iso(x.NextRunAt)
             + N'","inMs":' + CONVERT(nvarchar(20), DATEDIFF_BIG(MILLISECOND, @vNow, x.NextRunAt)) + N'}', N',')
             WITHIN GROUP (ORDER BY x.NextRunAt, x.ScheduleId) + N']'
    FROM (
      SELECT TOP (@Max) s.ScheduleId, s.TaskDefinitionId, s.Name, s.Cron, s.TimeZone, s.MissedPolicy, s.NextRunAt
      FROM @vDue AS s WHERE s.NextRunAt <= @vNow
      ORDER BY s.NextRunAt, s.ScheduleId) AS x
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule
  END;
  SET @vEndedBefore = Taskgate._PurgeExecutionsBefore(@vNow);
  IF EXISTS (SELECT 1 FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Purge)) WHERE a.PurgeAfter < @vNow) -- its first entry
    SET @vPurgeable = 1;
  ELSE IF EXISTS (
    SELECT 1 FROM Taskgate.Operation AS o WITH (INDEX (IX_Operation_DoneAt)) WHERE o.DoneAt < DATEADD(DAY, -1, @vNow)) -- its first entry
    SET @vPurgeable = 1;
  ELSE IF EXISTS (
    SELECT 1
    FROM Taskgate.Dedupe AS k WITH (INDEX (IX_Dedupe_Expires)) -- its first entry
    WHERE k.ExpiresAt IS NOT NULL AND k.ExpiresAt < @vNow)
    SET @vPurgeable = 1;
  ELSE IF EXISTS (
    SELECT 1
    FROM (SELECT TOP (10) e.State, e.EndedAt
          FROM Taskgate.TaskExecution AS e WITH (INDEX (PK_TaskExecution)) -- the oldest: ids grow with time
          ORDER BY e.TaskExecutionId) AS x
    WHERE x.State IN (2, 4) AND x.EndedAt < @vEndedBefore)
    SET @vPurgeable = 1;
  ELSE IF EXISTS (
    SELECT 1
    FROM Taskgate.GroupRound AS r
    WHERE r.RoundId = 1 AND (r.LastGroupId > 0 OR r.EndedAt < DATEADD(SECOND, -3600, @vNow)))
    AND EXISTS (SELECT 1 FROM Taskgate.TaskGroup AS g WITH (FORCESEEK) WHERE g.GroupId > 0) -- the first entry
    SET @vPurgeable = 1;
  ELSE IF EXISTS (
    SELECT 1
    FROM (SELECT TOP (100) b.FinishedAt
          FROM Taskgate.Batch AS b WITH (INDEX (PK_Batch)) -- the oldest: ids grow with time
          ORDER BY b.BatchId) AS x
    WHERE x.FinishedAt < @vEndedBefore)
    SET @vPurgeable = 1;
  SELECT N'swept' AS [Status], @vExpired AS [Expired], @vDefinitions AS [Definitions],
         CASE WHEN @vNextRunAt > @vNow THEN DATEDIFF_BIG(MILLISECOND, @vNow, @vNextRunAt) WHEN @vNextRunAt IS NOT NULL THEN 0
           END AS [NextDueMs], @vOpening AS [Opening], @vSchedules AS [Schedules],
         @vPurgeable AS [Purgeable];
END;
