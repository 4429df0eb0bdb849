-- Taskgate._ChangeSharedLimit: writes a shared limit (by the code or by an operator) and brings its tokens in line.
-- In:     @SharedLimitId int: the caller holds the row; @Limit int: the code's; @Override int: the operator's, null: none
-- Out:    @oOld, @oNew: effective limits, -1 none; @oHeld: tokens held now; @oOverLimit: of them above the new limit
-- Raises: 50499 damaged token string
-- Locks:  TaskExecution of dead holders by skip. Joins the caller's transaction
-- Isolation: tokens of the executions that draw from it change only under its row, so reading them after the lock is exact
-- Plan:   primary keys; the open executions of the definitions that draw from it when a limit takes the place of none;
--         joins are loops in the written order
-- Twin:   postgres/sql/functions/_change_shared_limit.sql
CREATE OR ALTER PROCEDURE Taskgate._ChangeSharedLimit
  @SharedLimitId int, @Limit int, @Override int,
  @oOld int OUTPUT, @oNew int OUTPUT, @oHeld int OUTPUT, @oOverLimit int OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vId nvarchar(20) = CONVERT(nvarchar(20), @SharedLimitId), @vExecution bigint, @vTokenCount int;
  DECLARE @vOpen TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TokenCount int NOT NULL);

  SELECT @oOld = COALESCE(s.ConcurrencyLimitOverride, s.ConcurrencyLimit)
  FROM Taskgate.SharedLimit AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is now, not a version of it; ours already
  WHERE s.SharedLimitId = @SharedLimitId;
  SET @oNew = COALESCE(@Override, @Limit);
  UPDATE s
  SET ConcurrencyLimit = @Limit, ConcurrencyLimitOverride = @Override,
      ExecutionTokens = CASE WHEN @oNew = -1 THEN N'' ELSE s.ExecutionTokens END
  FROM Taskgate.SharedLimit AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
  WHERE s.SharedLimitId = @SharedLimitId;
  IF @oNew = -1 OR @oOld = -1
  BEGIN
    -- Own statements: lock, then look. First the index entries, then the rows by key: no other call waits between index and row.
    INSERT INTO @vOpen (TaskExecutionId, TokenCount)
    SELECT e.TaskExecutionId, 0
    FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
    INNER JOIN Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- covers this read
      ON e.TaskDefinitionId = l.TaskDefinitionId
    WHERE l.SharedLimitId = @SharedLimitId AND e.State IN (1, 3)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one range per definition
    UPDATE o
    SET TokenCount = e.TokenCount
    FROM @vOpen AS o
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId -- the dead count none
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
  END;
  IF @oNew <> -1 -- tasks that run without a limit are counted as soon as there is one; else none was read
  BEGIN
    SELECT @vExecution = MIN(o.TaskExecutionId) FROM @vOpen AS o WHERE o.TokenCount > 0;
    WHILE @vExecution IS NOT NULL
    BEGIN
      SELECT @vTokenCount = o.TokenCount FROM @vOpen AS o WHERE o.TaskExecutionId = @vExecution;
      EXEC Taskgate._SettleShared @Shared = @vId, @TaskExecutionId = @vExecution, @Need = 0, @Own = @vTokenCount;
      SELECT @vExecution = MIN(o.TaskExecutionId) FROM @vOpen AS o WHERE o.TokenCount > 0 AND o.TaskExecutionId > @vExecution;
    END;
  END;
  EXEC Taskgate._SettleShared @Shared = @vId, @TaskExecutionId = 0, @Need = 0;
  IF @oNew = -1
    SELECT @oHeld = COALESCE(SUM(o.TokenCount), 0) FROM @vOpen AS o;
  ELSE
    SELECT @oHeld = CONVERT(int, (DATALENGTH(s.ExecutionTokens) - DATALENGTH(REPLACE(s.ExecutionTokens COLLATE Latin1_General_100_BIN2, N'S:0', N''))) / 6)
    FROM Taskgate.SharedLimit AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
    WHERE s.SharedLimitId = @SharedLimitId;
  SET @oOverLimit = CASE WHEN @oNew = -1 OR @oHeld <= @oNew THEN 0 ELSE @oHeld - @oNew END;
END;
