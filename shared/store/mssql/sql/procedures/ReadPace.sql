-- Taskgate.ReadPace: how fast a definition's tasks end, how long they run, and which ready one is the oldest.
-- In:     @Name; @Max int 1..1000: so many of the tasks that ended well within the last hour are looked at, the newest ones
-- Out:    Status: read; NowAt ISO-8601: the database's clock; OldestTaskId, OldestCreatedAt, OldestDueAt: of the first 100 ready tasks of each
--           priority, at most 20 priorities, the one that may start since the earliest instant, which DueAt is; null: none is ready
--         Finished int: tasks looked at; OverMs bigint: from the end of the earliest of them until now; null: there is none
--         Kinds: JSON array, by kind, of {kind, finished, p50Ms, p99Ms: the durations that half and 99 of 100 of the measured ones reach
--           at most, or null}
-- Raises: 50404 unknown definition; 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: a task that moves on between two reads is left out: one that was done has its row still, so the archive is asked, by skip
-- Plan:   one probe and one range of PK_Ready per priority; PK_Task, PK_Wave; IX_Archive_Finished backwards, then one seek per task;
--         joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/read_pace.sql
CREATE OR ALTER PROCEDURE Taskgate.ReadPace
  @Name nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vDefinition int, @vFrom smallint = -32768, @vPriority smallint, @vPriorities int = 0, @vFound int = 1,
          @vOldestTaskId bigint, @vOldestCreatedAt datetime2(3), @vOldestDueAt datetime2(3), @vFinished int, @vFirstAt datetime2(3), @vKinds nvarchar(max);
  DECLARE @vFirst TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vSeen TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, FinishedAt datetime2(3) NOT NULL);
  DECLARE @vDone TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, DurationMs int NULL,
    Place int NULL, Measured int NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;

  -- 1. The first tasks of each priority: one that has just become due may stand before one that waits.
  WHILE @vFound = 1 AND @vPriorities < 20
  BEGIN
    SET @vFound = 0;
    SELECT TOP (1) @vFound = 1, @vPriority = r.Priority
    FROM Taskgate.Ready AS r WITH (FORCESEEK) -- the first entry behind the last priority, regardless of statistics
    WHERE r.TaskDefinitionId = @vDefinition AND r.Priority >= @vFrom
    ORDER BY r.Priority;
    IF @vFound = 1
      INSERT INTO @vFirst (TaskId)
      SELECT TOP (100) r.TaskId
      FROM Taskgate.Ready AS r WITH (FORCESEEK) -- their range
      WHERE r.TaskDefinitionId = @vDefinition AND r.Priority = @vPriority
      ORDER BY r.Rank, r.TaskId;
    SET @vPriorities = @vPriorities + 1;
    IF @vPriority = 32767 SET @vFound = 0;
    ELSE IF @vFound = 1 SET @vFrom = @vPriority + 1;
  END;
  SELECT TOP (1) @vOldestTaskId = t.TaskId, @vOldestCreatedAt = t.CreatedAt, @vOldestDueAt = x.DueAt
  FROM @vFirst AS f
  INNER JOIN Taskgate.Task AS t ON t.TaskId = f.TaskId
  LEFT JOIN Taskgate.Wave AS w ON w.WaveId = t.WaveId
  CROSS APPLY Taskgate._DueAt(t.CreatedAt, t.DueAt, w.OpenedAt) AS x
  WHERE NOT EXISTS ( -- one that was done since has its row still, and no wave; versions or not, no wait
    SELECT 1 FROM Taskgate.Archive AS z WITH (READCOMMITTEDLOCK, READPAST, INDEX (PK_Archive)) WHERE z.TaskId = t.TaskId)
  ORDER BY x.DueAt, t.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each per task

  -- 2. What ended well within the last hour: the entries of the index, then the tasks by key.
  INSERT INTO @vSeen (TaskId, FinishedAt)
  SELECT TOP (@Max) a.TaskId, a.FinishedAt
  FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Finished)) -- backwards; covers this read
  WHERE a.TaskDefinitionId = @vDefinition AND a.Outcome = 10 AND a.FinishedAt > DATEADD(MILLISECOND, -3600000, @vNow)
  ORDER BY a.FinishedAt DESC, a.TaskId DESC;
  SELECT @vFinished = COUNT(*), @vFirstAt = MIN(s.FinishedAt) FROM @vSeen AS s;
  INSERT INTO @vDone (TaskId, Kind, DurationMs)
  SELECT a.TaskId, a.Kind, a.DurationMs
  FROM @vSeen AS s
  INNER JOIN Taskgate.Archive AS a WITH (INDEX (PK_Archive)) ON a.TaskId = s.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  UPDATE d
  SET Place = m.Place, Measured = m.Measured
  FROM (
    SELECT y.TaskId, ROW_NUMBER() OVER (PARTITION BY y.Kind ORDER BY y.DurationMs) AS Place,
           COUNT(*) OVER (PARTITION BY y.Kind) AS Measured
    FROM @vDone AS y WHERE y.DurationMs IS NOT NULL) AS m
  INNER JOIN @vDone AS d ON d.TaskId = m.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  SELECT @vKinds = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"kind":"') COLLATE Latin1_General_100_BIN2
           + STRING_ESCAPE(g.Kind, 'json')
           + N'","finished":' + CONVERT(nvarchar(11), g.Finished)
           + N',"p50Ms":' + COALESCE(CONVERT(nvarchar(11), g.P50), N'null')
           + N',"p99Ms":' + COALESCE(CONVERT(nvarchar(11), g.P99), N'null') + N'}', N',') WITHIN GROUP (ORDER BY g.Kind) + N']'
  FROM (
    SELECT d.Kind, COUNT(*) AS Finished,
           MIN(CASE WHEN d.Place * 2 >= d.Measured THEN d.DurationMs END) AS P50,
           MIN(CASE WHEN d.Place * 100 >= d.Measured * 99 THEN d.DurationMs END) AS P99
    FROM @vDone AS d GROUP BY d.Kind) AS g;
  SELECT N'read' AS [Status], Taskgate._Iso(@vNow) AS [NowAt], @vOldestTaskId AS [OldestTaskId],
         Taskgate._Iso(@vOldestCreatedAt) AS [OldestCreatedAt], Taskgate._Iso(@vOldestDueAt) AS [OldestDueAt], @vFinished AS [Finished], DATEDIFF_BIG(MILLISECOND, @vFirstAt, @vNow) AS [OverMs], COALESCE(@vKinds, N'[]') AS [Kinds];
END;
