-- Taskgate.RescheduleTasks: another instant for scheduled tasks; ready and waiting ones are scheduled.
-- In:     @TaskIds: JSON array of 1..1000 ids; either @RunInMs bigint 0..3153600000000 or @RunAt ISO-8601 (past: due at once);
--         @ChangedBy (null: the login), @Reason for the audit
-- Out:    Status: done; Results: JSON array of {task, outcome, state}, each task once, in input order. Outcome: rescheduled |
--           running | blocked (its wave isn't open) | busy (on the move at this moment: ask again) | gone, with its state: done | dead |
--           cancelled | unknown
--         NextDueMs bigint: until the new instant, null when nothing was rescheduled; Definitions: JSON array of names of those that
--         got scheduled tasks, or null; Woken: of those that got ready tasks by hand-over, or null
-- Raises: 50422 a bad value; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  as _TakeTasks; Task of these; then as _HandOver, _AuditCall
-- Isolation: the call that holds a task's row in its container decides where it goes, as in CancelTasks. A strict group's slot stays with
--         its task, so that no other task overtakes it
-- Plan:   primary keys; as _TakeTasks; joins are loops in the written order
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
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vTasks nvarchar(max), @vTaken nvarchar(max), @vAt datetime2(3),
          @vWokenIds nvarchar(max) = N'[]', @vMovedIds nvarchar(max), @vChanged nvarchar(max), @vDefinition int, @vResults nvarchar(max);
  DECLARE @vAsked TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Ord int NOT NULL, Outcome nvarchar(20) NULL, [State] nvarchar(20) NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, GroupId int NULL, IsRunning bit NOT NULL,
    IsBlocked bit NOT NULL, Place tinyint NOT NULL); -- place 0: not ours
  DECLARE @vLeaving Taskgate.GroupedTaskList;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  EXEC Taskgate._FindTasks @TaskIds = @TaskIds, @oTasks = @vTasks OUTPUT; -- where they seem to be, before the transaction
  IF @RunInMs IS NULL AND @RunAt IS NULL OR @RunInMs IS NOT NULL AND @RunAt IS NOT NULL
    THROW 50422, N'run_at: expected either run_at or run_in_ms', 1;
  IF @RunInMs IS NOT NULL EXEC Taskgate._CheckRange @What = N'run_in_ms', @Value = @RunInMs, @Min = 0, @Max = 3153600000000;
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
    INSERT INTO @vAsked (TaskId, Ord)
    SELECT TRY_CONVERT(bigint, j.[value]), MIN(CONVERT(int, j.[key])) FROM OPENJSON(@TaskIds) AS j GROUP BY TRY_CONVERT(bigint, j.[value]);
    INSERT INTO @vTask (TaskId, TaskDefinitionId, IsRunning, IsBlocked, Place)
    SELECT j.TaskId, j.TaskDefinitionId, j.IsRunning, j.IsBlocked, 0
    FROM OPENJSON(@vTasks) WITH (
      TaskId bigint N'$.id', TaskDefinitionId int N'$.definition', IsRunning bit N'$.isRunning', IsBlocked bit N'$.isBlocked') AS j;

    BEGIN TRANSACTION;
    EXEC Taskgate._TakeTasks @Tasks = @vTasks, @ToEnd = 0, @oTaken = @vTaken OUTPUT;
    UPDATE t
    SET Place = j.Place, GroupId = j.GroupId
    FROM OPENJSON(@vTaken) WITH (TaskId bigint N'$.id', Place tinyint N'$.place', GroupId int N'$.group') AS j
    INNER JOIN @vTask AS t ON t.TaskId = j.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO Taskgate.Scheduled WITH (ROWLOCK) (TaskDefinitionId, RunAt, TaskId)
    SELECT t.TaskDefinitionId, @vAt, t.TaskId FROM @vTask AS t WHERE t.Place > 0;
    UPDATE x
    SET DueAt = @vAt
    FROM @vTask AS t
    INNER JOIN Taskgate.Task AS x WITH (ROWLOCK, UPDLOCK) ON x.TaskId = t.TaskId -- ours by the container's row
    WHERE t.Place > 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    INSERT INTO @vLeaving (TaskId, GroupId)
    SELECT t.TaskId, t.GroupId
    FROM @vTask AS t
    INNER JOIN Taskgate.TaskGroup AS g WITH (INDEX (PK_TaskGroup)) ON g.GroupId = t.GroupId
    WHERE t.Place IN (1, 3) AND g.Strict = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE x
    SET GroupId = NULL, PendingGroupKey = g.GroupKey, PendingGroupIsGlobal = CASE g.TaskDefinitionId WHEN 0 THEN 1 ELSE 0 END
    FROM @vTask AS t
    INNER JOIN Taskgate.TaskGroup AS g WITH (INDEX (PK_TaskGroup)) ON g.GroupId = t.GroupId
    INNER JOIN Taskgate.Task AS x WITH (ROWLOCK, UPDLOCK) ON x.TaskId = t.TaskId -- ours by the container's row; outside a group its key only
    WHERE t.Place = 3 OR (t.Place = 1 AND g.Strict = 0)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each per task
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
    INNER JOIN @vTask AS t ON t.TaskId = a.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE a
    SET Outcome = N'gone', [State] = CASE h.Outcome WHEN 10 THEN N'done' WHEN 11 THEN N'dead' ELSE N'cancelled' END
    FROM @vAsked AS a
    INNER JOIN Taskgate.Archive AS h WITH (INDEX (PK_Archive)) ON h.TaskId = a.TaskId
    WHERE a.Outcome IS NULL OR a.Outcome <> N'rescheduled'
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
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
