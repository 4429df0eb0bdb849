-- Taskgate._SharedIds: the shared limits that a definition draws from.
-- In:     @TaskDefinitionId int
-- Out:    nvarchar(max): their ids, ascending, joined by commas; empty: none
-- Raises: -
-- Locks:  none
-- Plan:   primary key of TaskDefinitionSharedLimit: one probe when there are none
-- Twin:   postgres/sql/functions/_shared_ids.sql
CREATE OR ALTER FUNCTION Taskgate._SharedIds (@TaskDefinitionId int)
RETURNS nvarchar(max)
AS
BEGIN
  RETURN COALESCE((
    SELECT STRING_AGG(CONVERT(nvarchar(max), l.SharedLimitId), N',') WITHIN GROUP (ORDER BY l.SharedLimitId)
    FROM Taskgate.TaskDefinitionSharedLimit AS l WITH (FORCESEEK) -- the definition's few rows
    WHERE l.TaskDefinitionId = @TaskDefinitionId), N'');
END;
