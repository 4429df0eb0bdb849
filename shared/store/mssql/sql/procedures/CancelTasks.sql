-- Taskgate.CancelTasks: an operator's cancel: ends tasks that wait anywhere, and asks for the end of those that run.
-- In:     @TaskIds: JSON array of 1..1000 ids; @Reason: kept as the error of the tasks that end here, or null;
--         @ChangedBy: the actor, for the audit; null: the login
-- Out:    Status: done; Results: JSON array of {task, outcome, state}, each task once, in input order. Outcome: cancelled |
--           requested (it runs or is on the move: its worker is told, and the call that ends or moves the task cancels it) | busy (locked, or on the move, at this moment: ask again) | gone, with its state: done | dead | cancelled | unknown
--         Woken: JSON array of definitions that got ready tasks, or null; Opening: JSON array of batches to be pumped (PumpBatch), or null
-- Raises: 50422 not such a list, an actor that is empty, or a text too long; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  as _TakeTasks; then as _EndTasks; last, Task by skip: this call waits for nothing more once it holds these rows;
--         as _AuditCall
-- Isolation: as _TakeTasks: of a cancel and a claim, a promotion or another cancel one has the task's row and the others step over it.
--         A request is written on the task's own row, where an end or a failure finds it; a move that has read the row already carries
--         the request to the next claim. A failure that came before leaves a row in Scheduled, which is looked at under the lock
-- Plan:   primary keys; as _TakeTasks; joins are loops in the written order
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
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vTasks nvarchar(max), @vTaken nvarchar(max), @vRetention nvarchar(max), @vWokenIds nvarchar(max) = N'[]',
          @vOpening nvarchar(max), @vChanged nvarchar(max), @vDefinition int, @vIgnoredIds nvarchar(max), @vIgnored nvarchar(max), @vResults nvarchar(max);
  DECLARE @vAsked TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Ord int NOT NULL, Outcome nvarchar(20) NULL, [State] nvarchar(20) NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, Place tinyint NOT NULL); -- place 0: not ours
  DECLARE @vRequested TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, WasRequested bit NOT NULL);
  DECLARE @vEnded Taskgate.EndedTaskList, @vBlocked Taskgate.EndedTaskList, @vReleased Taskgate.GroupedTaskList;

  EXEC Taskgate._CheckActor @ChangedBy = @ChangedBy OUTPUT, @Reason = @Reason;
  EXEC Taskgate._FindTasks @TaskIds = @TaskIds, @oTasks = @vTasks OUTPUT; -- where they seem to be, before the transaction

  BEGIN TRY
    INSERT INTO @vAsked (TaskId, Ord)
    SELECT TRY_CONVERT(bigint, j.[value]), MIN(CONVERT(int, j.[key])) FROM OPENJSON(@TaskIds) AS j GROUP BY TRY_CONVERT(bigint, j.[value]);
    INSERT INTO @vTask (TaskId, TaskDefinitionId, Place)
    SELECT j.TaskId, j.TaskDefinitionId, 0
    FROM OPENJSON(@vTasks) WITH (TaskId bigint N'$.id', TaskDefinitionId int N'$.definition') AS j;
    SELECT @vRetention = N'[' + STRING_AGG(CONVERT(nvarchar(max),
             N'{"id":' + CONVERT(nvarchar(11), d.TaskDefinitionId) + N',"done":' + CONVERT(nvarchar(20), d.RetainDoneMs)
             + N',"dead":' + CONVERT(nvarchar(20), d.RetainDeadMs) + N'}'), N',') + N']'
    FROM (SELECT DISTINCT t.TaskDefinitionId FROM @vTask AS t) AS x
    INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per definition

    BEGIN TRANSACTION;
    EXEC Taskgate._TakeTasks @Tasks = @vTasks, @ToEnd = 1, @oTaken = @vTaken OUTPUT;
    UPDATE t
    SET Place = j.Place
    FROM OPENJSON(@vTaken) WITH (TaskId bigint N'$.id', Place tinyint N'$.place') AS j
    INNER JOIN @vTask AS t ON t.TaskId = j.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    -- 1. The end of the tasks that this call has taken.
    IF @Reason IS NOT NULL
      UPDATE x
      SET LastErrorUtf8 = CONVERT(varchar(max), @Reason COLLATE Latin1_General_100_BIN2_UTF8)
      FROM @vTask AS t
      INNER JOIN Taskgate.Task AS x WITH (ROWLOCK, UPDLOCK) ON x.TaskId = t.TaskId -- ours by the container's row
      WHERE t.Place > 0
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task, ascending
    INSERT INTO @vBlocked (TaskId, Outcome) SELECT t.TaskId, 12 FROM @vTask AS t WHERE t.Place = 4;
    IF EXISTS (SELECT 1 FROM @vBlocked AS h)
      EXEC Taskgate._EndTasks @Ended = @vBlocked, @TaskExecutionId = NULL, @Now = @vNow, @Released = @vReleased,
        @oWoken = @vIgnoredIds OUTPUT, @oOpening = @vIgnored OUTPUT, @Retention = @vRetention, @AreBlocked = 1;
    INSERT INTO @vEnded (TaskId, Outcome) SELECT t.TaskId, 12 FROM @vTask AS t WHERE t.Place IN (1, 2, 3);
    IF EXISTS (SELECT 1 FROM @vEnded AS e)
      EXEC Taskgate._EndTasks @Ended = @vEnded, @TaskExecutionId = NULL, @Now = @vNow, @Released = @vReleased,
        @oWoken = @vWokenIds OUTPUT, @oOpening = @vOpening OUTPUT, @Retention = @vRetention;

    -- 2. The rest runs or is on the move. Last: the call that ends such a task waits for this row while it holds others.
    INSERT INTO @vRequested (TaskId, WasRequested)
    SELECT x.TaskId, x.CancelRequested
    FROM @vTask AS t
    INNER JOIN Taskgate.Task AS x WITH (ROWLOCK, UPDLOCK, READPAST) ON x.TaskId = t.TaskId -- skip, don't wait; kept to the end
    WHERE t.Place = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task, ascending
    -- One that was done behind the looks above has its row still, which nothing reads a request from.
    DELETE r
    FROM @vRequested AS r
    INNER JOIN Taskgate.Archive AS h WITH (READCOMMITTEDLOCK, READPAST, INDEX (PK_Archive)) -- versions or not, no wait: a purge that holds it waits for us
      ON h.TaskId = r.TaskId -- an end locks the task's row first: none is just being added
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    -- One that failed behind the looks above is scheduled by now, and a request would stand there until its time: busy.
    DELETE r
    FROM @vRequested AS r
    INNER JOIN @vTask AS t ON t.TaskId = r.TaskId
    INNER JOIN Taskgate.Scheduled AS s WITH (READCOMMITTEDLOCK, READPAST, INDEX (IX_Scheduled_Task)) -- versions or not, no wait; covers this read
      ON s.TaskId = t.TaskId AND s.TaskDefinitionId = t.TaskDefinitionId AND s.RunAt > @vNow -- no row that is due: promotion never waits
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    UPDATE x
    SET CancelRequested = 1
    FROM @vRequested AS r
    INNER JOIN Taskgate.Task AS x WITH (ROWLOCK, UPDLOCK) ON x.TaskId = r.TaskId -- ours already
    WHERE r.WasRequested = 0
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
    SELECT @vChanged = N'[' + STRING_AGG(CONVERT(nvarchar(max), t.TaskId), N',') WITHIN GROUP (ORDER BY t.TaskId) + N']',
           @vDefinition = CASE WHEN MIN(t.TaskDefinitionId) = MAX(t.TaskDefinitionId) THEN MIN(t.TaskDefinitionId) ELSE 0 END
    FROM @vTask AS t WHERE t.Place > 0 OR EXISTS (SELECT 1 FROM @vRequested AS r WHERE r.TaskId = t.TaskId AND r.WasRequested = 0)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
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
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
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
