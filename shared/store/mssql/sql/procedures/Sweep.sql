-- Taskgate.Sweep: one read that tells what is due: the safety net behind the hints. Changes nothing.
-- In:     @Most int 1..1000: definitions with something to do, at most
-- Out:    Status: swept; Expired: executions past their lease or declared dead (call ReclaimExpired), counted up to 1000
--         Definitions: JSON array, by name, of those with ready or due tasks, {name, ready (counted up to 1000), free: tokens
--           that may be granted, up to 1000, due: tasks wait for promotion, paused}, or null
--         NextDueMs: until the next scheduled task of any definition, 0 when some are due, or null
-- Raises: 50422 @Most out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: several reads, each as of its own moment: a task that moves between them is found by the next tick
-- Plan:   a few index probes per definition
-- Once:   naturally
-- Twin:   postgres/sql/functions/sweep.sql
CREATE OR ALTER PROCEDURE Taskgate.Sweep
  @Most int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  IF @@TRANCOUNT > 0 THROW 50490, N'transaction: must run outside a transaction', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vMessage nvarchar(2048), @vExpired int,
          @vDefinitions nvarchar(max), @vNextRunAt datetime2(3);
  DECLARE @vOpen TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED);
  DECLARE @vDefinition TABLE (
    TaskDefinitionId int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Paused bit NOT NULL, TaskLimit int NOT NULL, ExecutionTokens nvarchar(max) NOT NULL, Ready int NOT NULL, IsDue bit NOT NULL,
    Held int NOT NULL);
  DECLARE @vToken TABLE (
    TaskDefinitionId int NOT NULL, Ord int NOT NULL, TokenId uniqueidentifier NULL, IsHeld bit NULL, Grantee bigint NULL,
    PRIMARY KEY CLUSTERED (TaskDefinitionId, Ord));

  IF @Most IS NULL OR @Most NOT BETWEEN 1 AND 1000
  BEGIN
    SET @vMessage = N'most: expected 1..1000 (' + COALESCE(CONVERT(nvarchar(11), @Most), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  -- First the entries, then the rows by key: nobody is held up between index and row.
  INSERT INTO @vOpen (TaskExecutionId)
  SELECT e.TaskExecutionId
  FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
  WHERE e.State IN (1, 3);
  SELECT @vExpired = COUNT(*)
  FROM (
    SELECT TOP (1000) e.TaskExecutionId
    FROM @vOpen AS o
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId
    WHERE e.State = 3 OR (e.State = 1 AND e.LeaseUntil < @vNow)) AS x
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per execution

  INSERT INTO @vDefinition (TaskDefinitionId, Name, Paused, TaskLimit, ExecutionTokens, Ready, IsDue, Held)
  SELECT TOP (@Most) d.TaskDefinitionId, d.Name, d.Paused, COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit), d.ExecutionTokens,
         r.Ready, s.IsDue, 0
  FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all of them: there are few
  CROSS APPLY (
    SELECT COUNT(*) AS Ready
    FROM (SELECT TOP (1000) x.TaskId
          FROM Taskgate.Ready AS x WITH (FORCESEEK) -- the first entries, whatever statistics say
          WHERE x.TaskDefinitionId = d.TaskDefinitionId) AS c) AS r
  CROSS APPLY (
    SELECT COUNT(*) AS IsDue
    FROM (SELECT TOP (1) x.TaskId
          FROM Taskgate.Scheduled AS x WITH (FORCESEEK) -- the first entry, whatever statistics say
          WHERE x.TaskDefinitionId = d.TaskDefinitionId AND x.RunAt <= @vNow) AS c) AS s
  WHERE r.Ready > 0 OR s.IsDue > 0
  ORDER BY d.Name;
  INSERT INTO @vToken (TaskDefinitionId, Ord, TokenId, IsHeld, Grantee)
  SELECT d.TaskDefinitionId, t.Ord, t.TokenId, t.IsHeld, t.Grantee
  FROM @vDefinition AS d
  CROSS APPLY Taskgate._ReadTokens(d.ExecutionTokens) AS t
  WHERE d.TaskLimit <> -1;
  UPDATE d
  SET Held = h.Held
  FROM @vDefinition AS d
  INNER JOIN (
    SELECT t.TaskDefinitionId, COUNT(*) AS Held
    FROM @vToken AS t
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = t.Grantee
    WHERE t.IsHeld = 1 AND e.State = 1 AND e.LeaseUntil >= @vNow
    GROUP BY t.TaskDefinitionId) AS h ON h.TaskDefinitionId = d.TaskDefinitionId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1); -- one seek per token
  UPDATE d
  SET Held = d.TaskLimit -- none is free; one damaged row must not stop the safety net
  FROM @vDefinition AS d
  WHERE EXISTS (
    SELECT 1 FROM @vToken AS t
    WHERE t.TaskDefinitionId = d.TaskDefinitionId AND (t.TokenId IS NULL OR t.IsHeld IS NULL OR t.Grantee IS NULL));
  SELECT @vDefinitions = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"name":"' + STRING_ESCAPE(d.Name, 'json')
           + N'","ready":' + CONVERT(nvarchar(11), d.Ready)
           + N',"free":' + CONVERT(nvarchar(11),
               CASE WHEN d.TaskLimit = -1 THEN 1000 WHEN d.Held >= d.TaskLimit THEN 0 ELSE d.TaskLimit - d.Held END)
           + N',"due":' + CASE d.IsDue WHEN 1 THEN N'true' ELSE N'false' END
           + N',"paused":' + CASE d.Paused WHEN 1 THEN N'true' ELSE N'false' END + N'}'), N',') WITHIN GROUP (ORDER BY d.Name) + N']'
  FROM @vDefinition AS d;

  SELECT @vNextRunAt = MIN(n.RunAt)
  FROM Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) -- all of them: there are few
  CROSS APPLY (
    SELECT TOP (1) x.RunAt
    FROM Taskgate.Scheduled AS x WITH (FORCESEEK) -- the first entry, whatever statistics say
    WHERE x.TaskDefinitionId = d.TaskDefinitionId
    ORDER BY x.RunAt, x.TaskId) AS n;
  SELECT N'swept' AS [Status], @vExpired AS [Expired], @vDefinitions AS [Definitions],
         CASE WHEN @vNextRunAt > @vNow THEN DATEDIFF_BIG(MILLISECOND, @vNow, @vNextRunAt) WHEN @vNextRunAt IS NOT NULL THEN 0
           END AS [NextDueMs];
END;
