-- Taskgate.ListTasks: tasks of a definition in one state, all of them or those that filters leave.
-- In:     @Name; @State: ready | scheduled | waiting | claimed | done | dead | cancelled; @Max int 1..1000; @After: Next of the page
--           before, or null: from the beginning. Filters, null: none: @Key: the dedupe key, of ready, scheduled and waiting tasks
--           of that one alone which holds it; @KeyPrefix: how the dedupe key begins; @GroupKey: the group, which done tasks don't
--           name; @BatchId; @CreatedSince, @CreatedBefore, @FinishedSince, @FinishedBefore: ISO-8601 instants, the second of each
--           pair excluded; @Path: names joined by dots, @Value: the payload's text, number, true, false or null there, as
--           _PayloadHas; @LookMax int 1..5000: with filters so many tasks are looked at; with a path no task behind the first 4 MiB of
--           payloads
-- Out:    Status: listed; Tasks: JSON array of {task, kind, priority, state: @State, or of a claimed one running | prefetched | lost (its worker's
--           lease is over), createdAt, dueAt, claimedAt, finishedAt, failedCount, lostCount, error, worker}: unfinished ones in the order
--           they will be taken, claimed ones in that of the states above, finished ones newest first; LookedAt int: tasks of the state
--           that were looked at; Next: where the next page begins, or null: this is the last; where there is one, LastTask: the last
--           task that was looked at, LastAt: when it ended or is due. No task comes twice, and none that stays where it is is left
--           out; a claimed one moves when its state changes
-- Raises: 50404 unknown definition; 50422 unknown state, @Max or @LookMax out of range, a filter or a place that can't be read; 50490
--         inside a transaction
-- Locks:  none
-- Isolation: a task that moves on between the reads is left out: one that was done has its row still, so the archive is asked, by skip
-- Plan:   the container's key under the definition, IX_GroupWaiting_Definition, IX_Archive_Finished backwards, each from the page's place
--           on, one range per column of the place; then two seeks per task. A key by PK_Dedupe; joins are loops in the written order
-- Once:   a read
-- Twin:   postgres/sql/functions/list_tasks.sql
CREATE OR ALTER PROCEDURE Taskgate.ListTasks
  @Name nvarchar(max), @State nvarchar(max), @Max int, @After nvarchar(max) = NULL, @Key nvarchar(max) = NULL,
  @KeyPrefix nvarchar(max) = NULL, @GroupKey nvarchar(max) = NULL, @BatchId bigint = NULL, @CreatedSince nvarchar(max) = NULL,
  @CreatedBefore nvarchar(max) = NULL, @FinishedSince nvarchar(max) = NULL, @FinishedBefore nvarchar(max) = NULL,
  @Path nvarchar(max) = NULL, @Value nvarchar(max) = NULL, @LookMax int = 5000
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vDefinition int, @vState nvarchar(20), @vOutcome tinyint, @vTasks nvarchar(max),
          @vIsSearch bit = 0, @vLook int, @vMax int, @vCut int, @vCount int, @vNext nvarchar(200), @vLastTask bigint, @vLastAt nvarchar(24), @vIsHolder bit = 0, @vHolder bigint,
          @vKey nvarchar(200), @vKeyPrefix nvarchar(200), @vPrefixLength int, @vGroupKey nvarchar(200), @vPath nvarchar(200), @vValue nvarchar(200),
          @vCreatedSince datetime2(3) = COALESCE(Taskgate._Instant(@CreatedSince), '0001-01-01'),
          @vCreatedBefore datetime2(3) = COALESCE(Taskgate._Instant(@CreatedBefore), '9999-12-31T23:59:59.999'),
          @vFinishedSince datetime2(3) = COALESCE(Taskgate._Instant(@FinishedSince), '0001-01-01'),
          @vFinishedBefore datetime2(3) = COALESCE(Taskgate._Instant(@FinishedBefore), '9999-12-31T23:59:59.999');
  -- Where the page begins: behind this entry.
  DECLARE @vStep0 nvarchar(max), @vStep1 nvarchar(max), @vStep2 nvarchar(max), @vStep3 nvarchar(max), @vAt datetime2(3), @vGroupId int = 0,
          @vLastGroupId int = 2147483647, @vPriority smallint = -32768, @vRank bigint = -9223372036854775808, @vTaskId bigint = 0,
          @vStanding tinyint = 0, @vExecution bigint = 0;
  DECLARE @vOpen TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TokenCount int NOT NULL, IsLive bit NOT NULL);
  DECLARE @vGroup TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vWave TABLE (WaveId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vListed TABLE (
    N int NOT NULL PRIMARY KEY CLUSTERED, TaskId bigint NOT NULL, At datetime2(3) NULL, GroupId int NULL, Priority smallint NULL, Rank bigint NULL,
    TaskExecutionId bigint NULL, ClaimedAt datetime2(3) NULL, Standing tinyint NULL, IsWanted bit NOT NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  SELECT @vState = s.Name, @vOutcome = s.Outcome
  FROM (VALUES (N'ready', NULL), (N'scheduled', NULL), (N'waiting', NULL), (N'claimed', NULL), (N'done', 10), (N'dead', 11),
               (N'cancelled', 12)) AS s (Name, Outcome)
  WHERE s.Name = @State COLLATE Latin1_General_100_BIN2 AND DATALENGTH(s.Name) = DATALENGTH(@State); -- case and blanks count
  IF @vState IS NULL
  BEGIN
    SET @vMessage = N'state: expected ready, scheduled, waiting, claimed, done, dead or cancelled ('
      + COALESCE(REPLACE(LEFT(@State, 220), N'%', N'%%'), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  EXEC Taskgate._CheckRange @What = N'look_max', @Value = @LookMax, @Min = 1, @Max = 5000;
  EXEC Taskgate._CheckFilters @Key = @Key, @KeyPrefix = @KeyPrefix, @GroupKey = @GroupKey, @CreatedSince = @CreatedSince,
    @CreatedBefore = @CreatedBefore, @FinishedSince = @FinishedSince, @FinishedBefore = @FinishedBefore, @Path = @Path, @Value = @Value;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
  SELECT @vKey = @Key, @vKeyPrefix = @KeyPrefix, @vPrefixLength = DATALENGTH(@KeyPrefix) / 2, @vGroupKey = @GroupKey, @vPath = @Path, @vValue = @Value;
  IF COALESCE(@Key, @KeyPrefix, @GroupKey, @CreatedSince, @CreatedBefore, @FinishedSince, @FinishedBefore, @Path) IS NOT NULL OR @BatchId IS NOT NULL
    SET @vIsSearch = 1;
  IF @Key IS NOT NULL AND @vState IN (N'ready', N'scheduled', N'waiting') SET @vIsHolder = 1;
  SET @vLook = CASE @vIsSearch WHEN 1 THEN @LookMax ELSE @Max END;

  -- 1. The place.
  SET @vAt = CASE WHEN @vOutcome IS NULL THEN '0001-01-01' ELSE '9999-12-31T23:59:59.999' END;
  IF @After IS NOT NULL
  BEGIN
    IF Taskgate._JsonKind(@After) = N'['
      SELECT @vCount = COUNT(j.[value]),
             @vStep0 = MAX(CASE j.[key] WHEN N'0' THEN j.[value] END), @vStep1 = MAX(CASE j.[key] WHEN N'1' THEN j.[value] END),
             @vStep2 = MAX(CASE j.[key] WHEN N'2' THEN j.[value] END), @vStep3 = MAX(CASE j.[key] WHEN N'3' THEN j.[value] END)
      FROM OPENJSON(@After) AS j;
    SET @vTaskId = TRY_CONVERT(bigint, @vStep0);
    IF @vState IN (N'ready', N'waiting')
      SELECT @vRank = TRY_CONVERT(bigint, @vStep1), @vPriority = TRY_CONVERT(smallint, @vStep2),
             @vGroupId = CASE @vState WHEN N'waiting' THEN TRY_CONVERT(int, @vStep3) ELSE 0 END;
    ELSE IF @vState = N'claimed'
      SELECT @vExecution = TRY_CONVERT(bigint, @vStep1), @vStanding = TRY_CONVERT(tinyint, @vStep2);
    ELSE
      SET @vAt = Taskgate._Instant(@vStep1);
    IF COALESCE(@vCount, 0) <> CASE @vState WHEN N'ready' THEN 3 WHEN N'waiting' THEN 4 WHEN N'claimed' THEN 3 ELSE 2 END OR @vTaskId IS NULL OR @vRank IS NULL
      OR @vPriority IS NULL OR @vGroupId IS NULL OR @vExecution IS NULL OR @vStanding IS NULL OR @vAt IS NULL
    BEGIN
      SET @vMessage = N'after: expected `next` of the page before, as it is (' + REPLACE(LEFT(@After, 220), N'%', N'%%') + N')';
      THROW 50422, @vMessage, 1;
    END;
  END;

  -- 2. What the filters are about.
  IF @BatchId IS NOT NULL
    INSERT INTO @vWave (WaveId)
    SELECT w.WaveId FROM Taskgate.Wave AS w WITH (FORCESEEK) WHERE w.BatchId = @BatchId; -- a batch's waves
  IF @GroupKey IS NOT NULL
  BEGIN
    INSERT INTO @vGroup (GroupId)
    SELECT g.GroupId
    FROM Taskgate.TaskGroup AS g WITH (INDEX (UQ_TaskGroup_Key)) -- its own group, and that of all definitions
    WHERE g.TaskDefinitionId IN (0, @vDefinition) AND g.GroupKey = @vGroupKey;
    IF @vState = N'waiting'
    BEGIN
      SELECT @vLastGroupId = COALESCE(MAX(g.GroupId), 0), @vCount = COALESCE(MIN(g.GroupId), 0) FROM @vGroup AS g;
      IF @After IS NULL SET @vGroupId = @vCount;
    END;
  END;
  -- No unfinished task has ended, and no done one names its group.
  IF (@vOutcome IS NULL AND (@FinishedSince IS NOT NULL OR @FinishedBefore IS NOT NULL)) OR (@vOutcome = 10 AND @GroupKey IS NOT NULL)
    SET @vLook = 0;
  ELSE IF @vIsHolder = 1
  BEGIN
    -- The one task that holds the key: behind the entry that would stand before it.
    SET @vLook = 0;
    SELECT @vLook = 1, @vHolder = t.TaskId, @vTaskId = t.TaskId - 1, @vPriority = t.Priority, @vRank = t.Rank, @vGroupId = COALESCE(t.GroupId, 0),
           @vAt = COALESCE(s.RunAt, '9999-12-31T23:59:59.999')
    FROM Taskgate.Dedupe AS k
    INNER JOIN Taskgate.Task AS t ON t.TaskId = k.TaskId
    LEFT JOIN Taskgate.Scheduled AS s WITH (INDEX (IX_Scheduled_Task)) ON s.TaskId = t.TaskId -- covers this read
    WHERE k.TaskDefinitionId = @vDefinition AND k.DedupeKey = @vKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each
  END;
  SET @vMax = @vLook + 1; -- one more than is looked at: then there are others

  -- 3. The entries, in order.
  IF @vOutcome IS NOT NULL
    INSERT INTO @vListed (N, TaskId, At, IsWanted)
    SELECT TOP (@vMax) ROW_NUMBER() OVER (ORDER BY a.FinishedAt DESC, a.TaskId DESC), a.TaskId, a.FinishedAt, 1
    FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Finished)) -- backwards; covers this read
    WHERE a.TaskDefinitionId = @vDefinition AND a.Outcome = @vOutcome
      AND a.FinishedAt <= @vAt AND a.FinishedAt < @vFinishedBefore AND a.FinishedAt >= @vFinishedSince
      AND (a.FinishedAt < @vAt OR a.TaskId < @vTaskId)
    ORDER BY a.FinishedAt DESC, a.TaskId DESC;
  ELSE IF @vState = N'ready'
    INSERT INTO @vListed (N, TaskId, Priority, Rank, IsWanted)
    SELECT TOP (@vMax) ROW_NUMBER() OVER (ORDER BY x.Priority, x.Rank, x.TaskId), x.TaskId, x.Priority, x.Rank, 1
    FROM (
      SELECT a.Priority, a.Rank, a.TaskId
      FROM (SELECT TOP (@vMax) r.Priority, r.Rank, r.TaskId
            FROM Taskgate.Ready AS r WITH (FORCESEEK) -- the next entries, regardless of statistics
            WHERE r.TaskDefinitionId = @vDefinition AND r.Priority = @vPriority AND r.Rank = @vRank AND r.TaskId > @vTaskId
            ORDER BY r.TaskId) AS a
      UNION ALL
      SELECT b.Priority, b.Rank, b.TaskId
      FROM (SELECT TOP (@vMax) r.Priority, r.Rank, r.TaskId
            FROM Taskgate.Ready AS r WITH (FORCESEEK) -- those of the ranks behind
            WHERE r.TaskDefinitionId = @vDefinition AND r.Priority = @vPriority AND r.Rank > @vRank
            ORDER BY r.Rank, r.TaskId) AS b
      UNION ALL
      SELECT c.Priority, c.Rank, c.TaskId
      FROM (SELECT TOP (@vMax) r.Priority, r.Rank, r.TaskId
            FROM Taskgate.Ready AS r WITH (FORCESEEK) -- those of the priorities behind
            WHERE r.TaskDefinitionId = @vDefinition AND r.Priority > @vPriority
            ORDER BY r.Priority, r.Rank, r.TaskId) AS c) AS x
    ORDER BY x.Priority, x.Rank, x.TaskId;
  ELSE IF @vState = N'scheduled'
    INSERT INTO @vListed (N, TaskId, At, IsWanted)
    SELECT TOP (@vMax) ROW_NUMBER() OVER (ORDER BY x.RunAt, x.TaskId), x.TaskId, x.RunAt, 1
    FROM (
      SELECT a.RunAt, a.TaskId
      FROM (SELECT TOP (@vMax) s.RunAt, s.TaskId
            FROM Taskgate.Scheduled AS s WITH (FORCESEEK, INDEX (PK_Scheduled)) -- the next entries, regardless of statistics
            WHERE s.TaskDefinitionId = @vDefinition AND s.RunAt = @vAt AND s.TaskId > @vTaskId
            ORDER BY s.TaskId) AS a
      UNION ALL
      SELECT b.RunAt, b.TaskId
      FROM (SELECT TOP (@vMax) s.RunAt, s.TaskId
            FROM Taskgate.Scheduled AS s WITH (FORCESEEK, INDEX (PK_Scheduled)) -- those of later instants
            WHERE s.TaskDefinitionId = @vDefinition AND s.RunAt > @vAt
            ORDER BY s.RunAt, s.TaskId) AS b) AS x
    ORDER BY x.RunAt, x.TaskId;
  ELSE IF @vState = N'waiting'
    INSERT INTO @vListed (N, TaskId, GroupId, Priority, Rank, IsWanted)
    SELECT TOP (@vMax) ROW_NUMBER() OVER (ORDER BY x.GroupId, x.Priority, x.Rank, x.TaskId), x.TaskId, x.GroupId, x.Priority, x.Rank, 1
    FROM (
      SELECT a.GroupId, a.Priority, a.Rank, a.TaskId
      FROM (SELECT TOP (@vMax) w.GroupId, w.Priority, w.Rank, w.TaskId
            FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK, INDEX (IX_GroupWaiting_Definition)) -- its end is the key of the row: covers this read
            WHERE w.TaskDefinitionId = @vDefinition AND w.GroupId = @vGroupId AND w.Priority = @vPriority AND w.Rank = @vRank AND w.TaskId > @vTaskId
            ORDER BY w.TaskId) AS a
      UNION ALL
      SELECT b.GroupId, b.Priority, b.Rank, b.TaskId
      FROM (SELECT TOP (@vMax) w.GroupId, w.Priority, w.Rank, w.TaskId
            FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK, INDEX (IX_GroupWaiting_Definition)) -- those of the ranks behind
            WHERE w.TaskDefinitionId = @vDefinition AND w.GroupId = @vGroupId AND w.Priority = @vPriority AND w.Rank > @vRank
            ORDER BY w.Rank, w.TaskId) AS b
      UNION ALL
      SELECT c.GroupId, c.Priority, c.Rank, c.TaskId
      FROM (SELECT TOP (@vMax) w.GroupId, w.Priority, w.Rank, w.TaskId
            FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK, INDEX (IX_GroupWaiting_Definition)) -- those of the priorities behind
            WHERE w.TaskDefinitionId = @vDefinition AND w.GroupId = @vGroupId AND w.Priority > @vPriority
            ORDER BY w.Priority, w.Rank, w.TaskId) AS c
      UNION ALL
      SELECT d.GroupId, d.Priority, d.Rank, d.TaskId
      FROM (SELECT TOP (@vMax) w.GroupId, w.Priority, w.Rank, w.TaskId
            FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK, INDEX (IX_GroupWaiting_Definition)) -- those of the groups behind
            WHERE w.TaskDefinitionId = @vDefinition AND w.GroupId > @vGroupId AND w.GroupId <= @vLastGroupId
            ORDER BY w.GroupId, w.Priority, w.Rank, w.TaskId) AS d) AS x
    ORDER BY x.GroupId, x.Priority, x.Rank, x.TaskId;
  ELSE
  BEGIN
    INSERT INTO @vOpen (TaskExecutionId, TokenCount, IsLive)
    SELECT e.TaskExecutionId, 0, 0
    FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
    WHERE e.TaskDefinitionId = @vDefinition AND e.State IN (1, 3);
    UPDATE o
    SET TokenCount = e.TokenCount, IsLive = CASE WHEN e.State = 1 AND e.LeaseUntil >= @vNow THEN 1 ELSE 0 END
    FROM @vOpen AS o
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
    INSERT INTO @vListed (N, TaskId, TaskExecutionId, ClaimedAt, Standing, IsWanted)
    SELECT TOP (@vMax) ROW_NUMBER() OVER (ORDER BY x.Standing, x.TaskExecutionId, x.TaskId), x.TaskId, x.TaskExecutionId, x.ClaimedAt, x.Standing, 1
    FROM (
      SELECT c.TaskId, c.TaskExecutionId, c.ClaimedAt,
             CASE WHEN o.IsLive = 0 THEN 3 -- else the first ones that count as started, one per token
                  WHEN c.IsPrefetched = 0 AND ROW_NUMBER() OVER (PARTITION BY c.TaskExecutionId, c.IsPrefetched ORDER BY c.Fence, c.Ordinal) <= o.TokenCount THEN 1
                  ELSE 2 END AS Standing
      FROM @vOpen AS o
      INNER JOIN Taskgate.Claim AS c WITH (INDEX (PK_Claim)) ON c.TaskExecutionId = o.TaskExecutionId) AS x -- the execution's range
    WHERE x.Standing > @vStanding
      OR (x.Standing = @vStanding AND (x.TaskExecutionId > @vExecution OR (x.TaskExecutionId = @vExecution AND x.TaskId > @vTaskId)))
    ORDER BY x.Standing, x.TaskExecutionId, x.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per execution
  END;

  -- 4. Those that the filters leave; the payload's, which costs most, last, and of no more than 4 MiB: some tenths of a second.
  IF @vPath IS NOT NULL
    SELECT @vLook = COUNT(*)
    FROM (
      SELECT SUM(b.Bytes) OVER (ORDER BY x.N) - b.Bytes AS BytesBefore
      FROM @vListed AS x
      LEFT JOIN Taskgate.Archive AS a ON a.TaskId = x.TaskId -- first, as a purge goes
      LEFT JOIN Taskgate.Task AS t ON t.TaskId = x.TaskId -- also of a done one: with its payload
      CROSS APPLY (VALUES (COALESCE(DATALENGTH(t.PayloadUtf8), DATALENGTH(a.PayloadUtf8), DATALENGTH(t.Payload), DATALENGTH(a.Payload), 0))) AS b (Bytes)
      WHERE x.N <= @vLook) AS s
    WHERE s.BytesBefore < 4194304
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per task
  IF @vIsSearch = 1 AND @vOutcome IS NOT NULL
  BEGIN
    UPDATE @vListed SET IsWanted = 0;
    UPDATE x
    SET IsWanted = 1
    FROM @vListed AS x
    INNER JOIN Taskgate.Archive AS a ON a.TaskId = x.TaskId
    WHERE x.N <= @vLook AND a.CreatedAt >= @vCreatedSince AND a.CreatedAt < @vCreatedBefore
      AND (@vKey IS NULL OR a.DedupeKey = @vKey)
      AND (@vKeyPrefix IS NULL OR (DATALENGTH(a.DedupeKey) >= DATALENGTH(@vKeyPrefix) AND LEFT(a.DedupeKey, @vPrefixLength) = @vKeyPrefix COLLATE Latin1_General_100_BIN2))
      AND (@BatchId IS NULL OR a.WaveId IN (SELECT v.WaveId FROM @vWave AS v))
      AND (@vGroupKey IS NULL OR a.GroupId IN (SELECT g.GroupId FROM @vGroup AS g)
           OR EXISTS (SELECT 1 FROM Taskgate.EndedEarly AS y WHERE y.TaskId = a.TaskId AND y.PendingGroupKey = @vGroupKey)) -- before it came into its group
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    IF @vPath IS NOT NULL
      UPDATE x
      SET IsWanted = 0
      FROM @vListed AS x
      INNER JOIN Taskgate.Archive AS a ON a.TaskId = x.TaskId
      LEFT JOIN Taskgate.Task AS t ON t.TaskId = x.TaskId -- of a done one: with its payload
      CROSS APPLY Taskgate._PayloadHasOf(
        COALESCE(CONVERT(nvarchar(max), COALESCE(t.PayloadUtf8, a.PayloadUtf8)) COLLATE Latin1_General_100_BIN2, t.Payload, a.Payload), @vPath, @vValue) AS h
      WHERE x.IsWanted = 1 AND h.Has = 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per task
  END;
  ELSE IF @vIsSearch = 1
  BEGIN
    UPDATE @vListed SET IsWanted = 0;
    UPDATE x
    SET IsWanted = 1
    FROM @vListed AS x
    INNER JOIN Taskgate.Task AS t ON t.TaskId = x.TaskId
    WHERE x.N <= @vLook AND t.CreatedAt >= @vCreatedSince AND t.CreatedAt < @vCreatedBefore
      AND (@vKey IS NULL OR t.DedupeKey = @vKey) AND (@vHolder IS NULL OR t.TaskId = @vHolder) -- another one had the key before
      AND (@vKeyPrefix IS NULL OR (DATALENGTH(t.DedupeKey) >= DATALENGTH(@vKeyPrefix) AND LEFT(t.DedupeKey, @vPrefixLength) = @vKeyPrefix COLLATE Latin1_General_100_BIN2))
      AND (@BatchId IS NULL OR t.WaveId IN (SELECT v.WaveId FROM @vWave AS v))
      AND (@vGroupKey IS NULL OR t.GroupId IN (SELECT g.GroupId FROM @vGroup AS g) OR t.PendingGroupKey = @vGroupKey)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    IF @vPath IS NOT NULL
      UPDATE x
      SET IsWanted = 0
      FROM @vListed AS x
      INNER JOIN Taskgate.Task AS t ON t.TaskId = x.TaskId
      CROSS APPLY Taskgate._PayloadHasOf(COALESCE(CONVERT(nvarchar(max), t.PayloadUtf8) COLLATE Latin1_General_100_BIN2, t.Payload), @vPath, @vValue) AS h
      WHERE x.IsWanted = 1 AND h.Has = 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;

  -- 5. The page's end: its last task, where it is full; else the last one that was looked at.
  SELECT @vCut = MAX(w.N), @vCount = COUNT(*)
  FROM (SELECT TOP (@Max) x.N FROM @vListed AS x WHERE x.IsWanted = 1 AND x.N <= @vLook ORDER BY x.N) AS w;
  IF @vCount < @Max SELECT @vCut = COALESCE(MAX(x.N), 0) FROM @vListed AS x WHERE x.N <= @vLook;
  IF @vIsHolder = 1
    SET @vCut = @vCount; -- no other task holds the key
  ELSE IF EXISTS (SELECT 1 FROM @vListed AS x WHERE x.N = @vCut + 1)
    SELECT @vLastTask = x.TaskId, @vLastAt = Taskgate._Iso(x.At),
           @vNext = N'["' + CONVERT(nvarchar(20), x.TaskId) + N'","'
             + CASE @vState WHEN N'ready' THEN CONVERT(nvarchar(20), x.Rank) + N'","' + CONVERT(nvarchar(11), x.Priority)
                            WHEN N'waiting' THEN CONVERT(nvarchar(20), x.Rank) + N'","' + CONVERT(nvarchar(11), x.Priority) + N'","' + CONVERT(nvarchar(11), x.GroupId)
                            WHEN N'claimed' THEN CONVERT(nvarchar(20), x.TaskExecutionId) + N'","' + CONVERT(nvarchar(11), x.Standing)
                            ELSE Taskgate._Iso(x.At) END + N'"]'
    FROM @vListed AS x
    WHERE x.N = @vCut;

  -- 6. The tasks, by key.
  IF @vOutcome IS NOT NULL
    SELECT @vTasks = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"task":"') COLLATE Latin1_General_100_BIN2 -- keys and texts differ in it
             + CONVERT(nvarchar(20), a.TaskId)
             + N'","kind":"' + STRING_ESCAPE(a.Kind, 'json')
             + N'","priority":' + CONVERT(nvarchar(11), a.Priority)
             + N',"state":"' + @vState
             + N'","createdAt":"' + Taskgate._Iso(a.CreatedAt)
             + N'","finishedAt":"' + Taskgate._Iso(a.FinishedAt)
             + N'","failedCount":' + CONVERT(nvarchar(11), a.FailedCount)
             + N',"lostCount":' + CONVERT(nvarchar(11), a.LostCount)
             + N',"error":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), a.ErrorUtf8) COLLATE Latin1_General_100_BIN2, a.Error), 'json') + N'"', N'null')
             + N',"worker":' + COALESCE(N'"' + STRING_ESCAPE(e.Worker, 'json') + N'"', N'null') + N'}', N',')
             WITHIN GROUP (ORDER BY x.N) + N']'
    FROM @vListed AS x
    INNER JOIN Taskgate.Archive AS a ON a.TaskId = x.TaskId
    LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = a.TaskExecutionId
    WHERE x.IsWanted = 1 AND x.N <= @vCut
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  ELSE
    SELECT @vTasks = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"task":"') COLLATE Latin1_General_100_BIN2 -- keys and texts differ in it
             + CONVERT(nvarchar(20), t.TaskId)
             + N'","kind":"' + STRING_ESCAPE(t.Kind, 'json')
             + N'","priority":' + CONVERT(nvarchar(11), t.Priority)
             + N',"state":"' + CASE x.Standing WHEN 1 THEN N'running' WHEN 2 THEN N'prefetched' WHEN 3 THEN N'lost' ELSE @vState END
             + N'","createdAt":"' + Taskgate._Iso(t.CreatedAt)
             + N'","dueAt":' + COALESCE(N'"' + Taskgate._Iso(CASE @vState WHEN N'scheduled' THEN x.At WHEN N'ready' THEN d.DueAt END) + N'"', N'null')
             + N',"claimedAt":' + COALESCE(N'"' + Taskgate._Iso(x.ClaimedAt) + N'"', N'null')
             + N',"failedCount":' + CONVERT(nvarchar(11), t.FailedCount)
             + N',"lostCount":' + CONVERT(nvarchar(11), t.LostCount)
             + N',"error":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), t.LastErrorUtf8) COLLATE Latin1_General_100_BIN2, t.LastError), 'json') + N'"', N'null')
             + N',"worker":' + COALESCE(N'"' + STRING_ESCAPE(e.Worker, 'json') + N'"', N'null') + N'}', N',')
             WITHIN GROUP (ORDER BY x.N) + N']'
    FROM @vListed AS x
    INNER JOIN Taskgate.Task AS t ON t.TaskId = x.TaskId
    LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = x.TaskExecutionId
    LEFT JOIN Taskgate.Wave AS w ON w.WaveId = t.WaveId AND @vState = N'ready'
    CROSS APPLY Taskgate._DueAt(t.CreatedAt, t.DueAt, w.OpenedAt) AS d
    WHERE x.IsWanted = 1 AND x.N <= @vCut
      AND NOT EXISTS ( -- one that was done since has its row still, and no wave; versions or not, no wait
        SELECT 1 FROM Taskgate.Archive AS z WITH (READCOMMITTEDLOCK, READPAST, INDEX (PK_Archive)) WHERE z.TaskId = t.TaskId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each per task
  SELECT N'listed' AS [Status], COALESCE(@vTasks, N'[]') AS [Tasks], @vCut AS [LookedAt], @vNext AS [Next], @vLastTask AS [LastTask],
         @vLastAt AS [LastAt];
END;
