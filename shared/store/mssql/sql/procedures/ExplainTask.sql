-- Taskgate.ExplainTask: where a task stands and everything that decides when it runs, in one read.
-- In:     @TaskId bigint
-- Out:    Status: found | moving (between two containers at this instant: ask again) | unknown;
--         Facts: JSON object: task, definition, kind, state: scheduled | waiting | blocked | ready | claimed | done | dead | cancelled,
--           priority, createdAt, failedCount, retryAttempts, lostCount, lostMax, continuedCount, cancelRequested, lastError, dedupeKey,
--           traceParent: of the enqueue, or null,
--           progress {done, total, text}, limit, limitSource, held, paused, holders [{execution, worker, tokens, leaseLeftMs}],
--           and by state: dueInMs; group {key, slots, used, paused, strict, ahead, holders [task ids]}; readyAhead (counted up to 1000);
--           wave {batch, name: of the batch, batchState: as ListBatches, ordinal, state: blocked | opening} of a blocked one;
--           claim {execution, worker, fence, claimedAt, leaseLeftMs, isPrefetched: not told as started, standing: as ListTasks}; finishedAt, result, payload, worker;
--           attempts [{fence, worker, claimedAt, finishedAt, durationMs, outcome, error}], newest 50
-- Raises: 50490 inside a transaction
-- Locks:  none
-- Isolation: task and containers are read by one statement, as of one moment; a task that has moved since is `moving`
-- Plan:   primary keys; the open executions of one definition; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/explain_task.sql
CREATE OR ALTER PROCEDURE Taskgate.ExplainTask
  @TaskId bigint
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vStatus nvarchar(20), @vFacts nvarchar(max), @vAttempts nvarchar(max),
          @vDefinition int, @vCommon nvarchar(max), @vPriority smallint, @vRank bigint, @vGroupId int, @vWaveId bigint,
          @vPendingKey nvarchar(200), @vScope int, @vRunAt datetime2(3),
          @vIsReady bit, @vIsWaiting bit, @vIsBlocked bit, @vExecution bigint, @vFence bigint, @vOrdinal int,
          @vClaim nvarchar(max), @vCount int, @vHeld int, @vHolders nvarchar(max), @vSlots int, @vSlotHolders nvarchar(max),
          @vGroup nvarchar(max), @vWave nvarchar(max), @vShared nvarchar(max), @vRate nvarchar(100), @vRateInMs bigint;
  DECLARE @vOpen TABLE (
    TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, Worker nvarchar(200) NULL, TokenCount int NOT NULL,
    LeaseUntil datetime2(3) NULL);

  SELECT @vAttempts = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"fence":"' + CONVERT(nvarchar(20), x.Fence)) COLLATE Latin1_General_100_BIN2 -- texts of columns differ in it
           + N'","worker":' + COALESCE(N'"' + STRING_ESCAPE(x.Worker, 'json') + N'"', N'null')
           + N',"claimedAt":"' + Taskgate._Iso(x.ClaimedAt)
           + N'","finishedAt":"' + Taskgate._Iso(x.FinishedAt)
           + N'","durationMs":' + COALESCE(CONVERT(nvarchar(11), x.DurationMs), N'null')
           + N',"outcome":"' + CASE x.Outcome WHEN 11 THEN N'failed' WHEN 12 THEN N'cancelled' WHEN 13 THEN N'lost' ELSE N'continued' END
           + N'","error":' + COALESCE(N'"' + STRING_ESCAPE(x.Error, 'json') + N'"', N'null') + N'}', N',')
           WITHIN GROUP (ORDER BY x.FinishedAt DESC, x.Fence DESC) + N']'
  FROM (
    SELECT TOP (50) p.Fence, e.Worker, p.ClaimedAt, p.FinishedAt, p.DurationMs, p.Outcome,
           COALESCE(CONVERT(nvarchar(max), p.ErrorUtf8) COLLATE Latin1_General_100_BIN2, p.Error) AS Error
    FROM Taskgate.Attempt AS p WITH (FORCESEEK) -- the task's range
    LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = p.TaskExecutionId
    WHERE p.TaskId = @TaskId
    ORDER BY p.FinishedAt DESC, p.Fence DESC) AS x;

  -- 1. A finished task.
  SELECT @vStatus = N'found',
         @vFacts = CONVERT(nvarchar(max), N'{"task":"' + CONVERT(nvarchar(20), @TaskId)) COLLATE Latin1_General_100_BIN2 -- keys and texts differ in it
           + N'","definition":"' + STRING_ESCAPE(d.Name, 'json')
           + N'","kind":"' + STRING_ESCAPE(a.Kind, 'json')
           + N'","state":"' + CASE a.Outcome WHEN 10 THEN N'done' WHEN 11 THEN N'dead' ELSE N'cancelled' END
           + N'","priority":' + CONVERT(nvarchar(11), a.Priority)
           + N',"createdAt":"' + Taskgate._Iso(a.CreatedAt)
           + N'","finishedAt":"' + Taskgate._Iso(a.FinishedAt)
           + N'","failedCount":' + CONVERT(nvarchar(11), a.FailedCount)
           + N',"lostCount":' + CONVERT(nvarchar(11), a.LostCount)
           + N',"lastError":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), a.ErrorUtf8) COLLATE Latin1_General_100_BIN2, a.Error), 'json') + N'"', N'null')
           + N',"worker":' + COALESCE(N'"' + STRING_ESCAPE(e.Worker, 'json') + N'"', N'null')
           + N',"durationMs":' + COALESCE(CONVERT(nvarchar(11), a.DurationMs), N'null')
           + N',"dedupeKey":' + COALESCE(N'"' + STRING_ESCAPE(a.DedupeKey, 'json') + N'"', N'null')
           + N',"traceParent":' + COALESCE(N'"' + STRING_ESCAPE(CONVERT(nvarchar(55), a.TraceParent) COLLATE Latin1_General_100_BIN2, 'json') + N'"', N'null')
           + N',"result":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), a.ResultUtf8) COLLATE Latin1_General_100_BIN2, a.Result), 'json') + N'"', N'null')
           + N',"payload":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), COALESCE(t.PayloadUtf8, a.PayloadUtf8)) COLLATE Latin1_General_100_BIN2, t.Payload, a.Payload), 'json') + N'"', N'null')
           + N',"attempts":' + COALESCE(@vAttempts, N'[]') + N'}'
  FROM Taskgate.Archive AS a
  INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = a.TaskDefinitionId
  LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = a.TaskExecutionId
  LEFT JOIN Taskgate.Task AS t ON t.TaskId = a.TaskId -- of a done one: with its payload
  WHERE a.TaskId = @TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each

  -- 2. An unfinished one, with its place.
  IF @vStatus IS NULL
  BEGIN
    SELECT @vDefinition = t.TaskDefinitionId, @vPriority = t.Priority, @vRank = t.Rank, @vGroupId = t.GroupId, @vWaveId = t.WaveId, @vRunAt = s.RunAt,
           @vPendingKey = t.PendingGroupKey, @vScope = CASE t.PendingGroupIsGlobal WHEN 1 THEN 0 ELSE t.TaskDefinitionId END,
           @vIsReady = CASE WHEN r.TaskId IS NULL THEN 0 ELSE 1 END, @vIsWaiting = CASE WHEN w.TaskId IS NULL THEN 0 ELSE 1 END,
           @vIsBlocked = CASE WHEN h.TaskId IS NULL THEN 0 ELSE 1 END,
           @vExecution = c.TaskExecutionId, @vFence = c.Fence, @vOrdinal = c.Ordinal,
           @vCommon = CONVERT(nvarchar(max), N'{"task":"' + CONVERT(nvarchar(20), t.TaskId)) COLLATE Latin1_General_100_BIN2 -- keys and texts differ in it
             + N'","kind":"' + STRING_ESCAPE(t.Kind, 'json')
             + N'","priority":' + CONVERT(nvarchar(11), t.Priority)
             + N',"createdAt":"' + Taskgate._Iso(t.CreatedAt)
             + N'","failedCount":' + CONVERT(nvarchar(11), t.FailedCount)
             + N',"lostCount":' + CONVERT(nvarchar(11), t.LostCount)
             + N',"continuedCount":' + CONVERT(nvarchar(11), t.ContinuedCount)
             + N',"cancelRequested":' + CASE t.CancelRequested WHEN 1 THEN N'true' ELSE N'false' END
             + N',"lastError":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), t.LastErrorUtf8) COLLATE Latin1_General_100_BIN2, t.LastError), 'json') + N'"', N'null')
             + N',"dedupeKey":' + COALESCE(N'"' + STRING_ESCAPE(t.DedupeKey, 'json') + N'"', N'null')
             + N',"traceParent":' + COALESCE(N'"' + STRING_ESCAPE(t.TraceParent, 'json') + N'"', N'null')
             + N',"payload":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), t.PayloadUtf8) COLLATE Latin1_General_100_BIN2, t.Payload), 'json') + N'"', N'null')
             + N',"progress":' + CASE WHEN t.ProgressDone IS NULL AND t.ProgressText IS NULL THEN N'null' ELSE
                 N'{"done":' + COALESCE(CONVERT(nvarchar(20), t.ProgressDone), N'null')
                 + N',"total":' + COALESCE(CONVERT(nvarchar(20), t.ProgressTotal), N'null')
                 + N',"text":' + COALESCE(N'"' + STRING_ESCAPE(t.ProgressText, 'json') + N'"', N'null') + N'}' END
    FROM Taskgate.Task AS t
    LEFT JOIN Taskgate.Scheduled AS s WITH (INDEX (IX_Scheduled_Task)) ON s.TaskId = t.TaskId -- covers this read
    LEFT JOIN Taskgate.Ready AS r
      ON r.TaskDefinitionId = t.TaskDefinitionId AND r.Priority = t.Priority AND r.Rank = t.Rank AND r.TaskId = t.TaskId
    LEFT JOIN Taskgate.GroupWaiting AS w
      ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
    LEFT JOIN Taskgate.WaveBlocked AS h
      ON h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId
    LEFT JOIN Taskgate.Claim AS c WITH (INDEX (UQ_Claim_Task)) ON c.TaskId = t.TaskId -- covers this read: its row is read by key below
    WHERE t.TaskId = @TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each
    IF @vDefinition IS NULL
      -- It may have ended between the two reads.
      SET @vStatus = CASE WHEN EXISTS (SELECT 1 FROM Taskgate.Archive AS a WHERE a.TaskId = @TaskId) THEN N'moving' ELSE N'unknown' END;
  END;

  -- 3. What its place says. Of a task that step 2 didn't find nothing is known here.
  IF @vExecution IS NOT NULL
  BEGIN
    SELECT @vClaim = CONVERT(nvarchar(max), N',"state":"claimed","claim":{"execution":"' + CONVERT(nvarchar(20), c.TaskExecutionId))
             + N'","worker":"' + STRING_ESCAPE(e.Worker, 'json')
             + N'","fence":"' + CONVERT(nvarchar(20), c.Fence)
             + N'","claimedAt":"' + Taskgate._Iso(c.ClaimedAt)
             + N'","leaseLeftMs":' + CONVERT(nvarchar(20), DATEDIFF_BIG(MILLISECOND, @vNow, e.LeaseUntil))
             + N',"isPrefetched":' + CASE c.IsPrefetched WHEN 1 THEN N'true' ELSE N'false' END
             + N',"standing":"' + CASE WHEN e.State <> 1 OR e.LeaseUntil < @vNow THEN N'lost' -- as ListTasks
                 WHEN c.IsPrefetched = 0 AND e.TokenCount > (
                   SELECT COUNT(*)
                   FROM Taskgate.Claim AS b WITH (INDEX (PK_Claim)) -- the execution's range
                   WHERE b.TaskExecutionId = c.TaskExecutionId AND b.IsPrefetched = 0
                     AND (b.Fence < c.Fence OR (b.Fence = c.Fence AND b.Ordinal < c.Ordinal))) THEN N'running'
                 ELSE N'prefetched' END + N'"}'
    FROM Taskgate.Claim AS c
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = c.TaskExecutionId
    WHERE c.TaskExecutionId = @vExecution AND c.Fence = @vFence AND c.Ordinal = @vOrdinal AND e.State IN (1, 3)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each
    IF @vClaim IS NULL SET @vStatus = N'moving'; -- given up since
  END;
  ELSE IF @vIsReady = 1
  BEGIN
    SELECT @vCount = COUNT(*)
    FROM (
      SELECT TOP (1000) r.TaskId
      FROM Taskgate.Ready AS r WITH (FORCESEEK) -- the first entries, regardless of statistics
      WHERE r.TaskDefinitionId = @vDefinition AND r.Priority <= @vPriority
        AND (r.Priority < @vPriority OR r.Rank < @vRank OR (r.Rank = @vRank AND r.TaskId < @TaskId))) AS x;
    SET @vClaim = N',"state":"ready","readyAhead":' + CONVERT(nvarchar(11), @vCount);
  END;
  ELSE IF @vIsWaiting = 1
    SET @vClaim = N',"state":"waiting"';
  ELSE IF @vIsBlocked = 1
  BEGIN
    SELECT @vWave = CONVERT(nvarchar(max), N'{"batch":"' + CONVERT(nvarchar(20), b.BatchId)
             + N'","name":"' + STRING_ESCAPE(b.Name, 'json')
             + N'","batchState":"' + CASE b.State WHEN 0 THEN N'draft' WHEN 1 THEN N'running' WHEN 2 THEN N'halted' WHEN 3 THEN N'done'
                 ELSE N'cancelled' END
             + N'","ordinal":' + CONVERT(nvarchar(11), w.Ordinal)
             + N',"state":"' + CASE w.State WHEN 0 THEN N'blocked' WHEN 1 THEN N'opening' WHEN 2 THEN N'open' ELSE N'done' END + N'"}')
    FROM Taskgate.Wave AS w
    INNER JOIN Taskgate.Batch AS b ON b.BatchId = w.BatchId
    WHERE w.WaveId = @vWaveId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each
    SET @vClaim = N',"state":"blocked","wave":' + COALESCE(@vWave, N'null');
  END;
  ELSE IF @vRunAt IS NOT NULL
    SET @vClaim = N',"state":"scheduled","dueInMs":' + CONVERT(nvarchar(20), DATEDIFF_BIG(MILLISECOND, @vNow, @vRunAt));
  ELSE IF @vStatus IS NULL
    SET @vStatus = N'moving';

  -- 4. Its definition, and its group.
  IF @vStatus IS NULL
  BEGIN
    INSERT INTO @vOpen (TaskExecutionId, TokenCount)
    SELECT e.TaskExecutionId, 0
    FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
    WHERE e.TaskDefinitionId = @vDefinition AND e.State IN (1, 3);
    UPDATE o
    SET Worker = e.Worker, TokenCount = e.TokenCount, LeaseUntil = e.LeaseUntil
    FROM @vOpen AS o
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
    SELECT @vHeld = COALESCE(SUM(o.TokenCount), 0) FROM @vOpen AS o;
    SELECT @vHolders = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"execution":"' + CONVERT(nvarchar(20), o.TaskExecutionId)
             + N'","worker":"' + STRING_ESCAPE(o.Worker, 'json')
             + N'","tokens":' + CONVERT(nvarchar(11), o.TokenCount)
             + N',"leaseLeftMs":' + CONVERT(nvarchar(20), DATEDIFF_BIG(MILLISECOND, @vNow, o.LeaseUntil)) + N'}'), N',')
             WITHIN GROUP (ORDER BY o.TaskExecutionId) + N']'
    FROM @vOpen AS o
    WHERE o.TokenCount > 0;
    IF @vPendingKey IS NOT NULL -- on its way into a group, which may be there already
      SELECT @vGroupId = g.GroupId FROM Taskgate.TaskGroup AS g WHERE g.TaskDefinitionId = @vScope AND g.GroupKey = @vPendingKey;
    IF @vGroupId IS NOT NULL
    BEGIN
      SELECT @vSlots = COUNT(*),
             @vSlotHolders = STRING_AGG(CONVERT(nvarchar(max), N'"' + CONVERT(nvarchar(20), s.TaskId) + N'"'), N',')
               WITHIN GROUP (ORDER BY s.Slot)
      FROM Taskgate.GroupSlot AS s WITH (FORCESEEK) -- the group's range
      WHERE s.GroupId = @vGroupId;
      SELECT @vCount = COUNT(*)
      FROM (
        SELECT TOP (1000) w.TaskId
        FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK) -- the group's first entries
        WHERE w.GroupId = @vGroupId AND w.Priority <= @vPriority
          AND (w.Priority < @vPriority OR w.Rank < @vRank OR (w.Rank = @vRank AND w.TaskId < @TaskId))) AS x;
      SELECT @vGroup = CONVERT(nvarchar(max), N'{"key":"' + STRING_ESCAPE(g.GroupKey, 'json'))
               + N'","slots":' + CONVERT(nvarchar(11), g.Slots)
               + N',"paused":' + CASE g.Paused WHEN 1 THEN N'true' ELSE N'false' END
               + N',"strict":' + CASE g.Strict WHEN 1 THEN N'true' ELSE N'false' END
               + N',"isGlobal":' + CASE g.TaskDefinitionId WHEN 0 THEN N'true' ELSE N'false' END
               + N',"used":' + CONVERT(nvarchar(11), @vSlots)
               + N',"holders":[' + COALESCE(@vSlotHolders, N'') + N']'
               + N',"ahead":' + CONVERT(nvarchar(11), @vCount) + N'}'
      FROM Taskgate.TaskGroup AS g
      WHERE g.GroupId = @vGroupId;
    END;
    SELECT @vShared = STRING_AGG(CONVERT(nvarchar(max), N'{"name":"' + STRING_ESCAPE(u.Name, 'json')
             + N'","limit":' + CONVERT(nvarchar(11), u.TaskLimit) + N',"limitSource":"' + u.Source + N'","held":'
             + CONVERT(nvarchar(11), CASE u.TaskLimit WHEN -1 THEN Taskgate._SharedCount(u.SharedLimitId) ELSE u.Held END) + N'}'), N',')
             WITHIN GROUP (ORDER BY u.Name)
    FROM Taskgate._SharedUse(@vDefinition, @vNow) AS u;
    SELECT @vRate = NULLIF(COALESCE(Taskgate._RateText(b.RateCountOverride, b.RatePeriodMsOverride, b.RateBurstOverride),
             Taskgate._RateText(b.RateCount, b.RatePeriodMs, b.RateBurst)), N'none')
    FROM Taskgate.RateBucket AS b WITH (INDEX (PK_RateBucket)) -- the row itself
    WHERE b.TaskDefinitionId = @vDefinition;
    SET @vRateInMs = Taskgate._PermitInMs(@vDefinition, @vNow);
    SELECT @vStatus = N'found',
           @vFacts = @vCommon + @vClaim
             + N',"definition":"' + STRING_ESCAPE(d.Name, 'json')
             + N'","retryAttempts":' + CONVERT(nvarchar(11), d.RetryAttempts)
             + N',"lostMax":' + CONVERT(nvarchar(11), d.LostMax)
             + N',"limit":' + CONVERT(nvarchar(11), COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit))
             + N',"limitSource":"' + CASE WHEN d.ConcurrencyLimitOverride IS NULL THEN N'code' ELSE N'operator' END
             + N'","paused":' + CASE d.Paused WHEN 1 THEN N'true' ELSE N'false' END
             + N',"held":' + CONVERT(nvarchar(11), @vHeld)
             + N',"holders":' + COALESCE(@vHolders, N'[]')
             + N',"sharedLimits":[' + COALESCE(@vShared, N'') + N']'
             + N',"rate":' + COALESCE(@vRate, N'null')
             + N',"rateInMs":' + COALESCE(CONVERT(nvarchar(20), @vRateInMs), N'null')
             + CASE WHEN @vGroupId IS NULL THEN N'' ELSE N',"group":' + COALESCE(@vGroup, N'null') END
             + N',"attempts":' + COALESCE(@vAttempts, N'[]') + N'}'
    FROM Taskgate.TaskDefinition AS d
    WHERE d.TaskDefinitionId = @vDefinition;
  END;
  SELECT @vStatus AS [Status], @vFacts AS [Facts];
END;
