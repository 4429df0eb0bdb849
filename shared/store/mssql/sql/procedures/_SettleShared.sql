-- Taskgate._SettleShared: changes the tokens of shared limits: frees the dead's, fits them to the limits, grants and takes back.
-- In:     @Shared: ids joined by commas; the caller holds the rows
--         @TaskExecutionId bigint: the asker, 0: none
--         @Need int, 0 or more: so many more are wanted: dead holders are looked for where they aren't free, or where too many are held
--         @Own int: hold exactly so many in each row afterwards, even above the limit; null: change nothing of the asker's
-- Out:    @oRoom int: so many more may be granted by each of them, null: any number; @oOverLimit: held above the limit, of the row
--           where that is most; @oDead: dead holders found, once per row
-- Raises: 50499 damaged token string
-- Locks:  as _DeadHolders. Joins the caller's transaction
-- Isolation: as _SettleTokens: of other executions only unlocked rows are read or locked
-- Plan:   primary keys only; joins are loops in the written order
-- Twin:   postgres/sql/functions/_settle_shared.sql
CREATE OR ALTER PROCEDURE Taskgate._SettleShared
  @Shared nvarchar(max), @TaskExecutionId bigint, @Need int, @Own int = NULL,
  @oRoom int = NULL OUTPUT, @oOverLimit int = NULL OUTPUT, @oDead int = NULL OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vId int, @vName nvarchar(200), @vTokens nvarchar(max), @vLimit int, @vMessage nvarchar(2048),
          @vOwn int, @vHeld int, @vGranted int, @vCount int, @vHolders nvarchar(max), @vDead nvarchar(max);
  DECLARE @vToken TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, TokenId uniqueidentifier NULL, IsHeld bit NULL, Grantee bigint NULL);

  SET @oRoom = NULL;
  SET @oOverLimit = 0;
  SET @oDead = 0;
  SELECT @vId = MIN(CONVERT(int, j.[value])) FROM OPENJSON(N'[' + @Shared + N']') AS j;
  WHILE @vId IS NOT NULL
  BEGIN
    SELECT @vName = s.Name, @vTokens = s.ExecutionTokens, @vLimit = COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit)
    FROM Taskgate.SharedLimit AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is now, not a version of it; ours already
    WHERE s.SharedLimitId = @vId;
    IF @vLimit <> -1
    BEGIN
      DELETE FROM @vToken;
      INSERT INTO @vToken (Ord, TokenId, IsHeld, Grantee)
      SELECT t.Ord, t.TokenId, t.IsHeld, t.Grantee FROM Taskgate._ReadTokens(@vTokens) AS t;
      IF EXISTS (SELECT 1 FROM @vToken AS t WHERE t.TokenId IS NULL OR t.IsHeld IS NULL OR t.Grantee IS NULL)
      BEGIN
        SET @vMessage = N'execution_tokens: not a list of I:,S:,G: triples (' + REPLACE(LEFT(@vTokens, 200), N'%', N'%%')
          + N') in shared limit ' + REPLACE(@vName, N'%', N'%%');
        THROW 50499, @vMessage, 1;
      END;
      SELECT @vOwn = COUNT(*) FROM @vToken AS t WHERE t.IsHeld = 1 AND t.Grantee = @TaskExecutionId;

      -- 1. What the asker no longer holds, last granted first.
      IF @Own < @vOwn
      BEGIN
        SET @vCount = @vOwn - @Own;
        WITH LastHeld AS (
          SELECT TOP (@vCount) t.IsHeld FROM @vToken AS t
          WHERE t.IsHeld = 1 AND t.Grantee = @TaskExecutionId ORDER BY t.Ord DESC)
        UPDATE LastHeld SET IsHeld = 0;
      END;
      SELECT @vHeld = COUNT(*) FROM @vToken AS t WHERE t.IsHeld = 1;

      -- 2. Dead holders.
      IF @vLimit - @vHeld < @Need
      BEGIN
        SELECT @vHolders = N'[' + STRING_AGG(CONVERT(nvarchar(max), h.Grantee), N',') + N']'
        FROM (SELECT DISTINCT t.Grantee FROM @vToken AS t WHERE t.IsHeld = 1 AND t.Grantee <> @TaskExecutionId) AS h;
        EXEC Taskgate._DeadHolders @Holders = @vHolders, @TaskDefinitionId = NULL, @SharedLimitId = @vId, @Now = @vNow,
          @oDead = @vDead OUTPUT;
        UPDATE t
        SET IsHeld = 0, TokenId = NEWID() -- a new id: what the old holder says of it matches nothing
        FROM OPENJSON(@vDead) AS j
        INNER JOIN @vToken AS t ON t.Grantee = CONVERT(bigint, j.[value])
        WHERE t.IsHeld = 1
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one pass per dead holder
        SET @vHeld = @vHeld - @@ROWCOUNT;
        SELECT @oDead = @oDead + COUNT(*) FROM OPENJSON(@vDead) AS j;
      END;

      -- 3. As many tokens as the limit says, or as are held.
      SELECT @vCount = COUNT(*) - CASE WHEN @vHeld > @vLimit THEN @vHeld ELSE @vLimit END FROM @vToken AS t;
      IF @vCount > 0
      BEGIN
        WITH LastFree AS (SELECT TOP (@vCount) t.Ord FROM @vToken AS t WHERE t.IsHeld = 0 ORDER BY t.Ord DESC)
        DELETE FROM LastFree;
      END;
      SELECT @vCount = @vLimit - COUNT(*) FROM @vToken AS t;
      IF @vCount > 0
        INSERT INTO @vToken (Ord, TokenId, IsHeld, Grantee)
        SELECT m.LastOrd + n.N, NEWID(), 0, 0
        FROM (SELECT COALESCE(MAX(t.Ord), -1) AS LastOrd FROM @vToken AS t) AS m
        CROSS JOIN Taskgate.Number AS n WITH (FORCESEEK) -- the first so many numbers
        WHERE n.N <= CONVERT(smallint, @vCount)
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek

      -- 4. What the asker holds now: free ones in list order; tasks that ran before this limit existed count above it, too.
      SET @vGranted = 0;
      IF @Own > @vOwn
      BEGIN
        SET @vGranted = @Own - @vOwn;
        WITH NextFree AS (SELECT TOP (@vGranted) t.IsHeld, t.Grantee FROM @vToken AS t WHERE t.IsHeld = 0 ORDER BY t.Ord)
        UPDATE NextFree SET IsHeld = 1, Grantee = @TaskExecutionId;
        SET @vCount = @vGranted - @@ROWCOUNT;
        SET @vHeld = @vHeld + @vGranted;
        IF @vCount > 0
          INSERT INTO @vToken (Ord, TokenId, IsHeld, Grantee)
          SELECT m.LastOrd + n.N, NEWID(), 1, @TaskExecutionId
          FROM (SELECT COALESCE(MAX(t.Ord), -1) AS LastOrd FROM @vToken AS t) AS m
          CROSS JOIN Taskgate.Number AS n WITH (FORCESEEK) -- the first so many numbers
          WHERE n.N <= CONVERT(smallint, @vCount)
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek
      END;

      SELECT @vTokens = STRING_AGG(CONVERT(nvarchar(max), N'I:' + LOWER(CONVERT(nchar(36), t.TokenId))
               + N',S:' + CASE t.IsHeld WHEN 1 THEN N'0' ELSE N'1' END + N',G:' + CONVERT(nvarchar(20), t.Grantee)), N',')
               WITHIN GROUP (ORDER BY t.Ord)
      FROM @vToken AS t;
      UPDATE s
      SET HoldLockTaskExecutionId = @TaskExecutionId, ExecutionTokens = COALESCE(@vTokens, N''),
          TokenFence = s.TokenFence + CASE WHEN @vGranted > 0 THEN 1 ELSE 0 END
      FROM Taskgate.SharedLimit AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
      WHERE s.SharedLimitId = @vId;
      IF @oRoom IS NULL OR @vLimit - @vHeld < @oRoom
        SET @oRoom = CASE WHEN @vHeld > @vLimit THEN 0 ELSE @vLimit - @vHeld END;
      IF @vHeld - @vLimit > @oOverLimit SET @oOverLimit = @vHeld - @vLimit;
    END;
    SELECT @vId = MIN(CONVERT(int, j.[value])) FROM OPENJSON(N'[' + @Shared + N']') AS j WHERE CONVERT(int, j.[value]) > @vId;
  END;
END;
