-- Taskgate._PlanTokens: decides which tokens a call takes or gives back, before the definition's row is locked: _SettleTokens compares and writes.
-- In:     @TaskDefinitionId int; @TaskExecutionId bigint: the asker; 0: one that is made later; @Want, @Keep: as of _SettleTokens, one of them null
-- Out:    @oStamp bigint: TokenStamp that this was decided by; null: decide under the lock: no limit, too few tokens are free, some are
--           reserved for others, the limit was changed, somebody is at the row, or it is of before
--         @oCount int: how many change hands; @oPiece varchar(max), @oOffset int: what is written of TokenList, and where; the taker's id is 18 question
--           marks. Entries that stand between are in it as they are
-- Raises: -; an error of OPENJSON where somebody damaged TokenList by hand
-- Locks:  none: S on the row while it is read. Call it with nothing locked
-- Isolation: steps over a row that is locked: who holds it may change it, so that a plan would be for nothing
-- Plan:   primary key; one pass over the list
-- Twin:   none: a version of the row is written whole there
CREATE OR ALTER PROCEDURE Taskgate._PlanTokens
  @TaskDefinitionId int, @TaskExecutionId bigint, @Want int, @Keep int,
  @oStamp bigint OUTPUT, @oCount int OUTPUT, @oOffset int OUTPUT, @oPiece varchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vList nvarchar(max), @vLimit int, @vHeld int, @vOwn int, @vSound int, @vStamp bigint,
          @vMine nchar(18) = RIGHT(N'000000000000000000' + CONVERT(nvarchar(20), @TaskExecutionId), 18);
  DECLARE @vToken TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, Entry nvarchar(64) COLLATE Latin1_General_100_BIN2 NOT NULL, IsChanged bit NOT NULL);

  SELECT @oStamp = NULL, @oCount = 0, @oOffset = NULL, @oPiece = NULL;
  SELECT @vStamp = d.TokenStamp, @vList = CONVERT(nvarchar(max), d.TokenList), @vHeld = d.HeldCount, @vLimit = l.TaskLimit
  FROM Taskgate.TaskDefinition AS d WITH (READCOMMITTEDLOCK, READPAST) -- one row; versions or not, no wait
  CROSS APPLY (SELECT COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit) AS TaskLimit) AS l
  WHERE d.TaskDefinitionId = @TaskDefinitionId AND DATALENGTH(d.ExecutionTokens) = 0 AND l.TaskLimit > 0
    AND DATALENGTH(d.TokenList) = 66 * l.TaskLimit + 1;
  IF @vStamp IS NULL OR @vHeld > @vLimit RETURN;
  IF @Want > 0 AND EXISTS (SELECT 1 FROM Taskgate._Reserved(@TaskDefinitionId, SYSUTCDATETIME()) AS g) RETURN; -- behind the stamp: who gives later changes it
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
    IF @@ROWCOUNT < @oCount RETURN; -- dead holders are looked for under the lock
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
  IF @oCount > 0
    SELECT @oOffset = 1 + 66 * MIN(t.Ord), @oPiece = '"' + STRING_AGG(CONVERT(varchar(max), t.Entry), '","') WITHIN GROUP (ORDER BY t.Ord) + '"'
    FROM @vToken AS t
    WHERE t.Ord BETWEEN (SELECT MIN(c.Ord) FROM @vToken AS c WHERE c.IsChanged = 1) AND (SELECT MAX(c.Ord) FROM @vToken AS c WHERE c.IsChanged = 1);
END;
