-- Taskgate.ReleaseTokens: gives back tokens until the execution holds at most @Keep.
-- In:     @TaskExecutionId bigint; @Keep int 0..1000; @StartId: as Work
-- Out:    Status: released | fenced; Tokens: still held; Freed: really given back; Ready: tasks wait for them (a hint is due);
--         Woken: JSON array of other definitions whose tasks wait for a freed shared token, or null: leave each a hint. No more than
--         freed tokens
-- Raises: 50422 @Keep out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  SharedLimit, TaskDefinition, TaskExecution, Token
-- Isolation: an acquire that comes second waits for the row and finds the tokens free
-- Plan:   primary keys only; the last entry of PK_Ready: at the first ones claims leave deleted entries
-- Once:   by the number that is kept, not the number given back: a repeat, another execution or a dead holder frees 0
-- Twin:   postgres/sql/functions/release_tokens.sql
CREATE OR ALTER PROCEDURE Taskgate.ReleaseTokens
  @TaskExecutionId bigint, @Keep int, @StartId uniqueidentifier = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vStatus nvarchar(20), @vDefinition int, @vShared nvarchar(max), @vTokens int = 0, @vFreed int = 0, @vReady bit = 0, @vIsLive bit, @vWoken nvarchar(max);

  EXEC Taskgate._CheckRange @What = N'keep', @Value = @Keep, @Min = 0, @Max = 1000;
  BEGIN TRY
    SELECT @vDefinition = e.TaskDefinitionId, @vShared = Taskgate._SharedIds(e.TaskDefinitionId)
    FROM Taskgate.TaskExecution AS e
    WHERE e.TaskExecutionId = @TaskExecutionId AND e.State = 1 AND (@StartId IS NULL OR e.OperationId = @StartId);
    IF @vDefinition IS NULL
      SET @vStatus = N'fenced';
    ELSE
    BEGIN
      BEGIN TRANSACTION;
      IF @vShared <> N'' EXEC Taskgate._LockShared @Shared = @vShared;
      EXEC Taskgate._SettleTokens @TaskDefinitionId = @vDefinition, @TaskExecutionId = @TaskExecutionId, @Keep = @Keep, @Shared = @vShared,
        @oOwn = @vTokens OUTPUT, @oFreed = @vFreed OUTPUT, @oIsLive = @vIsLive OUTPUT;
      COMMIT TRANSACTION;
      SET @vStatus = CASE @vIsLive WHEN 0 THEN N'fenced' ELSE N'released' END; -- declared dead meanwhile: it has none, and freed none
      IF @vFreed > 0 SET @vReady = Taskgate._HasReady(@vDefinition);
      IF @vFreed > 0 AND @vShared <> N''
        SET @vWoken = Taskgate._DefinitionNames(Taskgate._WaitingBeside(@vDefinition, @vShared, @vFreed), @vDefinition);
    END;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vTokens AS [Tokens], @vFreed AS [Freed], @vReady AS [Ready], @vWoken AS [Woken];
END;
