-- Taskgate.FireSchedule: enqueues the tasks of a schedule's due instants and moves it on to the next one, in one transaction: exactly one
--         task per instant, for any number of callers.
-- In:     @ScheduleId int; @ExpectedRunAt ISO-8601: the next instant as the caller saw it; @RunAts: JSON array of 0..100 due instants to
--           enqueue a task for, as the caller's policy for missed ones has it; @NextRunAt ISO-8601: the first one after those, or null: never
-- Out:    Status: fired | stale (it has been fired, changed or removed since, or another call fires it now) | early (not due by the
--           database's clock) | paused; TaskIds: JSON array of strings, in order of the instants; NextDueMs bigint: until the next instant,
--           0 when that is due, too, or null
--         What the code says of the kind holds for each task: its group by the payload, where the schedule has no group, its priority and delay.
--         Each task has the schedule's payload with the member scheduledFor, its instant as ISO-8601 UTC, at the end
-- Raises: 50422 a bad value, or a payload that has no key where the kind's group is taken from; 50490 inside a transaction
-- Locks:  Schedule by skip, new rows
-- Isolation: the holder of the row moves it on; the next call finds another instant. Rows of other tables are read before
-- Plan:   primary keys; joins are loops in the written order
-- Once:   by schedule and instant: a repeat is stale
-- Twin:   postgres/sql/functions/fire_schedule.sql
CREATE OR ALTER PROCEDURE Taskgate.FireSchedule
  @ScheduleId int, @ExpectedRunAt nvarchar(max), @RunAts nvarchar(max), @NextRunAt nvarchar(max)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vExpected datetime2(3), @vNext datetime2(3), @vCount int = -1,
          @vBad nvarchar(100), @vLast datetime2(3), @vDefinition int, @vBuild bigint, @vNextRunAt datetime2(3), @vPaused bit,
          @vKind nvarchar(200), @vPayload nvarchar(max), @vGroupKey nvarchar(200), @vStatus nvarchar(20) = N'stale',
          @vTaskIds nvarchar(max), @vGroupBy nvarchar(200), @vPriority smallint = 100, @vRunInMs bigint = 0,
          @vDueAt datetime2(3);
  DECLARE @vRun TABLE (Ord int NOT NULL PRIMARY KEY CLUSTERED, RunAt datetime2(3) NULL, Given nvarchar(100) NULL, TaskId bigint NULL,
                       Payload nvarchar(max) NULL, GroupKey nvarchar(max) NULL);
  DECLARE @vRule TABLE (
    Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL PRIMARY KEY CLUSTERED, GroupBy nvarchar(200) NULL, Priority smallint NULL, RunInMs bigint NULL);
  DECLARE @vId TABLE (Ord int NOT NULL PRIMARY KEY CLUSTERED, TaskId bigint NOT NULL);

  SET @vExpected = Taskgate._Instant(@ExpectedRunAt);
  IF @vExpected IS NULL
  BEGIN
    SET @vMessage = N'expected_run_at: expected an ISO-8601 instant with its zone (' + COALESCE(REPLACE(LEFT(@ExpectedRunAt, 100), N'%', N'%%'), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF Taskgate._JsonKind(@RunAts) = N'[' SELECT @vCount = COUNT(*) FROM OPENJSON(@RunAts) AS j;
  IF @vCount NOT BETWEEN 0 AND 100 THROW 50422, N'run_ats: expected a JSON array of 0..100 instants', 1;
  INSERT INTO @vRun (Ord, RunAt, Given)
  SELECT ROW_NUMBER() OVER (ORDER BY CONVERT(int, j.[key])),
         Taskgate._Instant(j.[value]), LEFT(j.[value], 100)
  FROM OPENJSON(@RunAts) AS j;
  SELECT TOP (1) @vBad = COALESCE(r.Given, N'<NULL>')
  FROM @vRun AS r
  LEFT JOIN @vRun AS p ON p.Ord = r.Ord - 1
  WHERE r.RunAt IS NULL OR r.RunAt < @vExpected OR r.RunAt > @vNow OR r.RunAt <= p.RunAt
  ORDER BY r.Ord
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per run
  SELECT @vLast = MAX(r.RunAt) FROM @vRun AS r;
  SET @vNext = Taskgate._Instant(@NextRunAt);
  IF @NextRunAt IS NOT NULL AND (@vNext IS NULL OR @vNext <= @vExpected OR @vNext <= @vLast)
  BEGIN
    SET @vMessage = N'next_run_at: expected an ISO-8601 instant with its zone after the others (' + REPLACE(LEFT(@NextRunAt, 100), N'%', N'%%') + N')';
    THROW 50422, @vMessage, 1;
  END;

  BEGIN TRY
    SELECT @vDefinition = s.TaskDefinitionId, @vNextRunAt = s.NextRunAt
    FROM Taskgate.Schedule AS s WITH (READCOMMITTEDLOCK, READPAST) -- versions or not, no wait
    WHERE s.ScheduleId = @ScheduleId;
    SELECT @vBuild = d.Build FROM Taskgate.TaskDefinition AS d WHERE d.TaskDefinitionId = @vDefinition;
    INSERT INTO @vRule (Kind, GroupBy, Priority, RunInMs)
    SELECT k.Kind, k.GroupBy, k.Priority, k.RunInMs FROM Taskgate.TaskKind AS k WITH (FORCESEEK) WHERE k.TaskDefinitionId = @vDefinition; -- its few rows
    IF @vNextRunAt = @vExpected
    BEGIN
      IF @vExpected > @vNow SET @vStatus = N'early';
      ELSE IF @vBad IS NOT NULL
      BEGIN
        SET @vMessage = N'run_ats: expected instants from expected_run_at to now, ascending (' + REPLACE(@vBad, N'%', N'%%') + N')';
        THROW 50422, @vMessage, 1;
      END;
    END;
    BEGIN TRANSACTION;
    SET @vNextRunAt = NULL;
    SELECT @vNextRunAt = s.NextRunAt, @vPaused = s.Paused, @vKind = s.Kind, @vPayload = s.Payload
    FROM Taskgate.Schedule AS s WITH (ROWLOCK, UPDLOCK, READPAST) -- a second caller isn't needed
    WHERE s.ScheduleId = @ScheduleId AND s.TaskDefinitionId = @vDefinition;
    IF @vNextRunAt = @vExpected AND @vStatus <> N'early'
      SET @vStatus = CASE @vPaused WHEN 1 THEN N'paused' ELSE N'fired' END;
    IF @vStatus = N'fired'
    BEGIN
      SELECT @vGroupKey = g.GroupKey
      FROM Taskgate.ScheduleGroup AS g -- guarded by the schedule's row
      WHERE g.ScheduleId = @ScheduleId;
      SELECT @vGroupBy = k.GroupBy, @vPriority = COALESCE(k.Priority, 100), @vRunInMs = COALESCE(k.RunInMs, 0) FROM @vRule AS k WHERE k.Kind = @vKind;
      UPDATE s
      SET NextRunAt = @vNext, LastRunAt = COALESCE(@vLast, s.LastRunAt)
      FROM Taskgate.Schedule AS s WITH (ROWLOCK, UPDLOCK) -- the row is ours already
      WHERE s.ScheduleId = @ScheduleId;
      INSERT INTO @vId (Ord, TaskId)
      SELECT r.Ord, NEXT VALUE FOR Taskgate.TaskSequence OVER (ORDER BY r.Ord) FROM @vRun AS r; -- ids in order of the instants
      UPDATE r SET TaskId = i.TaskId FROM @vRun AS r INNER JOIN @vId AS i ON i.Ord = r.Ord
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per run
      SET @vPayload = CASE
        WHEN @vPayload IS NULL THEN N'{'
        WHEN EXISTS (SELECT 1 FROM OPENJSON(@vPayload) AS j) THEN LEFT(@vPayload COLLATE Latin1_General_100_BIN2, DATALENGTH(@vPayload) / 2 - 1) + N','
        ELSE LEFT(@vPayload COLLATE Latin1_General_100_BIN2, DATALENGTH(@vPayload) / 2 - 1) END;
      UPDATE r SET Payload = @vPayload + N'"scheduledFor":"' + Taskgate._Iso(r.RunAt) + N'"}' FROM @vRun AS r;
      UPDATE r SET GroupKey = COALESCE(N'=' + @vGroupKey, g.Answer)
      FROM @vRun AS r
      CROSS APPLY Taskgate._PayloadKeyOf(r.Payload, @vGroupBy) AS g
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one look per run
      SELECT TOP (1) @vMessage = REPLACE(SUBSTRING(r.GroupKey, 2, 1800), N'%', N'%%') FROM @vRun AS r WHERE r.GroupKey LIKE N'!%';
      IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
      SET @vDueAt = DATEADD(MILLISECOND, CONVERT(int, @vRunInMs % 86400000), DATEADD(DAY, CONVERT(int, @vRunInMs / 86400000), @vNow));
      INSERT INTO Taskgate.Task WITH (ROWLOCK) (
        TaskId, TaskDefinitionId, Kind, Priority, CreatedAt, DueAt, PendingGroupKey, PendingGroupIsGlobal, Build, PayloadUtf8)
      SELECT r.TaskId, @vDefinition, @vKind, @vPriority, @vNow, CASE WHEN @vRunInMs > 0 THEN @vDueAt END, SUBSTRING(r.GroupKey, 2, 200), CASE WHEN r.GroupKey IS NOT NULL THEN 0 END, @vBuild,
             CONVERT(varchar(max), r.Payload COLLATE Latin1_General_100_BIN2_UTF8)
      FROM @vRun AS r;
      -- No group is waited for: promotion lets the task into it, as after a user's own transaction.
      INSERT INTO Taskgate.Scheduled WITH (ROWLOCK) (TaskDefinitionId, RunAt, TaskId)
      SELECT @vDefinition, @vDueAt, r.TaskId
      FROM @vRun AS r WHERE r.GroupKey IS NOT NULL OR @vRunInMs > 0;
      INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId)
      SELECT @vDefinition, @vPriority, 0, r.TaskId FROM @vRun AS r WHERE r.GroupKey IS NULL AND @vRunInMs = 0;
      SELECT @vTaskIds = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), r.TaskId) + N'"'), N',')
               WITHIN GROUP (ORDER BY r.Ord) + N']'
      FROM @vRun AS r;
    END;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  IF @vStatus = N'fired' SET @vNextRunAt = @vNext;
  SELECT @vStatus AS [Status], COALESCE(@vTaskIds, N'[]') AS [TaskIds],
         CASE WHEN @vStatus = N'paused' THEN NULL WHEN @vNextRunAt > @vNow THEN DATEDIFF_BIG(MILLISECOND, @vNow, @vNextRunAt)
              WHEN @vNextRunAt IS NOT NULL THEN 0 END AS [NextDueMs];
END;
