-- Taskgate._ReplacePayloads: other payloads for tasks that haven't been started, without waiting for another call.
-- In:     @Replacements: tasks with what they are to carry; @Build bigint: of the enqueuing code; @JoinsTransaction: the caller's
--         transaction may stay open for as long as it likes
-- Out:    @oReplaced: JSON array of ids of those that carry it now. The others run or have run, are over, have another kind, are to
--         be cancelled, or would leave the group that their payload names; or another call is moving them at this moment; or, when joining, they wait for their group or wave
-- Raises: -
-- Locks:  Ready, Scheduled by skip; when not joining: WaveBlocked by skip, TaskGroup by skip and GroupWaiting under it; Task
-- Isolation: runs in the caller's transaction, after its last wait. The holder of a task's row in its container keeps others from
--         claiming it; then the task is looked at. A claim reads payloads in a statement of its own, after it has the row
-- Plan:   primary keys; IX_Scheduled_Task; joins are loops in the written order
-- Twin:   postgres/sql/functions/_replace_payloads.sql
CREATE OR ALTER PROCEDURE Taskgate._ReplacePayloads
  @Replacements Taskgate.ReplacementList READONLY, @Build bigint, @JoinsTransaction bit, @oReplaced nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Priority smallint NOT NULL, Rank bigint NOT NULL,
    GroupId int NULL, WaveId bigint NULL, IsElsewhere bit NOT NULL, IsOurs bit NOT NULL, RunAt datetime2(3) NULL,
    Kind nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL, Payload nvarchar(max) NULL);
  DECLARE @vFound TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vGate TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vReplaced TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED);

  -- 1. Where they seem to be; plain reads, one table a statement: a worker that writes must not wait for them.
  INSERT INTO @vTask (TaskId, TaskDefinitionId, Priority, Rank, GroupId, WaveId, IsElsewhere, IsOurs, Kind, Payload)
  SELECT t.TaskId, t.TaskDefinitionId, t.Priority, t.Rank, t.GroupId, t.WaveId, 0, 0, t.Kind, COALESCE(CONVERT(nvarchar(max), t.PayloadUtf8) COLLATE Latin1_General_100_BIN2, t.Payload)
  FROM @Replacements AS r
  INNER JOIN Taskgate.Task AS t ON t.TaskId = r.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  DELETE v -- a task stays in its group: one whose group is in its payload keeps a payload of that group
  FROM @vTask AS v
  INNER JOIN @Replacements AS r ON r.TaskId = v.TaskId
  INNER JOIN Taskgate.TaskKind AS k ON k.TaskDefinitionId = v.TaskDefinitionId AND k.Kind = v.Kind
  CROSS APPLY Taskgate._PayloadKeyOf(v.Payload, k.GroupBy) AS o
  CROSS APPLY Taskgate._PayloadKeyOf(r.Payload, k.GroupBy) AS n
  WHERE COALESCE(o.Answer, N'') COLLATE Latin1_General_100_BIN2 <> COALESCE(n.Answer, N'')
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  INSERT INTO @vFound (TaskId)
  SELECT q.TaskId
  FROM @vTask AS t
  INNER JOIN Taskgate.Ready AS q WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
    ON q.TaskDefinitionId = t.TaskDefinitionId AND q.Priority = t.Priority AND q.Rank = t.Rank AND q.TaskId = t.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  UPDATE t SET IsElsewhere = 1, IsOurs = 1 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task

  -- 2. Those of waves and full groups, as far as their movers needn't wait for us.
  UPDATE t
  SET IsElsewhere = 1
  FROM @vTask AS t
  INNER JOIN Taskgate.GroupWaiting AS w
    ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
  WHERE t.IsElsewhere = 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  IF @JoinsTransaction = 0
  BEGIN
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId)
    SELECT h.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.WaveBlocked AS h WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
      ON h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId
    WHERE t.IsElsewhere = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE t SET IsElsewhere = 1, IsOurs = 1 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO @vGate (GroupId)
    SELECT DISTINCT t.GroupId FROM @vTask AS t WHERE t.IsElsewhere = 1 AND t.IsOurs = 0 AND t.GroupId IS NOT NULL;
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId) -- of groups, for a moment
    SELECT g.GroupId
    FROM @vGate AS a
    INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_TaskGroup)) -- lock, then look; skip, don't wait
      ON g.GroupId = a.GroupId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per group
    DELETE a FROM @vGate AS a WHERE NOT EXISTS (SELECT 1 FROM @vFound AS f WHERE f.TaskId = a.GroupId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per group
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId)
    SELECT w.TaskId
    FROM @vTask AS t
    INNER JOIN @vGate AS a ON a.GroupId = t.GroupId
    INNER JOIN Taskgate.GroupWaiting AS w WITH (ROWLOCK, UPDLOCK) -- by the whole key; ours by the group's row
      ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
    WHERE t.IsOurs = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE t SET IsOurs = 1 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;

  -- 3. Scheduled ones have their instant in the key.
  IF EXISTS (SELECT 1 FROM @vTask AS t WHERE t.IsElsewhere = 0)
  BEGIN
    UPDATE t
    SET RunAt = s.RunAt
    FROM @vTask AS t
    INNER JOIN Taskgate.Scheduled AS s WITH (INDEX (IX_Scheduled_Task)) ON s.TaskId = t.TaskId -- covers this read
    WHERE t.IsElsewhere = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId)
    SELECT s.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.Scheduled AS s WITH (ROWLOCK, UPDLOCK, READPAST, INDEX (PK_Scheduled)) -- the row itself; skip, don't wait
      ON s.TaskDefinitionId = t.TaskDefinitionId AND s.RunAt = t.RunAt AND s.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE t SET IsOurs = 1 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  END;

  -- 4. As it is now, with its place kept: has it been started?
  UPDATE t
  SET PayloadUtf8 = CONVERT(varchar(max), r.Payload COLLATE Latin1_General_100_BIN2_UTF8), Payload = NULL, TraceParent = r.TraceParent, Build = COALESCE(@Build, 0)
  OUTPUT inserted.TaskId INTO @vReplaced (TaskId)
  FROM @vTask AS v
  INNER JOIN @Replacements AS r ON r.TaskId = v.TaskId
  INNER JOIN Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK, READPAST) ON t.TaskId = v.TaskId
  WHERE v.IsOurs = 1 AND t.Kind = r.Kind AND t.CancelRequested = 0 AND t.FailedCount = 0 AND t.LostCount = 0 AND t.ContinuedCount = 0
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  SELECT @oReplaced = N'[' + STRING_AGG(CONVERT(nvarchar(max), x.TaskId), N',') + N']' FROM @vReplaced AS x;
END;
