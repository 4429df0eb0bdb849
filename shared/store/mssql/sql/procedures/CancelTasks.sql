-- Taskgate.CancelTasks: an operator's cancel: ends tasks that wait anywhere, and asks for the end of those that run.
-- In:     @TaskIds: JSON array of 1..1000 ids; @Reason: kept as the error of the tasks that end here, or null;
--         @ChangedBy: the actor, for the audit
-- Out:    Status: done; Results: JSON array of {task, outcome, state}, each task once, in input order. Outcome: cancelled |
--           requested (it runs or is on the move: its worker is told, and the call that ends or moves the task cancels it) | busy (locked at this moment: ask again) | gone, with its state: done | dead | cancelled | unknown
--         Woken: JSON array of definitions that got ready tasks, or null; Opening: JSON array of batches to be pumped (PumpBatch), or null
-- Raises: 50422 not such a list, a reason or an actor that is too long; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  Scheduled, Ready, WaveBlocked by skip; Dedupe in key order, TaskGroup ascending, of tasks that wait there; GroupWaiting under its
--         group, Ready by skip; then as _EndTasks; last, Task by skip: this call waits for nothing more once it holds these rows;
--         as _AuditCall
-- Isolation: the call that holds a task's row in its container decides where it goes: of a cancel and a claim, a promotion or another
--         cancel one has the row and the others step over it. A group is locked before its waiting tasks are looked at, and the
--         ready ones once more after that: a task that was handed over meanwhile is found there. A request is written on the
--         task's own row, where an end or a failure finds it; a move that has read the row already carries the request to the next claim
-- Plan:   primary keys; the scheduled tasks of a definition once, when one of its tasks stands nowhere else
-- Once:   naturally: a repeat finds the task gone or asked already, and leaves no entry in the audit
-- Twin:   postgres/sql/functions/cancel_tasks.sql
CREATE OR ALTER PROCEDURE Taskgate.CancelTasks
  @TaskIds nvarchar(max), @Reason nvarchar(max) = NULL, @ChangedBy nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  SET DEADLOCK_PRIORITY LOW; -- should it ever come to that, workers survive
  IF @@TRANCOUNT > 0 THROW 50490, N'transaction: must run outside a transaction', 1;
  DECLARE @vMessage nvarchar(2048), @vNow datetime2(3) = SYSUTCDATETIME(), @vCount int = 0, @vRetention nvarchar(max), @vWokenIds nvarchar(max) = N'[]',
          @vOpening nvarchar(max), @vChanged nvarchar(max), @vDefinition int, @vIgnoredIds nvarchar(max), @vIgnored nvarchar(max), @vResults nvarchar(max);
  DECLARE @vAsked TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Ord int NOT NULL, Outcome nvarchar(20) NULL, [State] nvarchar(20) NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Priority smallint NOT NULL, Rank bigint NOT NULL,
    DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NULL, GroupId int NULL, WaveId bigint NULL,
    IsWaiting bit NOT NULL, IsElsewhere bit NOT NULL, RunAt datetime2(3) NULL,
    Place tinyint NOT NULL); -- place 0 not ours, 1 ready, 2 scheduled, 3 waiting, 4 blocked
  DECLARE @vFound TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vKey TABLE (
    TaskDefinitionId int NOT NULL, DedupeKey nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, DedupeKey));
  DECLARE @vGate TABLE (GroupId int NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vRequested TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, WasRequested bit NOT NULL);
  DECLARE @vEnded Taskgate.EndedTaskList, @vBlocked Taskgate.EndedTaskList, @vReleased Taskgate.GroupedTaskList;

  SET @vMessage = Taskgate._AuditProblem(@ChangedBy, @Reason);
  IF @vMessage IS NOT NULL THROW 50422, @vMessage, 1;
  IF Taskgate._JsonKind(@TaskIds) = N'[' SELECT @vCount = COUNT(*) FROM OPENJSON(@TaskIds) AS j;
  IF @vCount NOT BETWEEN 1 AND 1000 OR EXISTS (SELECT 1 FROM OPENJSON(@TaskIds) AS j WHERE TRY_CONVERT(bigint, j.[value]) IS NULL)
    THROW 50422, N'task_ids: expected a JSON array of 1..1000 ids', 1;

  BEGIN TRY
    -- 1. Where they seem to be, with nothing locked.
    INSERT INTO @vAsked (TaskId, Ord)
    SELECT TRY_CONVERT(bigint, j.[value]), MIN(CONVERT(int, j.[key])) FROM OPENJSON(@TaskIds) AS j GROUP BY TRY_CONVERT(bigint, j.[value]);
    -- One table a statement: a reader that holds one row must not wait for another.
    INSERT INTO @vTask (TaskId, TaskDefinitionId, Priority, Rank, DedupeKey, GroupId, WaveId, IsWaiting, IsElsewhere, Place)
    SELECT t.TaskId, t.TaskDefinitionId, t.Priority, t.Rank, t.DedupeKey, t.GroupId, t.WaveId, 0, 0, 0
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
    SET IsElsewhere = 1
    FROM @vTask AS t
    INNER JOIN Taskgate.Claim AS c WITH (INDEX (UQ_Claim_Task)) ON c.TaskId = t.TaskId -- covers this read
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE t
    SET IsElsewhere = 1
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
    SELECT @vRetention = N'[' + STRING_AGG(CONVERT(nvarchar(max),
             N'{"id":' + CONVERT(nvarchar(11), d.TaskDefinitionId) + N',"done":' + CONVERT(nvarchar(20), d.RetainDoneMs)
             + N',"dead":' + CONVERT(nvarchar(20), d.RetainDeadMs) + N'}'), N',') + N']'
    FROM (SELECT DISTINCT t.TaskDefinitionId FROM @vTask AS t) AS x
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per definition

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
    DELETE FROM @vFound;
    INSERT INTO @vFound (TaskId)
    SELECT h.TaskId
    FROM @vTask AS t
    INNER JOIN Taskgate.WaveBlocked AS h WITH (ROWLOCK, UPDLOCK, READPAST) -- by the whole key; skip, don't wait
      ON h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId
    WHERE t.Place = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    UPDATE t SET Place = 4 FROM @vTask AS t INNER JOIN @vFound AS f ON f.TaskId = t.TaskId;
    UPDATE t
    SET GroupId = x.GroupId
    FROM @vTask AS t
    INNER JOIN Taskgate.Task AS x ON x.TaskId = t.TaskId -- the holder of the container's row may name its group
    WHERE t.Place > 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task

    -- 3. Their keys, then their groups: each level once, ascending.
    INSERT INTO @vKey (TaskDefinitionId, DedupeKey)
    SELECT k.TaskDefinitionId, k.DedupeKey
    FROM @vTask AS t
    INNER JOIN Taskgate.Dedupe AS k ON k.TaskDefinitionId = t.TaskDefinitionId AND k.DedupeKey = t.DedupeKey
    WHERE (t.Place > 0 OR t.IsWaiting = 1) AND k.TaskId = t.TaskId AND k.ExpiresAt IS NULL -- a key with a window outlives its task
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per key
    SELECT @vCount = COUNT(*)
    FROM @vKey AS v
    INNER JOIN Taskgate.Dedupe AS k WITH (ROWLOCK, UPDLOCK) -- kept to the end
      ON k.TaskDefinitionId = v.TaskDefinitionId AND k.DedupeKey = v.DedupeKey
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per key, ascending
    INSERT INTO @vGate (GroupId)
    SELECT DISTINCT t.GroupId FROM @vTask AS t WHERE t.GroupId IS NOT NULL AND (t.Place IN (1, 2) OR t.IsWaiting = 1);
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

    -- 5. The end of the tasks that this call has taken.
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
    DELETE h
    FROM @vTask AS t
    INNER JOIN Taskgate.WaveBlocked AS h WITH (ROWLOCK, UPDLOCK) -- ours already
      ON h.WaveId = t.WaveId AND h.Priority = t.Priority AND h.Rank = t.Rank AND h.TaskId = t.TaskId
    WHERE t.Place = 4
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
    IF @Reason IS NOT NULL
      UPDATE x
      SET LastError = @Reason
      FROM @vTask AS t
      INNER JOIN Taskgate.Task AS x WITH (ROWLOCK, UPDLOCK) ON x.TaskId = t.TaskId -- ours by the container's row
      WHERE t.Place > 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task, ascending
    INSERT INTO @vBlocked (TaskId, Outcome) SELECT t.TaskId, 12 FROM @vTask AS t WHERE t.Place = 4;
    IF EXISTS (SELECT 1 FROM @vBlocked AS h)
      EXEC Taskgate._EndTasks @Ended = @vBlocked, @TaskExecutionId = NULL, @Now = @vNow, @Released = @vReleased,
        @oWoken = @vIgnoredIds OUTPUT, @oOpening = @vIgnored OUTPUT, @Retention = @vRetention, @AreBlocked = 1;
    INSERT INTO @vEnded (TaskId, Outcome) SELECT t.TaskId, 12 FROM @vTask AS t WHERE t.Place IN (1, 2, 3);
    IF EXISTS (SELECT 1 FROM @vEnded AS e)
      EXEC Taskgate._EndTasks @Ended = @vEnded, @TaskExecutionId = NULL, @Now = @vNow, @Released = @vReleased,
        @oWoken = @vWokenIds OUTPUT, @oOpening = @vOpening OUTPUT, @Retention = @vRetention;

    -- 6. The rest runs or is on the move. Last: the call that ends such a task waits for this row while it holds others.
    UPDATE x
    SET CancelRequested = 1
    OUTPUT inserted.TaskId, deleted.CancelRequested INTO @vRequested (TaskId, WasRequested)
    FROM @vTask AS t
    INNER JOIN Taskgate.Task AS x WITH (ROWLOCK, UPDLOCK, READPAST) ON x.TaskId = t.TaskId -- skip, don't wait
    WHERE t.Place = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task, ascending
    SELECT @vChanged = N'[' + STRING_AGG(CONVERT(nvarchar(max), t.TaskId), N',') WITHIN GROUP (ORDER BY t.TaskId) + N']',
           @vDefinition = CASE WHEN MIN(t.TaskDefinitionId) = MAX(t.TaskDefinitionId) THEN MIN(t.TaskDefinitionId) ELSE 0 END
    FROM @vTask AS t WHERE t.Place > 0 OR EXISTS (SELECT 1 FROM @vRequested AS r WHERE r.TaskId = t.TaskId AND r.WasRequested = 0);
    IF @vChanged IS NOT NULL
      EXEC Taskgate._AuditCall @Action = N'cancel_tasks', @TaskDefinitionId = @vDefinition, @BatchId = NULL, @TaskIds = @vChanged,
        @ChangedBy = @ChangedBy, @Reason = @Reason, @Now = @vNow;
    COMMIT TRANSACTION;

    UPDATE a
    SET Outcome = CASE WHEN t.Place > 0 THEN N'cancelled' WHEN r.TaskId IS NOT NULL THEN N'requested'
                       WHEN h.TaskId IS NULL AND t.TaskId IS NOT NULL THEN N'busy' ELSE N'gone' END,
        [State] = CASE WHEN t.Place > 0 OR r.TaskId IS NOT NULL THEN NULL
                       WHEN h.TaskId IS NOT NULL THEN CASE h.Outcome WHEN 10 THEN N'done' WHEN 11 THEN N'dead' ELSE N'cancelled' END
                       WHEN t.TaskId IS NULL THEN N'unknown' END
    FROM @vAsked AS a
    LEFT JOIN @vTask AS t ON t.TaskId = a.TaskId
    LEFT JOIN @vRequested AS r ON r.TaskId = a.TaskId
    LEFT JOIN Taskgate.Archive AS h ON h.TaskId = a.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
  END TRY
  BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
  END CATCH;
  SELECT @vResults = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"task":"' + CONVERT(nvarchar(20), a.TaskId)
           + N'","outcome":"' + a.Outcome + N'","state":' + COALESCE(N'"' + a.[State] + N'"', N'null') + N'}'), N',')
           WITHIN GROUP (ORDER BY a.Ord) + N']'
  FROM @vAsked AS a;
  SELECT N'done' AS [Status], @vResults AS [Results], Taskgate._DefinitionNames(@vWokenIds, 0) AS [Woken],
         @vOpening AS [Opening];
END;
