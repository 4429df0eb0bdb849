-- Taskgate._HandOver: tasks that leave their groups give their slots to the next waiting ones, in order.
-- In:     @Leaving Taskgate.GroupedTaskList: entries without a group are passed over
-- Out:    @oWoken: JSON array of ids of definitions that got ready tasks, '[]' when none did
-- Raises: 50499 a group's row is missing
-- Locks:  TaskGroup ascending, then its slots and waiters. Joins the caller's transaction
-- Isolation: a call that changes a group's slots or waiters locks its row first, so the statements after the lock see all that the
--         last holder committed; of two callers that end tasks of one group the second waits, then counts the first one's slots
-- Plan:   primary keys; first entries of PK_GroupWaiting under the group
-- Twin:   postgres/sql/functions/_hand_over.sql
CREATE OR ALTER PROCEDURE Taskgate._HandOver
  @Leaving Taskgate.GroupedTaskList READONLY, @oWoken nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vGroupId int, @vSlots smallint, @vPaused bit, @vFree int, @vMessage nvarchar(2048);
  DECLARE @vChosen TABLE (
    Priority smallint NOT NULL, Rank bigint NOT NULL, TaskId bigint NOT NULL, TaskDefinitionId int NOT NULL,
    PRIMARY KEY CLUSTERED (Priority, Rank, TaskId));
  DECLARE @vWoken TABLE (TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED);

  SELECT @vGroupId = MIN(l.GroupId) FROM @Leaving AS l; -- those without a group are passed over
  WHILE @vGroupId IS NOT NULL
  BEGIN
    SELECT @vSlots = g.Slots, @vPaused = g.Paused
    FROM Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK) -- lock, then look: kept to the end
    WHERE g.GroupId = @vGroupId;
    IF @@ROWCOUNT = 0
    BEGIN
      SET @vMessage = N'group_id: a task names a group that is gone (' + CONVERT(nvarchar(11), @vGroupId) + N')';
      THROW 50499, @vMessage, 1;
    END;
    DELETE s
    FROM Taskgate.GroupSlot AS s WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- the group's few rows as they are now
    WHERE s.GroupId = @vGroupId
      AND EXISTS (SELECT 1 FROM @Leaving AS l WHERE l.TaskId = s.TaskId);
    SELECT @vFree = @vSlots - COUNT(*)
    FROM Taskgate.GroupSlot AS s WITH (FORCESEEK) -- the group's few rows
    WHERE s.GroupId = @vGroupId;

    IF @vFree > 0 AND @vPaused = 0
    BEGIN
      DELETE FROM @vChosen;
      WITH NextWaiting AS (
        SELECT TOP (@vFree) w.Priority, w.Rank, w.TaskId, w.TaskDefinitionId
        FROM Taskgate.GroupWaiting AS w WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- in key order; no call skips rows inside a group
        WHERE w.GroupId = @vGroupId
        ORDER BY w.Priority, w.Rank, w.TaskId)
      DELETE FROM NextWaiting
      OUTPUT deleted.Priority, deleted.Rank, deleted.TaskId, deleted.TaskDefinitionId
      INTO @vChosen (Priority, Rank, TaskId, TaskDefinitionId)
      OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@vFree = 1)); -- a seek, regardless of statistics
      INSERT INTO Taskgate.GroupSlot WITH (ROWLOCK) (GroupId, Slot, TaskId)
      SELECT @vGroupId, f.Slot, c.TaskId
      FROM (
        SELECT n.N AS Slot, ROW_NUMBER() OVER (ORDER BY n.N) AS K
        FROM Taskgate.Number AS n WITH (FORCESEEK) -- the first so many numbers
        WHERE n.N <= @vSlots
          AND NOT EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS s WHERE s.GroupId = @vGroupId AND s.Slot = n.N)) AS f
      INNER JOIN (
        SELECT x.TaskId, ROW_NUMBER() OVER (ORDER BY x.Priority, x.Rank, x.TaskId) AS K FROM @vChosen AS x) AS c ON c.K = f.K;
      INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId, IsSolo)
      SELECT c.TaskDefinitionId, c.Priority, c.Rank, c.TaskId, CASE WHEN t.LostCount >= 2 THEN 1 ELSE 0 END
      FROM @vChosen AS c
      INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
      INSERT INTO @vWoken (TaskDefinitionId)
      SELECT DISTINCT c.TaskDefinitionId FROM @vChosen AS c
      WHERE NOT EXISTS (SELECT 1 FROM @vWoken AS w WHERE w.TaskDefinitionId = c.TaskDefinitionId);
    END;
    SELECT @vGroupId = MIN(l.GroupId) FROM @Leaving AS l WHERE l.GroupId > @vGroupId;
  END;

  SELECT @oWoken = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), w.TaskDefinitionId), N','), N'') + N']'
  FROM @vWoken AS w;
END;
