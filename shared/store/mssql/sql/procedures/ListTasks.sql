-- Taskgate.ListTasks: tasks of a definition in one state.
-- In:     @Name; @State: ready | scheduled | waiting | claimed | done | dead | cancelled; @Max int 1..1000
-- Out:    Status: listed; Tasks: JSON array of {task, kind, priority, state: @State, or of a claimed one running | prefetched | lost (its worker's
--           lease is over), createdAt, dueAt, claimedAt, finishedAt, failedCount, lostCount, error, worker}: unfinished ones in the order
--           they will be taken, claimed ones in that of the states above, finished ones newest first
-- Raises: 50404 unknown definition; 50422 unknown state, @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: a task that moves on between the two reads is left out
-- Plan:   the container's key under the definition; IX_Archive_Finished backwards; then one seek per task
-- Once:   a read
-- Twin:   postgres/sql/functions/list_tasks.sql
CREATE OR ALTER PROCEDURE Taskgate.ListTasks
  @Name nvarchar(max), @State nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 THROW 50490, N'transaction: must run outside a transaction', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vDefinition int, @vState nvarchar(20), @vOutcome tinyint, @vTasks nvarchar(max);
  DECLARE @vOpen TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TokenCount int NOT NULL, IsLive bit NOT NULL);
  DECLARE @vListed TABLE (
    N int NOT NULL PRIMARY KEY CLUSTERED, TaskId bigint NOT NULL, DueAt datetime2(3) NULL, TaskExecutionId bigint NULL,
    ClaimedAt datetime2(3) NULL, Standing tinyint NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Least = 1, @Most = 1000;
  SELECT @vState = s.Name, @vOutcome = s.Outcome
  FROM (VALUES (N'ready', NULL), (N'scheduled', NULL), (N'waiting', NULL), (N'claimed', NULL), (N'done', 10), (N'dead', 11),
               (N'cancelled', 12)) AS s (Name, Outcome)
  WHERE s.Name = @State COLLATE Latin1_General_100_BIN2 AND DATALENGTH(s.Name) = DATALENGTH(@State); -- case and blanks count
  IF @vState IS NULL
  BEGIN
    SET @vMessage = N'state: expected ready, scheduled, waiting, claimed, done, dead or cancelled ('
      + COALESCE(REPLACE(LEFT(@State, 220), N'%', N'%%'), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  EXEC Taskgate._FindDefinition @Name = @Name, @oDefinition = @vDefinition OUTPUT;

  -- 1. The entries, in order.
  IF @vOutcome IS NOT NULL
    INSERT INTO @vListed (N, TaskId)
    SELECT TOP (@Max) ROW_NUMBER() OVER (ORDER BY a.FinishedAt DESC, a.TaskId DESC), a.TaskId
    FROM Taskgate.Archive AS a WITH (INDEX (IX_Archive_Finished)) -- backwards; covers this read
    WHERE a.TaskDefinitionId = @vDefinition AND a.Outcome = @vOutcome
    ORDER BY a.FinishedAt DESC, a.TaskId DESC;
  ELSE IF @vState = N'ready'
    INSERT INTO @vListed (N, TaskId)
    SELECT TOP (@Max) ROW_NUMBER() OVER (ORDER BY r.Priority, r.Rank, r.TaskId), r.TaskId
    FROM Taskgate.Ready AS r WITH (FORCESEEK) -- the first entries, regardless of statistics
    WHERE r.TaskDefinitionId = @vDefinition
    ORDER BY r.Priority, r.Rank, r.TaskId;
  ELSE IF @vState = N'scheduled'
    INSERT INTO @vListed (N, TaskId, DueAt)
    SELECT TOP (@Max) ROW_NUMBER() OVER (ORDER BY s.RunAt, s.TaskId), s.TaskId, s.RunAt
    FROM Taskgate.Scheduled AS s WITH (FORCESEEK) -- the first entries, regardless of statistics
    WHERE s.TaskDefinitionId = @vDefinition
    ORDER BY s.RunAt, s.TaskId;
  ELSE IF @vState = N'waiting'
    INSERT INTO @vListed (N, TaskId)
    SELECT TOP (@Max) ROW_NUMBER() OVER (ORDER BY w.GroupId, w.Priority, w.Rank, w.TaskId), w.TaskId
    FROM Taskgate.GroupWaiting AS w WITH (INDEX (PK_GroupWaiting)) -- over all groups, in their order
    WHERE w.TaskDefinitionId = @vDefinition
    ORDER BY w.GroupId, w.Priority, w.Rank, w.TaskId;
  ELSE
  BEGIN
    INSERT INTO @vOpen (TaskExecutionId, TokenCount, IsLive)
    SELECT e.TaskExecutionId, 0, 0
    FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
    WHERE e.TaskDefinitionId = @vDefinition AND e.State IN (1, 3);
    UPDATE o
    SET TokenCount = e.TokenCount, IsLive = CASE WHEN e.State = 1 AND e.LeaseUntil >= @vNow THEN 1 ELSE 0 END
    FROM @vOpen AS o
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per execution
    INSERT INTO @vListed (N, TaskId, TaskExecutionId, ClaimedAt, Standing)
    SELECT TOP (@Max) ROW_NUMBER() OVER (ORDER BY x.Standing, x.TaskExecutionId, x.TaskId), x.TaskId, x.TaskExecutionId, x.ClaimedAt, x.Standing
    FROM (
      SELECT c.TaskId, c.TaskExecutionId, c.ClaimedAt,
             CASE WHEN o.IsLive = 0 THEN 3 -- else the first ones that count as started, one per token
                  WHEN c.IsPrefetched = 0 AND ROW_NUMBER() OVER (PARTITION BY c.TaskExecutionId, c.IsPrefetched ORDER BY c.Fence, c.Ordinal) <= o.TokenCount THEN 1
                  ELSE 2 END AS Standing
      FROM @vOpen AS o
      INNER JOIN Taskgate.Claim AS c WITH (INDEX (PK_Claim)) ON c.TaskExecutionId = o.TaskExecutionId) AS x -- the execution's range
    ORDER BY x.Standing, x.TaskExecutionId, x.TaskId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one range per execution
  END;

  -- 2. The tasks, by key.
  IF @vOutcome IS NOT NULL
    SELECT @vTasks = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"task":"') COLLATE Latin1_General_100_BIN2 -- keys and texts differ in it
             + CONVERT(nvarchar(20), a.TaskId)
             + N'","kind":"' + STRING_ESCAPE(a.Kind, 'json')
             + N'","priority":' + CONVERT(nvarchar(11), a.Priority)
             + N',"state":"' + @vState
             + N'","createdAt":"' + Taskgate._Iso(a.CreatedAt)
             + N'","finishedAt":"' + Taskgate._Iso(a.FinishedAt)
             + N'","failedCount":' + CONVERT(nvarchar(11), a.FailedCount)
             + N',"lostCount":' + CONVERT(nvarchar(11), a.LostCount)
             + N',"error":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), a.ErrorUtf8) COLLATE Latin1_General_100_BIN2, a.Error), 'json') + N'"', N'null')
             + N',"worker":' + COALESCE(N'"' + STRING_ESCAPE(e.Worker, 'json') + N'"', N'null') + N'}', N',')
             WITHIN GROUP (ORDER BY x.N) + N']'
    FROM @vListed AS x
    INNER JOIN Taskgate.Archive AS a ON a.TaskId = x.TaskId
    LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = a.TaskExecutionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
  ELSE
    SELECT @vTasks = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"task":"') COLLATE Latin1_General_100_BIN2 -- keys and texts differ in it
             + CONVERT(nvarchar(20), t.TaskId)
             + N'","kind":"' + STRING_ESCAPE(t.Kind, 'json')
             + N'","priority":' + CONVERT(nvarchar(11), t.Priority)
             + N',"state":"' + CASE x.Standing WHEN 1 THEN N'running' WHEN 2 THEN N'prefetched' WHEN 3 THEN N'lost' ELSE @vState END
             + N'","createdAt":"' + Taskgate._Iso(t.CreatedAt)
             + N'","dueAt":' + COALESCE(N'"' + Taskgate._Iso(x.DueAt) + N'"', N'null')
             + N',"claimedAt":' + COALESCE(N'"' + Taskgate._Iso(x.ClaimedAt) + N'"', N'null')
             + N',"failedCount":' + CONVERT(nvarchar(11), t.FailedCount)
             + N',"lostCount":' + CONVERT(nvarchar(11), t.LostCount)
             + N',"error":' + COALESCE(N'"' + STRING_ESCAPE(COALESCE(CONVERT(nvarchar(max), t.LastErrorUtf8) COLLATE Latin1_General_100_BIN2, t.LastError), 'json') + N'"', N'null')
             + N',"worker":' + COALESCE(N'"' + STRING_ESCAPE(e.Worker, 'json') + N'"', N'null') + N'}', N',')
             WITHIN GROUP (ORDER BY x.N) + N']'
    FROM @vListed AS x
    INNER JOIN Taskgate.Task AS t ON t.TaskId = x.TaskId
    LEFT JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = x.TaskExecutionId
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per task
  SELECT N'listed' AS [Status], COALESCE(@vTasks, N'[]') AS [Tasks];
END;
