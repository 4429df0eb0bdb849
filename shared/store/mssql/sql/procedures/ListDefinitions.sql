-- Taskgate.ListDefinitions: definitions with their limits, their executions and the tasks that wait.
-- In:     @Name: only this one, or null
-- Out:    Status: listed; Definitions: JSON array, by name, of {name, limit (-1 none), limitSource: code | operator, codeLimit,
--           rate: in force, {count, periodMs, burst} or null, rateSource, codeRate, rateInMs: until it lets another task start, 0: now,
--           sharedLimits: [{name, limit, limitSource, held: by all definitions}], by name, paused, leaseMs, retryAttempts, lostMax, prefetchMax, build, tokenFence, held, executions, ready, scheduled, waiting, claimed,
--           running: of the claimed, as ListExecutions counts them: never more than held, prefetched: of the claimed, likewise,
--           done, dead, cancelled: counted up to 10000 each, nextDueMs}, or []
-- Raises: 50490 inside a transaction
-- Locks:  none
-- Isolation: several reads, each as of its own moment
-- Plan:   capped index ranges per definition: at most 60000 entries of each, whatever waits; and its open executions;
--         joins are loops in the written order, or planned for one row
-- Once:   a read
-- Twin:   postgres/sql/functions/list_definitions.sql
CREATE OR ALTER PROCEDURE Taskgate.ListDefinitions
  @Name nvarchar(max) = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vName nvarchar(200), @vDefinitions nvarchar(max);
  DECLARE @vDefinition TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL);
  DECLARE @vOpen TABLE (
    TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TaskDefinitionId int NOT NULL, TokenCount int NOT NULL, IsLive bit NOT NULL,
    Claimed int NOT NULL, Started int NOT NULL);
  DECLARE @vRate TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, OperatorRate nvarchar(100) COLLATE Latin1_General_100_BIN2 NULL,
    CodeRate nvarchar(100) COLLATE Latin1_General_100_BIN2 NULL, PermitInMs bigint NULL);
  DECLARE @vShared TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, SharedLimits nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL);

  -- A name that is too long or ends in blanks matches no row; a comparison would truncate it.
  IF DATALENGTH(@Name) <= 400 AND DATALENGTH(@Name) = DATALENGTH(RTRIM(@Name)) SET @vName = @Name;
  INSERT INTO @vDefinition (TaskDefinitionId, Name)
  SELECT d.TaskDefinitionId, d.Name
  FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all of them: there are few
  WHERE @Name IS NULL OR d.Name = @vName;
  -- First the index entries, then the rows by key: no other call waits between index and row.
  INSERT INTO @vOpen (TaskExecutionId, TaskDefinitionId, TokenCount, IsLive, Claimed, Started)
  SELECT e.TaskExecutionId, e.TaskDefinitionId, 0, 0, 0, 0
  FROM @vDefinition AS d
  INNER JOIN Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
    ON e.TaskDefinitionId = d.TaskDefinitionId
  WHERE e.State IN (1, 3)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per definition
  UPDATE o
  SET TokenCount = e.TokenCount, IsLive = CASE WHEN e.State = 1 AND e.LeaseUntil >= @vNow THEN 1 ELSE 0 END
  FROM @vOpen AS o
  INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
  UPDATE o
  SET Claimed = c.Claimed, Started = c.Started
  FROM @vOpen AS o
  CROSS APPLY (
    SELECT COUNT(*) AS Claimed, COALESCE(SUM(CASE y.IsPrefetched WHEN 0 THEN 1 ELSE 0 END), 0) AS Started
    FROM Taskgate.Claim AS y WITH (INDEX (PK_Claim)) -- the execution's range
    WHERE y.TaskExecutionId = o.TaskExecutionId) AS c
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
  INSERT INTO @vRate (TaskDefinitionId, OperatorRate, CodeRate, PermitInMs)
  SELECT b.TaskDefinitionId, Taskgate._RateText(b.RateCountOverride, b.RatePeriodMsOverride, b.RateBurstOverride),
         Taskgate._RateText(b.RateCount, b.RatePeriodMs, b.RateBurst), Taskgate._PermitInMs(b.TaskDefinitionId, @vNow)
  FROM Taskgate.RateBucket AS b WITH (INDEX (PK_RateBucket)); -- all of them: there are few
  INSERT INTO @vShared (TaskDefinitionId, SharedLimits)
  SELECT x.TaskDefinitionId,
         STRING_AGG(CONVERT(nvarchar(max), N'{"name":"' + STRING_ESCAPE(u.Name, 'json') + N'","limit":' + CONVERT(nvarchar(11), u.TaskLimit)
           + N',"limitSource":"' + u.Source + N'","held":'
           + CONVERT(nvarchar(11), CASE u.TaskLimit WHEN -1 THEN Taskgate._SharedCount(u.SharedLimitId) ELSE u.Held END) + N'}'), N',')
           WITHIN GROUP (ORDER BY u.Name)
  FROM @vDefinition AS x
  CROSS APPLY Taskgate._SharedUse(x.TaskDefinitionId, @vNow) AS u
  GROUP BY x.TaskDefinitionId
  OPTION (USE HINT ('DISABLE_DEFERRED_COMPILATION_TV')); -- for one definition, whatever the first call has
  SELECT @vDefinitions = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"name":"' + STRING_ESCAPE(d.Name, 'json')
           + N'","limit":' + CONVERT(nvarchar(11), COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit))
           + N',"limitSource":"' + CASE WHEN d.ConcurrencyLimitOverride IS NULL THEN N'code' ELSE N'operator' END
           + N'","codeLimit":' + CONVERT(nvarchar(11), d.ConcurrencyLimit)
           + N',"rate":' + COALESCE(NULLIF(COALESCE(b.OperatorRate, b.CodeRate), N'none'), N'null')
           + N',"rateSource":"' + CASE WHEN b.OperatorRate IS NULL THEN N'code' ELSE N'operator' END
           + N'","codeRate":' + COALESCE(b.CodeRate, N'null')
           + N',"rateInMs":' + COALESCE(CONVERT(nvarchar(20), b.PermitInMs), N'null')
           + N',"sharedLimits":[' + COALESCE(z.SharedLimits, N'') + N']'
           + N',"paused":' + CASE d.Paused WHEN 1 THEN N'true' ELSE N'false' END
           + N',"leaseMs":' + CONVERT(nvarchar(11), d.LeaseMs)
           + N',"retryAttempts":' + CONVERT(nvarchar(11), d.RetryAttempts)
           + N',"lostMax":' + CONVERT(nvarchar(11), d.LostMax)
           + N',"prefetchMax":' + CONVERT(nvarchar(11), d.PrefetchMax)
           + N',"build":' + CONVERT(nvarchar(20), d.Build)
           + N',"tokenFence":"' + CONVERT(nvarchar(20), d.TokenFence)
           + N'","held":' + CONVERT(nvarchar(11), o.Held)
           + N',"executions":' + CONVERT(nvarchar(11), o.Executions)
           + N',"ready":' + CONVERT(nvarchar(11), r.Ready)
           + N',"scheduled":' + CONVERT(nvarchar(11), s.Scheduled)
           + N',"waiting":' + CONVERT(nvarchar(11), w.Waiting)
           + N',"claimed":' + CONVERT(nvarchar(11), o.Claimed)
           + N',"running":' + CONVERT(nvarchar(11), o.Running)
           + N',"prefetched":' + CONVERT(nvarchar(11), o.ClaimedLive - o.Running)
           + N',"done":' + CONVERT(nvarchar(11), f.Done)
           + N',"dead":' + CONVERT(nvarchar(11), g.Dead)
           + N',"cancelled":' + CONVERT(nvarchar(11), h.Cancelled)
           + N',"nextDueMs":' + COALESCE(CONVERT(nvarchar(20), Taskgate._NextDueMs(d.TaskDefinitionId)), N'null') + N'}'), N',')
           WITHIN GROUP (ORDER BY d.Name) + N']'
  FROM @vDefinition AS x
  INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = x.TaskDefinitionId
  LEFT JOIN @vShared AS z ON z.TaskDefinitionId = x.TaskDefinitionId
  LEFT JOIN @vRate AS b ON b.TaskDefinitionId = x.TaskDefinitionId
  CROSS APPLY (
    SELECT COALESCE(SUM(y.TokenCount), 0) AS Held, COALESCE(SUM(CASE y.IsLive WHEN 1 THEN 1 ELSE 0 END), 0) AS Executions,
           COALESCE(SUM(y.Claimed), 0) AS Claimed, COALESCE(SUM(CASE y.IsLive WHEN 1 THEN y.Claimed ELSE 0 END), 0) AS ClaimedLive,
           COALESCE(SUM(CASE WHEN y.IsLive = 0 THEN 0 WHEN y.Started < y.TokenCount THEN y.Started ELSE y.TokenCount END), 0) AS Running
    FROM @vOpen AS y WHERE y.TaskDefinitionId = x.TaskDefinitionId) AS o
  CROSS APPLY (
    SELECT COUNT(*) AS Ready
    FROM (SELECT TOP (10000) y.TaskId
          FROM Taskgate.Ready AS y WITH (FORCESEEK) -- the last entries, regardless of statistics: claims leave deleted ones at the first
          WHERE y.TaskDefinitionId = x.TaskDefinitionId
          ORDER BY y.Priority DESC, y.Rank DESC, y.TaskId DESC) AS c) AS r
  CROSS APPLY (
    SELECT COUNT(*) AS Scheduled
    FROM (SELECT TOP (10000) y.TaskId
          FROM Taskgate.Scheduled AS y WITH (FORCESEEK) -- the last ones likewise: promotions do
          WHERE y.TaskDefinitionId = x.TaskDefinitionId
          ORDER BY y.RunAt DESC, y.TaskId DESC) AS c) AS s
  CROSS APPLY (
    SELECT COUNT(*) AS Waiting
    FROM (SELECT TOP (10000) y.TaskId
          FROM Taskgate.GroupWaiting AS y WITH (INDEX (IX_GroupWaiting_Definition)) -- covers this read
          WHERE y.TaskDefinitionId = x.TaskDefinitionId) AS c) AS w
  CROSS APPLY (
    SELECT COUNT(*) AS Done
    FROM (SELECT TOP (10000) y.TaskId
          FROM Taskgate.Archive AS y WITH (INDEX (IX_Archive_Finished)) -- covers this read
          WHERE y.TaskDefinitionId = x.TaskDefinitionId AND y.Outcome = 10) AS c) AS f
  CROSS APPLY (
    SELECT COUNT(*) AS Dead
    FROM (SELECT TOP (10000) y.TaskId
          FROM Taskgate.Archive AS y WITH (INDEX (IX_Archive_Finished)) -- covers this read
          WHERE y.TaskDefinitionId = x.TaskDefinitionId AND y.Outcome = 11) AS c) AS g
  CROSS APPLY (
    SELECT COUNT(*) AS Cancelled
    FROM (SELECT TOP (10000) y.TaskId
          FROM Taskgate.Archive AS y WITH (INDEX (IX_Archive_Finished)) -- covers this read
          WHERE y.TaskDefinitionId = x.TaskDefinitionId AND y.Outcome = 12) AS c) AS h
  OPTION (USE HINT ('DISABLE_DEFERRED_COMPILATION_TV')); -- for one definition, whatever the first call has
  SELECT N'listed' AS [Status], COALESCE(@vDefinitions, N'[]') AS [Definitions];
END;
