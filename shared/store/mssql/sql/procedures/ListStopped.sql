-- Taskgate.ListStopped: what a stop of everything has paused, and what its end is to resume.
-- In:     @Max int 1..1000
-- Out:    Status: listed; Stop: JSON of {at, by, reason} of the stop that is on, or null: none is; Definitions: JSON array, by name, of {definition, at, by, reason}; Schedules: JSON array, by definition and name,
--           of {definition, name, at, by, reason}; at most @Max each
-- Raises: 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Plan:   PK_Stop, PK_StoppedDefinition, PK_StoppedSchedule; primary keys; a schedule that its code has removed isn't told;
--         joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_stopped.sql
CREATE OR ALTER PROCEDURE Taskgate.ListStopped
  @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vStop nvarchar(max), @vDefinitions nvarchar(max), @vSchedules nvarchar(max);
  DECLARE @vDefinition TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, StoppedAt datetime2(3) NOT NULL,
    StoppedBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, Reason nvarchar(400) COLLATE Latin1_General_100_BIN2 NULL);
  DECLARE @vSchedule TABLE (
    ScheduleId int NOT NULL PRIMARY KEY CLUSTERED, StoppedAt datetime2(3) NOT NULL,
    StoppedBy nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, Reason nvarchar(400) COLLATE Latin1_General_100_BIN2 NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  SELECT @vStop = CONVERT(nvarchar(max), N'{"at":"') COLLATE Latin1_General_100_BIN2 + Taskgate._Iso(s.StoppedAt)
           + N'","by":"' + STRING_ESCAPE(s.StoppedBy, 'json')
           + N'","reason":' + COALESCE(N'"' + STRING_ESCAPE(s.Reason, 'json') + N'"', N'null') + N'}'
  FROM Taskgate.Stop AS s
  WHERE s.StopId = 1 AND s.StoppedAt IS NOT NULL;
  -- First what was stopped, then definitions and schedules by key.
  INSERT INTO @vDefinition (TaskDefinitionId, StoppedAt, StoppedBy, Reason)
  SELECT TOP (@Max) s.TaskDefinitionId, s.StoppedAt, s.StoppedBy, s.Reason
  FROM Taskgate.StoppedDefinition AS s WITH (INDEX (PK_StoppedDefinition)) -- in its order
  ORDER BY s.TaskDefinitionId;
  INSERT INTO @vSchedule (ScheduleId, StoppedAt, StoppedBy, Reason)
  SELECT TOP (@Max) s.ScheduleId, s.StoppedAt, s.StoppedBy, s.Reason
  FROM Taskgate.StoppedSchedule AS s WITH (INDEX (PK_StoppedSchedule)) -- in its order
  INNER JOIN Taskgate.Schedule AS c ON c.ScheduleId = s.ScheduleId -- of earlier releases a removed one may have left its row
  ORDER BY s.ScheduleId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per schedule
  SELECT @vDefinitions = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"definition":"') COLLATE Latin1_General_100_BIN2
           + STRING_ESCAPE(d.Name, 'json')
           + N'","at":"' + Taskgate._Iso(x.StoppedAt)
           + N'","by":"' + STRING_ESCAPE(x.StoppedBy, 'json')
           + N'","reason":' + COALESCE(N'"' + STRING_ESCAPE(x.Reason, 'json') + N'"', N'null') + N'}', N',')
           WITHIN GROUP (ORDER BY d.Name) + N']'
  FROM @vDefinition AS x
  INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per definition
  SELECT @vSchedules = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"definition":"') COLLATE Latin1_General_100_BIN2
           + STRING_ESCAPE(d.Name, 'json')
           + N'","name":"' + STRING_ESCAPE(s.Name, 'json')
           + N'","at":"' + Taskgate._Iso(x.StoppedAt)
           + N'","by":"' + STRING_ESCAPE(x.StoppedBy, 'json')
           + N'","reason":' + COALESCE(N'"' + STRING_ESCAPE(x.Reason, 'json') + N'"', N'null') + N'}', N',')
           WITHIN GROUP (ORDER BY d.Name, s.Name) + N']'
  FROM @vSchedule AS x
  INNER JOIN Taskgate.Schedule AS s ON s.ScheduleId = x.ScheduleId
  INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = s.TaskDefinitionId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per schedule
  SELECT N'listed' AS [Status], @vStop AS [Stop], COALESCE(@vDefinitions, N'[]') AS [Definitions], COALESCE(@vSchedules, N'[]') AS [Schedules];
END;
