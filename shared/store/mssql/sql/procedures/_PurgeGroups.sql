-- Taskgate._PurgeGroups: removes unused groups: no task holds a slot or waits, none that may be redriven names it, no operator
--         has set it. A key that comes back makes a new group, with the definition's settings.
-- In:     @Max int: groups to look at, behind those of the call before; @Now
-- Out:    @oGroups int: how many went; @oMore: as many as asked for were looked at, and some of them went
-- Raises: -
-- Locks:  GroupRound by skip (one purge at a time looks at groups), TaskGroup by skip, row and key, only of those that seem idle. Joins
--         the caller's transaction, in which nothing else may be locked yet: without row versions the looks may wait
-- Isolation: who fills, frees or hands over a slot, lets wait, archives such a task or sets a group holds its row; so under that row's
--         lock the looks are exact. They are statements of their own: they see what the last holder committed. The archive is looked
--         at last: who archives a task of a group that is still to be locked holds a slot of it or waits. Who looked the group up
--         and comes too late finds no row to lock, and leaves its task to promotion
-- Plan:   PK_TaskGroup behind the remembered place; one probe of each kind per group; joins are loops in the written order
-- Twin:   postgres/sql/functions/_purge_groups.sql, _idle_groups.sql
CREATE OR ALTER PROCEDURE Taskgate._PurgeGroups
  @Max int, @Now datetime2(3), @oGroups int OUTPUT, @oMore bit OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vAfter int, @vSeen int, @vLast int;
  DECLARE @vSeenGroup TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vMine TABLE (
    GroupId int NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL,
    GroupKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL);
  DECLARE @vGone TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED);

  SET @oGroups = 0;
  SET @oMore = 0;
  SELECT @vAfter = r.LastGroupId
  FROM Taskgate.GroupRound AS r WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait; kept to the end
  WHERE r.RoundId = 1;
  IF @vAfter IS NULL RETURN;
  -- 1. The next ones; then which of them seem idle. Plain reads: no call in a group waits for them.
  INSERT INTO @vSeenGroup (GroupId)
  SELECT TOP (@Max) g.GroupId
  FROM Taskgate.TaskGroup AS g WITH (INDEX (PK_TaskGroup), FORCESEEK) -- in key order
  WHERE g.GroupId > @vAfter
  ORDER BY g.GroupId
  OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@Max = 100)); -- a seek without a sort
  SET @vSeen = @@ROWCOUNT;
  SELECT @vLast = MAX(s.GroupId) FROM @vSeenGroup AS s;
  DELETE s
  FROM @vSeenGroup AS s
  WHERE EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS x WITH (FORCESEEK) WHERE x.GroupId = s.GroupId) -- one probe
    OR EXISTS (SELECT 1 FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK) WHERE w.GroupId = s.GroupId) -- one probe
    OR EXISTS (SELECT 1 FROM Taskgate.GroupKept AS k WITH (FORCESEEK) WHERE k.GroupId = s.GroupId) -- one probe
    OR EXISTS (
      SELECT 1
      FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Group), FORCESEEK) -- one probe; covers this read
      WHERE a.GroupId IS NOT NULL AND a.GroupId = s.GroupId)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- four probes per group
  -- 2. Lock, then look.
  INSERT INTO @vMine (GroupId, TaskDefinitionId, GroupKey)
  SELECT g.GroupId, g.TaskDefinitionId, g.GroupKey
  FROM @vSeenGroup AS s
  INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_TaskGroup)) ON g.GroupId = s.GroupId -- skip, don't wait
  WHERE g.Paused = 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group, ascending
  DELETE m
  FROM @vMine AS m
  WHERE EXISTS (SELECT 1 FROM Taskgate.GroupSlot AS x WITH (FORCESEEK) WHERE x.GroupId = m.GroupId) -- one probe
    OR EXISTS (SELECT 1 FROM Taskgate.GroupWaiting AS w WITH (FORCESEEK) WHERE w.GroupId = m.GroupId) -- one probe
    OR EXISTS (SELECT 1 FROM Taskgate.GroupKept AS k WITH (FORCESEEK) WHERE k.GroupId = m.GroupId) -- one probe
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- three probes per group
  DELETE m
  FROM @vMine AS m
  WHERE EXISTS (
    SELECT 1
    FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Group), FORCESEEK) -- one probe; covers this read
    WHERE a.GroupId IS NOT NULL AND a.GroupId = m.GroupId)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per group
  -- 3. The keys, too: who looks for one without row versions must not find half of a group.
  INSERT INTO @vGone (GroupId)
  SELECT g.GroupId
  FROM @vMine AS m
  INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, XLOCK, READPAST, INDEX (UQ_TaskGroup_Key)) -- skip, don't wait
    ON g.TaskDefinitionId = m.TaskDefinitionId AND g.GroupKey = m.GroupKey
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
  DELETE g
  FROM @vGone AS x
  INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) ON g.GroupId = x.GroupId -- ours already
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
  SET @oGroups = @@ROWCOUNT;
  -- 4. Where the next call goes on; of no group at all nothing is written.
  IF @vSeen > 0 OR @vAfter > 0
    UPDATE r
    SET LastGroupId = CASE WHEN @vSeen = @Max THEN @vLast ELSE 0 END, EndedAt = CASE WHEN @vSeen = @Max THEN r.EndedAt ELSE @Now END
    FROM Taskgate.GroupRound AS r WITH (ROWLOCK, UPDLOCK) -- ours already
    WHERE r.RoundId = 1;
  IF @vSeen = @Max AND @oGroups > 0 SET @oMore = 1;
END;
