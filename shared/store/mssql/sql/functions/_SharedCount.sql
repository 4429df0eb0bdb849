-- Taskgate._SharedCount: tokens that the executions of all definitions hold that draw from a shared limit: without a limit no
-- string counts them.
-- In:     @SharedLimitId int
-- Out:    int, 0 or more
-- Raises: -
-- Locks:  none
-- Plan:   the open executions of these definitions
-- Twin:   postgres/sql/functions/_shared_count.sql
CREATE OR ALTER FUNCTION Taskgate._SharedCount (@SharedLimitId int)
RETURNS int
AS
BEGIN
  RETURN (
    SELECT COALESCE(SUM(e.TokenCount), 0)
    FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (INDEX (IX_TaskDefinitionSharedLimit_SharedLimit)) -- covers this read
    INNER JOIN Taskgate.TaskExecution AS o WITH (INDEX (IX_TaskExecution_Open)) -- only the open ones; covers this read
      ON o.TaskDefinitionId = l.TaskDefinitionId AND o.State IN (1, 3)
    INNER JOIN Taskgate.TaskExecution AS e WITH (INDEX (PK_TaskExecution)) -- each by its key
      ON e.TaskExecutionId = o.TaskExecutionId
    WHERE l.SharedLimitId = @SharedLimitId);
END;
