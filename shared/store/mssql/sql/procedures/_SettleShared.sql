-- Taskgate._SettleShared: changes the tokens of shared limits: frees the dead's, fits them to the limits, grants and takes back.
-- In:     @Shared: ids joined by commas; the caller holds the rows
--         @TaskExecutionId bigint: the asker, 0: none
--         @Need int, 0 or more: so many more are wanted: dead holders are looked for where they aren't free, or where too many are held
--         @Own int: hold exactly so many in each row afterwards, even above the limit; null: change nothing of the asker's
-- Out:    @oRoom int: so many more may be granted by each of them, null: any number; @oOverLimit: held above the limit, of the row
--           where that is most; @oDead: dead holders found, once per row
-- Raises: 50499 damaged token string
-- Locks:  TaskExecution of dead holders by skip. Joins the caller's transaction
-- Isolation: as _SettleTokens: of other executions only unlocked rows are read or locked
-- Plan:   primary keys only
-- Twin:   postgres/sql/functions/_settle_shared.sql
CREATE OR ALTER PROCEDURE Taskgate._SettleShared
  @Shared nvarchar(max), @TaskExecutionId bigint, @Need int, @Own int,
  @oRoom int OUTPUT, @oOverLimit int OUTPUT, @oDead int OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vId int, @vName nvarchar(200), @vTokens nvarchar(max), @vLimit int, @vMessage nvarchar(2048),
          @vOwn int, @vHeld int, @vGranted int, @vCount int;
  DECLARE @vToken TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, TokenId uniqueidentifier NULL, IsHeld bit NULL, Grantee bigint NULL);
  DECLARE @vHolder TABLE (
    TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, State tinyint NULL, IsExpired bit NOT NULL);
  DECLARE @vDead TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED);

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
      DELETE FROM @vHolder;
      DELETE FROM @vDead;
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

      -- 2. Dead holders, as in _SettleTokens.
      IF @vLimit - @vHeld < @Need
      BEGIN
        INSERT INTO @vHolder (TaskExecutionId, State, IsExpired)
        SELECT h.Grantee, e.State, CASE WHEN e.State = 1 AND e.LeaseUntil < @vNow THEN 1 ELSE 0 END
        FROM (SELECT DISTINCT t.Grantee FROM @vToken AS t WHERE t.IsHeld = 1 AND t.Grantee <> @TaskExecutionId) AS h
        LEFT JOIN Taskgate.TaskExecution AS e WITH (READCOMMITTEDLOCK, READPAST) -- steps over locked rows, versions or not
          ON e.TaskExecutionId = h.Grantee
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per holder
        INSERT INTO @vDead (TaskExecutionId)
        SELECT h.TaskExecutionId FROM @vHolder AS h WHERE h.State <> 1; -- for good: no state leads back to 1
        -- Locked or not there: an entry among the open ones of a definition that draws from this tells.
        INSERT INTO @vDead (TaskExecutionId)
        SELECT h.TaskExecutionId
        FROM @vHolder AS h
        WHERE h.State IS NULL AND NOT EXISTS (
          SELECT 1
          FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
          INNER JOIN Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- not the row itself: it may be locked
            ON e.TaskDefinitionId = l.TaskDefinitionId AND e.TaskExecutionId = h.TaskExecutionId AND e.State IN (1, 3)
          WHERE l.SharedLimitId = @vId);
        -- Lease over: by key, tested again; a row locked by its own worker is alive at this instant: skipped.
        UPDATE e
        SET State = 3, EndedAt = COALESCE(e.EndedAt, @vNow), TokenCount = 0
        OUTPUT inserted.TaskExecutionId INTO @vDead (TaskExecutionId)
        FROM @vHolder AS h
        INNER JOIN Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait
          ON e.TaskExecutionId = h.TaskExecutionId
        WHERE h.IsExpired = 1 AND e.State = 1 AND e.LeaseUntil < @vNow
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per holder, ascending
        UPDATE t
        SET IsHeld = 0, TokenId = NEWID() -- a new id: what the old holder says of it matches nothing
        FROM @vToken AS t
        WHERE t.IsHeld = 1 AND t.Grantee IN (SELECT x.TaskExecutionId FROM @vDead AS x);
        SET @vHeld = @vHeld - @@ROWCOUNT;
        SELECT @oDead = @oDead + COUNT(*) FROM @vDead AS x;
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
        WHERE n.N <= CONVERT(smallint, @vCount);

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
          WHERE n.N <= CONVERT(smallint, @vCount);
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
