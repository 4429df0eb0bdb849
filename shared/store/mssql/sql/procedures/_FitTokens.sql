-- Taskgate._FitTokens: brings a definition's tokens in line with its limit, of which there is one: counts who holds them, frees those of dead
-- holders where too few are free, drops free ones that are too many, and makes those that are missing.
-- In:     @TaskDefinitionId int: its row is the caller's; @TaskExecutionId bigint: the asker, who isn't looked at; 0: none; @Limit int, 0 or more
--         @Need int: so many should be free; null: only as the limit says; @Now: read after the wait for that row
-- Out:    @oHeld int: tokens held, as the rows say, whatever HeldCount said; @oDead int: dead holders found
-- Raises: 50499 two rows for one place: somebody changed them by hand
-- Locks:  TaskDefinition, the caller's; TaskExecution as _DeadHolders; Token. Joins the caller's transaction
-- Isolation: tokens change under the definition's lock only, so what is counted here stays so
-- Plan:   the definition's range of PK_Token, once, and again where a holder is dead; joins are loops in the written order
-- Twin:   none: part of postgres/sql/functions/_settle_tokens.sql
CREATE OR ALTER PROCEDURE Taskgate._FitTokens
  @TaskDefinitionId int, @TaskExecutionId bigint, @Limit int, @Need int, @Now datetime2(3), @oHeld int OUTPUT, @oDead int OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vHolders nvarchar(max), @vDead nvarchar(max), @vCount int, @vPlaces int, @vLast int, @vMessage nvarchar(2048);
  DECLARE @vHolder TABLE (HeldBy bigint NOT NULL PRIMARY KEY CLUSTERED, Tokens int NOT NULL, LastOrd int NOT NULL); -- 0: the free ones

  SET @oDead = 0;
  INSERT INTO @vHolder (HeldBy, Tokens, LastOrd)
  SELECT t.HeldBy, COUNT(*), MAX(t.Ord)
  FROM Taskgate.Token AS t WITH (INDEX (PK_Token)) -- the definition's range
  WHERE t.TaskDefinitionId = @TaskDefinitionId
  GROUP BY t.HeldBy;
  SELECT @vCount = COALESCE(SUM(h.Tokens), 0), @oHeld = COALESCE(SUM(CASE h.HeldBy WHEN 0 THEN 0 ELSE h.Tokens END), 0),
         @vLast = COALESCE(MAX(h.LastOrd), -1)
  FROM @vHolder AS h;

  -- 1. Dead holders, before any comparison with the limit: else a limit lowered below their number denies for ever.
  IF @oHeld > @Limit OR @Limit - @oHeld < @Need
  BEGIN
    SELECT @vHolders = N'[' + STRING_AGG(CONVERT(nvarchar(max), h.HeldBy), N',') + N']'
    FROM @vHolder AS h WHERE h.HeldBy NOT IN (0, @TaskExecutionId);
    EXEC Taskgate._DeadHolders @Holders = @vHolders, @TaskDefinitionId = @TaskDefinitionId, @SharedLimitId = NULL, @Now = @Now,
      @oDead = @vDead OUTPUT;
    SELECT @oDead = COUNT(*) FROM OPENJSON(@vDead) AS j;
  END;
  IF @oDead > 0
  BEGIN
    SELECT @vPlaces = COUNT(DISTINCT t.Ord)
    FROM Taskgate.Token AS t WITH (INDEX (PK_Token)) -- the definition's range
    WHERE t.TaskDefinitionId = @TaskDefinitionId;
    IF @vPlaces < @vCount
    BEGIN
      SELECT @vMessage = N'tokens: ' + CONVERT(nvarchar(11), @vCount) + N' rows of Taskgate.Token stand at ' + CONVERT(nvarchar(11), @vPlaces)
        + N' places in definition ' + REPLACE(d.Name, N'%', N'%%')
      FROM Taskgate.TaskDefinition AS d WHERE d.TaskDefinitionId = @TaskDefinitionId;
      THROW 50499, @vMessage, 1;
    END;
    UPDATE t
    SET HeldBy = 0, LastHeldBy = t.HeldBy, TokenId = NEWID() -- a new id: what the old holder says of it matches nothing
    FROM OPENJSON(@vDead) AS j
    INNER JOIN Taskgate.Token AS t WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- the holder's range
      ON t.TaskDefinitionId = @TaskDefinitionId AND t.HeldBy = CONVERT(bigint, j.[value])
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per dead holder
    SET @oHeld = @oHeld - @@ROWCOUNT;
  END;

  -- 2. As many as the limit says; above it only those that are held.
  SET @vCount = @vCount - @Limit;
  IF @vCount > 0
  BEGIN
    WITH LastFree AS (
      SELECT TOP (@vCount) t.Ord
      FROM Taskgate.Token AS t WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- the last entries of the range of free ones
      WHERE t.TaskDefinitionId = @TaskDefinitionId AND t.HeldBy = 0 ORDER BY t.Ord DESC)
    DELETE FROM LastFree;
  END;
  ELSE IF @vCount < 0
    INSERT INTO Taskgate.Token WITH (ROWLOCK) (TaskDefinitionId, HeldBy, Ord, TokenId, LastHeldBy)
    SELECT @TaskDefinitionId, 0, @vLast + n.N, NEWID(), 0
    FROM Taskgate.Number AS n WITH (FORCESEEK) -- the first so many numbers
    WHERE n.N <= CONVERT(smallint, -@vCount);
END;
