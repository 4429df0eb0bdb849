-- Taskgate._ChangeSharedLinks: from which shared limits a definition draws, and their limits, as its code says. Running tasks count
-- against a limit from the moment that it applies, and no longer when it doesn't. No task is stopped.
-- In:     @TaskDefinitionId int; @SharedLimits: JSON array of {name, limit: null leaves it}, or null; @RegisteredBy; @Now datetime2(3)
-- Out:    @oOld, @oNew: JSON arrays of names, by name, without blanks and escaped as little as JSON lets; null: none
-- Raises: 50499 damaged token string
-- Locks:  -: the caller holds all old and new rows of SharedLimit, then TaskDefinition. Joins the caller's transaction
-- Isolation: tokens of the definition's executions change only under its row, so reading them here is exact
-- Plan:   primary keys; the open executions of the definition; joins are loops in the written order
-- Twin:   postgres/sql/functions/_change_shared_links.sql
CREATE OR ALTER PROCEDURE Taskgate._ChangeSharedLinks
  @TaskDefinitionId int, @SharedLimits nvarchar(max), @RegisteredBy nvarchar(200), @Now datetime2(3),
  @oOld nvarchar(max) OUTPUT, @oNew nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vId int, @vShared nvarchar(20), @vName nvarchar(200), @vWanted int, @vLimit int, @vOverride int, @vIsWanted bit, @vIsLinked bit,
          @vExecution bigint, @vOwn int, @vOld int, @vNew int, @vHeld int, @vOverLimit int;
  DECLARE @vRow TABLE (
    SharedLimitId int NOT NULL PRIMARY KEY CLUSTERED, Name nvarchar(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    IsWanted bit NOT NULL, TaskLimit int NULL, IsLinked bit NOT NULL);
  DECLARE @vOpen TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, TokenCount int NOT NULL);

  INSERT INTO @vRow (SharedLimitId, Name, IsWanted, TaskLimit, IsLinked)
  SELECT s.SharedLimitId, s.Name, 1, w.TaskLimit, 0
  FROM OPENJSON(@SharedLimits) WITH (Name nvarchar(200) N'$.name', TaskLimit int N'$.limit') AS w
  INNER JOIN Taskgate.SharedLimit AS s ON s.Name = w.Name COLLATE Latin1_General_100_BIN2
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per name
  UPDATE r
  SET IsLinked = 1
  FROM @vRow AS r
  INNER JOIN Taskgate.TaskDefinitionSharedLimit AS l ON l.TaskDefinitionId = @TaskDefinitionId AND l.SharedLimitId = r.SharedLimitId
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each
  INSERT INTO @vRow (SharedLimitId, Name, IsWanted, TaskLimit, IsLinked)
  SELECT s.SharedLimitId, s.Name, 0, NULL, 1
  FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (FORCESEEK) -- the definition's few rows
  INNER JOIN Taskgate.SharedLimit AS s ON s.SharedLimitId = l.SharedLimitId
  WHERE l.TaskDefinitionId = @TaskDefinitionId AND NOT EXISTS (SELECT 1 FROM @vRow AS r WHERE r.SharedLimitId = l.SharedLimitId)
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek each
  SELECT @oOld = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + REPLACE(STRING_ESCAPE(r.Name, 'json'), N'\/', N'/') + N'"'), N',')
    WITHIN GROUP (ORDER BY r.Name) + N']'
  FROM @vRow AS r WHERE r.IsLinked = 1;
  SELECT @oNew = N'[' + STRING_AGG(CONVERT(nvarchar(max), N'"' + REPLACE(STRING_ESCAPE(r.Name, 'json'), N'\/', N'/') + N'"'), N',')
    WITHIN GROUP (ORDER BY r.Name) + N']'
  FROM @vRow AS r WHERE r.IsWanted = 1;
  IF EXISTS (SELECT 1 FROM @vRow AS r WHERE r.IsWanted <> r.IsLinked)
    -- First the index entries, below the rows by key: no other call waits between index and row.
    INSERT INTO @vOpen (TaskExecutionId, TokenCount)
    SELECT e.TaskExecutionId, 0
    FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- covers this read
    WHERE e.TaskDefinitionId = @TaskDefinitionId AND e.State IN (1, 3);

  SELECT @vId = MIN(r.SharedLimitId) FROM @vRow AS r;
  WHILE @vId IS NOT NULL
  BEGIN
    SET @vShared = CONVERT(nvarchar(20), @vId);
    SELECT @vName = r.Name, @vWanted = r.TaskLimit, @vIsWanted = r.IsWanted, @vIsLinked = r.IsLinked
    FROM @vRow AS r WHERE r.SharedLimitId = @vId;
    SELECT @vLimit = s.ConcurrencyLimit, @vOverride = s.ConcurrencyLimitOverride
    FROM Taskgate.SharedLimit AS s WITH (ROWLOCK, UPDLOCK, HOLDLOCK) -- the row as it is now, not a version of it; ours already
    WHERE s.SharedLimitId = @vId;
    IF @vWanted <> @vLimit
    BEGIN
      EXEC Taskgate._ChangeSharedLimit @SharedLimitId = @vId, @Limit = @vWanted, @Override = @vOverride,
        @oOld = @vOld OUTPUT, @oNew = @vNew OUTPUT, @oHeld = @vHeld OUTPUT, @oOverLimit = @vOverLimit OUTPUT;
      INSERT INTO Taskgate.SettingAudit (TaskDefinitionId, Setting, OldValue, NewValue, Source, ChangedBy, ChangedAt)
      VALUES (@TaskDefinitionId, N'shared_limit', CONVERT(nvarchar(20), @vLimit) + N' of ' + @vName,
              CONVERT(nvarchar(20), @vWanted) + N' of ' + @vName, N'code', @RegisteredBy, @Now);
    END;
    IF @vIsWanted <> @vIsLinked
    BEGIN
      IF @vIsWanted = 1
        INSERT INTO Taskgate.TaskDefinitionSharedLimit (TaskDefinitionId, SharedLimitId) VALUES (@TaskDefinitionId, @vId);
      ELSE
        DELETE l
        FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (ROWLOCK, UPDLOCK, INDEX (PK_TaskDefinitionSharedLimit)) -- ours by the definition's row
        WHERE l.TaskDefinitionId = @TaskDefinitionId AND l.SharedLimitId = @vId;
      UPDATE o
      SET TokenCount = e.TokenCount
      FROM @vOpen AS o
      INNER JOIN Taskgate.TaskExecution AS e ON e.TaskExecutionId = o.TaskExecutionId -- the dead count none; the limit before may have found some
      OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per execution
      SELECT @vExecution = MIN(o.TaskExecutionId) FROM @vOpen AS o WHERE o.TokenCount > 0;
      WHILE @vExecution IS NOT NULL
      BEGIN
        SELECT @vOwn = CASE @vIsWanted WHEN 1 THEN o.TokenCount ELSE 0 END FROM @vOpen AS o WHERE o.TaskExecutionId = @vExecution;
        EXEC Taskgate._SettleShared @Shared = @vShared, @TaskExecutionId = @vExecution, @Need = 0, @Own = @vOwn;
        SELECT @vExecution = MIN(o.TaskExecutionId) FROM @vOpen AS o WHERE o.TokenCount > 0 AND o.TaskExecutionId > @vExecution;
      END;
      EXEC Taskgate._SettleShared @Shared = @vShared, @TaskExecutionId = 0, @Need = 0;
    END;
    SELECT @vId = MIN(r.SharedLimitId) FROM @vRow AS r WHERE r.SharedLimitId > @vId;
  END;
END;
