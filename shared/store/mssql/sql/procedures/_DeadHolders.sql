-- Taskgate._DeadHolders: those of the executions that hold tokens of one limit whose tokens are free, as they have ended or their
--         lease is over. An execution whose lease is over is declared dead.
-- In:     @Holders: JSON array of ids of executions, each once, or null; the limit's row is the caller's. Either @TaskDefinitionId int: the
--         definition whose limit it is; or @SharedLimitId int; @Now: read after the wait for that row
-- Out:    @oDead: JSON array of the ids, '[]' when all are alive
-- Raises: -
-- Locks:  TaskExecution of those whose lease is over, ascending, by skip. Joins the caller's transaction
-- Isolation: only unlocked rows are read or locked: a live holder's own call is never waited for
-- Plan:   primary keys; the open executions by id; the definitions of a shared limit once per holder that can't be read;
--         joins are loops in the written order
-- Twin:   postgres/sql/functions/_dead_holders.sql
CREATE OR ALTER PROCEDURE Taskgate._DeadHolders
  @Holders nvarchar(max), @TaskDefinitionId int, @SharedLimitId int, @Now datetime2(3), @oDead nvarchar(max) OUTPUT
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vHolder TABLE (
    TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED, State tinyint NULL, IsExpired bit NOT NULL);
  DECLARE @vDead TABLE (TaskExecutionId bigint NOT NULL PRIMARY KEY CLUSTERED);

  -- Who can be read at once. A row that is locked is being written by its own worker, by a reclaim, or isn't there.
  INSERT INTO @vHolder (TaskExecutionId, State, IsExpired)
  SELECT h.Id, e.State, CASE WHEN e.State = 1 AND e.LeaseUntil < @Now THEN 1 ELSE 0 END
  FROM (SELECT CONVERT(bigint, j.[value]) AS Id FROM OPENJSON(@Holders) AS j) AS h
  LEFT JOIN Taskgate.TaskExecution AS e WITH (READCOMMITTEDLOCK, READPAST) -- steps over locked rows, versions or not
    ON e.TaskExecutionId = h.Id
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per holder
  INSERT INTO @vDead (TaskExecutionId)
  SELECT h.TaskExecutionId FROM @vHolder AS h WHERE h.State <> 1; -- for good: no state leads back to 1
  -- Locked or not there: an entry among the open ones tells, and an execution's own calls don't lock that.
  IF @SharedLimitId IS NULL
    INSERT INTO @vDead (TaskExecutionId)
    SELECT h.TaskExecutionId
    FROM @vHolder AS h
    WHERE h.State IS NULL AND NOT EXISTS (
      SELECT 1 FROM Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- not the row itself: it may be locked
      WHERE e.TaskDefinitionId = @TaskDefinitionId AND e.TaskExecutionId = h.TaskExecutionId AND e.State IN (1, 3))
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per holder
  ELSE
    INSERT INTO @vDead (TaskExecutionId)
    SELECT h.TaskExecutionId
    FROM @vHolder AS h
    WHERE h.State IS NULL AND NOT EXISTS (
      SELECT 1
      FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
      INNER JOIN Taskgate.TaskExecution AS e WITH (INDEX (IX_TaskExecution_Open)) -- not the row itself: it may be locked
        ON e.TaskDefinitionId = l.TaskDefinitionId AND e.TaskExecutionId = h.TaskExecutionId AND e.State IN (1, 3)
      WHERE l.SharedLimitId = @SharedLimitId)
    OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one probe per definition of the limit and holder
  -- Lease over: by key, tested again; a row locked by its own worker is alive at this instant: skipped.
  UPDATE e
  SET State = 3, EndedAt = COALESCE(e.EndedAt, @Now), TokenCount = 0,
      HeldMs = e.HeldMs + e.TokenCount * DATEDIFF_BIG(MILLISECOND, COALESCE(e.TokensAt, e.StartedAt), @Now), TokensAt = @Now
  OUTPUT inserted.TaskExecutionId INTO @vDead (TaskExecutionId)
  FROM @vHolder AS h
  INNER JOIN Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait
    ON e.TaskExecutionId = h.TaskExecutionId
  WHERE h.IsExpired = 1 AND e.State = 1 AND e.LeaseUntil < @Now
  OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per holder, ascending
  SELECT @oDead = N'[' + COALESCE(STRING_AGG(CONVERT(nvarchar(max), d.TaskExecutionId), N','), N'') + N']' FROM @vDead AS d;
END;
