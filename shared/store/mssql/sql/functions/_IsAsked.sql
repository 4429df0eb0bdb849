-- Taskgate._IsAsked: should this process give back tokens for a denied execution? It holds several, and for the first two
-- seconds no other one holds two more: the richest first.
-- In:     @TaskDefinitionId int; @LeaseMs int: of the definition; @Worker nvarchar(200): the process; @Now datetime2(3)
-- Rows:   DeniedAt datetime2(3): one row, or none
-- Raises: -
-- Locks:  none; Call it with nothing locked: without row versions it waits for who changes the definition's tokens
-- Plan:   primary keys; one probe when no execution was denied
-- Twin:   postgres/sql/functions/_is_asked.sql
CREATE OR ALTER FUNCTION Taskgate._IsAsked (@TaskDefinitionId int, @LeaseMs int, @Worker nvarchar(200), @Now datetime2(3))
RETURNS TABLE
AS
RETURN
  SELECT q.DeniedAt AS DeniedAt
  FROM Taskgate._OpenDemand(@TaskDefinitionId, @LeaseMs, @Now) AS q
  INNER JOIN Taskgate.TaskDefinition AS d ON d.TaskDefinitionId = @TaskDefinitionId
  CROSS APPLY Taskgate._Shares(d.ExecutionTokens, d.TokenList, @TaskDefinitionId, @Worker) AS h
  WHERE h.Mine > 1 AND (h.Richest - h.Mine < 2 OR q.DeniedAt <= DATEADD(SECOND, -2, @Now));
