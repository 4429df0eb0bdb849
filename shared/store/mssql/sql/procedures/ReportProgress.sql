-- Taskgate.ReportProgress: how far a running task is, for people who watch.
-- In:     @TaskExecutionId, @TaskId, @Fence bigint; @Done, @Total bigint >= 0 or null; @Text: cut to 400 characters, or null;
--         @StartId: as Work
-- Out:    Status: done | fenced; CancelRequested: stop soon
-- Raises: 50422 a negative number; 50490 inside a transaction; 1222 locked for longer than 2 s
-- Locks:  Task, by skip (a cancel may hold it: `done`, and the next report tells)
-- Isolation: reads the execution without a lock: a report that overtakes the end of its claim finds no task or a done one's row, or is the last one
--         of a task that has gone on elsewhere; nothing decides by it
-- Plan:   primary keys; the claims of one fence
-- Once:   last one wins
-- Twin:   postgres/sql/functions/report_progress.sql
CREATE OR ALTER PROCEDURE Taskgate.ReportProgress
  @TaskExecutionId bigint, @TaskId bigint, @Fence bigint, @Done bigint, @Total bigint, @Text nvarchar(max),
  @StartId uniqueidentifier = NULL
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET LOCK_TIMEOUT 2000;
  IF @@TRANCOUNT > 0 OR @@OPTIONS & 2 = 2 THROW 50490, N'transaction: must run outside a transaction, with IMPLICIT_TRANSACTIONS off', 1;
  DECLARE @vMessage nvarchar(2048), @vStatus nvarchar(20) = N'fenced', @vCancelRequested bit = 0;

  IF @Done < 0 OR @Total < 0
  BEGIN
    SET @vMessage = N'done: expected 0 or more (' + COALESCE(CONVERT(nvarchar(20), @Done), N'<NULL>') + N' of '
      + COALESCE(CONVERT(nvarchar(20), @Total), N'<NULL>') + N')';
    THROW 50422, @vMessage, 1;
  END;
  IF EXISTS (SELECT 1 FROM Taskgate.TaskExecution AS e WHERE e.TaskExecutionId = @TaskExecutionId AND e.State = 1
               AND (@StartId IS NULL OR e.OperationId = @StartId))
    AND EXISTS (
      SELECT 1 FROM Taskgate.Claim AS c WITH (INDEX (PK_Claim)) -- only own rows, also when another execution has the task now
      WHERE c.TaskExecutionId = @TaskExecutionId AND c.Fence = @Fence AND c.TaskId = @TaskId)
  BEGIN
    SET @vStatus = N'done';
    UPDATE t
    SET ProgressDone = @Done, ProgressTotal = @Total, ProgressText = LEFT(@Text COLLATE Latin1_General_100_BIN2, 400), @vCancelRequested = t.CancelRequested
    FROM Taskgate.Task AS t WITH (ROWLOCK, UPDLOCK, READPAST) -- skip, don't wait
    WHERE t.TaskId = @TaskId;
  END;
  SELECT @vStatus AS [Status], @vCancelRequested AS [CancelRequested];
END;
