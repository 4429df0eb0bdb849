-- Taskgate.AcquireTokens: makes a live execution hold up to @Want tokens of its definition.
-- In:     @TaskExecutionId bigint; @Want int 1..1000, tokens held already count into it; @StartId: as Work
-- Out:    Status: granted | limited | paused | fenced; Tokens: held by the execution now; Granted: of them new;
--         TokenFence bigint; RetryInMs: when limited, the longest wait that makes sense without a hint;
--         DeadHolders: tokens of this many dead executions were freed: call ReclaimExpired; Demand: noted: nothing was granted,
--           and holders were asked for a token: retry soon | null
-- Raises: 50422 @Want out of range; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  SharedLimit, TaskDefinition, TaskExecution, Token; then, after the commit, TokenDemand, SharedTokenDemand by skip
-- Isolation: of two askers the second waits for the row and decides by what the first one left
-- Plan:   primary keys and the definition's open executions; a denial is plain reads, without lock, also of one that holds some: what it
--         holds is the answer; it writes at most once a second per limit
-- Once:   a repeat grants nothing more than @Want
-- Twin:   postgres/sql/functions/acquire_tokens.sql
CREATE OR ALTER PROCEDURE Taskgate.AcquireTokens
  @TaskExecutionId bigint, @Want int, @StartId uniqueidentifier = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vMessage nvarchar(2048), @vStatus nvarchar(20), @vDefinition int, @vShared nvarchar(max), @vState tinyint, @vTokenCount int, @vTokens int = 0,
          @vGranted int = 0, @vTokenFence bigint, @vRetryInMs bigint, @vDead int = 0,
          @vPaused bit, @vIsLive bit, @vIgnored nvarchar(20), @vDemand nvarchar(20), @vMine int, @vNoted bit, @vWorker nvarchar(200);

  IF @Want IS NULL OR @Want NOT BETWEEN 1 AND 1000
  BEGIN
    SET @vMessage = N'want: expected 1..1000 (' + COALESCE(CONVERT(nvarchar(11), @Want), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  BEGIN TRY
    SELECT @vDefinition = e.TaskDefinitionId, @vShared = Taskgate._SharedIds(e.TaskDefinitionId), @vState = e.State, @vTokenCount = e.TokenCount,
           @vWorker = e.Worker
    FROM Taskgate.TaskExecution AS e
    WHERE e.TaskExecutionId = @TaskExecutionId AND (@StartId IS NULL OR e.OperationId = @StartId);
    IF @vState IS NULL OR @vState <> 1
      SET @vStatus = N'fenced';
    ELSE
      EXEC Taskgate._DenyEarly @TaskDefinitionId = @vDefinition, @Worker = NULL, @oStatus = @vStatus OUTPUT, @oRetryInMs = @vRetryInMs OUTPUT,
        @oDemand = @vDemand OUTPUT, @oMine = @vMine OUTPUT, @IsFirst = 1;
    IF @vTokenCount > 0 AND @vStatus IN (N'paused', N'limited') -- no more than these
    BEGIN
      SELECT @vPaused = CASE @vStatus WHEN N'paused' THEN 1 ELSE 0 END, @vTokens = @vTokenCount, @vRetryInMs = NULL;
      SELECT @vTokenFence = d.TokenFence FROM Taskgate.TaskDefinition AS d WHERE d.TaskDefinitionId = @vDefinition;
      SET @vStatus = N'granted';
    END;
    ELSE IF @vStatus IS NULL
    BEGIN
      BEGIN TRANSACTION;
      IF @vShared <> N'' EXEC Taskgate._LockShared @Shared = @vShared;
      EXEC Taskgate._SettleTokens @TaskDefinitionId = @vDefinition, @TaskExecutionId = @TaskExecutionId, @Want = @Want, @Shared = @vShared,
        @oOwn = @vTokens OUTPUT, @oGranted = @vGranted OUTPUT, @oTokenFence = @vTokenFence OUTPUT, @oPaused = @vPaused OUTPUT,
        @oDead = @vDead OUTPUT, @oIsLive = @vIsLive OUTPUT;
      COMMIT TRANSACTION;
      SET @vStatus = CASE WHEN @vIsLive = 0 THEN N'fenced' WHEN @vTokens > 0 THEN N'granted' WHEN @vPaused = 1 THEN N'paused'
                          ELSE N'limited' END;
      SET @vRetryInMs = NULL;
      IF @vStatus = N'limited' -- nothing is locked any more
        EXEC Taskgate._DenyEarly @TaskDefinitionId = @vDefinition, @Worker = NULL, @oStatus = @vIgnored OUTPUT, @oRetryInMs = @vRetryInMs OUTPUT,
          @oDemand = @vDemand OUTPUT, @oMine = @vMine OUTPUT;
    END;
    IF @vStatus IN (N'granted', N'limited') AND @vGranted = 0 AND @vTokens < @Want AND COALESCE(@vPaused, 0) = 0 -- likewise
      EXEC Taskgate._NoteDemand @TaskDefinitionId = @vDefinition, @Worker = @vWorker, @Shared = @vShared, @oNoted = @vNoted OUTPUT;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], @vTokens AS [Tokens], @vGranted AS [Granted], @vTokenFence AS [TokenFence],
         @vRetryInMs AS [RetryInMs], @vDead AS [DeadHolders], CASE @vNoted WHEN 1 THEN N'noted' END AS [Demand];
END;
