-- Taskgate.SetSchedulePaused: pauses a schedule or lets it go on. Instants that pass while it is paused aren't fired later.
-- In:     @Name: the definition; @Schedule: the schedule's name; @Paused bit; @NextRunAt ISO-8601: where it goes on when it is resumed
--           and its next instant has passed, computed from ListSchedules' NowAt, or null: never; @ChangedBy (null: the login), @Reason for the audit; @IsStop: the pause is part of a stop of everything
--           (ListStopped), else the operator's own; @ExpectedPaused: only if it is so now; null: either
-- Out:    Status: paused | resumed | exists (it was so already) | conflict (it isn't as expected: nothing was written); NextDueMs bigint: until the next instant, 0 when it is due, null while
--           paused
-- Raises: 50404 unknown definition or schedule; 50422 a bad value; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  Schedule, new row, then its row in StoppedSchedule
-- Isolation: of two callers the second waits for the row and finds it so; who fires the schedule skips it
-- Plan:   unique names, primary key
-- Once:   by value
-- Twin:   postgres/sql/functions/set_schedule_paused.sql
CREATE OR ALTER PROCEDURE Taskgate.SetSchedulePaused
  @Name nvarchar(max), @Schedule nvarchar(max), @Paused bit, @NextRunAt nvarchar(max), @ChangedBy nvarchar(max),
  @Reason nvarchar(max) = NULL, @IsStop bit = 0, @ExpectedPaused bit = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vSchedule nvarchar(200),
          @vDefinition int, @vScheduleId int, @vWasPaused bit, @vAt datetime2(3), @vNextRunAt datetime2(3), @vStatus nvarchar(20);

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  IF @Paused IS NULL THROW 50422, N'paused: expected true or false (<NULL>)', 1;
  SET @vAt = Taskgate._Instant(@NextRunAt);
  IF @NextRunAt IS NOT NULL AND @vAt IS NULL
  BEGIN
    SET @vMessage = N'next_run_at: expected an ISO-8601 instant with its zone (' + REPLACE(LEFT(@NextRunAt, 100), N'%', N'%%') + N')';
    THROW 50422, @vMessage, 1;
  END;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  IF DATALENGTH(@Schedule) <= 400 AND DATALENGTH(@Schedule) = DATALENGTH(RTRIM(@Schedule)) SET @vSchedule = @Schedule;

  BEGIN TRY
    SELECT @vScheduleId = s.ScheduleId
    FROM Taskgate.Schedule AS s WITH (INDEX (UQ_Schedule_Name)) -- covers this read: no other call waits between index and row
    WHERE s.TaskDefinitionId = @vDefinition AND s.Name = @vSchedule;
    BEGIN TRANSACTION;
    SELECT @vWasPaused = s.Paused, @vNextRunAt = s.NextRunAt
    FROM Taskgate.Schedule AS s WITH (ROWLOCK, UPDLOCK) -- the row as it is after the wait; kept to the end
    WHERE s.ScheduleId = @vScheduleId;
    SET @vStatus = CASE WHEN @vWasPaused <> @ExpectedPaused THEN N'conflict' WHEN @vWasPaused = @Paused THEN N'exists' WHEN @Paused = 1 THEN N'paused' ELSE N'resumed' END;
    IF @vStatus = N'resumed' AND @vNextRunAt <= @vNow SET @vNextRunAt = @vAt;
    IF @vWasPaused IS NOT NULL AND @vStatus IN (N'paused', N'resumed')
    BEGIN
      UPDATE s
      SET Paused = @Paused, NextRunAt = @vNextRunAt
      FROM Taskgate.Schedule AS s WITH (ROWLOCK, UPDLOCK) -- the row is ours already
      WHERE s.ScheduleId = @vScheduleId;
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      VALUES (@vDefinition, N'schedule_paused', CASE @Paused WHEN 1 THEN N'false' ELSE N'true' END + N' of ' + @vSchedule,
              CASE @Paused WHEN 1 THEN N'true' ELSE N'false' END + N' of ' + @vSchedule, N'operator', @ChangedBy, @Reason, @vNow);
    END;
    IF @vStatus IN (N'paused', N'resumed') OR @vStatus = N'exists' AND COALESCE(@IsStop, 0) = 0
    BEGIN
      DELETE x
      FROM Taskgate.StoppedSchedule AS x WITH (ROWLOCK, UPDLOCK) -- the holder of the schedule's row owns this one
      WHERE x.ScheduleId = @vScheduleId;
      IF @@ROWCOUNT > 0 AND @vStatus = N'exists' -- the stop's pause is the operator's own now
        INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
        VALUES (@vDefinition, N'schedule_paused', N'stopped of ' + @vSchedule, N'true of ' + @vSchedule, N'operator', @ChangedBy, @Reason, @vNow);
    END;
    IF @vWasPaused = 0 AND @vStatus = N'paused' AND @IsStop = 1
      INSERT INTO Taskgate.StoppedSchedule WITH (ROWLOCK) (ScheduleId, StoppedAt, StoppedBy, Reason)
      VALUES (@vScheduleId, @vNow, @ChangedBy, @Reason);
    COMMIT TRANSACTION;
    IF @vWasPaused IS NULL
    BEGIN
      SET @vMessage = N'schedule: unknown (' + COALESCE(REPLACE(LEFT(@Schedule, 900), N'%', N'%%'), N'<NULL>') + N')';
      THROW 50404, @vMessage, 1;
    END;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status],
         CASE WHEN @Paused = 1 OR @vStatus = N'conflict' THEN NULL WHEN @vNextRunAt > @vNow THEN DATEDIFF_BIG(MILLISECOND, @vNow, @vNextRunAt)
              WHEN @vNextRunAt IS NOT NULL THEN 0 END AS [NextDueMs];
END;
