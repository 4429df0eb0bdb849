-- Taskgate.RescheduleTasks: another instant for scheduled tasks; ready and waiting ones are scheduled.
-- In:     @TaskIds: JSON array of 1..1000 ids; either @RunInMs bigint 0..3153600000000 or @RunAt ISO-8601 (past: due at once);
--         @ChangedBy, @Reason for the audit
-- Out:    Status: done; Results: JSON array of {task, outcome, state}, each task once, in input order. Outcome: rescheduled |
--           running | blocked (its wave isn't open) | busy (on the move at this moment: ask again) | gone, with its state: done | dead |
--           cancelled | unknown
--         NextDueMs bigint: until the new instant, null when nothing was rescheduled; Definitions: JSON array of names of those that
--         got scheduled tasks, or null; Woken: of those that got ready tasks by hand-over, or null
-- Raises: 50422 a bad value; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  Scheduled, Ready by skip; TaskGroup ascending, of tasks that wait there; GroupWaiting under its group, Ready by skip; Task of
--         these; then as _HandOver, _AuditCall
-- Isolation: the call that holds a task's row in its container decides where it goes, as in CancelTasks. A strict group's slot stays with
--         its task, so that no other task overtakes it
-- Plan:   primary keys; the scheduled tasks of a definition once, when one of its tasks stands nowhere else
-- Once:   by value with @RunAt; with @RunInMs a repeat counts from then; each that moves a task leaves an entry in the audit
-- Twin:   postgres/sql/functions/reschedule_tasks.sql
CREATE OR ALTER PROCEDURE Taskgate.RescheduleTasks
  @TaskIds nvarchar(max), @RunInMs bigint, @RunAt nvarchar(max), @ChangedBy nvarchar(max) = NULL, @Reason nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 THROW 50490, N'transaction: must run outside a transaction', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vCount int = 0, @vAt datetime2(3),
          @vWokenIds nvarchar(max) = N'[]', @vMovedIds nvarchar(max), @vChanged nvarchar(max), @vDefinition int, @vResults nvarchar(max);
  DECLARE @vAsked TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Ord int NOT NULL, Outcome nvarchar(20) NULL, [State] nvarchar(20) NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Priority smallint NOT NULL, Rank bigint NOT NULL,
    GroupId int NULL, WaveId bigint NULL, IsWaiting bit NOT NULL, IsElsewhere bit NOT NULL, IsRunning bit NOT NULL,
    IsBlocked bit NOT NULL, RunAt datetime2(3) NULL, Place tinyint NOT NULL); -- place 0 not ours, 1 ready, 2 scheduled, 3 waiting
  DECLARE @vFound TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vGate TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vLeaving Taskgate.GroupedTaskList;

  SET @vMessage = Taskgate._AuditProblem(@ChangedBy, @Reason);
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  IF Taskgate._JsonKind(@TaskIds) = N'[' SELECT @vCount = COUNT(*) FROM OPENJSON(@TaskIds) AS j;
  IF @vCount NOT BETWEEN 1 AND 1000 OR EXISTS (SELECT 1 FROM OPENJSON(@TaskIds) AS j WHERE TRY_CONVERT(bigint, j.[value]) IS NULL)
    THROW 50422, N'task_ids: expected a JSON array of 1..1000 ids', 1;
  IF @RunInMs IS NULL AND @RunAt IS NULL OR @RunInMs IS NOT NULL AND @RunAt IS NOT NULL
    THROW 50422, N'run_at: expected either run_at or run_in_ms', 1;
  IF @RunInMs NOT BETWEEN 0 AND 3153600000000
  BEGIN
    SET @vMessage = N'run_in_ms: expected 0..3153600000000 (' + CONVERT(nvarchar(20), @RunInMs) + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF @RunAt IS NOT NULL
    SET @vAt = Taskgate._Instant(@RunAt);
  ELSE
    SET @vAt = DATEADD(MILLISECOND, CONVERT(int, @RunInMs % 86400000), DATEADD(DAY, CONVERT(int, @RunInMs / 86400000), @vNow));
  IF @vAt IS NULL
  BEGIN
    SET @vMessage = N'run_at: expected an ISO-8601 instant with its zone (' + REPLACE(LEFT(@RunAt, 100), N'%', N'%%') + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF @vAt < @vNow SET @vAt = @vNow;

  BEGIN TRY
    -- 1. Where they seem to be, with nothing locked. One table a statement: a reader that holds one row must not wait for another.
    INSERT INTO @vAsked (TaskId, Ord)
    SELECT TRY_CONVERT(bigint, j.[value]), MIN(CONVERT(int, j.[key])) FROM OPENJSON(@TaskIds) AS j GROUP BY TRY_CONVERT(bigint, j.[value]);
    INSERT INTO @vTask (TaskId, TaskDefinitionId, Priority, Rank, GroupId, WaveId, IsWaiting, IsElsewhere, IsRunning, IsBlocked, Place)
    SELECT t.TaskId, t.TaskDefinitionId, t.Priority, t.Rank, t.GroupId, t.WaveId, 0, 0, 0, 0, 0
    FROM @vAsked AS a
    INNER JOIN Taskgate.Task AS t ON t.TaskId = a.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE t
    SET IsWaiting = 1, IsElsewhere = 1
    FROM @vTask AS t
    INNER JOIN Taskgate.GroupWaiting AS w
      ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE t
    SET IsElsewhere = 1
    FROM @vTask AS t
    INNER JOIN Taskgate.Ready AS r
      ON r.TaskDefinitionId = t.TaskDefinitionId AND r.Priority = t.Priority AND r.Rank = t.Rank AND r.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE t
    SET IsElsewhere = 1, IsRunning = 1
    FROM @vTask AS t
    INNER JOIN Taskgate.Claim AS c WITH (INDEX (UQ_Claim_Task)) ON c.TaskId = t.TaskId -- covers this read
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE t
    SET IsElsewhere = 1, IsBlocked = 1
    FROM @vTask AS t
    INNER JOIN Taskgate.WaveBlocked AS h
      ON h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    IF EXISTS (SELECT 1 FROM @vTask AS t WHERE t.IsElsewhere = 0)
      UPDATE t
      SET RunAt = s.RunAt
      FROM (SELECT DISTINCT x.TaskDefinitionId FROM @vTask AS x WHERE x.IsElsewhere = 0) AS d
      INNER JOIN Taskgate.Scheduled AS s WITH (FORCESEEK) -- the definition's range, once
        ON s.TaskDefinitionId = d.TaskDefinitionId
      INNER JOIN @vTask AS t ON t.TaskId = s.TaskId
      WHERE t.IsElsewhere = 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one probe per entry

    BEGIN TRANSACTION;
    -- 2. Tasks that no other call is taking: first the scheduled ones, as they become ready and not the other way round.
    INSERT INTO @vFound (TaskId)
    SELECT s.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.Scheduled AS s WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
      ON s.TaskDefinitionId = t.TaskDefinitionId AND s.RunAt = t.RunAt AND s.TaskId = t.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE t SET Place = 2 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId;
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId)
    SELECT r.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
      ON r.TaskDefinitionId = t.TaskDefinitionId AND r.Priority = t.Priority AND r.Rank = t.Rank AND r.TaskId = t.TaskId
    WHERE t.Place = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE t SET Place = 1 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId;
    UPDATE t
    SET GroupId = x.GroupId
    FROM @vTask AS t
    INNER JOIN Taskgate.Task AS x ON x.TaskId = t.TaskId -- the holder of the container's row may name its group
    WHERE t.Place = 1
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task

    -- 3. Their groups, ascending. A scheduled task stays outside.
    INSERT INTO @vGate (GroupId)
    SELECT DISTINCT t.GroupId FROM @vTask AS t WHERE t.GroupId IS NOT NULL AND (t.Place = 1 OR (t.Place = 0 AND t.IsWaiting = 1));
    SELECT @vCount = COUNT(*)
    FROM @vGate AS a
    INNER JOIN Taskgate.TaskGroup AS g WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskGroup)) -- lock, then look: kept to the end
      ON g.GroupId = a.GroupId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per group, ascending

    -- 4. Tasks that wait in these groups; one that has left may have become ready meanwhile.
    IF EXISTS (SELECT 1 FROM @vTask AS t WHERE t.IsWaiting = 1 AND t.Place = 0)
    BEGIN
      DELETE FROM @vFound;
      INSERT INTO @vFound (TaskId)
      SELECT w.TaskId
      FROM @vTask AS t
      INNER JOIN Taskgate.GroupWaiting AS w WITH (ROWLOCK, UPDLOCK) -- by the whole key; ours by the group's row
        ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
      WHERE t.IsWaiting = 1 AND t.Place = 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
      UPDATE t SET Place = 3 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId;
      DELETE FROM @vFound;
      INSERT INTO @vFound (TaskId)
      SELECT r.TaskId
      FROM @vTask AS t
      INNER JOIN Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
        ON r.TaskDefinitionId = t.TaskDefinitionId AND r.Priority = t.Priority AND r.Rank = t.Rank AND r.TaskId = t.TaskId
      WHERE t.IsWaiting = 1 AND t.Place = 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
      UPDATE t
      SET Place = 1
      FROM @vTask AS t
      INNER JOIN @vFound AS f ON f.TaskId = t.TaskId
      INNER JOIN Taskgate.Task AS x ON x.TaskId = t.TaskId
      WHERE x.GroupId = t.GroupId -- not one that has come into another group, which isn't locked
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    END;

    -- 5. Each to its new place.
    DELETE r
    FROM @vTask AS t
    INNER JOIN Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK) -- ours already
      ON r.TaskDefinitionId = t.TaskDefinitionId AND r.Priority = t.Priority AND r.Rank = t.Rank AND r.TaskId = t.TaskId
    WHERE t.Place = 1
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    DELETE s
    FROM @vTask AS t
    INNER JOIN Taskgate.Scheduled AS s WITH (ROWLOCK, UPDLOCK) -- ours already
      ON s.TaskDefinitionId = t.TaskDefinitionId AND s.RunAt = t.RunAt AND s.TaskId = t.TaskId
    WHERE t.Place = 2
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    DELETE w
    FROM @vTask AS t
    INNER JOIN Taskgate.GroupWaiting AS w WITH (ROWLOCK, UPDLOCK) -- ours already
      ON w.GroupId = t.GroupId AND w.Priority = t.Priority AND w.Rank = t.Rank AND w.TaskId = t.TaskId
    WHERE t.Place = 3
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    INSERT INTO Taskgate.Scheduled (TaskDefinitionId, RunAt, TaskId)
    SELECT t.TaskDefinitionId, @vAt, t.TaskId FROM @vTask AS t WHERE t.Place > 0;
    INSERT INTO @vLeaving (TaskId, GroupId)
    SELECT t.TaskId, t.GroupId
    FROM @vTask AS t
    INNER JOIN Taskgate.TaskGroup AS g WITH (INDEX (PK_TaskGroup)) ON g.GroupId = t.GroupId
    WHERE t.Place IN (1, 3) AND g.Strict = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE x
    SET GroupId = NULL, PendingGroupKey = g.GroupKey, PendingGroupIsGlobal = CASE g.TaskDefinitionId WHEN 0 THEN 1 ELSE 0 END
    FROM @vTask AS t
    INNER JOIN Taskgate.TaskGroup AS g WITH (INDEX (PK_TaskGroup)) ON g.GroupId = t.GroupId
    INNER JOIN Taskgate.Task AS x WITH (ROWLOCK, UPDLOCK) ON x.TaskId = t.TaskId -- ours by the container's row; outside a group its key only
    WHERE t.Place = 3 OR (t.Place = 1 AND g.Strict = 0)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek each per task
    IF EXISTS (SELECT 1 FROM @vLeaving AS l)
      EXEC Taskgate._HandOver @Leaving = @vLeaving, @oWoken = @vWokenIds OUTPUT;
    SELECT @vChanged = N'[' + STRING_AGG(CONVERT(nvarchar(max), t.TaskId), N',') WITHIN GROUP (ORDER BY t.TaskId) + N']',
           @vDefinition = CASE WHEN MIN(t.TaskDefinitionId) = MAX(t.TaskDefinitionId) THEN MIN(t.TaskDefinitionId) ELSE 0 END
    FROM @vTask AS t WHERE t.Place > 0;
    IF @vChanged IS NOT NULL
      EXEC Taskgate._AuditCall @Action = N'reschedule_tasks', @TaskDefinitionId = @vDefinition, @BatchId = NULL, @TaskIds = @vChanged,
        @ChangedBy = @ChangedBy, @Reason = @Reason, @Now = @vNow;
    COMMIT TRANSACTION;

    UPDATE a
    SET Outcome = CASE WHEN t.Place > 0 THEN N'rescheduled' WHEN t.IsBlocked = 1 THEN N'blocked' WHEN t.IsRunning = 1 THEN N'running'
                       ELSE N'busy' END
    FROM @vAsked AS a
    INNER JOIN @vTask AS t ON t.TaskId = a.TaskId;
    UPDATE a
    SET Outcome = N'gone', [State] = CASE h.Outcome WHEN 10 THEN N'done' WHEN 11 THEN N'dead' ELSE N'cancelled' END
    FROM @vAsked AS a
    INNER JOIN Taskgate.Archive AS h WITH (INDEX (PK_Archive)) ON h.TaskId = a.TaskId
    WHERE a.Outcome IS NULL OR a.Outcome <> N'rescheduled'
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vResults = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"task":"' + CONVERT(nvarchar(20), a.TaskId)
           + N'","outcome":"' + COALESCE(a.Outcome, N'gone') + N'","state":'
           + CASE WHEN a.Outcome IS NULL THEN N'"unknown"' ELSE COALESCE(N'"' + a.[State] + N'"', N'null') END + N'}'), N',')
           WITHIN GROUP (ORDER BY a.Ord) + N']'
  FROM @vAsked AS a;
  SELECT @vMovedIds = N'[' + STRING_AGG(CONVERT(nvarchar(max), t.TaskDefinitionId), N',') + N']' FROM @vTask AS t WHERE t.Place > 0;
  SELECT N'done' AS [Status], @vResults AS [Results],
         CASE WHEN @vMovedIds IS NULL THEN NULL ELSE DATEDIFF_BIG(MILLISECOND, @vNow, @vAt) END AS [NextDueMs],
         Taskgate._DefinitionNames(@vMovedIds, 0) AS [Definitions], Taskgate._DefinitionNames(@vWokenIds, 0) AS [Woken];
END;
