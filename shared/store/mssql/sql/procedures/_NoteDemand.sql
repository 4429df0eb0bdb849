-- Taskgate._NoteDemand: notes that somebody was denied a token, when a holder could give one: it holds two more than the
-- denied one, and the limit is reached.
-- In:     @TaskDefinitionId int; @Own int: tokens that the denied one holds
-- Out:    @oNoted bit: it was noted. At most once a second per definition: else nothing was written
-- Raises: -
-- Locks:  TokenDemand by skip. Call it with nothing locked: without row versions its reads wait for those who write.
--         Where nothing is written nothing is locked
-- Isolation: of two denied ones the second steps over the row, or finds it noted
-- Plan:   primary keys
-- Twin:   postgres/sql/functions/_note_demand.sql
CREATE OR ALTER PROCEDURE Taskgate._NoteDemand
  @TaskDefinitionId int, @Own int, @oNoted bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vTokens nvarchar(max), @vLimit int, @vHeld int, @vMost int;

  SET @oNoted = 0;
  IF NOT EXISTS (
    SELECT 1 FROM Taskgate.TokenDemand AS q WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- one row; versions or not, no wait
    WHERE q.TaskDefinitionId = @TaskDefinitionId AND q.DeniedAt <= DATEADD(SECOND, -1, @vNow))
    RETURN;
  SELECT @vTokens = d.ExecutionTokens, @vLimit = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit)
  FROM Taskgate.TaskDefinition AS d
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  SELECT @vHeld = COALESCE(SUM(h.HeldCount), 0), @vMost = COALESCE(MAX(h.HeldCount), 0)
  FROM (SELECT COUNT(*) AS HeldCount FROM Taskgate._ReadTokens(@vTokens) AS t WHERE t.IsHeld = 1 GROUP BY t.Grantee) AS h;
  IF @vLimit < 1 OR @vHeld < @vLimit OR @vMost < @Own + 2 RETURN;
  UPDATE q
  SET DeniedAt = @vNow
  FROM Taskgate.TokenDemand AS q WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait
  WHERE q.TaskDefinitionId = @TaskDefinitionId AND q.DeniedAt <= DATEADD(SECOND, -1, @vNow);
  SET @oNoted = @@ROWCOUNT;
END;
