-- Taskgate._DenyEarly: is it certain, by plain reads, that no token can be granted to an execution, whatever it holds already?
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
-- Isolation: without row versions the counts may be of different instants; so the row, read first, must say as well that all are held
-- Plan:   primary key of TaskDefinition, then its open executions: TokenCount is written where tokens are moved, so their rows aren't read; a
--         shared limit's string is parsed, with a seek per holder; of TokenGift
--         TokenDemand and SharedTokenDemand for a worker that holds some; joins are loops in the written order
-- Twin:   postgres/sql/functions/_deny_early.sql, _retry_in_ms.sql
CREATE OR ALTER PROCEDURE Taskgate._DenyEarly
  @TaskDefinitionId int, @Worker nvarchar(200), @oStatus nvarchar(20) OUTPUT, @oRetryInMs bigint OUTPUT,
  @oDemand nvarchar(20) OUTPUT, @oMine int OUTPUT, @IsFirst bit = 0
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vPaused bit, @vIsInRows bit, @vHeld int, @vLimit int, @vLive int,
          @vShared nvarchar(max), @vRetryInMs bigint, @vForMs bigint, @vSharedMs bigint;
  DECLARE @vHolder TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED);

  SELECT @oStatus = NULL, @oRetryInMs = NULL, @oDemand = NULL, @oMine = 0;
  SELECT @vPaused = d.Paused, @vHeld = d.HeldCount, @vIsInRows = CASE WHEN d.ExecutionTokens = N'rows' THEN 1 ELSE 0 END,
         @vLimit = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit),
         @vShared = Taskgate._SharedIds(d.TaskDefinitionId)
  FROM Taskgate.TaskDefinition AS d
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  IF @vPaused = 1
  BEGIN
    SET @oStatus = N'paused';
    RETURN;
  END;
  IF @vLimit = -1 AND @vShared = N'' RETURN;
  IF @vLimit <> -1 AND @vIsInRows = 0 RETURN; -- tokens of before: they are moved, or their damage is told, under the lock
  IF @IsFirst = 1 AND @vHeld < @vLimit AND @vShared = N'' -- some are free, if they aren't for others
    IF NOT EXISTS (SELECT 1 FROM Taskgate._Reserved(@TaskDefinitionId, @vNow) AS g) RETURN;
  IF @vLimit <> -1
    INSERT INTO @vHolder (TaskExecutionId) -- own statement: first the entries of the index, then the rows by key
    SELECT e.TaskExecutionId
    FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- covers this read
    WHERE e.TaskDefinitionId = @TaskDefinitionId AND e.State IN (1, 3);
  SELECT @vLive = COALESCE(SUM(e.TokenCount), 0), @oRetryInMs = MIN(DATEDIFF_BIG(MILLISECOND, @vNow, e.LeaseUntil)) + 1,
         @oMine = COALESCE(SUM(CASE WHEN e.Worker = @Worker THEN e.TokenCount ELSE 0 END), 0)
  FROM @vHolder AS h
  INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = h.TaskExecutionId
  WHERE e.State = 1 AND e.LeaseUntil >= @vNow AND e.TokenCount > 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
  IF @vLimit = -1 AND @Worker IS NOT NULL -- the shared ones count what its own string doesn't
    SELECT @oMine = COALESCE(MAX(h.Mine), 0) FROM Taskgate._SharedShares(@TaskDefinitionId, @Worker) AS h;
  IF @vLimit <> -1 AND @vLive >= @vLimit AND @vHeld >= @vLimit SET @oStatus = N'limited';
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
