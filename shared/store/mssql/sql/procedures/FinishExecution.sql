-- Taskgate.FinishExecution: ends an execution: its tokens go back, and the tasks that it still holds are ready again, uncounted.
-- In:     @TaskExecutionId bigint; @StartId: as Work
-- Out:    Status: ended (also when it was ended before) | fenced; GivenBack: tasks; TokensFreed; Ready: tasks wait (a hint is
--         due); NextDueMs bigint: until the next scheduled task; Woken: JSON array of other definitions, or null: leave each a
--         hint. Tasks of theirs got ready, or wait for a freed shared token: no more definitions than freed tokens.
--         Opening: JSON array of batches to be pumped (PumpBatch), or null
-- Raises: 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  SharedLimit, TaskDefinition, TaskExecution, Token, then tasks that were cancelled meanwhile as in _EndTasks
-- Isolation: of two callers, or a finish and a reclaim, one changes the state under the row's lock, and the other finds it
--         changed; each task is looked at once, so that a cancel request at this moment can't lose it between two looks
-- Plan:   primary keys; the last entry of PK_Ready: at the first ones claims leave deleted entries; joins are loops in the written order
-- Once:   by state: a repeat is `ended` with zeros
-- Twin:   postgres/sql/functions/finish_execution.sql, _give_back.sql
CREATE OR ALTER PROCEDURE Taskgate.FinishExecution
  @TaskExecutionId bigint, @StartId uniqueidentifier = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vDefinition int, @vShared nvarchar(max), @vState tinyint, @vFreed int = 0, @vGivenBack int = 0,
          @vReady bit = 0, @vNextDueMs bigint, @vWokenIds nvarchar(max) = N'[]', @vWoken nvarchar(max), @vBeside nvarchar(max), @vOpening nvarchar(max),
          @vStatus nvarchar(20);
  DECLARE @vClaim TABLE (TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Fence bigint NOT NULL);
  DECLARE @vTask TABLE (
    TaskId bigint NOT NULL PRIMARY KEY CLUSTERED, Fence bigint NOT NULL, TaskDefinitionId int NOT NULL, Priority smallint NOT NULL,
    Rank bigint NOT NULL, IsSolo bit NOT NULL, CancelRequested bit NOT NULL);
  DECLARE @vEnded Taskgate.EndedTaskList, @vReleased Taskgate.GroupedTaskList;

  SELECT @vDefinition = e.TaskDefinitionId, @vShared = Taskgate._SharedIds(e.TaskDefinitionId), @vState = e.State
  FROM Taskgate.TaskExecution AS e
  WHERE e.TaskExecutionId = @TaskExecutionId AND (@StartId IS NULL OR e.OperationId = @StartId);
  IF @vState = 1
  BEGIN
    BEGIN TRY
      BEGIN TRANSACTION;
      IF @vShared <> N'' EXEC Taskgate._LockShared @Shared = @vShared;
      EXEC Taskgate._SettleTokens @TaskDefinitionId = @vDefinition, @TaskExecutionId = @TaskExecutionId, @Keep = 0, @Shared = @vShared,
        @oFreed = @vFreed OUTPUT;
      UPDATE e
      SET State = 2, EndedAt = @vNow
      FROM Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK) -- tests the row as it is now
      WHERE e.TaskExecutionId = @TaskExecutionId AND e.State = 1;
      IF @@ROWCOUNT = 0
        SELECT @vState = e.State FROM Taskgate.TaskExecution AS e WHERE e.TaskExecutionId = @TaskExecutionId;
      ELSE
      BEGIN
        DELETE c
        OUTPUT deleted.TaskId, deleted.Fence INTO @vClaim (TaskId, Fence)
        FROM Taskgate.Claim AS c WITH (ROWLOCK, UPDLOCK, FORCESEEK) -- the execution's few rows; ours by the execution's row
        WHERE c.TaskExecutionId = @TaskExecutionId;
        SET @vGivenBack = @@ROWCOUNT;
        INSERT INTO @vTask (TaskId, Fence, TaskDefinitionId, Priority, Rank, IsSolo, CancelRequested)
        SELECT t.TaskId, c.Fence, t.TaskDefinitionId, t.Priority, t.Rank, CASE WHEN t.LostCount >= 2 THEN 1 ELSE 0 END,
               t.CancelRequested
        FROM @vClaim AS c
        INNER JOIN Taskgate.Task AS t ON t.TaskId = c.TaskId
        OPTION (FORCE ORDER, LOOP JOIN, MAXDOP 1, KEEPFIXED PLAN); -- one seek per task
        INSERT INTO Taskgate.Ready WITH (ROWLOCK) (TaskDefinitionId, Priority, Rank, TaskId, IsSolo)
        SELECT t.TaskDefinitionId, t.Priority, t.Rank, t.TaskId, t.IsSolo FROM @vTask AS t WHERE t.CancelRequested = 0;
        INSERT INTO @vEnded (TaskId, Fence, Outcome)
        SELECT t.TaskId, t.Fence, 12 FROM @vTask AS t WHERE t.CancelRequested = 1;
        IF @@ROWCOUNT > 0
          EXEC Taskgate._EndTasks @Ended = @vEnded, @TaskExecutionId = @TaskExecutionId, @Now = @vNow, @Released = @vReleased,
            @oWoken = @vWokenIds OUTPUT, @oOpening = @vOpening OUTPUT;
        SET @vStatus = N'ended';
      END;
      COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
      IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
      THROW;
    END CATCH;
  END;

  IF @vStatus IS NULL
    SET @vStatus = CASE @vState WHEN 2 THEN N'ended' ELSE N'fenced' END;
  ELSE
  BEGIN
    SET @vReady = Taskgate._HasReady(@vDefinition);
    SET @vNextDueMs = Taskgate._NextDueMs(@vDefinition);
    IF @vShared <> N'' AND @vFreed > 0
    BEGIN
      SET @vBeside = Taskgate._WaitingBeside(@vDefinition, @vShared, @vFreed);
      SELECT @vWokenIds = N'[' + STRING_AGG(CONVERT(nvarchar(max), x.[value]), N',') + N']'
      FROM (SELECT j.[value] FROM OPENJSON(@vWokenIds) AS j UNION ALL SELECT j.[value] FROM OPENJSON(@vBeside) AS j) AS x;
    END;
    SET @vWoken = Taskgate._DefinitionNames(@vWokenIds, @vDefinition);
  END;
  SELECT @vStatus AS [Status], @vGivenBack AS [GivenBack], @vFreed AS [TokensFreed], @vReady AS [Ready],
         @vNextDueMs AS [NextDueMs], @vWoken AS [Woken], @vOpening AS [Opening];
END;
