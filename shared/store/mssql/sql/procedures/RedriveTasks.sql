-- Taskgate.RedriveTasks: dead or cancelled tasks become tasks again, with the same ids: counters at 0, attempts kept. In a wave that
--         hasn't ended they count again: blocked until it opens, or open as the others; so they do in the wave behind which their batch
--         halted, which is open again then. When another wave has ended they come back on their own.
--         What they do then is a trace of its own: the archive doesn't keep the one that they were enqueued in.
-- In:     @TaskIds: JSON array of 1..1000 ids; or null and a filter: @Name: the definition; @Kind: or null for all;
--         @Outcome: dead (null: so) | cancelled; @Max int 1..1000: the oldest so many; @ChangedBy (null: the login), @Reason for the audit
-- Out:    Status: done; Results: JSON array of {task, outcome}, each task once, ids in input order, found ones oldest first.
--           Outcome: redriven | duplicate (another task holds its dedupe key: it stays) | busy (locked at this moment: ask again) |
--           unfinished (it is a task already) | done (it ended well) | unknown
--         Woken: JSON array of definitions that got ready tasks, or due ones whose group is still to be made, or null
-- Raises: 50404 unknown definition; 50422 a bad value; 50490 inside a transaction; 1222, 50423 locked for longer than 2 s;
--         50425, 1205 chosen to end a circle of waiters
-- Locks:  Archive by skip; EndedEarly of these tasks; dedupe keys as _LockKeys (enqueues of an equal key); gates of waves
--         that aren't open, ascending and shared, as _EnterWave; Dedupe, read behind the end of the key's task, expired keys and new
--         ones; TaskGroup ascending; waves and batches as _RejoinWaves; new rows; as _AuditCall
-- Isolation: the call that holds the archive's row redrives the task; another caller skips it. An equal dedupe key is
--         taken by one of two redrives or enqueues, as in EnqueueTasks: the row of a key is read under the key's own lock
-- Plan:   primary keys; IX_Archive_Finished from its old end; joins are loops in the written order
-- Once:   naturally: a repeat finds the task unfinished, and leaves no entry in the audit
-- Twin:   postgres/sql/functions/redrive_tasks.sql
CREATE OR ALTER PROCEDURE Taskgate.RedriveTasks
  @TaskIds nvarchar(max), @Name nvarchar(max) = NULL, @Kind nvarchar(max) = NULL, @Outcome nvarchar(max) = NULL, @Max int = NULL,
  @ChangedBy nvarchar(max) = NULL, @Reason nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vCount int = 0, @vDefinition int,
          @vOutcome tinyint, @vWokenIds nvarchar(max), @vResults nvarchar(max), @vMissed nvarchar(max), @vChanged nvarchar(max),
          @vWaveId bigint, @vBatchId bigint, @vWaveState tinyint, @vTakes bit, @vIsHalted bit, @vEnded nvarchar(max);
  DECLARE @vAsked TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Ord int NOT NULL, Outcome nvarchar(20) NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Priority smallint NOT NULL, Rank bigint NOT NULL,
    DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, GroupId int NULL, Outcome nvarchar(20) NOT NULL,
    Place tinyint NOT NULL, Slot smallint NULL, -- place 1 ready, 2 ready with a slot, 3 waiting, 4 scheduled, 5 blocked
    Ended tinyint NOT NULL, WaveId bigint NULL, PendingGroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
    PendingGroupIsGlobal bit NULL, WasBlocked bit NOT NULL);
  DECLARE @vKey TABLE (
    TaskDefinitionId int NOT NULL, DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, TaskId bigint NOT NULL,
    OwnerId bigint NULL, IsExpired bit NOT NULL, PRIMARY KEY CLUSTERED (TaskDefinitionId, DedupeKey));
  DECLARE @vLock Taskgate.KeyLockList, @vRejoining Taskgate.WaveTaskList;
  DECLARE @vGate TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED, Slots smallint NULL, Free int NULL);
  DECLARE @vSlot TABLE (GroupId int NOT NULL, K int NOT NULL, Slot smallint NOT NULL, PRIMARY KEY CLUSTERED (GroupId, K));

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  -- 1. Which ones, with nothing locked.
  IF @TaskIds IS NOT NULL
  BEGIN
    IF Taskgate._JsonKind(@TaskIds) = N'[' SELECT @vCount = COUNT(*) FROM OPENJSON(@TaskIds) AS j;
    IF @vCount NOT BETWEEN 1 AND 1000 OR EXISTS (SELECT 1 FROM OPENJSON(@TaskIds) AS j WHERE TRY_CONVERT(bigint, j.[value]) IS NULL)
      THROW 50422, N'task_ids: expected a JSON array of 1..1000 ids', 1;
    IF @Name IS NOT NULL THROW 50422, N'name: expected either task_ids or a filter, not both', 1;
    INSERT INTO @vAsked (TaskId, Ord)
    SELECT TRY_CONVERT(bigint, j.[value]), MIN(CONVERT(int, j.[key])) FROM OPENJSON(@TaskIds) AS j GROUP BY TRY_CONVERT(bigint, j.[value]);
  END;
  ELSE
  BEGIN
    EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
    SELECT @vOutcome = o.Number
    FROM (VALUES (N'dead', 11), (N'cancelled', 12)) AS o (Name, Number)
    WHERE o.Name = COALESCE(@Outcome, N'dead') COLLATE Latin1_General_100_BIN2
      AND DATALENGTH(o.Name) = DATALENGTH(COALESCE(@Outcome, N'dead')); -- case and blanks count
    IF @vOutcome IS NULL
    BEGIN
      SET @vMessage = N'outcome: expected dead or cancelled (' + REPLACE(LEFT(@Outcome, 220), N'%', N'%%') + N')';
      THROW 50422, @vMessage, 1;
    END;
    EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;
    IF @Kind IS NULL
      INSERT INTO @vAsked (TaskId, Ord)
      SELECT TOP (@Max) a.TaskId, ROW_NUMBER() OVER (ORDER BY a.FinishedAt, a.TaskId)
      FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Finished)) -- from the old end; covers this read
      WHERE a.TaskDefinitionId = @vDefinition AND a.Outcome = @vOutcome
      ORDER BY a.FinishedAt, a.TaskId;
    ELSE
      INSERT INTO @vAsked (TaskId, Ord)
      SELECT TOP (@Max) a.TaskId, ROW_NUMBER() OVER (ORDER BY a.FinishedAt, a.TaskId)
      FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Finished)) -- from the old end
      INNER JOIN Taskgate.Archive AS b ON b.TaskId = a.TaskId
      WHERE a.TaskDefinitionId = @vDefinition AND a.Outcome = @vOutcome
        AND b.Kind = @Kind COLLATE Latin1_General_100_BIN2 AND DATALENGTH(b.Kind) = DATALENGTH(@Kind)
      ORDER BY a.FinishedAt, a.TaskId
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;

  BEGIN TRY
    BEGIN TRANSACTION;
    -- 2. Tasks that no other call redrives or purges at this moment.
    INSERT INTO @vTask (TaskId, TaskDefinitionId, Priority, Rank, DedupeKey, GroupId, Outcome, Place, Ended, WaveId, WasBlocked)
    SELECT a.TaskId, a.TaskDefinitionId, a.Priority, a.Rank, a.DedupeKey, a.GroupId,
           CASE a.Outcome WHEN 10 THEN N'done' ELSE N'redriven' END, 1, a.Outcome, a.WaveId, 0
    FROM @vAsked AS q
    INNER JOIN Taskgate.Archive AS a WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK, INDEX (PK_Archive)) ON a.TaskId = q.TaskId -- skip, don't wait
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE t
    SET Place = CASE WHEN e.PendingGroupKey IS NULL THEN 1 ELSE 4 END, PendingGroupKey = e.PendingGroupKey,
        PendingGroupIsGlobal = e.PendingGroupIsGlobal, WasBlocked = e.WasBlocked
    FROM @vTask AS t
    INNER JOIN Taskgate.EndedEarly AS e ON e.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task

    -- 3. All locks that may have to be waited for, before any read: keys, as an enqueue takes them, then waves. A wave that isn't
    -- open yet isn't opened now; one that is may still end.
    INSERT INTO @vKey (TaskDefinitionId, DedupeKey, TaskId, IsExpired)
    SELECT t.TaskDefinitionId, t.DedupeKey, MIN(t.TaskId), 0
    FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.DedupeKey IS NOT NULL
    GROUP BY t.TaskDefinitionId, t.DedupeKey;
    INSERT INTO @vLock (Name) SELECT Taskgate._KeyLock(N'dedupe', k.TaskDefinitionId, k.DedupeKey) FROM @vKey AS k;
    IF @@ROWCOUNT > 0 EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 1, @oMissed = @vMissed OUTPUT; -- kept to the end
    SELECT @vWaveId = MIN(t.WaveId) FROM @vTask AS t WHERE t.Outcome = N'redriven';
    WHILE @vWaveId IS NOT NULL
    BEGIN
      SELECT @vWaveState = NULL, @vTakes = 0;
      SELECT @vWaveState = w.State, @vBatchId = w.BatchId FROM Taskgate.Wave AS w WHERE w.WaveId = @vWaveId;
      IF @vWaveState = 0
      BEGIN
        EXEC Taskgate._EnterWave @WaveId = @vWaveId, @oTakes = @vTakes OUTPUT, @MayBeSealed = 1;
        SELECT @vWaveState = w.State FROM Taskgate.Wave AS w WHERE w.WaveId = @vWaveId; -- it may have been opened meanwhile
      END;
      SET @vIsHalted = 0;
      IF @vWaveState = 3 -- it takes them again where its batch stands behind it
        SELECT @vIsHalted = 1
        FROM Taskgate.Batch AS b WITH (READCOMMITTEDLOCK, READPAST) -- versions or not, no wait
        WHERE b.BatchId = @vBatchId AND b.State = 2;
      UPDATE t
      SET Place = CASE @vTakes WHEN 1 THEN 5 ELSE t.Place END,
          WaveId = CASE WHEN @vTakes = 1 OR @vWaveState IN (1, 2) OR @vIsHalted = 1 THEN t.WaveId END
      FROM @vTask AS t WHERE t.WaveId = @vWaveId;
      SELECT @vWaveId = MIN(t.WaveId) FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.WaveId > @vWaveId;
    END;

    -- 4. Keys: expired ones are replaced; who finds one taken is a duplicate.
    IF EXISTS (SELECT 1 FROM @vKey AS k)
    BEGIN
      UPDATE k
      SET OwnerId = CASE WHEN d.ExpiresAt < @vNow THEN NULL ELSE d.TaskId END,
          IsExpired = CASE WHEN d.ExpiresAt < @vNow THEN 1 ELSE 0 END
      FROM @vKey AS k
      INNER JOIN Taskgate.Dedupe AS d WITH (READCOMMITTEDLOCK) -- behind the end of the key's task, then keeps nothing
        ON d.TaskDefinitionId = k.TaskDefinitionId AND d.DedupeKey = k.DedupeKey
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
      DELETE d
      FROM @vKey AS k
      INNER JOIN Taskgate.Dedupe AS d WITH (ROWLOCK, UPDLOCK) -- no other call writes a key with a window
        ON d.TaskDefinitionId = k.TaskDefinitionId AND d.DedupeKey = k.DedupeKey
      WHERE k.IsExpired = 1
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
      INSERT INTO Taskgate.Dedupe WITH (ROWLOCK) (TaskDefinitionId, DedupeKey, TaskId)
      SELECT k.TaskDefinitionId, k.DedupeKey, k.TaskId FROM @vKey AS k WHERE k.OwnerId IS NULL;
      UPDATE t
      SET Outcome = N'duplicate'
      FROM @vTask AS t
      INNER JOIN @vKey AS k ON k.TaskDefinitionId = t.TaskDefinitionId AND k.DedupeKey = t.DedupeKey
      WHERE t.Outcome = N'redriven' AND COALESCE(k.OwnerId, k.TaskId) <> t.TaskId
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    END;

    -- 5. Groups: locked ascending, looked at, filled.
    INSERT INTO @vGate (GroupId)
    SELECT DISTINCT t.GroupId FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.GroupId IS NOT NULL AND t.Place = 1;
    IF @@ROWCOUNT > 0
    BEGIN
      SELECT @vCount = COUNT(*)
      FROM @vGate AS a
      INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- lock, then look: kept to the end
        ON g.GroupId = a.GroupId
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group, ascending
      UPDATE a
      SET Slots = g.Slots,
          Free = CASE
            WHEN g.Paused = 1 OR EXISTS (
              SELECT 1 FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK) WHERE w.GroupId = a.GroupId) THEN 0 -- one probe
            ELSE g.Slots - (
              SELECT COUNT(*) FROM Taskgate.GroupSlot AS s WITH (FORCESEEK) WHERE s.GroupId = a.GroupId) END -- its few rows
      FROM @vGate AS a
      INNER JOIN Taskgate.TaskGroup AS g ON g.GroupId = a.GroupId
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
      INSERT INTO @vSlot (GroupId, K, Slot)
      SELECT a.GroupId, ROW_NUMBER() OVER (PARTITION BY a.GroupId ORDER BY n.N), n.N
      FROM @vGate AS a
      INNER JOIN Taskgate.Number AS n WITH (FORCESEEK) ON n.N <= a.Slots -- the first so many numbers
      WHERE a.Free > 0
        AND NOT EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS s WHERE s.GroupId = a.GroupId AND s.Slot = n.N)
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per slot
      UPDATE t
      SET Place = CASE WHEN r.K <= a.Free THEN 2 ELSE 3 END, Slot = CASE WHEN r.K <= a.Free THEN f.Slot END
      FROM (
        SELECT x.TaskId, ROW_NUMBER() OVER (PARTITION BY x.GroupId ORDER BY x.Priority, x.Rank, x.TaskId) AS K
        FROM @vTask AS x WHERE x.Outcome = N'redriven' AND x.GroupId IS NOT NULL AND x.Place = 1) AS r
      INNER JOIN @vTask AS t ON t.TaskId = r.TaskId
      INNER JOIN @vGate AS a ON a.GroupId = t.GroupId
      LEFT JOIN @vSlot AS f ON f.GroupId = t.GroupId AND f.K = r.K
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each per task
    END;

    -- 6. Waves that are open count them again, those of waves that have ended meanwhile come back on their own.
    INSERT INTO @vRejoining (TaskId, WaveId, Outcome)
    SELECT t.TaskId, t.WaveId, CASE t.WasBlocked WHEN 1 THEN 0 ELSE t.Ended END
    FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.WaveId IS NOT NULL AND t.Place <> 5;
    IF @@ROWCOUNT > 0
    BEGIN
      EXEC Taskgate._RejoinWaves @Rejoining = @vRejoining, @oEnded = @vEnded OUTPUT;
      UPDATE t
      SET WaveId = NULL
      FROM OPENJSON(@vEnded) AS j
      INNER JOIN @vTask AS t ON t.WaveId = CONVERT(bigint, j.[value])
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one pass per wave, beside its statements in _RejoinWaves
    END;

    -- 7. Straight from table to table: payloads don't pass through a variable. Outside a group a task has its key only.
    INSERT INTO Taskgate.Task WITH (ROWLOCK) (
      TaskId, TaskDefinitionId, Kind, Priority, Rank, CreatedAt, GroupId, PendingGroupKey, PendingGroupIsGlobal, WaveId, DedupeKey,
      Build, PayloadUtf8, LastErrorUtf8, TraceParent)
    SELECT a.TaskId, a.TaskDefinitionId, a.Kind, a.Priority, a.Rank, a.CreatedAt, a.GroupId,
           t.PendingGroupKey, t.PendingGroupIsGlobal, t.WaveId, a.DedupeKey, a.Build,
           COALESCE(a.PayloadUtf8, CONVERT(varchar(max), a.Payload COLLATE Latin1_General_100_BIN2_UTF8)), COALESCE(a.ErrorUtf8, CONVERT(varchar(max), a.Error COLLATE Latin1_General_100_BIN2_UTF8)),
           CONVERT(nvarchar(55), a.TraceParent)
    FROM @vTask AS t
    INNER JOIN Taskgate.Archive AS a ON a.TaskId = t.TaskId
    WHERE t.Outcome = N'redriven'
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    DELETE a
    FROM @vTask AS t
    INNER JOIN Taskgate.Archive AS a WITH (ROWLOCK, UPDLOCK, FORCESEEK, INDEX (PK_Archive)) ON a.TaskId = t.TaskId -- ours already
    WHERE t.Outcome = N'redriven'
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    DELETE e
    FROM @vTask AS t
    INNER JOIN Taskgate.EndedEarly AS e WITH (ROWLOCK, UPDLOCK) ON e.TaskId = t.TaskId -- the holder of the archive's row owns this one
    WHERE t.Outcome = N'redriven'
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO Taskgate.GroupSlot WITH (ROWLOCK) (GroupId, Slot, TaskId)
    SELECT t.GroupId, t.Slot, t.TaskId FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.Place = 2;
    INSERT INTO Taskgate.GroupWaiting WITH (ROWLOCK) (GroupId, Priority, Rank, TaskId, TaskDefinitionId)
    SELECT t.GroupId, t.Priority, t.Rank, t.TaskId, t.TaskDefinitionId
    FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.Place = 3;
    INSERT INTO Taskgate.Scheduled WITH (ROWLOCK) (TaskDefinitionId, RunAt, TaskId)
    SELECT t.TaskDefinitionId, @vNow, t.TaskId FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.Place = 4; -- promotion makes the group
    INSERT INTO Taskgate.WaveBlocked WITH (ROWLOCK) (WaveId, Priority, Rank, TaskId, TaskDefinitionId)
    SELECT t.WaveId, t.Priority, t.Rank, t.TaskId, t.TaskDefinitionId
    FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.Place = 5;
    INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId)
    SELECT t.TaskDefinitionId, t.Priority, t.Rank, t.TaskId
    FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.Place IN (1, 2);
    SELECT @vChanged = N'[' + STRING_AGG(CONVERT(nvarchar(max), t.TaskId), N',') WITHIN GROUP (ORDER BY t.TaskId) + N']',
           @vDefinition = CASE WHEN MIN(t.TaskDefinitionId) = MAX(t.TaskDefinitionId) THEN MIN(t.TaskDefinitionId) ELSE 0 END
    FROM @vTask AS t WHERE t.Outcome = N'redriven';
    IF @vChanged IS NOT NULL
      EXEC Taskgate._AuditCall @Action = N'redrive_tasks', @TaskDefinitionId = @vDefinition, @BatchId = NULL, @TaskIds = @vChanged,
        @ChangedBy = @ChangedBy, @Reason = @Reason, @Now = @vNow;
    COMMIT TRANSACTION;

    UPDATE q SET Outcome = t.Outcome FROM @vAsked AS q INNER JOIN @vTask AS t ON t.TaskId = q.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE q
    SET Outcome = N'busy'
    FROM @vAsked AS q
    INNER JOIN Taskgate.Archive AS a WITH (INDEX (PK_Archive)) ON a.TaskId = q.TaskId
    WHERE q.Outcome IS NULL
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE q
    SET Outcome = N'unfinished'
    FROM @vAsked AS q
    INNER JOIN Taskgate.Task AS t ON t.TaskId = q.TaskId
    WHERE q.Outcome IS NULL
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vResults = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"task":"' + CONVERT(nvarchar(20), q.TaskId) + N'","outcome":"'
           + COALESCE(q.Outcome, N'unknown') + N'"}'), N',') WITHIN GROUP (ORDER BY q.Ord) + N']'
  FROM @vAsked AS q;
  SELECT @vWokenIds = N'[' + STRING_AGG(CONVERT(nvarchar(max), w.TaskDefinitionId), N',') + N']'
  FROM (SELECT DISTINCT t.TaskDefinitionId FROM @vTask AS t WHERE t.Outcome = N'redriven' AND t.Place IN (1, 2, 4)) AS w;
  SELECT N'done' AS [Status], COALESCE(@vResults, N'[]') AS [Results], Taskgate._DefinitionNames(@vWokenIds, 0) AS [Woken];
END;
