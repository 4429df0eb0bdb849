-- Taskgate._FindTasks: where tasks seem to be, with nothing locked: for _TakeTasks, which looks again under locks.
-- In:     @TaskIds: JSON array of 1..1000 ids
-- Out:    @oTasks: JSON array of tasks that aren't over, each once: {id, definition, priority, rank, key, group, wave, isWaiting, isRunning,
--           isBlocked}
-- Raises: 50422 not such a list; 1222 locked for longer than 2 s
-- Locks:  none. Called before its caller's transaction: inside one, without row versions, its lock on UQ_Claim_Task would stay, and close a
--         circle with FailTasks
-- Plan:   primary keys; UQ_Claim_Task; joins are loops in the written order
-- Twin:   inside postgres/sql/functions/_take_tasks.sql, where a read keeps no lock
CREATE OR ALTER PROCEDURE Taskgate._FindTasks
  @TaskIds nvarchar(max), @oTasks nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vCount int = 0;
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Priority smallint NOT NULL, Rank bigint NOT NULL,
    DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, GroupId int NULL, WaveId bigint NULL, IsWaiting bit NOT NULL,
    IsRunning bit NOT NULL, IsBlocked bit NOT NULL);

  IF Taskgate._JsonKind(@TaskIds) = N'[' SELECT @vCount = COUNT(*) FROM OPENJSON(@TaskIds) AS j;
  IF @vCount NOT BETWEEN 1 AND 1000 OR EXISTS (SELECT 1 FROM OPENJSON(@TaskIds) AS j WHERE TRY_CONVERT(bigint, j.[value]) IS NULL)
    THROW 50422, N'task_ids: expected a JSON array of 1..1000 ids', 1;
  -- One table a statement: a reader that holds one row must not wait for another.
  INSERT INTO @vTask (TaskId, TaskDefinitionId, Priority, Rank, DedupeKey, GroupId, WaveId, IsWaiting, IsRunning, IsBlocked)
  SELECT t.TaskId, t.TaskDefinitionId, t.Priority, t.Rank, t.DedupeKey, t.GroupId, t.WaveId, 0, 0, 0
  FROM (SELECT DISTINCT TRY_CONVERT(bigint, j.[value]) AS TaskId FROM OPENJSON(@TaskIds) AS j) AS a
  INNER JOIN Taskgate.Task AS t ON t.TaskId = a.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  DELETE t
  FROM @vTask AS t
  INNER JOIN Taskgate.Archive AS a WITH (FORCESEEK) ON a.TaskId = t.TaskId -- done: its row is the payload's home; by its key, behind a purge
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  UPDATE t
  SET IsWaiting = 1
  FROM @vTask AS t
  INNER JOIN Taskgate.GroupWaiting AS w WITH (FORCESEEK) -- a walk beside a hand-over may miss the task
    ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  UPDATE t
  SET IsRunning = 1
  FROM @vTask AS t
  INNER JOIN Taskgate.Claim AS c WITH (INDEX (UQ_Claim_Task)) ON c.TaskId = t.TaskId -- covers this read
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  UPDATE t
  SET IsBlocked = 1
  FROM @vTask AS t
  INNER JOIN Taskgate.WaveBlocked AS h
    ON h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
  SELECT @oTasks = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), N'{"id":') COLLATE Latin1_General_100_BIN2 + CONVERT(nvarchar(20), t.TaskId)
           + N',"definition":' + CONVERT(nvarchar(11), t.TaskDefinitionId)
           + N',"priority":' + CONVERT(nvarchar(11), t.Priority) + N',"rank":' + CONVERT(nvarchar(20), t.Rank)
           + N',"key":' + COALESCE(N'"' + STRING_ESCAPE(t.DedupeKey, 'json') + N'"', N'null')
           + N',"group":' + COALESCE(CONVERT(nvarchar(11), t.GroupId), N'null')
           + N',"wave":' + COALESCE(CONVERT(nvarchar(20), t.WaveId), N'null')
           + N',"isWaiting":' + CASE t.IsWaiting WHEN 1 THEN N'true' ELSE N'false' END
           + N',"isRunning":' + CASE t.IsRunning WHEN 1 THEN N'true' ELSE N'false' END
           + N',"isBlocked":' + CASE t.IsBlocked WHEN 1 THEN N'true' ELSE N'false' END + N'}', N','), N'') + N']'
  FROM @vTask AS t;
END;
