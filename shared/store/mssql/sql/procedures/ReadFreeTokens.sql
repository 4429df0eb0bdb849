-- Taskgate.ReadFreeTokens: how many tokens a worker that asks now could be granted, and whether a task waits for it. A caller that has
-- added tasks asks after its commit, before it wakes a worker. A call that frees tokens looks for ready tasks after its own. So one of the two
-- sees the other: either the caller finds a token free, or that call finds the task.
-- In:     @Name; @SinceFence bigint: of an earlier answer, or null
-- Out:    Status: read | unknown (no such definition); Free: tokens, by the shared limits, too, up to 1000; those of a holder whose lease is
--         over count, and those reserved for others. 0 while paused. null: no limit. Ready: tasks that are ready, or 1 for due ones, up to 100; 0 where Free is 0 or null;
--         an entry that is being claimed isn't counted
--         CrowdedOut: others hold all tokens of a shared limit, and no live execution of this definition holds any. A worker that asks is
--         given one, so Free is 1
--         Grants: calls that granted tokens since that fence, up to 1000; TokenFence: for the next call
-- Raises: 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  none
-- Isolation: plain reads as of the last commit; without row versions they wait for a call that is changing tokens, limit or pause
-- Plan:   unique name, primary keys; the definition's open executions where the count says that no token is free. Ready and due tasks
--         are counted from the last entries on
-- Once:   a read
-- Twin:   postgres/sql/functions/read_free_tokens.sql
CREATE OR ALTER PROCEDURE Taskgate.ReadFreeTokens
  @Name nvarchar(max), @SinceFence bigint = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vName nvarchar(200), @vDefinition int, @vPaused bit, @vFence bigint, @vLimit int, @vHeld int,
          @vShared nvarchar(max), @vSharedFree int, @vSharedLeast int, @vFree int, @vReady int = 0, @vCrowdedOut bit = 0, @vGrants int = 0;
  -- A name that is too long or ends in blanks matches no row; a comparison would truncate it.
  IF DATALENGTH(@Name) <= 400 AND DATALENGTH(@Name) = DATALENGTH(RTRIM(@Name)) SET @vName = @Name;
  SELECT @vDefinition = d.TaskDefinitionId, @vPaused = d.Paused, @vFence = d.TokenFence, @vLimit = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit),
         @vHeld = d.HeldCount, @vShared = Taskgate._SharedIds(d.TaskDefinitionId)
  FROM Taskgate.TaskDefinition AS d
  WHERE d.Name = @vName;
  IF @vFence > @SinceFence SET @vGrants = CASE WHEN @vFence - @SinceFence > 1000 THEN 1000 ELSE @vFence - @SinceFence END;
  IF @vPaused = 1
    SET @vFree = 0;
  ELSE IF @vLimit <> -1
  BEGIN
    SET @vFree = @vLimit - @vHeld;
    IF @vFree <= 0
      SELECT @vFree = @vFree + COALESCE(SUM(e.TokenCount), 0)
      FROM Taskgate.TaskExecution AS e WITH (FORCESEEK) -- the definition's open ones
      WHERE e.TaskDefinitionId = @vDefinition AND e.State = 1 AND e.LeaseUntil < @vNow;
    SET @vFree = CASE WHEN @vFree < 0 THEN 0 WHEN @vFree > 1000 THEN 1000 ELSE @vFree END;
  END;
  ELSE IF @vShared <> N''
    SET @vFree = 1000;
  IF @vShared <> N'' AND @vFree > 0
  BEGIN
    SELECT @vSharedFree = MIN(CASE WHEN u.Live >= u.TaskLimit THEN 0 ELSE u.TaskLimit - u.Live END), @vSharedLeast = MIN(u.TaskLimit)
    FROM Taskgate._SharedUse(@vDefinition, @vNow) AS u
    WHERE u.TaskLimit <> -1;
    IF @vSharedFree = 0 AND @vSharedLeast > 0
      IF NOT EXISTS (
        SELECT 1 FROM Taskgate.TaskExecution AS e WITH (FORCESEEK) -- the definition's open ones
        WHERE e.TaskDefinitionId = @vDefinition AND e.State = 1 AND e.LeaseUntil >= @vNow AND e.TokenCount > 0)
        SELECT @vSharedFree = 1, @vCrowdedOut = 1;
    IF @vSharedFree < @vFree SET @vFree = @vSharedFree;
  END;
  IF @vFree > 0
  BEGIN
    SELECT @vReady = COUNT(*)
    FROM (SELECT TOP (100) r.TaskId
          FROM Taskgate.Ready AS r WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- the last entries; versions or not, no wait
          WHERE r.TaskDefinitionId = @vDefinition
          ORDER BY r.Priority DESC, r.Rank DESC, r.TaskId DESC) AS c;
    IF @vReady = 0
      SELECT @vReady = COUNT(*)
      FROM (SELECT TOP (1) s.TaskId
            FROM Taskgate.Scheduled AS s WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- as above
            WHERE s.TaskDefinitionId = @vDefinition AND s.RunAt <= @vNow
            ORDER BY s.RunAt DESC) AS c;
  END;
  SELECT CASE WHEN @vDefinition IS NULL THEN N'unknown' ELSE N'read' END AS [Status], @vFree AS [Free], @vReady AS [Ready],
         @vCrowdedOut AS [CrowdedOut], @vGrants AS [Grants], @vFence AS [TokenFence];
END;
