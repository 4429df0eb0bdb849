-- Taskgate.CompleteTask: the fenced completion of one task inside the user's own transaction: its writes and the
--         completion are committed together, or neither is. Call it last before the commit.
-- In:     @TaskExecutionId, @TaskId, @Fence bigint; @DurationMs int or null
--         @Result: JSON object or array, at most 65536 bytes of UTF-8, or null; @StartId: as Work
-- Out:    Status: done | again: this claim was completed before, with its writes: roll back | fenced: roll back;
--         Woken: JSON array of other definitions that got ready tasks, or null; Opening: JSON array of batches to be pumped
--         (PumpBatch) after the commit, or null
-- Raises: 50413, 50422 a result that is too large or isn't the text of a JSON object or array; 1222 locked for longer than 2 s.
--         An error dooms the user's transaction
-- Locks:  TaskExecution (own), Task, Dedupe, TaskGroup, WaveShard, Wave, Batch: held until the user's commit. Joins the caller's transaction;
--         without one it makes its own
-- Isolation: of two completions of one claim the second waits for the execution's row and then finds the archive
-- Plan:   primary keys; the claims of one fence
-- Once:   by (task, fence); with RetainDoneMs = 0 nothing is left to know a repeat by: it says `fenced`
-- Twin:   postgres/sql/functions/complete_task.sql
CREATE OR ALTER PROCEDURE Taskgate.CompleteTask
  @TaskExecutionId bigint, @TaskId bigint, @Fence bigint, @DurationMs int = NULL, @Result nvarchar(max) = NULL,
  @StartId uniqueidentifier = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET LOCK_TIMEOUT 2000;
  DECLARE @vStart int;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2
    SELECT @vStart = n.N FROM Taskgate.Number AS n WHERE n.N = 1; -- starts the caller's transaction as the caller has set it: at SNAPSHOT, or by IMPLICIT_TRANSACTIONS
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  DECLARE @vNow datetime2(3) = SYSUTCDATETIME(), @vIsOwn bit = CASE WHEN @@TRANCOUNT = 0 THEN 1 ELSE 0 END,
          @vMessage nvarchar(2048), @vBytes bigint, @vDefinition int, @vState tinyint, @vOrdinal int, @vIsOthers bit = 0,
          @vRetainDoneMs bigint, @vKeepPayload bit, @vWokenIds nvarchar(max) = N'[]', @vOpening nvarchar(max), @vStatus nvarchar(20);
  DECLARE @vEnded Taskgate.EndedTaskList, @vReleased Taskgate.GroupedTaskList;

  SET @vBytes = DATALENGTH(CONVERT(varchar(max), @Result COLLATE Latin1_General_100_BIN2_UTF8));
  IF @vBytes > 65536
  BEGIN
    SET @vMessage = N'result: expected at most 65536 bytes (' + CONVERT(nvarchar(20), @vBytes) + N')';
    THROW 50413, @vMessage, 1;
  END;
  IF @Result IS NOT NULL AND Taskgate._JsonKind(@Result) = N''
  BEGIN
    SET @vMessage = N'result: expected the text of a JSON object or array (' + REPLACE(LEFT(@Result, 100), N'%', N'%%') + N')';
    THROW 50422, @vMessage, 1;
  END;
  BEGIN TRY
    -- Settings first, with nothing locked, in two statements: a reader that holds one row must not wait for the other.
    SELECT @vDefinition = e.TaskDefinitionId, @vIsOthers = CASE WHEN e.OperationId <> @StartId THEN 1 ELSE 0 END
    FROM Taskgate.TaskExecution AS e
    WHERE e.TaskExecutionId = @TaskExecutionId;
    SELECT @vRetainDoneMs = d.RetainDoneMs, @vKeepPayload = d.KeepPayload
    FROM Taskgate.TaskDefinition AS d
    WHERE d.TaskDefinitionId = @vDefinition;
    IF @vIsOwn = 1 BEGIN TRANSACTION;
    SELECT @vState = e.State
    FROM Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK) -- the row as it is now, kept to the end
    WHERE e.TaskExecutionId = @TaskExecutionId;
    IF @vState = 1 AND @vIsOthers = 0
      SELECT @vOrdinal = c.Ordinal
      FROM Taskgate.Claim AS c WITH (INDEX (PK_Claim)) -- only own rows, also when another execution has the task now
      WHERE c.TaskExecutionId = @TaskExecutionId AND c.Fence = @Fence AND c.TaskId = @TaskId;
    IF @vOrdinal IS NULL
      SET @vStatus = CASE WHEN @vIsOthers = 0 AND EXISTS (
        SELECT 1 FROM Taskgate.Archive AS a
        WHERE a.TaskId = @TaskId AND a.Fence = @Fence AND a.TaskExecutionId = @TaskExecutionId AND a.Outcome = 10)
        THEN N'again' ELSE N'fenced' END;
    ELSE
    BEGIN
      DELETE c
      FROM Taskgate.Claim AS c WITH (ROWLOCK, UPDLOCK) -- by the whole key; ours by the execution's row
      WHERE c.TaskExecutionId = @TaskExecutionId AND c.Fence = @Fence AND c.Ordinal = @vOrdinal;
      UPDATE e
      SET IsSolo = 0, -- a task that ran alone was the only claim
          DoneCount = e.DoneCount + 1, RanMs = e.RanMs + COALESCE(@DurationMs, 0)
      FROM Taskgate.TaskExecution AS e WITH (ROWLOCK, UPDLOCK) -- the row is ours already
      WHERE e.TaskExecutionId = @TaskExecutionId;
      INSERT INTO @vEnded (TaskId, Fence, Outcome, DurationMs, Result) VALUES (@TaskId, @Fence, 10, @DurationMs, @Result);
      EXEC Taskgate._EndTasks @Ended = @vEnded, @TaskExecutionId = @TaskExecutionId, @Now = @vNow, @Released = @vReleased,
        @oWoken = @vWokenIds OUTPUT, @oOpening = @vOpening OUTPUT, @RetainDoneMs = @vRetainDoneMs, @KeepPayload = @vKeepPayload;
      SET @vStatus = N'done';
    END;
    IF @vIsOwn = 1 COMMIT TRANSACTION;
  END TRY
  BEGIN CATCH
    IF @vIsOwn = 1 AND XACT_STATE() <> 0 ROLLBACK TRANSACTION; -- the user's own is the user's to roll back
    THROW;
  END CATCH;
  SELECT @vStatus AS [Status], Taskgate._DefinitionNames(@vWokenIds, @vDefinition) AS [Woken], @vOpening AS [Opening];
END;
