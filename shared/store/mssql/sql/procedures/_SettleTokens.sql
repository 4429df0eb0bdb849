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
-- Out:    @oOwn: tokens the execution holds now; @oGranted, @oFreed: how many were; @oHeld: by all, together (of the definition)
--         @oLimit: -1 none; @oTokenFence: grows with every grant; @oPaused; @oDead: dead holders found, once per limit
--         @oIsLive: 0: the asker's execution isn't live (any more), nothing was granted
--         @oGiven: freed for a denied execution. Until it asks again (_Reserved) they are for processes with few tokens: a
--           process gets no more than its part of the limit, and none that holds some more than the richest other one has
--         @oGivenTo: JSON array of the definitions of those who were denied by a shared limit; null: none were
-- Raises: 50404 unknown definition; 50499 damaged token string, or two rows for one place
-- Locks:  (SharedLimit, by the caller, and written here,) TaskDefinition, then TaskExecution: the asker's own, dead holders as
--         _DeadHolders; Token: rows of this definition, which nobody else may change; TokenGift; SharedTokenDemand ascending. Joins the caller's transaction
-- Isolation: the definition's key lock is held to the end, so everything that decides is read under it; of other
--         executions only unlocked rows are read or locked: a live holder's own call is never waited for.
--         Of two callers for the last free token: A locks the row, moves the token under its own key, counts and commits; B, in line behind
--         A, reads HeldCount as A left it, looks for dead holders, finds no free row and grants none. No grant rests on one guard alone: it
--         takes rows that are free, and no more than limit less HeldCount. Rows of tokens are read for a decision under that lock only:
--         a row that moves is another key's for a moment, and a reader without the lock may see it twice or not at all
-- Plan:   primary keys only; lock, read, write. XLOCK takes the key as a first write would, and makes neither a version of the row nor a log
--         record: a call that changes nothing commits nothing. Free tokens and own ones are ranges of PK_Token, read from one end as far as
--         they are wanted; at most 1,000 places are in a range, so deleted entries that a seek steps over are few. Where too few are
--         free, and for gifts and reserved ones, the definition's range is read: 6 pages at 1,000 tokens. Joins are loops in the written order
-- Twin:   postgres/sql/functions/_settle_tokens.sql, where the tokens are a string: a change writes the definition's row whole there anyway
CREATE OR ALTER PROCEDURE Taskgate._SettleTokens
  @TaskDefinitionId int, @TaskExecutionId bigint, @Want int = NULL, @Keep int = NULL, @OverLimitKeep int = NULL, @Shared nvarchar(max),
  @oOwn int = NULL OUTPUT, @oGranted int = NULL OUTPUT, @oFreed int = NULL OUTPUT, @oHeld int = NULL OUTPUT, @oLimit int = NULL OUTPUT,
  @oTokenFence bigint = NULL OUTPUT, @oPaused bit = NULL OUTPUT, @oDead int = NULL OUTPUT, @oIsLive bit = NULL OUTPUT,
  @oGiven int = NULL OUTPUT, @oGivenTo nvarchar(max) = NULL OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vNow datetime2(3), @vName nvarchar(200), @vCount int, @vFence bigint, @vMessage nvarchar(2048),
          @vShared nvarchar(max), @vRoom int, @vOverLimit int = 0, @vSharedDead int = 0, @vNeed int,
          @vLeaseMs int, @vWorker nvarchar(200), @vDeniedAt datetime2(3), @vMine int, @vOthers int, @vPoorest int, @vRichest int,
          @vPart int, @vGift int, @vSharedGift int, @vAsking nvarchar(max), @vDead int,
          @vHeld int, @vWantMax int, @vIsInRows bit, @vIsFitted bit = 0;
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
  SELECT @vFence = d.TokenFence, @vHeld = d.HeldCount, @oHeld = d.HeldCount, @oPaused = d.Paused, @vLeaseMs = d.LeaseMs,
         @vIsInRows = CASE WHEN d.ExecutionTokens = N'rows' THEN 1 ELSE 0 END,
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

  IF @vIsInRows = 0 AND @oLimit <> -1
  BEGIN
    EXEC Taskgate._MakeTokenRows @TaskDefinitionId = @TaskDefinitionId, @oHeld = @vHeld OUTPUT;
    SET @oHeld = @vHeld;
  END;
  IF @OverLimitKeep IS NOT NULL AND @oIsLive = 1
  BEGIN
    IF @oLimit <> -1 AND @vHeld - @oLimit > @vOverLimit SET @vOverLimit = @vHeld - @oLimit;
    IF @oLimit <> -1 AND @vOverLimit <= 0
      SELECT @vDeniedAt = q.DeniedAt FROM Taskgate._OpenDemand(@TaskDefinitionId, @vLeaseMs, @vNow) AS q;
    IF @vDeniedAt IS NOT NULL
    BEGIN
      SELECT @vMine = h.Mine, @vOthers = h.Others, @vRichest = h.Richest,
             @vPoorest = CASE WHEN h.Mine - h.Poorest >= 2 THEN h.Poorest ELSE 0 END
      FROM Taskgate._Shares(N'rows', NULL, @TaskDefinitionId, @vWorker) AS h;
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
  ELSE
  BEGIN
    -- 1. Give back what the asker no longer wants to hold, last granted first. One that isn't live holds none: who needs its tokens takes them.
    IF @Keep < @oOwn
    BEGIN
      WITH LastHeld AS (
        SELECT TOP (@oOwn - @Keep) t.HeldBy, t.LastHeldBy
        FROM Taskgate.Token AS t WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- the last entries of the execution's range
        WHERE t.TaskDefinitionId = @TaskDefinitionId AND t.HeldBy = @TaskExecutionId ORDER BY t.Ord DESC)
      UPDATE LastHeld SET HeldBy = 0, LastHeldBy = @TaskExecutionId;
      SELECT @oFreed = @@ROWCOUNT, @oOwn = @Keep, @oHeld = @oHeld - @@ROWCOUNT;
    END;
    -- 2. What is reserved for others: by the shares as they are before the dead are gone.
    IF @Want > @oOwn AND EXISTS (SELECT 1 FROM Taskgate._Reserved(@TaskDefinitionId, @vNow) AS g)
    BEGIN
      SELECT @vMine = h.Mine, @vRichest = h.Richest, @vPart = (@oLimit + h.Others) / (h.Others + 1) -- rounded up
      FROM Taskgate._Shares(N'rows', NULL, @TaskDefinitionId, @vWorker) AS h;
      IF @vMine > 0 AND @vPart > @vRichest SET @vPart = @vRichest;
      SET @vWantMax = @oOwn + CASE WHEN @vPart > @vMine THEN @vPart - @vMine ELSE 0 END;
    END;
    -- 3. Dead holders and the number of tokens, where too few are free, or they may be other than the limit says.
    IF @TaskExecutionId = 0 OR @vHeld > @oLimit OR @oLimit - @oHeld < @Want - @oOwn
    BEGIN
      SELECT @vIsFitted = 1, @vNeed = @Want - @oOwn;
      EXEC Taskgate._FitTokens @TaskDefinitionId = @TaskDefinitionId, @TaskExecutionId = @TaskExecutionId, @Limit = @oLimit, @Need = @vNeed, @Now = @vNow,
        @oHeld = @oHeld OUTPUT, @oDead = @vDead OUTPUT;
      SET @oDead = @oDead + @vDead;
    END;
    -- 4. Grant from the first free place on; a part of the wish is a grant, too.
    IF @Want > @vWantMax SET @Want = @vWantMax;
    IF @Want > @oOwn AND @oIsLive = 1 AND @oPaused = 0 AND @oHeld < @oLimit
    BEGIN
      SET @vCount = CASE WHEN @Want - @oOwn < @oLimit - @oHeld THEN @Want - @oOwn ELSE @oLimit - @oHeld END;
      WITH NextFree AS (
        SELECT TOP (@vCount) t.HeldBy
        FROM Taskgate.Token AS t WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- the first entries of the range of free ones
        WHERE t.TaskDefinitionId = @TaskDefinitionId AND t.HeldBy = 0 ORDER BY t.Ord)
      UPDATE NextFree SET HeldBy = @TaskExecutionId;
      SELECT @oGranted = @@ROWCOUNT, @oOwn = @oOwn + @@ROWCOUNT, @oHeld = @oHeld + @@ROWCOUNT,
             @oTokenFence = @vFence + CASE @@ROWCOUNT WHEN 0 THEN 0 ELSE 1 END;
      IF @oGranted < @vCount AND @vIsFitted = 0 -- rows or their count were changed by hand: the next call finds them in line
      BEGIN
        EXEC Taskgate._FitTokens @TaskDefinitionId = @TaskDefinitionId, @TaskExecutionId = @TaskExecutionId, @Limit = @oLimit, @Need = NULL, @Now = @vNow,
          @oHeld = @oHeld OUTPUT, @oDead = @vDead OUTPUT;
        SET @oDead = @oDead + @vDead;
      END;
    END;
    IF @oHeld <> @vHeld OR @oTokenFence <> @vFence -- a denial changes nothing
      UPDATE d
      SET TokenFence = @oTokenFence, HeldCount = @oHeld
      FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
      WHERE d.TaskDefinitionId = @TaskDefinitionId;
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
