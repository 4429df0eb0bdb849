-- Taskgate.ReleaseSurplus: gives back idle tokens: after a limit was lowered, as many as are held above it, or above a
--         shared limit; else, when a token was denied lately by one of these limits, a part of what this execution holds more than others.
-- In:     @TaskExecutionId bigint; @Keep int 0..1000: tokens that this execution's tasks are using; @StartId: as Work
-- Out:    Status: released | fenced; Tokens: still held; Freed: given back; OverLimit: still held above the limit by all, or above a shared one;
--         Given: of the freed tokens those for a denied execution: leave a hint; Woken: JSON array of other definitions with an execution that
--         was denied by a limit that is shared with them: leave each a hint, or null
-- Raises: 50422 @Keep out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  SharedLimit, TaskDefinition, TaskExecution, Token: the number is decided under the row's lock, so two holders never give back twice;
--         TokenGift, SharedTokenDemand
-- Isolation: of two holders the second waits for the row and finds that many fewer tokens above the limit
-- Plan:   primary keys only; where nothing is above the limit and no denial is open, plain reads without lock
-- Once:   by value: however often it is said, the tokens in use stay; a repeat gives again only for a denial
--         noted since
-- Twin:   postgres/sql/functions/release_surplus.sql
CREATE OR ALTER PROCEDURE Taskgate.ReleaseSurplus
  @TaskExecutionId bigint, @Keep int, @StartId uniqueidentifier = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vStatus nvarchar(20), @vDefinition int, @vShared nvarchar(max), @vTokens int = 0, @vFreed int = 0, @vOverLimit int = 0,
          @vHeld int, @vLimit int, @vIsLive bit, @vGiven int = 0, @vGivenTo nvarchar(max), @vWoken nvarchar(max), @vNow datetime2(3) = SYSUTCDATETIME(),
          @vIsAsked bit;

  EXEC Taskgate._CheckRange @What = N'keep', @Value = @Keep, @Min = 0, @Max = 1000;
  BEGIN TRY
    SELECT @vDefinition = e.TaskDefinitionId, @vShared = Taskgate._SharedIds(e.TaskDefinitionId), @vTokens = e.TokenCount
    FROM Taskgate.TaskExecution AS e
    WHERE e.TaskExecutionId = @TaskExecutionId AND e.State = 1 AND (@StartId IS NULL OR e.OperationId = @StartId);
    IF @vDefinition IS NULL
      SET @vStatus = N'fenced';
    ELSE IF @vShared = N''
      SELECT @vIsAsked = CASE
        WHEN l.TaskLimit = -1 THEN 0
        WHEN d.ExecutionTokens <> N'rows' OR d.HeldCount > l.TaskLimit THEN 1 -- tokens of before are told of under the lock
        WHEN EXISTS (SELECT 1 FROM Taskgate._OpenDemand(@vDefinition, d.LeaseMs, @vNow) AS q) THEN 1 ELSE 0 END
      FROM Taskgate.TaskDefinition AS d
      CROSS APPLY (SELECT COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit) AS TaskLimit) AS l
      WHERE d.TaskDefinitionId = @vDefinition;
    IF @vIsAsked = 0
      SET @vStatus = N'released'; -- others gave meanwhile, or the limit was raised
    ELSE IF @vStatus IS NULL
    BEGIN
      BEGIN TRANSACTION;
      IF @vShared <> N'' EXEC Taskgate._LockShared @Shared = @vShared;
      EXEC Taskgate._SettleTokens @TaskDefinitionId = @vDefinition, @TaskExecutionId = @TaskExecutionId, @OverLimitKeep = @Keep,
        @Shared = @vShared, @oOwn = @vTokens OUTPUT, @oFreed = @vFreed OUTPUT, @oHeld = @vHeld OUTPUT, @oLimit = @vLimit OUTPUT,
        @oIsLive = @vIsLive OUTPUT, @oGiven = @vGiven OUTPUT, @oGivenTo = @vGivenTo OUTPUT;
      COMMIT TRANSACTION;
      SET @vStatus = CASE @vIsLive WHEN 0 THEN N'fenced' ELSE N'released' END; -- declared dead meanwhile: it has none, and freed none
      IF @vIsLive = 1
      BEGIN
        SET @vOverLimit = CASE WHEN @vShared <> N'' THEN Taskgate._OverLimit(@vDefinition)
                             WHEN @vLimit = -1 OR @vHeld <= @vLimit THEN 0 ELSE @vHeld - @vLimit END;
        IF @vGiven > 0 SET @vWoken = Taskgate._DefinitionNames(@vGivenTo, @vDefinition);
      END;
    END;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vTokens AS [Tokens], @vFreed AS [Freed], @vOverLimit AS [OverLimit], @vGiven AS [Given], @vWoken AS [Woken];
END;
