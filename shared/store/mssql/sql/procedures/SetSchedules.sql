-- Taskgate.SetSchedules: writes what the code says of a definition's schedules, all of them: those that aren't named are removed.
--         An operator's pauses stay. When an instant comes is computed by the caller: SQL knows no time zones that it could rely on.
--         While a stop of everything is on, a new schedule is made paused, as a part of the stop.
-- In:     @Name: the definition; @Build bigint: of the code; an older one than the definition's changes nothing
--         @Schedules: JSON array of 0..100, at most 8 MiB of UTF-8, of {name 1..200 characters, each once; kind 1..200 characters; cron
--           1..200 characters; timeZone 1..100 characters; missed: skip | once | all; payload: text of a JSON object without blanks
--           around it and without scheduledFor, which each instant adds, at most 65472 bytes, or null; group 1..200 characters or null;
--           nextRunAt ISO-8601: the first instant after ListSchedules' NowAt, or null: never}
--         @ChangedBy (null: the login) for the audit
-- Out:    Status: set | exists (nothing was to be done) | outdated (an older build asked); Changed: how many were created, changed or
--           removed; NextDueMs bigint: until the definition's next instant, 0 when one is due, or null
-- Raises: 50404 unknown definition; 50413 too many or too large; 50422 a bad value, naming entry and field; 50490 inside a transaction;
--         1222 locked for longer than 2 s
-- Locks:  TaskDefinition, Schedule ascending, rows of these in StoppedSchedule, Stop for new schedules, new rows
-- Isolation: callers of one definition exclude each other by its row, so the build that is compared stays; who fires a schedule skips
--         its row, and who pauses it waits. The next instant stays where expression and time zone do, so nothing is left out or
--         done twice by a deployment. A stop that is being set is waited for at its row; one that comes later waits for this call and
--         then finds the schedules (SetStop)
-- Plan:   unique names, primary keys; joins are loops in the written order
-- Once:   by value
-- Twin:   postgres/sql/functions/set_schedules.sql
CREATE OR ALTER PROCEDURE Taskgate.SetSchedules
  @Name nvarchar(max), @Build bigint, @Schedules nvarchar(max), @ChangedBy nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vDefinition int, @vBuild bigint,
          @vBytes bigint, @vCount int, @vStatus nvarchar(20), @vChanged int = 0, @vNextRunAt datetime2(3),
          @vStoppedAt datetime2(3), @vStoppedBy nvarchar(200), @vReason nvarchar(400);
  DECLARE @vWanted TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
    Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, Cron nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
    TimeZone nvarchar(100) COLLATE Latin1_General_100_BIN2 NULL, MissedPolicy tinyint NULL, Payload nvarchar(max) NULL,
    GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, NextRunAt datetime2(3) NULL, Problem nvarchar(1000) NULL,
    ScheduleId int NULL);
  DECLARE @vOld TABLE (
    ScheduleId int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, Ord int NULL,
    Cron nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, TimeZone nvarchar(100) COLLATE Latin1_General_100_BIN2 NULL,
    IsChanged bit NOT NULL);
  DECLARE @vNew TABLE (ScheduleId int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL);

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = NULL;
  SET @vBytes = DATALENGTH(CONVERT(varchar(max), @Schedules COLLATE Latin1_General_100_BIN2_UTF8));
  IF @vBytes > 8388608
  BEGIN
    SET @vMessage = N'schedules: expected at most 8388608 bytes (' + CONVERT(nvarchar(20), @vBytes) + N')';
    THROW 50413, @vMessage, 1;
  END;
  IF Taskgate._JsonKind(@Schedules) <> N'['
    OR EXISTS (SELECT 1 FROM OPENJSON(@Schedules) AS j WHERE j.[type] <> 5)
  BEGIN
    SET @vMessage = N'schedules: expected a JSON array of objects (' + COALESCE(REPLACE(LEFT(@Schedules, 100), N'%', N'%%'), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  SELECT @vCount = COUNT(*) FROM OPENJSON(@Schedules) AS j;
  IF @vCount > 100
  BEGIN
    SET @vMessage = N'schedules: expected 0..100 entries (' + CONVERT(nvarchar(11), @vCount) + N')';
    THROW 50413, @vMessage, 1;
  END;
  INSERT INTO @vWanted (Ord, Name, Kind, Cron, TimeZone, MissedPolicy, Payload, GroupKey, NextRunAt, Problem)
  SELECT CONVERT(int, j.[key]), LEFT(v.Name, 200), LEFT(v.Kind, 200), LEFT(v.Cron, 200), LEFT(v.TimeZone, 100),
         CASE v.Missed COLLATE Latin1_General_100_BIN2 WHEN N'skip' THEN 1 WHEN N'once' THEN 2 WHEN N'all' THEN 3 END,
         x.Payload, LEFT(v.GroupKey, 200), x.At,
         CASE
           WHEN v.Name IS NULL OR DATALENGTH(v.Name) NOT BETWEEN 2 AND 400 OR DATALENGTH(v.Name) <> DATALENGTH(LTRIM(RTRIM(v.Name)))
             THEN N'name: expected 1..200 characters without blanks at either end (' + COALESCE(LEFT(v.Name, 220), N'<NULL>') + N')'
           WHEN v.Kind IS NULL OR DATALENGTH(v.Kind) NOT BETWEEN 2 AND 400 OR DATALENGTH(v.Kind) <> DATALENGTH(LTRIM(RTRIM(v.Kind)))
             THEN N'kind: expected 1..200 characters without blanks at either end (' + COALESCE(LEFT(v.Kind, 220), N'<NULL>') + N')'
           WHEN v.Cron IS NULL OR DATALENGTH(v.Cron) NOT BETWEEN 2 AND 400
             THEN N'cron: expected 1..200 characters (' + COALESCE(LEFT(v.Cron, 220), N'<NULL>') + N')'
           WHEN v.TimeZone IS NULL OR DATALENGTH(v.TimeZone) NOT BETWEEN 2 AND 200
             THEN N'timeZone: expected 1..100 characters (' + COALESCE(LEFT(v.TimeZone, 120), N'<NULL>') + N')'
           WHEN v.Missed IS NULL OR v.Missed COLLATE Latin1_General_100_BIN2 NOT IN (N'skip', N'once', N'all')
             OR DATALENGTH(v.Missed) <> DATALENGTH(RTRIM(v.Missed))
             THEN N'missed: expected skip, once or all (' + COALESCE(LEFT(v.Missed, 100), N'<NULL>') + N')'
           WHEN ISJSON(x.Payload) <> 1 OR LEFT(x.Payload, 1) <> N'{' OR SUBSTRING(x.Payload COLLATE Latin1_General_100_BIN2, DATALENGTH(x.Payload) / 2, 1) <> N'}'
             THEN N'payload: expected the text of a JSON object (' + LEFT(x.Payload, 100) + N')'
           WHEN EXISTS (
             SELECT 1 FROM OPENJSON(CASE WHEN ISJSON(x.Payload) = 1 THEN x.Payload END) AS m -- null: in any order of the plan
             WHERE m.[key] COLLATE Latin1_General_100_BIN2 = N'scheduledFor')
             THEN N'payload: expected an object without scheduledFor, which each instant adds (' + LEFT(x.Payload, 100) + N')'
           WHEN DATALENGTH(CONVERT(varchar(max), x.Payload COLLATE Latin1_General_100_BIN2_UTF8)) > 65472
             THEN N'payload: expected at most 65472 bytes ('
               + CONVERT(nvarchar(20), DATALENGTH(CONVERT(varchar(max), x.Payload COLLATE Latin1_General_100_BIN2_UTF8))) + N')'
           WHEN DATALENGTH(v.GroupKey) NOT BETWEEN 2 AND 400 OR DATALENGTH(v.GroupKey) <> DATALENGTH(LTRIM(RTRIM(v.GroupKey)))
             THEN N'group: expected 1..200 characters without blanks at either end (' + LEFT(v.GroupKey, 220) + N')'
           WHEN v.NextRunAt IS NOT NULL AND x.At IS NULL
             THEN N'nextRunAt: expected an ISO-8601 instant with its zone (' + LEFT(v.NextRunAt, 100) + N')' END
  FROM OPENJSON(@Schedules) AS j
  OUTER APPLY OPENJSON(j.[value]) WITH (
    Name nvarchar(max) N'$.name', Kind nvarchar(max) N'$.kind', Cron nvarchar(max) N'$.cron', TimeZone nvarchar(max) N'$.timeZone',
    Missed nvarchar(max) N'$.missed', PayloadText nvarchar(max) N'$.payload', PayloadJson nvarchar(max) N'$.payload' AS JSON,
    GroupKey nvarchar(max) N'$.group',
    NextRunAt nvarchar(max) N'$.nextRunAt') AS v
  CROSS APPLY (
    SELECT Taskgate._Instant(v.NextRunAt) AS At,
           COALESCE(v.PayloadText, v.PayloadJson) AS Payload) AS x;
  SELECT TOP (1) @vMessage = N'schedules[' + CONVERT(nvarchar(11), w.Ord) + N'].' + REPLACE(w.Problem, N'%', N'%%')
  FROM @vWanted AS w WHERE w.Problem IS NOT NULL ORDER BY w.Ord;
  IF @vMessage IS NULL
    SELECT TOP (1) @vMessage = N'schedules[' + CONVERT(nvarchar(11), w.Ord) + N'].name: expected each name once ('
             + REPLACE(w.Name, N'%', N'%%') + N')'
    FROM @vWanted AS w
    WHERE EXISTS (SELECT 1 FROM @vWanted AS o WHERE o.Name = w.Name AND o.Ord < w.Ord)
    ORDER BY w.Ord
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- at most 100 schedules
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;

  BEGIN TRY
    BEGIN TRANSACTION;
    SELECT @vBuild = d.Build
    FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- one key, kept to the end; waiters in order of arrival
    WHERE d.TaskDefinitionId = @vDefinition;
    IF @Build IS NULL OR @vBuild > @Build SET @vStatus = N'outdated';
    ELSE
    BEGIN
      -- 1. The schedules that exist: no other call adds or removes one now.
      INSERT INTO @vOld (ScheduleId, Name, IsChanged)
      SELECT s.ScheduleId, s.Name, 0
      FROM Taskgate.Schedule AS s WITH (INDEX (UQ_Schedule_Name)) -- the definition's few entries; covers this read
      WHERE s.TaskDefinitionId = @vDefinition;
      SELECT @vCount = COUNT(*)
      FROM @vOld AS o
      INNER JOIN Taskgate.Schedule AS s WITH (ROWLOCK, UPDLOCK) -- lock, then look: behind who fires or pauses them
        ON s.ScheduleId = o.ScheduleId
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule, ascending
      UPDATE o
      SET Ord = w.Ord, Cron = s.Cron, TimeZone = s.TimeZone,
          IsChanged = CASE
            WHEN w.Ord IS NULL OR w.Kind <> s.Kind OR w.Cron <> s.Cron COLLATE Latin1_General_100_BIN2
              OR w.TimeZone <> s.TimeZone COLLATE Latin1_General_100_BIN2 OR w.MissedPolicy <> s.MissedPolicy
              OR COALESCE(w.Payload, N'') COLLATE Latin1_General_100_BIN2 <> COALESCE(s.Payload, N'')
              OR COALESCE(w.GroupKey, N'') <> COALESCE(g.GroupKey, N'') THEN 1
            ELSE 0 END
      FROM @vOld AS o
      INNER JOIN Taskgate.Schedule AS s ON s.ScheduleId = o.ScheduleId
      LEFT JOIN Taskgate.ScheduleGroup AS g ON g.ScheduleId = o.ScheduleId
      LEFT JOIN @vWanted AS w ON w.Name = o.Name
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per schedule
      UPDATE w SET ScheduleId = o.ScheduleId FROM @vOld AS o INNER JOIN @vWanted AS w ON w.Ord = o.Ord
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule

      -- 2. The schedules as they shall be.
      UPDATE s
      SET Kind = w.Kind, Cron = w.Cron, TimeZone = w.TimeZone, MissedPolicy = w.MissedPolicy, Payload = w.Payload,
          NextRunAt = CASE WHEN o.Cron = w.Cron AND o.TimeZone = w.TimeZone THEN s.NextRunAt ELSE w.NextRunAt END
      FROM @vOld AS o
      INNER JOIN @vWanted AS w ON w.Ord = o.Ord
      INNER JOIN Taskgate.Schedule AS s WITH (ROWLOCK, UPDLOCK) -- ours already
        ON s.ScheduleId = o.ScheduleId
      WHERE o.IsChanged = 1
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule
      DELETE g
      FROM @vOld AS o
      INNER JOIN Taskgate.ScheduleGroup AS g WITH (ROWLOCK, UPDLOCK) -- ours by the schedule's row
        ON g.ScheduleId = o.ScheduleId
      WHERE o.IsChanged = 1
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule
      DELETE x
      FROM @vOld AS o
      INNER JOIN Taskgate.StoppedSchedule AS x WITH (ROWLOCK, UPDLOCK) -- ours by the schedule's row
        ON x.ScheduleId = o.ScheduleId
      WHERE o.Ord IS NULL
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule
      DELETE s
      FROM @vOld AS o
      INNER JOIN Taskgate.Schedule AS s WITH (ROWLOCK, UPDLOCK) -- ours already
        ON s.ScheduleId = o.ScheduleId
      WHERE o.Ord IS NULL
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule
      IF EXISTS (SELECT 1 FROM @vWanted AS w WHERE w.ScheduleId IS NULL)
        SELECT @vStoppedAt = s.StoppedAt, @vStoppedBy = s.StoppedBy, @vReason = s.Reason
        FROM Taskgate.Stop AS s WITH (ROWLOCK, HOLDLOCK) -- shared, versions or not: lock, then look; the last lock, kept to the end
        WHERE s.StopId = 1;
      INSERT INTO Taskgate.Schedule (TaskDefinitionId, Name, Kind, Cron, TimeZone, MissedPolicy, NextRunAt, Payload, Paused)
      OUTPUT inserted.ScheduleId, inserted.Name INTO @vNew (ScheduleId, Name)
      SELECT @vDefinition, w.Name, w.Kind, w.Cron, w.TimeZone, w.MissedPolicy, w.NextRunAt, w.Payload,
             CASE WHEN @vStoppedAt IS NULL THEN 0 ELSE 1 END
      FROM @vWanted AS w WHERE w.ScheduleId IS NULL ORDER BY w.Ord;
      INSERT INTO Taskgate.StoppedSchedule WITH (ROWLOCK) (ScheduleId, StoppedAt, StoppedBy, Reason)
      SELECT n.ScheduleId, @vNow, @vStoppedBy, @vReason FROM @vNew AS n WHERE @vStoppedAt IS NOT NULL;
      UPDATE w SET ScheduleId = n.ScheduleId FROM @vWanted AS w INNER JOIN @vNew AS n ON n.Name = w.Name
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- at most 100 schedules
      INSERT INTO Taskgate.ScheduleGroup (ScheduleId, GroupKey)
      SELECT w.ScheduleId, w.GroupKey
      FROM @vWanted AS w
      LEFT JOIN @vOld AS o ON o.Ord = w.Ord
      WHERE w.GroupKey IS NOT NULL AND (o.Ord IS NULL OR o.IsChanged = 1)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- at most 100 schedules
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, ChangedAt)
      SELECT @vDefinition, N'schedule', LEFT(c.OldValue, 400), LEFT(c.NewValue, 400), N'code', @ChangedBy, @vNow
      FROM (
        SELECT o.Cron + N' ' + o.TimeZone + N' of ' + o.Name AS OldValue, w.Cron + N' ' + w.TimeZone + N' of ' + w.Name AS NewValue,
               COALESCE(w.Ord, 1000) AS Ord, o.Name
        FROM @vOld AS o
        LEFT JOIN @vWanted AS w ON w.Ord = o.Ord
        WHERE o.IsChanged = 1
        UNION ALL
        SELECT NULL, w.Cron + N' ' + w.TimeZone + N' of ' + w.Name, w.Ord, w.Name
        FROM @vWanted AS w
        INNER JOIN @vNew AS n ON n.Name = w.Name) AS c
      ORDER BY c.Ord, c.Name
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- at most 100 schedules
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      SELECT @vDefinition, N'schedule_paused', N'false of ' + w.Name, N'true of ' + w.Name, N'operator', @vStoppedBy, @vReason, @vNow
      FROM @vWanted AS w
      INNER JOIN @vNew AS n ON n.Name = w.Name
      WHERE @vStoppedAt IS NOT NULL
      ORDER BY w.Ord
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- at most 100 schedules
      SELECT @vChanged = (SELECT COUNT(*) FROM @vOld AS o WHERE o.IsChanged = 1) + (SELECT COUNT(*) FROM @vNew AS n);
      SET @vStatus = CASE @vChanged WHEN 0 THEN N'exists' ELSE N'set' END;
      SELECT @vNextRunAt = MIN(s.NextRunAt)
      FROM @vWanted AS w
      INNER JOIN Taskgate.Schedule AS s ON s.ScheduleId = w.ScheduleId
      WHERE s.Paused = 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vChanged AS [Changed],
         CASE WHEN @vNextRunAt > @vNow THEN DATEDIFF_BIG(MILLISECOND, @vNow, @vNextRunAt) WHEN @vNextRunAt IS NOT NULL THEN 0
           END AS [NextDueMs];
END;
