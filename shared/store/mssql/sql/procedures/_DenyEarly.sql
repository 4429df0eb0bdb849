-- Taskgate._DenyEarly: is it certain, by one plain read, that no token can be granted to an execution without tokens?
-- In:     @TaskDefinitionId int; @Worker nvarchar(200): the name of the asking process; null: a live execution
--         @IsFirst: nothing was asked under the lock yet: where the count says that tokens are free nothing else is told
-- Out:    @oStatus: paused | limited | null (go and lock)
--         @oRetryInMs: until the first live holder's lease ends, the longest useful wait for an execution that gets no
--         hint; null when no execution holds a token (limit 0), paused or without a limit
--         @oDemand: others: free tokens are reserved for others (_Reserved, _SharedDemand), and this worker holds tokens already; or null
--         @oMine int: tokens that live executions of this worker hold; without an own limit: that shared ones count, also of the dead
-- Raises: -; damage is said under the lock
-- Locks:  none: a token freed at this moment would have been missed by asking a microsecond earlier.
--         Call it with nothing locked: without row versions its reads wait for those who write
-- Plan:   primary key of TaskDefinition, then of its holders' executions, once each; the same for its shared limits; of TokenGift
--         TokenDemand and SharedTokenDemand for a worker that holds some
-- Twin:   postgres/sql/functions/_deny_early.sql, _retry_in_ms.sql
CREATE OR ALTER PROCEDURE Taskgate._DenyEarly
  @TaskDefinitionId int, @Worker nvarchar(200), @oStatus nvarchar(20) OUTPUT, @oRetryInMs bigint OUTPUT,
  @oDemand nvarchar(20) OUTPUT, @oMine int OUTPUT, @IsFirst bit = 0
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vPaused bit, @vTokens nvarchar(max), @vList varchar(max), @vHeld int, @vLimit int, @vLive int,
          @vShared nvarchar(max), @vRetryInMs bigint, @vForMs bigint, @vSharedMs bigint;
  DECLARE @vToken TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, TokenId uniqueidentifier NULL, IsHeld bit NULL, Grantee bigint NULL);

  SELECT @oStatus = NULL, @oRetryInMs = NULL, @oDemand = NULL, @oMine = 0;
  SELECT @vPaused = d.Paused, @vTokens = d.ExecutionTokens, @vList = d.TokenList, @vHeld = d.HeldCount, @vLimit = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit),
         @vShared = Taskgate._SharedIds(d.TaskDefinitionId)
  FROM Taskgate.TaskDefinition AS d
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  IF @vPaused = 1
  BEGIN
    SET @oStatus = N'paused';
    RETURN;
  END;
  IF @vLimit = -1 AND @vShared = N'' RETURN;
  IF @IsFirst = 1 AND @vHeld < @vLimit AND @vShared = N'' AND DATALENGTH(@vTokens) = 0 -- some are free, if they aren't for others
    IF NOT EXISTS (SELECT 1 FROM Taskgate._Reserved(@TaskDefinitionId, @vNow) AS g) RETURN;
  INSERT INTO @vToken (Ord, TokenId, IsHeld, Grantee)
  SELECT t.Ord, t.TokenId, t.IsHeld, t.Grantee
  FROM Taskgate._TokenText(@vTokens, @vList) AS x
  CROSS APPLY Taskgate._ReadTokens(x.Tokens) AS t;
  IF EXISTS (SELECT 1 FROM @vToken AS t WHERE t.TokenId IS NULL OR t.IsHeld IS NULL OR t.Grantee IS NULL)
    RETURN;
  SELECT @vLive = COALESCE(SUM(h.HeldCount), 0), @oRetryInMs = MIN(DATEDIFF_BIG(MILLISECOND, @vNow, e.LeaseUntil)) + 1,
         @oMine = COALESCE(SUM(CASE WHEN e.Worker = @Worker THEN h.HeldCount ELSE 0 END), 0)
  FROM (SELECT t.Grantee, COUNT(*) AS HeldCount FROM @vToken AS t WHERE t.IsHeld = 1 GROUP BY t.Grantee) AS h
  INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = h.Grantee
  WHERE e.State = 1 AND e.LeaseUntil >= @vNow
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per holder
  IF @vLimit = -1 AND @Worker IS NOT NULL -- the shared ones count what its own string doesn't
    SELECT @oMine = COALESCE(MAX(h.Mine), 0) FROM Taskgate._SharedShares(@TaskDefinitionId, @Worker) AS h;
  IF @vLimit <> -1 AND @vLive >= @vLimit SET @oStatus = N'limited';
  ELSE IF @vShared <> N''
  BEGIN
    SELECT @vLive = COUNT(*), @vRetryInMs = MAX(u.RetryInMs)
    FROM Taskgate._SharedUse(@TaskDefinitionId, @vNow) AS u
    WHERE u.TaskLimit <> -1 AND u.Live >= u.TaskLimit;
    IF @vLive > 0
    BEGIN
      SET @oStatus = N'limited';
      SET @oRetryInMs = @vRetryInMs;
    END;
  END;
  IF @oStatus IS NULL AND @oMine > 0
  BEGIN
    SELECT @vForMs = g.ForMs FROM Taskgate._Reserved(@TaskDefinitionId, @vNow) AS g;
    IF @vShared <> N''
    BEGIN
      SELECT @vSharedMs = MAX(q.ReservedMs) FROM Taskgate._SharedDemand(@TaskDefinitionId, NULL, @vNow) AS q;
      IF @vSharedMs > COALESCE(@vForMs, 0) SET @vForMs = @vSharedMs;
    END;
    IF @vForMs IS NOT NULL
    BEGIN
      SET @oStatus = N'limited';
      SET @oDemand = N'others';
      SET @oRetryInMs = @vForMs;
    END;
  END;
END;
