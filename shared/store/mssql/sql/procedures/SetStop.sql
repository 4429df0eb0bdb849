-- Taskgate.SetStop: says that a stop of everything is on, or that it has ended. It pauses and resumes nothing itself: callers do that by
--         PauseDefinition and SetSchedulePaused with @IsStop, and by the resumes of what ListStopped lists.
-- In:     @IsOn; @ChangedBy (null: the login), @Reason for the audit
-- Out:    Status: stopped | resumed | exists (it was so already)
-- Raises: 50422 a bad value; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  Stop: its one row orders this call against those that make a definition or a schedule, which hold it shared to their end
-- Isolation: a definition that was made before `stopped` is answered is committed then, so the stop finds it; one made later is
--         paused from its beginning. After `resumed` nothing is made paused any more, and ListStopped tells all that was. A resume beside
--         a stop that still pauses may leave some of them paused: ListStopped tells them, and another resume takes them up
-- Plan:   primary key
-- Once:   by value
-- Twin:   postgres/sql/functions/set_stop.sql
CREATE OR ALTER PROCEDURE Taskgate.SetStop
  @IsOn bit, @ChangedBy nvarchar(max), @Reason nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vStatus nvarchar(20);

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  IF @IsOn IS NULL THROW 50422, N'is_on: expected true or false (<NULL>)', 1;
  BEGIN TRY
    BEGIN TRANSACTION;
    UPDATE s
    SET StoppedAt = CASE @IsOn WHEN 1 THEN @vNow END, StoppedBy = CASE @IsOn WHEN 1 THEN @ChangedBy END,
        Reason = CASE @IsOn WHEN 1 THEN @Reason END
    FROM Taskgate.Stop AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- tests the row as it is after the wait
    WHERE s.StopId = 1 AND CASE WHEN s.StoppedAt IS NULL THEN 1 ELSE 0 END = @IsOn;
    SET @vStatus = CASE WHEN @@ROWCOUNT = 0 THEN N'exists' WHEN @IsOn = 1 THEN N'stopped' ELSE N'resumed' END;
    IF @vStatus <> N'exists'
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      VALUES (0, N'stop', CASE @IsOn WHEN 1 THEN N'false' ELSE N'true' END, CASE @IsOn WHEN 1 THEN N'true' ELSE N'false' END, N'operator',
              @ChangedBy, @Reason, @vNow);
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status];
END;
