-- Taskgate._Promote: moves due tasks of one definition from Scheduled to where they may be claimed, without waiting for another call.
-- In:     @TaskDefinitionId int; @Max int 1..10000; @Now
-- Out:    @oPromoted: how many left Scheduled; grouped ones whose group is locked, being made or being removed just now stay for the next call
-- Raises: -
-- Locks:  an application lock of the definition, by skip: one promotes a definition's tasks at a time, the others go on (0). Two at a
--         time could put a later task of a strict group before an earlier one. Scheduled by skip, in (RunAt, TaskId) order; for missing groups an application lock each, by skip, as _LockKeys names them,
--         and TaskDefinition, read by skip; TaskGroup by skip and new rows; GroupSlot, GroupWaiting, Task of these, new rows of
--         Ready. Joins the caller's transaction
-- Isolation: two callers take different rows, as each skips what the other holds; groups are locked in one statement and
--         looked at in later ones. A group that doesn't exist yet is made by the call that has the lock of its key, here
--         and in EnqueueTasks: the caller may hold group rows, so it must not wait for a new key in an index
-- Plan:   at most 1000 new groups; first entries of PK_Scheduled; primary keys, UQ_TaskGroup_Key; at most 1000 rows per write;
--         joins are loops in the written order
-- Twin:   postgres/sql/functions/_promote.sql, _make_pending_groups.sql
CREATE OR ALTER PROCEDURE Taskgate._Promote
  @TaskDefinitionId int, @Max int, @Now datetime2(3), @oPromoted int OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vFrom int, @vCount int, @vMissed nvarchar(max);
  DECLARE @vDue TABLE (RunAt datetime2(3) NOT NULL, TaskId bigint NOT NULL, PRIMARY KEY CLUSTERED (RunAt, TaskId));
  DECLARE @vTask TABLE (
    Ord int NOT NULL PRIMARY KEY CLUSTERED, TaskId bigint NOT NULL, RunAt datetime2(3) NOT NULL, Priority smallint NOT NULL,
    Rank bigint NOT NULL, IsSolo bit NOT NULL, GroupId int NULL, Scope int NOT NULL,
    PendingGroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL,
    Place tinyint NOT NULL, Slot smallint NULL); -- place 0 stays, 1 ready, 2 ready with a new slot, 3 waiting
  DECLARE @vMissing TABLE (
    Scope int NOT NULL, GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, GroupId int NULL,
    LockName nvarchar(255) COLLATE Latin1_General_100_BIN2 NOT NULL, PRIMARY KEY CLUSTERED (Scope, GroupKey));
  DECLARE @vTurn Taskgate.KeyLockList, @vLock Taskgate.KeyLockList;
  DECLARE @vWanted TABLE (K int NOT NULL PRIMARY KEY CLUSTERED, GroupId int NOT NULL);
  DECLARE @vGate TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED, Slots smallint NULL, Free int NULL);
  DECLARE @vSlot TABLE (GroupId int NOT NULL, K int NOT NULL, Slot smallint NOT NULL, PRIMARY KEY CLUSTERED (GroupId, K));

  SET @oPromoted = 0;
  INSERT INTO @vTurn (Name) VALUES (Taskgate._KeyLock(N'promotion', @TaskDefinitionId, N''));
  EXEC Taskgate._LockKeys @Keys = @vTurn, @Waits = 0, @oMissed = @vMissed OUTPUT; -- kept to the end; never waits
  IF @vMissed <> N'[]' RETURN;
  -- 1. Due rows that no other call is taking. Own statement, so that the next one sees the tasks of rows committed meanwhile.
  INSERT INTO @vDue (RunAt, TaskId)
  SELECT TOP (@Max) s.RunAt, s.TaskId
  FROM Taskgate.Scheduled AS s WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK) -- keep them, skip others', in key order
  WHERE s.TaskDefinitionId = @TaskDefinitionId AND s.RunAt <= @Now
  ORDER BY s.RunAt, s.TaskId
  OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@Max = 100)); -- a seek without a sort
  IF @@ROWCOUNT = 0 RETURN;
  INSERT INTO @vTask (Ord, TaskId, RunAt, Priority, Rank, IsSolo, GroupId, Scope, PendingGroupKey, Place)
  SELECT ROW_NUMBER() OVER (ORDER BY d.RunAt, d.TaskId), t.TaskId, d.RunAt, t.Priority, t.Rank,
         CASE WHEN t.LostCount >= 2 THEN 1 ELSE 0 END, t.GroupId,
         CASE WHEN t.PendingGroupIsGlobal = 1 THEN 0 ELSE @TaskDefinitionId END, t.PendingGroupKey,
         CASE WHEN t.GroupId IS NULL AND t.PendingGroupKey IS NULL THEN 1 ELSE 0 END
  FROM @vDue AS d
  INNER JOIN Taskgate.Task AS t ON t.TaskId = d.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  SET @vCount = @@ROWCOUNT;

  -- 2. Groups by their keys, made where they are missing, unless another call makes one now.
  IF EXISTS (SELECT 1 FROM @vTask AS x WHERE x.PendingGroupKey IS NOT NULL)
  BEGIN
    INSERT INTO @vMissing (Scope, GroupKey, LockName)
    SELECT k.Scope, k.PendingGroupKey, Taskgate._KeyLock(N'group', k.Scope, k.PendingGroupKey)
    FROM (SELECT DISTINCT x.Scope, x.PendingGroupKey FROM @vTask AS x WHERE x.PendingGroupKey IS NOT NULL) AS k;
    UPDATE m
    SET GroupId = g.GroupId
    FROM @vMissing AS m
    INNER JOIN Taskgate.TaskGroup AS g WITH (READCOMMITTEDLOCK, READPAST) -- no wait for the call that makes it
      ON g.TaskDefinitionId = m.Scope AND g.GroupKey = m.GroupKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
    INSERT INTO @vLock (Name)
    SELECT TOP (1000) m.LockName -- more of them: the next call
    FROM @vMissing AS m WHERE m.GroupId IS NULL ORDER BY m.Scope, m.GroupKey;
    EXEC Taskgate._LockKeys @Keys = @vLock, @Waits = 0, @oMissed = @vMissed OUTPUT; -- kept to the end; never waits
    DELETE m
    FROM @vMissing AS m
    WHERE m.GroupId IS NULL
      AND (NOT EXISTS (SELECT 1 FROM @vLock AS l WHERE l.Name = m.LockName)
        OR EXISTS (SELECT 1 FROM OPENJSON(@vMissed) AS j WHERE j.[value] COLLATE Latin1_General_100_BIN2 = m.LockName))
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per key
    INSERT INTO Taskgate.TaskGroup WITH (ROWLOCK) (TaskDefinitionId, GroupKey, Slots, Strict)
    SELECT m.Scope, m.GroupKey, d.GroupSlots, d.GroupStrict
    FROM @vMissing AS m
    INNER JOIN Taskgate.TaskDefinition AS d WITH (READCOMMITTEDLOCK, READPAST) -- no wait: is it locked, then the next call
      ON d.TaskDefinitionId = @TaskDefinitionId
    WHERE m.GroupId IS NULL
      AND NOT EXISTS (SELECT 1 FROM Taskgate.TaskGroup AS g WHERE g.TaskDefinitionId = m.Scope AND g.GroupKey = m.GroupKey)
    ORDER BY m.Scope, m.GroupKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
    UPDATE m
    SET GroupId = g.GroupId
    FROM @vMissing AS m
    INNER JOIN Taskgate.TaskGroup AS g ON g.TaskDefinitionId = m.Scope AND g.GroupKey = m.GroupKey
    WHERE m.GroupId IS NULL
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
    UPDATE x
    SET GroupId = m.GroupId
    FROM @vTask AS x
    INNER JOIN @vMissing AS m ON m.Scope = x.Scope AND m.GroupKey = x.PendingGroupKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;

  -- 3. Their groups, as far as they are free: own statements, so that the next one sees what the last holder committed.
  INSERT INTO @vWanted (K, GroupId)
  SELECT ROW_NUMBER() OVER (ORDER BY x.GroupId), x.GroupId
  FROM (SELECT DISTINCT t.GroupId FROM @vTask AS t WHERE t.GroupId IS NOT NULL) AS x;
  SET @vFrom = 1;
  WHILE EXISTS (SELECT 1 FROM @vWanted AS w WHERE w.K >= @vFrom)
  BEGIN
    INSERT INTO @vGate (GroupId)
    SELECT g.GroupId
    FROM @vWanted AS w
    INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_TaskGroup)) -- the row itself; skip, don't wait
      ON g.GroupId = w.GroupId
    WHERE w.K BETWEEN @vFrom AND @vFrom + 999
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group, ascending
    SET @vFrom = @vFrom + 1000;
  END;

  -- 4. Look, and decide. A strict group's retry still has its slot. A group that has been removed meanwhile has no gate.
  IF EXISTS (SELECT 1 FROM @vGate AS a)
  BEGIN
    UPDATE a
    SET Slots = g.Slots,
        Free = CASE
          WHEN g.Paused = 1 OR EXISTS (
            SELECT 1 FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK) WHERE w.GroupId = a.GroupId) THEN 0 -- one probe
          ELSE g.Slots - (
            SELECT COUNT(*) FROM Taskgate.GroupSlot AS s WITH (FORCESEEK) WHERE s.GroupId = a.GroupId) END -- the group's few rows
    FROM @vGate AS a
    INNER JOIN Taskgate.TaskGroup AS g ON g.GroupId = a.GroupId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
    UPDATE x
    SET Place = 1
    FROM @vTask AS x
    INNER JOIN @vGate AS a ON a.GroupId = x.GroupId
    INNER JOIN Taskgate.GroupSlot AS s WITH (FORCESEEK) ON s.GroupId = x.GroupId AND s.TaskId = x.TaskId -- the group's few rows
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO @vSlot (GroupId, K, Slot)
    SELECT a.GroupId, ROW_NUMBER() OVER (PARTITION BY a.GroupId ORDER BY n.N), n.N
    FROM @vGate AS a
    INNER JOIN Taskgate.Number AS n WITH (FORCESEEK) ON n.N <= a.Slots -- the first so many numbers
    WHERE a.Free > 0
      AND NOT EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS s WHERE s.GroupId = a.GroupId AND s.Slot = n.N)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per slot
    UPDATE x
    SET Place = CASE WHEN r.K <= a.Free THEN 2 ELSE 3 END, Slot = f.Slot
    FROM (
      SELECT t.Ord, ROW_NUMBER() OVER (PARTITION BY t.GroupId ORDER BY t.Priority, t.Rank, t.TaskId) AS K
      FROM @vTask AS t WHERE t.Place = 0) AS r
    INNER JOIN @vTask AS x ON x.Ord = r.Ord
    INNER JOIN @vGate AS a ON a.GroupId = x.GroupId
    LEFT JOIN @vSlot AS f ON f.GroupId = x.GroupId AND f.K = r.K
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each per task
  END;

  -- 5. Move, a thousand at a time: far below lock escalation.
  SET @vFrom = 1;
  WHILE @vFrom <= @vCount
  BEGIN
    DELETE s
    FROM @vTask AS x
    INNER JOIN Taskgate.Scheduled AS s WITH (ROWLOCK, UPDLOCK, INDEX (PK_Scheduled)) -- ours already; the index on the id has its key, too
      ON s.TaskDefinitionId = @TaskDefinitionId AND s.RunAt = x.RunAt AND s.TaskId = x.TaskId
    WHERE x.Ord BETWEEN @vFrom AND @vFrom + 999 AND x.Place > 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    SET @oPromoted = @oPromoted + @@ROWCOUNT;
    UPDATE t
    SET GroupId = x.GroupId, PendingGroupKey = NULL, PendingGroupIsGlobal = NULL
    FROM @vTask AS x
    INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK) ON t.TaskId = x.TaskId -- the holder of the Scheduled row may write it
    WHERE x.Ord BETWEEN @vFrom AND @vFrom + 999 AND x.PendingGroupKey IS NOT NULL AND x.Place > 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO Taskgate.GroupSlot WITH (ROWLOCK) (GroupId, Slot, TaskId)
    SELECT x.GroupId, x.Slot, x.TaskId FROM @vTask AS x WHERE x.Ord BETWEEN @vFrom AND @vFrom + 999 AND x.Place = 2;
    INSERT INTO Taskgate.GroupWaiting WITH (ROWLOCK) (GroupId, Priority, Rank, TaskId, TaskDefinitionId)
    SELECT x.GroupId, x.Priority, x.Rank, x.TaskId, @TaskDefinitionId
    FROM @vTask AS x WHERE x.Ord BETWEEN @vFrom AND @vFrom + 999 AND x.Place = 3;
    INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId, IsSolo)
    SELECT @TaskDefinitionId, x.Priority, x.Rank, x.TaskId, x.IsSolo
    FROM @vTask AS x WHERE x.Ord BETWEEN @vFrom AND @vFrom + 999 AND x.Place IN (1, 2);
    SET @vFrom = @vFrom + 1000;
  END;
END;
