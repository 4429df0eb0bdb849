-- Taskgate._HandOver: tasks that leave their groups give their slots to the next waiting ones, in order.
-- In:     @Leaving Taskgate.GroupedTaskList: tasks, each with its group
-- Out:    @oWoken: JSON array of ids of definitions that got ready tasks, '[]' when none did
-- Raises: 50499 a group's row is missing
-- Locks:  TaskGroup ascending, then their slots and waiters. Joins the caller's transaction
-- Isolation: a call that changes a group's slots or waiters locks its row first, so the statements after the lock see all that the
--         last holder committed; of two callers that end tasks of one group the second waits, then counts the first one's slots
-- Plan:   primary keys; first entries of PK_GroupWaiting under each group; joins are loops in the written order. As many statements
--         for a thousand groups as for one
-- Twin:   postgres/sql/functions/_hand_over.sql
CREATE OR ALTER PROCEDURE Taskgate._HandOver
  @Leaving Taskgate.GroupedTaskList READONLY, @oWoken nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vFrom int = 1, @vCount int, @vLocked int = 0, @vMessage nvarchar(2048);
  DECLARE @vWanted TABLE (K int NOT NULL PRIMARY KEY CLUSTERED, GroupId int NOT NULL);
  DECLARE @vGate TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED, Slots smallint NOT NULL); -- none of a paused group
  DECLARE @vChosen TABLE (
    GroupId int NOT NULL, K int NOT NULL, Priority smallint NOT NULL, Rank bigint NOT NULL, TaskId bigint NOT NULL,
    TaskDefinitionId int NOT NULL, PRIMARY KEY CLUSTERED (GroupId, K));

  -- 1. Lock, then look: kept to the end.
  INSERT INTO @vWanted (K, GroupId)
  SELECT ROW_NUMBER() OVER (ORDER BY x.GroupId), x.GroupId
  FROM (SELECT DISTINCT l.GroupId FROM @Leaving AS l) AS x;
  SET @vCount = @@ROWCOUNT;
  WHILE @vFrom <= @vCount -- a thousand at a time: far below lock escalation
  BEGIN
    INSERT INTO @vGate (GroupId, Slots)
    SELECT g.GroupId, CASE g.Paused WHEN 1 THEN 0 ELSE g.Slots END
    FROM @vWanted AS w
    INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- the row itself, as it is now
      ON g.GroupId = w.GroupId
    WHERE w.K BETWEEN @vFrom AND @vFrom + 999
    ORDER BY w.K
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group, ascending
    SELECT @vLocked = @vLocked + @@ROWCOUNT, @vFrom = @vFrom + 1000;
  END;
  IF @vLocked < @vCount
  BEGIN
    SELECT @vMessage = N'group_id: a task names a group that is gone (' + CONVERT(nvarchar(11), MIN(w.GroupId)) + N')'
    FROM @vWanted AS w WHERE NOT EXISTS (SELECT 1 FROM @vGate AS a WHERE a.GroupId = w.GroupId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per group
    THROW 50499, @vMessage, 1;
  END;

  -- 2. Slots that are left, and who gets them.
  DELETE s
  FROM @vGate AS a
  INNER JOIN Taskgate.GroupSlot AS s WITH (ROWLOCK, UPDLOCK, FORCESEEK) ON s.GroupId = a.GroupId -- the group's few rows as they are now
  WHERE EXISTS (SELECT 1 FROM @Leaving AS l WHERE l.TaskId = s.TaskId)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group, and one per slot
  INSERT INTO @vChosen (GroupId, K, Priority, Rank, TaskId, TaskDefinitionId)
  SELECT a.GroupId, ROW_NUMBER() OVER (PARTITION BY a.GroupId ORDER BY w.Priority, w.Rank, w.TaskId), w.Priority, w.Rank, w.TaskId,
         w.TaskDefinitionId
  FROM @vGate AS a
  CROSS APPLY (
    SELECT CASE WHEN COUNT(*) < a.Slots THEN a.Slots - COUNT(*) ELSE 0 END AS Free
    FROM Taskgate.GroupSlot AS s WITH (FORCESEEK) WHERE s.GroupId = a.GroupId) AS f -- the group's few rows
  CROSS APPLY (
    SELECT TOP (f.Free) x.Priority, x.Rank, x.TaskId, x.TaskDefinitionId
    FROM Taskgate.GroupWaiting AS x WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- in key order; no call skips rows inside a group
    WHERE x.GroupId = a.GroupId
    ORDER BY x.Priority, x.Rank, x.TaskId) AS w
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- the first entries of each group
  IF @@ROWCOUNT > 0
  BEGIN
    DELETE w
    FROM @vChosen AS c
    INNER JOIN Taskgate.GroupWaiting AS w WITH (ROWLOCK, UPDLOCK) -- ours already
      ON w.GroupId = c.GroupId AND w.Priority = c.Priority AND w.Rank = c.Rank AND w.TaskId = c.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO Taskgate.GroupSlot WITH (ROWLOCK) (GroupId, Slot, TaskId)
    SELECT f.GroupId, f.Slot, c.TaskId
    FROM (
      SELECT a.GroupId, n.N AS Slot, ROW_NUMBER() OVER (PARTITION BY a.GroupId ORDER BY n.N) AS K
      FROM (SELECT DISTINCT x.GroupId FROM @vChosen AS x) AS t
      INNER JOIN @vGate AS a ON a.GroupId = t.GroupId
      INNER JOIN Taskgate.Number AS n WITH (FORCESEEK) ON n.N <= a.Slots -- the first so many numbers
      WHERE NOT EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS s WHERE s.GroupId = a.GroupId AND s.Slot = n.N)) AS f
    INNER JOIN @vChosen AS c ON c.GroupId = f.GroupId AND c.K = f.K
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per slot
    INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId, IsSolo)
    SELECT c.TaskDefinitionId, c.Priority, c.Rank, c.TaskId, CASE WHEN t.LostCount >= 2 THEN 1 ELSE 0 END
    FROM @vChosen AS c
    INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;

  SELECT @oWoken = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), x.TaskDefinitionId), N','), N'') + N']'
  FROM (SELECT DISTINCT c.TaskDefinitionId FROM @vChosen AS c) AS x;
END;
