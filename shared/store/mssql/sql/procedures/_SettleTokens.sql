-- Taskgate._SettleTokens: the one place that changes a definition's tokens: grant, give back, fit to the limit.
-- In:     @TaskDefinitionId int
--         @TaskExecutionId bigint: the asker; 0: none, the tokens are only fitted to the limit
--         @Want int 0..1000: hold up to this many afterwards (tokens held already count); null: don't grant
--         @Keep int: hold at most this many afterwards; null: don't give back
--         @OverLimitKeep int: give back down to this many, but only as many as are held above the limit; null: don't.
--           Where none are, but a denial is still unanswered: half of the tokens that the asker's process holds more
--           than the process with the fewest (than 0, if it holds at most one more). At most that one's part of the limit, less those that are
--           free. So a process keeps one at least. Only the process with the most, or with one less, gives within the first 2 s. For those who
--           were denied by a shared limit likewise (_SharedGift); of several limits the most that one of them asks for
--         @Shared: of _SharedIds, read before; the caller holds these rows. Tokens granted or freed here are so there, too, and no
--           more is granted than all of them allow. When the definition has others by now nothing is changed: ask again
--         @PlanStamp, @PlanCount, @PlanOffset, @PlanPiece, @PlanMore, @PlanUntil: of _PlanTokens, for the same asker, @Want and @Keep; null: no plan
-- Out:    @oOwn: tokens the execution holds now; @oGranted, @oFreed: how many were; @oHeld: by all, together (of the definition)
--         @oLimit: -1 none; @oTokenFence: grows with every grant; @oPaused; @oDead: dead holders found, once per limit
--         @oIsLive: 0: the asker's execution isn't live (any more), nothing was granted
--         @oGiven: freed for a denied execution. Until it asks again (_Reserved) they are for processes with few tokens: a
--           process gets no more than its part of the limit, and none that holds some more than the richest other one has
--         @oGivenTo: JSON array of the definitions of those who were denied by a shared limit; null: none were
-- Raises: 50404 unknown definition; 50499 damaged token string
-- Locks:  (SharedLimit, by the caller, and written here,) TaskDefinition, then TaskExecution: the asker's own, dead holders as
--         _DeadHolders; TokenGift; SharedTokenDemand ascending. Joins the caller's transaction
-- Isolation: the definition's key lock is held to the end, so everything that decides is read under it; of other
--         executions only unlocked rows are read or locked: a live holder's own call is never waited for.
--         A plan counts only with the stamp that it was made by: every change of tokens or limit is made here or in _ChangeLimit, under the lock,
--         with a new stamp. Of two callers with plans by stamp 7, both for the last free token: A locks the row, finds 7, writes its entry, makes 8 of it
--         and commits; B, in line behind A, finds 8, plans again under the lock, finds no token free and grants none. Did A end between B's read
--         and B's lock, it is the same; did it come behind B's lock, A is the one that finds 8. Nobody gives the row up to plan again: that would lose
--         its place in the line. A plan that found too few free tokens and no dead holder counts until the first of their leases ends
-- Plan:   primary keys only; lock, read, write. XLOCK takes the key as a first write would, and makes neither a version of the row nor a log
--         record: a call that changes nothing commits nothing. With a plan the list isn't read; else it is parsed once, and of both what
--         changes is written. Dead holders, tokens above the limit, reserved ones and a new limit: the list is written from its first to its last change, or
--         whole where its length changes. Joins are loops in the written order
-- Twin:   postgres/sql/functions/_settle_tokens.sql
CREATE OR ALTER PROCEDURE Taskgate._SettleTokens
  @TaskDefinitionId int, @TaskExecutionId bigint, @Want int = NULL, @Keep int = NULL, @OverLimitKeep int = NULL, @Shared nvarchar(max),
  @oOwn int = NULL OUTPUT, @oGranted int = NULL OUTPUT, @oFreed int = NULL OUTPUT, @oHeld int = NULL OUTPUT, @oLimit int = NULL OUTPUT,
  @oTokenFence bigint = NULL OUTPUT, @oPaused bit = NULL OUTPUT, @oDead int = NULL OUTPUT, @oIsLive bit = NULL OUTPUT,
  @oGiven int = NULL OUTPUT, @oGivenTo nvarchar(max) = NULL OUTPUT,
  @PlanStamp bigint = NULL, @PlanCount int = NULL, @PlanOffset int = NULL, @PlanPiece varchar(max) = NULL,
  @PlanMore nvarchar(max) = NULL, @PlanUntil datetime2(3) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(3), @vName nvarchar(200), @vTokens nvarchar(max), @vCount int, @vFence bigint, @vMessage nvarchar(2048),
          @vShared nvarchar(max), @vRoom int, @vOverLimit int = 0, @vSharedDead int = 0, @vNeed int,
          @vLeaseMs int, @vWorker nvarchar(200), @vDeniedAt datetime2(3), @vMine int, @vOthers int, @vPoorest int, @vRichest int,
          @vPart int, @vGift int, @vSharedGift int = 0, @vAsking nvarchar(max), @vHolders nvarchar(max), @vDead nvarchar(max),
          @vIsDamaged bit, @vIsWhole bit = 0, @vMissing int, @vIsPlanned bit, @vHeld int, @vList varchar(max), @vBytes bigint, @vOffset int,
          @vFirst int, @vLast int;
  DECLARE @vToken TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, TokenId uniqueidentifier NULL, IsHeld bit NULL, Grantee bigint NULL, IsChanged bit NOT NULL);
  DECLARE @vMore TABLE (Offset int NOT NULL PRIMARY KEY CLUSTERED, Piece varchar(max) NOT NULL);
  DECLARE @vFree TABLE (SharedLimitId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vGivenTo TABLE (TaskDefinitionId int NULL);

  SELECT @oOwn = 0, @oGranted = 0, @oFreed = 0, @oHeld = 0, @oDead = 0, @oIsLive = 1, @oGiven = 0, @oGivenTo = NULL;
  SELECT @vName = d.Name
  FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, XLOCK, HOLDLOCK) -- one key, kept to the end; waiters in order of arrival
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  IF @vName IS NULL
  BEGIN
    SET @vMessage = N'task_definition_id: unknown (' + COALESCE(CONVERT(nvarchar(11), @TaskDefinitionId), N'<NULL>') + N')';
    THROW 50404, @vMessage, 1;
  END;
  SELECT @vFence = d.TokenFence, @vHeld = d.HeldCount, @vIsPlanned = CASE d.TokenStamp WHEN @PlanStamp THEN 1 ELSE 0 END, @vBytes = DATALENGTH(d.ExecutionTokens), @oPaused = d.Paused, @vLeaseMs = d.LeaseMs,
         @oLimit = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit), @vShared = Taskgate._SharedIds(d.TaskDefinitionId)
  FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is now, not a version of it
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  SELECT @oTokenFence = @vFence, @vNow = SYSUTCDATETIME(); -- after the wait: a holder's lease may have ended meanwhile
  IF @TaskExecutionId <> 0
  BEGIN
    SELECT @vCount = e.TokenCount, @vWorker = e.Worker
    FROM Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK) -- no call declares it dead until commit
    WHERE e.TaskExecutionId = @TaskExecutionId AND e.State = 1;
    SELECT @oIsLive = CASE WHEN @vCount IS NULL THEN 0 ELSE 1 END, @oOwn = COALESCE(@vCount, 0);
    IF @vShared <> @Shared RETURN; -- a registration came between: these rows aren't the ones to decide by
    IF @Shared <> N''
    BEGIN
      SET @vNeed = CASE WHEN @Want > @oOwn THEN @Want - @oOwn ELSE 0 END;
      EXEC Taskgate._SettleShared @Shared = @Shared, @TaskExecutionId = @TaskExecutionId, @Need = @vNeed, @Own = NULL,
        @oRoom = @vRoom OUTPUT, @oOverLimit = @vOverLimit OUTPUT, @oDead = @oDead OUTPUT;
      IF @Want > @oOwn + @vRoom SET @Want = @oOwn + @vRoom; -- a null room is any number
      IF @Want > @oOwn
      BEGIN
        SELECT @vRoom = r.Room FROM Taskgate._SharedRoom(@TaskDefinitionId, @vWorker, @vNow) AS r;
        IF @Want > @oOwn + @vRoom SET @Want = @oOwn + @vRoom;
      END;
      IF @oIsLive = 1 AND @OverLimitKeep IS NOT NULL AND @vOverLimit = 0 AND Taskgate._OverLimit(@TaskDefinitionId) = 0
      BEGIN
        SELECT @vSharedGift = COALESCE(g.Gift, 0), @vAsking = g.Shared
        FROM Taskgate._SharedGift(@TaskDefinitionId, @vLeaseMs, @vWorker, @vNow) AS g;
      END;
    END;
  END;

  IF @OverLimitKeep IS NOT NULL AND @oIsLive = 1
  BEGIN
    IF @vBytes > 0
    BEGIN
      SELECT @vTokens = d.ExecutionTokens FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) WHERE d.TaskDefinitionId = @TaskDefinitionId; -- ours already
      SELECT @vHeld = COUNT(*) FROM Taskgate._ReadTokens(@vTokens) AS t WHERE t.IsHeld = 1;
    END;
    IF @oLimit <> -1 AND @vHeld - @oLimit > @vOverLimit SET @vOverLimit = @vHeld - @oLimit;
    IF @oLimit <> -1 AND @vOverLimit <= 0
      SELECT @vDeniedAt = q.DeniedAt FROM Taskgate._OpenDemand(@TaskDefinitionId, @vLeaseMs, @vNow) AS q;
    IF @vDeniedAt IS NOT NULL
    BEGIN
      SELECT @vMine = h.Mine, @vOthers = h.Others, @vRichest = h.Richest,
             @vPoorest = CASE WHEN h.Mine - h.Poorest >= 2 THEN h.Poorest ELSE 0 END
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is now; the key is ours already
      CROSS APPLY Taskgate._Shares(d.ExecutionTokens, d.TokenList, @TaskDefinitionId, @vWorker) AS h
      WHERE d.TaskDefinitionId = @TaskDefinitionId;
      IF @vRichest - @vMine < 2 OR @vDeniedAt <= DATEADD(SECOND, -2, @vNow)
      BEGIN
        SET @vPart = @vOthers + CASE @vPoorest WHEN 0 THEN 2 ELSE 1 END;
        SET @vPart = (@oLimit + @vPart - 1) / @vPart;
        SET @vGift = CASE WHEN (@vMine - @vPoorest) / 2 < @vPart - @vPoorest THEN (@vMine - @vPoorest) / 2
                          ELSE @vPart - @vPoorest END - (@oLimit - @vHeld);
      END;
      IF @vGift > 0 SET @vOverLimit = @vGift;
    END;
    IF @vSharedGift > @vOverLimit SET @vOverLimit = @vSharedGift;
    IF @vOverLimit > 0 OR @oLimit <> -1 -- none above the limit: all that it has
      SET @Keep = CASE WHEN @oOwn - @vOverLimit > @OverLimitKeep THEN @oOwn - @vOverLimit ELSE @OverLimitKeep END;
  END;
  IF @oLimit <= 0 OR @vBytes > 0 OR @oIsLive = 0 OR @Keep IS NULL AND (@Want IS NULL OR @oPaused = 1)
    SET @vIsPlanned = 0;
  ELSE IF @vIsPlanned = 0 OR @vShared <> N'' OR @PlanUntil < @vNow
  BEGIN
    EXEC Taskgate._PlanTokens @TaskDefinitionId = @TaskDefinitionId, @TaskExecutionId = @TaskExecutionId, @Want = @Want, @Keep = @Keep,
      @oStamp = @PlanStamp OUTPUT, @oCount = @PlanCount OUTPUT, @oOffset = @PlanOffset OUTPUT, @oPiece = @PlanPiece OUTPUT,
      @oMore = @PlanMore OUTPUT;
    SET @vIsPlanned = CASE WHEN @PlanStamp IS NULL THEN 0 ELSE 1 END;
  END;

  IF @oLimit = -1 -- no limit: a counter stands in for the string
  BEGIN
    IF @oIsLive = 1 AND @Want > @oOwn AND @oPaused = 0
    BEGIN
      SET @oGranted = @Want - @oOwn;
      SELECT @oOwn = @Want, @oTokenFence = @vFence + 1;
    END;
    ELSE IF @Keep < @oOwn
    BEGIN
      SET @oFreed = @oOwn - @Keep;
      SET @oOwn = @Keep;
    END;
    IF @oTokenFence <> @vFence
      UPDATE d
      SET TokenFence = @oTokenFence
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
      WHERE d.TaskDefinitionId = @TaskDefinitionId;
  END;
  ELSE IF @vIsPlanned = 1
  BEGIN
    IF @PlanCount > 0
    BEGIN
      IF @Want IS NULL SET @oFreed = @PlanCount;
      ELSE SELECT @oGranted = @PlanCount, @oTokenFence = @vFence + 1;
      SELECT @oOwn = @oOwn + @oGranted - @oFreed,
             @vList = REPLACE(@PlanPiece COLLATE Latin1_General_100_BIN2_UTF8, '??????????????????',
               RIGHT('000000000000000000' + CONVERT(varchar(20), @TaskExecutionId), 18));
      UPDATE d
      SET TokenFence = @oTokenFence, TokenStamp = d.TokenStamp + 1, HeldCount = d.HeldCount + @oGranted - @oFreed,
          TokenList.WRITE(@vList, @PlanOffset, DATALENGTH(@vList)) -- as many bytes as stand there
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
      WHERE d.TaskDefinitionId = @TaskDefinitionId;
      IF @PlanMore IS NOT NULL
      BEGIN
        INSERT INTO @vMore (Offset, Piece)
        SELECT j.Offset, REPLACE(CONVERT(varchar(max), SUBSTRING(j.Entries, 2, DATALENGTH(j.Entries) / 2 - 2)) COLLATE Latin1_General_100_BIN2_UTF8,
                 '??????????????????', RIGHT('000000000000000000' + CONVERT(varchar(20), @TaskExecutionId), 18))
        FROM OPENJSON(@PlanMore) WITH (Offset int N'$[0]', Entries nvarchar(max) N'$[1]' AS JSON) AS j;
        SELECT @vOffset = MIN(m.Offset) FROM @vMore AS m;
        WHILE @vOffset IS NOT NULL
        BEGIN
          SELECT @vList = m.Piece FROM @vMore AS m WHERE m.Offset = @vOffset;
          UPDATE d
          SET TokenList.WRITE(@vList, @vOffset, DATALENGTH(@vList)) -- as many bytes as stand there
          FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
          WHERE d.TaskDefinitionId = @TaskDefinitionId;
          SELECT @vOffset = MIN(m.Offset) FROM @vMore AS m WHERE m.Offset > @vOffset;
        END;
      END;
    END;
    ELSE IF @vGift IS NOT NULL
      UPDATE d
      SET TokenStamp = d.TokenStamp + 1 -- what is free is reserved now: a plan of before counts no more
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
      WHERE d.TaskDefinitionId = @TaskDefinitionId;
    SET @oHeld = @vHeld + @oGranted - @oFreed;
  END;
  ELSE
  BEGIN
    SELECT @vTokens = d.ExecutionTokens, @vList = d.TokenList
    FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is now; the key is ours already
    WHERE d.TaskDefinitionId = @TaskDefinitionId;
    IF @vBytes = 0 AND DATALENGTH(@vList) > 0 AND DATALENGTH(@vList) <> 66 * @oLimit + 1 AND ISJSON(CONVERT(nvarchar(max), @vList)) = 0
      SET @vIsDamaged = 1; -- looked at only where the limit was changed, or somebody changed the list by hand
    ELSE
    BEGIN
      INSERT INTO @vToken (Ord, TokenId, IsHeld, Grantee, IsChanged)
      SELECT t.Ord, t.TokenId, t.IsHeld, t.Grantee, 0 FROM Taskgate._TokenEntries(@vTokens, @vList) AS t;
      SELECT @oOwn = COALESCE(SUM(CASE WHEN t.IsHeld = 1 AND t.Grantee = @TaskExecutionId THEN 1 ELSE 0 END), 0),
             @oHeld = COALESCE(SUM(CASE t.IsHeld WHEN 1 THEN 1 ELSE 0 END), 0),
             @vIsDamaged = MAX(CASE WHEN t.TokenId IS NULL OR t.IsHeld IS NULL OR t.Grantee IS NULL THEN 1 ELSE 0 END), @vCount = COUNT(*)
      FROM @vToken AS t;
      IF @vBytes = 0 AND DATALENGTH(@vList) > 0 AND DATALENGTH(@vList) <> 66 * @vCount + 1 SET @vIsDamaged = 1;
    END;
    IF @vIsDamaged = 1
    BEGIN
      SET @vMessage = N'execution_tokens: not a list of I:,S:,G: triples ('
        + REPLACE(LEFT(CASE @vBytes WHEN 0 THEN CONVERT(nvarchar(max), @vList) ELSE @vTokens END, 200), N'%', N'%%')
        + N') in definition ' + REPLACE(@vName, N'%', N'%%');
      THROW 50499, @vMessage, 1;
    END;

    -- 1. Give back what the asker no longer wants to hold, last granted first.
    IF @Keep < @oOwn
    BEGIN
      SET @vCount = @oOwn - @Keep;
      WITH LastHeld AS (
        SELECT TOP (@vCount) t.IsHeld, t.IsChanged FROM @vToken AS t
        WHERE t.IsHeld = 1 AND t.Grantee = @TaskExecutionId ORDER BY t.Ord DESC)
      UPDATE LastHeld SET IsHeld = 0, IsChanged = 1;
      SELECT @oFreed = @@ROWCOUNT, @oOwn = @oOwn - @@ROWCOUNT, @oHeld = @oHeld - @@ROWCOUNT;
    END;

    -- 2. Dead holders, before any comparison with the limit: else a limit lowered below their number denies for ever.
    IF @oHeld > @oLimit OR @oLimit - @oHeld < @Want - @oOwn
    BEGIN
      SELECT @vHolders = N'[' + STRING_AGG(CONVERT(nvarchar(max), h.Grantee), N',') + N']'
      FROM (SELECT DISTINCT t.Grantee FROM @vToken AS t WHERE t.IsHeld = 1 AND t.Grantee <> @TaskExecutionId) AS h;
      EXEC Taskgate._DeadHolders @Holders = @vHolders, @TaskDefinitionId = @TaskDefinitionId, @SharedLimitId = NULL, @Now = @vNow,
        @oDead = @vDead OUTPUT;
      UPDATE t
      SET IsHeld = 0, TokenId = NEWID(), IsChanged = 1 -- a new id: what the old holder says of it matches nothing
      FROM OPENJSON(@vDead) AS j
      INNER JOIN @vToken AS t ON t.Grantee = CONVERT(bigint, j.[value])
      WHERE t.IsHeld = 1
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one pass per dead holder
      SET @oHeld = @oHeld - @@ROWCOUNT;
      SELECT @oDead = @oDead + COUNT(*) FROM OPENJSON(@vDead) AS j;
    END;

    -- 3. Fit the free ones to the limit: drop those that are too many, make those that are missing.
    SELECT @vCount = COUNT(*) - CASE WHEN @oHeld > @oLimit THEN @oHeld ELSE @oLimit END, @vMissing = @oLimit - COUNT(*)
    FROM @vToken AS t;
    IF @vCount > 0
    BEGIN
      WITH LastFree AS (SELECT TOP (@vCount) t.Ord FROM @vToken AS t WHERE t.IsHeld = 0 ORDER BY t.Ord DESC)
      DELETE FROM LastFree;
    END;
    IF @vMissing > 0
      INSERT INTO @vToken (Ord, TokenId, IsHeld, Grantee, IsChanged)
      SELECT m.LastOrd + n.N, NEWID(), 0, 0, 1
      FROM (SELECT COALESCE(MAX(t.Ord), -1) AS LastOrd FROM @vToken AS t) AS m
      CROSS JOIN Taskgate.Number AS n WITH (FORCESEEK) -- the first so many numbers
      WHERE n.N <= CONVERT(smallint, @vMissing)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek
    IF @vBytes > 0 OR @vCount > 0 OR @vMissing > 0 SET @vIsWhole = 1; -- another width, or another number of entries

    -- 4. Grant in list order; a part of the wish is a grant, too.
    IF @Want > @oOwn AND EXISTS (SELECT 1 FROM Taskgate._Reserved(@TaskDefinitionId, @vNow) AS g)
    BEGIN
      SELECT @vMine = h.Mine, @vRichest = h.Richest, @vPart = (@oLimit + h.Others) / (h.Others + 1) -- rounded up
      FROM Taskgate._Shares(@vTokens, @vList, @TaskDefinitionId, @vWorker) AS h;
      IF @vMine > 0 AND @vPart > @vRichest SET @vPart = @vRichest;
      SET @vCount = @oOwn + CASE WHEN @vPart > @vMine THEN @vPart - @vMine ELSE 0 END;
      IF @Want > @vCount SET @Want = @vCount;
    END;
    IF @Want > @oOwn AND @oIsLive = 1 AND @oPaused = 0
    BEGIN
      SET @vCount = CASE WHEN @Want - @oOwn < @oLimit - @oHeld THEN @Want - @oOwn ELSE @oLimit - @oHeld END;
      IF @vCount > 0
      BEGIN
        WITH NextFree AS (SELECT TOP (@vCount) t.IsHeld, t.Grantee, t.IsChanged FROM @vToken AS t WHERE t.IsHeld = 0 ORDER BY t.Ord)
        UPDATE NextFree SET IsHeld = 1, Grantee = @TaskExecutionId, IsChanged = 1;
        SELECT @oGranted = @@ROWCOUNT, @oOwn = @oOwn + @@ROWCOUNT, @oHeld = @oHeld + @@ROWCOUNT, @oTokenFence = @vFence + 1;
      END;
    END;

    SELECT @vFirst = MIN(t.Ord), @vLast = MAX(t.Ord) FROM @vToken AS t WHERE t.IsChanged = 1;
    IF @vIsWhole = 1 OR @vFirst IS NOT NULL -- a denial changes nothing
    BEGIN
      SELECT @vList = '"' + STRING_AGG(CONVERT(varchar(max), 'I:' + LOWER(CONVERT(char(36), t.TokenId))
               + ',S:' + CASE t.IsHeld WHEN 1 THEN '0' ELSE '1' END + ',G:' + RIGHT('000000000000000000' + CONVERT(varchar(20), t.Grantee), 18)), '","')
               WITHIN GROUP (ORDER BY t.Ord) + '"'
      FROM @vToken AS t
      WHERE @vIsWhole = 1 OR t.Ord BETWEEN @vFirst AND @vLast;
      IF @vIsWhole = 1
        UPDATE d
        SET TokenFence = @oTokenFence, TokenStamp = d.TokenStamp + 1, HeldCount = @oHeld, TokenList = COALESCE('[' + @vList + ']', ''), ExecutionTokens = N''
        FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
        WHERE d.TaskDefinitionId = @TaskDefinitionId;
      ELSE
        UPDATE d
        SET TokenFence = @oTokenFence, TokenStamp = d.TokenStamp + 1, HeldCount = @oHeld,
            TokenList.WRITE(@vList, 1 + 66 * @vFirst, DATALENGTH(@vList)) -- as many bytes as stand there
        FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
        WHERE d.TaskDefinitionId = @TaskDefinitionId;
    END;
  END;
  IF @vGift IS NOT NULL AND @oHeld < @oLimit -- a denied execution finds some now
  BEGIN
    SET @oGiven = @oFreed;
    UPDATE g
    SET GivenAt = @vNow
    FROM Taskgate.TokenGift AS g WITH (ROWLOCK, UPDLOCK) -- one row, written under the definition's lock only
    WHERE g.TaskDefinitionId = @TaskDefinitionId;
  END;
  IF @oIsLive = 1 AND (@oGranted > 0 OR @oFreed > 0)
  BEGIN
    UPDATE e
    SET TokenCount = @oOwn, HeldMs = e.HeldMs + e.TokenCount * DATEDIFF_BIG(MILLISECOND, COALESCE(e.TokensAt, e.StartedAt), @vNow), TokensAt = @vNow
    FROM Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK) -- the row is ours already
    WHERE e.TaskExecutionId = @TaskExecutionId;
    IF @Shared <> N''
      EXEC Taskgate._SettleShared @Shared = @Shared, @TaskExecutionId = @TaskExecutionId, @Need = 0, @Own = @oOwn,
        @oRoom = @vRoom OUTPUT, @oOverLimit = @vOverLimit OUTPUT, @oDead = @vSharedDead OUTPUT;
  END;
  IF @vAsking IS NOT NULL -- a denied execution finds some now
  BEGIN
    INSERT INTO @vFree (SharedLimitId)
    SELECT s.SharedLimitId
    FROM OPENJSON(N'[' + @vAsking + N']') AS j
    INNER JOIN Taskgate.SharedLimit AS s ON s.SharedLimitId = CONVERT(int, j.[value])
    WHERE (DATALENGTH(s.ExecutionTokens) - DATALENGTH(REPLACE(s.ExecutionTokens COLLATE Latin1_General_100_BIN2, N'S:0', N''))) / 6
      < COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per limit
    UPDATE q
    SET GivenAt = @vNow
    OUTPUT inserted.TaskDefinitionId INTO @vGivenTo (TaskDefinitionId)
    FROM @vFree AS f
    INNER JOIN Taskgate.SharedTokenDemand AS q WITH (ROWLOCK, UPDLOCK) -- written under the limit's lock only; a denial holds it for a statement
      ON q.SharedLimitId = f.SharedLimitId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per limit, ascending
    SELECT @oGivenTo = N'[' + STRING_AGG(CONVERT(nvarchar(max), g.TaskDefinitionId), N',') + N']' FROM @vGivenTo AS g;
    IF @oGivenTo IS NOT NULL SET @oGiven = @oFreed;
  END;
END;
