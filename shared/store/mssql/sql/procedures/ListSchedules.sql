-- Taskgate.ListSchedules: schedules with their next instants, by definition as registered, then name.
-- In:     @Name: the definition, or null for all; @Max int 1..1000
-- Out:    Status: listed; NowAt ISO-8601: the database's clock, from which callers compute next instants; Schedules: JSON array of
--           {id, definition, name, kind, cron, timeZone, missed: skip | once | all, paused, runAt: the next instant or null: never, inMs:
--           until then, negative when it is late, lastRunAt: the last instant that was fired, group, payload: JSON text or null}
-- Raises: 50404 unknown definition; 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: each schedule is as of one moment, different ones maybe of different ones
-- Plan:   UQ_Schedule_Name in its order; primary keys; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_schedules.sql
CREATE OR ALTER PROCEDURE Taskgate.ListSchedules
  @Name nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vDefinition int,
          @vSchedules nvarchar(max);
  DECLARE @vListed TABLE (N int NOT NULL PRIMARY KEY CLUSTERED, ScheduleId int NOT NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  IF @Name IS NOT NULL EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  -- First the index entries, then the rows by key: no other call waits between index and row.
  INSERT INTO @vListed (N, ScheduleId)
  SELECT TOP (@Max) ROW_NUMBER() OVER (ORDER BY s.TaskDefinitionId, s.Name), s.ScheduleId
  FROM Taskgate.Schedule AS s WITH (INDEX (UQ_Schedule_Name)) -- in its order; covers this read
  WHERE @Name IS NULL OR s.TaskDefinitionId = @vDefinition
  ORDER BY s.TaskDefinitionId, s.Name;
  SELECT @vSchedules = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"id":') COLLATE Latin1_General_100_BIN2
           + CONVERT(nvarchar(11), s.ScheduleId)
           + N',"definition":"' + STRING_ESCAPE(d.Name, 'json')
           + N'","name":"' + STRING_ESCAPE(s.Name, 'json')
           + N'","kind":"' + STRING_ESCAPE(s.Kind, 'json')
           + N'","cron":"' + STRING_ESCAPE(s.Cron, 'json')
           + N'","timeZone":"' + STRING_ESCAPE(s.TimeZone, 'json')
           + N'","missed":"' + CASE s.MissedPolicy WHEN 1 THEN N'skip' WHEN 2 THEN N'once' ELSE N'all' END
           + N'","paused":' + CASE s.Paused WHEN 1 THEN N'true' ELSE N'false' END
           + N',"runAt":' + COALESCE(N'"' + Taskgate._Iso(s.NextRunAt) + N'"', N'null')
           + N',"inMs":' + COALESCE(CONVERT(nvarchar(20), DATEDIFF_BIG(MILLISECOND, @vNow, s.NextRunAt)), N'null')
           + N',"lastRunAt":' + COALESCE(N'"' + Taskgate._Iso(s.LastRunAt) + N'"', N'null')
           + N',"group":' + COALESCE(N'"' + STRING_ESCAPE(g.GroupKey, 'json') + N'"', N'null')
           + N',"payload":' + COALESCE(N'"' + STRING_ESCAPE(s.Payload, 'json') + N'"', N'null') + N'}', N',')
           WITHIN GROUP (ORDER BY x.N) + N']'
  FROM @vListed AS x
  INNER JOIN Taskgate.Schedule AS s ON s.ScheduleId = x.ScheduleId
  INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = s.TaskDefinitionId
  LEFT JOIN Taskgate.ScheduleGroup AS g ON g.ScheduleId = x.ScheduleId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- three seeks per schedule
  SELECT N'listed' AS [Status], Taskgate._Iso(@vNow) AS [NowAt], COALESCE(@vSchedules, N'[]') AS [Schedules];
END;
