-- Taskgate.ResumeDefinition: takes a pause away; send a hint when it says ready.
-- In:     @Name; @ChangedBy (null: the login), @Reason for the audit; @ExpectedPaused: only if it is so now; null: either
-- Out:    Status: resumed | exists (it was so already) | conflict (it isn't as expected: nothing was written); Ready: tasks wait
-- Raises: 50404 unknown definition; 50422 an actor that is empty, or a text too long; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  TaskDefinition, then its row in StoppedDefinition
-- Isolation: of two callers the second waits for the row and finds it resumed
-- Plan:   unique name, primary key; the last entry of PK_Ready: at the first ones claims leave deleted entries
-- Once:   by value
-- Twin:   postgres/sql/functions/resume_definition.sql
CREATE OR ALTER PROCEDURE Taskgate.ResumeDefinition
  @Name nvarchar(max), @ChangedBy nvarchar(max), @Reason nvarchar(max) = NULL, @ExpectedPaused bit = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vDefinition int, @vPaused bit, @vStatus nvarchar(20);

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  BEGIN TRY
    BEGIN TRANSACTION;
    SELECT @vPaused = d.Paused
    FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is after the wait, kept to the end
    WHERE d.TaskDefinitionId = @vDefinition;
    SET @vStatus = CASE WHEN @vPaused <> @ExpectedPaused THEN N'conflict' WHEN @vPaused = 0 THEN N'exists' ELSE N'resumed' END;
    IF @vStatus = N'resumed'
    BEGIN
      UPDATE d
      SET Paused = 0
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
      WHERE d.TaskDefinitionId = @vDefinition;
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, Reason, ChangedAt)
      VALUES (@vDefinition, N'paused', N'true', N'false', N'operator', @ChangedBy, @Reason, SYSUTCDATETIME());
    END;
    IF @vStatus <> N'conflict'
      DELETE s
      FROM Taskgate.StoppedDefinition AS s WITH (ROWLOCK, UPDLOCK) -- the holder of the definition's row owns this one
      WHERE s.TaskDefinitionId = @vDefinition;
    COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], Taskgate._HasReady(@vDefinition) AS [Ready];
END;
