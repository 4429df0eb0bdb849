-- Taskgate._PlanTokens: decides which tokens a call takes or gives back, before the definition's row is locked: _SettleTokens compares and writes.
-- In:     @TaskDefinitionId int; @TaskExecutionId bigint: the asker; 0: one that is made later; @Want, @Keep: as of _SettleTokens, one of them null
-- Out:    @oStamp bigint: TokenStamp that this was decided by; null: decide by the whole list under the lock. There is no limit or another
--           one, somebody is at the row, or the list is of before; tokens are reserved for others; or too few are free and a holder is dead
--         @oCount int: how many change hands; @oOffset int, @oPiece varchar(max): what is written of TokenList, and where; the taker's id
--           is 18 question marks. Entries that stand between are in it as they are
--         @oMore nvarchar(max): further pieces, where tokens lie more than 40 entries apart: JSON array of [offset, [entries]]; null: none
--         @oUntil datetime2(3): where too few are free: from here on a holder may be dead; null: whatever the time is
-- Raises: -; an error of OPENJSON where somebody damaged TokenList by hand
-- Locks:  none: S on rows while they are read. _SettleTokens calls it under the lock, too, when it has no plan that counts
-- Isolation: steps over a row that is locked: who holds it may change it, so that a plan would be for nothing. A reader whom the server spares
--         the lock gets past it: its plan has the stamp of before. Executions' rows are stepped over as in _DeadHolders: a live holder's
--         own call is never waited for
-- Plan:   primary keys; one pass over the list. A piece more costs a version of the row and of up to 8,040 bytes of the list, which
--         40 entries that are written twice cost as well. Joins are loops in the written order
-- Twin:   none: a version of the row is written whole there
CREATE OR ALTER PROCEDURE Taskgate._PlanTokens
  @TaskDefinitionId int, @TaskExecutionId bigint, @Want int, @Keep int,
  @oStamp bigint OUTPUT, @oCount int OUTPUT, @oOffset int OUTPUT, @oPiece varchar(max) OUTPUT,
  @oMore nvarchar(max) OUTPUT, @oUntil datetime2(3) = NULL OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vList nvarchar(max), @vLimit int, @vHeld int, @vOwn int, @vSound int, @vStamp bigint, @vGone int,
          @vTaken int, @vFirst int, @vLast int, @vRuns int, @vGap int = 40,
          @vMine nchar(18) = RIGHT(N'000000000000000000' + CONVERT(nvarchar(20), @TaskExecutionId), 18);
  DECLARE @vToken TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, Entry nvarchar(64) COLLATE Latin1_General_100_BIN2 NOT NULL, IsChanged bit NOT NULL);
  DECLARE @vHolder TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, State tinyint NULL, LeaseUntil datetime2(3) NULL);

  SELECT @oStamp = NULL, @oCount = 0, @oOffset = NULL, @oPiece = NULL, @oMore = NULL, @oUntil = NULL;
  SELECT @vStamp = d.TokenStamp, @vList = CONVERT(nvarchar(max), d.TokenList), @vHeld = d.HeldCount, @vLimit = l.TaskLimit
  FROM Taskgate.TaskDefinition AS d WITH (READCOMMITTEDLOCK, READPAST) -- one row; versions or not, no wait
  CROSS APPLY (SELECT COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit) AS TaskLimit) AS l
  WHERE d.TaskDefinitionId = @TaskDefinitionId AND DATALENGTH(d.ExecutionTokens) = 0 AND l.TaskLimit > 0
    AND DATALENGTH(d.TokenList) = 66 * l.TaskLimit + 1;
  IF @vStamp IS NULL OR @vHeld > @vLimit RETURN;
  IF @Want > 0 AND EXISTS (SELECT 1 FROM Taskgate._Reserved(@TaskDefinitionId, @vNow) AS g) RETURN; -- behind the stamp: who gives later changes it
  INSERT INTO @vToken (Ord, Entry, IsChanged)
  SELECT CONVERT(int, j.[key]), LEFT(j.[value], 64), 0 FROM OPENJSON(@vList) AS j;
  SELECT @vSound = SUM(CASE WHEN t.Entry LIKE N'I:%,S:[01],G:%' AND DATALENGTH(t.Entry) = 126 THEN 1 ELSE 0 END),
         @vHeld = @vHeld - SUM(CASE SUBSTRING(t.Entry, 42, 1) WHEN N'0' THEN 1 ELSE 0 END),
         @vOwn = SUM(CASE WHEN SUBSTRING(t.Entry, 42, 1) = N'0' AND SUBSTRING(t.Entry, 46, 18) = @vMine THEN 1 ELSE 0 END)
  FROM @vToken AS t;
  IF @vSound <> @vLimit OR @vHeld <> 0 RETURN; -- said under the lock
  IF @Want > @vOwn
  BEGIN
    SET @oCount = @Want - @vOwn;
    WITH NextFree AS (
      SELECT TOP (@oCount) t.Entry, t.IsChanged FROM @vToken AS t WHERE SUBSTRING(t.Entry, 42, 1) = N'1' ORDER BY t.Ord)
    UPDATE NextFree SET IsChanged = 1, Entry = LEFT(Entry, 39) + N'S:0,G:??????????????????';
    SET @vTaken = @@ROWCOUNT;
    IF @vTaken < @oCount -- a part of the wish is a grant, too, if no holder is dead
    BEGIN
      SET @oCount = @vTaken;
      INSERT INTO @vHolder (TaskExecutionId, State, LeaseUntil)
      SELECT h.Id, e.State, e.LeaseUntil
      FROM (SELECT DISTINCT CONVERT(bigint, SUBSTRING(t.Entry, 46, 18)) AS Id FROM @vToken AS t
            WHERE t.IsChanged = 0 AND SUBSTRING(t.Entry, 42, 1) = N'0' AND SUBSTRING(t.Entry, 46, 18) <> @vMine) AS h
      LEFT JOIN Taskgate.TaskExecution AS e WITH (READCOMMITTEDLOCK, READPAST) -- steps over locked rows, versions or not
        ON e.TaskExecutionId = h.Id
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per holder
      SELECT @vGone = SUM(CASE WHEN h.State <> 1 OR h.LeaseUntil < @vNow THEN 1 ELSE 0 END), @oUntil = MIN(h.LeaseUntil) FROM @vHolder AS h;
      IF @vGone > 0 RETURN; -- declared dead under the lock
      SELECT @vGone = COUNT(*)
      FROM @vHolder AS h
      WHERE h.State IS NULL AND NOT EXISTS (
        SELECT 1 FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- not the row itself: it may be locked
        WHERE e.TaskDefinitionId = @TaskDefinitionId AND e.TaskExecutionId = h.TaskExecutionId AND e.State IN (1, 3))
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per holder whose row is locked
      IF @vGone > 0 RETURN;
    END;
  END;
  IF @Keep < @vOwn
  BEGIN
    SET @oCount = @vOwn - @Keep;
    WITH LastHeld AS (
      SELECT TOP (@oCount) t.Entry, t.IsChanged FROM @vToken AS t
      WHERE SUBSTRING(t.Entry, 42, 1) = N'0' AND SUBSTRING(t.Entry, 46, 18) = @vMine ORDER BY t.Ord DESC)
    UPDATE LastHeld SET IsChanged = 1, Entry = LEFT(Entry, 39) + N'S:1' + SUBSTRING(Entry, 43, 21);
  END;
  SET @oStamp = @vStamp;
  IF @oCount = 0 RETURN;
  SELECT @vFirst = MIN(t.Ord), @vLast = MAX(t.Ord) FROM @vToken AS t WHERE t.IsChanged = 1;
  IF @vLast - @vFirst > @vGap
  BEGIN
    SELECT @vRuns = COUNT(*)
    FROM @vToken AS t
    WHERE t.IsChanged = 1 AND NOT EXISTS (SELECT 1 FROM @vToken AS n WHERE n.Ord > t.Ord AND n.Ord <= t.Ord + @vGap AND n.IsChanged = 1)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- at most 40 entries per changed one
    IF @vRuns BETWEEN 2 AND 8 -- more: one piece, for each is written under the lock
      SELECT @vLast = MIN(t.Ord)
      FROM @vToken AS t
      WHERE t.IsChanged = 1 AND NOT EXISTS (SELECT 1 FROM @vToken AS n WHERE n.Ord > t.Ord AND n.Ord <= t.Ord + @vGap AND n.IsChanged = 1)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- as above
  END;
  SELECT @oOffset = 1 + 66 * @vFirst, @oPiece = '"' + STRING_AGG(CONVERT(varchar(max), t.Entry), '","') WITHIN GROUP (ORDER BY t.Ord) + '"'
  FROM @vToken AS t
  WHERE t.Ord BETWEEN @vFirst AND @vLast;
  IF @vRuns BETWEEN 2 AND 8
  BEGIN
    SELECT @vFirst = MIN(t.Ord) FROM @vToken AS t WHERE t.IsChanged = 1 AND t.Ord > @vLast;
    WHILE @vFirst IS NOT NULL
    BEGIN
      SELECT @vLast = MIN(t.Ord)
      FROM @vToken AS t
      WHERE t.IsChanged = 1 AND t.Ord >= @vFirst
        AND NOT EXISTS (SELECT 1 FROM @vToken AS n WHERE n.Ord > t.Ord AND n.Ord <= t.Ord + @vGap AND n.IsChanged = 1)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- as above
      SELECT @oMore = COALESCE(@oMore + N',', N'[') + N'[' + CONVERT(nvarchar(11), 1 + 66 * @vFirst) + N',["'
             + STRING_AGG(CONVERT(nvarchar(max), t.Entry), N'","') WITHIN GROUP (ORDER BY t.Ord) + N'"]]'
      FROM @vToken AS t
      WHERE t.Ord BETWEEN @vFirst AND @vLast;
      SELECT @vFirst = MIN(t.Ord) FROM @vToken AS t WHERE t.IsChanged = 1 AND t.Ord > @vLast;
    END;
    SET @oMore = @oMore + N']';
  END;
END;
