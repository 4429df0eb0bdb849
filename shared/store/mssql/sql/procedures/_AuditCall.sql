-- Taskgate._AuditCall: writes who called an operation that changed something but no setting.
-- In:     @Action: the operation's name; @TaskDefinitionId: 0 for tasks of several definitions, or a batch; @BatchId, or null;
--         @TaskIds: JSON array of the changed tasks, or null; @ChangedBy; @Reason, or null; @Now
-- Out:    -
-- Raises: -
-- Locks:  a new row of CallAudit
-- Isolation: entries never change
-- Plan:   no read
-- Twin:   postgres/sql/functions/_audit_call.sql
CREATE OR ALTER PROCEDURE Taskgate._AuditCall
  @Action nvarchar(100), @TaskDefinitionId int, @BatchId bigint, @TaskIds nvarchar(max), @ChangedBy nvarchar(max),
  @Reason nvarchar(max), @Now datetime2(3)
AS
BEGIN
  SET NOCOUNT, XACT_ABORT ON;
  DECLARE @vCount int = 0, @vFirst nvarchar(max);
  IF @TaskIds IS NOT NULL
    SELECT @vCount = COUNT(*),
           @vFirst = N'[' + STRING_AGG(CASE WHEN CONVERT(int, j.[key]) < 1000 THEN CONVERT(nvarchar(max), N'"' + j.[value] + N'"') END, N',')
             WITHIN GROUP (ORDER BY CONVERT(int, j.[key])) + N']'
    FROM OPENJSON(@TaskIds) AS j;
  INSERT INTO Taskgate.CallAudit (IsEnqueue, ChangedAt, Action, TaskDefinitionId, BatchId, TaskCount, TaskIds, ChangedBy, Reason)
  VALUES (CASE @Action WHEN N'enqueue_tasks' THEN 1 ELSE 0 END, @Now, @Action, @TaskDefinitionId, @BatchId, @vCount, @vFirst,
          @ChangedBy, @Reason);
END;
