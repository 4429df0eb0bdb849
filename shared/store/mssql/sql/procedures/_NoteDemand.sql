-- Taskgate._NoteDemand: notes that somebody was denied a token, when a process could give one: it holds two more than that of
-- the denied one, and the limit is reached.
-- In:     @TaskDefinitionId int; @Worker nvarchar(200): the denied one's
-- Out:    @oNoted bit: it was noted. At most once a second per definition, of a process that holds some already at most every
--         other second: else nothing was written
-- Raises: -
-- Locks:  TokenDemand by skip. Call it with nothing locked: without row versions its reads wait for those who write.
--         Where nothing is written nothing is locked
-- Isolation: of two denied ones the second steps over the row, or finds it noted
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_note_demand.sql
CREATE OR ALTER PROCEDURE Taskgate._NoteDemand
  @TaskDefinitionId int, @Worker nvarchar(200), @oNoted bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vTokens nvarchar(max), @vLimit int, @vMine int, @vTotal int, @vRichest int,
          @vPauseS int = 1;

  SET @oNoted = 0;
  IF NOT EXISTS (
    SELECT 1 FROM Taskgate.TokenDemand AS q WITH (READCOMMITTEDLOCK, READPAST) -- one row; versions or not, no wait
    WHERE q.TaskDefinitionId = @TaskDefinitionId AND q.DeniedAt <= DATEADD(SECOND, -@vPauseS, @vNow))
    RETURN;
  SELECT @vTokens = d.ExecutionTokens, @vLimit = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit)
  FROM Taskgate.TaskDefinition AS d
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  SELECT @vMine = h.Mine, @vTotal = h.Total, @vRichest = h.Richest FROM Taskgate._Shares(@vTokens, @Worker) AS h;
  IF @vLimit < 1 OR @vTotal < @vLimit OR @vRichest < @vMine + 2 RETURN;
  IF @vMine > 0 SET @vPauseS = 2;
  UPDATE q
  SET DeniedAt = @vNow
  FROM Taskgate.TokenDemand AS q WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait
  WHERE q.TaskDefinitionId = @TaskDefinitionId AND q.DeniedAt <= DATEADD(SECOND, -@vPauseS, @vNow);
  SET @oNoted = @@ROWCOUNT;
END;
