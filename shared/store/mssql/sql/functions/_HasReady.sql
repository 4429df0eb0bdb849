-- Taskgate._HasReady: whether tasks of the definition are ready.
-- In:     @TaskDefinitionId int
-- Out:    bit
-- Raises: -
-- Locks:  none; a locked entry is being claimed and is skipped
-- Plan:   the last entry of PK_Ready: at the first ones claims leave deleted entries
-- Twin:   none: one EXISTS there
CREATE OR ALTER FUNCTION Taskgate._HasReady (@TaskDefinitionId int)
RETURNS bit
AS
BEGIN
  RETURN CASE WHEN (
    SELECT TOP (1) r.TaskId
    FROM Taskgate.Ready AS r WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK) -- one probe, from the far end; versions or not, no wait
    WHERE r.TaskDefinitionId = @TaskDefinitionId
    ORDER BY r.Priority DESC, r.Rank DESC, r.TaskId DESC) IS NOT NULL THEN 1 ELSE 0 END;
END;
