-- Taskgate._NoteDemand: records the denial of a token, at each limit that is reached: the definition's own and those that
-- it shares. Only when at each of them a process could give one: it holds two more than that of the denied one. Else no gift
-- would help. Of shared limits the calls of functions without tasks pass on the last token, too (_PassesOn), to a process that
-- holds none.
-- In:     @TaskDefinitionId int; @Worker nvarchar(200): the denied one's; @Shared: of _SharedIds
-- Out:    @oNoted bit: it was noted. At most once a second per limit, of a process that holds some already at most every
--         other second: else nothing was written
-- Raises: -
-- Locks:  TokenDemand, then SharedTokenDemand by skip, each for its own statement only. Call it with nothing locked: without row
--         versions its reads wait for those who write. Where nothing is written nothing is locked
-- Isolation: of two denied ones the second steps over the row, or finds it noted
-- Plan:   primary keys; joins are loops in the written order, or planned for one row
-- Twin:   postgres/sql/functions/_note_demand.sql
CREATE OR ALTER PROCEDURE Taskgate._NoteDemand
  @TaskDefinitionId int, @Worker nvarchar(200), @Shared nvarchar(max), @oNoted bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vTokens nvarchar(max), @vList varchar(max), @vLimit int, @vMine int, @vTotal int, @vRichest int, @vClosed int,
          @vPauseS int = 1, @vIsFull bit = 0, @vDue int;
  DECLARE @vFull TABLE (
    SharedLimitId int NOT NULL PRIMARY KEY CLUSTERED, TaskLimit int NOT NULL, Mine int NOT NULL, Richest int NOT NULL);

  SET @oNoted = 0;
  IF NOT EXISTS (
    SELECT 1 FROM Taskgate.TokenDemand AS q WITH (READCOMMITTEDLOCK, READPAST) -- one row; versions or not, no wait
    WHERE q.TaskDefinitionId = @TaskDefinitionId AND q.DeniedAt <= DATEADD(SECOND, -@vPauseS, @vNow))
  BEGIN
    IF @Shared = N'' RETURN;
    SELECT @vDue = COUNT(*)
    FROM OPENJSON(N'[' + @Shared + N']') AS j
    INNER JOIN Taskgate.SharedTokenDemand AS q WITH (READCOMMITTEDLOCK, READPAST) -- as above
      ON q.SharedLimitId = CONVERT(int, j.[value])
    WHERE q.DeniedAt <= DATEADD(SECOND, -@vPauseS, @vNow)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per limit
    IF @vDue = 0 RETURN;
  END;
  SELECT @vTokens = d.ExecutionTokens, @vList = d.TokenList, @vLimit = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit)
  FROM Taskgate.TaskDefinition AS d
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  SELECT @vMine = h.Mine, @vTotal = h.Total, @vRichest = h.Richest FROM Taskgate._Shares(@vTokens, @vList, @TaskDefinitionId, @Worker) AS h;
  IF @vLimit >= 0 AND @vTotal >= @vLimit SET @vIsFull = 1;
  IF @vIsFull = 1 AND (@vLimit < 1 OR @vRichest < @vMine + 2) RETURN;
  IF @Shared <> N''
  BEGIN
    INSERT INTO @vFull (SharedLimitId, TaskLimit, Mine, Richest)
    SELECT h.SharedLimitId, h.TaskLimit, h.Mine, h.Richest
    FROM Taskgate._SharedShares(@TaskDefinitionId, @Worker) AS h
    WHERE h.Held >= h.TaskLimit;
    SELECT @vClosed = COUNT(*)
    FROM @vFull AS f
    WHERE f.TaskLimit < 1
      OR f.Richest < f.Mine + 2 AND (f.Mine > 0 OR NOT EXISTS (SELECT 1 FROM Taskgate._PassesOn(f.SharedLimitId) AS p WHERE p.HeldCount > 0))
    OPTION (USE HINT ('DISABLE_DEFERRED_COMPILATION_TV')); -- for one limit, whatever the first call has
    IF @vClosed > 0 RETURN;
    SELECT @vMine = CASE WHEN MAX(f.Mine) > @vMine THEN MAX(f.Mine) ELSE @vMine END FROM @vFull AS f; -- without an own limit only they count
  END;
  IF @vMine > 0 SET @vPauseS = 2;
  IF @vIsFull = 1
  BEGIN
    UPDATE q
    SET DeniedAt = @vNow
    FROM Taskgate.TokenDemand AS q WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait
    WHERE q.TaskDefinitionId = @TaskDefinitionId AND q.DeniedAt <= DATEADD(SECOND, -@vPauseS, @vNow);
    SET @oNoted = @@ROWCOUNT;
  END;
  IF EXISTS (SELECT 1 FROM @vFull AS f)
  BEGIN
    UPDATE q
    SET DeniedAt = @vNow, TaskDefinitionId = @TaskDefinitionId
    FROM @vFull AS f
    INNER JOIN Taskgate.SharedTokenDemand AS q WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait
      ON q.SharedLimitId = f.SharedLimitId
    WHERE q.DeniedAt <= DATEADD(SECOND, -@vPauseS, @vNow)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per limit
    IF @@ROWCOUNT > 0 SET @oNoted = 1;
  END;
END;
