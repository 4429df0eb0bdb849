-- Taskgate.Work: the hot path: completes some tasks and claims some, in one round trip and one commit.
-- In:     @TaskExecutionId bigint; @CallNumber bigint: 1, 2, 3 .. per execution: a repeat gets the first answer
--         @DoneTaskIds, @DoneFences: JSON arrays of ids of tasks that ended well, same length;
--         @DoneDurationsMs: JSON array of numbers or nulls, @DoneResults: JSON array of JSON texts or nulls: same length, or null
--         @StartedTaskIds: JSON array of ids of prefetched claims that were started meanwhile, or null
--         @Want int 0..1000; @After..: scan hint: look only at or after the last place claimed, and only for tasks due since two seconds ago; or null
--         @StartId uniqueidentifier: what the execution was started by, its @OperationId: a database that lost commits gives its number
--           again; null: not compared
-- Out:    Status: claimed | none | limited (no token, no room for another prefetched claim, or the rate: RetryInMs)
--                 | done (nothing was wanted) | paused | again (the answer of a call that was made before) | fenced | ended
--         Fence bigint: of all tasks claimed by this call
--         TaskIds, Attempts: joined by commas; Kinds, Payloads: JSON arrays; Extras: JSON array of null or
--           {checkpoint, trace, grouped, cancel, newer: enqueued by a newer build than this execution's, wave: it counts in one, solo: lost twice},
--           or null when all are null: all of the same length, in claim order
--         Started: the first so many count as started; the rest is prefetched until reported; LastPriority, LastRank: of the last task
--         RefusedTaskIds: completions that changed nothing, joined by commas, or null; LeaseMs: from now, null: not renewed
--         OverLimit: tokens held by all above the limit or a shared one; ReleaseRequested: none are, but one is wanted for a denied
--           execution (_IsAsked, _IsAskedShared): call ReleaseSurplus when some are idle; FreeTokens: for any worker, if no limit is shared
--         NextDueMs bigint: until the next scheduled task, when fewer were claimed than wanted or 128 due ones were made ready; 0: some are still due
--         RetryInMs bigint: the rate let fewer be claimed than wanted: until it lets another one; null: it didn't
--         Woken: JSON array of other definitions that got ready tasks; Opening: of batches to be pumped (PumpBatch); or null
-- Raises: 50409 a call number older than the last; 50413, 50422 a bad result; 50422 want or call number out of range, a task twice
--         in the list, lists of unequal length; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  TaskExecution (own), Task, Dedupe, TaskGroup ascending, waves as _EndInWaves; then Scheduled and TaskGroup by skip,
--         RateBucket by skip (only of a definition that has a rate: one probe tells), Ready by skip
-- Isolation: of two calls of one execution the second waits for the row, then answers `again` or goes on with the next number.
--         Two executions delete different Ready rows, as each skips what the other holds. The definition is read before
--         anything is locked: without row versions that read may wait for a call that changes its tokens
-- Plan:   primary keys; claims the first @Want unlocked entries of PK_Ready: the cost doesn't depend on the backlog. Is there a ready or
--         due task: the last entry tells. Joins are loops in the written order. Statements are counted: most of the time of a small
--         call goes there. One that completes some and claims some has at most 25, but for groups, waves, keys and a rate
-- Once:   completions by (task, fence); claims by call number
-- Twin:   postgres/sql/functions/work.sql, _claimed.sql, _keep_solo.sql
CREATE OR ALTER PROCEDURE Taskgate.Work
  @TaskExecutionId bigint, @CallNumber bigint,
  @DoneTaskIds nvarchar(max) = NULL, @DoneFences nvarchar(max) = NULL, @DoneDurationsMs nvarchar(max) = NULL,
  @DoneResults nvarchar(max) = NULL, @StartedTaskIds nvarchar(max) = NULL, @Want int = 0,
  @AfterPriority smallint = NULL, @AfterRank bigint = NULL, @AfterTaskId bigint = NULL,
  @StartId uniqueidentifier = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vWant int = COALESCE(@Want, 0),
          @vDoneCount int = 0, @vFenceCount int = 0, @vDurationCount int = 0, @vTaskCount int = 0, @vIsEmpty bit,
          @vDefinition int, @vOpenState tinyint, @vCallNumber bigint, @vTokenCount int, @vIsSolo bit, @vBuild bigint,
          @vLeaseMs int, @vPrefetchMax smallint, @vPaused bit, @vIsDue bit = 0, @vIsReady bit = 0, @vIsIdle bit = 0,
          @vHeldCount int, @vRunningCount int, @vEndedCount int, @vMax int, @vRest int, @vFirstSolo int, @vCount int, @vHasSolo bit,
          @vPromoted int, @vHasRate bit = 0, @vHasShared bit, @vFrom datetime2(6), @vIntervalUs bigint, @vPermitInMs bigint,
          @vRetryInMs bigint, @vAsksNextDue bit = 0, @vRetainDoneMs bigint, @vKeepPayload bit, @vWokenIds nvarchar(max) = N'[]',
          @vOpening nvarchar(max), @vStatus nvarchar(20), @vFence bigint, @vTaskIds nvarchar(max), @vKinds nvarchar(max),
          @vAttempts nvarchar(max), @vPayloads nvarchar(max), @vExtras nvarchar(max), @vStarted int = 0, @vLast int,
          @vLastPriority smallint, @vLastRank bigint, @vRefused nvarchar(max), @vAnswerLeaseMs int, @vWorker nvarchar(200),
          @vLeaseUntil datetime2(3), @vOverLimit int, @vFreeTokens int, @vReleaseRequested bit = 0;
  DECLARE @vList TABLE ( -- the lists side by side, by position; Lists: 1 a task stands there, 2 a fence, 4 a duration
    Ord int NOT NULL PRIMARY KEY CLUSTERED, Lists tinyint NOT NULL, Item nvarchar(max) NULL, TaskId bigint NULL, Fence bigint NULL,
    DurationMs int NULL, Result nvarchar(max) NULL, StartedTaskId bigint NULL);
  DECLARE @vHeld TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Fence bigint NOT NULL, Ordinal int NOT NULL, IsPrefetched bit NOT NULL);
  DECLARE @vTaken TABLE (
    Priority smallint NOT NULL, Rank bigint NOT NULL, TaskId bigint NOT NULL, IsSolo bit NOT NULL,
    PRIMARY KEY CLUSTERED (Priority, Rank, TaskId));
  DECLARE @vEnded Taskgate.EndedTaskList, @vReleased Taskgate.GroupedTaskList;

  IF @vWant NOT BETWEEN 0 AND 1000
  BEGIN
    SET @vMessage = N'want: expected 0..1000 (' + CONVERT(nvarchar(11), @vWant) + N')';
    THROW 50422, @vMessage, 1;
  END;
  BEGIN TRY
    IF @DoneTaskIds IS NOT NULL OR @DoneFences IS NOT NULL OR @DoneDurationsMs IS NOT NULL OR @StartedTaskIds IS NOT NULL
    BEGIN
      -- Each list is read once; a join of them by key might read one again for every entry of another.
      INSERT INTO @vList (Ord, Lists, Item, TaskId, Fence, DurationMs, Result, StartedTaskId)
      SELECT p.Ord, SUM(CASE p.Part WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 4 ELSE 0 END), MAX(CASE p.Part WHEN 1 THEN p.Item END),
             MAX(CASE p.Part WHEN 1 THEN TRY_CONVERT(bigint, p.Item) END), MAX(CASE p.Part WHEN 2 THEN TRY_CONVERT(bigint, p.Item) END),
             MAX(CASE p.Part WHEN 3 THEN TRY_CONVERT(int, p.Item) END), MAX(CASE p.Part WHEN 4 THEN p.Item END),
             MAX(CASE p.Part WHEN 5 THEN TRY_CONVERT(bigint, p.Item) END)
      FROM (
        SELECT 1 AS Part, CONVERT(int, j.[key]) AS Ord, j.[value] AS Item FROM OPENJSON(@DoneTaskIds) AS j
        UNION ALL
        SELECT 2, CONVERT(int, j.[key]), j.[value] FROM OPENJSON(@DoneFences) AS j
        UNION ALL
        SELECT 3, CONVERT(int, j.[key]), j.[value] FROM OPENJSON(@DoneDurationsMs) AS j
        UNION ALL
        SELECT 4, CONVERT(int, j.[key]), j.[value] FROM OPENJSON(@DoneResults) AS j
        UNION ALL
        SELECT 5, CONVERT(int, j.[key]), j.[value] FROM OPENJSON(@StartedTaskIds) AS j) AS p
      GROUP BY p.Ord;
    END;
    -- Settings first, with nothing locked, in two statements: a reader that holds one row must not wait for the other.
    SELECT @vDoneCount = n.Done, @vFenceCount = n.Fences, @vDurationCount = n.Durations, @vTaskCount = n.Tasks,
           @vDefinition = x.TaskDefinitionId, @vWorker = x.Worker,
           @vIsEmpty = CASE WHEN @vWant > 0 AND x.State = 1 AND x.CallNumber < @CallNumber AND n.Done = 0
                              AND @StartedTaskIds IS NULL THEN 1 ELSE 0 END
    FROM (
      SELECT COALESCE(SUM(l.Lists & 1), 0) AS Done, COALESCE(SUM(l.Lists & 2) / 2, 0) AS Fences,
             COALESCE(SUM(l.Lists & 4) / 4, 0) AS Durations,
             COUNT(DISTINCT l.TaskId) + COALESCE(MAX(CASE WHEN l.TaskId IS NULL THEN l.Lists & 1 ELSE 0 END), 0) AS Tasks
      FROM @vList AS l) AS n
    LEFT JOIN Taskgate.TaskExecution AS x ON x.TaskExecutionId = @TaskExecutionId AND (@StartId IS NULL OR x.OperationId = @StartId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek
    IF @vDoneCount <> @vFenceCount OR (@DoneDurationsMs IS NOT NULL AND @vDoneCount <> @vDurationCount)
    BEGIN
      SET @vMessage = N'done_fences: expected as many as done_task_ids (' + CONVERT(nvarchar(11), @vDoneCount) + N')';
      THROW 50422, @vMessage, 1;
    END;
    IF @CallNumber IS NULL OR @CallNumber < 1
    BEGIN
      SET @vMessage = N'call_number: expected 1 or more (' + COALESCE(CONVERT(nvarchar(20), @CallNumber), N'<NULL>') + N')';
      THROW 50422, @vMessage, 1;
    END;

    -- The probes of the queues never wait, so that this reader keeps nobody from the definition's row. From the far end: claims
    -- and promotions leave deleted entries at the near one, and a probe would step over all of them. With the scan hint only what
    -- became due in the last two seconds is looked at: a call without it has seen the rest, at most a second ago.
    SELECT @vLeaseMs = d.LeaseMs, @vLeaseUntil = DATEADD(MILLISECOND, d.LeaseMs, @vNow), @vPrefetchMax = d.PrefetchMax,
           @vPaused = d.Paused, @vRetainDoneMs = d.RetainDoneMs, @vKeepPayload = d.KeepPayload,
           @vHasRate = CASE WHEN @vWant > 0 AND EXISTS (
             SELECT 1 FROM Taskgate.RateBucket AS b WITH (INDEX (IX_RateBucket_Definition)) -- not the row: a claim may hold it
             WHERE b.TaskDefinitionId = d.TaskDefinitionId) THEN 1 ELSE 0 END,
           @vHasShared = CASE WHEN EXISTS (SELECT 1 FROM Taskgate.TaskDefinitionSharedLimit AS s WITH (FORCESEEK) -- one probe
             WHERE s.TaskDefinitionId = d.TaskDefinitionId) THEN 1 ELSE 0 END,
           @vOverLimit = CASE WHEN l.TaskLimit >= 0 AND d.HeldCount > l.TaskLimit THEN d.HeldCount - l.TaskLimit ELSE 0 END,
           @vFreeTokens = CASE WHEN d.HeldCount < l.TaskLimit THEN l.TaskLimit - d.HeldCount ELSE 0 END,
           @vIsDue = CASE WHEN @vWant > 0 AND (
             SELECT TOP (1) s.TaskId
             FROM Taskgate.Scheduled AS s WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- one probe; versions or not, no wait
             WHERE s.TaskDefinitionId = d.TaskDefinitionId AND s.RunAt <= @vNow
               AND s.RunAt > CASE WHEN @AfterTaskId IS NULL THEN CONVERT(datetime2(3), '0001-01-01') ELSE DATEADD(SECOND, -2, @vNow) END
             ORDER BY s.RunAt DESC) IS NOT NULL THEN 1 ELSE 0 END,
           @vIsReady = CASE WHEN @vIsEmpty = 1 AND (
             SELECT TOP (1) r.TaskId
             FROM Taskgate.Ready AS r WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- one probe; versions or not, no wait
             WHERE r.TaskDefinitionId = d.TaskDefinitionId
             ORDER BY r.Priority DESC, r.Rank DESC, r.TaskId DESC) IS NOT NULL THEN 1 ELSE 0 END
    FROM Taskgate.TaskDefinition AS d
    CROSS APPLY (SELECT COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit) AS TaskLimit) AS l
    WHERE d.TaskDefinitionId = @vDefinition;
    IF @vHasShared = 1 SELECT @vOverLimit = Taskgate._OverLimit(@vDefinition), @vFreeTokens = 0;
    -- An empty call that finds nothing writes nothing and takes no lock; the heartbeat renews the lease.
    IF @vIsEmpty = 1 AND (@vPaused = 1 OR (@vIsDue = 0 AND @vIsReady = 0))
      SELECT @vStatus = CASE @vPaused WHEN 1 THEN N'paused' ELSE N'none' END, @vAsksNextDue = 1, @vIsIdle = 1, @vFreeTokens = 0;
    IF @vIsIdle = 0
    BEGIN
      SELECT @vReleaseRequested = CASE WHEN @vOverLimit = 0 AND EXISTS (
               SELECT 1 FROM Taskgate._IsAsked(@vDefinition, @vLeaseMs, @vWorker, @vNow) AS q) THEN 1 ELSE 0 END,
             @vFreeTokens = CASE WHEN @vFreeTokens > 0 AND EXISTS (
               SELECT 1 FROM Taskgate._Reserved(@vDefinition, @vNow) AS g) THEN 0 ELSE @vFreeTokens END;
      IF @vHasShared = 1 AND @vOverLimit = 0 AND @vReleaseRequested = 0
        IF EXISTS (SELECT 1 FROM Taskgate._SharedDemand(@vDefinition, @vLeaseMs, @vNow) AS q WHERE q.OpenSince IS NOT NULL)
          IF EXISTS (SELECT 1 FROM Taskgate._IsAskedShared(@vDefinition, @vLeaseMs, @vWorker, @vNow) AS q) SET @vReleaseRequested = 1; -- counted only then
      BEGIN TRANSACTION;
      -- 1. The execution's own row: only its holder may change its claims.
      SELECT @vOpenState = x.State, @vCallNumber = x.CallNumber, @vTokenCount = x.TokenCount, @vIsSolo = x.IsSolo, @vBuild = x.Build,
             @vFence = CASE x.CallNumber WHEN @CallNumber THEN x.CallFence END,
             @vRefused = CASE x.CallNumber WHEN @CallNumber THEN x.CallRefused END,
             @vAnswerLeaseMs = CASE x.State WHEN 1 THEN @vLeaseMs END
      FROM Taskgate.TaskExecution AS x WITH (ROWLOCK, UPDLOCK) -- the row as it is now, kept to the end
      WHERE x.TaskExecutionId = @TaskExecutionId AND (@StartId IS NULL OR x.OperationId = @StartId);
      IF @vOpenState IS NULL OR @vOpenState <> 1
        SELECT @vStatus = CASE @vOpenState WHEN 2 THEN N'ended' ELSE N'fenced' END, @vFence = NULL, @vRefused = NULL,
               @vOverLimit = 0, @vReleaseRequested = 0, @vFreeTokens = 0;
      ELSE
      BEGIN
        IF @CallNumber < @vCallNumber
        BEGIN
          SET @vMessage = N'call_number: older than the last one (' + CONVERT(nvarchar(20), @CallNumber) + N')';
          THROW 50409, @vMessage, 1;
        END;
        IF @CallNumber = @vCallNumber
        BEGIN
          SELECT @vStatus = N'again', @vStarted = COALESCE(SUM(CASE c.IsPrefetched WHEN 0 THEN 1 ELSE 0 END), 0), @vLast = MAX(c.Ordinal)
          FROM Taskgate.Claim AS c WITH (FORCESEEK) -- the call's few rows
          WHERE c.TaskExecutionId = @TaskExecutionId AND c.Fence = @vFence;
          UPDATE x
          SET LeaseUntil = CASE WHEN x.LeaseUntil > @vLeaseUntil THEN x.LeaseUntil ELSE @vLeaseUntil END
          FROM Taskgate.TaskExecution AS x WITH (ROWLOCK, UPDLOCK) -- the row is ours already
          WHERE x.TaskExecutionId = @TaskExecutionId;
        END;
        ELSE
        BEGIN
          IF @vDoneCount > @vTaskCount
          BEGIN
            SELECT @vMessage = N'done_task_ids: expected each task once ('
                     + LEFT(STRING_AGG(l.Item, N',') WITHIN GROUP (ORDER BY l.Ord), 200) + N')'
            FROM @vList AS l;
            THROW 50422, @vMessage, 1;
          END;
          INSERT INTO @vHeld (TaskId, Fence, Ordinal, IsPrefetched)
          SELECT c.TaskId, c.Fence, c.Ordinal, c.IsPrefetched
          FROM Taskgate.Claim AS c WITH (FORCESEEK) -- the execution's few rows
          WHERE c.TaskExecutionId = @TaskExecutionId;
          -- 2. Completed tasks leave.
          IF @vDoneCount > 0
          BEGIN
            DELETE c
            OUTPUT deleted.TaskId, deleted.Fence, 10, l.DurationMs, l.Result INTO @vEnded (TaskId, Fence, Outcome, DurationMs, Result)
            FROM @vList AS l
            INNER JOIN @vHeld AS h ON h.TaskId = l.TaskId AND h.Fence = l.Fence
            INNER JOIN Taskgate.Claim AS c WITH (ROWLOCK, UPDLOCK) -- by the whole key; ours by the execution's row, so in any order
              ON c.TaskExecutionId = @TaskExecutionId AND c.Fence = h.Fence AND c.Ordinal = h.Ordinal
            OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per claim
            IF @@ROWCOUNT > 0
              EXEC Taskgate._EndTasks @Ended = @vEnded, @TaskExecutionId = @TaskExecutionId, @Now = @vNow, @Released = @vReleased,
                @oWoken = @vWokenIds OUTPUT, @oOpening = @vOpening OUTPUT, @RetainDoneMs = @vRetainDoneMs,
                @KeepPayload = @vKeepPayload;
          END;
          IF @StartedTaskIds IS NOT NULL
            UPDATE c
            SET IsPrefetched = 0
            FROM @vList AS l
            INNER JOIN @vHeld AS h ON h.TaskId = l.StartedTaskId AND h.IsPrefetched = 1
            INNER JOIN Taskgate.Claim AS c WITH (ROWLOCK, UPDLOCK) -- by the whole key; ours by the execution's row
              ON c.TaskExecutionId = @TaskExecutionId AND c.Fence = h.Fence AND c.Ordinal = h.Ordinal
            OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per claim

          -- 3. Claim: as many as wanted, as the tokens and their prefetched claims allow.
          SELECT @vHeldCount = n.Held, @vRunningCount = n.Running + s.Started, @vEndedCount = n.Ended,
                 @vIsSolo = CASE n.Held WHEN 0 THEN 0 ELSE @vIsSolo END,
                 @vMax = CASE WHEN @vWant > m.Rest THEN m.Rest ELSE @vWant END,
                 @vStatus = CASE WHEN @vWant = 0 THEN N'done' WHEN @vPaused = 1 THEN N'paused'
                                 WHEN m.Rest <= 0 THEN N'limited' ELSE N'none' END,
                 @vAsksNextDue = CASE WHEN @vWant > 0 AND @vPaused = 0 AND m.Rest > 0 AND (n.Held = 0 OR @vIsSolo = 0) THEN 1 ELSE 0 END
          FROM (
            SELECT COUNT(*) - COUNT(e.TaskId) AS Held, COUNT(e.TaskId) AS Ended,
                   COALESCE(SUM(CASE WHEN e.TaskId IS NULL AND h.IsPrefetched = 0 THEN 1 ELSE 0 END), 0) AS Running
            FROM @vHeld AS h
            LEFT JOIN @vEnded AS e ON e.TaskId = h.TaskId) AS n
          CROSS JOIN (
            SELECT COUNT(DISTINCT h.TaskId) AS Started -- the copy doesn't know of them yet
            FROM @vList AS l
            INNER JOIN @vHeld AS h ON h.TaskId = l.StartedTaskId AND h.IsPrefetched = 1
            LEFT JOIN @vEnded AS e ON e.TaskId = h.TaskId
            WHERE e.TaskId IS NULL) AS s
          CROSS APPLY (SELECT @vTokenCount * (1 + @vPrefetchMax) - n.Held AS Rest) AS m
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per claim
          IF @vEndedCount < @vDoneCount
            SELECT @vRefused = STRING_AGG(l.Item, N',') WITHIN GROUP (ORDER BY l.Ord)
            FROM @vList AS l
            WHERE NOT EXISTS (SELECT 1 FROM @vEnded AS e WHERE e.TaskId = l.TaskId)
            OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per task
          IF @vStatus = N'none' AND @vIsSolo = 0
          BEGIN
            IF @vIsDue = 1
            BEGIN
              SET @vRest = CASE WHEN @vMax > 128 THEN 2 * @vMax ELSE 256 END;
              EXEC Taskgate._Promote @TaskDefinitionId = @vDefinition, @Max = @vRest, @Now = @vNow,
                @oPromoted = @vPromoted OUTPUT;
            END;
            IF @vHasRate = 1 -- last of all that is locked: others skip it, and nothing is waited for while it is held
              EXEC Taskgate._CountPermits @TaskDefinitionId = @vDefinition, @Want = @vMax, @oAllowed = @vMax OUTPUT,
                @oFrom = @vFrom OUTPUT, @oIntervalUs = @vIntervalUs OUTPUT, @oRetryInMs = @vPermitInMs OUTPUT;
            IF @vMax = 0
              SELECT @vStatus = N'limited', @vRetryInMs = @vPermitInMs, @vAsksNextDue = 0;
            ELSE IF @AfterTaskId IS NULL
            BEGIN
              WITH NextReady AS (
                SELECT TOP (@vMax) r.Priority, r.Rank, r.TaskId, r.IsSolo
                FROM Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK, INDEX (PK_Ready)) -- keep them, skip others', in key order
                WHERE r.TaskDefinitionId = @vDefinition
                ORDER BY r.Priority, r.Rank, r.TaskId)
              DELETE FROM NextReady
              OUTPUT deleted.Priority, deleted.Rank, deleted.TaskId, deleted.IsSolo INTO @vTaken (Priority, Rank, TaskId, IsSolo)
              OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@vMax = 100)); -- a seek without a sort
            END;
            ELSE
            BEGIN
              -- At or after a place: three ranges of the key in order, each an exact seek. One range with a test behind it would
              -- step over every deleted entry of that priority, and might keep locks on rows it doesn't take.
              WITH NextReady AS (
                SELECT TOP (@vMax) r.Priority, r.Rank, r.TaskId, r.IsSolo
                FROM Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK, INDEX (PK_Ready)) -- keep them, skip others', in key order
                WHERE r.TaskDefinitionId = @vDefinition AND r.Priority = @AfterPriority AND r.Rank = @AfterRank
                  AND r.TaskId >= @AfterTaskId
                ORDER BY r.Priority, r.Rank, r.TaskId)
              DELETE FROM NextReady
              OUTPUT deleted.Priority, deleted.Rank, deleted.TaskId, deleted.IsSolo INTO @vTaken (Priority, Rank, TaskId, IsSolo)
              OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@vMax = 100)); -- a seek without a sort
              IF @@ROWCOUNT < @vMax
              BEGIN
                SELECT @vRest = @vMax - COUNT(*) FROM @vTaken AS t;
                WITH NextReady AS (
                  SELECT TOP (@vRest) r.Priority, r.Rank, r.TaskId, r.IsSolo
                  FROM Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK, INDEX (PK_Ready)) -- keep them, skip others', in key order
                  WHERE r.TaskDefinitionId = @vDefinition AND r.Priority = @AfterPriority AND r.Rank > @AfterRank
                  ORDER BY r.Priority, r.Rank, r.TaskId)
                DELETE FROM NextReady
                OUTPUT deleted.Priority, deleted.Rank, deleted.TaskId, deleted.IsSolo INTO @vTaken (Priority, Rank, TaskId, IsSolo)
                OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@vRest = 100)); -- a seek without a sort
                WITH NextReady AS (
                  SELECT TOP (@vRest - @@ROWCOUNT) r.Priority, r.Rank, r.TaskId, r.IsSolo
                  FROM Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK, INDEX (PK_Ready)) -- keep them, skip others', in key order
                  WHERE r.TaskDefinitionId = @vDefinition AND r.Priority > @AfterPriority
                  ORDER BY r.Priority, r.Rank, r.TaskId)
                DELETE FROM NextReady
                OUTPUT deleted.Priority, deleted.Rank, deleted.TaskId, deleted.IsSolo INTO @vTaken (Priority, Rank, TaskId, IsSolo)
                OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@vRest = 100)); -- a seek without a sort
              END;
            END;
            SELECT @vStatus = N'claimed', @vLast = n.Taken, @vHasSolo = n.HasSolo, @vFence = NEXT VALUE FOR Taskgate.FenceSequence,
                   @vStarted = CASE WHEN @vTokenCount < @vRunningCount THEN 0
                                    WHEN @vTokenCount - @vRunningCount > n.Taken THEN n.Taken ELSE @vTokenCount - @vRunningCount END,
                   @vRetryInMs = CASE WHEN n.Taken = @vMax THEN @vPermitInMs END,
                   @vAsksNextDue = CASE WHEN n.Taken < @vMax THEN 1 ELSE 0 END
            FROM (SELECT COUNT(*) AS Taken, MAX(CASE t.IsSolo WHEN 1 THEN 1 ELSE 0 END) AS HasSolo FROM @vTaken AS t) AS n
            WHERE n.Taken > 0; -- else no number is drawn, and all stays as it was

            -- A task that was lost twice runs alone, so that it can't take its neighbours along a third time: the claim keeps the
            -- tasks before the first such one, or only it when it comes first and nothing else is held.
            IF @vHasSolo = 1
            BEGIN
              SELECT @vFirstSolo = MIN(c.Ordinal)
              FROM (SELECT x.TaskId, ROW_NUMBER() OVER (ORDER BY x.Priority, x.Rank, x.TaskId) AS Ordinal FROM @vTaken AS x) AS c
              INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
              WHERE t.LostCount >= 2
              OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
              SET @vIsSolo = CASE WHEN @vFirstSolo = 1 AND @vHeldCount = 0 THEN 1 ELSE 0 END;
              SET @vCount = CASE WHEN @vIsSolo = 1 THEN 1 ELSE COALESCE(@vFirstSolo - 1, @vLast) END;
              INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId, IsSolo)
              SELECT @vDefinition, c.Priority, c.Rank, c.TaskId, CASE WHEN t.LostCount >= 2 THEN 1 ELSE 0 END
              FROM (SELECT x.Priority, x.Rank, x.TaskId, ROW_NUMBER() OVER (ORDER BY x.Priority, x.Rank, x.TaskId) AS Ordinal
                    FROM @vTaken AS x) AS c
              INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
              WHERE c.Ordinal > @vCount
              OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
              SELECT @vStatus = CASE @vCount WHEN 0 THEN N'none' ELSE N'claimed' END, @vLast = NULLIF(@vCount, 0),
                     @vFence = CASE WHEN @vCount > 0 THEN @vFence END,
                     @vStarted = CASE WHEN @vStarted > @vCount THEN @vCount ELSE @vStarted END,
                     @vRetryInMs = CASE WHEN @vCount = @vMax THEN @vPermitInMs END,
                     @vAsksNextDue = CASE WHEN @vCount < @vMax THEN 1 ELSE 0 END;
            END;
            IF @vLast IS NOT NULL
            BEGIN
              INSERT INTO Taskgate.Claim WITH (ROWLOCK) (TaskExecutionId, Fence, Ordinal, TaskId, ClaimedAt, IsPrefetched)
              SELECT @TaskExecutionId, @vFence, c.Ordinal, c.TaskId, @vNow, CASE WHEN c.Ordinal > @vStarted THEN 1 ELSE 0 END
              FROM (SELECT x.TaskId, ROW_NUMBER() OVER (ORDER BY x.Priority, x.Rank, x.TaskId) AS Ordinal FROM @vTaken AS x) AS c
              WHERE c.Ordinal <= @vLast;
              IF @vHasRate = 1
                EXEC Taskgate._UsePermits @TaskDefinitionId = @vDefinition, @Count = @vLast, @From = @vFrom, @IntervalUs = @vIntervalUs;
            END;
          END;

          UPDATE x
          SET IsSolo = @vIsSolo, CallNumber = @CallNumber, CallFence = @vFence, CallRefused = @vRefused,
              LeaseUntil = CASE WHEN x.LeaseUntil > @vLeaseUntil THEN x.LeaseUntil ELSE @vLeaseUntil END, -- a heartbeat came between
              ClaimedCount = x.ClaimedCount + COALESCE(@vLast, 0), DoneCount = x.DoneCount + @vEndedCount,
              RanMs = x.RanMs + COALESCE((SELECT SUM(CONVERT(bigint, e.DurationMs)) FROM @vEnded AS e), 0)
          FROM Taskgate.TaskExecution AS x WITH (ROWLOCK, UPDLOCK) -- the row is ours already
          WHERE x.TaskExecutionId = @TaskExecutionId;
        END;

        -- 4. What the worker needs of its tasks. Own statement: it sees all that was committed before they were taken.
        IF @vLast IS NOT NULL
          SELECT @vTaskIds = STRING_AGG(CONVERT(nvarchar(max), t.TaskId), N',') WITHIN GROUP (ORDER BY c.Ordinal),
                 @vKinds = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + STRING_ESCAPE(t.Kind, 'json') + N'"'), N',')
                   WITHIN GROUP (ORDER BY c.Ordinal) + N']',
                 @vAttempts = STRING_AGG(CONVERT(nvarchar(max), t.FailedCount + t.LostCount + 1), N',') WITHIN GROUP (ORDER BY c.Ordinal),
                 @vPayloads = N'[' + STRING_AGG(COALESCE(CONVERT(nvarchar(max), t.PayloadUtf8) COLLATE Latin1_General_100_BIN2, t.Payload, N'null'), N',') WITHIN GROUP (ORDER BY c.Ordinal) + N']',
                 @vExtras = CASE MAX(n.HasExtras) WHEN 1 THEN N'[' END
                   + STRING_AGG(CASE n.HasExtras WHEN 0 THEN CONVERT(nvarchar(max), N'null') ELSE
                       N'{"checkpoint":' COLLATE Latin1_General_100_BIN2 + COALESCE(N'"' + STRING_ESCAPE(n.[Checkpoint], 'json') + N'"', N'null')
                       + N',"trace":' + COALESCE(N'"' + STRING_ESCAPE(t.TraceParent, 'json') + N'"', N'null')
                       + N',"grouped":' + CASE WHEN t.GroupId IS NULL THEN N'false' ELSE N'true' END
                       + N',"cancel":' + CASE t.CancelRequested WHEN 1 THEN N'true' ELSE N'false' END
                       + N',"newer":' + CASE WHEN t.Build > @vBuild THEN N'true' ELSE N'false' END
                       + N',"wave":' + CASE WHEN t.WaveId IS NULL THEN N'false' ELSE N'true' END + N',"solo":' + CASE WHEN t.LostCount >= 2 THEN N'true' ELSE N'false' END + N'}' END, N',')
                     WITHIN GROUP (ORDER BY c.Ordinal) + N']',
                 @vLastPriority = MAX(CASE c.Ordinal WHEN @vLast THEN t.Priority END),
                 @vLastRank = MAX(CASE c.Ordinal WHEN @vLast THEN t.Rank END)
          FROM Taskgate.Claim AS c WITH (FORCESEEK) -- the call's few rows, ours by the execution's row
          INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
          CROSS APPLY (
            SELECT p.[Checkpoint], CASE WHEN p.[Checkpoint] IS NOT NULL OR t.TraceParent IS NOT NULL OR t.GroupId IS NOT NULL
                          OR t.CancelRequested = 1 OR t.Build > @vBuild OR t.WaveId IS NOT NULL OR t.LostCount >= 2 THEN 1 ELSE 0 END AS HasExtras
            FROM (SELECT COALESCE(CONVERT(nvarchar(max), t.CheckpointUtf8) COLLATE Latin1_General_100_BIN2, t.[Checkpoint]) AS [Checkpoint]) AS p) AS n
          WHERE c.TaskExecutionId = @TaskExecutionId AND c.Fence = @vFence
          OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
      END;
      COMMIT TRANSACTION;
    END;
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;

  SELECT @vStatus AS [Status], @vFence AS [Fence], @vTaskIds AS [TaskIds], @vKinds AS [Kinds], @vAttempts AS [Attempts],
         @vPayloads AS [Payloads], @vExtras AS [Extras], @vStarted AS [Started], @vLastPriority AS [LastPriority],
         @vLastRank AS [LastRank], @vRefused AS [RefusedTaskIds], @vAnswerLeaseMs AS [LeaseMs], @vOverLimit AS [OverLimit],
         @vReleaseRequested AS [ReleaseRequested], CASE @vReleaseRequested WHEN 1 THEN 0 ELSE @vFreeTokens END AS [FreeTokens],
         CASE WHEN @vAsksNextDue = 1 AND @vIsDue = 0 THEN Taskgate._NextDueFrom(@vDefinition, @vNow)
              WHEN @vAsksNextDue = 1 OR @vPromoted >= 128 THEN Taskgate._NextDueMs(@vDefinition) END AS [NextDueMs], @vRetryInMs AS [RetryInMs],
         CASE WHEN @vWokenIds <> N'[]' THEN Taskgate._DefinitionNames(@vWokenIds, @vDefinition) END AS [Woken], @vOpening AS [Opening];
END;
