-- Taskgate._TakeTasks: tasks that no other call is taking leave the place where they wait: for a worker, for their time, for their
--         group and, to their end, for their wave. The caller gives them another place, or ends them.
-- In:     @Tasks: of _FindTasks; @ToEnd bit: they are to end, so their keys and the groups of scheduled ones are locked, too
-- Out:    @oTaken: JSON array of {id, place, group} of those that are taken. Place is the one that they had: 1 ready, 2 scheduled, 3 waiting,
--           4 blocked. Group is the one that they are in now; of a scheduled one that doesn't end as @Tasks has it
-- Raises: -
-- Locks:  Scheduled, Ready by skip; to their end: WaveBlocked by skip, Dedupe in key order; TaskGroup ascending, of tasks that wait there;
--         GroupWaiting under its group, Ready by skip. Joins the caller's transaction
-- Isolation: the call that holds a task's row in its container decides where it goes. A group is locked before its waiting tasks are looked
--         at, and the ready ones once more after that: a task that was handed over meanwhile is found there
-- Plan:   primary keys; IX_Scheduled_Task; joins are loops in the written order
-- Twin:   postgres/sql/functions/_take_tasks.sql
CREATE OR ALTER PROCEDURE Taskgate._TakeTasks
  @Tasks nvarchar(max), @ToEnd bit, @oTaken nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vCount int;
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Priority smallint NOT NULL, Rank bigint NOT NULL,
    DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, GroupId int NULL, WaveId bigint NULL,
    IsWaiting bit NOT NULL, RunAt datetime2(3) NULL, Place tinyint NOT NULL); -- 0 not ours
  DECLARE @vFound TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vKey TABLE (
    TaskDefinitionId int NOT NULL, DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, DedupeKey));
  DECLARE @vGate TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED);

  INSERT INTO @vTask (TaskId, TaskDefinitionId, Priority, Rank, DedupeKey, GroupId, WaveId, IsWaiting, Place)
  SELECT j.TaskId, j.TaskDefinitionId, j.Priority, j.Rank, j.DedupeKey, j.GroupId, j.WaveId, j.IsWaiting, 0
  FROM OPENJSON(@Tasks) WITH (
    TaskId bigint N'$.id', TaskDefinitionId int N'$.definition', Priority smallint N'$.priority', Rank bigint N'$.rank',
    DedupeKey nvarchar(200) N'$.key', GroupId int N'$.group', WaveId bigint N'$.wave', IsWaiting bit N'$.isWaiting') AS j;

  -- 1. Tasks that no other call is taking: first the scheduled ones, as they become ready and not the other way round.
  -- Their instants are looked up here: one that seemed to run may have failed meanwhile.
  UPDATE t
  SET RunAt = s.RunAt
  FROM @vTask AS t
  INNER JOIN Taskgate.Scheduled AS s WITH (INDEX (IX_Scheduled_Task)) ON s.TaskId = t.TaskId -- covers this read
  WHERE t.IsWaiting = 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  INSERT INTO @vFound (TaskId)
  SELECT s.TaskId
  FROM @vTask AS t
  INNER JOIN Taskgate.Scheduled AS s WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_Scheduled)) -- the row itself; skip, don't wait
    ON s.TaskDefinitionId = t.TaskDefinitionId AND s.RunAt = t.RunAt AND s.TaskId = t.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  UPDATE t SET Place = 2 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  DELETE FROM @vFound;
  INSERT INTO @vFound (TaskId)
  SELECT r.TaskId
  FROM @vTask AS t
  INNER JOIN Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
    ON r.TaskDefinitionId = t.TaskDefinitionId AND r.Priority = t.Priority AND r.Rank = t.Rank AND r.TaskId = t.TaskId
  WHERE t.Place = 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  UPDATE t SET Place = 1 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  IF @ToEnd = 1
  BEGIN
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId)
    SELECT h.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.WaveBlocked AS h WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
      ON h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId
    WHERE t.Place = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE t SET Place = 4 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;
  UPDATE t
  SET GroupId = x.GroupId
  FROM @vTask AS t
  INNER JOIN Taskgate.Task AS x ON x.TaskId = t.TaskId -- the holder of the container's row may name its group
  WHERE t.Place IN (1, 4) OR (t.Place = 2 AND @ToEnd = 1)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task

  -- 2. Their keys, then their groups: each level once, ascending. A scheduled task that doesn't end stays outside.
  IF @ToEnd = 1
  BEGIN
    INSERT INTO @vKey (TaskDefinitionId, DedupeKey)
    SELECT k.TaskDefinitionId, k.DedupeKey
    FROM @vTask AS t
    INNER JOIN Taskgate.Dedupe AS k ON k.TaskDefinitionId = t.TaskDefinitionId AND k.DedupeKey = t.DedupeKey
    WHERE (t.Place > 0 OR t.IsWaiting = 1) AND k.TaskId = t.TaskId AND k.ExpiresAt IS NULL -- a key with a window outlives its task
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key
    SELECT @vCount = COUNT(*)
    FROM @vKey AS v
    INNER JOIN Taskgate.Dedupe AS k WITH (ROWLOCK, UPDLOCK) -- kept to the end
      ON k.TaskDefinitionId = v.TaskDefinitionId AND k.DedupeKey = v.DedupeKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per key, ascending
  END;
  INSERT INTO @vGate (GroupId)
  SELECT DISTINCT t.GroupId FROM @vTask AS t WHERE t.GroupId IS NOT NULL AND (t.Place = 1 OR (t.Place = 2 AND @ToEnd = 1) OR t.IsWaiting = 1);
  SELECT @vCount = COUNT(*)
  FROM @vGate AS a
  INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- lock, then look: kept to the end
    ON g.GroupId = a.GroupId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group, ascending

  -- 3. Tasks that wait in these groups; one that has left may have become ready meanwhile.
  IF EXISTS (SELECT 1 FROM @vTask AS t WHERE t.IsWaiting = 1 AND t.Place = 0)
  BEGIN
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId)
    SELECT w.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.GroupWaiting AS w WITH (ROWLOCK, UPDLOCK) -- by the whole key; ours by the group's row
      ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
    WHERE t.IsWaiting = 1 AND t.Place = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE t SET Place = 3 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId)
    SELECT r.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
      ON r.TaskDefinitionId = t.TaskDefinitionId AND r.Priority = t.Priority AND r.Rank = t.Rank AND r.TaskId = t.TaskId
    WHERE t.IsWaiting = 1 AND t.Place = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE t
    SET Place = 1
    FROM @vTask AS t
    INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
    INNER JOIN Taskgate.Task AS x ON x.TaskId = t.TaskId
    WHERE x.GroupId = t.GroupId -- not one that has come into another group, which isn't locked
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;

  -- 4. What this call has taken leaves its place.
  DELETE r
  FROM @vTask AS t
  INNER JOIN Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK) -- ours already
    ON r.TaskDefinitionId = t.TaskDefinitionId AND r.Priority = t.Priority AND r.Rank = t.Rank AND r.TaskId = t.TaskId
  WHERE t.Place = 1
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  DELETE s
  FROM @vTask AS t
  INNER JOIN Taskgate.Scheduled AS s WITH (ROWLOCK, UPDLOCK, INDEX (PK_Scheduled)) -- ours already
    ON s.TaskDefinitionId = t.TaskDefinitionId AND s.RunAt = t.RunAt AND s.TaskId = t.TaskId
  WHERE t.Place = 2
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  DELETE w
  FROM @vTask AS t
  INNER JOIN Taskgate.GroupWaiting AS w WITH (ROWLOCK, UPDLOCK) -- ours already
    ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
  WHERE t.Place = 3
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  IF @ToEnd = 1
    DELETE h
    FROM @vTask AS t
    INNER JOIN Taskgate.WaveBlocked AS h WITH (ROWLOCK, UPDLOCK) -- ours already
      ON h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId
    WHERE t.Place = 4
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  SELECT @oTaken = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), N'{"id":' + CONVERT(nvarchar(20), t.TaskId)
           + N',"place":' + CONVERT(nvarchar(11), t.Place) + N',"group":' + COALESCE(CONVERT(nvarchar(11), t.GroupId), N'null') + N'}'), N','), N'') + N']'
  FROM @vTask AS t WHERE t.Place > 0;
END;
