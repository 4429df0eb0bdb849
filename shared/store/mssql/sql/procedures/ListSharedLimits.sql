-- Taskgate.ListSharedLimits: limits that definitions share, how many tokens are held of each and by whom, by name.
-- In:     @Name: only this one, or null; @Max int 1..1000
-- Out:    Status: listed; SharedLimits: JSON array of {name, limit (-1 none), limitSource: code | operator, codeLimit,
--           held: by all definitions, also by the dead until the next call that asks for a token,
--           definitions: [{name, held}], by name: those that draw from it}
-- Raises: 50422 @Max out of range; 50490 inside a transaction
-- Locks:  none
-- Isolation: each limit's tokens are as of one moment, without a limit each execution's
-- Plan:   UQ_SharedLimit_Name in its order, then primary keys; without a limit the open executions of the definitions that draw from it;
--         joins are loops in the written order, or planned for one row
-- Once:   a read
-- Twin:   postgres/sql/functions/list_shared_limits.sql
CREATE OR ALTER PROCEDURE Taskgate.ListSharedLimits
  @Name nvarchar(max), @Max int
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DEADLOCK_PRIORITY LOW; -- without row versions a reader of several tables may be in a circle of waiters: workers survive
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vName nvarchar(200), @vSharedLimits nvarchar(max);
  DECLARE @vListed TABLE (
    SharedLimitId int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    CodeLimit int NULL, OperatorLimit int NULL, ExecutionTokens nvarchar(max) COLLATE Latin1_General_100_BIN2 NULL);
  DECLARE @vHolder TABLE (
    SharedLimitId int NOT NULL, TaskExecutionId bigint NOT NULL, TaskDefinitionId int NULL, Held int NULL,
    PRIMARY KEY CLUSTERED (SharedLimitId, TaskExecutionId));
  DECLARE @vUser TABLE (
    SharedLimitId int NOT NULL PRIMARY KEY CLUSTERED, Definitions nvarchar(max) COLLATE Latin1_General_100_BIN2 NOT NULL);

  EXEC Taskgate._CheckRange @What = N'max', @Value = @Max, @Min = 1, @Max = 1000;
  -- A name that is too long or ends in blanks matches no row; a comparison would truncate it.
  IF DATALENGTH(@Name) <= 400 AND DATALENGTH(@Name) = DATALENGTH(RTRIM(@Name)) SET @vName = @Name;
  -- First the index entries, then the rows by key: no other call waits between index and row.
  INSERT INTO @vListed (SharedLimitId, Name)
  SELECT TOP (@Max) s.SharedLimitId, s.Name
  FROM Taskgate.SharedLimit AS s WITH (INDEX (UQ_SharedLimit_Name)) -- in its order; covers this read
  WHERE @Name IS NULL OR s.Name = @vName
  ORDER BY s.Name;
  UPDATE x
  SET CodeLimit = s.ConcurrencyLimit, OperatorLimit = s.ConcurrencyLimitOverride, ExecutionTokens = s.ExecutionTokens
  FROM @vListed AS x
  INNER JOIN Taskgate.SharedLimit AS s WITH (INDEX (PK_SharedLimit)) ON s.SharedLimitId = x.SharedLimitId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per limit
  INSERT INTO @vHolder (SharedLimitId, TaskExecutionId, Held)
  SELECT x.SharedLimitId, t.Grantee, COUNT(*)
  FROM @vListed AS x
  CROSS APPLY Taskgate._ReadTokens(x.ExecutionTokens) AS t
  WHERE t.IsHeld = 1 AND NOT EXISTS ( -- in a damaged string: without a holder
    SELECT 1 FROM Taskgate._ReadTokens(x.ExecutionTokens) AS b WHERE b.TokenId IS NULL OR b.IsHeld IS NULL OR b.Grantee IS NULL)
  GROUP BY x.SharedLimitId, t.Grantee
  OPTION (USE HINT ('DISABLE_DEFERRED_COMPILATION_TV')); -- for one limit, whatever the first call has
  -- Without a limit no string counts them.
  INSERT INTO @vHolder (SharedLimitId, TaskExecutionId, Held)
  SELECT x.SharedLimitId, e.TaskExecutionId, NULL
  FROM @vListed AS x
  INNER JOIN Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
    ON l.SharedLimitId = x.SharedLimitId
  INNER JOIN Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
    ON e.TaskDefinitionId = l.TaskDefinitionId
  WHERE COALESCE(x.OperatorLimit, x.CodeLimit) = -1 AND e.State IN (1, 3)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per definition
  UPDATE h
  SET TaskDefinitionId = e.TaskDefinitionId, Held = COALESCE(h.Held, e.TokenCount)
  FROM @vHolder AS h
  INNER JOIN Taskgate.TaskExecution AS e WITH (INDEX (PK_TaskExecution)) ON e.TaskExecutionId = h.TaskExecutionId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
  INSERT INTO @vUser (SharedLimitId, Definitions)
  SELECT x.SharedLimitId,
         STRING_AGG(CONVERT(nvarchar(max), N'{"name":"' + STRING_ESCAPE(d.Name, 'json')
           + N'","held":' + CONVERT(nvarchar(11), u.Held) + N'}'), N',') WITHIN GROUP (ORDER BY d.Name)
  FROM @vListed AS x
  INNER JOIN Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
    ON l.SharedLimitId = x.SharedLimitId
  INNER JOIN Taskgate.TaskDefinition AS d WITH (INDEX (PK_TaskDefinition)) ON d.TaskDefinitionId = l.TaskDefinitionId
  CROSS APPLY (
    SELECT COALESCE(SUM(h.Held), 0) AS Held
    FROM @vHolder AS h WHERE h.SharedLimitId = l.SharedLimitId AND h.TaskDefinitionId = l.TaskDefinitionId) AS u
  GROUP BY x.SharedLimitId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per definition
  SELECT @vSharedLimits = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'{"name":"') COLLATE Latin1_General_100_BIN2
           + STRING_ESCAPE(x.Name, 'json')
           + N'","limit":' + CONVERT(nvarchar(11), COALESCE(x.OperatorLimit, x.CodeLimit))
           + N',"limitSource":"' + CASE WHEN x.OperatorLimit IS NULL THEN N'code' ELSE N'operator' END
           + N'","codeLimit":' + CONVERT(nvarchar(11), x.CodeLimit)
           + N',"held":' + CONVERT(nvarchar(11), CASE COALESCE(x.OperatorLimit, x.CodeLimit) WHEN -1 THEN u.Held
               ELSE (DATALENGTH(x.ExecutionTokens) - DATALENGTH(REPLACE(x.ExecutionTokens COLLATE Latin1_General_100_BIN2, N'S:0', N''))) / 6 END)
           + N',"definitions":[' + COALESCE(z.Definitions, N'') + N']}', N',') WITHIN GROUP (ORDER BY x.Name) + N']'
  FROM @vListed AS x
  LEFT JOIN @vUser AS z ON z.SharedLimitId = x.SharedLimitId
  CROSS APPLY (
    SELECT COALESCE(SUM(h.Held), 0) AS Held
    FROM @vHolder AS h WHERE h.SharedLimitId = x.SharedLimitId) AS u
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- two seeks per limit
  SELECT N'listed' AS [Status], COALESCE(@vSharedLimits, N'[]') AS [SharedLimits];
END;
