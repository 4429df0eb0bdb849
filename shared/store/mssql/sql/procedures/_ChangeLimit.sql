-- Taskgate._ChangeLimit: writes a definition's limit (by the code or by an operator) and brings its tokens in line.
-- In:     @TaskDefinitionId int; @Limit int: the code's; @Override int: the operator's, null: none
-- Out:    @oOld, @oNew: effective limits, -1 none; @oHeld: tokens held now; @oOverLimit: of them above the new limit
-- Raises: 50404 unknown definition; 50499 damaged token string, or two rows for one place
-- Locks:  TaskDefinition, Token. Joins the caller's transaction
-- Isolation: an execution's token count changes only under the definition's lock, so reading it after the lock is exact
-- Plan:   primary key; the open executions of one definition when a limit takes the place of none; joins are loops in the written order
-- Twin:   postgres/sql/functions/_change_limit.sql
CREATE OR ALTER PROCEDURE Taskgate._ChangeLimit
  @TaskDefinitionId int, @Limit int, @Override int,
  @oOld int OUTPUT, @oNew int OUTPUT, @oHeld int OUTPUT, @oOverLimit int OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vOpen TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TokenCount int NULL);
  DECLARE @vToken TABLE (
    TaskExecutionId bigint NOT NULL, N smallint NOT NULL, PRIMARY KEY CLUSTERED (TaskExecutionId, N));

  SELECT @oOld = COALESCE(d.ConcurrencyLimitOverride, d.ConcurrencyLimit)
  FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already, by the caller
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  SET @oNew = COALESCE(@Override, @Limit);

  IF @oNew = -1 OR @oOld = -1
  BEGIN
    -- Own statements: lock, then look. First the index entries, then the rows by key: no other call waits between index and row.
    INSERT INTO @vOpen (TaskExecutionId)
    SELECT e.TaskExecutionId
    FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- covers this read
    WHERE e.TaskDefinitionId = @TaskDefinitionId AND e.State IN (1, 3);
    UPDATE o
    SET TokenCount = e.TokenCount
    FROM @vOpen AS o
    INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId -- the dead count none
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
    DELETE t
    FROM Taskgate.Token AS t WITH (ROWLOCK, UPDLOCK, INDEX (PK_Token)) -- the definition's range
    WHERE t.TaskDefinitionId = @TaskDefinitionId;
  END;
  IF @oOld = -1 AND @oNew <> -1 -- tasks that run without a limit are counted as soon as there is one
  BEGIN
    INSERT INTO @vToken (TaskExecutionId, N)
    SELECT o.TaskExecutionId, n.N
    FROM @vOpen AS o
    INNER JOIN Taskgate.Number AS n WITH (FORCESEEK) ON n.N <= CONVERT(smallint, o.TokenCount) -- the first so many numbers
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- a few numbers per execution
    INSERT INTO Taskgate.Token WITH (ROWLOCK) (TaskDefinitionId, HeldBy, Ord, TokenId, LastHeldBy)
    SELECT @TaskDefinitionId, t.TaskExecutionId, ROW_NUMBER() OVER (ORDER BY t.TaskExecutionId, t.N) - 1, NEWID(), 0
    FROM @vToken AS t;
  END;
  UPDATE d
  SET ConcurrencyLimit = @Limit, ConcurrencyLimitOverride = @Override,
      ExecutionTokens = CASE WHEN @oNew = -1 OR @oOld = -1 THEN N'rows' ELSE d.ExecutionTokens END,
      TokenList = CASE WHEN @oNew <> -1 AND @oOld <> -1 THEN d.TokenList END,
      HeldCount = CASE WHEN @oNew = -1 OR @oOld = -1 THEN 0 ELSE d.HeldCount END -- the next statement counts the rows
  FROM Taskgate.TaskDefinition AS d WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the key is ours already
  WHERE d.TaskDefinitionId = @TaskDefinitionId;
  EXEC Taskgate._SettleTokens @TaskDefinitionId = @TaskDefinitionId, @TaskExecutionId = 0, @Shared = N'', @oHeld = @oHeld OUTPUT;
  IF @oNew = -1 SELECT @oHeld = COALESCE(SUM(o.TokenCount), 0) FROM @vOpen AS o;
  SET @oOverLimit = CASE WHEN @oNew = -1 OR @oHeld <= @oNew THEN 0 ELSE @oHeld - @oNew END;
END;
